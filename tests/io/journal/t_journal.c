/* SPDX-License-Identifier: MIT
 * Tests of turns in the journal: each is admitted once and ends once, also when processes are
 * killed. */
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
    is_int(kit_admit(j, "t2", "m1"), JOURNAL_NO_CHANGE, "the same message is a duplicate");
    struct buf first = {0};
    const struct journal_turn again = {
        .id = "t3", .agent = "a", .conv = "c", .source = "telegram", .msg_id = "m1"};
    is_int(journal_admit_turn(j, &again, &first), JOURNAL_NO_CHANGE,
           "the same message is a duplicate the third time");
    is_str(first.p, "t1", "a duplicate returns the turn of the first message");
    is_int(admit_both(j, "t4", "m1", "C1:17", &first), JOURNAL_DONE,
           "another source has its own message ids");
    is_int(admit_both(j, "t5", "m2", "C1:17", &first), JOURNAL_NO_CHANGE,
           "the second id of a message identifies it, too");
    is_str(first.p, "t4", "a duplicate by the second id returns the turn");
    is_int(admit_both(j, "t5", "C1:18", "m1", NULL), JOURNAL_NO_CHANGE,
           "each of the two ids identifies the message");
    is_int(admit_both(j, "t5", "m2", NULL, NULL), JOURNAL_DONE,
           "the ids of a duplicate are not recorded");
    buf_fini(&first);
    is_int(kit_admit(j, "t6", NULL), JOURNAL_DONE, "a turn without a message is admitted");
    is_int(kit_admit(j, "t7", NULL), JOURNAL_DONE, "a second turn without a message is admitted");
    is_int(kit_admit(j, "t7", "m9"), JOURNAL_FAILED, "the id of a turn is unique");
    is_int(kit_admit(j, "t8", "m9"), JOURNAL_DONE, "a refused turn does not record its message");
    static char huge[JOURNAL_MAX_KEY + 2];
    memset(huge, 'k', sizeof huge - 1);
    is_int(kit_admit(j, huge, NULL), JOURNAL_TOO_BIG, "a key above the limit is refused");
    is_int(admit_both(j, "t9", "m3", huge, NULL), JOURNAL_TOO_BIG,
           "a second id above the limit is refused");
    is_int(kit_stats(j).running, 6, "six turns are running");
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
    is_int(kit_end(j, "t1", NULL, "c1"), JOURNAL_NO_CHANGE, "a turn ends once");
    is_int(kit_end(j, "t1", "agent_exit", "c1"), JOURNAL_NO_CHANGE,
           "a turn that has ended cannot end with an error");
    is_int(kit_end(j, "none", NULL, "c1"), JOURNAL_NO_CHANGE, "an unknown turn cannot end");
    is_int(kit_stats(j).queued, 2, "each connector has one row");
    is_str(kit_rows(j), "t1", "the row has the body of the outcome");
    is_str(kit_rows_of(j, "slack"), "t1", "the row of the other connector has the body, too");
    kit_wait(j, "t2");
    is_int(kit_end(j, "t2", NULL, "c2"), JOURNAL_NO_CHANGE, "a waiting turn cannot end");
    kit_admit(j, "t3", "m3");
    static char huge[JOURNAL_MAX_BODY + 1];
    const struct journal_target t = {"tg", "c3", {huge, sizeof huge}};
    is_int(
        journal_end_turn(
            j, &(struct journal_outcome){.turn = "t3", .error = NULL, .targets = &t, .n = 1}, 100),
        JOURNAL_TOO_BIG, "a body above the limit is refused");
    is_int(kit_stats(j).running, 1, "the turn is still running");
    const struct journal_target twice[] = {{"tg", "c3", STR("x")}, {"tg", "c3", STR("y")}};
    is_int(journal_end_turn(j,
                            &(struct journal_outcome){
                                .turn = "t3", .error = "timeout", .targets = twice, .n = 2},
                            100),
           JOURNAL_DONE, "a turn ends with a connector that is named twice");
    is_str(kit_rows(j), "t1 x", "the connector has one row");
    is_int(kit_admit(j, "t4", NULL), JOURNAL_DONE, "a turn is admitted");
    is_int(journal_end_turn(j, &(struct journal_outcome){.turn = "t4"}, 102), JOURNAL_DONE,
           "a turn without connectors ends");
    is_int(kit_stats(j).running, 0, "no turn is running");
    journal_close(j);
}

static void test_waiting(void)
{
    struct journal *const j = kit_fresh();
    kit_wait(j, "t1");
    kit_wait(j, "t2");
    kit_wait(j, "t3");
    kit_wait(j, "t4");
    is_int(kit_stats(j).waiting, 4, "four turns are waiting");
    is_int(journal_begin_turn(j, "t1", NULL, (const char *const[]){"t2", "t3"}, 2), JOURNAL_DONE,
           "a turn begins, and two others are merged into it");
    is_int(kit_stats(j).waiting, 1, "one turn is waiting");
    is_int(kit_stats(j).running, 1, "one turn is running");
    is_int(journal_begin_turn(j, "t1", NULL, NULL, 0), JOURNAL_NO_CHANGE, "a turn begins once");
    is_int(journal_begin_turn(j, "t2", NULL, (const char *const[]){"t4"}, 1), JOURNAL_NO_CHANGE,
           "a merged turn cannot begin");
    is_int(kit_stats(j).waiting, 1, "a turn is not merged into one that cannot begin");
    is_int(kit_end(j, "t2", NULL, "c"), JOURNAL_NO_CHANGE, "a merged turn cannot end");
    is_int(journal_merge(j, "t1", "t4"), JOURNAL_NO_CHANGE,
           "a waiting turn cannot take in a running one");
    is_int(kit_wait(j, "t5"), JOURNAL_DONE, "a message arrives while the turn is running");
    is_int(journal_merge(j, "t5", "t1"), JOURNAL_DONE,
           "the message is merged into the running turn");
    is_int(journal_merge(j, "t5", "t1"), JOURNAL_NO_CHANGE, "a message is merged once");
    is_int(journal_cancel_turn(j, "t4"), JOURNAL_DONE, "a waiting turn is cancelled");
    is_int(journal_cancel_turn(j, "t4"), JOURNAL_NO_CHANGE, "a turn is cancelled once");
    is_int(journal_cancel_turn(j, "t1"), JOURNAL_NO_CHANGE, "a running turn cannot be cancelled");
    is_int(kit_stats(j).waiting, 0, "no turn is waiting");
    is_int(kit_end(j, "t1", NULL, "c"), JOURNAL_DONE, "the turn ends");
    journal_close(j);
}

/* Writes "seen/instances" of a turn that is running or waiting. */
static void format_viewers(void *ctx, const struct journal_turn *t)
{
    buf_reset(ctx);
    buf_printf(ctx, "%s/%s", t->seen ? t->seen : "-", t->instances ? t->instances : "-");
}

static void test_viewers(void)
{
    struct journal *const j = kit_fresh();
    CLEANUP_BUF struct buf told = {0};
    const struct journal_turn t = {.id = "t1",
                                   .agent = "a",
                                   .conv = "c",
                                   .source = "http",
                                   .instances = "log\ntg",
                                   .waiting = true};
    is_int(journal_admit_turn(j, &t, NULL), JOURNAL_DONE,
           "a turn that names instances is admitted");
    is_int(journal_add_seen(j, "t1", "sl"), JOURNAL_NO_CHANGE, "a waiting turn has no viewers");
    is_int(journal_begin_turn(j, "t1", "", NULL, 0), JOURNAL_DONE,
           "the turn begins without viewers");
    is_int(journal_add_seen(j, "t1", "sl"), JOURNAL_DONE, "an instance is added to the viewers");
    is_int(journal_add_seen(j, "t1", "cli"), JOURNAL_DONE, "a second instance is added");
    is_int(journal_find_turn(j, "t1", format_viewers, &told), JOURNAL_DONE, "the turn is found");
    is_str(told.p, "sl\ncli/log\ntg", "the turn has its viewers and instances");
    kit_end(j, "t1", NULL, "c");
    is_int(journal_add_seen(j, "t1", "sl"), JOURNAL_NO_CHANGE,
           "no viewer is added to a turn that has ended");
    is_int(journal_find_turn(j, "t1", format_viewers, &told), JOURNAL_DONE,
           "the turn that has ended is found");
    is_str(told.p, "-/-", "a turn that has ended has no viewers and no instances");
    journal_close(j);
}

static void test_forget(void)
{
    struct journal *const j = kit_fresh();
    const struct journal_turn t = {.id = "t1",
                                   .agent = "a",
                                   .conv = "c",
                                   .source = "tg",
                                   .msg_id = "m1",
                                   .also = "m2",
                                   .waiting = true};
    is_int(journal_admit_turn(j, &t, NULL), JOURNAL_DONE, "a waiting turn is admitted");
    kit_admit(j, "t2", "m3");
    is_int(journal_delete_waiting_turn(j, "t1"), JOURNAL_DONE, "a waiting turn is removed");
    is_int(journal_delete_waiting_turn(j, "t1"), JOURNAL_NO_CHANGE, "a turn is removed once");
    is_int(journal_delete_waiting_turn(j, "t2"), JOURNAL_NO_CHANGE,
           "a running turn is not removed");
    is_int(kit_stats(j).waiting, 0, "no turn is waiting");
    is_int(journal_admit_turn(j, &t, NULL), JOURNAL_DONE,
           "the message of a removed turn is admitted again");
    is_int(kit_admit(j, "t3", "m3"), JOURNAL_NO_CHANGE,
           "the message of the running turn is a duplicate");
    journal_close(j);
}

/* Writes "owner state code began ended result". */
static void format_result(void *ctx, const struct journal_turn *t)
{
    buf_reset(ctx);
    buf_printf(ctx, "%s %s %s %d %d %.*s", t->owner ? t->owner : "-", t->state,
               t->code ? t->code : "-", t->began_ms >= t->admitted_ms, t->ended_ms >= t->began_ms,
               (int)t->result.len, t->result.p);
}

static const char *describe_turn(struct journal *j, const char *turn)
{
    static struct buf text;
    is_int(journal_find_turn(j, turn, format_result, &text), JOURNAL_DONE, "turn %s is found",
           turn);
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
    is_int(journal_admit_turn(j, &t, NULL), JOURNAL_DONE,
           "a waiting turn of an API client is admitted");
    is_int(journal_begin_turn(j, "t1", NULL, NULL, 0), JOURNAL_DONE, "the turn begins");
    is_int(end_with(j, "t1", STR("{\"a\":1}")), JOURNAL_DONE, "the turn ends with a result");
    kit_admit(j, "t2", NULL);
    is_int(end_with(j, "t2", STR("{\"a\":2}")), JOURNAL_DONE,
           "a turn without an owner ends with a result");
    journal_close(j);
    j = kit_reopen(&limits);
    is_str(describe_turn(j, "t1"), "ann final - 1 1 {\"a\":1}",
           "the result is kept over a restart");
    is_str(describe_turn(j, "t2"), "- final - 1 1 ",
           "the result of a turn without an owner is not kept");
    t.id = "t3";
    t.waiting = false;
    is_int(journal_admit_turn(j, &t, NULL), JOURNAL_DONE, "another turn is admitted");
    is_int(end_with(j, "t3", STR("{\"a\":3}")), JOURNAL_DONE,
           "the results exceed the limit together");
    kit_prune(j);
    is_str(describe_turn(j, "t1"), "ann final - 1 1 ",
           "the oldest result is deleted, and its turn is kept");
    is_str(describe_turn(j, "t3"), "ann final - 1 1 {\"a\":3}", "the newest result is kept");
    static char huge[JOURNAL_MAX_RESULT + 1];
    t.id = "t4";
    is_int(journal_admit_turn(j, &t, NULL), JOURNAL_DONE, "a turn is admitted");
    is_int(end_with(j, "t4", (struct str){huge, sizeof huge}), JOURNAL_TOO_BIG,
           "a result above the limit is refused");
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
           JOURNAL_DONE, "the process of the agent is recorded");
    const struct journal_turn full = {.id = "t2",
                                      .agent = "a",
                                      .conv = "c",
                                      .source = "telegram",
                                      .waiting = true,
                                      .prompt = "hello",
                                      .route = "{}",
                                      .files = "[]"};
    is_int(journal_admit_turn(j, &full, NULL), JOURNAL_DONE, "a waiting turn is admitted");
    kit_ended(j, "t3", "c3");
    is_int(journal_set_agent_process(j, &(struct journal_turn){.id = "t3"}), JOURNAL_NO_CHANGE,
           "the process of a turn that has ended is not recorded");
    kit_start(j, "t3");
    kit_wait(j, "t4");
    is_int(journal_begin_turn(j, "t4", "tg\nlog", NULL, 0), JOURNAL_DONE, "a waiting turn begins");
    journal_close(j);
    j = kit_reopen(NULL);
    struct buf seen = {0};
    is_int(journal_list_open_turns(j, list_turn, &seen), JOURNAL_DONE,
           "the open turns are listed after a restart");
    is_str(seen.p,
           "t9:running:/x:42:-:-:-:- t2:waiting:-:0:hello:{}:[]:- "
           "t4:running:-:0:hello:-:-:tg\nlog ",
           "the oldest turn is first, each with all its fields");
    is_str(kit_rows(j), "t31?", "a request that was in flight is in doubt");
    is_int(kit_end(j, "t9", "host_restart", "c1"), JOURNAL_DONE,
           "the turn that was running ends with an error");
    is_int(kit_end(j, "t4", "host_restart", "c1"), JOURNAL_DONE,
           "the second running turn ends with an error");
    is_int(journal_begin_turn(j, "t2", NULL, NULL, 0), JOURNAL_DONE,
           "the turn that was waiting begins");
    is_int(kit_end(j, "t2", NULL, "c1"), JOURNAL_DONE, "the turn that was waiting ends");
    buf_reset(&seen);
    is_int(journal_list_open_turns(j, list_turn, &seen), JOURNAL_DONE,
           "the open turns are listed again");
    is_int((long long)seen.len, 0, "no turn is open");
    is_int(journal_find_turn(j, "t2", list_turn, &seen), JOURNAL_DONE,
           "a turn that has ended is found");
    is_str(seen.p, "t2:running:-:0:-:{}:-:- ",
           "a turn that has ended has its route, but no prompt");
    is_int(journal_find_turn(j, "t8", list_turn, &seen), JOURNAL_NO_CHANGE,
           "an unknown turn is not found");
    is_str(kit_rows(j), "t31? t9 t4 t2", "the connector has a row for each turn");
    buf_fini(&seen);
    journal_close(j);
}

/* Creates a folder with a journal of the first schema. */
static void make_v1_journal(void)
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
        bail("cannot create the old journal: %s", db ? sql_error_text(db) : err_format(&err));
    sql_close(db);
    free(text);
}

static void test_migration(void)
{
    make_v1_journal();
    struct journal *const j = kit_reopen(NULL);
    char backup[700];
    snprintf(backup, sizeof backup, "%s/state.db.v1", kit_dir);
    ok(access(backup, F_OK) == 0, "a journal of the first schema is set aside");
    struct buf seen = {0};
    is_int(journal_list_open_turns(j, list_turn, &seen), JOURNAL_DONE,
           "the turns of the old journal are listed");
    is_str(seen.p, "t1:running:-:0:-:-:-:- t2:waiting:-:0:hello:{}:-:- ",
           "the viewers of the old turns are unknown");
    is_str(kit_rows(j), "t3", "the old outcome is listed");
    is_int(kit_admit(j, "t4", "m1"), JOURNAL_NO_CHANGE, "the old messages are duplicates");
    is_int(journal_begin_turn(j, "t2", "tg", NULL, 0), JOURNAL_DONE, "an old waiting turn begins");
    buf_reset(&seen);
    is_int(journal_list_open_turns(j, list_turn, &seen), JOURNAL_DONE,
           "the open turns are listed again");
    is_str(seen.p, "t1:running:-:0:-:-:-:- t2:running:-:0:hello:{}:-:tg ",
           "the turn has its viewer");
    is_int(kit_end(j, "t1", "host_restart", "c"), JOURNAL_DONE, "the old running turn ends");
    const struct journal_approval a = {1, 0, "a", "", "k", "Bash", "ls", ""};
    is_int(journal_approval_put(j, &a), JOURNAL_DONE, "the migrated journal stores an approval");
    buf_fini(&seen);
    journal_close(j);
    journal_close(kit_reopen(NULL));
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
    is_int(journal_admit_turn(j, &t, NULL), JOURNAL_TOO_BIG,
           "prompt and route together above the limit are refused");
    t.route = NULL;
    is_int(journal_admit_turn(j, &t, NULL), JOURNAL_DONE, "a prompt of 1 MiB is admitted");
    struct buf seen = {0};
    is_int(journal_list_open_turns(j, list_turn, &seen), JOURNAL_DONE, "the turn is listed");
    ok(seen.len > JOURNAL_MAX_PROMPT, "the prompt is complete");
    buf_fini(&seen);
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
    is_int(status, JOURNAL_DISK_FULL, "an admission on a full disk fails");
    is_int(journal_add_requests(j, "tg", &r, 1, 1), JOURNAL_DISK_FULL,
           "a request on a full disk fails");
    is_int(journal_end_turn(
               j, &(struct journal_outcome){.turn = "t1", .error = NULL, .targets = &t, .n = 1}, 1),
           JOURNAL_DISK_FULL, "an outcome that is larger than the reserved space fails");
    ok(kit_stats(j).running > 1, "the journal can be read on a full disk");
    limit.rlim_cur = before;
    setrlimit(RLIMIT_FSIZE, &limit);
    is_int(journal_end_turn(
               j, &(struct journal_outcome){.turn = "t1", .error = NULL, .targets = &t, .n = 1}, 1),
           JOURNAL_DONE, "the turn is still running, and ends when space was freed");
    is_int(kit_admit(j, id, id), JOURNAL_DONE, "the message that was refused is no duplicate");
    journal_close(j);
}

static void read_sync_level(void *ctx, struct sql *db, const char *name)
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
        &(struct journal_spec){.dir = kit_dir, .point = read_sync_level, .ctx = &level}, NULL);
    kit_admit(j, "t1", "m1");
    kit_end(j, "t1", NULL, "c1");
    is_int(level, 2, "an outcome is committed with synchronous=FULL");
    struct tc_err err = {0};
    ok(!journal_open(&(struct journal_spec){.dir = kit_dir}, &err),
       "a second journal in the same folder does not open");
    has_str(err.text, "is in use by another turncast (process ",
            "the error names the process that has the journal");
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
    test_viewers();
    test_forget();
    test_results();
    test_restart();
    test_migration();
    test_prompt();
    test_disk_full();
    test_durability();
    clock_fake_end();
    close(log);
    return 0;
}
