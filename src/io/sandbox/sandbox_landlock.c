/* SPDX-License-Identifier: MIT
 * Defines the files and ports that Landlock permits.
 *
 * A rule applies to the file that exists now, and not to a file that replaces it later. So files
 * that are replaced are covered by a rule for their directory where possible. glibc has no wrappers
 * for the system calls, and the headers of Debian 12 know only two versions: the rest is defined
 * here. */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/sandbox/sandbox_internal.h"

/* Kernel definitions, each with the version that introduced it. */
#define FS_TRUNCATE (1ULL << 14)  /* version 3 */
#define FS_IOCTL_DEV (1ULL << 15) /* version 5 */
#define NET_BIND_TCP (1ULL << 0)  /* version 4 */
#define NET_CONNECT_TCP (1ULL << 1)
#define RULE_NET_PORT 2
#define SCOPE_ABSTRACT_UNIX (1ULL << 0) /* version 6 */
#define SCOPE_SIGNAL (1ULL << 1)

#define NAME_SERVER_PORT 53

struct ruleset_attr {
    uint64_t fs, net, scoped;
};

struct landlock_ruleset_attr_v4 {
    uint64_t allowed, port;
};

#define FS_OF_VERSION_1 ((1ULL << 13) - 1)
#define FS_RUN (FS_READ | LANDLOCK_ACCESS_FS_EXECUTE)
#define FS_READ ((uint64_t)(LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR))
/* Regular files and directories; no links, sockets, pipes, devices. */
#define FS_WRITE                                                                                   \
    (FS_READ | FS_TRUNCATE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |       \
     LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |  \
     LANDLOCK_ACCESS_FS_REFER)
#define FS_SHRINK                                                                                  \
    (FS_READ | FS_TRUNCATE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE)
/* Rights that apply to files. */
#define FS_OF_FILES                                                                                \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |   \
     FS_TRUNCATE | FS_IOCTL_DEV)

/* Libraries and their data; name resolution, certificates, time zones. Not /usr/local/etc or /etc
 * as a whole, because they contain configurations and secrets. */
static const char *const always_read[] = {
    "/lib",
    "/lib32",
    "/lib64",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/share",
    "/usr/local/lib",
    "/usr/local/share",
    "/etc/ld.so.cache",
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/nsswitch.conf",
    "/etc/gai.conf",
    "/etc/services",
    "/etc/protocols",
    "/etc/localtime",
    "/etc/timezone",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/pki/tls/certs",
    "/etc/pki/ca-trust/extracted",
    "/etc/crypto-policies",
    "/dev/urandom",
    "/dev/random",
    "/dev/zero",
    "/dev/null",
    "/sys/devices/system/cpu",
    NULL,
};

/* Programs and their libraries, for a connector that may start programs. */
static const char *const always_run[] = {
    "/bin",         "/sbin",          "/lib",           "/lib32",     "/lib64",
    "/usr/bin",     "/usr/sbin",      "/usr/lib",       "/usr/lib32", "/usr/lib64",
    "/usr/libexec", "/usr/local/bin", "/usr/local/lib", NULL,
};

static const char *const always_write[] = {"/dev/null", NULL};

static uint64_t sandbox_landlock_fs_rights(int version)
{
    return FS_OF_VERSION_1 | (version >= 2 ? LANDLOCK_ACCESS_FS_REFER : 0) |
           (version >= 3 ? FS_TRUNCATE : 0) | (version >= 5 ? FS_IOCTL_DEV : 0);
}

int sandbox_landlock_version(void)
{
    const long version =
        syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return version > 0 ? (int)version : 0;
}

static int allow_fd(int ruleset, int fd, uint64_t rights)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -1;
    const struct landlock_path_beneath_attr beneath = {
        .allowed_access = S_ISDIR(st.st_mode) ? rights : rights & FS_OF_FILES,
        .parent_fd = fd,
    };
    return (int)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
}

static int allow_path(int ruleset, const char *path, uint64_t rights)
{
    CLEANUP_FD const int fd = open(path, O_PATH | O_CLOEXEC);
    return fd < 0 ? -1 : allow_fd(ruleset, fd, rights);
}

/* Missing paths are ignored. */
static void allow_system(int ruleset, const char *const *paths, uint64_t rights)
{
    for (; *paths; paths++)
        allow_path(ruleset, *paths, rights);
}

static int sandbox_landlock_allow_configured(int ruleset, const char *const *paths, uint64_t rights,
                                             const char *label, struct tc_err *err)
{
    for (; paths && *paths; paths++)
        if (allow_path(ruleset, *paths, rights) < 0)
            return err_set_errno(err, errno, label, "cannot allow access to %s", *paths);
    return 0;
}

/* Does not follow symbolic links, which could lead anywhere. */
static void allow_files(int ruleset, const char *const *paths)
{
    for (; paths && *paths; paths++) {
        CLEANUP_FD const int fd = open(*paths, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        struct stat st;
        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
            allow_fd(ruleset, fd, LANDLOCK_ACCESS_FS_READ_FILE);
    }
}

static int sandbox_landlock_allow_plugin_file(int ruleset, int fd, const char *label,
                                              struct tc_err *err)
{
    if (!fd || allow_fd(ruleset, fd, LANDLOCK_ACCESS_FS_READ_FILE) == 0)
        return 0;
    return err_set_errno(err, errno, label, "cannot allow access to the plugin's file");
}

/* Services that keep the list of name servers in a directory of /run replace the file there. */
static void allow_resolver(int ruleset, uint64_t rights)
{
    CLEANUP_FREE char *real = realpath("/etc/resolv.conf", NULL);
    if (!real || strncmp(real, "/run/", 5) != 0)
        return;
    *strrchr(real, '/') = 0;
    if (strcmp(real, "/run") != 0)
        allow_path(ruleset, real, rights);
}

/* The kernel may drop the inode of /proc/self and create another, to which the rule would not
 * apply: the open descriptor prevents this. Opened with O_PATH, it gives no access. */
static void allow_self(int ruleset, uint64_t rights)
{
    const int fd = open("/proc/self", O_PATH | O_CLOEXEC);
    if (fd >= 0)
        allow_fd(ruleset, fd, rights);
}

static int allow_port(int ruleset, uint16_t number, const char *label, struct tc_err *err)
{
    const struct landlock_ruleset_attr_v4 port = {.allowed = NET_CONNECT_TCP, .port = number};
    if (syscall(SYS_landlock_add_rule, ruleset, RULE_NET_PORT, &port, 0) < 0)
        return err_set_errno(err, errno, label, "cannot allow access to port %u", (unsigned)number);
    return 0;
}

/* Connectors with network access need name resolution, which uses TCP for long replies. */
static int allow_ports(int ruleset, const struct sandbox_spec *spec, struct tc_err *err)
{
    for (size_t i = 0; i < spec->n_ports; i++)
        if (allow_port(ruleset, spec->ports[i], spec->label, err) < 0)
            return -1;
    return spec->n_ports ? allow_port(ruleset, NAME_SERVER_PORT, spec->label, err) : 0;
}

static int allow_all(int ruleset, int version, const struct sandbox_spec *spec, struct tc_err *err)
{
    const uint64_t write = FS_WRITE & sandbox_landlock_fs_rights(version),
                   shrink = FS_SHRINK & sandbox_landlock_fs_rights(version);
    allow_system(ruleset, always_read, FS_READ);
    allow_system(ruleset, always_write, LANDLOCK_ACCESS_FS_WRITE_FILE);
    allow_resolver(ruleset, FS_READ);
    allow_files(ruleset, spec->read_files);
    if (spec->starts_programs) {
        allow_system(ruleset, always_run, FS_RUN);
        allow_system(ruleset, spec->run_paths, FS_RUN);
    }
    if (sandbox_landlock_allow_plugin_file(ruleset, spec->read_fd, spec->label, err) < 0 ||
        sandbox_landlock_allow_configured(ruleset, spec->read_paths, FS_READ, spec->label, err) <
            0 ||
        sandbox_landlock_allow_configured(ruleset, spec->shrink_paths, shrink, spec->label, err) <
            0 ||
        sandbox_landlock_allow_configured(ruleset, spec->write_paths, write, spec->label, err) < 0)
        return -1;
    if (version >= SANDBOX_PORTS && allow_ports(ruleset, spec, err) < 0)
        return -1;
    allow_self(ruleset, FS_READ);
    return 0;
}

int sandbox_landlock_enter(int version, const struct sandbox_spec *spec, struct tc_err *err)
{
    const struct ruleset_attr attr = {
        .fs = sandbox_landlock_fs_rights(version),
        .net = version >= SANDBOX_PORTS ? NET_BIND_TCP | NET_CONNECT_TCP : 0,
        .scoped = version >= 6 ? SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL : 0,
    };
    CLEANUP_FD const int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
    if (ruleset < 0)
        return err_set_errno(err, errno, spec->label, "cannot create a Landlock rule set");
    if (allow_all(ruleset, version, spec, err) < 0)
        return -1;
    if (syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
        return err_set_errno(err, errno, spec->label, "cannot apply Landlock");
    return 0;
}
