/* SPDX-License-Identifier: MIT
 * oldkernel landlock|seccomp COMMAND [ARGUMENT...]: runs a command as on a kernel that lacks one of
 * the two facilities that sandboxes are made of. */
#include <err.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const bool landlock = argc > 2 && strcmp(argv[1], "landlock") == 0;
    if (argc < 3 || (!landlock && strcmp(argv[1], "seccomp") != 0))
        errx(2, "landlock or seccomp, and a command, are expected");
    const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int rc = filter ? 0 : -ENOMEM;
    if (rc == 0 && landlock)
        rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SYS_landlock_create_ruleset, 0);
    else if (rc == 0)
        rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(seccomp), 1,
                              SCMP_A0(SCMP_CMP_EQ, SECCOMP_GET_ACTION_AVAIL, 0));
    if (rc == 0)
        rc = seccomp_load(filter);
    if (rc < 0)
        errx(2, "no filter of system calls: %s", strerror(-rc));
    execvp(argv[2], argv + 2);
    err(2, "%s", argv[2]);
}
