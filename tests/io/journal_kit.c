/* SPDX-License-Identifier: MIT
 * Owns the journal under test and the row claimed last. */
#include "io/journal_kit.h"

#include <stdio.h>

#include "base/clock.h"
#include "tap/tap.h"

char kit_dir[600];

struct journal *kit_reopen(const struct journal_limits *limits)
{
    struct tc_err err = {0};
    struct journal *const j =
        journal_open(&(struct journal_spec){.dir = kit_dir, .limits = limits}, &err);
    if (!j)
        bail("%s", err_str(&err));
    return j;
}

struct journal *kit_fresh_with(const struct journal_limits *limits)
{
    static int n;
    snprintf(kit_dir, sizeof kit_dir, "%s/j%d", tap_tmpdir(), n++);
    clock_fake(1000, 1800000000);
    return kit_reopen(limits);
}

struct journal *kit_fresh(void)
{
    return kit_fresh_with(NULL);
}

enum journal_status kit_admit(struct journal *j, const char *id, const char *msg)
{
    return journal_admit(
        j,
        &(struct journal_turn){
            .id = id, .agent = "a", .conv = "c", .source = "telegram", .msg_id = msg},
        NULL);
}

struct journal_target kit_target(const char *conn, const char *conv, const char *body)
{
    return (struct journal_target){conn, conv, {body, strlen(body)}};
}

enum journal_status kit_end(struct journal *j, const char *turn, const char *error,
                            const char *conv)
{
    const struct journal_target to[] = {kit_target("tg", conv, "answer"),
                                        kit_target("slack", conv, "answer")};
    return journal_end_turn(j, &(struct journal_outcome){turn, error, to, 2});
}

void kit_ended(struct journal *j, const char *turn, const char *conv)
{
    if (kit_admit(j, turn, turn) != JOURNAL_DONE || kit_end(j, turn, NULL, conv) != JOURNAL_DONE)
        bail("no turn %s", turn);
}

enum journal_status kit_live(struct journal *j, const char *turn, const char *body)
{
    const struct journal_target t = kit_target("tg", "c1", body);
    return journal_put(j, JOURNAL_LIVE, turn, &t);
}

struct journal_row kit_row;

const char *kit_claim_of(struct journal *j, const char *conn, const char *conv)
{
    static const char *const names[] = {"final", "error", "notice", "live"};
    static char text[400];
    struct journal_row next;
    if (journal_claim(j, conn, conv, &next) != JOURNAL_DONE)
        return "-";
    journal_row_fini(&kit_row);
    kit_row = next;
    snprintf(text, sizeof text, "%s %s %d %d%s%s%s%s%s", kit_row.turn, names[kit_row.slot],
             (int)kit_row.gen, (int)kit_row.attempts, kit_row.in_doubt ? " doubt" : "",
             kit_row.remote_id ? " id=" : "", kit_row.remote_id ? kit_row.remote_id : "",
             kit_row.live_id ? " live=" : "", kit_row.live_id ? kit_row.live_id : "");
    return text;
}

const char *kit_claim(struct journal *j)
{
    return kit_claim_of(j, "tg", NULL);
}

enum journal_status kit_sent(struct journal *j, const char *remote_id)
{
    return journal_record(
        j, &kit_row, &(struct journal_answer){.verdict = JOURNAL_SENT, .remote_id = remote_id});
}

enum journal_status kit_later(struct journal *j, int64_t delay_ms, enum journal_hold hold)
{
    return journal_record(
        j, &kit_row,
        &(struct journal_answer){.verdict = JOURNAL_RETRY, .delay_ms = delay_ms, .hold = hold});
}

enum journal_status kit_verdict(struct journal *j, enum journal_verdict v)
{
    return journal_record(j, &kit_row, &(struct journal_answer){.verdict = v, .reason = "400"});
}

struct journal_stats kit_stats(struct journal *j)
{
    struct journal_stats s;
    if (journal_stats(j, &s) != JOURNAL_DONE)
        bail("no numbers");
    return s;
}

void kit_on_dead(void *ctx, const struct journal_dead *d)
{
    buf_printf(ctx, "%d %s/%s %s %s %s %d [%.*s]\n", (int)d->id, d->conn, d->conv, d->turn, d->slot,
               d->reason, (int)d->attempts, (int)d->body.len, d->body.p ? d->body.p : "");
}

const char *kit_dead_of(struct journal *j, const char *conn)
{
    static struct buf list;
    buf_reset(&list);
    buf_add_str(&list, "");
    if (journal_dead_list(j, conn, kit_on_dead, &list) != JOURNAL_DONE)
        return "failed";
    return list.len ? list.p : "";
}

void kit_prune(struct journal *j)
{
    if (journal_prune(j) != JOURNAL_DONE)
        bail("cannot prune");
}
