/* SPDX-License-Identifier: MIT
 * Tests of the asynchronous journal: every operation runs on the other thread, in order, with
 * copies of its arguments. */
#include "io/journal/journal_async.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "tap/tap.h"

static char dir[600];
static struct loop *loop;

/* The results in their order: "name:status[=text] ". */
static struct buf results;

static void add_result(void *ctx, enum journal_status status, const char *text)
{
    static const char *const names[] = {"done", "unchanged", "refused", "big", "full", "failed"};
    buf_printf(&results, "%s:%s%s%s ", (const char *)ctx, names[status], text ? "=" : "",
               text ? text : "");
}

#define SAYS(name)                                                                                 \
    add_result, (char[])                                                                           \
    {                                                                                              \
        name                                                                                       \
    }

/* Returns the results since the last call. */
static const char *take_results(void)
{
    static char text[1000];
    loop_run(loop);
    snprintf(text, sizeof text, "%s", results.len ? results.p : "");
    buf_reset(&results);
    return text;
}

static struct journal_async *reopen(void)
{
    struct tc_err err = {0};
    struct journal_async *const l = journal_async_open(loop, dir, NULL, NULL, &err);
    if (!l)
        bail("%s", err_format(&err));
    return l;
}

static struct journal_async *fresh(void)
{
    static int n;
    snprintf(dir, sizeof dir, "%s/l%d", tap_tmpdir(), n++);
    return reopen();
}

static struct journal_turn plain_turn(const char *id, const char *msg, bool waiting)
{
    return (struct journal_turn){.id = id,
                                 .agent = "a",
                                 .conv = "c",
                                 .source = "s",
                                 .msg_id = msg,
                                 .waiting = waiting,
                                 .prompt = "hello"};
}

static void add_turn(void *ctx, const struct journal_turn *t)
{
    buf_printf(ctx, "%s:%d:%s:%d ", t->id, t->waiting, t->prompt ? t->prompt : "-",
               (int)t->agent_pid);
}

static const char *open_turns(struct journal_async *l)
{
    static struct buf list;
    buf_reset(&list);
    return journal_async_list_open_turns(l, add_turn, &list) == JOURNAL_DONE && list.len ? list.p
                                                                                         : "-";
}

static void add_row(void *ctx, const struct journal_row *row)
{
    buf_printf(ctx, "%d:%.*s:%d%s ", (int)row->seq, (int)row->body.len, row->body.p,
               (int)row->attempts, row->in_doubt ? "?" : "");
}

static const char *rows(struct journal_async *l)
{
    static struct buf list;
    buf_reset(&list);
    return journal_async_list_open_list_rows(l, "tg", add_row, &list) == JOURNAL_DONE && list.len
               ? list.p
               : "-";
}

static void test_turns(void)
{
    struct journal_async *l = fresh();
    char id[] = "t1", prompt[] = "hello";
    struct journal_turn t = plain_turn(id, "m1", true);
    t.prompt = prompt;
    journal_async_admit_turn(l, &t, SAYS("admit"));
    /* The caller may reuse its memory after the call. */
    memset(id, 'x', 2);
    memset(prompt, 'x', 5);
    is_int((long long)results.len, 0, "no result arrives before the call returns");
    t = plain_turn("t2", "m1", true);
    journal_async_admit_turn(l, &t, SAYS("again"));
    is_str(take_results(), "admit:done again:unchanged=t1 ", "a message is admitted once");
    is_str(open_turns(l), "t1:1:hello:0 ", "the turn is stored with its original arguments");
    t = plain_turn("t3", "m3", true);
    journal_async_admit_turn(l, &t, NULL, NULL);
    t = plain_turn("t4", NULL, true);
    journal_async_admit_turn(l, &t, NULL, NULL);
    char merged[] = "t3";
    journal_async_begin(l, "t1", "tg\nlog", (const char *const[]){merged}, 1, SAYS("begin"));
    memset(merged, 'x', 2);
    journal_async_begin(l, "t1", NULL, NULL, 0, SAYS("again"));
    journal_async_cancel(l, "t4", SAYS("cancel"));
    journal_async_set_agent_process(l, &(struct journal_turn){.id = "t1", .agent_pid = 42},
                                    SAYS("note"));
    is_str(take_results(), "begin:done again:unchanged cancel:done note:done ",
           "the results arrive in the order of the calls");
    is_str(open_turns(l), "t1:0:hello\n\nhello:42 ",
           "the running turn has the text of the merged one, and the cancelled turn is closed");
    journal_async_close(l);
    is_str(take_results(), "", "each result arrives once");
}

static void test_rows(void)
{
    struct journal_async *l = fresh();
    const struct journal_turn t = plain_turn("t1", "m1", false);
    journal_async_admit_turn(l, &t, NULL, NULL);
    char body[] = "end";
    const struct journal_target to[] = {{"tg", "c", {body, 3}}, {"slack", "c", {body, 3}}};
    journal_async_end_turn(
        l, &(struct journal_outcome){.turn = "t1", .error = NULL, .targets = to, .n = 2},
        SAYS("end"));
    memset(body, 'x', 3);
    journal_async_end_turn(
        l, &(struct journal_outcome){.turn = "t1", .error = NULL, .targets = to, .n = 2},
        SAYS("again"));
    const struct journal_request two[] = {{.turn = "t1", .lane = "c", .body = STR("a")},
                                          {.turn = "t1", .lane = "c", .body = STR("b")}};
    const int64_t first = journal_async_add_requests(l, "tg", two, 2, SAYS("add"));
    is_str(take_results(), "end:done again:unchanged add:done ",
           "a turn ends, and requests are added");
    char wanted[100];
    snprintf(wanted, sizeof wanted, "1:end:0 %d:a:0 %d:b:0 ", (int)first, (int)first + 1);
    is_str(rows(l), wanted, "the rows have the returned numbers");
    const int64_t piece = journal_async_expand(l, "tg", "t1", two, 1, SAYS("expand"));
    journal_async_start_attempt(l, piece, SAYS("start"));
    char next[] = "c";
    const struct journal_request one = {.turn = "t1", .lane = "c", .body = {next, 1}};
    const struct journal_settlement sent = {.verdict = JOURNAL_SENT, .requests = &one, .n = 1};
    const int64_t after = journal_async_settle_row(l, piece, &sent, SAYS("settle"));
    next[0] = 'x';
    journal_async_start_attempt(l, piece, SAYS("again"));
    ok(piece > first + 1 && after > piece, "the numbers increase");
    is_str(take_results(), "expand:done start:done settle:done again:unchanged ",
           "a row can be used before its result has arrived");
    snprintf(wanted, sizeof wanted, "%d:a:0 %d:b:0 %d:c:0 ", (int)first, (int)first + 1,
             (int)after);
    is_str(rows(l), wanted, "the row that follows a request is behind the other rows");
    struct buf known = {0};
    is_int(journal_async_list_open_find_turn(l, "t1", add_turn, &known), JOURNAL_DONE,
           "the turn is found");
    has_str(known.p, "t1:0:", "the turn has ended");
    buf_fini(&known);
    journal_async_fail_outcome(l, "slack", "t1", "no words", SAYS("fail"));
    journal_async_fail_outcome(l, "slack", "t1", "no words", SAYS("again"));
    is_str(take_results(), "fail:done again:unchanged ", "an outcome fails once");
    journal_async_start_attempt(l, first, NULL, NULL);
    journal_async_close(l);
    l = reopen();
    snprintf(wanted, sizeof wanted, "%d:a:1? %d:b:0 %d:c:0 ", (int)first, (int)first + 1,
             (int)after);
    is_str(rows(l), wanted, "the rows are the same after a restart");
    ok(journal_async_add_requests(l, "tg", two, 1, SAYS("add")) > after, "no number is used twice");
    is_str(take_results(), "add:done ", "a request is added after a restart");
    journal_async_close(l);
}

static void test_resend(void)
{
    struct journal_async *const l = fresh();
    const struct journal_request two[] = {{.turn = "t1", .lane = "c", .body = STR("a")},
                                          {.turn = "t1", .lane = "c", .body = STR("b")}};
    const struct journal_settlement failed = {.verdict = JOURNAL_FAIL, .reason = "no"};
    const int64_t first = journal_async_add_requests(l, "tg", two, 2, NULL, NULL);
    journal_async_settle_row(l, first, &failed, NULL, NULL);
    journal_async_settle_row(l, first + 1, &failed, NULL, NULL);
    journal_async_retry_turn(l, "tg", "t1", "d", SAYS("elsewhere"));
    const int64_t again = journal_async_retry_turn(l, "tg", "t1", "c", SAYS("here"));
    const int64_t next = journal_async_add_requests(l, "tg", two, 1, NULL, NULL);
    const char *const text = take_results();
    has_str(text, "elsewhere:unchanged", "the turn has no dead letters for another chat");
    has_str(text, "here:done", "the turn has dead letters for this chat");
    char wanted[100];
    snprintf(wanted, sizeof wanted, "%d:a:0? %d:b:0? %d:a:0 ", (int)again, (int)again + 1,
             (int)next);
    is_str(rows(l), wanted, "the dead letters are rows again, under the returned numbers");
    journal_async_close(l);
}

static void add_bytes(void *ctx, const struct journal_row *row)
{
    buf_add(ctx, row->body.p, row->body.len);
}

static void test_bytes(void)
{
    struct journal_async *const l = fresh();
    const struct journal_request r[] = {{.turn = "t", .lane = "c", .body = {"a\0b", 3}},
                                        {.turn = "t", .lane = "c", .body = {NULL, 0}},
                                        {.turn = "t", .lane = "c", .body = {"\0", 1}}};
    journal_async_add_requests(l, "tg", r, 3, SAYS("add"));
    struct buf bytes = {0};
    is_int(journal_async_list_open_list_rows(l, "tg", add_bytes, &bytes), JOURNAL_DONE,
           "the rows are read");
    is_mem(bytes.p, bytes.len, "a\0b\0", 4,
           "reading waits for earlier calls, and bodies are arbitrary bytes");
    is_str(take_results(), "add:done ", "the result of the earlier call arrives later");
    buf_fini(&bytes);
    journal_async_close(l);
}

static const char *get_memory(struct journal_async *l, const char *turn)
{
    static struct buf text;
    buf_reset(&text);
    return journal_async_get(l, "tg", turn, &text) == JOURNAL_DONE ? text.p : "-";
}

static void test_texts(void)
{
    struct journal_async *const l = fresh();
    journal_async_kv_put(l, "k", "v", SAYS("put"));
    journal_async_kv_get(l, "k", SAYS("get"));
    journal_async_kv_put(l, "k", "", NULL, NULL);
    journal_async_kv_get(l, "k", SAYS("empty"));
    journal_async_kv_put(l, "k", NULL, SAYS("remove"));
    journal_async_kv_get(l, "k", SAYS("none"));
    is_str(take_results(), "put:done get:done=v empty:done= remove:done none:unchanged ",
           "values are stored, read and removed in order");
    journal_async_memory_put(l, "tg", "t1", "so far", SAYS("remember"));
    is_str(get_memory(l, "t1"), "so far", "a memory is stored");
    journal_async_memory_put(l, "tg", "t1", NULL, SAYS("forget"));
    is_str(get_memory(l, "t1"), "-", "a memory is deleted");
    is_str(take_results(), "remember:done forget:done ", "the results of both calls arrive");
    journal_async_close(l);
}

static void put_another(void *ctx, enum journal_status status, const char *text)
{
    (void)text;
    if (status == JOURNAL_DONE)
        journal_async_kv_put(ctx, "late", "yes", NULL, NULL);
}

static void test_close(void)
{
    struct journal_async *l = fresh();
    for (int i = 0; i < 50; i++)
        journal_async_kv_put(l, "k", i % 2 ? "odd" : "even", NULL, NULL);
    journal_async_kv_put(l, "k", "last", put_another, l);
    journal_async_close(l);
    l = reopen();
    journal_async_kv_get(l, "k", SAYS("k"));
    journal_async_kv_get(l, "late", SAYS("late"));
    is_str(take_results(), "k:done=last late:done=yes ",
           "closing writes all pending calls, also those of callbacks");
    struct tc_err err = {0};
    ok(!journal_async_open(loop, dir, NULL, NULL, &err),
       "a second journal in the same folder does not open");
    has_str(err.text, "is in use by another turncast (process ",
            "the error names the process that has the journal");
    journal_async_close(l);
    journal_async_close(NULL);
}

static void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* The journal stores an outcome later if the disk is full, because the connectors have already
 * received it. */
static void test_full_disk(void)
{
    struct journal_async *l = fresh();
    static char big[300000];
    memset(big, 'x', sizeof big);
    const struct journal_target to = {"tg", "c", {big, sizeof big}};
    const char *const ids[] = {"t1", "t2", "t3"};
    for (size_t i = 0; i < 3; i++) {
        const struct journal_turn t = plain_turn(ids[i], NULL, false);
        journal_async_admit_turn(l, &t, NULL, NULL);
    }
    limit_file_size(200000);
    journal_async_end_turn(
        l, &(struct journal_outcome){.turn = "t1", .error = NULL, .targets = &to, .n = 1},
        SAYS("t1"));
    journal_async_end_turn(
        l, &(struct journal_outcome){.turn = "t2", .error = "timeout", .targets = &to, .n = 1},
        SAYS("t2"));
    is_str(take_results(), "t1:full t2:full ", "two outcomes do not fit on the disk");
    limit_file_size(RLIM_INFINITY);
    journal_async_kv_put(l, "k", "v", NULL, NULL);
    is_str(open_turns(l), "t3:0:hello:0 ", "after space was freed the turns have ended");
    is_str(rows(l), "-", "the outcomes have no rows, because they were delivered");
    journal_async_close(l);
    l = reopen();
    limit_file_size(200000);
    journal_async_end_turn(
        l, &(struct journal_outcome){.turn = "t3", .error = NULL, .targets = &to, .n = 1},
        SAYS("t3"));
    is_str(take_results(), "t3:full ", "the third outcome does not fit on the disk");
    limit_file_size(RLIM_INFINITY);
    journal_async_close(l);
    l = reopen();
    is_str(open_turns(l), "-", "closing the journal stores the outcome");
    journal_async_close(l);
}

/* The limits are applied once a minute while operations arrive. */
static void test_upkeep(void)
{
    clock_fake(1000, 1800000000);
    struct journal_async *const l = fresh();
    const struct journal_request r = {
        .turn = "t", .lane = "c", .max_age_ms = 1000, .body = STR("a")};
    journal_async_add_requests(l, "tg", &r, 1, NULL, NULL);
    is_str(rows(l), "1:a:0 ", "a row is added, and the limits were applied then");
    clock_fake_advance(59 * 1000);
    journal_async_kv_put(l, "k", "v", NULL, NULL);
    is_str(rows(l), "1:a:0 ", "an expired row stays for less than a minute");
    clock_fake_advance(1000);
    journal_async_kv_put(l, "k", "v", NULL, NULL);
    is_str(rows(l), "-", "an expired row is removed after a minute");
    journal_async_close(l);
    clock_fake_end();
}

int main(void)
{
    plan_lazy();
    const int log = open("/dev/null", O_WRONLY | O_CLOEXEC);
    log_setup(LOG_TEXT, LOG_WARN, log);
    loop = loop_new();
    test_turns();
    test_rows();
    test_resend();
    test_bytes();
    test_texts();
    test_close();
    test_full_disk();
    test_upkeep();
    buf_fini(&results);
    loop_free(loop);
    close(log);
    return 0;
}
