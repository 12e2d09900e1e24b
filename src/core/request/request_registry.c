/* SPDX-License-Identifier: MIT
 * Owns the open requests and their deadlines. */
#include "core/request/request_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "core/request/approvals.h"
#include "text/sentence/texts.h"
#include "event/json/json_writer.h"
#include "io/journal/journal_async.h"
#include "turn/agent_input.h"
#include "turn/request_preview.h"

static const char *request_registry_copy(struct request *q, const char *text)
{
    return arena_strdup(&q->arena, text);
}

static void stop_clock(struct request *q)
{
    if (q->timer)
        loop_timer_free(q->timer);
    q->timer = NULL;
}

static void request_free(struct request *q)
{
    stop_clock(q);
    arena_fini(&q->arena);
    free(q);
}

/* ---- resolution ---- */

/* Logs the request as shown to people, and their answer. */
static void request_registry_store_question(const struct request *q)
{
    struct journal_async *const journal = q->turn->registry->spec.journal;
    const char *const subject = q->shown.subject;
    const char *const about = subject ? subject : q->argument ? q->argument : "";
    CLEANUP_BUF struct buf shown = {0};
    if (!journal)
        return;
    approvals_append_summary(&shown, about);
    journal_async_put_question(journal,
                               &(struct journal_question){
                                   .turn = q->turn->id,
                                   .id = q->id,
                                   .agent = q->turn->spec.agent->name,
                                   .tool = q->tool ? q->tool : q->kind,
                                   .shown = shown.len ? shown.p : "",
                                   .decision = q->decision,
                                   .by = q->by,
                               },
                               NULL, NULL);
}

void request_move(struct request *q, enum request_state_event event)
{
    q->state = request_state_next(q->state, event);
}

static void request_registry_settle(struct request *q, enum request_state_event event,
                                    const char *decision, const char *by)
{
    const bool asked = q->state == REQUEST_OPEN;
    request_move(q, event);
    ASSERT(q->state == REQUEST_RESOLVED && q->turn->n_open >= asked);
    q->turn->n_open -= asked;
    q->decision = request_registry_copy(q, decision);
    q->by = request_registry_copy(q, by);
    stop_clock(q);
    if (asked)
        request_registry_store_question(q);
}

/* The answer to a credential request is not shown, only that it was given. */
static void request_registry_emit_resolved(const struct request *q, const char *answers,
                                           const char *reason)
{
    const struct tc_request resolved = {
        .request_id = q->id,
        .decision = q->decision,
        .answers = strcmp(q->kind, "credential") == 0 ? NULL : answers,
        .by = q->by,
        .reason = reason,
    };
    turn_resolve_request(q->turn->turn, &resolved);
}

int request_resolve(struct request *q, enum request_state_event event,
                    const struct dialect_answer *answer, const char *decision, const char *by)
{
    const struct request_turn_spec *const spec = &q->turn->spec;
    const bool taken = spec->answer(spec->ctx, answer) == 0;
    request_registry_settle(q, event, taken ? decision : "cancelled", by);
    log_write(LOG_INFO, "host", "turn %s: %s %s: %s by %s", q->turn->id, q->kind,
              q->tool ? q->tool : q->id, q->decision, q->by);
    request_registry_emit_resolved(q, taken ? answer->answers : NULL,
                                   taken ? answer->reason : NULL);
    return taken ? 0 : -1;
}

static void on_expired(void *arg)
{
    struct request *const q = arg;
    TEXTS_IN(q->turn->spec.language);
    CLEANUP_BUF struct buf reason = {0};
    texts_append(&reason, TEXT_DENIED_EXPIRED,
                 TEXT_VALUES(TEXT_INT("s", q->turn->spec.agent->ask_timeout_ms / 1000)));
    const struct dialect_answer no = {
        .request_id = q->id, .decision = DIALECT_DENY, .reason = reason.p};
    request_resolve(q, REQUEST_ON_EXPIRE, &no, "timeout", "host");
}

/* The agent has been answered; the event informs the connectors. */
static void request_registry_report_refused(struct request *q)
{
    TEXTS_IN(q->turn->spec.language);
    request_registry_settle(q, REQUEST_ON_REPORT, "deny", "host");
    log_write(LOG_WARN, "host", "turn %s: %s %s is incomplete or too large to be shown; denied",
              q->turn->id, q->kind, q->tool ? q->tool : q->id);
    request_registry_emit_resolved(q, NULL, texts_get(TEXT_DENIED_NOT_SHOWN));
}

static void request_registry_report_decided(struct request *q)
{
    if (q->state == REQUEST_REFUSED) {
        request_registry_report_refused(q);
        return;
    }
    const char *const decision = q->soon.decision == DIALECT_ALLOW ? "allow" : "deny";
    request_resolve(q, REQUEST_ON_REPORT, &q->soon, decision, q->by);
}

/* The opening events have been delivered. Resolving events may cause further requests. */
static void on_soon(void *arg)
{
    struct request_turn *const t = arg;
    for (struct request *q = t->first; q; q = q->next)
        if (q->state == REQUEST_DECIDED || q->state == REQUEST_REFUSED)
            request_registry_report_decided(q);
}

/* ---- a new request ---- */

/* False: no request has ended yet. The guard limits the number of open ones. */
static bool forget_oldest(struct request_turn *t)
{
    struct request **at = &t->first;
    while (*at && (*at)->state != REQUEST_RESOLVED)
        at = &(*at)->next;
    struct request *const q = *at;
    if (!q)
        return false;
    *at = q->next;
    t->last = t->first;
    while (t->last && t->last->next)
        t->last = t->last->next;
    ASSERT(t->n_known > 0);
    t->n_known--;
    request_free(q);
    return true;
}

/* Only turns with requests are in the list, because most turns never ask. */
static void request_registry_link_turn(struct request_turn *t)
{
    if (t->is_linked)
        return;
    t->is_linked = true;
    t->next = t->registry->turns;
    t->registry->turns = t;
}

static void copy_shown(struct request *q, const struct tc_request *r)
{
    q->shown = (struct tc_request){
        .state = "open",
        .tool = q->tool,
        .args = q->args,
        .subject = request_registry_copy(q, r->subject),
        .message = request_registry_copy(q, r->message),
        .reason = request_registry_copy(q, r->reason),
        .questions = request_registry_copy(q, r->questions),
    };
    request_preview_request(&q->arena, &q->shown);
}

static struct request *request_registry_add(struct request_turn *t, const struct tc_request *r)
{
    while (t->n_known >= REQUESTS_OPEN + REQUESTS_OVER && forget_oldest(t))
        ;
    struct request *const q = xcalloc(1, sizeof *q);
    ASSERT(!t->first == !t->last);
    q->turn = t;
    q->id = request_registry_copy(q, r->request_id);
    q->kind = request_registry_copy(q, r->kind);
    q->tool = request_registry_copy(q, r->tool);
    q->args = request_registry_copy(q, r->args);
    copy_shown(q, r);
    q->opened_ms = (int64_t)(clock_wall_s() * 1000);
    if (t->last)
        t->last->next = q;
    else
        t->first = q;
    t->last = q;
    t->n_known++;
    t->n_open++;
    request_registry_link_turn(t);
    return q;
}

static void add_place(struct buf *out, const struct conf_place *p)
{
    CLEANUP_BUF struct buf text = {0};
    buf_add_str(&text, p->instance);
    if (p->chat)
        buf_printf(&text, ":%s", p->chat);
    if (p->chat && p->thread)
        buf_printf(&text, ":%s", p->thread);
    buf_add_str(out, out->len > 1 ? "," : "");
    jsonw_string(out, text.p, text.len);
}

void request_limit_places(struct request *q, const struct conf_place *places)
{
    CLEANUP_BUF struct buf out = {0};
    if (!places || !places->instance)
        return;
    buf_add_char(&out, '[');
    for (; places->instance; places++)
        add_place(&out, places);
    buf_add_char(&out, ']');
    q->to = arena_strndup(&q->arena, out.p, out.len);
}

static const char *choices_for(const struct request *q)
{
    static const char approval[] =
        "[{\"id\":\"allow\",\"label\":\"Allow\"},"
        "{\"id\":\"allow_session\",\"label\":\"Allow for this session\"},"
        "{\"id\":\"allow_always\",\"label\":\"Always allow\"},"
        "{\"id\":\"deny\",\"label\":\"Deny\"}]";
    static const char once[] = "[{\"id\":\"allow\",\"label\":\"Allow\"},"
                               "{\"id\":\"deny\",\"label\":\"Deny\"}]";
    static const char other[] = "[{\"id\":\"answer\",\"label\":\"Answer\"},"
                                "{\"id\":\"deny\",\"label\":\"Decline\"}]";
    if (strcmp(q->kind, "approval") != 0)
        return other;
    return q->argument && q->turn->registry->spec.approvals ? approval : once;
}

static void open_to_people(struct request *q, struct tc_request *r)
{
    const int64_t timeout_ms = q->turn->spec.agent->ask_timeout_ms;
    request_move(q, REQUEST_ON_PRESENT);
    q->choices = choices_for(q);
    if (timeout_ms > 0) {
        q->expires_ms = q->opened_ms + timeout_ms;
        q->timer = loop_timer_new(q->turn->registry->spec.loop, on_expired, q);
        loop_timer_set(q->timer, timeout_ms);
    }
    r->choices = q->choices;
    r->to = q->to;
    r->expires_ms = timeout_ms > 0 ? q->expires_ms : r->expires_ms;
    r->blocking = true;
    request_registry_store_question(q);
}

static void process_open_request(struct request_turn *t, struct tc_request *r)
{
    r->choices = r->to = NULL;
    if (!r->blocking || !agent_input_can_answer(t->spec.dialect))
        return;
    struct request *const q = request_registry_add(t, r);
    if (t->spec.waits && !t->spec.waits(t->spec.ctx, r->request_id))
        request_move(q, REQUEST_ON_REFUSE);
    else
        request_apply_policy(q);
    if (q->state == REQUEST_NEW) {
        open_to_people(q, r);
        return;
    }
    t->n_open--;
    r->blocking = false;
    loop_timer_set(t->soon, 0);
}

/* Reported by the agent itself, unless it was decided here. */
static void process_resolved_request(struct request_turn *t, const struct tc_request *r)
{
    struct request *const q = request_find(t->registry, t->id, r->request_id);
    if (q && q->state != REQUEST_RESOLVED)
        request_registry_settle(q, REQUEST_ON_SETTLE, r->decision ? r->decision : "cancelled",
                                r->by ? r->by : "agent");
}

void request_turn_add(struct request_turn *t, struct tc_request *request)
{
    if (strcmp(request->state, "open") == 0)
        process_open_request(t, request);
    else
        process_resolved_request(t, request);
}

/* ---- turns ---- */

static void copy_askers(struct request_turn *t, const struct request_turn_spec *spec)
{
    const char **const askers = arena_alloc(&t->arena, (spec->n_askers + 1) * sizeof *askers);
    for (size_t i = 0; i < spec->n_askers; i++)
        askers[i] = arena_strdup(&t->arena, spec->askers[i]);
    t->spec.askers = askers;
    t->spec.source = arena_strdup(&t->arena, spec->source);
}

void request_registry_add_asker(struct request_turn *t, const char *user)
{
    const size_t n = t->spec.n_askers;
    const char **const askers = arena_alloc(&t->arena, (n + 2) * sizeof *askers);
    for (size_t i = 0; i < n; i++)
        askers[i] = t->spec.askers[i];
    askers[n] = arena_strdup(&t->arena, user);
    t->spec.askers = askers;
    t->spec.n_askers = n + 1;
}

struct request_turn *request_turn_begin(struct request_registry *r,
                                        const struct request_turn_spec *spec)
{
    struct request_turn *const t = xcalloc(1, sizeof *t);
    t->registry = r;
    t->spec = *spec;
    t->id = xstrdup(spec->id);
    t->conversation = xstrdup(spec->conversation ? spec->conversation : "");
    t->spec.id = t->id;
    t->spec.conversation = t->conversation;
    copy_askers(t, spec);
    t->soon = loop_timer_new(r->spec.loop, on_soon, t);
    return t;
}

void request_turn_attach(struct request_turn *t, struct turn *turn)
{
    t->turn = turn;
}

void request_turn_cancel_open(struct request_turn *t)
{
    for (struct request *q = t->first; q; q = q->next)
        if (q->state != REQUEST_RESOLVED) {
            request_registry_settle(q, REQUEST_ON_CANCEL, "cancelled", "host");
            request_registry_emit_resolved(q, NULL, NULL);
        }
}

static void unlink_turn(struct request_turn *t)
{
    struct request_turn **at = &t->registry->turns;
    if (!t->is_linked)
        return;
    while (*at && *at != t)
        at = &(*at)->next;
    ASSERT(*at);
    *at = t->next;
}

void request_turn_end(struct request_turn *t)
{
    if (!t)
        return;
    unlink_turn(t);
    if (t->registry->spec.approvals)
        approvals_end_turn(t->registry->spec.approvals, t->id);
    while (t->first) {
        struct request *const q = t->first;
        t->first = q->next;
        request_free(q);
    }
    loop_timer_free(t->soon);
    arena_fini(&t->arena);
    free(t->id);
    free(t->conversation);
    free(t);
}

/* ---- iteration ---- */

struct request_registry *request_registry_new(const struct request_registry_spec *spec)
{
    struct request_registry *const r = xcalloc(1, sizeof *r);
    r->spec = *spec;
    return r;
}

void request_registry_free(struct request_registry *r)
{
    if (!r)
        return;
    request_free_tickets(r);
    free(r);
}

struct request *request_find(const struct request_registry *r, const char *turn,
                             const char *request)
{
    for (const struct request_turn *t = r->turns; t; t = t->next)
        if (strcmp(t->id, turn) == 0)
            for (struct request *q = t->first; q; q = q->next)
                if (strcmp(q->id, request) == 0)
                    return q;
    return NULL;
}

static struct request_view view_of(const struct request *q)
{
    return (struct request_view){
        .turn = q->turn->id,
        .request = q->id,
        .agent = q->turn->spec.agent->name,
        .conversation = q->turn->conversation,
        .kind = q->kind,
        .shown = &q->shown,
        .choices = q->choices,
        .to = q->to,
        .opened_ms = q->opened_ms,
        .expires_ms = q->expires_ms,
    };
}

void request_each_open(const struct request_registry *r,
                       void (*each)(void *ctx, const struct request_view *v), void *ctx)
{
    for (const struct request_turn *t = r->turns; t; t = t->next)
        for (const struct request *q = t->first; q; q = q->next)
            if (q->state == REQUEST_OPEN) {
                const struct request_view v = view_of(q);
                each(ctx, &v);
            }
}
