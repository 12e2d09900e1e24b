/* SPDX-License-Identifier: MIT
 * Tests of base/sys/err.h. */
#include "base/sys/err.h"

#include <errno.h>
#include <string.h>

#include "tap/tap.h"

static void test_set(void)
{
    struct tc_err e;
    is_int(err_set(&e, "etc/turncast.conf:12", "unknown key \"%s\"", "nane"), -1,
           "the return value is -1");
    is_str(e.place, "etc/turncast.conf:12", "the place is stored");
    is_str(e.text, "unknown key \"nane\"", "the text is stored");
    is_str(err_format(&e), "etc/turncast.conf:12: unknown key \"nane\"",
           "place and text are formatted as one line");
    err_set(&e, NULL, "plain");
    is_str(err_format(&e), "plain", "an error without a place has no colon");
    is_int(err_set(NULL, "x", "nobody asks"), -1, "NULL instead of an error object is accepted");
}

static void test_sys(void)
{
    struct tc_err e;
    is_int(err_set_errno(&e, ENOENT, "a.so", "cannot open"), -1, "the return value is -1");
    is_str(err_format(&e), "a.so: cannot open: No such file or directory",
           "the text of errno is last");
    is_int(err_set_errno(NULL, ENOENT, NULL, "x"), -1,
           "NULL instead of an error object is accepted");
}

static void test_long(void)
{
    char much[3000];
    memset(much, 'x', sizeof much - 1);
    much[sizeof much - 1] = '\0';
    struct tc_err e;
    err_set(&e, much, "%s", much);
    is_int((long long)strlen(e.place), sizeof e.place - 1, "a long place is cut");
    is_int((long long)strlen(e.text), sizeof e.text - 1, "a long text is cut");
    is_int((long long)strlen(err_format(&e)), sizeof e.place + sizeof e.text,
           "a long place and a long text fit together");
    err_set_errno(&e, EACCES, much, "%s", much);
    has_str(e.text, "x: Permission denied", "the reason survives a long text");
}

int main(void)
{
    plan_lazy();
    test_set();
    test_sys();
    test_long();
}
