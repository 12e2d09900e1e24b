/* SPDX-License-Identifier: MIT
 * Defines the system calls that a connector's process is refused.
 *
 * The list contains refused calls, not permitted ones, which would change with each version of the
 * libraries that connectors use. It has calls that affect other processes or the machine, or bypass
 * Landlock. The kernel uses only 32 bits of most arguments: they are compared with a mask;
 * otherwise set upper bits would hide a refused value. Where a comparison is "not equal" or
 * "greater", the upper half can only get a call refused. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/sandbox/sandbox_internal.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof(a)[0])
#define SOCKET_TYPE_MASK 0xf

#ifdef __s390x__
#define CLONE_FLAGS_AT 1
#else
#define CLONE_FLAGS_AT 0
#endif

/* System calls newer than the headers: from number 424 on, they have the same number on all
 * architectures, apart from an offset of some. */
#define NEW_CALL(number) (SYS_landlock_create_ruleset + (number)-444)

/* Refused unless the connector may start programs. */
static const int starting[] = {
    SCMP_SYS(execve),
    SCMP_SYS(execveat),
    SCMP_SYS(fork),
    SCMP_SYS(vfork),
};

/* Refused with any arguments. */
static const int refused[] = {
    /* child processes stay in its process group, which the host ends */
    SCMP_SYS(setsid),
    SCMP_SYS(setpgid),
    /* access to other processes */
    SCMP_SYS(tkill),
    SCMP_SYS(pidfd_send_signal),
    SCMP_SYS(pidfd_getfd),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev),
    SCMP_SYS(process_madvise),
    SCMP_SYS(process_mrelease),
    SCMP_SYS(move_pages),
    SCMP_SYS(migrate_pages),
    SCMP_SYS(ioprio_set),
    SCMP_SYS(kcmp),
    SCMP_SYS(shmget),
    SCMP_SYS(shmat),
    SCMP_SYS(msgget),
    SCMP_SYS(semget),
    SCMP_SYS(mq_open),
#if !SANDBOX_SANITIZER_BUILD
    SCMP_SYS(ptrace),
#endif
    /* incoming connections, and the multiplexed socket call of 32-bit machines */
    SCMP_SYS(listen),
    SCMP_SYS(socketcall),
    SCMP_SYS(ipc),
    /* mounts, namespaces */
    SCMP_SYS(mount),
    SCMP_SYS(umount),
    SCMP_SYS(umount2),
    SCMP_SYS(pivot_root),
    SCMP_SYS(chroot),
    SCMP_SYS(mount_setattr),
    SCMP_SYS(move_mount),
    SCMP_SYS(open_tree),
    SCMP_SYS(fsopen),
    SCMP_SYS(fsconfig),
    SCMP_SYS(fsmount),
    SCMP_SYS(fspick),
    SCMP_SYS(unshare),
    SCMP_SYS(setns),
    /* keyrings of the user */
    SCMP_SYS(add_key),
    SCMP_SYS(request_key),
    SCMP_SYS(keyctl),
    /* large kernel interfaces that bypass this filter */
    SCMP_SYS(bpf),
    SCMP_SYS(io_uring_setup),
    SCMP_SYS(io_uring_enter),
    SCMP_SYS(io_uring_register),
    SCMP_SYS(userfaultfd),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(name_to_handle_at),
    SCMP_SYS(open_by_handle_at),
    SCMP_SYS(lookup_dcookie),
    SCMP_SYS(personality),
    SCMP_SYS(modify_ldt),
    /* Attributes of files, which Landlock does not cover. A read-only descriptor is sufficient for
     * the owner to change them, and the user of the connector owns the plugin's file, and as root
     * all libraries. */
    SCMP_SYS(chmod),
    SCMP_SYS(fchmod),
    SCMP_SYS(fchmodat),
    NEW_CALL(452), /* fchmodat2 */
    SCMP_SYS(chown),
    SCMP_SYS(chown32),
    SCMP_SYS(fchown),
    SCMP_SYS(fchown32),
    SCMP_SYS(fchownat),
    SCMP_SYS(lchown),
    SCMP_SYS(lchown32),
    SCMP_SYS(futimesat),
    SCMP_SYS(utime),
    SCMP_SYS(utimensat),
    SCMP_SYS(utimensat_time64),
    SCMP_SYS(utimes),
    SCMP_SYS(setxattr),
    SCMP_SYS(lsetxattr),
    SCMP_SYS(fsetxattr),
    NEW_CALL(463), /* setxattrat */
    SCMP_SYS(removexattr),
    SCMP_SYS(lremovexattr),
    SCMP_SYS(fremovexattr),
    NEW_CALL(466), /* removexattrat */
    NEW_CALL(469), /* file_setattr */
    SCMP_SYS(mknod),
    SCMP_SYS(mknodat),
    /* notifications about files that it may not read */
    SCMP_SYS(fanotify_init),
    SCMP_SYS(fanotify_mark),
    SCMP_SYS(inotify_add_watch),
    SCMP_SYS(inotify_init),
    SCMP_SYS(inotify_init1),
    /* resources of which the machine has a fixed number */
    SCMP_SYS(io_setup),
    /* memory that the address space limit does not count */
    SCMP_SYS(memfd_create),
    SCMP_SYS(memfd_secret),
    /* the machine as a whole */
    SCMP_SYS(acct),
    SCMP_SYS(adjtimex),
    SCMP_SYS(clock_adjtime),
    SCMP_SYS(clock_adjtime64),
    SCMP_SYS(clock_settime),
    SCMP_SYS(clock_settime64),
    SCMP_SYS(settimeofday),
    SCMP_SYS(stime),
    SCMP_SYS(delete_module),
    SCMP_SYS(finit_module),
    SCMP_SYS(init_module),
    SCMP_SYS(ioperm),
    SCMP_SYS(iopl),
    SCMP_SYS(kexec_file_load),
    SCMP_SYS(kexec_load),
    SCMP_SYS(quotactl),
    SCMP_SYS(quotactl_fd),
    SCMP_SYS(reboot),
    SCMP_SYS(sethostname),
    SCMP_SYS(setdomainname),
    SCMP_SYS(swapoff),
    SCMP_SYS(swapon),
    SCMP_SYS(syslog),
    SCMP_SYS(vhangup),
};

#define INT UINT32_MAX
#define IOCTL_TYPE (UINT64_C(0xff) << 8)
#define IOCTL_OF(type) ((uint64_t)(type) << 8)
/* Refused if a bit field of one argument has a value. */
struct seccomp_arg_rule {
    int call;
    unsigned arg;
    uint64_t mask, value;
};

static const struct seccomp_arg_rule refused_with[] = {
    {SCMP_SYS(clone), CLONE_FLAGS_AT, CLONE_NEWNS, CLONE_NEWNS},
    {SCMP_SYS(clone), CLONE_FLAGS_AT, CLONE_NEWCGROUP, CLONE_NEWCGROUP},
    {SCMP_SYS(clone), CLONE_FLAGS_AT, CLONE_NEWUTS, CLONE_NEWUTS},
    {SCMP_SYS(clone), CLONE_FLAGS_AT, CLONE_NEWIPC, CLONE_NEWIPC},
    {SCMP_SYS(clone), CLONE_FLAGS_AT, CLONE_NEWUSER, CLONE_NEWUSER},
    {SCMP_SYS(clone), CLONE_FLAGS_AT, CLONE_NEWPID, CLONE_NEWPID},
    {SCMP_SYS(clone), CLONE_FLAGS_AT, CLONE_NEWNET, CLONE_NEWNET},
    /* injects input into the terminal that standard error may be */
    {SCMP_SYS(ioctl), 1, INT, TIOCSTI},
    {SCMP_SYS(ioctl), 1, INT, TIOCLINUX},
    /* directs signals of input to other processes */
    {SCMP_SYS(ioctl), 1, INT, FIOSETOWN},
    {SCMP_SYS(ioctl), 1, INT, SIOCSPGRP},
    {SCMP_SYS(fcntl), 1, INT, F_SETOWN},
    {SCMP_SYS(fcntl), 1, INT, F_SETOWN_EX},
    {SCMP_SYS(fcntl64), 1, INT, F_SETOWN},
    {SCMP_SYS(fcntl64), 1, INT, F_SETOWN_EX},
    /* leases and notifications on files that others open; pipe memory, which is counted per user */
    {SCMP_SYS(fcntl), 1, INT, F_SETLEASE},
    {SCMP_SYS(fcntl), 1, INT, F_NOTIFY},
    {SCMP_SYS(fcntl), 1, INT, F_SETPIPE_SZ},
    {SCMP_SYS(fcntl64), 1, INT, F_SETLEASE},
    {SCMP_SYS(fcntl64), 1, INT, F_NOTIFY},
    {SCMP_SYS(fcntl64), 1, INT, F_SETPIPE_SZ},
    /* ioctls of file systems, by their type: file flags, encryption, snapshots */
    {SCMP_SYS(ioctl), 1, IOCTL_TYPE, IOCTL_OF('f')},
    {SCMP_SYS(ioctl), 1, IOCTL_TYPE, IOCTL_OF('v')},
    {SCMP_SYS(ioctl), 1, IOCTL_TYPE, IOCTL_OF('X')},
    {SCMP_SYS(ioctl), 1, IOCTL_TYPE, IOCTL_OF(0x94)}, /* Btrfs, and FICLONE of all file systems */
    {SCMP_SYS(ioctl), 1, IOCTL_TYPE, IOCTL_OF(0xbc)}, /* bcachefs */
    {SCMP_SYS(ioctl), 1, IOCTL_TYPE, IOCTL_OF(0xf5)}, /* F2FS */
    /* would create a setuid or setgid file */
    {SCMP_SYS(creat), 1, S_ISUID, S_ISUID},
    {SCMP_SYS(creat), 1, S_ISGID, S_ISGID},
#if !SANDBOX_SANITIZER_BUILD
    /* would undo sandbox_detach_process */
    {SCMP_SYS(prctl), 0, INT, PR_SET_DUMPABLE},
    {SCMP_SYS(prctl), 0, INT, PR_SET_PTRACER},
#endif
    /* a datagram socket pair can send to any Unix socket by its name */
    {SCMP_SYS(socketpair), 1, SOCKET_TYPE_MASK, SOCK_DGRAM},
    {SCMP_SYS(socketpair), 1, SOCKET_TYPE_MASK, SOCK_RAW},
    /* creates a connection that Landlock does not check (TCP Fast Open) */
    {SCMP_SYS(sendto), 3, MSG_FASTOPEN, MSG_FASTOPEN},
    {SCMP_SYS(sendmsg), 2, MSG_FASTOPEN, MSG_FASTOPEN},
    {SCMP_SYS(sendmmsg), 3, MSG_FASTOPEN, MSG_FASTOPEN},
};

/* Calls whose first argument is a process: permitted only for the calling process. */
static const int only_itself[] = {
    SCMP_SYS(kill),
    SCMP_SYS(tgkill),
    SCMP_SYS(rt_sigqueueinfo),
    SCMP_SYS(rt_tgsigqueueinfo),
};
/* The same; 0 means the calling thread. */
static const int only_this_thread[] = {
    SCMP_SYS(prlimit64),      SCMP_SYS(sched_setaffinity),  SCMP_SYS(sched_setattr),
    SCMP_SYS(sched_setparam), SCMP_SYS(sched_setscheduler),
};

static struct scmp_arg_cmp sandbox_seccomp_arg_masked(unsigned arg, uint64_t mask, uint64_t value)
{
    return (struct scmp_arg_cmp){arg, SCMP_CMP_MASKED_EQ, mask, value};
}

static struct scmp_arg_cmp sandbox_seccomp_arg_differs(unsigned arg, uint64_t value)
{
    return (struct scmp_arg_cmp){arg, SCMP_CMP_NE, value, 0};
}

static struct scmp_arg_cmp sandbox_seccomp_arg_above(unsigned arg, uint64_t value)
{
    return (struct scmp_arg_cmp){arg, SCMP_CMP_GT, value, 0};
}

static int sandbox_seccomp_deny_call(scmp_filter_ctx filter, int call)
{
    return seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), call, 0, NULL);
}

static int sandbox_seccomp_refuse_if(scmp_filter_ctx filter, int call, struct scmp_arg_cmp arg)
{
    return seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), call, 1, &arg);
}

static int sandbox_seccomp_refuse_if_both(scmp_filter_ctx filter, int call, struct scmp_arg_cmp a,
                                          struct scmp_arg_cmp b)
{
    const struct scmp_arg_cmp both[] = {a, b};
    return seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), call, 2, both);
}

/* Refuses clone without CLONE_THREAD, which creates a process. */
static int refuse_programs(scmp_filter_ctx filter)
{
    const uint64_t flag = SANDBOX_SANITIZER_BUILD ? CLONE_VM : CLONE_THREAD;
    int rc = sandbox_seccomp_refuse_if(filter, SCMP_SYS(clone),
                                       sandbox_seccomp_arg_masked(CLONE_FLAGS_AT, flag, 0));
    for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(starting); i++)
        rc = sandbox_seccomp_deny_call(filter, starting[i]);
    return rc;
}

/* Requires that a process is killed when its parent ends, and prevents changes of that; started
 * programs inherit the filter. */
static int sandbox_seccomp_refuse_outliving_parent(scmp_filter_ctx filter)
{
#if SANDBOX_SANITIZER_BUILD
    (void)filter;
    return 0;
#else
    return sandbox_seccomp_refuse_if_both(filter, SCMP_SYS(prctl),
                                          sandbox_seccomp_arg_masked(0, INT, PR_SET_PDEATHSIG),
                                          sandbox_seccomp_arg_differs(1, SIGKILL));
#endif
}

static int refuse_calls(scmp_filter_ctx filter)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(refused); i++)
        rc = sandbox_seccomp_deny_call(filter, refused[i]);
    for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(refused_with); i++) {
        const struct seccomp_arg_rule *const r = &refused_with[i];
        rc = sandbox_seccomp_refuse_if(filter, r->call,
                                       sandbox_seccomp_arg_masked(r->arg, r->mask, r->value));
    }
    /* The flags of clone3 are behind a pointer: glibc falls back to clone. */
    return rc ? rc : seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

static int refuse_others(scmp_filter_ctx filter)
{
    const uint64_t self = (uint64_t)getpid();
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(only_itself); i++)
        rc =
            sandbox_seccomp_refuse_if(filter, only_itself[i], sandbox_seccomp_arg_differs(0, self));
    for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(only_this_thread); i++)
        rc = sandbox_seccomp_refuse_if(filter, only_this_thread[i],
                                       sandbox_seccomp_arg_differs(0, 0));
    if (rc == 0)
        rc = sandbox_seccomp_refuse_if(filter, SCMP_SYS(setpriority),
                                       sandbox_seccomp_arg_differs(0, PRIO_PROCESS));
    return rc ? rc
              : sandbox_seccomp_refuse_if(filter, SCMP_SYS(setpriority),
                                          sandbox_seccomp_arg_differs(1, 0));
}

/* Permits TCP and UDP only: other protocols, such as MPTCP and SCTP, can connect and are unknown to
 * Landlock. */
static int refuse_protocols(scmp_filter_ctx filter, uint64_t family)
{
    const int call = SCMP_SYS(socket);
    int rc =
        sandbox_seccomp_refuse_if_both(filter, call, sandbox_seccomp_arg_masked(0, INT, family),
                                       sandbox_seccomp_arg_above(2, IPPROTO_UDP));
    for (uint64_t type = SOCK_DGRAM + 1; rc == 0 && type <= SOCKET_TYPE_MASK; type++)
        rc =
            sandbox_seccomp_refuse_if_both(filter, call, sandbox_seccomp_arg_masked(0, INT, family),
                                           sandbox_seccomp_arg_masked(1, SOCKET_TYPE_MASK, type));
    for (uint64_t protocol = 1; rc == 0 && protocol < IPPROTO_UDP; protocol++)
        if (protocol != IPPROTO_TCP)
            rc = sandbox_seccomp_refuse_if_both(filter, call,
                                                sandbox_seccomp_arg_masked(0, INT, family),
                                                sandbox_seccomp_arg_masked(2, INT, protocol));
    return rc;
}

/* Permits IPv4, IPv6 and the routing socket, which the resolver needs. No Unix sockets, which lead
 * to other services of the user, including the host's own. */
static int refuse_sockets(scmp_filter_ctx filter)
{
    const int call = SCMP_SYS(socket);
    int rc = sandbox_seccomp_refuse_if(filter, call, sandbox_seccomp_arg_above(0, AF_NETLINK));
    for (uint64_t family = 0; rc == 0 && family < AF_NETLINK; family++)
        if (family != AF_INET && family != AF_INET6)
            rc =
                sandbox_seccomp_refuse_if(filter, call, sandbox_seccomp_arg_masked(0, INT, family));
    if (rc == 0)
        rc = sandbox_seccomp_refuse_if_both(filter, call,
                                            sandbox_seccomp_arg_masked(0, INT, AF_NETLINK),
                                            sandbox_seccomp_arg_differs(2, NETLINK_ROUTE));
    if (rc == 0)
        rc = refuse_protocols(filter, AF_INET);
    return rc ? rc : refuse_protocols(filter, AF_INET6);
}

/* Refuses creation of a setuid or setgid file: the flags show whether there is a mode. openat2 has
 * both behind a pointer, where a filter cannot look. */
static int refuse_set_id(scmp_filter_ctx filter)
{
    static const uint64_t creates[] = {O_CREAT, O_TMPFILE & ~(uint64_t)O_DIRECTORY};
    static const uint64_t modes[] = {S_ISUID, S_ISGID};
    int rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(openat2), 0);
    for (size_t i = 0; rc == 0 && i < 4; i++) {
        const uint64_t flag = creates[i / 2], mode = modes[i % 2];
        rc = sandbox_seccomp_refuse_if_both(filter, SCMP_SYS(open),
                                            sandbox_seccomp_arg_masked(1, flag, flag),
                                            sandbox_seccomp_arg_masked(2, mode, mode));
        if (rc == 0)
            rc = sandbox_seccomp_refuse_if_both(filter, SCMP_SYS(openat),
                                                sandbox_seccomp_arg_masked(2, flag, flag),
                                                sandbox_seccomp_arg_masked(3, mode, mode));
    }
    return rc;
}

/* Landlock covers truncation from version 3 on. For older versions, refuses truncate by name, and
 * O_TRUNC with read-only access. */
static int refuse_truncation(scmp_filter_ctx filter)
{
    const uint64_t mask = O_ACCMODE | O_TRUNC, value = O_RDONLY | O_TRUNC;
    int rc = sandbox_seccomp_deny_call(filter, SCMP_SYS(truncate));
    if (rc == 0)
        rc = sandbox_seccomp_deny_call(filter, SCMP_SYS(truncate64));
    if (rc == 0)
        rc = sandbox_seccomp_refuse_if(filter, SCMP_SYS(open),
                                       sandbox_seccomp_arg_masked(1, mask, value));
    return rc ? rc
              : sandbox_seccomp_refuse_if(filter, SCMP_SYS(openat),
                                          sandbox_seccomp_arg_masked(2, mask, value));
}

static int sandbox_seccomp_fill(scmp_filter_ctx filter, const struct sandbox_spec *spec,
                                int landlock)
{
    int rc = refuse_calls(filter);
    if (rc == 0)
        rc = sandbox_seccomp_refuse_outliving_parent(filter);
    if (rc == 0 && !spec->starts_programs)
        rc = refuse_programs(filter);
    if (rc == 0)
        rc = refuse_others(filter);
    if (rc == 0)
        rc = refuse_set_id(filter);
    if (rc == 0 && landlock && landlock < 3)
        rc = refuse_truncation(filter);
    if (rc == 0)
        rc = spec->n_ports ? refuse_sockets(filter)
                           : sandbox_seccomp_deny_call(filter, SCMP_SYS(socket));
    return rc;
}

bool sandbox_seccomp_is_supported(void)
{
    const uint32_t action = SECCOMP_RET_KILL_PROCESS;
    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

int sandbox_seccomp_enter(int landlock, const struct sandbox_spec *spec, struct tc_err *err)
{
    const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (!filter)
        return err_set(err, spec->label, "cannot allocate the system call filter");
    /* Applies the filter to existing threads (started while the plugin was loaded), too. */
    int rc = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (rc == 0)
        rc = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    if (rc == 0)
        rc = sandbox_seccomp_fill(filter, spec, landlock);
    if (rc == 0)
        rc = seccomp_load(filter);
    seccomp_release(filter);
    return rc == 0 ? 0
                   : err_set_errno(err, -rc, spec->label, "cannot install the system call filter");
}
