/* SPDX-License-Identifier: MIT
 * Missing folders are made, private; what is in the way is named. */
#include "base/sys/dir.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap/tap.h"

int main(void)
{
    plan_lazy();
    char path[800], way[700];
    struct tc_err err = {0};
    struct stat st = {0};
    snprintf(path, sizeof path, "%s/a/b//c/", tap_tmpdir());
    umask(0);
    is_int(dir_create_all(path, &err), 0, "a folder with those above it");
    ok(stat(path, &st) == 0 && (st.st_mode & 07777) == 0700, "for nobody else");
    is_int(dir_create_all(path, &err), 0, "one that is there");
    is_int(dir_create_all("/", &err), 0, "the root");
    snprintf(way, sizeof way, "%s/file", tap_tmpdir());
    tap_spew(way, "", 0);
    snprintf(path, sizeof path, "%s/x/y", way);
    is_int(dir_create_all(path, &err), -1, "a file in the way");
    has_str(err.text, "cannot create the directory: Not a directory", "says so");

    setenv("TMPDIR", tap_tmpdir(), 1);
    char *const made = dir_create_temporary(&err);
    ok(made && stat(made, &st) == 0 && (st.st_mode & 07777) == 0700, "a temporary folder");
    snprintf(path, sizeof path, "%s/a/b", made);
    is_int(dir_create_all(path, &err), 0, "with folders in it");
    snprintf(path, sizeof path, "%s/a/link", made);
    ok(symlink(way, path) == 0, "and a link to a file elsewhere");
    dir_remove_all(made);
    ok(stat(made, &st) < 0, "is removed");
    ok(stat(way, &st) == 0, "but not what the link names");
    free(made);
    setenv("TMPDIR", "/no/such", 1);
    ok(!dir_create_temporary(&err), "nowhere to make one");
    return 0;
}
