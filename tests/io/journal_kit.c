/* SPDX-License-Identifier: MIT
 * Owns the journal under test. */
#include "io/journal_kit.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "tap/tap.h"

char kit_dir[600];

struct journal *kit_reopen(const struct journal_limits *limits)
{
    struct tc_err err = {0};
    struct journal *const j =
        journal_open(&(struct journal_spec){.dir = kit_dir, .limits = limits}, &err);
    if (!j)
        bail("%s", err_format(&err));
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

static struct journal_turn plain_turn(const char *id)
{
    return (struct journal_turn){.id = id, .agent = "a", .conv = "c", .source = "telegram"};
}

enum journal_status kit_admit(struct journal *j, const char *id, const char *msg)
{
    struct journal_turn t = plain_turn(id);
    t.msg_id = msg;
    return journal_admit_turn(j, &t, NULL);
}

enum journal_status kit_wait(struct journal *j, const char *id)
{
    struct journal_turn t = plain_turn(id);
    t.waiting = true;
    t.prompt = "hello";
    return journal_admit_turn(j, &t, NULL);
}

static int64_t next_seq(struct journal *j)
{
    return journal_last_seq(j) + 1;
}

enum journal_status kit_end(struct journal *j, const char *turn, const char *error,
                            const char *lane)
{
    const struct journal_target to[] = {{"tg", lane, {turn, strlen(turn)}},
                                        {"slack", lane, {turn, strlen(turn)}}};
    return journal_end_turn(
        j, &(struct journal_outcome){.turn = turn, .error = error, .targets = to, .n = 2},
        next_seq(j));
}

void kit_ended(struct journal *j, const char *turn, const char *lane)
{
    if (kit_admit(j, turn, turn) != JOURNAL_DONE || kit_end(j, turn, NULL, lane) != JOURNAL_DONE)
        bail("no turn %s", turn);
}

/* The requests made from the words of a text. */
struct words {
    char *text;
    struct journal_request requests[8];
    size_t n;
};

static struct words split(const char *bodies)
{
    struct words w = {.text = xstrdup(bodies)};
    for (char *rest = w.text, *word; (word = strsep(&rest, " "));)
        if (*word)
            w.requests[w.n++] = (struct journal_request){
                .turn = "t", .lane = "c", .priority = 1, .body = {word, strlen(word)}};
    return w;
}

enum journal_status kit_add(struct journal *j, const char *bodies)
{
    struct words w = split(bodies);
    const enum journal_status status = journal_add_requests(j, "tg", w.requests, w.n, next_seq(j));
    free(w.text);
    return status;
}

enum journal_status kit_expand(struct journal *j, const char *turn, const char *bodies)
{
    struct words w = split(bodies);
    const struct journal_settlement s = {.verdict = JOURNAL_SENT, .requests = w.requests, .n = w.n};
    const enum journal_status status = journal_settle_outcome(j, "tg", turn, &s, next_seq(j));
    free(w.text);
    return status;
}

struct search {
    const char *body;
    int64_t seq;
};

static void compare(void *ctx, const struct journal_row *row)
{
    struct search *const s = ctx;
    if (str_is(row->body, s->body))
        s->seq = row->seq;
}

int64_t kit_seq(struct journal *j, const char *body)
{
    struct search s = {.body = body};
    if (journal_list_rows(j, "tg", compare, &s) != JOURNAL_DONE)
        bail("no rows");
    return s.seq;
}

enum journal_status kit_start(struct journal *j, const char *body)
{
    return journal_start_attempt(j, kit_seq(j, body));
}

enum journal_status kit_settle(struct journal *j, const char *body, enum journal_result v,
                               const char *bodies)
{
    struct words w = split(bodies);
    const struct journal_settlement s = {
        .verdict = v, .reason = "400", .requests = w.requests, .n = w.n};
    const enum journal_status status = journal_settle_row(j, kit_seq(j, body), &s, next_seq(j));
    free(w.text);
    return status;
}

static void add_row(void *ctx, const struct journal_row *row)
{
    struct buf *const out = ctx;
    buf_printf(out, "%s%.*s", out->len ? " " : "", (int)row->body.len, row->body.p);
    if (row->attempts)
        buf_printf(out, "%d", (int)row->attempts);
    if (row->in_doubt)
        buf_add_char(out, '?');
}

const char *kit_rows_of(struct journal *j, const char *conn)
{
    static struct buf list;
    buf_reset(&list);
    if (journal_list_rows(j, conn, add_row, &list) != JOURNAL_DONE)
        return "failed";
    return list.len ? list.p : "";
}

const char *kit_rows(struct journal *j)
{
    return kit_rows_of(j, "tg");
}

struct journal_stats kit_stats(struct journal *j)
{
    struct journal_stats s;
    if (journal_read_stats(j, &s) != JOURNAL_DONE)
        bail("no numbers");
    return s;
}

void kit_on_dead(void *ctx, const struct journal_dead *d)
{
    buf_printf(ctx, "%d %s/%s %s %s %s %d [%.*s]\n", (int)d->id, d->conn, d->lane, d->turn, d->kind,
               d->reason, (int)d->attempts, (int)d->body.len, d->body.p ? d->body.p : "");
}

const char *kit_dead_of(struct journal *j, const char *conn)
{
    static struct buf list;
    buf_reset(&list);
    if (journal_dead_list(j, conn, kit_on_dead, &list) != JOURNAL_DONE)
        return "failed";
    return list.len ? list.p : "";
}

void kit_prune(struct journal *j)
{
    do {
        if (journal_prune(j) != JOURNAL_DONE)
            bail("cannot prune");
    } while (journal_has_more_to_prune(j));
}
