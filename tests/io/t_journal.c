/* SPDX-License-Identifier: MIT
 * Turns in the journal: admitted once, ended once, whatever dies; and its keys and values. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "io/journal_kit.h"
#include "io/sql.h"
#include "tap/tap.h"

static void test_admission(void)
{
    struct journal *j = kit_fresh();
    is_int(kit_admit(j, "t1", "m1"), JOURNAL_DONE, "a turn is admitted");
    is_int(kit_admit(j, "t2", "m1"), JOURNAL_UNCHANGED, "the same message again is not");
    struct buf first = {0};
    const struct journal_turn again = {
        .id = "t3", .agent = "a", .conv = "c", .source = "telegram", .msg_id = "m1"};
    is_int(journal_admit(j, &again, &first), JOURNAL_UNCHANGED, "nor the third time");
    is_str(first.p, "t1", "and its turn is named");
    buf_fini(&first);
    const struct journal_turn other = {
        .id = "t4", .agent = "a", .conv = "c", .source = "slack", .msg_id = "m1"};
    is_int(journal_admit(j, &other, NULL), JOURNAL_DONE, "another service has ids of its own");
    is_int(kit_admit(j, "t5", NULL), JOURNAL_DONE, "a turn without a message");
    is_int(kit_admit(j, "t6", NULL), JOURNAL_DONE, "and another");
    is_int(kit_admit(j, "t6", "m9"), JOURNAL_FAILED, "an id is not given twice");
    is_int(kit_admit(j, "t7", "m9"), JOURNAL_DONE, "and its message not swallowed by that");
    static char huge[JOURNAL_MAX_KEY + 2];
    memset(huge, 'k', sizeof huge - 1);
    is_int(kit_admit(j, huge, NULL), JOURNAL_TOO_BIG, "a key above the cap");
    is_int(kit_stats(j).running, 5, "five turns run");
    journal_close(j);
    j = kit_reopen(NULL);
    is_int(kit_admit(j, "t8", "m1"), JOURNAL_UNCHANGED, "a duplicate is known after a restart");
    journal_close(j);
}

static void test_outcome(void)
{
    struct journal *j = kit_fresh();
    kit_admit(j, "t1", "m1");
    is_int(kit_end(j, "t1", NULL, "c1"), JOURNAL_DONE, "a turn ends");
    is_int(kit_end(j, "t1", NULL, "c1"), JOURNAL_UNCHANGED, "once");
    is_int(kit_end(j, "t1", "agent_exit", "c1"), JOURNAL_UNCHANGED, "not in an error after it");
    is_int(kit_end(j, "none", NULL, "c1"), JOURNAL_UNCHANGED, "and only if it was admitted");
    is_int(kit_stats(j).waiting, 2, "every connector has one row");
    is_str(kit_claim(j), "t1 final 1 1", "which is due");
    is_int(kit_row.body.len == 6 && memcmp(kit_row.body.p, "answer", 6) == 0, 1, "with its body");
    is_str(kit_claim_of(j, "slack", NULL), "t1 final 1 1", "for the other, too");
    kit_admit(j, "t2", "m2");
    is_int(kit_end(j, "t2", "agent_exit", "c2"), JOURNAL_DONE, "an error is an outcome");
    is_str(kit_claim(j), "t2 error 1 1", "of its own slot");
    kit_admit(j, "t3", "m3");
    static char huge[JOURNAL_MAX_BODY + 2];
    memset(huge, 'x', sizeof huge - 1);
    const struct journal_target t = kit_target("tg", "c3", huge);
    is_int(journal_end_turn(j, &(struct journal_outcome){"t3", NULL, &t, 1}), JOURNAL_TOO_BIG,
           "a body above the cap");
    is_int(kit_stats(j).running, 1, "leaves the turn open");
    const struct journal_target twice[] = {kit_target("tg", "c3", "x"),
                                           kit_target("tg", "c3", "y")};
    is_int(journal_end_turn(j, &(struct journal_outcome){"t3", NULL, twice, 2}), JOURNAL_DONE,
           "a destination named twice");
    is_str(kit_claim(j), "t3 final 1 1", "is told");
    is_str(kit_claim(j), "-", "once");
    journal_row_fini(&kit_row);
    journal_close(j);
}

static size_t who(void *ctx, const struct journal_turn *t, const struct journal_target **targets)
{
    static const struct journal_target to[] = {{"tg", "c1", {"restarted", 9}},
                                               {"slack", "c1", {"restarted", 9}}};
    buf_printf(ctx, "%s:%s:%s:%d ", t->id, t->msg_id ? t->msg_id : "-", t->cgroup ? t->cgroup : "-",
               (int)t->agent_pid);
    *targets = to;
    return 2;
}

static void test_restart(void)
{
    struct journal *j = kit_fresh();
    kit_admit(j, "t1", "m1");
    is_int(journal_note_agent(
               j,
               &(struct journal_turn){
                   .id = "t1", .boot_id = "b", .cgroup = "/x", .agent_pid = 42, .agent_start = 7}),
           JOURNAL_DONE, "the agent's process is noted");
    kit_live(j, "t1", "working");
    kit_admit(j, "t2", NULL);
    kit_ended(j, "t3", "c3");
    is_int(journal_note_agent(j, &(struct journal_turn){.id = "t3"}), JOURNAL_UNCHANGED,
           "of a turn that runs");
    kit_claim_of(j, "tg", "c3");
    journal_close(j);
    j = kit_reopen(NULL);
    struct buf seen = {0};
    is_int(journal_end_open_turns(j, who, &seen), 2, "the open turns end at the start");
    is_str(seen.p, "t1:m1:/x:42 t2:-:-:0 ", "each with what is known of it");
    buf_fini(&seen);
    is_int(kit_stats(j).running, 0, "none runs on");
    is_str(kit_claim(j), "t3 final 1 2 doubt", "what was in flight comes again, in doubt");
    kit_sent(j, NULL);
    is_str(kit_claim(j), "t1 error 1 1", "every connector is told");
    kit_sent(j, NULL);
    is_str(kit_claim(j), "t2 error 1 1", "of each");
    kit_sent(j, NULL);
    is_str(kit_claim(j), "-", "the live row is gone");
    is_str(kit_claim_of(j, "slack", "c1"), "t1 error 1 1", "the other connector as well");
    is_int(kit_end(j, "t1", NULL, "c1"), JOURNAL_UNCHANGED, "a late result changes nothing");
    is_int(journal_end_open_turns(j, who, NULL), 0, "and the next start finds none");
    journal_row_fini(&kit_row);
    journal_close(j);
}

static void test_kv(void)
{
    struct journal *j = kit_fresh();
    struct buf value = {0};
    is_int(journal_kv_get(j, "offset", &value), JOURNAL_UNCHANGED, "no such key");
    is_int(journal_kv_put(j, "offset", STR("17")), JOURNAL_DONE, "a value");
    is_int(journal_kv_put(j, "offset", STR("18")), JOURNAL_DONE, "another");
    journal_close(j);
    j = kit_reopen(NULL);
    is_int(journal_kv_get(j, "offset", &value), JOURNAL_DONE, "is there after a restart");
    is_str(value.p, "18", "the last one");
    is_int(journal_kv_put(j, "offset", (struct str){0}), JOURNAL_DONE, "and can be removed");
    is_int(journal_kv_put(j, "offset", (struct str){0}), JOURNAL_UNCHANGED, "once");
    buf_reset(&value);
    const struct str bytes = {"a\0b\xff", 4};
    is_int(journal_kv_put(j, "bytes", bytes), JOURNAL_DONE, "any bytes");
    is_int(journal_kv_get(j, "bytes", &value), JOURNAL_DONE, "as they are");
    is_mem(value.p, value.len, bytes.p, bytes.len, "come back");
    buf_fini(&value);
    journal_close(j);
}

static void test_disk_full(void)
{
    struct journal *const j = kit_fresh();
    kit_admit(j, "t1", "m1");
    static char big[JOURNAL_MAX_BODY];
    memset(big, 'x', sizeof big);
    const struct journal_target t = {"tg", "c1", {big, sizeof big}};
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
    is_int(journal_put(j, JOURNAL_LIVE, "t1", &t), JOURNAL_DISK_FULL, "a live row");
    is_int(journal_end_turn(j, &(struct journal_outcome){"t1", NULL, &t, 1}), JOURNAL_DISK_FULL,
           "an outcome when the reserve does not help");
    ok(kit_stats(j).running > 1, "what is there can be read");
    limit.rlim_cur = before;
    setrlimit(RLIMIT_FSIZE, &limit);
    is_int(journal_end_turn(j, &(struct journal_outcome){"t1", NULL, &t, 1}), JOURNAL_DONE,
           "the turn was still open and ends when there is room");
    is_int(kit_admit(j, id, id), JOURNAL_DONE, "and the refused message was not taken for known");
    journal_close(j);
}

static void see_sync(void *ctx, struct sql *db, const char *name)
{
    int64_t level = 0;
    if (strcmp(name, "in-outcome") == 0 && sql_number(db, "pragma synchronous", &level) == 0)
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
    has_str(err.text, "is in use by process ", "is refused");
    journal_tidy(j);
    journal_close(j);
}

int main(void)
{
    plan_lazy();
    const int log = open("/dev/null", O_WRONLY | O_CLOEXEC);
    log_setup(LOG_TEXT, LOG_WARN, log);
    test_admission();
    test_outcome();
    test_restart();
    test_kv();
    test_disk_full();
    test_durability();
    clock_unfake();
    close(log);
    return 0;
}
