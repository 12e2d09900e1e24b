/* SPDX-License-Identifier: MIT
 * Tests of the usage of turns: the journal adds it to the sums of the day, once, together with the
 * outcome. */
#include <stdio.h>
#include <string.h>

#include "base/sys/clock.h"
#include "io/journal_kit.h"
#include "tap/tap.h"

static void on_spent(void *ctx, const struct journal_spent_row *row)
{
    char *const text = ctx;
    const size_t len = strlen(text);
    snprintf(text + len, 600 - len, "%s/%s:%lld,%lld,%lld;", row->scope, row->name,
             (long long)row->spent.turns, (long long)row->spent.input,
             (long long)row->spent.micros);
}

static const char *spent_of(struct journal *j, int64_t day)
{
    static char text[600];
    *text = 0;
    is_int(journal_list_spent(j, day, day, on_spent, text), JOURNAL_DONE, "the sums are read");
    return text;
}

static enum journal_status end_spending(struct journal *j, const char *turn, int64_t micros)
{
    const struct journal_spent spent = {.day = 20261127,
                                        .turns = 1,
                                        .counted = 1,
                                        .input = 10,
                                        .output = 2,
                                        .priced = 1,
                                        .micros = micros};
    return journal_end_turn(j, &(struct journal_outcome){.turn = turn, .spent = &spent}, 0);
}

static void test_spent(void)
{
    struct journal *j = kit_fresh();
    const struct journal_turn turn = {.id = "t1",
                                      .agent = "claude",
                                      .conv = "tg:7",
                                      .source = "tg",
                                      .person = "tg/5",
                                      .owner = "ci"};
    is_int(journal_admit_turn(j, &turn, NULL), JOURNAL_DONE,
           "a turn of a person and an API key is admitted");
    is_int(end_spending(j, "t1", 500), JOURNAL_DONE, "the turn ends with its usage");
    is_str(spent_of(j, 20261127),
           "agent/claude:1,10,500;conversation/tg:7:1,10,500;host/:1,10,500;key/ci:1,10,500;"
           "person/tg/5:1,10,500;",
           "the usage is added to each sum that concerns the turn");
    is_int(end_spending(j, "t1", 500), JOURNAL_NO_CHANGE, "the usage of a turn is added once");
    is_int(kit_admit(j, "t2", NULL), JOURNAL_DONE, "a turn without a person and a key is admitted");
    is_int(end_spending(j, "t2", 700), JOURNAL_DONE, "the turn without a person ends");
    const struct journal_spent late = {.day = 20261127, .priced = 1, .micros = 11};
    is_int(journal_add_spent(j, "t1", &late), JOURNAL_DONE,
           "usage that is reported later is added");
    is_int(journal_add_spent(j, "none", &late), JOURNAL_NO_CHANGE,
           "usage of an unknown turn is not added");
    journal_close(j);
    j = kit_reopen(NULL);
    has_str(spent_of(j, 20261127), "host/:2,20,1211;key/ci:1,10,511;person/tg/5:1,10,511;",
            "the sums are kept over a restart");
    is_str(spent_of(j, 20261128), "", "the next day has its own sums");
    journal_close(j);
}

int main(void)
{
    plan_lazy();
    test_spent();
    clock_fake_end();
    return 0;
}
