/* SPDX-License-Identifier: MIT
 * Tests of base/sys/executable.h: a name is found in the first directory with an executable file of
 * that name. */
#include "base/sys/executable.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tap/tap.h"

static char a[600], b[600], dirs[1300];

static void make(const char *dir, const char *name, mode_t mode)
{
    char path[700];
    mkdir(dir, 0755);
    snprintf(path, sizeof path, "%s/%s", dir, name);
    tap_spew(path, "", 0);
    chmod(path, mode);
}

static void check_found_in(const char *name, const char *dir, const char *what)
{
    char wanted[700] = "";
    char *const found = executable_find(name, dirs);
    if (dir)
        snprintf(wanted, sizeof wanted, "%s/%s", dir, name);
    is_str(found ? found : "", wanted, "%s", what);
    free(found);
}

int main(void)
{
    plan_lazy();
    snprintf(a, sizeof a, "%s/a", tap_tmpdir());
    snprintf(b, sizeof b, "%s/b", tap_tmpdir());
    snprintf(dirs, sizeof dirs, "/no/such:%s:%s", a, b);
    make(a, "plain", 0644);
    make(a, "both", 0755);
    make(b, "both", 0755);
    make(b, "plain", 0755);
    mkdir(a, 0755);
    check_found_in("both", a, "the first directory with the file");
    check_found_in("plain", b, "a file that is not executable is skipped");
    check_found_in("a", NULL, "a directory is skipped");
    check_found_in("nothing", NULL, "a name in no directory is not found");
    check_found_in("", NULL, "an empty name is not found");
    char path[700];
    snprintf(path, sizeof path, "%s/both", b);
    char *found = executable_find(path, "/no/such");
    is_str(found ? found : "", path, "a name with a slash is a path");
    free(found);
    snprintf(path, sizeof path, "%s/plain", a);
    found = executable_find(path, dirs);
    ok(!found, "a path that is not executable is not found");
    free(found);
    return 0;
}
