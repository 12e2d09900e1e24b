/* SPDX-License-Identifier: MIT
 * A library that is loaded before all others and fails the n-th call of a group of functions.
 *
 *   TORTURE_CALL   memory, write, read, open, sync, connect, fork or dlopen
 *   TORTURE_AT     which call fails, from 1; 0: none, they are counted
 *   TORTURE_FOR    how many fail from there on (1)
 *   TORTURE_SEEN   a file of 8 bytes in which they are counted
 *
 * They count whoever calls, the program or a library; but libconfig, which does not look whether it
 * got memory, always gets it, and what libevent writes to itself about a signal arrives. Children
 * do not inherit any of this, unless they are given the environment. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((__visibility__("default")))

enum group { MEMORY, WRITE, READ, OPEN, SYNC, CONNECT, FORK, DLOPEN, GROUPS };
static const char *const group_names[GROUPS] = {"memory", "write",   "read", "open",
                                                "sync",   "connect", "fork", "dlopen"};

static atomic_bool ready;
static int wanted = -1;
static uint64_t fails_at, fails_for = 1;
static _Atomic uint64_t *seen;
static _Atomic uint64_t seen_here;
static pid_t own_pid;
static _Thread_local const char *dl_failure;

/* ---- set up ---- */

static uint64_t number_of(const char *name, uint64_t otherwise)
{
    const char *const text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* What is not failed in which group, by the name of its file. */
static struct {
    const char *name;
    enum group group;
    uintptr_t begin, end;
} spared[] = {{"libconfig", MEMORY, 0, 0}, {"libevent", WRITE, 0, 0}};
#define SPARED (sizeof spared / sizeof *spared)

static int find_spared(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    for (size_t k = 0; k < SPARED; k++) {
        if (!strstr(info->dlpi_name, spared[k].name))
            continue;
        spared[k].begin = UINTPTR_MAX;
        for (int i = 0; i < info->dlpi_phnum; i++) {
            const ElfW(Phdr) *const p = &info->dlpi_phdr[i];
            const uintptr_t begin = info->dlpi_addr + p->p_vaddr;
            if (p->p_type != PT_LOAD)
                continue;
            if (begin < spared[k].begin)
                spared[k].begin = begin;
            if (begin + p->p_memsz > spared[k].end)
                spared[k].end = begin + p->p_memsz;
        }
    }
    return 0;
}

static bool is_spared(enum group g, uintptr_t at)
{
    for (size_t k = 0; k < SPARED; k++)
        if (spared[k].group == g && at >= spared[k].begin && at < spared[k].end)
            return true;
    return false;
}

static void map_count(const char *path)
{
    seen = &seen_here;
    const int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC) : -1;
    void *const page =
        fd < 0 ? MAP_FAILED : mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page != MAP_FAILED)
        seen = page;
    if (fd >= 0)
        syscall(SYS_close, fd);
}

__attribute__((__constructor__)) static void begin(void)
{
    const char *const call = getenv("TORTURE_CALL");
    for (int i = 0; call && i < GROUPS; i++)
        if (strcmp(group_names[i], call) == 0)
            wanted = i;
    fails_at = number_of("TORTURE_AT", 0);
    fails_for = number_of("TORTURE_FOR", 1);
    map_count(getenv("TORTURE_SEEN"));
    dl_iterate_phdr(find_spared, NULL);
    own_pid = getpid();
    atomic_store(&ready, true);
}

/* Whether this call is to fail. What a child does before it becomes another program does not
 * count. */
static bool is_due(enum group g, const void *caller)
{
    if (!atomic_load_explicit(&ready, memory_order_acquire) || wanted != (int)g)
        return false;
    if (is_spared(g, (uintptr_t)caller))
        return false;
    if ((pid_t)syscall(SYS_getpid) != own_pid)
        return false;
    const uint64_t n = atomic_fetch_add(seen, 1) + 1;
    return fails_at && n >= fails_at && n - fails_at < fails_for;
}

/* The kernel's own counters (eventfd and the like) do not fail; they are no file of any type. */
static bool is_file(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT);
}

#define CALLER __builtin_return_address(0)
#define REAL(name) ((__typeof__(&name))real_of(#name))
/* Fails with this errno when it is its turn. */
#define FAIL(group, error, result)                                                                 \
    do {                                                                                           \
        if (is_due(group, CALLER)) {                                                               \
            errno = error;                                                                         \
            return result;                                                                         \
        }                                                                                          \
    } while (0)

#define FAIL_FILE(group, fd, error, result)                                                        \
    do {                                                                                           \
        if (wanted == (int)(group) && is_file(fd) && is_due(group, CALLER)) {                      \
            errno = error;                                                                         \
            return result;                                                                         \
        }                                                                                          \
    } while (0)

static void *real_of(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/* ---- memory ----
 * dlsym may need memory before it knows malloc: that comes from here, and is never freed. */

static char early[1 << 16] __attribute__((__aligned__(16)));
static atomic_size_t early_used;
static atomic_bool is_looking;

static void *early_alloc(size_t n)
{
    const size_t at = atomic_fetch_add(&early_used, (n + 15) & ~(size_t)15);
    return at + n <= sizeof early ? &early[at] : NULL;
}

static bool is_early(const void *p)
{
    return (const char *)p >= early && (const char *)p < early + sizeof early;
}

/* Whoever allocates before this library is bound (a sanitizer does) finds no dlsym yet. */
#pragma weak dlsym
#define MEMORY_FUNCTION(type, name)                                                                \
    static type find_##name(void)                                                                  \
    {                                                                                              \
        static _Atomic(type) found;                                                                \
        type f = atomic_load(&found);                                                              \
        if (!f && dlsym && !atomic_exchange(&is_looking, true)) {                                  \
            f = (type)real_of(#name);                                                              \
            atomic_store(&found, f);                                                               \
            atomic_store(&is_looking, false);                                                      \
        }                                                                                          \
        return f;                                                                                  \
    }

typedef void *malloc_fn(size_t);
typedef void *calloc_fn(size_t, size_t);
typedef void *realloc_fn(void *, size_t);
typedef void free_fn(void *);
MEMORY_FUNCTION(malloc_fn *, malloc)
MEMORY_FUNCTION(calloc_fn *, calloc)
MEMORY_FUNCTION(realloc_fn *, realloc)
MEMORY_FUNCTION(free_fn *, free)

EXPORT void *malloc(size_t n)
{
    FAIL(MEMORY, ENOMEM, NULL);
    malloc_fn *const f = find_malloc();
    return f ? f(n) : early_alloc(n);
}

EXPORT void *calloc(size_t n, size_t size)
{
    FAIL(MEMORY, ENOMEM, NULL);
    calloc_fn *const f = find_calloc();
    return f ? f(n, size) : early_alloc(n * size);
}

EXPORT void *realloc(void *p, size_t n)
{
    FAIL(MEMORY, ENOMEM, NULL);
    if (is_early(p)) {
        void *const copy = malloc(n);
        if (copy)
            memcpy(copy, p,
                   n < (size_t)(early + sizeof early - (char *)p)
                       ? n
                       : (size_t)(early + sizeof early - (char *)p));
        return copy;
    }
    realloc_fn *const f = find_realloc();
    return f ? f(p, n) : NULL;
}

EXPORT void free(void *p)
{
    free_fn *const f = is_early(p) ? NULL : find_free();
    if (f)
        f(p);
}

static char *duplicate(const char *s)
{
    const size_t n = strlen(s) + 1;
    char *const copy = find_malloc()(n);
    return copy ? memcpy(copy, s, n) : NULL;
}

EXPORT char *strdup(const char *s)
{
    FAIL(MEMORY, ENOMEM, NULL);
    return duplicate(s);
}

/* What a compiler that looks for speed made of strdup. */
char *__strdup(const char *s);
EXPORT char *__strdup(const char *s)
{
    FAIL(MEMORY, ENOMEM, NULL);
    return duplicate(s);
}

/* ---- files ---- */

EXPORT ssize_t write(int fd, const void *p, size_t n)
{
    FAIL_FILE(WRITE, fd, ENOSPC, -1);
    return REAL(write)(fd, p, n);
}

EXPORT ssize_t writev(int fd, const struct iovec *v, int n)
{
    FAIL_FILE(WRITE, fd, ENOSPC, -1);
    return REAL(writev)(fd, v, n);
}

EXPORT ssize_t pwrite64(int fd, const void *p, size_t n, off64_t at)
{
    FAIL_FILE(WRITE, fd, ENOSPC, -1);
    return REAL(pwrite64)(fd, p, n, at);
}

EXPORT ssize_t read(int fd, void *p, size_t n)
{
    FAIL_FILE(READ, fd, EIO, -1);
    return REAL(read)(fd, p, n);
}

EXPORT ssize_t readv(int fd, const struct iovec *v, int n)
{
    FAIL_FILE(READ, fd, EIO, -1);
    return REAL(readv)(fd, v, n);
}

EXPORT ssize_t pread64(int fd, void *p, size_t n, off64_t at)
{
    FAIL_FILE(READ, fd, EIO, -1);
    return REAL(pread64)(fd, p, n, at);
}

/* The mode is there with O_CREAT or O_TMPFILE only; else anything, which nobody looks at. */
#define MODE(flags, mode)                                                                          \
    mode_t mode = 0;                                                                               \
    if ((flags)&O_CREAT || ((flags)&O_TMPFILE) == O_TMPFILE) {                                     \
        va_list ap;                                                                                \
        va_start(ap, flags);                                                                       \
        mode = va_arg(ap, mode_t);                                                                 \
        va_end(ap);                                                                                \
    }

EXPORT int open(const char *path, int flags, ...)
{
    MODE(flags, mode)
    FAIL(OPEN, EMFILE, -1);
    return REAL(open)(path, flags, mode);
}

EXPORT int open64(const char *path, int flags, ...)
{
    MODE(flags, mode)
    FAIL(OPEN, EMFILE, -1);
    return REAL(open64)(path, flags, mode);
}

EXPORT int openat(int dir, const char *path, int flags, ...)
{
    MODE(flags, mode)
    FAIL(OPEN, EMFILE, -1);
    return REAL(openat)(dir, path, flags, mode);
}

EXPORT int openat64(int dir, const char *path, int flags, ...)
{
    MODE(flags, mode)
    FAIL(OPEN, EMFILE, -1);
    return REAL(openat64)(dir, path, flags, mode);
}

EXPORT int fsync(int fd)
{
    FAIL(SYNC, EIO, -1);
    return REAL(fsync)(fd);
}

EXPORT int fdatasync(int fd)
{
    FAIL(SYNC, EIO, -1);
    return REAL(fdatasync)(fd);
}

/* ---- others ---- */

EXPORT int connect(int fd, __CONST_SOCKADDR_ARG address, socklen_t len)
{
    FAIL(CONNECT, ECONNREFUSED, -1);
    int (*const f)(int, const void *, socklen_t) =
        (int (*)(int, const void *, socklen_t))real_of("connect");
    const void *p;
    memcpy(&p, &address, sizeof p);
    return f(fd, p, len);
}

EXPORT pid_t fork(void)
{
    FAIL(FORK, EAGAIN, -1);
    return REAL(fork)();
}

/* A process of its own is all that a caller may count on. */
EXPORT pid_t vfork(void)
{
    FAIL(FORK, EAGAIN, -1);
    return REAL(fork)();
}

EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *files,
                       const posix_spawnattr_t *attr, char *const argv[], char *const env[])
{
    if (is_due(FORK, CALLER))
        return EAGAIN;
    return REAL(posix_spawn)(pid, path, files, attr, argv, env);
}

EXPORT void *dlopen(const char *file, int flags)
{
    dl_failure = NULL;
    if (is_due(DLOPEN, CALLER)) {
        dl_failure = "out of luck";
        return NULL;
    }
    return REAL(dlopen)(file, flags);
}

EXPORT char *dlerror(void)
{
    const char *const why = dl_failure;
    dl_failure = NULL;
    char *text;
    memcpy(&text, &why, sizeof text);
    return text ? text : REAL(dlerror)();
}
