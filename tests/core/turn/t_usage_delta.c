/* SPDX-License-Identifier: MIT
 * Usage from running totals: alone, and of two turns of one Codex session. */
#include "core/turn/usage_delta.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "core/cast_log.h"
#include "core/turn/turn.h"
#include "tap/tap.h"

static struct tc_usage usage_of(int64_t input, int64_t output)
{
    return (struct tc_usage){.input_tokens = input,
                             .output_tokens = output,
                             .cache_read_tokens = 5,
                             .cache_write_tokens = -1,
                             .reasoning_tokens = 0};
}

/* What is left of 300 input tokens in session "s-1", after `before`. */
static void check(const char *before, int64_t wanted, const char *what)
{
    struct spent s = {.before = before ? xstrdup(before) : NULL};
    struct tc_usage u = usage_of(300, 40);
    usage_delta_count(&s, &u, "s-1");
    is_int(u.input_tokens, wanted, "%s", what);
    is_str(s.total, "s-1 300 40 5 -1 0", "%s: the new totals are stored", what);
    usage_delta_fini(&s);
}

static void test_count(void)
{
    check(NULL, 300, "the first turn of a session");
    check("s-1 200 30 5 -1 0", 100, "a later turn uses the difference");
    check("s-1 300 40 5 -1 0", 0, "a turn without a call to the model");
    check("s-2 200 30 5 -1 0", 300, "totals of another session");
    check("s-12 200 30 5 -1 0", 300, "totals of a session whose id has the same prefix");
    check("s-1 301 30 5 -1 0", 300, "decreased totals");
    check("s-1 200 41 5 -1 0", 300, "one decreased total");
    check("s-1 200 30 5 -1", 300, "totals with too few counts");
    check("s-1 200 30 5 -1 0 1", 300, "totals with too many counts");
    check("s-1 200 30 5 x 0", 300, "totals with an invalid number");
    check("s-1", 300, "totals without counts");
    struct spent s = {.before = xstrdup("s-1 200 30 1 -1 0")};
    struct tc_usage u = usage_of(300, 40);
    usage_delta_count(&s, &u, "s-1");
    is_int(u.output_tokens, 10, "the difference of the output tokens");
    is_int(u.cache_read_tokens, 4, "the difference of the cached tokens");
    is_int(u.cache_write_tokens, -1, "a missing count stays missing");
    usage_delta_fini(&s);
}

/* One turn of session "s-1" with these totals, and how it is told. Returns what is to be kept. */
static char *run_turn(const char *before, const char *totals, const char *wanted)
{
    static struct dispatch log;
    struct stream_end_info end = {.how = STREAM_EOF};
    CLEANUP_FREE char *lines =
        xasprintf("{\"type\":\"thread.started\",\"thread_id\":\"s-1\"}\n"
                  "{\"type\":\"item.completed\",\"item\":{\"id\":\"item_0\",\"type\":"
                  "\"agent_message\",\"text\":\"hi\"}}\n"
                  "{\"type\":\"turn.completed\",\"usage\":{%s}}\n",
                  totals);
    struct turn *const t = turn_new(
        &log, &(struct turn_spec){.dialect = dialect_find("codex"), .task = "T", .max_line = 4096});
    turn_set_spent(t, before);
    turn_feed(t, lines, strlen(lines));
    turn_end_attempt(t, &end, NULL);
    char *const total = turn_spent(t) ? xstrdup(turn_spent(t)) : NULL;
    turn_free(t);
    has_str(cast_log_text(&log), wanted, "the usage of the turn");
    cast_log_fini(&log);
    return total;
}

static void test_turns(void)
{
    CLEANUP_FREE char *first =
        run_turn(NULL, "\"input_tokens\":200,\"output_tokens\":84", "usage(200)");
    is_str(first, "s-1 200 84 -1 -1 -1", "the totals of the first turn are stored");
    CLEANUP_FREE char *second =
        run_turn(first, "\"input_tokens\":300,\"output_tokens\":126", "usage(100)");
    is_str(second, "s-1 300 126 -1 -1 -1", "the totals of a resumed session are stored");
}

int main(void)
{
    plan_lazy();
    test_count();
    test_turns();
    return 0;
}
