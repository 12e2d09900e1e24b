/* SPDX-License-Identifier: MIT
 * Tests of what the journal stores besides turns: approvals, questions, keys and values, and the
 * memory of turns. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "io/journal_kit.h"
#include "tap/tap.h"

/* Writes "id agent conv key tool shown by|" for each. */
static void list_approval(void *ctx, const struct journal_approval *a)
{
    buf_printf(ctx, "%d %s %s %s %s %s %s|", (int)a->id, a->agent, a->conv, a->key, a->tool,
               a->shown, a->by);
}

static const char *approvals(struct journal *j, const struct journal_approval_filter *which)
{
    static char text[500];
    struct buf out = {0};
    is_int(journal_approval_list(j, which, list_approval, &out), JOURNAL_DONE,
           "the approvals are listed");
    snprintf(text, sizeof text, "%s", out.p ? out.p : "");
    buf_fini(&out);
    return text;
}

/* Writes "turn id tool shown decision by|" for each. */
static void list_question(void *ctx, const struct journal_question *q)
{
    buf_printf(ctx, "%s %s %s %s %s %s|", q->turn, q->id, q->tool, q->shown,
               q->decision ? q->decision : "-", q->by ? q->by : "-");
}

static void check_questions(struct journal *j, const char *wanted, const char *what)
{
    CLEANUP_BUF struct buf out = {0};
    is_int(journal_list_questions(j, list_question, &out), JOURNAL_DONE,
           "the questions are listed");
    is_str(out.p ? out.p : "", wanted, "%s", what);
}

static void test_questions(void)
{
    static char huge[JOURNAL_MAX_KEY + 2];
    struct journal *j = kit_fresh();
    kit_admit(j, "t1", "m1");
    struct journal_question q = {
        .turn = "t1", .id = "1", .agent = "a", .tool = "Bash", .shown = "ls"};
    is_int(journal_put_question(j, &q), JOURNAL_DONE, "a question is stored");
    q.id = "2";
    is_int(journal_put_question(j, &q), JOURNAL_DONE, "a second question is stored");
    q.decision = "deny";
    q.by = "Ann";
    is_int(journal_put_question(j, &q), JOURNAL_DONE, "a decision is stored");
    q.decision = "allow";
    is_int(journal_put_question(j, &q), JOURNAL_DONE,
           "a second decision of the same question is accepted");
    memset(huge, 'x', sizeof huge - 1);
    q.shown = huge;
    is_int(journal_put_question(j, &q), JOURNAL_TOO_BIG, "a text above the limit is refused");
    check_questions(j, "t1 1 Bash ls - -|t1 2 Bash ls deny Ann|", "the first decision is kept");
    journal_close(j);
    j = kit_reopen(NULL);
    check_questions(j, "t1 1 Bash ls cancelled host_restart|t1 2 Bash ls deny Ann|",
                    "an open question is cancelled by a restart");
    journal_close(j);
}

static void test_approvals(void)
{
    static const struct journal_approval_filter any = {0};
    static char huge[JOURNAL_MAX_KEY + 2];
    struct journal *j = kit_fresh();
    struct journal_approval a = {1, 0, "a", "", "k1", "Bash", "ls", "Ann"};
    is_int(journal_approval_put(j, &a), JOURNAL_DONE,
           "an approval without a conversation is stored");
    a = (struct journal_approval){2, 0, "a", "c", "k1", "Bash", "ls", "Ann"};
    is_int(journal_approval_put(j, &a), JOURNAL_DONE,
           "the same approval for a conversation is stored");
    a.id = 3;
    a.by = "Bob";
    is_int(journal_approval_put(j, &a), JOURNAL_DONE,
           "the same approval by another user is stored");
    a = (struct journal_approval){4, 0, "b", "c", "k2", "Read", "/x", ""};
    is_int(journal_approval_put(j, &a), JOURNAL_DONE, "an approval for another agent is stored");
    memset(huge, 'x', sizeof huge - 1);
    a.shown = huge;
    is_int(journal_approval_put(j, &a), JOURNAL_TOO_BIG, "a text above the limit is refused");
    journal_close(j);
    j = kit_reopen(NULL);
    is_str(approvals(j, &any), "1 a  k1 Bash ls Ann|3 a c k1 Bash ls Bob|4 b c k2 Read /x |",
           "each approval is listed once after a restart");
    is_str(approvals(j, &(struct journal_approval_filter){.agent = "b"}), "4 b c k2 Read /x |",
           "the approvals of an agent");
    is_int(journal_approval_delete(j, &(struct journal_approval_filter){.id = 9}),
           JOURNAL_NO_CHANGE, "an unknown number deletes nothing");
    is_int(journal_approval_delete(j, &(struct journal_approval_filter){.agent = "a", .conv = "c"}),
           JOURNAL_DONE, "the approvals of a session are deleted");
    is_str(approvals(j, &any), "1 a  k1 Bash ls Ann|4 b c k2 Read /x |",
           "the other approvals are kept");
    is_int(journal_approval_delete(j, &(struct journal_approval_filter){.id = 1}), JOURNAL_DONE,
           "an approval is deleted by its number");
    is_int(journal_approval_delete(j, &any), JOURNAL_DONE, "all approvals are deleted");
    is_str(approvals(j, &any), "", "no approval is left");
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
    is_int(journal_kv_get(j, "offset", &value), JOURNAL_NO_CHANGE, "an unknown key has no value");
    is_int(journal_kv_put(j, "offset", STR("17")), JOURNAL_DONE, "a value is stored");
    is_int(journal_kv_put(j, "offset", STR("18")), JOURNAL_DONE, "a second value is stored");
    journal_close(j);
    j = kit_reopen(NULL);
    is_int(journal_kv_get(j, "offset", &value), JOURNAL_DONE, "the value is found after a restart");
    is_str(value.p, "18", "the second value has replaced the first");
    struct buf seen = {0};
    is_int(journal_kv_put(j, "offset:b%", STR("2")), JOURNAL_DONE,
           "another key with the prefix is stored");
    is_int(journal_kv_put(j, "offset:a", STR("1")), JOURNAL_DONE,
           "a third key with the prefix is stored");
    is_int(journal_kv_put(j, "offsets", STR("3")), JOURNAL_DONE,
           "a key without the prefix is stored");
    is_int(journal_kv_each(j, "offset:", add_value, &seen), JOURNAL_DONE,
           "keys with a prefix are listed");
    is_str(seen.p, "offset:a=1 offset:b%=2 ", "the keys are in order, and without the other one");
    buf_fini(&seen);
    is_int(journal_kv_put(j, "offset", (struct str){0}), JOURNAL_DONE, "a value is removed");
    is_int(journal_kv_put(j, "offset", (struct str){0}), JOURNAL_NO_CHANGE,
           "a value is removed once");
    buf_reset(&value);
    const struct str bytes = {"a\0b\xff", 4};
    is_int(journal_kv_put(j, "bytes", bytes), JOURNAL_DONE, "arbitrary bytes are stored");
    is_int(journal_kv_get(j, "bytes", &value), JOURNAL_DONE, "arbitrary bytes are found");
    is_mem(value.p, value.len, bytes.p, bytes.len, "arbitrary bytes are returned unchanged");
    buf_fini(&value);
    journal_close(j);
}

static const char *get_memory(struct journal *j, const char *conn, const char *turn)
{
    static struct buf text;
    buf_reset(&text);
    return journal_memory_get(j, conn, turn, &text) == JOURNAL_DONE ? text.p : "-";
}

static void test_memory(void)
{
    struct journal *j = kit_fresh();
    kit_admit(j, "t1", "m1");
    is_str(get_memory(j, "tg", "t1"), "-", "a turn has no memory at first");
    is_int(journal_memory_put(j, "tg", "t1", "one"), JOURNAL_DONE, "a memory is stored");
    is_int(journal_memory_put(j, "tg", "t1", "two"), JOURNAL_DONE, "a newer memory is stored");
    is_int(journal_memory_put(j, "slack", "t1", "other"), JOURNAL_DONE,
           "a memory of another connector is stored");
    is_int(journal_memory_put(j, "tg", "", "lobby"), JOURNAL_DONE,
           "a memory without a turn is stored");
    static char huge[JOURNAL_MAX_MEMORY + 2];
    memset(huge, 'x', sizeof huge - 1);
    is_int(journal_memory_put(j, "tg", "t1", huge), JOURNAL_TOO_BIG,
           "a memory above the limit is refused");
    journal_close(j);
    j = kit_reopen(NULL);
    is_str(get_memory(j, "tg", "t1"), "two", "the newest memory is returned after a restart");
    is_int(journal_memory_put(j, "slack", "t1", NULL), JOURNAL_DONE, "a memory is deleted");
    is_str(get_memory(j, "slack", "t1"), "-", "the deleted memory is not returned");
    kit_prune(j);
    is_str(get_memory(j, "tg", "t1"), "two", "the memory is kept while the turn is running");
    kit_end(j, "t1", NULL, "c");
    kit_prune(j);
    is_str(get_memory(j, "tg", "t1"), "two", "the memory is kept until the outcome is delivered");
    kit_expand(j, "t1", "answer");
    kit_prune(j);
    is_str(get_memory(j, "tg", "t1"), "-",
           "the memory is deleted with the outcome, although rows of another turn are left");
    is_str(get_memory(j, "tg", ""), "lobby", "the memory without a turn is kept");
    journal_close(j);
}

int main(void)
{
    plan_lazy();
    const int log = open("/dev/null", O_WRONLY | O_CLOEXEC);
    log_setup(LOG_TEXT, LOG_WARN, log);
    test_approvals();
    test_questions();
    test_kv();
    test_memory();
    clock_fake_end();
    close(log);
    return 0;
}
