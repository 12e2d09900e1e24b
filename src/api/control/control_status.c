/* SPDX-License-Identifier: MIT
 * GET /status: the state of the running host as JSON. */
#include <stdlib.h>
#include <unistd.h>

#include "api/control/control_internal.h"
#include "api/shared/api_http.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "core/budget/budgets.h"
#include "core/bus/bus.h"
#include "core/conversation/turn_scheduler.h"
#include "core/dispatch/dispatch.h"
#include "core/host/host_sharing.h"
#include "core/host/instance_leaders.h"
#include "core/host/instance_texts.h"
#include "core/turnlog/turnlog.h"
#include "event/json/json_writer.h"
#include "io/journal/journal.h"
#include "io/journal/journal_async.h"

/* A response that waits for the journal. */
struct control_status_query {
    struct control *control;
    control_status_done *done;
    void *ctx;
};

static void control_status_begin_item(struct buf *out)
{
    if (out->p[out->len - 1] != '[')
        buf_add_str(out, ",");
    buf_add_str(out, "{");
}

/* ---- the parts ---- */

static bool control_status_add_turn(void *ctx, const struct turnlog_turn *t)
{
    struct buf *const out = ctx;
    if (turnlog_turn_is_finished(t) || t->spec.host)
        return true;
    const int64_t since = t->started_ms ? t->started_ms : t->created_ms;
    control_status_begin_item(out);
    jsonw_member_str(out, "id", t->spec.id);
    jsonw_member_str(out, "agent", t->spec.agent);
    jsonw_member_str(out, "conversation", t->spec.conversation);
    jsonw_member_str(out, "source", t->spec.source);
    jsonw_member_str(out, "state", turnlog_state_name(t->state));
    jsonw_member_int(out, "elapsed_ms", (int64_t)(clock_wall_s() * 1000) - since);
    jsonw_member_int(out, "tools", t->tools);
    buf_add_str(out, "}");
    return true;
}

static void control_status_add_names(struct buf *out, const char *key, char *const *names)
{
    if (!names)
        return;
    jsonw_key(out, key);
    buf_add_char(out, '[');
    for (size_t i = 0; names[i]; i++) {
        buf_add_str(out, i ? "," : "");
        jsonw_string(out, names[i], strlen(names[i]));
    }
    buf_add_char(out, ']');
}

/* The scope of the instance. */
static void add_scope(struct buf *out, const struct conf_instance *inst)
{
    jsonw_key(out, "scope");
    buf_add_char(out, '{');
    jsonw_member_str(out, "turns", conf_scope_is_own(inst) ? "own" : "all");
    control_status_add_names(out, "agents", inst->scope.agents);
    control_status_add_names(out, "conversations", inst->scope.conversations);
    buf_add_char(out, '}');
}

/* Queued requests that are not in memory. */
static void add_use(struct buf *out, const struct limits_use *use)
{
    jsonw_member_int(out, "cpu_ms", use->cpu_ms);
    jsonw_member_int(out, "cpu_percent", use->cpu_percent);
    jsonw_member_int(out, "threads", use->threads);
    if (use->disk >= 0)
        jsonw_member_int(out, "disk", use->disk);
    if (use->exceeded)
        jsonw_member_str(out, "exceeds", use->exceeded);
}

static void control_status_add_process(struct buf *out, const struct channel_health *h)
{
    jsonw_member_str(out, "isolation", h->own_process ? "process" : "thread");
    jsonw_member_bool(out, "starting", h->starting);
    if (!h->own_process)
        return;
    jsonw_member_int(out, "pid", h->pid);
    jsonw_member_int(out, "rss", h->rss);
    add_use(out, &h->use);
    jsonw_member_int(out, "deaths", (int64_t)h->deaths);
    jsonw_member_bool(out, "down", h->down);
    if (!h->down)
        return;
    jsonw_member_int(out, "down_ms", h->down_ms);
    jsonw_member_int(out, "next_ms", h->next_ms);
    jsonw_member_bool(out, "breaker_open", h->open);
}

struct control_status_list {
    struct buf *out;
    const struct instance_leaders *leaders; /* or NULL */
};

/* Role of this host for an instance that only one of several hosts runs. */
static void control_status_add_leader(const struct control_status_list *l,
                                      const struct dispatch_instance *i)
{
    const char *const leader = instance_leaders_holder(l->leaders, i->name);
    jsonw_member_bool(l->out, "stands_by", i->stands_by);
    if (*leader)
        jsonw_member_str(l->out, "leader", leader);
}

static void control_status_add_instance(void *ctx, const struct dispatch_instance *i)
{
    const struct control_status_list *const l = ctx;
    struct buf *const out = l->out;
    control_status_begin_item(out);
    jsonw_member_str(out, "name", i->name);
    jsonw_member_str(out, "plugin", i->plugin);
    jsonw_member_str(out, "file", i->path);
    add_scope(out, i->spec);
    control_status_add_process(out, &i->health);
    if (i->is_led && l->leaders)
        control_status_add_leader(l, i);
    jsonw_member_bool(out, "hung", i->health.hung);
    jsonw_member_int(out, "delivered", (int64_t)i->health.delivered);
    jsonw_member_int(out, "failed", (int64_t)i->health.failed);
    jsonw_member_real(out, "queue_fill", i->health.fill);
    jsonw_member_int(out, "requests_waiting", (int64_t)i->outbox.waiting);
    jsonw_member_int(out, "requests_in_flight", (int64_t)i->outbox.in_flight);
    jsonw_member_int(out, "requests_oldest_ms", i->outbox.oldest_ms);
    if (i->outbox.trouble) {
        jsonw_member_str(out, "trouble", i->outbox.trouble);
        jsonw_member_int(out, "trouble_ms", i->outbox.trouble_ms);
    }
    jsonw_member_bool(out, "unreachable", i->outbox.is_away);
    if (i->outbox.is_away)
        jsonw_member_int(out, "unreachable_ms", i->outbox.away_ms);
    if (i->outbox.success_ms >= 0)
        jsonw_member_int(out, "last_success_ms", i->outbox.success_ms);
    if (i->outbox.failure_ms >= 0) {
        jsonw_member_int(out, "last_failure_ms", i->outbox.failure_ms);
        jsonw_member_str(out, "last_failure", i->outbox.failure);
    }
    buf_add_str(out, "}");
}

/* Instances of the configuration that do not run, with file, line and reason. */
static void add_disabled(struct buf *out, const struct conf *conf, const struct dispatch *d)
{
    for (size_t i = 0; i < conf->n_instances; i++) {
        const struct conf_instance *const inst = &conf->instances[i];
        const struct tc_err *const why =
            inst->enabled ? dispatch_why_disabled(d, inst->name) : NULL;
        if (inst->enabled && !why)
            continue;
        CLEANUP_FREE char *place = conf_format_place(conf, inst->file, inst->line);
        control_status_begin_item(out);
        jsonw_member_str(out, "name", inst->name);
        jsonw_member_str(out, "place", why ? why->place : place);
        jsonw_member_str(out, "reason", why ? why->text : "enabled = false");
        buf_add_str(out, "}");
    }
}

static void control_status_add_budget(void *ctx, const struct budget_state *s)
{
    struct buf *const out = ctx;
    control_status_begin_item(out);
    jsonw_member_str(out, "scope", conf_budget_scope_name(s->scope));
    jsonw_member_str(out, "name", s->name);
    jsonw_member_int(out, "turns", s->spent.turns);
    jsonw_member_int(out, "tokens", s->spent.input + s->spent.output);
    jsonw_member_real(out, "usd", (double)s->spent.micros / 1e6);
    jsonw_member_int(out, "turns_with_cost", s->spent.priced);
    if (s->limit.tokens)
        jsonw_member_int(out, "tokens_per_day", s->limit.tokens);
    if (s->limit.micros)
        jsonw_member_real(out, "usd_per_day", (double)s->limit.micros / 1e6);
    buf_add_str(out, "}");
}

static void control_status_add_outbox(struct buf *out, const struct journal_stats *s)
{
    jsonw_key(out, "outbox");
    buf_add_str(out, "{");
    jsonw_member_int(out, "queued", s->queued);
    jsonw_member_int(out, "in_flight", s->in_flight);
    jsonw_member_int(out, "bytes", s->bytes);
    jsonw_member_int(out, "oldest_ms", s->oldest_ms);
    jsonw_member_int(out, "dead", s->dead);
    buf_add_str(out, "}");
}

static void add_host(struct buf *out, const struct control *c)
{
    const struct conf *const conf = host_conf(c->server);
    jsonw_member_str(out, "version", PACKAGE_VERSION);
    jsonw_member_int(out, "pid", getpid());
    jsonw_member_int(out, "uptime_ms", clock_mono_ms() - c->began_ms);
    jsonw_member_str(out, "config", conf->file);
    jsonw_member_str(out, "state_directory", conf->state_dir);
    jsonw_member_int(out, "port", (int64_t)host_port(c->server));
    jsonw_member_bool(out, "ending", host_is_stopping(c->server));
}

/* ---- the response ---- */

static void control_status_add_shared(struct buf *out, const struct conf *conf)
{
    CLEANUP_BUF struct buf shared = {0};
    if (host_sharing_describe(conf, &shared))
        jsonw_member_str(out, "shared", shared.p);
}

/* Copies of the texts that led instances store, for their next leader. */
static void control_status_add_texts(struct buf *out, const struct instance_texts *texts)
{
    const struct instance_texts_state s = instance_texts_get_state(texts);
    jsonw_key(out, "stored_texts");
    buf_add_char(out, '{');
    jsonw_member_int(out, "copies", (int64_t)s.written);
    if (s.error) {
        jsonw_member_str(out, "error", s.error);
        jsonw_member_int(out, "error_ms", clock_mono_ms() - s.error_ms);
    }
    buf_add_char(out, '}');
}

static void control_status_send(const struct control_status_query *a, enum journal_status status,
                                const struct journal_stats *stats)
{
    const struct host_parts host = host_get_parts(a->control->server);
    CLEANUP_BUF struct buf out = {0};
    buf_add_str(&out, "{");
    add_host(&out, a->control);
    jsonw_key(&out, "turns");
    buf_add_str(&out, "[");
    turnlog_each_turn(host.turnlog, control_status_add_turn, &out);
    buf_add_str(&out, "]");
    jsonw_member_int(&out, "waiting_agents", (int64_t)turn_scheduler_warm(host.conversations));
    jsonw_member_int(&out, "open_requests", control_count_requests(a->control));
    jsonw_key(&out, "instances");
    buf_add_str(&out, "[");
    dispatch_each_instance(host.dispatch, control_status_add_instance,
                           &(struct control_status_list){&out, host.leaders});
    buf_add_str(&out, "]");
    jsonw_key(&out, "disabled");
    buf_add_str(&out, "[");
    add_disabled(&out, host_conf(a->control->server), host.dispatch);
    buf_add_str(&out, "]");
    jsonw_key(&out, "budgets");
    buf_add_str(&out, "[");
    budgets_each(host.budgets, control_status_add_budget, &out);
    buf_add_str(&out, "]");
    control_status_add_shared(&out, host_conf(a->control->server));
    if (host.bus)
        control_append_bus(&out, host.bus);
    if (host.texts)
        control_status_add_texts(&out, host.texts);
    if (status == JOURNAL_DONE)
        control_status_add_outbox(&out, stats);
    buf_add_str(&out, "}\n");
    a->done(a->ctx, &out);
}

static void control_status_on_stats(void *ctx, enum journal_status status,
                                    const struct journal_stats *stats)
{
    struct control_status_query *const a = ctx;
    if (a->control->gone)
        a->done(a->ctx, NULL);
    else
        control_status_send(a, status, stats);
    control_on_reply_sent(a->control);
    free(a);
}

void control_status_make(struct control *c, control_status_done *done, void *ctx)
{
    struct control_status_query *const a = xmalloc(sizeof *a);
    *a = (struct control_status_query){c, done, ctx};
    c->asking++;
    journal_async_stats(host_get_parts(c->server).journal, control_status_on_stats, a);
}

/* ---- requests for the state: by the control socket, by other hosts ---- */

static void control_status_answer(void *request, struct buf *state)
{
    if (state)
        api_http_send_json(request, 200, state);
    else
        api_http_error(request, 503, "ending", "turncast is shutting down.");
}

void control_handle_status(void *control, struct httpd_request *r)
{
    control_status_make(control, control_status_answer, r);
}

static void control_status_reply(void *call, struct buf *state)
{
    bus_call_answer(call, state ? (struct str){state->p, state->len} : STR("{}"));
}

void control_status_serve(void *control, struct bus_call *call, struct str body)
{
    (void)body;
    control_status_make(control, control_status_reply, call);
}
