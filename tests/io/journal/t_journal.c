/* SPDX-License-Identifier: MIT
 * Turns in the journal: admitted once, ended once, whatever dies; and its keys and values. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "io/journal_kit.h"
#include "io/store/sql.h"
#include "tap/tap.h"

static enum journal_status admit_both(struct journal *j, const char *id, const char *msg,
                                      const char *also, struct buf *first)
{
    return journal_admit_turn(
        j,
        &(struct journal_turn){
            .id = id, .agent = "a", .conv = "c", .source = "slack", .msg_id = msg, .also = also},
        first);
}

static void test_admission(void)
{
    struct journal *j = kit_fresh();
    is_int(kit_admit(j, "t1", "m1"), JOURNAL_DONE, "a turn is admitted");
    is_int(kit_admit(j, "t2", "m1"), JOURNAL_NO_CHANGE, "the same message again is not");
    struct buf first = {0};
    const struct journal_turn again = {
        .id = "t3", .agent = "a", .conv = "c", .source = "telegram", .msg_id = "m1"};
    is_int(journal_admit_turn(j, &again, &first), JOURNAL_NO_CHANGE, "nor the third time");
    is_str(first.p, "t1", "and its turn is named");
    is_int(admit_both(j, "t4", "m1", "C1:17", &first), JOURNAL_DONE,
           "another service has ids of its own");
    is_int(admit_both(j, "t5", "m2", "C1:17", &first), JOURNAL_NO_CHANGE,
           "a message is known by its second id, too");
    is_str(first.p, "t4", "and its turn");
    is_int(admit_both(j, "t5", "C1:18", "m1", NULL), JOURNAL_NO_CHANGE, "whichever comes first");
    is_int(admit_both(j, "t5", "m2", NULL, NULL), JOURNAL_DONE,
           "what a duplicate brought along is not noted");
    buf_fini(&first);
    is_int(kit_admit(j, "t6", NULL), JOURNAL_DONE, "a turn without a message");
    is_int(kit_admit(j, "t7", NULL), JOURNAL_DONE, "and another");
    is_int(kit_admit(j, "t7", "m9"), JOURNAL_FAILED, "an id is not given twice");
    is_int(kit_admit(j, "t8", "m9"), JOURNAL_DONE, "and its message not swallowed by that");
    static char huge[JOURNAL_MAX_KEY + 2];
    memset(huge, 'k', sizeof huge - 1);
    is_int(kit_admit(j, huge, NULL), JOURNAL_TOO_BIG, "a key above the cap");
    is_int(admit_both(j, "t9", "m3", huge, NULL), JOURNAL_TOO_BIG, "a second id above it");
    is_int(kit_stats(j).running, 6, "six turns run");
    journal_close(j);
    j = kit_reopen(NULL);
    is_int(kit_admit(j, "t9", "m1"), JOURNAL_NO_CHANGE, "a duplicate is known after a restart");
    journal_close(j);
}

static void test_outcome(void)
{
    struct journal *j = kit_fresh();
    kit_admit(j, "t1", "m1");
    is_int(kit_end(j, "t1", NULL, "c1"), JOURNAL_DONE, "a turn ends");
    is_int(kit_end(j, "t1", NULL, "c1"), JOURNAL_NO_CHANGE, "once");
    is_int(kit_end(j, "t1", "agent_exit", "c1"), JOURNAL_NO_CHANGE, "not in an error after it");
    is_int(kit_end(j, "none", NULL, "c1"), JOURNAL_NO_CHANGE, "and only if it was admitted");
    is_int(kit_stats(j).queued, 2, "every connector has one row");
    is_str(kit_rows(j), "t1", "with its body");
    is_str(kit_rows_of(j, "slack"), "t1", "the other, too");
    kit_wait(j, "t2");
    is_int(kit_end(j, "t2", NULL, "c2"), JOURNAL_NO_CHANGE, "a turn that waits does not end so");
    kit_admit(j, "t3", "m3");
    static char huge[JOURNAL_MAX_BODY + 1];
    const struct journal_target t = {"tg", "c3", {huge, sizeof huge}};
    is_int(
        journal_end_turn(
            j, &(struct journal_outcome){.turn = "t3", .error = NULL, .targets = &t, .n = 1}, 100),
        JOURNAL_TOO_BIG, "a body above the cap");
    is_int(kit_stats(j).running, 1, "leaves the turn open");
    const struct journal_target twice[] = {{"tg", "c3", STR("x")}, {"tg", "c3", STR("y")}};
    is_int(journal_end_turn(j,
                            &(struct journal_outcome){
                                .turn = "t3", .error = "timeout", .targets = twice, .n = 2},
                            100),
           JOURNAL_DONE, "a connector named twice");
    is_str(kit_rows(j), "t1 x", "is told once");
    is_int(kit_admit(j, "t4", NULL), JOURNAL_DONE, "a turn");
    is_int(journal_end_turn(j, &(struct journal_outcome){.turn = "t4"}, 102), JOURNAL_DONE,
           "that nobody is told of");
    is_int(kit_stats(j).running, 0, "ends as well");
    journal_close(j);
}

static void test_waiting(void)
{
    struct journal *const j = kit_fresh();
    kit_wait(j, "t1");
    kit_wait(j, "t2");
    kit_wait(j, "t3");
    kit_wait(j, "t4");
    is_int(kit_stats(j).waiting, 4, "four turns wait");
    is_int(journal_begin_turn(j, "t1", NULL, (const char *const[]){"t2", "t3"}, 2), JOURNAL_DONE,
           "one begins, two are merged into it");
    is_int(kit_stats(j).waiting, 1, "one waits on");
    is_int(kit_stats(j).running, 1, "one runs");
    is_int(journal_begin_turn(j, "t1", NULL, NULL, 0), JOURNAL_NO_CHANGE, "no turn begins twice");
    is_int(journal_begin_turn(j, "t2", NULL, (const char *const[]){"t4"}, 1), JOURNAL_NO_CHANGE,
           "nor one that was merged");
    is_int(kit_stats(j).waiting, 1, "and takes nothing with it");
    is_int(kit_end(j, "t2", NULL, "c"), JOURNAL_NO_CHANGE, "it has no outcome of its own");
    is_int(journal_merge(j, "t1", "t4"), JOURNAL_NO_CHANGE, "one that runs is part of no other");
    is_int(kit_wait(j, "t5"), JOURNAL_DONE, "a message comes while it runs");
    is_int(journal_merge(j, "t5", "t1"), JOURNAL_DONE, "and becomes part of it");
    is_int(journal_merge(j, "t5", "t1"), JOURNAL_NO_CHANGE, "once");
    is_int(journal_cancel_turn(j, "t4"), JOURNAL_DONE, "a waiting turn is taken back");
    is_int(journal_cancel_turn(j, "t4"), JOURNAL_NO_CHANGE, "once");
    is_int(journal_cancel_turn(j, "t1"), JOURNAL_NO_CHANGE, "one that runs is not");
    is_int(kit_stats(j).waiting, 0, "none waits");
    is_int(kit_end(j, "t1", NULL, "c"), JOURNAL_DONE, "the turn ends");
    journal_close(j);
}

/* "seen/instances" of the turn that runs or waits. */
static void tell_told(void *ctx, const struct journal_turn *t)
{
    buf_reset(ctx);
    buf_printf(ctx, "%s/%s", t->seen ? t->seen : "-", t->instances ? t->instances : "-");
}

static void test_told(void)
{
    struct journal *const j = kit_fresh();
    CLEANUP_BUF struct buf told = {0};
    const struct journal_turn t = {.id = "t1",
                                   .agent = "a",
                                   .conv = "c",
                                   .source = "http",
                                   .instances = "log\ntg",
                                   .waiting = true};
    is_int(journal_admit_turn(j, &t, NULL), JOURNAL_DONE, "a turn that names instances");
    is_int(journal_add_seen(j, "t1", "sl"), JOURNAL_NO_CHANGE, "nobody sees one that waits");
    is_int(journal_begin_turn(j, "t1", "", NULL, 0), JOURNAL_DONE, "it begins, for nobody");
    is_int(journal_add_seen(j, "t1", "sl"), JOURNAL_DONE, "one joins");
    is_int(journal_add_seen(j, "t1", "cli"), JOURNAL_DONE, "and another");
    is_int(journal_find_turn(j, "t1", tell_told, &told), JOURNAL_DONE, "it is kept");
    is_str(told.p, "sl\ncli/log\ntg", "with all of that");
    kit_end(j, "t1", NULL, "c");
    is_int(journal_add_seen(j, "t1", "sl"), JOURNAL_NO_CHANGE, "nobody joins a turn that is over");
    is_int(journal_find_turn(j, "t1", tell_told, &told), JOURNAL_DONE, "it is known");
    is_str(told.p, "-/-", "without them");
    journal_close(j);
}

static void test_forgetting(void)
{
    struct journal *const j = kit_fresh();
    const struct journal_turn t = {.id = "t1",
                                   .agent = "a",
                                   .conv = "c",
                                   .source = "tg",
                                   .msg_id = "m1",
                                   .also = "m2",
                                   .waiting = true};
    is_int(journal_admit_turn(j, &t, NULL), JOURNAL_DONE, "a turn waits");
    kit_admit(j, "t2", "m3");
    is_int(journal_forget_turn(j, "t1"), JOURNAL_DONE, "and is removed");
    is_int(journal_forget_turn(j, "t1"), JOURNAL_NO_CHANGE, "once");
    is_int(journal_forget_turn(j, "t2"), JOURNAL_NO_CHANGE, "one that runs is not");
    is_int(kit_stats(j).waiting, 0, "none waits");
    is_int(journal_admit_turn(j, &t, NULL), JOURNAL_DONE, "the same message is taken again");
    is_int(kit_admit(j, "t3", "m3"), JOURNAL_NO_CHANGE, "that of the other turn is known");
    journal_close(j);
}

/* "owner state code began ended result". */
static void tell_past(void *ctx, const struct journal_turn *t)
{
    buf_reset(ctx);
    buf_printf(ctx, "%s %s %s %d %d %.*s", t->owner ? t->owner : "-", t->state,
               t->code ? t->code : "-", t->began_ms >= t->admitted_ms, t->ended_ms >= t->began_ms,
               (int)t->result.len, t->result.p);
}

static const char *past_of(struct journal *j, const char *turn)
{
    static struct buf text;
    is_int(journal_find_turn(j, turn, tell_past, &text), JOURNAL_DONE, "turn %s is known", turn);
    return text.p;
}

static enum journal_status end_with(struct journal *j, const char *turn, struct str result)
{
    return journal_end_turn(j, &(struct journal_outcome){.turn = turn, .result = result}, 100);
}

static void test_results(void)
{
    struct journal_limits limits = journal_default_limits;
    limits.result_bytes = 10;
    struct journal *j = kit_fresh_with(&limits);
    struct journal_turn t = {
        .id = "t1", .agent = "a", .conv = "c", .source = "http", .owner = "ann", .waiting = true};
    is_int(journal_admit_turn(j, &t, NULL), JOURNAL_DONE, "a turn of an API client waits");
    is_int(journal_begin_turn(j, "t1", NULL, NULL, 0), JOURNAL_DONE, "begins");
    is_int(end_with(j, "t1", STR("{\"a\":1}")), JOURNAL_DONE, "and ends");
    kit_admit(j, "t2", NULL);
    is_int(end_with(j, "t2", STR("{\"a\":2}")), JOURNAL_DONE, "so does one of nobody");
    journal_close(j);
    j = kit_reopen(&limits);
    is_str(past_of(j, "t1"), "ann final - 1 1 {\"a\":1}", "its result is there after a restart");
    is_str(past_of(j, "t2"), "- final - 1 1 ", "that of the other is not kept");
    t.id = "t3";
    t.waiting = false;
    is_int(journal_admit_turn(j, &t, NULL), JOURNAL_DONE, "another turn");
    is_int(end_with(j, "t3", STR("{\"a\":3}")), JOURNAL_DONE, "makes it too much");
    kit_prune(j);
    is_str(past_of(j, "t1"), "ann final - 1 1 ", "the oldest result goes, its turn stays");
    is_str(past_of(j, "t3"), "ann final - 1 1 {\"a\":3}", "and the newest result stays");
    static char huge[JOURNAL_MAX_RESULT + 1];
    t.id = "t4";
    is_int(journal_admit_turn(j, &t, NULL), JOURNAL_DONE, "a turn");
    is_int(end_with(j, "t4", (struct str){huge, sizeof huge}), JOURNAL_TOO_BIG, "above the cap");
    journal_close(j);
}

static void list_turn(void *ctx, const struct journal_turn *t)
{
    buf_printf(ctx, "%s:%s:%s:%d:%s:%s:%s:%s ", t->id, t->waiting ? "waiting" : "running",
               t->cgroup ? t->cgroup : "-", (int)t->agent_pid, t->prompt ? t->prompt : "-",
               t->route ? t->route : "-", t->files ? t->files : "-", t->seen ? t->seen : "-");
}

static void test_restart(void)
{
    struct journal *j = kit_fresh();
    kit_admit(j, "t9", "m1");
    is_int(journal_set_agent_process(
               j,
               &(struct journal_turn){
                   .id = "t9", .boot_id = "b", .cgroup = "/x", .agent_pid = 42, .agent_start = 7}),
           JOURNAL_DONE, "the agent's process is noted");
    const struct journal_turn full = {.id = "t2",
                                      .agent = "a",
                                      .conv = "c",
                                      .source = "telegram",
                                      .waiting = true,
                                      .prompt = "hello",
                                      .route = "{}",
                                      .files = "[]"};
    is_int(journal_admit_turn(j, &full, NULL), JOURNAL_DONE, "a turn waits");
    kit_ended(j, "t3", "c3");
    is_int(journal_set_agent_process(j, &(struct journal_turn){.id = "t3"}), JOURNAL_NO_CHANGE,
           "of a turn that runs");
    kit_start(j, "t3");
    kit_wait(j, "t4");
    is_int(journal_begin_turn(j, "t4", "tg\nlog", NULL, 0), JOURNAL_DONE, "one begins");
    journal_close(j);
    j = kit_reopen(NULL);
    struct buf seen = {0};
    is_int(journal_list_open_turns(j, list_turn, &seen), JOURNAL_DONE, "the open turns are there");
    is_str(seen.p,
           "t9:running:/x:42:-:-:-:- t2:waiting:-:0:hello:{}:[]:- "
           "t4:running:-:0:hello:-:-:tg\nlog ",
           "the oldest first, each with what is known of it");
    is_str(kit_rows(j), "t31?", "what was in flight is in doubt");
    is_int(kit_end(j, "t9", "host_restart", "c1"), JOURNAL_DONE, "the one that ran is ended");
    is_int(kit_end(j, "t4", "host_restart", "c1"), JOURNAL_DONE, "the other, too");
    is_int(journal_begin_turn(j, "t2", NULL, NULL, 0), JOURNAL_DONE, "the one that waited begins");
    is_int(kit_end(j, "t2", NULL, "c1"), JOURNAL_DONE, "and ends");
    buf_reset(&seen);
    is_int(journal_list_open_turns(j, list_turn, &seen), JOURNAL_DONE, "then");
    is_int((long long)seen.len, 0, "none is open");
    is_int(journal_find_turn(j, "t2", list_turn, &seen), JOURNAL_DONE, "one that ended is known");
    is_str(seen.p, "t2:running:-:0:-:{}:-:- ", "with its route, without what it has run with");
    is_int(journal_find_turn(j, "t8", list_turn, &seen), JOURNAL_NO_CHANGE, "another is not");
    is_str(kit_rows(j), "t31? t9 t4 t2", "and every connector is told");
    buf_fini(&seen);
    journal_close(j);
}

/* A folder with a journal that a program with the first schema left. */
static void make_first(void)
{
    struct tc_err err = {0};
    enum sql_failure failure;
    char path[700];
    journal_close(kit_fresh());
    snprintf(path, sizeof path, "%s/state.db", kit_dir);
    unlink(path);
    char *const text = tap_slurp(tap_source("io/journal_v1.sql"), NULL);
    tap_spew(path, "", 0);
    chmod(path, 0600);
    struct sql *const db = sql_open(path, &failure, &err);
    if (!db || sql_script(db, text) < 0)
        bail("no old journal: %s", db ? sql_error_text(db) : err_format(&err));
    sql_close(db);
    free(text);
}

static void test_migration(void)
{
    make_first();
    struct journal *const j = kit_reopen(NULL);
    char backup[700];
    snprintf(backup, sizeof backup, "%s/state.db.v1", kit_dir);
    ok(access(backup, F_OK) == 0, "a journal of the first schema is set aside");
    struct buf seen = {0};
    is_int(journal_list_open_turns(j, list_turn, &seen), JOURNAL_DONE, "its turns are there");
    is_str(seen.p, "t1:running:-:0:-:-:-:- t2:waiting:-:0:hello:{}:-:- ",
           "of none is it known who saw it");
    is_str(kit_rows(j), "t3", "and so is what has to be told");
    is_int(kit_admit(j, "t4", "m1"), JOURNAL_NO_CHANGE, "its messages are known");
    is_int(journal_begin_turn(j, "t2", "tg", NULL, 0), JOURNAL_DONE, "one that waited begins");
    buf_reset(&seen);
    is_int(journal_list_open_turns(j, list_turn, &seen), JOURNAL_DONE, "then");
    is_str(seen.p, "t1:running:-:0:-:-:-:- t2:running:-:0:hello:{}:-:tg ",
           "it is known who saw it");
    is_int(kit_end(j, "t1", "host_restart", "c"), JOURNAL_DONE, "and the other ends");
    const struct journal_approval a = {1, 0, "a", "", "k", "Bash", "ls", ""};
    is_int(journal_approval_put(j, &a), JOURNAL_DONE, "what it did not know of is kept");
    buf_fini(&seen);
    journal_close(j);
    journal_close(kit_reopen(NULL));
}

/* "id agent conv key tool shown by|" of each. */
static void list_approval(void *ctx, const struct journal_approval *a)
{
    buf_printf(ctx, "%d %s %s %s %s %s %s|", (int)a->id, a->agent, a->conv, a->key, a->tool,
               a->shown, a->by);
}

static const char *approvals(struct journal *j, const struct journal_approval_filter *which)
{
    static char text[500];
    struct buf out = {0};
    is_int(journal_approval_list(j, which, list_approval, &out), JOURNAL_DONE, "approvals");
    snprintf(text, sizeof text, "%s", out.p ? out.p : "");
    buf_fini(&out);
    return text;
}

/* "turn id tool shown decision by|" of each. */
static void list_question(void *ctx, const struct journal_question *q)
{
    buf_printf(ctx, "%s %s %s %s %s %s|", q->turn, q->id, q->tool, q->shown,
               q->decision ? q->decision : "-", q->by ? q->by : "-");
}

static void are_questions(struct journal *j, const char *wanted, const char *what)
{
    CLEANUP_BUF struct buf out = {0};
    is_int(journal_list_questions(j, list_question, &out), JOURNAL_DONE, "questions");
    is_str(out.p ? out.p : "", wanted, "%s", what);
}

static void test_questions(void)
{
    static char huge[JOURNAL_MAX_KEY + 2];
    struct journal *j = kit_fresh();
    kit_admit(j, "t1", "m1");
    struct journal_question q = {
        .turn = "t1", .id = "1", .agent = "a", .tool = "Bash", .shown = "ls"};
    is_int(journal_put_question(j, &q), JOURNAL_DONE, "one is asked");
    q.id = "2";
    is_int(journal_put_question(j, &q), JOURNAL_DONE, "and another");
    q.decision = "deny";
    q.by = "Ann";
    is_int(journal_put_question(j, &q), JOURNAL_DONE, "that is decided");
    q.decision = "allow";
    is_int(journal_put_question(j, &q), JOURNAL_DONE, "and again");
    memset(huge, 'x', sizeof huge - 1);
    q.shown = huge;
    is_int(journal_put_question(j, &q), JOURNAL_TOO_BIG, "a text above the cap");
    are_questions(j, "t1 1 Bash ls - -|t1 2 Bash ls deny Ann|", "the first decision stays");
    journal_close(j);
    j = kit_reopen(NULL);
    are_questions(j, "t1 1 Bash ls cancelled host_restart|t1 2 Bash ls deny Ann|",
                  "what was open is open no more");
    journal_close(j);
}

static void test_approvals(void)
{
    static const struct journal_approval_filter any = {0};
    static char huge[JOURNAL_MAX_KEY + 2];
    struct journal *j = kit_fresh();
    struct journal_approval a = {1, 0, "a", "", "k1", "Bash", "ls", "Ann"};
    is_int(journal_approval_put(j, &a), JOURNAL_DONE, "one for good");
    a = (struct journal_approval){2, 0, "a", "c", "k1", "Bash", "ls", "Ann"};
    is_int(journal_approval_put(j, &a), JOURNAL_DONE, "the same in a conversation");
    a.id = 3;
    a.by = "Bob";
    is_int(journal_approval_put(j, &a), JOURNAL_DONE, "again, by somebody else");
    a = (struct journal_approval){4, 0, "b", "c", "k2", "Read", "/x", ""};
    is_int(journal_approval_put(j, &a), JOURNAL_DONE, "of another agent");
    memset(huge, 'x', sizeof huge - 1);
    a.shown = huge;
    is_int(journal_approval_put(j, &a), JOURNAL_TOO_BIG, "a text above the cap");
    journal_close(j);
    j = kit_reopen(NULL);
    is_str(approvals(j, &any), "1 a  k1 Bash ls Ann|3 a c k1 Bash ls Bob|4 b c k2 Read /x |",
           "they are there after a restart, each once");
    is_str(approvals(j, &(struct journal_approval_filter){.agent = "b"}), "4 b c k2 Read /x |",
           "those of an agent");
    is_int(journal_approval_delete(j, &(struct journal_approval_filter){.id = 9}),
           JOURNAL_NO_CHANGE, "none of that number");
    is_int(journal_approval_delete(j, &(struct journal_approval_filter){.agent = "a", .conv = "c"}),
           JOURNAL_DONE, "those of a session are dropped");
    is_str(approvals(j, &any), "1 a  k1 Bash ls Ann|4 b c k2 Read /x |", "no others");
    is_int(journal_approval_delete(j, &(struct journal_approval_filter){.id = 1}), JOURNAL_DONE,
           "one");
    is_int(journal_approval_delete(j, &any), JOURNAL_DONE, "all");
    is_str(approvals(j, &any), "", "none is left");
    journal_close(j);
}

static void test_prompt(void)
{
    struct journal *const j = kit_fresh();
    static char huge[JOURNAL_MAX_PROMPT + 1];
    memset(huge, 'x', sizeof huge - 1);
    struct journal_turn t = {.id = "t1",
                             .agent = "a",
                             .conv = "c",
                             .source = "s",
                             .waiting = true,
                             .prompt = huge,
                             .route = "{}"};
    is_int(journal_admit_turn(j, &t, NULL), JOURNAL_TOO_BIG, "prompt and route above the cap");
    t.route = NULL;
    is_int(journal_admit_turn(j, &t, NULL), JOURNAL_DONE, "a prompt of a mebibyte");
    struct buf seen = {0};
    is_int(journal_list_open_turns(j, list_turn, &seen), JOURNAL_DONE, "comes back");
    ok(seen.len > JOURNAL_MAX_PROMPT, "whole");
    buf_fini(&seen);
    journal_close(j);
}

static void add_value(void *ctx, const char *key, const char *value)
{
    buf_printf(ctx, "%s=%s ", key, value);
}

static void test_kv(void)
{
    struct journal *j = kit_fresh();
    struct buf value = {0};
    is_int(journal_kv_get(j, "offset", &value), JOURNAL_NO_CHANGE, "no such key");
    is_int(journal_kv_put(j, "offset", STR("17")), JOURNAL_DONE, "a value");
    is_int(journal_kv_put(j, "offset", STR("18")), JOURNAL_DONE, "another");
    journal_close(j);
    j = kit_reopen(NULL);
    is_int(journal_kv_get(j, "offset", &value), JOURNAL_DONE, "is there after a restart");
    is_str(value.p, "18", "the last one");
    struct buf seen = {0};
    is_int(journal_kv_put(j, "offset:b%", STR("2")), JOURNAL_DONE, "another key");
    is_int(journal_kv_put(j, "offset:a", STR("1")), JOURNAL_DONE, "another key");
    is_int(journal_kv_put(j, "offsets", STR("3")), JOURNAL_DONE, "another key");
    is_int(journal_kv_each(j, "offset:", add_value, &seen), JOURNAL_DONE, "keys with a prefix");
    is_str(seen.p, "offset:a=1 offset:b%=2 ", "in their order, and no other");
    buf_fini(&seen);
    is_int(journal_kv_put(j, "offset", (struct str){0}), JOURNAL_DONE, "and can be removed");
    is_int(journal_kv_put(j, "offset", (struct str){0}), JOURNAL_NO_CHANGE, "once");
    buf_reset(&value);
    const struct str bytes = {"a\0b\xff", 4};
    is_int(journal_kv_put(j, "bytes", bytes), JOURNAL_DONE, "any bytes");
    is_int(journal_kv_get(j, "bytes", &value), JOURNAL_DONE, "as they are");
    is_mem(value.p, value.len, bytes.p, bytes.len, "come back");
    buf_fini(&value);
    journal_close(j);
}

static const char *recall(struct journal *j, const char *conn, const char *turn)
{
    static struct buf text;
    buf_reset(&text);
    return journal_memory_get(j, conn, turn, &text) == JOURNAL_DONE ? text.p : "-";
}

static void test_memory(void)
{
    struct journal *j = kit_fresh();
    kit_admit(j, "t1", "m1");
    is_str(recall(j, "tg", "t1"), "-", "nothing is remembered");
    is_int(journal_memory_put(j, "tg", "t1", "one"), JOURNAL_DONE, "a text");
    is_int(journal_memory_put(j, "tg", "t1", "two"), JOURNAL_DONE, "a newer one");
    is_int(journal_memory_put(j, "slack", "t1", "other"), JOURNAL_DONE, "of another connector");
    is_int(journal_memory_put(j, "tg", "", "lobby"), JOURNAL_DONE, "of no turn");
    static char huge[JOURNAL_MAX_MEMORY + 2];
    memset(huge, 'x', sizeof huge - 1);
    is_int(journal_memory_put(j, "tg", "t1", huge), JOURNAL_TOO_BIG, "one above the cap");
    journal_close(j);
    j = kit_reopen(NULL);
    is_str(recall(j, "tg", "t1"), "two", "the newest comes back");
    is_int(journal_memory_put(j, "slack", "t1", NULL), JOURNAL_DONE, "and can be forgotten");
    is_str(recall(j, "slack", "t1"), "-", "then it is gone");
    kit_prune(j);
    is_str(recall(j, "tg", "t1"), "two", "it stays while the turn runs");
    kit_end(j, "t1", NULL, "c");
    kit_prune(j);
    is_str(recall(j, "tg", "t1"), "two", "and until its outcome is told");
    kit_expand(j, "t1", "answer");
    kit_prune(j);
    is_str(recall(j, "tg", "t1"), "-", "then it goes; other rows are of another turn");
    is_str(recall(j, "tg", ""), "lobby", "that of no turn stays");
    journal_close(j);
}

static void test_disk_full(void)
{
    struct journal *const j = kit_fresh();
    kit_admit(j, "t1", "m1");
    static char big[256 * 1024];
    memset(big, 'x', sizeof big);
    const struct journal_target t = {"tg", "c1", {big, sizeof big}};
    const struct journal_request r = {.turn = "t1", .lane = "c1", .body = t.body};
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    const rlim_t before = limit.rlim_cur;
    limit.rlim_cur = 150000;
    setrlimit(RLIMIT_FSIZE, &limit);
    enum journal_status status = JOURNAL_DONE;
    char id[16];
    for (int i = 2; i < 1000 && status == JOURNAL_DONE; i++) {
        snprintf(id, sizeof id, "t%d", i);
        status = kit_admit(j, id, id);
    }
    is_int(status, JOURNAL_DISK_FULL, "admission on a full disk");
    is_int(journal_add_requests(j, "tg", &r, 1, 1), JOURNAL_DISK_FULL, "a request");
    is_int(journal_end_turn(
               j, &(struct journal_outcome){.turn = "t1", .error = NULL, .targets = &t, .n = 1}, 1),
           JOURNAL_DISK_FULL, "an outcome when the reserve does not help");
    ok(kit_stats(j).running > 1, "what is there can be read");
    limit.rlim_cur = before;
    setrlimit(RLIMIT_FSIZE, &limit);
    is_int(journal_end_turn(
               j, &(struct journal_outcome){.turn = "t1", .error = NULL, .targets = &t, .n = 1}, 1),
           JOURNAL_DONE, "the turn was still open and ends when there is room");
    is_int(kit_admit(j, id, id), JOURNAL_DONE, "and the refused message was not taken for known");
    journal_close(j);
}

static void see_sync(void *ctx, struct sql *db, const char *name)
{
    int64_t level = 0;
    if (strcmp(name, "in-outcome") == 0 && sql_select_int(db, "pragma synchronous", &level) == 0)
        *(int64_t *)ctx = level;
}

static void test_durability(void)
{
    journal_close(kit_fresh());
    int64_t level = 0;
    struct journal *const j = journal_open(
        &(struct journal_spec){.dir = kit_dir, .point = see_sync, .ctx = &level}, NULL);
    kit_admit(j, "t1", "m1");
    kit_end(j, "t1", NULL, "c1");
    is_int(level, 2, "an outcome is committed with synchronous=FULL");
    struct tc_err err = {0};
    ok(!journal_open(&(struct journal_spec){.dir = kit_dir}, &err), "a second journal there");
    has_str(err.text, "is in use by another turncast (process ", "is refused");
    journal_checkpoint(j);
    journal_close(j);
}

int main(void)
{
    plan_lazy();
    const int log = open("/dev/null", O_WRONLY | O_CLOEXEC);
    log_setup(LOG_TEXT, LOG_WARN, log);
    test_admission();
    test_outcome();
    test_waiting();
    test_told();
    test_forgetting();
    test_results();
    test_restart();
    test_migration();
    test_approvals();
    test_questions();
    test_prompt();
    test_kv();
    test_memory();
    test_disk_full();
    test_durability();
    clock_fake_end();
    close(log);
    return 0;
}
