/* SPDX-License-Identifier: MIT
 * Tests of base/sys/dir.h: missing folders are created private; an obstacle is named. */
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
    is_int(dir_create_all(path, &err), 0, "a folder and its parents are created");
    ok(stat(path, &st) == 0 && (st.st_mode & 07777) == 0700, "a created folder is private");
    is_int(dir_create_all(path, &err), 0, "an existing folder is accepted");
    is_int(dir_create_all("/", &err), 0, "the root folder is accepted");
    snprintf(way, sizeof way, "%s/file", tap_tmpdir());
    tap_spew(way, "", 0);
    snprintf(path, sizeof path, "%s/x/y", way);
    is_int(dir_create_all(path, &err), -1, "a file at the path is an error");
    has_str(err.text, "cannot create the directory: Not a directory", "the error names the cause");

    setenv("TMPDIR", tap_tmpdir(), 1);
    char *const made = dir_create_temporary(&err);
    ok(made && stat(made, &st) == 0 && (st.st_mode & 07777) == 0700,
       "a temporary folder is private");
    snprintf(path, sizeof path, "%s/a/b", made);
    is_int(dir_create_all(path, &err), 0, "a folder is created in the temporary folder");
    snprintf(path, sizeof path, "%s/a/link", made);
    ok(symlink(way, path) == 0, "a link to a file elsewhere is created in it");
    dir_remove_all(made);
    ok(stat(made, &st) < 0, "the temporary folder is removed");
    ok(stat(way, &st) == 0, "the target of the link is kept");
    free(made);
    setenv("TMPDIR", "/no/such", 1);
    ok(!dir_create_temporary(&err), "a missing parent of the temporary folder is an error");
    return 0;
}
