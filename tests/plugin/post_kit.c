/* SPDX-License-Identifier: MIT
 * Owns the plugin of these tests: its replies, and the batches that it answers with. */
#include "plugin/post_kit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "io/store/sql.h"
#include "tap/tap.h"

#define ROUNDS 20000

static struct kit *kit_of(struct channel *c)
{
    return (struct kit *)(void *)((char *)c - offsetof(struct kit, channel));
}

static void record(struct kit *k, const struct outbound_reply *r)
{
    static const char *const outcomes[] = {
        [TC_OK] = "ok",
        [TC_REJECTED] = "rejected",
        [TC_NOT_SENT] = "not-sent",
        [TC_AMBIGUOUS] = "ambiguous",
        [TC_DROPPED] = "dropped",
        [TC_YOUR_TURN] = "your-turn",
    };
    buf_printf(&k->told, "%s %s %d %u%s%s\n", r->reply.tag, outcomes[r->reply.outcome],
               r->reply.status, r->reply.attempts, r->reply.in_doubt ? " doubt" : "",
               r->last ? " last" : "");
    snprintf(k->error, sizeof k->error, "%s", r->reply.error);
    k->replies++;
}

/* A reply in the queue of the instance. */
struct delivery {
    struct kit *kit;
    struct outbox *outbox; /* the sender of the reply */
    struct outbound_reply *reply;
};

static void answer(void *arg)
{
    struct delivery *const d = arg;
    struct kit *const k = d->kit;
    struct callback_batch *const b = xcalloc(1, sizeof *b);
    *b = (struct callback_batch){.settles = BATCH_REQUEST,
                                 .turn = xstrdup(d->reply->about->turn),
                                 .request = d->reply->request};
    struct kit_call call = {.reply = d->reply, .verdict = d->reply->verdict, .batch = b};
    record(k, d->reply);
    if (k->on_reply)
        k->on_reply(&call);
    b->verdict = call.verdict;
    b->verdict.reason = xstrdup(call.verdict.reason);
    outbound_reply_free(d->reply);
    if (call.is_held)
        k->held = b;
    else if (d->outbox == k->outbox)
        outbox_commit_batch(k->outbox, b);
    else
        callback_batch_free(b);
    free(d);
}

static void on_reply(struct channel *c, void *turn, struct outbound_reply *r)
{
    struct kit *const k = kit_of(c);
    k->handle = turn;
    struct delivery *const d = xmalloc(sizeof *d);
    *d = (struct delivery){k, k->outbox, r};
    loop_post(k->loop, answer, d);
}

static const struct channel_ops ops = {.reply = on_reply};

static const char *option(void *ctx, const char *name)
{
    const struct kit *const k = ctx;
    if (strcmp(name, "base") == 0)
        return k->base;
    if (strcmp(name, "slashed") == 0) {
        static char slashed[sizeof k->base + 2];
        snprintf(slashed, sizeof slashed, "%s//", k->base);
        return slashed;
    }
    if (strcmp(name, "broken") == 0)
        return "a\r\nb";
    if (strcmp(name, "unset") == 0)
        return "";
    return strcmp(name, "token") == 0 ? CANARY : NULL;
}

static void *open_turn(void *ctx, const struct channel_turn *turn)
{
    struct kit *const k = ctx;
    buf_printf(&k->opened, "%s agent=%s conversation=%s route=%s letters=%zu over=%d memory=%s\n",
               turn->id, turn->agent, turn->conversation ? turn->conversation : "-",
               turn->route ? turn->route : "-", turn->requests, turn->over,
               turn->memory ? turn->memory : "-");
    return k->refuses_turns ? NULL : k;
}

static void start_outbox(struct kit *k)
{
    k->outbox = outbox_new(&(struct outbox_spec){.instance = "kit",
                                                 .loop = k->loop,
                                                 .http = k->http,
                                                 .journal = k->journal,
                                                 .rates = k->rates,
                                                 .files = k->files,
                                                 .option = option,
                                                 .open = open_turn,
                                                 .ctx = k});
    outbox_start(k->outbox, &k->channel);
    outbox_open_turn(k->outbox, "t", k);
}

static void start(struct kit *k)
{
    struct tc_err err = {0};
    if (k->dir) {
        k->journal = journal_async_open(k->loop, k->dir, NULL, NULL, &err);
        if (!k->journal)
            bail("%s", err_format(&err));
    }
    start_outbox(k);
}

void kit_restart(struct kit *k)
{
    outbox_free(k->outbox);
    k->outbox = NULL;
    loop_run_once(k->loop, 0); /* replies on their way to the plugin are dropped */
    journal_async_take_over(k->journal, "kit", NULL, NULL);
    start_outbox(k);
}

void kit_begin(struct kit *k, const struct httpd_step *steps, size_t count)
{
    if (!k->loop) {
        k->loop = loop_new();
        k->http = httpc_new(k->loop, NULL);
        k->channel.ops = &ops;
    }
    k->server = httpd_start(steps, count);
    snprintf(k->base, sizeof k->base, "http://127.0.0.1:%d", httpd_port(k->server));
    start(k);
}

static void stop(struct kit *k)
{
    struct outbox *const p = k->outbox;
    k->outbox = NULL;
    outbox_free(p);
    journal_async_close(k->journal);
    k->journal = NULL;
    callback_batch_free(k->held);
    k->held = NULL;
    loop_run_once(k->loop, 0); /* replies on their way to the plugin are dropped */
    is_str(httpd_faults(k->server), "", "the requests are valid");
    httpd_stop(k->server);
    k->server = NULL;
}

void kit_die(struct kit *k)
{
    stop(k);
    buf_reset(&k->told);
    buf_add(&k->told, "", 0);
    buf_reset(&k->opened);
    k->replies = 0;
}

void kit_end(struct kit *k)
{
    stop(k);
    httpc_free(k->http);
    loop_free(k->loop);
    buf_fini(&k->told);
    buf_fini(&k->opened);
    *k = (struct kit){0};
}

static uint64_t draw_id(void)
{
    static uint64_t last = 1;
    return last += 2;
}

void kit_add(struct callback_batch *b, const char *turn, const struct tc_http *http)
{
    const char *why = NULL;
    struct outbound_request *const l = outbound_request_new(draw_id(), turn, http, &why);
    if (!l)
        bail("%s", why);
    b->requests = xrealloc(b->requests, (b->count + 1) * sizeof(struct outbound_request *));
    b->requests[b->count++] = l;
}

void kit_batch(struct kit *k, struct callback_batch *b)
{
    outbox_commit_batch(k->outbox, b);
}

void kit_send_of(struct kit *k, const char *turn, enum batch_settlement settles,
                 const struct tc_http *const *http, size_t count)
{
    struct callback_batch *const b = xcalloc(1, sizeof *b);
    *b = (struct callback_batch){.settles = settles, .turn = xstrdup(turn)};
    for (size_t i = 0; i < count; i++)
        kit_add(b, turn, http[i]);
    outbox_commit_batch(k->outbox, b);
}

void kit_send(struct kit *k, enum batch_settlement settles, const struct tc_http *const *http,
              size_t count)
{
    kit_send_of(k, "t", settles, http, count);
}

void kit_reply_send(struct kit_call *call, const struct tc_http *http)
{
    kit_add(call->batch, call->batch->turn, http);
}

void kit_release(struct kit *k)
{
    struct callback_batch *const b = k->held;
    k->held = NULL;
    outbox_commit_batch(k->outbox, b);
}

void kit_run_replies(struct kit *k, unsigned replies)
{
    for (int i = 0; k->replies < replies; i++) {
        if (i == ROUNDS)
            bail("%u of %u replies arrived: %s", k->replies, replies, k->told.len ? k->told.p : "");
        loop_run_once(k->loop, 20);
    }
}

void kit_run_requests(struct kit *k, unsigned requests)
{
    for (int i = 0; httpd_requests(k->server) < requests; i++) {
        if (i == ROUNDS)
            bail("%u of %u requests arrived", httpd_requests(k->server), requests);
        loop_run_once(k->loop, 10);
    }
}

void kit_run_idle(struct kit *k)
{
    for (int i = 0; outbox_count_pending(k->outbox); i++) {
        if (i == ROUNDS)
            bail("still busy: %s", k->told.len ? k->told.p : "");
        loop_run_once(k->loop, 20);
    }
}

bool kit_disk_has(const struct kit *k, const char *bytes)
{
    bool found = false;
    DIR *const d = opendir(k->dir);
    for (const struct dirent *e; d && (e = readdir(d));) {
        char path[1024];
        size_t len = 0;
        snprintf(path, sizeof path, "%s/%s", k->dir, e->d_name);
        if (*e->d_name == '.')
            continue;
        char *const all = tap_slurp(path, &len);
        found |= memmem(all, len, bytes, strlen(bytes)) != NULL;
        free(all);
    }
    if (d)
        closedir(d);
    return found;
}

static void list(struct sql *db, const char *select, struct buf *out)
{
    struct sql_rows rows = sql_select(db, select);
    while (sql_next(&rows)) {
        const struct str line = sql_column_text(&rows, 0);
        buf_add(out, line.p, line.len);
        buf_add_char(out, '\n');
    }
    if (sql_finish(&rows) < 0)
        bail("%s", sql_error_text(db));
}

void kit_list(const struct kit *k, struct buf *out)
{
    char path[1024];
    enum sql_failure failure;
    struct tc_err err;
    snprintf(path, sizeof path, "%s/state.db", k->dir);
    struct sql *const db = sql_open(path, &failure, &err);
    if (!db)
        bail("%s", err_format(&err));
    buf_reset(out);
    list(db,
         "select kind||' '||turn||' '||lane||' '||state||' '||attempts||' '||in_doubt"
         " from outbox order by pos, sub",
         out);
    list(db, "select 'dead '||kind||' '||turn||' '||reason from dead order by id", out);
    buf_add(out, "", 0);
    sql_close(db);
}
