/* SPDX-License-Identifier: MIT
 * Reads the home of the conversation, and sends the request there. */
#include "core/work/work_background.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "core/work/work_internal.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

struct work_background {
    struct work *work;
    char *conversation;
    void (*done)(void *ctx, bool ended);
    void *ctx;
};

static void work_background_finish(struct work_background *b, bool ended)
{
    void (*const done)(void *ctx, bool ended) = b->done;
    void *const ctx = b->ctx;
    free(b->conversation);
    free(b);
    done(ctx, ended);
}

static void work_background_on_answer(void *ctx, enum nats_client_result result, struct str body)
{
    work_background_finish(ctx, result == NATS_CLIENT_REPLIED &&
                                    str_is(json_reader_pointer(body, "/ended"), "true"));
}

static void work_background_ask(struct work_background *b, const char *host)
{
    CLEANUP_BUF struct buf body = {0};
    buf_add_char(&body, '{');
    jsonw_member_str(&body, "conversation", b->conversation);
    buf_add_char(&body, '}');
    bus_ask(b->work->bus, host, WORK_BACKGROUND_VERB, (struct str){body.p, body.len},
            work_background_on_answer, b);
}

static void work_background_on_home(void *ctx, enum nats_client_result result,
                                    const struct nats_client_message *m)
{
    struct work_background *const b = ctx;
    const struct work *const w = b->work;
    struct bus_kv_entry entry;
    struct bus_origin home;
    bus_kv_read_entry(w->link, BUS_HOMES, result, m, &entry);
    if (w->bus && entry.result == BUS_KV_DONE && bus_origin_read(entry.value, &home) == 0 &&
        strcmp(home.host, w->link->names.host) != 0)
        work_background_ask(b, home.host);
    else
        work_background_finish(b, false);
}

void work_background_end(struct work *w, const char *sessions, const char *conversation,
                         void (*done)(void *ctx, bool ended), void *ctx)
{
    CLEANUP_BUF struct buf key = {0};
    if (!w->bus || !w->link->is_active) {
        done(ctx, false);
        return;
    }
    struct work_background *const b = xcalloc(1, sizeof *b);
    *b = (struct work_background){
        .work = w, .conversation = xstrdup(conversation), .done = done, .ctx = ctx};
    work_home_key(&key, sessions, conversation);
    bus_kv_get(w->link, BUS_HOMES, key.p, work_background_on_home, b);
}
