/* SPDX-License-Identifier: MIT
 * The end of a stream, however much came before it. */
#include "core/agent/stderr_tail.h"

#include <stdint.h>
#include <stdio.h>

#include "tap/tap.h"

static void is_copy(const struct stderr_tail *t, size_t n, const char *wanted, const char *what)
{
    CLEANUP_BUF struct buf out = {0};
    stderr_tail_copy(&out, t, n);
    is_str(out.p ? out.p : "", wanted, "%s", what);
}

static void is_line(const char *text, size_t max, const char *wanted, const char *what)
{
    struct stderr_tail t = {0};
    CLEANUP_BUF struct buf out = {0};
    stderr_tail_append(&t, text, strlen(text));
    stderr_tail_copy_last_line(&out, &t, max);
    is_str(out.p ? out.p : "", wanted, "%s", what);
    stderr_tail_fini(&t);
}

static void test_wrap(void)
{
    struct stderr_tail t = {0};
    is_copy(&t, 100, "", "nothing came");
    stderr_tail_append(&t, "", 0);
    ok(!t.ring, "no memory before the first byte");
    stderr_tail_append(&t, "one\ntwo\n", 8);
    is_copy(&t, 100, "one\ntwo\n", "less than asked for");
    is_copy(&t, 6, "two\n", "a cut falls behind a newline");
    is_copy(&t, 3, "wo\n", "a cut in the last line stays");
    char line[32];
    for (int i = 0; i < 20000; i++)
        stderr_tail_append(&t, line, (size_t)snprintf(line, sizeof line, "line %d\n", i));
    is_copy(&t, 22, "line 19998\nline 19999\n", "the end of much more than the ring");
    CLEANUP_BUF struct buf all = {0};
    stderr_tail_copy(&all, &t, SIZE_MAX);
    is_int((long long)all.len, (long long)TAIL_CAP, "all that is kept");
    CLEANUP_BUF struct buf huge = {0};
    for (int i = 0; i < 20000; i++)
        buf_printf(&huge, "huge %d\n", i);
    stderr_tail_append(&t, huge.p, huge.len);
    is_copy(&t, 22, "huge 19998\nhuge 19999\n", "one piece larger than the ring");
    stderr_tail_fini(&t);
}

int main(void)
{
    plan_lazy();
    test_wrap();
    is_line("", 10, "", "no line");
    is_line("only", 10, "only", "one line without its end");
    is_line("a\nb\r\n\n  \n", 10, "b", "blank lines behind it");
    is_line("a\nlonger than that\n", 6, "longer", "no more than asked for");
    return 0;
}
