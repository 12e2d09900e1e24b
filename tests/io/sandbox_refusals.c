/* SPDX-License-Identifier: MIT
 * The attempts that the sandbox of a connector must refuse. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/attr.h"
#include "io/sandbox/sandbox_internal.h"
#include "io/sandbox_cases.h"

#define HIGH (1L << 32) /* a bit that the kernel ignores in an int */
#define MPTCP 262

int sandbox_came(long rc)
{
    return rc < 0 ? errno : 0;
}

int sandbox_came_fd(int fd)
{
    const int error = sandbox_came(fd);
    if (fd >= 0)
        close(fd);
    return error;
}

bool sandbox_is_refusal(int error)
{
    return error == EPERM || error == EACCES;
}

char *sandbox_below(const char *folder, const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

int sandbox_connect(uint16_t port)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int error =
        fd < 0 ? errno : sandbox_came(connect(fd, (const struct sockaddr *)&at, sizeof at));
    close(fd);
    return error;
}

static int read_secret(const struct sandbox_place *here)
{
    return sandbox_came_fd(open(here->secret, O_RDONLY | O_CLOEXEC));
}

static int read_shadow(UNUSED const struct sandbox_place *here)
{
    return sandbox_came_fd(open("/etc/shadow", O_RDONLY | O_CLOEXEC));
}

static int read_parent(const struct sandbox_place *here)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)here->parent);
    return sandbox_came_fd(open(path, O_RDONLY | O_CLOEXEC));
}

static int list_elsewhere(const struct sandbox_place *here)
{
    return sandbox_came_fd(open(here->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

static int create_elsewhere(const struct sandbox_place *here)
{
    return sandbox_came_fd(
        open(sandbox_below(here->root, "new"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

static int empty_secret(const struct sandbox_place *here)
{
    return sandbox_came(truncate(here->secret, 0));
}

/* The file is readable only. */
static int empty_shown(const struct sandbox_place *here)
{
    return sandbox_came_fd(open(here->shown, O_RDONLY | O_TRUNC | O_CLOEXEC));
}

static int make_link(const struct sandbox_place *here)
{
    char *const link = sandbox_below(here->state, "link");
    const int error = sandbox_came(symlink("/", link));
    unlink(link);
    return error;
}

static int move_out(const struct sandbox_place *here)
{
    close(open(sandbox_below(here->state, "mine"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    char *const from = xstrdup(sandbox_below(here->state, "mine"));
    const int error = sandbox_came(rename(from, sandbox_below(here->root, "mine")));
    free(from);
    return error == EXDEV ? EACCES : error; /* Landlock version 1 returns this error */
}

static int read_link(const struct sandbox_place *here)
{
    return sandbox_came_fd(open(here->link, O_RDONLY | O_CLOEXEC));
}

static int write_full(const struct sandbox_place *here)
{
    return sandbox_came_fd(
        open(sandbox_below(here->full, "new"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

/* Refused only if each is refused: by path, and by a descriptor that is open for reading. */
static int change_attributes(const struct sandbox_place *here)
{
    const int fd = open(here->shown, O_RDONLY | O_CLOEXEC);
    const int errors[] = {
        sandbox_came(chmod(here->secret, 0600)),
        sandbox_came(fchmodat(AT_FDCWD, here->secret, 0600, 0)),
        sandbox_came(fchmod(fd, 0644)),
        sandbox_came(chown(here->secret, (uid_t)-1, (gid_t)-1)),
        sandbox_came(lchown(here->secret, (uid_t)-1, (gid_t)-1)),
        sandbox_came(fchown(fd, (uid_t)-1, (gid_t)-1)),
        sandbox_came(utimensat(AT_FDCWD, here->secret, NULL, 0)),
        sandbox_came(futimens(fd, NULL)),
        sandbox_came(setxattr(here->secret, "user.test", "x", 1, 0)),
        sandbox_came(removexattr(here->secret, "user.test")),
        sandbox_came(mknod(sandbox_below(here->state, "node"), S_IFREG | 0600, 0)),
    };
    close(fd);
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i] != EPERM)
            return errors[i] ? errors[i] : 0;
    return EPERM;
}

static int watch_files(const struct sandbox_place *here)
{
    const int fd = inotify_init1(IN_CLOEXEC);
    const int error = sandbox_came(fd < 0 ? fd : inotify_add_watch(fd, here->root, IN_CREATE));
    close(fd);
    return error;
}

static int take_lease(const struct sandbox_place *here)
{
    const int fd = open(here->shown, O_RDONLY | O_CLOEXEC);
    const int error = sandbox_came(fcntl(fd, F_SETLEASE, F_RDLCK));
    close(fd);
    return error;
}

static int make_set_id(const struct sandbox_place *here)
{
    char *const path = sandbox_below(here->state, "setid");
    const int error = sandbox_came_fd(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 04700));
    unlink(path);
    return error;
}

static int exec_program(UNUSED const struct sandbox_place *here)
{
    return sandbox_came(execl("/nonexistent", "nonexistent", (char *)NULL));
}

static int spawn_program(UNUSED const struct sandbox_place *here)
{
    pid_t pid;
    char *const argv[] = {(char[]){"true"}, NULL};
    const int error = posix_spawn(&pid, "/bin/true", NULL, NULL, argv, NULL);
    if (!error)
        waitpid(pid, NULL, 0);
    return error;
}

static int fork_often(UNUSED const struct sandbox_place *here)
{
    int error = 0;
    for (int i = 0; i < 50 && (!error || sandbox_is_refusal(error)); i++) {
        const pid_t pid = fork();
        if (pid == 0)
            _exit(0);
        error = sandbox_came(pid);
        if (pid > 0)
            waitpid(pid, NULL, 0);
    }
    return error;
}

static int clone_by_pointer(UNUSED const struct sandbox_place *here)
{
    const int error = sandbox_came(syscall(SYS_clone3, NULL, 0));
    return error == ENOSYS ? EPERM : error;
}

static int connect_other(const struct sandbox_place *here)
{
    return sandbox_connect(here->other_port);
}

static int connect_by_sending(const struct sandbox_place *here)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct sockaddr_in at = {.sin_family = AF_INET,
                                   .sin_port = htons(here->other_port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int error =
        sandbox_came(sendto(fd, "x", 1, MSG_FASTOPEN, (const struct sockaddr *)&at, sizeof at));
    close(fd);
    return error;
}

static int bind_port(UNUSED const struct sandbox_place *here)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct sockaddr_in at = {.sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int error = sandbox_came(bind(fd, (const struct sockaddr *)&at, sizeof at));
    close(fd);
    return error;
}

static int listen_anywhere(UNUSED const struct sandbox_place *here)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int error = sandbox_came(listen(fd, 1));
    close(fd);
    return error;
}

static int connect_service(const struct sandbox_place *here)
{
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s", here->service);
    const int error = sandbox_came(connect(fd, (const struct sockaddr *)&at, sizeof at));
    close(fd);
    return error;
}

/* Refused only if each is refused. */
static int open_odd_sockets(UNUSED const struct sandbox_place *here)
{
    static const struct {
        long family;
        int type, protocol;
    } odd[] = {
        {AF_UNIX | HIGH, SOCK_STREAM, 0},
        {AF_INET, SOCK_STREAM, MPTCP},
        {AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, MPTCP},
        {AF_INET, SOCK_SEQPACKET, 0},
        {AF_INET, SOCK_DGRAM, IPPROTO_ICMP},
        {AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE},
        {AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT},
        {AF_VSOCK, SOCK_STREAM, 0},
        {AF_ALG, SOCK_SEQPACKET, 0},
    };
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        const long fd = syscall(SYS_socket, odd[i].family, odd[i].type, odd[i].protocol);
        const int error = sandbox_came_fd((int)fd);
        if (!sandbox_is_refusal(error))
            return error;
    }
    return EPERM;
}

static int open_datagram_pair(UNUSED const struct sandbox_place *here)
{
    int pair[2];
    const int error = sandbox_came(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair));
    if (!error) {
        close(pair[0]);
        close(pair[1]);
    }
    return error;
}

static int signal_parent(const struct sandbox_place *here)
{
    return sandbox_came(kill(here->parent, 0));
}

static int signal_parent_fd(const struct sandbox_place *here)
{
    const int fd = pidfd_open(here->parent, 0);
    const int error = sandbox_came(pidfd_send_signal(fd, 0, NULL, 0));
    close(fd);
    return error;
}

static int trace_parent(const struct sandbox_place *here)
{
    const int error = sandbox_came(ptrace(PTRACE_SEIZE, here->parent, NULL, NULL));
    if (!error)
        ptrace(PTRACE_DETACH, here->parent, NULL, NULL);
    return error;
}

static int limit_parent(const struct sandbox_place *here)
{
    struct rlimit old;
    return sandbox_came(prlimit(here->parent, RLIMIT_NOFILE, NULL, &old));
}

static int unshare_folder(UNUSED const struct sandbox_place *here)
{
    return sandbox_came(unshare(CLONE_FS));
}

static int type_into_terminal(UNUSED const struct sandbox_place *here)
{
    const int error = sandbox_came(ioctl(0, TIOCSTI, "x"));
    return sandbox_is_refusal(error) ? sandbox_came(syscall(SYS_ioctl, 0, TIOCSTI | HIGH, "x"))
                                     : error;
}

static int direct_signals(const struct sandbox_place *here)
{
    return sandbox_came(fcntl(0, F_SETOWN, here->parent));
}

static int become_dumpable(UNUSED const struct sandbox_place *here)
{
    return sandbox_came(prctl(PR_SET_DUMPABLE, 1));
}

static int outlive_parent(UNUSED const struct sandbox_place *here)
{
    return sandbox_came(prctl(PR_SET_PDEATHSIG, 0));
}

/* Refused only if each is refused. */
static int call_kernel(UNUSED const struct sandbox_place *here)
{
    static const long calls[] = {
        SYS_add_key,
        SYS_bpf,
        SYS_execveat,
        SYS_fsopen,
        SYS_init_module,
        SYS_io_uring_enter,
        SYS_io_uring_register,
        SYS_io_uring_setup,
        SYS_kcmp,
        SYS_kexec_load,
        SYS_keyctl,
        SYS_mount,
        SYS_open_tree,
        SYS_perf_event_open,
        SYS_pidfd_getfd,
        SYS_pivot_root,
        SYS_process_vm_readv,
        SYS_process_vm_writev,
        SYS_request_key,
        SYS_setns,
        SYS_swapon,
        SYS_tkill,
        SYS_userfaultfd,
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        const int error = sandbox_came(syscall(calls[i], -1, NULL, NULL, 0, 0));
        if (error != EPERM)
            return error ? error : EINVAL;
    }
    return EPERM;
}

const struct sandbox_refusal sandbox_refusals[REFUSALS] = {
    {"reading a file outside", read_secret, 1, NO, BITES},
    {"reading /etc/shadow", read_shadow, 1, NO, LASTS},
    {"reading /proc of the host", read_parent, 1, NO, BITES},
    {"listing a folder outside", list_elsewhere, 1, NO, BITES},
    {"creating a file outside", create_elsewhere, 1, NO, BITES},
    {"moving a file out", move_out, 1, NO, BITES},
    {"creating a symbolic link", make_link, 1, NO, BITES},
    {"reading a file through a link among its libraries", read_link, 1, NO, BITES},
    {"creating a file in a full folder", write_full, 1, NO, BITES},
    {"changing attributes of files", change_attributes, 0, YES, BITES},
    {"watching files", watch_files, 0, YES, BITES},
    {"a lease of a file", take_lease, 0, YES, BITES},
    {"creating a set-user-ID program", make_set_id, 0, YES, BITES},
    {"truncating a file outside", empty_secret, 3, OLD, BITES},
    {"truncating a readable file", empty_shown, 3, OLD, BITES},
    {"exec", exec_program, 0, YES, BITES},
    {"posix_spawn", spawn_program, 1, YES, BITES},
    {"repeated forks", fork_often, 0, YES, BITES},
    {"clone3", clone_by_pointer, 0, YES, BITES},
    {"connecting to a port that is not declared", connect_other, 4, NO, BITES},
    {"connecting with TCP Fast Open to a port that is not declared", connect_by_sending, 0, YES,
     LASTS},
    {"bind", bind_port, 4, NO, BITES},
    {"listen without bind", listen_anywhere, 0, YES, BITES},
    {"connecting to a Unix socket", connect_service, 0, YES, BITES},
    {"unusual kinds of sockets", open_odd_sockets, 0, YES, BITES},
    {"a pair of datagram sockets", open_datagram_pair, 0, YES, BITES},
    {"a signal to the host", signal_parent, 6, YES, BITES},
    {"a signal to the host by a pidfd", signal_parent_fd, 6, YES, BITES},
    {"tracing the host", trace_parent, 1, SANDBOX_SANITIZER_BUILD ? NO : YES, LASTS},
    {"reading the limits of the host", limit_parent, 0, YES, BITES},
    {"unshare", unshare_folder, 0, YES, BITES},
    {"input to a terminal", type_into_terminal, 0, YES, BITES},
    {"directing signals of descriptors to the host", direct_signals, 0, YES, BITES},
    {"becoming dumpable", become_dumpable, 0, SANDBOX_SANITIZER_BUILD ? NO : YES, BITES},
    {"outliving the host", outlive_parent, 0, SANDBOX_SANITIZER_BUILD ? NO : YES, BITES},
    {"system calls that no connector needs", call_kernel, 0, YES, BITES},
};
