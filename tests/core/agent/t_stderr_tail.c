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
    is_copy(&t, 100, "", "the tail of an empty stream");
    stderr_tail_append(&t, "", 0);
    ok(!t.ring, "no memory is allocated before the first byte");
    stderr_tail_append(&t, "one\ntwo\n", 8);
    is_copy(&t, 100, "one\ntwo\n", "a stream shorter than the requested length");
    is_copy(&t, 6, "two\n", "a tail begins after a newline");
    is_copy(&t, 3, "wo\n", "a tail that is shorter than the last line");
    char line[32];
    for (int i = 0; i < 20000; i++)
        stderr_tail_append(&t, line, (size_t)snprintf(line, sizeof line, "line %d\n", i));
    is_copy(&t, 22, "line 19998\nline 19999\n", "the tail of a stream much larger than the buffer");
    CLEANUP_BUF struct buf all = {0};
    stderr_tail_copy(&all, &t, SIZE_MAX);
    is_int((long long)all.len, (long long)TAIL_CAP, "the buffer keeps its capacity");
    CLEANUP_BUF struct buf huge = {0};
    for (int i = 0; i < 20000; i++)
        buf_printf(&huge, "huge %d\n", i);
    stderr_tail_append(&t, huge.p, huge.len);
    is_copy(&t, 22, "huge 19998\nhuge 19999\n", "the tail of one write larger than the buffer");
    stderr_tail_fini(&t);
}

int main(void)
{
    plan_lazy();
    test_wrap();
    is_line("", 10, "", "a stream without a line");
    is_line("only", 10, "only", "one line without a newline");
    is_line("a\nb\r\n\n  \n", 10, "b", "blank lines after the last line are skipped");
    is_line("a\nlonger than that\n", 6, "longer", "the last line is cut to the requested length");
    return 0;
}
