/* SPDX-License-Identifier: MIT
 * A plugin that tries what a connector may not do, and what it has to be able to do. Each
 * unexpected outcome is logged, then their number. What lies in its folder: tests/cli/breach.t. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/netlink.h>
#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <turncast/plugin.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CHECKED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CHECKED 1
#endif
#endif

/* System calls that are newer than the headers. */
#define NEW_CALL(number) (SYS_landlock_create_ruleset + (number)-444)

struct conf {
    const char *open_port, *closed_port; /* of 127.0.0.1, both listen */
};
static const struct tc_option options[] = {
    TC_OPTION(struct conf, open_port, NULL, 0, "a port that it may connect to"),
    TC_OPTION(struct conf, closed_port, NULL, 0, "one that it may not connect to"),
    {0},
};

static char folder[PATH_MAX]; /* that this file is in */
static char self[PATH_MAX];   /* this file */
static char own[PATH_MAX];    /* the folder to write to; "": there is none */
static const struct conf *conf;

/* ---- helpers: 0, or the errno ---- */

static int came(long rc)
{
    return rc < 0 ? errno : 0;
}

static int came_fd(int fd)
{
    const int error = came(fd);
    if (fd >= 0)
        close(fd);
    return error;
}

/* Two may be held at once. */
static const char *at(const char *dir, const char *name)
{
    static char paths[2][PATH_MAX + 64];
    static unsigned turn;
    char *const path = paths[turn++ % 2];
    snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

static const char *here(const char *name)
{
    return at(folder, name);
}

static int read_path(const char *path)
{
    char c;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const int error = fd < 0 ? errno : came(read(fd, &c, 1));
    if (fd >= 0)
        close(fd);
    return error;
}

static int list_path(const char *path)
{
    return came_fd(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

static int connect_to(const char *port)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)(port ? atoi(port) : 9)),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int error = fd < 0 ? errno : came(connect(fd, (const struct sockaddr *)&to, sizeof to));
    if (fd >= 0)
        close(fd);
    return error;
}

/* One attempt of the lists below. */
#define TRY(name, expression)                                                                      \
    static int name(void)                                                                          \
    {                                                                                              \
        return expression;                                                                         \
    }

/* ---- files ---- */

TRY(read_conf, read_path(here("turncast.conf")))
TRY(read_key, read_path(here("key")))
TRY(read_named_as_library, read_path(here("notes.so")))
TRY(read_through_link, read_path(here("link.so")))
TRY(read_below, read_path(here("below/text")))
TRY(list_folder, list_path(folder))
TRY(list_above, list_path(here("..")))
TRY(list_root, list_path("/"))
TRY(list_home, list_path("/root"))
TRY(read_passwd, read_path("/etc/passwd"))
TRY(read_shadow, read_path("/etc/shadow"))
TRY(create_beside, came_fd(open(here("new"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)))
TRY(write_victim, came_fd(open(here("victim"), O_WRONLY | O_CLOEXEC)))
TRY(write_itself, came_fd(open(self, O_WRONLY | O_CLOEXEC)))
TRY(empty_victim, came(truncate(here("victim"), 0)))
TRY(empty_as_read, came_fd(open(here("libbeside.so"), O_RDONLY | O_TRUNC | O_CLOEXEC)))
TRY(remove_victim, came(unlink(here("victim"))))
TRY(move_victim, came(rename(here("victim"), here("moved"))))
TRY(make_link, came(symlink("/", here("root"))))
TRY(make_hard_link, came(link(self, here("again.so"))))
TRY(make_folder, came(mkdir(here("made"), 0700)))
TRY(make_fifo, came(mkfifo(here("fifo"), 0600)))
TRY(make_node, came(mknod(here("node"), S_IFREG | 0600, 0)))
TRY(change_root, came(chroot(folder)))

static int read_host(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/environ", (long)getppid());
    return read_path(path);
}

/* A descriptor that names a file opens no way to it. */
static int read_by_path_fd(void)
{
    char path[64];
    const int fd = open(here("key"), O_PATH | O_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const int error = fd < 0 ? errno : read_path(path);
    close(fd);
    return error;
}

static int read_from_below(void)
{
    const int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    const int back = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    int error = fd < 0 ? errno : came(fchdir(fd));
    if (!error)
        error = read_path("key");
    if (fchdir(back) < 0)
        error = errno;
    close(fd);
    close(back);
    return error;
}

static int open_handle(void)
{
    union {
        struct file_handle head;
        char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
    } handle = {.head.handle_bytes = MAX_HANDLE_SZ};
    int mount;
    const int error = came(name_to_handle_at(AT_FDCWD, here("key"), &handle.head, &mount, 0));
    if (error)
        return error;
    return came_fd(open_by_handle_at(AT_FDCWD, &handle.head, O_RDONLY | O_CLOEXEC));
}

/* ---- attributes of files ---- */

/* Of the plugin's own file, which it may read. */
static int with_itself(int (*change)(int fd))
{
    const int fd = open(self, O_RDONLY | O_CLOEXEC);
    const int error = fd < 0 ? EIO : change(fd);
    close(fd);
    return error;
}

#define CHANGE(name, expression)                                                                   \
    static int name(int fd)                                                                        \
    {                                                                                              \
        return expression;                                                                         \
    }
CHANGE(fd_mode, came(fchmod(fd, 0644)))
CHANGE(fd_owner, came(fchown(fd, (uid_t)-1, (gid_t)-1)))
CHANGE(fd_times, came(futimens(fd, NULL)))
CHANGE(fd_attribute, came(fsetxattr(fd, "user.breach", "x", 1, 0)))
CHANGE(fd_flags, came(ioctl(fd, FS_IOC_SETFLAGS, &(int){FS_NOATIME_FL})))

static int fd_lease(int fd)
{
    const int error = came(fcntl(fd, F_SETLEASE, F_RDLCK));
    if (!error)
        fcntl(fd, F_SETLEASE, F_UNLCK);
    return error;
}

TRY(set_mode, came(chmod(here("victim"), 0666)))
TRY(set_mode_at, came(fchmodat(AT_FDCWD, here("victim"), 0666, 0)))
TRY(set_mode_at_2, came(syscall(NEW_CALL(452), AT_FDCWD, here("victim"), 0666, 0)))
TRY(set_mode_of_fd, with_itself(fd_mode))
TRY(set_mode_of_stdout, came(fchmod(1, 0666)))
TRY(set_owner, came(chown(here("victim"), (uid_t)-1, (gid_t)-1)))
TRY(set_owner_of_link, came(lchown(here("victim"), (uid_t)-1, (gid_t)-1)))
TRY(set_owner_at, came(fchownat(AT_FDCWD, here("victim"), (uid_t)-1, (gid_t)-1, 0)))
TRY(set_owner_of_fd, with_itself(fd_owner))
TRY(set_times, came(utimensat(AT_FDCWD, here("victim"), NULL, 0)))
TRY(set_times_of_fd, with_itself(fd_times))
TRY(set_attribute, came(setxattr(here("victim"), "user.breach", "x", 1, 0)))
TRY(set_attribute_of_link, came(lsetxattr(here("victim"), "user.breach", "x", 1, 0)))
TRY(set_attribute_at,
    came(syscall(NEW_CALL(463), AT_FDCWD, here("victim"), 0, "user.breach", NULL, 0)))
TRY(set_attribute_of_fd, with_itself(fd_attribute))
TRY(remove_attribute, came(removexattr(here("victim"), "user.kept")))
TRY(set_flags_of_fd, with_itself(fd_flags))
TRY(take_lease, with_itself(fd_lease))
TRY(set_attributes_of_file, came(syscall(NEW_CALL(469), AT_FDCWD, here("victim"), NULL, 0, 0)))

#ifdef SYS_utimes
TRY(set_times_old, came(syscall(SYS_utimes, here("victim"), NULL)))
#else
#define set_times_old set_times
#endif

static int watch_folder(void)
{
    const int fd = inotify_init1(IN_CLOEXEC);
    if (fd < 0)
        return errno;
    const int error = came(inotify_add_watch(fd, here("below"), IN_CREATE));
    close(fd);
    return error;
}

TRY(add_watch, came(inotify_add_watch(-1, folder, IN_CREATE)))
TRY(watch_all, came_fd(fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_REPORT_FID, O_RDONLY)))
TRY(mark_all, came(fanotify_mark(-1, FAN_MARK_ADD, FAN_OPEN, AT_FDCWD, folder)))

/* Others could run it as this user. */
static int make_set_id(void)
{
    const char *const path = at(*own ? own : folder, "setid");
    const int error = came_fd(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 04755));
    unlink(path);
    return error;
}

/* ---- processes ---- */

static int make_process(void)
{
    const pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    const int error = came(pid);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    return error;
}

static int spawn_program(void)
{
    pid_t pid;
    char *const argv[] = {(char[]){"true"}, NULL};
    const int error = posix_spawn(&pid, "/bin/true", NULL, NULL, argv, NULL);
    if (!error)
        waitpid(pid, NULL, 0);
    return error;
}

static int signal_host_fd(void)
{
    const int fd = pidfd_open(getppid(), 0);
    const int error = came(pidfd_send_signal(fd, 0, NULL, 0));
    close(fd);
    return error;
}

static int trace_host(void)
{
    const int error = came(ptrace(PTRACE_SEIZE, getppid(), NULL, NULL));
    if (!error)
        ptrace(PTRACE_DETACH, getppid(), NULL, NULL);
    return error;
}

static int bind_host(void)
{
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    return came(sched_getaffinity(0, sizeof cpus, &cpus)) |
           came(sched_setaffinity(getppid(), sizeof cpus, &cpus));
}

TRY(run_program, came(execl("/nonexistent", "nonexistent", (char *)NULL)))
TRY(clone_by_pointer, came(syscall(SYS_clone3, NULL, 0)))
TRY(limit_host, came(prlimit(getppid(), RLIMIT_NOFILE, NULL, &(struct rlimit){0})))
TRY(signal_host, came(kill(getppid(), 0)))
TRY(signal_all, came(kill(-1, 0)))
TRY(read_host_memory, came(syscall(SYS_process_vm_readv, getppid(), NULL, 0, NULL, 0, 0)))
TRY(rank_host, came(setpriority(PRIO_PROCESS, (id_t)getppid(), 19)))
TRY(leave_session, came(setsid()))
TRY(be_dumpable, came(prctl(PR_SET_DUMPABLE, 1)))
TRY(outlive_host, came(prctl(PR_SET_PDEATHSIG, 0)))
TRY(have_more_files, came(setrlimit(RLIMIT_NOFILE, &(struct rlimit){4096, 4096})))
TRY(have_core, came(setrlimit(RLIMIT_CORE, &(struct rlimit){4096, 4096})))

/* ---- connections ---- */

TRY(connect_closed, connect_to(conf->closed_port))

static int connect_service(void)
{
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (fd < 0)
        return errno;
    strncpy(to.sun_path, here("service"), sizeof to.sun_path - 1);
    const int error = came(connect(fd, (const struct sockaddr *)&to, sizeof to));
    close(fd);
    return error;
}

static int serve_others(void)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int error = fd < 0 ? errno : came(listen(fd, 1));
    if (fd >= 0)
        close(fd);
    return error;
}

static int pair_datagrams(void)
{
    int pair[2];
    const int error = came(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair));
    if (!error) {
        close(pair[0]);
        close(pair[1]);
    }
    return error;
}

TRY(watch_devices, came_fd(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT)))
TRY(open_raw, came_fd(socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP)))

/* ---- the kernel ---- */

TRY(leave_namespace, came(unshare(CLONE_NEWUSER)))
TRY(enter_namespace, came(setns(-1, 0)))
TRY(mount_folder, came(mount("none", folder, "tmpfs", 0, NULL)))
TRY(load_filter, came(syscall(SYS_bpf, 0, NULL, 0)))
TRY(use_ring, came(syscall(SYS_io_uring_setup, 1, NULL)))
TRY(use_aio, came(syscall(SYS_io_setup, 1, NULL)))
TRY(handle_faults, came(syscall(SYS_userfaultfd, 1)))
TRY(count_events, came(syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0)))
TRY(use_keys, came(syscall(SYS_keyctl, 0, -3, 0)))
TRY(share_memory, came(shmget(IPC_PRIVATE, 4096, 0600)))
TRY(queue_messages, came(msgget(IPC_PRIVATE, 0600)))
TRY(use_semaphores, came(semget(IPC_PRIVATE, 1, 0600)))
TRY(open_queue, came((long)mq_open("/breach", O_RDONLY)))
TRY(be_other, came(syscall(SYS_personality, 0x40000)))
TRY(take_uncounted, came_fd(memfd_create("breach", MFD_CLOEXEC)))
TRY(set_clock, came(syscall(SYS_clock_settime, CLOCK_REALTIME, NULL)))
TRY(set_name, came(syscall(SYS_sethostname, NULL, -1)))
TRY(read_kernel_log, came(syscall(SYS_syslog, 10, NULL, 0)))
TRY(ask_quota, came(syscall(SYS_quotactl, 0x80000200U, NULL, 0, NULL)))
TRY(type_input, came(ioctl(0, TIOCSTI, "x")))
TRY(direct_signals, came(fcntl(0, F_SETOWN, getppid())))

/* ---- what has to work ---- */

static void *count_up(void *arg)
{
    free(malloc(1 << 16));
    return arg;
}

static int make_threads(void)
{
    pthread_t threads[8];
    int error = 0, n = 0;
    while (n < 8 && !(error = pthread_create(&threads[n], NULL, count_up, NULL)))
        n++;
    while (n > 0)
        pthread_join(threads[--n], NULL);
    return error;
}

static int use_memory(void)
{
    char *const p = malloc(32 << 20);
    if (!p)
        return ENOMEM;
    memset(p, 1, 32 << 20);
    free(p);
    return 0;
}

static int keep_state(void)
{
    if (!*own)
        return 0;
    const char *const from = at(own, "from"), *const to = at(own, "to");
    const int fd = open(from, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    const int error = came(fd) | came(write(fd, "state", 5)) | came(ftruncate(fd, 2)) |
                      came(fsync(fd)) | came(rename(from, to)) | came(unlink(to));
    close(fd);
    return error;
}

static int signal_itself(void)
{
    signal(SIGUSR1, SIG_IGN);
    return came(raise(SIGUSR1)) | came(kill(getpid(), SIGUSR1));
}

TRY(read_itself, read_path(self))
TRY(read_library, read_path(here("libbeside.so")))
TRY(read_versioned, read_path(here("libbeside.so.1")))
TRY(read_random, read_path("/dev/urandom"))
TRY(read_status, read_path("/proc/self/status"))
TRY(read_zone, list_path("/usr/share"))
TRY(write_null, came_fd(open("/dev/null", O_WRONLY | O_CLOEXEC)))
TRY(open_udp, conf->open_port ? came_fd(socket(AF_INET, SOCK_DGRAM, 0)) : 0)
TRY(connect_open, conf->open_port ? connect_to(conf->open_port) : 0)
TRY(print_line, fputs("{\"result\":\"forged\"}\n", stdout) < 0 || fflush(stdout) ? EIO : 0)

/* ---- how the process is ---- */

/* Else ENOENT: the line is not in /proc/self/status. */
static int has_status(const char *line)
{
    char text[8192] = "";
    const int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    const ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    return n > 0 && strstr(text, line) ? 0 : ENOENT;
}

/* A descriptor of the host, if one is left: of a file or folder with a name. */
static int has_no_other_files(void)
{
    for (int fd = 0; fd < 256; fd++) {
        char link[64], path[PATH_MAX] = "";
        struct stat st;
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        if (readlink(link, path, sizeof path - 1) < 0 || *path != '/' ||
            fcntl(fd, F_GETFL) & O_PATH)
            continue;
        if (strcmp(path, "/dev/null") != 0 && strcmp(path, self) != 0 &&
            strncmp(path, "/memfd:turncast", 15) != 0)
            return fstat(fd, &st) < 0 ? errno : EBADF;
    }
    return 0;
}

TRY(has_no_environment, getenv("HOME") || getenv("PATH") || getenv("TURNCAST_CANARY") ? EEXIST : 0)
TRY(has_filter, has_status("\nSeccomp:\t2\n"))
TRY(has_no_rights, has_status("\nCapEff:\t0000000000000000\n"))
TRY(has_no_new_rights, has_status("\nNoNewPrivs:\t1\n"))

/* ---- all of it ---- */

typedef int attempt(void);
#define ROW(f)                                                                                     \
    {                                                                                              \
#f, f                                                                                      \
    }

/* clang-format off */
static const struct {
    const char *name;
    attempt *try;
} forbidden[] =
    {
    ROW(read_conf), ROW(read_key), ROW(read_named_as_library), ROW(read_through_link),
    ROW(read_below), ROW(list_folder), ROW(list_above), ROW(list_root), ROW(list_home),
    ROW(read_passwd), ROW(read_shadow), ROW(create_beside), ROW(write_victim), ROW(write_itself),
    ROW(empty_victim), ROW(empty_as_read), ROW(remove_victim), ROW(move_victim), ROW(make_link),
    ROW(make_hard_link), ROW(make_folder), ROW(make_fifo), ROW(make_node), ROW(change_root),
    ROW(read_host), ROW(read_by_path_fd), ROW(read_from_below), ROW(open_handle), ROW(set_mode),
    ROW(set_mode_at), ROW(set_mode_at_2), ROW(set_mode_of_fd), ROW(set_mode_of_stdout),
    ROW(set_owner), ROW(set_owner_of_link), ROW(set_owner_at), ROW(set_owner_of_fd),
    ROW(set_times), ROW(set_times_old), ROW(set_times_of_fd), ROW(set_attribute),
    ROW(set_attribute_of_link), ROW(set_attribute_at), ROW(set_attribute_of_fd),
    ROW(remove_attribute), ROW(set_flags_of_fd), ROW(take_lease), ROW(set_attributes_of_file),
    ROW(watch_folder), ROW(add_watch), ROW(watch_all), ROW(mark_all), ROW(make_set_id),
    ROW(make_process), ROW(spawn_program), ROW(run_program), ROW(clone_by_pointer),
    ROW(signal_host), ROW(signal_host_fd), ROW(signal_all), ROW(read_host_memory),
    ROW(limit_host), ROW(bind_host), ROW(rank_host), ROW(leave_session), ROW(have_more_files),
    ROW(have_core),
#ifndef CHECKED
    ROW(trace_host), ROW(be_dumpable), ROW(outlive_host),
#endif
    ROW(connect_closed), ROW(connect_service), ROW(serve_others), ROW(pair_datagrams),
    ROW(watch_devices), ROW(open_raw), ROW(leave_namespace), ROW(enter_namespace),
    ROW(mount_folder), ROW(load_filter), ROW(use_ring), ROW(use_aio), ROW(handle_faults),
    ROW(count_events), ROW(use_keys), ROW(share_memory), ROW(queue_messages), ROW(use_semaphores),
    ROW(open_queue), ROW(be_other), ROW(take_uncounted), ROW(set_clock), ROW(set_name),
    ROW(read_kernel_log), ROW(ask_quota), ROW(type_input), ROW(direct_signals),
},
  needed[] = {
    ROW(make_threads), ROW(use_memory), ROW(keep_state), ROW(signal_itself),
    ROW(open_udp), ROW(read_itself), ROW(read_library), ROW(read_versioned),
    ROW(read_random), ROW(read_status), ROW(read_zone), ROW(write_null), ROW(connect_open),
    ROW(print_line), ROW(has_filter), ROW(has_no_rights), ROW(has_no_new_rights),
    ROW(has_no_other_files), ROW(has_no_environment),
};
/* clang-format on */

/* clone3 is refused as if it did not exist, so that libraries take clone. */
static bool is_refusal(int error)
{
    return error == EPERM || error == EACCES || error == ENOSYS;
}

/* The linker knows this file by a descriptor. */
static bool find_itself(void)
{
    Dl_info info;
    const char *const tmp = getenv("TMPDIR");
    snprintf(own, sizeof own, "%s", tmp ? tmp : "");
    if (!dladdr((void *)(uintptr_t)find_itself, &info) ||
        readlink(info.dli_fname, self, sizeof self - 1) <= 0)
        return false;
    snprintf(folder, sizeof folder, "%s", self);
    *strrchr(folder, '/') = '\0';
    return true;
}

/* Already as it is loaded, also where that is a trial: what succeeds is the end of the process. */
__attribute__((__constructor__)) static void try_at_load(void)
{
    if (!find_itself())
        return;
    if (read_conf() == 0 || read_shadow() == 0 || create_beside() == 0 || make_process() == 0 ||
        set_mode() == 0 || connect_service() == 0)
        abort();
}

static int init(struct tc_instance *inst)
{
    unsigned bad = 0;
    const unsigned n = sizeof forbidden / sizeof *forbidden, m = sizeof needed / sizeof *needed;
    conf = inst->conf;
    for (unsigned i = 0; i < n; i++) {
        const int error = forbidden[i].try();
        bad += !is_refusal(error);
        if (!is_refusal(error))
            tc_log(inst, TC_ERR, "breach: %s: %s", forbidden[i].name, strerror(error));
    }
    for (unsigned i = 0; i < m; i++) {
        const int error = needed[i].try();
        bad += error != 0;
        if (error)
            tc_log(inst, TC_ERR, "breach: %s fails: %s", needed[i].name, strerror(error));
    }
    tc_log(inst, TC_WARN, "breach: tried %s, %u unexpected outcomes", n > 90 && m > 15 ? "all" : "",
           bad);
    return 0;
}

TURNCAST_PLUGIN(.name = "breach", .version = "1", .summary = "tries what it may not do",
                .conf_size = sizeof(struct conf), .options = options, .init = init,
                .sink = TC_SINK(.on_event = NULL));
