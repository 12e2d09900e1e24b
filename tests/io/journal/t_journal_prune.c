/* SPDX-License-Identifier: MIT
 * Tests of pruning: expired entries are deleted in small steps, the size of the journal is limited,
 * and messages that were merged into a turn are kept with it. */
#include <stdio.h>
#include <string.h>

#include "base/sys/clock.h"
#include "io/journal_kit.h"
#include "tap/tap.h"

#define TURNS 1200
#define DAY (24 * HOUR)

static bool has_key(struct journal *j, const char *key)
{
    struct buf value = {0};
    const bool is = journal_kv_get(j, key, &value) == JOURNAL_DONE;
    buf_fini(&value);
    return is;
}

static void store_key(struct journal *j, const char *key)
{
    is_int(journal_kv_put(j, key, STR("x")), JOURNAL_DONE, "%s is stored", key);
}

static void count_row(void *ctx, const struct journal_spent_row *row)
{
    (void)row;
    ++*(int *)ctx;
}

static int count_sums(struct journal *j)
{
    int n = 0;
    if (journal_list_spent(j, 0, INT64_MAX, count_row, &n) != JOURNAL_DONE)
        bail("cannot read the sums");
    return n;
}

static void end_many(struct journal *j)
{
    for (int i = 0; i < TURNS; i++) {
        char id[20], conv[24];
        snprintf(id, sizeof id, "t%d", i);
        snprintf(conv, sizeof conv, "c%d", i);
        const struct journal_spent spent = {.day = 20261127, .turns = 1};
        if (journal_admit_turn(
                j,
                &(struct journal_turn){
                    .id = id, .agent = "a", .conv = conv, .source = "s", .msg_id = id},
                NULL) != JOURNAL_DONE ||
            journal_end_turn(j, &(struct journal_outcome){.turn = id, .spent = &spent}, 0) !=
                JOURNAL_DONE)
            bail("cannot create turns");
    }
}

static void ignore_turn(void *ctx, const struct journal_turn *t)
{
    (void)ctx;
    (void)t;
}

static int count_turns(struct journal *j)
{
    int n = 0;
    for (int i = 0; i < TURNS; i++) {
        char id[20];
        snprintf(id, sizeof id, "t%d", i);
        n += journal_find_turn(j, id, ignore_turn, NULL) == JOURNAL_DONE;
    }
    return n;
}

static void test_steps(void)
{
    clock_fake(0, 1795780800); /* 2026-11-27 12:00 UTC */
    struct journal *const j = kit_fresh();
    end_many(j);
    kit_prune(j);
    is_int(count_turns(j), TURNS, "turns that have just ended are kept");
    is_int(count_sums(j), TURNS + 2, "the sums of the turns are kept");
    clock_fake_advance(3 * DAY);
    is_int(journal_prune(j), JOURNAL_DONE, "the journal is pruned three days later");
    ok(count_turns(j) >= TURNS - 500 && count_turns(j) < TURNS, "a step deletes some turns");
    ok(journal_has_more_to_prune(j), "a step reports that more turns can be deleted");
    kit_prune(j);
    is_int(count_turns(j), 0, "further steps delete all turns");
    ok(!journal_has_more_to_prune(j), "nothing more can be deleted");
    is_int(count_sums(j), TURNS + 2, "sums are kept for longer");
    clock_fake_advance(61 * DAY);
    kit_prune(j);
    is_int(count_sums(j), 0, "old sums are deleted");
    journal_close(j);
}

static void test_conversations(void)
{
    static const char *const old[] = {"session:a:tg:1", "sessions:a:tg:1", "spent:a:tg:1",
                                      "prompt:tg:1",    "usage:tg:1",      "here:tg:1",
                                      "away:a.tg=1"};
    struct journal *const j = kit_fresh();
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        store_key(j, old[i]);
    store_key(j, "session:a:tg:2");
    store_key(j, "paired:tg:5");
    clock_fake_advance(100 * DAY);
    store_key(j, "session:a:tg:2");
    kit_prune(j);
    ok(has_key(j, old[0]), "a conversation of 100 days ago is kept");
    clock_fake_advance(81 * DAY);
    kit_prune(j);
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        ok(!has_key(j, old[i]), "%s is deleted after half a year", old[i]);
    ok(has_key(j, "session:a:tg:2"), "a conversation with a later message is kept");
    ok(has_key(j, "paired:tg:5"), "a key of no conversation is kept");
    struct journal_limits limits = journal_default_limits;
    limits.conversation_age = 0;
    journal_set_limits(j, &limits);
    clock_fake_advance(1000 * DAY);
    kit_prune(j);
    ok(has_key(j, "session:a:tg:2"), "the limit 0 keeps conversations for ever");
    journal_close(j);
}

static void list_prompt(void *ctx, const struct journal_turn *t)
{
    buf_printf(ctx, "%s|", t->prompt ? t->prompt : "-");
}

static void test_merged_prompt(void)
{
    struct journal *const j = kit_fresh();
    struct buf seen = {0};
    const char *const prompts[] = {"one", "two", NULL, "four"}, *const ids[] = {"t1", "t2", "t3",
                                                                                "t4"};
    for (size_t i = 0; i < 4; i++)
        is_int(journal_admit_turn(j,
                                  &(struct journal_turn){.id = ids[i],
                                                         .agent = "a",
                                                         .conv = "c",
                                                         .source = "tg",
                                                         .waiting = true,
                                                         .prompt = prompts[i]},
                                  NULL),
               JOURNAL_DONE, "a waiting turn is admitted");
    is_int(journal_begin_turn(j, "t1", NULL, ids + 1, 2), JOURNAL_DONE,
           "two turns are merged into another one");
    is_int(journal_begin_turn(j, "t4", NULL, ids + 1, 1), JOURNAL_DONE,
           "a merged turn is not merged again");
    is_int(journal_list_open_turns(j, list_prompt, &seen), JOURNAL_DONE,
           "the open turns are listed");
    is_str(seen.p, "one\n\ntwo|four|", "a turn has the texts of all its messages");
    buf_fini(&seen);
    journal_close(j);
}

int main(void)
{
    plan_lazy();
    test_steps();
    test_conversations();
    test_merged_prompt();
    clock_fake_end();
    return 0;
}
