/* SPDX-License-Identifier: MIT
 * State that instances keep for guest turns. The leader sends it to the host of the turn. That host
 * stores it in its journal with the turn, and returns it to the next leader. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "core/host/guest_internal.h"
#include "core/work/work_share.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

/* ---- sending ---- */

static void guest_memory_free(struct guest_memory *m)
{
    LIST_REMOVE(m, next);
    free(m->instance);
    free(m->turn);
    free(m->text);
    free(m);
}

static void guest_memory_send(struct guest_memory *m);

static void guest_memory_on_answer(void *ctx, enum nats_client_result result, struct str body)
{
    struct guest_memory *const m = ctx;
    const bool is_answered = result == NATS_CLIENT_REPLIED && body.len;
    m->awaits_reply = false;
    if (is_answered && !m->is_changed)
        guest_memory_free(m);
    else if (is_answered)
        guest_memory_send(m);
}

/* The newest text. */
static void guest_memory_send(struct guest_memory *m)
{
    const struct turnlog_turn *const t = turnlog_find_turn(m->all->spec.turnlog, m->turn);
    CLEANUP_BUF struct buf body = {0};
    if (!t || !t->spec.host) {
        guest_memory_free(m);
        return;
    }
    buf_add_char(&body, '{');
    jsonw_member_str(&body, "turn", m->turn);
    jsonw_member_str(&body, "instance", m->instance);
    jsonw_member_str(&body, "text", m->text);
    buf_add_char(&body, '}');
    m->is_changed = false;
    m->awaits_reply = true;
    bus_ask(m->all->spec.bus, t->spec.host, GUEST_REMEMBER, (struct str){body.p, body.len},
            guest_memory_on_answer, m);
}

static struct guest_memory *guest_memory_find(struct guest_turns *g, const char *instance,
                                              const char *turn)
{
    struct guest_memory *m;
    LIST_FOREACH (m, &g->memories, next)
        if (strcmp(m->turn, turn) == 0 && strcmp(m->instance, instance) == 0)
            return m;
    m = xcalloc(1, sizeof *m);
    *m = (struct guest_memory){.all = g, .instance = xstrdup(instance), .turn = xstrdup(turn)};
    LIST_INSERT_HEAD(&g->memories, m, next);
    return m;
}

void guest_memory_put(struct guest_turns *g, const char *instance, const char *turn,
                      const char *text)
{
    struct guest_memory *const m = guest_memory_find(g, instance, turn);
    free(m->text);
    m->text = xstrdup(text);
    m->is_changed = true;
    if (!m->awaits_reply)
        guest_memory_send(m);
}

/* The state of a turn that has ended is not sent: it is delivered with the outcome. */
void guest_memory_retry(struct guest_turns *g)
{
    struct guest_memory *m, *next;
    for (m = LIST_FIRST(&g->memories); m; m = next) {
        next = LIST_NEXT(m, next);
        const struct turnlog_turn *const t = turnlog_find_turn(g->spec.turnlog, m->turn);
        if (m->awaits_reply ||
            (t && t->spec.host && work_hosts_absent_ms(g->spec.hosts, t->spec.host) > 0))
            continue;
        if (t && turnlog_turn_is_finished(t))
            guest_memory_free(m);
        else
            guest_memory_send(m);
    }
}

void guest_memory_fini(struct guest_turns *g)
{
    while (!LIST_EMPTY(&g->memories))
        guest_memory_free(LIST_FIRST(&g->memories));
}

/* ---- serving ---- */

struct guest_query {
    struct guest_turns *all;
    struct bus_call *call;
    struct arena arena;
    const char *turn, *instance;
};

static const char *guest_memory_read(struct arena *a, struct str body, const char *pointer)
{
    const struct str raw = bus_message_text(body, pointer);
    return raw.len ? json_reader_unescape(a, raw, NULL) : NULL;
}

static void guest_memory_send_reply(const struct guest_query *q, const struct journal_turn *turn)
{
    CLEANUP_BUF struct buf out = {0}, memory = {0};
    const bool is_own = strcmp(turn->source ? turn->source : "", q->instance) == 0;
    buf_add_char(&out, '{');
    jsonw_member_bool(&out, "runs", true);
    if (is_own)
        jsonw_member_str(&out, "route", turn->route);
    if (journal_async_get(q->all->spec.journal, q->instance, q->turn, &memory) == JOURNAL_DONE)
        jsonw_member_str(&out, "memory", memory.p);
    buf_add_char(&out, '}');
    bus_call_answer(q->call, (struct str){out.p, out.len});
}

static void guest_memory_on_turn(void *ctx, enum journal_status status,
                                 const struct journal_turn *turn)
{
    struct guest_query *const q = ctx;
    if (status == JOURNAL_DONE && strcmp(turn->state, "running") == 0 && !q->all->is_stopped)
        guest_memory_send_reply(q, turn);
    else
        bus_call_answer(q->call, STR("{\"runs\":false}"));
    arena_fini(&q->arena);
    free(q);
}

static void guest_memory_serve_about(void *ctx, struct bus_call *call, struct str body)
{
    struct guest_turns *const g = ctx;
    struct guest_query *const q = xcalloc(1, sizeof *q);
    *q = (struct guest_query){.all = g, .call = call};
    q->turn = guest_memory_read(&q->arena, body, "/turn");
    q->instance = guest_memory_read(&q->arena, body, "/instance");
    if (q->turn && q->instance && !g->is_stopped)
        journal_async_look_up(g->spec.journal, q->turn, guest_memory_on_turn, q);
    else
        guest_memory_on_turn(q, JOURNAL_FAILED, NULL);
}

/* Ignores the state if this host leads the instance: the sender has lost the lead. */
static void guest_memory_serve_remember(void *ctx, struct bus_call *call, struct str body)
{
    struct guest_turns *const g = ctx;
    struct arena a = {0};
    const char *const turn = guest_memory_read(&a, body, "/turn");
    const char *const instance = guest_memory_read(&a, body, "/instance");
    const char *const text = guest_memory_read(&a, body, "/text");
    const struct turnlog_turn *const t = turn ? turnlog_find_turn(g->spec.turnlog, turn) : NULL;
    if (instance && t && !t->spec.host && !g->is_stopped &&
        !instance_leaders_leads(g->spec.leaders, instance)) {
        journal_async_memory_put(g->spec.journal, instance, turn, text, NULL, NULL);
        work_share_remember(g->spec.work, instance, turn, text);
    }
    bus_call_answer(call, STR("{\"ok\":true}"));
    arena_fini(&a);
}

void guest_memory_serve(struct guest_turns *g)
{
    bus_serve(g->spec.bus, GUEST_ABOUT, guest_memory_serve_about, g);
    bus_serve(g->spec.bus, GUEST_REMEMBER, guest_memory_serve_remember, g);
}
