/* SPDX-License-Identifier: MIT
 * Files and folders that others may change are refused, with the command that mends it. */
#include "base/sys/file_trust.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap/tap.h"

static char dir[512], file[600];

/* What file_trust_open says with these modes: "" when it opens. */
static const char *open_with(mode_t dir_mode, mode_t file_mode)
{
    static struct tc_err err;
    err = (struct tc_err){0};
    chmod(dir, dir_mode);
    chmod(file, file_mode);
    const int fd = file_trust_open(file, &err);
    if (fd >= 0)
        close(fd);
    chmod(dir, 0755);
    return fd >= 0 ? "" : err_format(&err);
}

static void test_modes(void)
{
    char want[2048];
    is_str(open_with(0755, 0644), "", "0644 in 0755");
    is_str(open_with(0700, 0600), "", "0600 in 0700");
    is_str(open_with(01777, 0600), "", "a sticky folder as /tmp is");
    snprintf(want, sizeof want, "%s: is writable by other users; run: chmod go-w %s", file, file);
    is_str(open_with(0755, 0664), want, "writable by the group");
    is_str(open_with(0755, 0646), want, "writable by others");
    snprintf(want, sizeof want, "%s: directory %s is writable by other users; run: chmod go-w %s",
             file, dir, dir);
    is_str(open_with(0775, 0644), want, "in a folder writable by the group");
    is_str(open_with(0757, 0644), want, "in a folder writable by others");
}

static void test_kinds(void)
{
    struct tc_err err = {0};
    char path[700];
    ok(file_trust_open(dir, &err) < 0, "a folder");
    has_str(err.text, "is not a regular file", "says so");
    snprintf(path, sizeof path, "%s/fifo", dir);
    mkfifo(path, 0600);
    ok(file_trust_open(path, &err) < 0, "a FIFO does not hang");
    has_str(err.text, "is not a regular file", "says so");
    snprintf(path, sizeof path, "%s/none", dir);
    ok(file_trust_open(path, &err) < 0, "a file that is not there");
    is_str(err.text, "cannot open: No such file or directory", "says so");
    snprintf(path, sizeof path, "%s/link", dir);
    if (symlink(file, path) < 0)
        bail("symlink");
    const int fd = file_trust_open(path, &err);
    ok(fd >= 0, "a link to a good file");
    is_int(fcntl(fd, F_GETFD), FD_CLOEXEC, "closed on exec");
    close(fd);
    chmod(file, 0666);
    ok(file_trust_open(path, &err) < 0, "a link to a bad one");
}

static void test_owner(void)
{
    if (geteuid() != 0) {
        skip(2, "only root can give files away");
        return;
    }
    char want[2048];
    if (chown(file, 4711, (gid_t)-1) < 0)
        bail("chown");
    snprintf(want, sizeof want, "%s: is owned by UID 4711, which could modify it; run: chown 0 %s",
             file, file);
    is_str(open_with(0755, 0600), want, "a file of somebody else");
    if (chown(file, 0, (gid_t)-1) < 0)
        bail("chown");
    is_str(open_with(0755, 0600), "", "and one's own again");
}

int main(void)
{
    plan_lazy();
    snprintf(dir, sizeof dir, "%s/d", tap_tmpdir());
    snprintf(file, sizeof file, "%s/f", dir);
    mkdir(dir, 0755);
    tap_spew(file, "x", 1);
    test_modes();
    test_kinds();
    test_owner();
    return 0;
}
