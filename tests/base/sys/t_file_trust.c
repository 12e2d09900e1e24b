/* SPDX-License-Identifier: MIT
 * Files and folders that others may change are refused, with the command that corrects the mode. */
#include "base/sys/file_trust.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap/tap.h"

static char dir[512], file[600];

/* The error of file_trust_open for a file and folder of these modes; "" if the file is opened. */
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
    is_str(open_with(01777, 0600), "", "a file in a sticky folder such as /tmp");
    snprintf(want, sizeof want, "%s: is writable by other users; run: chmod go-w %s", file, file);
    is_str(open_with(0755, 0664), want, "a file writable by the group");
    is_str(open_with(0755, 0646), want, "a file writable by others");
    snprintf(want, sizeof want, "%s: directory %s is writable by other users; run: chmod go-w %s",
             file, dir, dir);
    is_str(open_with(0775, 0644), want, "a file in a folder writable by the group");
    is_str(open_with(0757, 0644), want, "a file in a folder writable by others");
}

static void test_kinds(void)
{
    struct tc_err err = {0};
    char path[700];
    ok(file_trust_open(dir, &err) < 0, "a folder is refused");
    has_str(err.text, "is not a regular file", "the error names the cause");
    snprintf(path, sizeof path, "%s/fifo", dir);
    mkfifo(path, 0600);
    ok(file_trust_open(path, &err) < 0, "a FIFO is refused without waiting");
    has_str(err.text, "is not a regular file", "the error names the cause");
    snprintf(path, sizeof path, "%s/none", dir);
    ok(file_trust_open(path, &err) < 0, "a missing file is refused");
    is_str(err.text, "cannot open: No such file or directory", "the error names the cause");
    snprintf(path, sizeof path, "%s/link", dir);
    if (symlink(file, path) < 0)
        bail("symlink");
    const int fd = file_trust_open(path, &err);
    ok(fd >= 0, "a link to a trusted file is opened");
    is_int(fcntl(fd, F_GETFD), FD_CLOEXEC, "the file is closed on exec");
    close(fd);
    chmod(file, 0666);
    ok(file_trust_open(path, &err) < 0, "a link to an untrusted file is refused");
}

static void test_owner(void)
{
    if (geteuid() != 0) {
        skip(2, "only root can change the owner of a file");
        return;
    }
    char want[2048];
    if (chown(file, 4711, (gid_t)-1) < 0)
        bail("chown");
    snprintf(want, sizeof want, "%s: is owned by UID 4711, which could modify it; run: chown 0 %s",
             file, file);
    is_str(open_with(0755, 0600), want, "a file of another user is refused");
    if (chown(file, 0, (gid_t)-1) < 0)
        bail("chown");
    is_str(open_with(0755, 0600), "", "a file of the same user is opened");
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
