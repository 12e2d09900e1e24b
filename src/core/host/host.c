/* SPDX-License-Identifier: MIT
 * Owns the parts of a serving host, and the order in which they begin and end. */
#include "core/host/host.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/dir.h"
#include "base/sys/log.h"
#include "core/agent/launch.h"
#include "core/budget/budgets.h"
#include "core/bus/bus.h"
#include "core/conversation/turn_scheduler.h"
#include "core/fleet/fleet_member.h"
#include "core/host/host_http.h"
#include "core/host/host_leading.h"
#include "core/host/host_recovery.h"
#include "core/host/host_sharing.h"
#include "core/host/network_clients.h"
#include "core/host/unserved_hook.h"
#include "core/inbound/inbound.h"
#include "core/settings/retention.h"
#include "io/http/client/httpc.h"
#include "io/http/server/httpd.h"
#include "io/websocket/websocket.h"

#define DELIVER_MS 5000 /* what instances get at the end for what is under way */
#define TELL_MS 2000    /* and HTTP clients to take what was written for them */
#define GRACE_MS 10000  /* and to end */
#define SHARE_MS 1000   /* and other hosts to learn which turns have been told */
#define WATCH_MS 10000  /* how often it is looked whether one hangs */

/* What is done with other hosts, besides the bus; NULL without one. */
struct host_others {
    struct work_hosts *hosts;
    struct fleet_member *member;
    struct host_sharing *sharing;
    bool is_seated; /* instances are known */
    struct host_leading *leading;
};

struct host {
    const struct conf *conf;
    struct loop *loop;
    struct journal_async *journal;
    struct httpc *httpc;
    struct websocket_client *websocket;
    struct httpd *httpd; /* NULL: none is configured */
    struct dispatch *dispatch;
    struct turnlog *turnlog;
    struct turn_scheduler *conversations;
    struct settings_worker *settings;
    struct visibility_cache *switches;
    struct session_store *sessions;
    struct turn_locks *locks;
    struct session_history *history;
    struct usage_log *usage;
    struct budgets *budgets;
    struct bindings *bindings;
    struct pairing *pairing;
    struct request_registry *requests;
    struct approvals *approvals;
    struct inbound *reception;
    struct bus *bus; /* NULL: none is configured */
    struct host_others others;
    unsigned draining;        /* parts that have turns which run */
    struct loop_timer *watch; /* it keeps the loop going, too */
    char *instances;
    bool stopping;
    struct changes *changes;
    struct server_watch callbacks;
};

static void host_look(void *ctx, const struct dispatch_instance *i)
{
    (void)ctx;
    (void)i;
}

/* One that hangs is logged by looking. */
static void host_on_watch(void *arg)
{
    struct host *const s = arg;
    dispatch_each_instance(s->dispatch, host_look, NULL);
    loop_timer_set(s->watch, WATCH_MS);
}

static void host_on_call(void *ctx, struct host_call *a)
{
    const struct host *const s = ctx;
    inbound_handle(s->reception, a);
}

/* Before the host is on the bus, it leads nothing. */
static bool host_leads(void *ctx, const char *instance)
{
    const struct host *const s = ctx;
    return host_leading_leads(s->others.leading, instance);
}

static void host_on_kept(void *ctx, const char *instance, const char *turn, struct str line)
{
    host_leading_add_outcome(((const struct host *)ctx)->others.leading, instance, turn, line);
}

static void host_on_stored(void *ctx, const char *instance, const char *key, const char *text)
{
    host_leading_store(((const struct host *)ctx)->others.leading, instance, key, text);
}

static void host_on_remembered(void *ctx, const char *instance, const char *turn, const char *text)
{
    host_leading_remember(((const struct host *)ctx)->others.leading, instance, turn, text);
}

static bool host_on_telling(void *ctx, const char *instance, const char *turn)
{
    return host_leading_begin_delivery(((const struct host *)ctx)->others.leading, instance, turn);
}

static bool host_on_adopted(void *ctx, const char *instance, const char *turn)
{
    const struct host *const s = ctx;
    return host_leading_is_adopted(s->others.leading, instance, turn);
}

/* ---- parts ---- */

static void on_unserved_hook(void *arg, struct httpd_request *request)
{
    const struct host *const s = arg;
    unserved_hook_answer(s->dispatch, s->changes, request);
}

static int listen_on(struct host *s, struct tc_err *err)
{
    if (!s->conf->http.listen)
        return 0;
    s->httpd = host_http_listen(s->loop, &s->conf->http, err);
    if (!s->httpd)
        return -1;
    httpd_route(s->httpd, "/hooks/", HTTPD_ANY, on_unserved_hook, s);
    return 0;
}

static void make_dispatch(struct host *s)
{
    const struct connector_services services = {
        .loop = s->loop,
        .httpc = s->httpc,
        .journal = s->journal,
        .httpd = s->httpd,
        .websocket = s->websocket,
        .turnlog = s->turnlog,
        .instances = s->instances,
        .ask = host_on_call,
        .leads = s->conf->bus.urls ? host_leads : NULL,
        .kept = host_on_kept,
        .stored = host_on_stored,
        .remembered = host_on_remembered,
        .tells = host_on_telling,
        .is_adopted = host_on_adopted,
        .ctx = s,
    };
    s->dispatch = dispatch_new_empty(s->conf, &services);
}

static struct turn_scheduler_spec host_scheduler_spec(const struct host *s)
{
    return (struct turn_scheduler_spec){
        .conf = s->conf,
        .loop = s->loop,
        .journal = s->journal,
        .switches = s->switches,
        .sessions = s->sessions,
        .history = s->history,
        .usage = s->usage,
        .budgets = s->budgets,
        .bindings = s->bindings,
        .dispatch = s->dispatch,
        .turnlog = s->turnlog,
        .requests = s->requests,
    };
}

static void start_conversations(struct host *s)
{
    s->settings = settings_worker_new(s->loop, s->conf);
    s->switches = visibility_cache_new(s->settings, s->conf);
    s->sessions = session_store_new(s->journal, s->settings);
    s->locks = turn_locks_new(s->loop, s->journal, s->settings, s->sessions, s->conf->host_name);
    s->history = session_history_new(s->journal);
    s->usage = usage_log_new(s->journal);
    s->budgets = budgets_new(s->journal, &s->conf->budgets);
    s->bindings = bindings_new(s->journal);
    s->pairing = pairing_new(s->journal);
    s->approvals = approvals_new(s->journal);
    s->requests = request_registry_new(&(struct request_registry_spec){
        .loop = s->loop, .journal = s->journal, .approvals = s->approvals});
    struct turn_scheduler_spec spec = host_scheduler_spec(s);
    spec.locks = s->locks;
    s->conversations = turn_scheduler_new(&spec);
    s->reception = inbound_new(&(struct inbound_spec){
        .conf = s->conf,
        .dispatch = s->dispatch,
        .journal = s->journal,
        .conversations = s->conversations,
        .switches = s->switches,
        .sessions = s->sessions,
        .history = s->history,
        .usage = s->usage,
        .bindings = s->bindings,
        .requests = s->requests,
        .approvals = s->approvals,
        .pairing = s->pairing,
    });
}

/* ---- other hosts ---- */

static void host_append_requests(void *ctx, struct buf *out, const char *turn)
{
    const struct host *const s = ctx;
    request_append_open_of(out, s->requests, turn);
}

static void host_describe(void *ctx, struct buf *out)
{
    const struct host *const s = ctx;
    if (s->others.member)
        fleet_member_describe(s->others.member, out);
}

static void host_on_name_conflict(void *ctx, const char *why)
{
    struct host *const s = ctx;
    struct tc_err err = {0};
    if (s->stopping)
        return;
    err_set(&err, s->conf->file, "bus: %s", why);
    if (s->callbacks.failed)
        s->callbacks.failed(s->callbacks.ctx, &err);
    host_stop(s);
}

/* Until then it is not known which instances see what, or what other hosts have revoked, so no turn
 * begins. */
static void host_begin_turns(void *ctx)
{
    const struct host *const s = ctx;
    if (s->others.is_seated && host_sharing_is_ready(s->others.sharing))
        turn_scheduler_start_restored(s->conversations);
}

static void host_share_settings(struct host *s)
{
    s->others.sharing = host_sharing_new(&(struct host_sharing_spec){
        .loop = s->loop,
        .bus = s->bus,
        .journal = s->journal,
        .switches = s->switches,
        .settings = s->settings,
        .conf = s->conf,
        .approvals = s->approvals,
        .pairing = s->pairing,
        .bindings = s->bindings,
        .ready = host_begin_turns,
        .ctx = s,
    });
}

static void host_set_aside(void *ctx, bool is_aside)
{
    const struct host *const s = ctx;
    host_leading_set_aside(s->others.leading, is_aside || s->stopping);
}

static int host_join_bus(struct host *s, struct tc_err *err)
{
    if (!s->conf->bus.urls)
        return 0;
    s->bus = bus_new(&(struct bus_spec){.loop = s->loop,
                                        .conf = s->conf,
                                        .turnlog = s->turnlog,
                                        .requests = host_append_requests,
                                        .describe = host_describe,
                                        .ctx = s,
                                        .name_taken = host_on_name_conflict,
                                        .name_ctx = s},
                     err);
    if (!s->bus)
        return -1;
    inbound_set_bus(s->reception, s->bus, s->turnlog);
    host_share_settings(s);
    s->others.hosts = work_hosts_new(s->bus);
    turn_locks_set_bus(s->locks, s->bus, s->others.hosts, s->conf->bus.lost_after_ms);
    turn_locks_set_conf(s->locks, s->conf);
    s->others.member = fleet_member_new(&(struct fleet_member_spec){.bus = s->bus,
                                                                    .hosts = s->others.hosts,
                                                                    .parts = host_scheduler_spec(s),
                                                                    .own = s->conversations,
                                                                    .set_aside = host_set_aside,
                                                                    .ctx = s});
    return 0;
}

/* ---- another configuration ---- */

void host_set_watch(struct host *s, const struct server_watch *watch)
{
    s->callbacks = *watch;
}

static void host_apply_conf(void *ctx, const struct conf *next)
{
    struct host *const s = ctx;
    const struct conf *const before = s->conf;
    s->conf = next;
    if (s->httpd)
        host_http_configure(s->httpd, &next->http);
    settings_worker_set_defaults(s->settings, next);
    visibility_cache_set_conf(s->switches);
    host_sharing_set_conf(s->others.sharing, next);
    const struct journal_limits limits = retention_limits(&next->retention);
    journal_async_set_limits(s->journal, &limits);
    budgets_set_conf(s->budgets, &next->budgets);
    turn_locks_set_conf(s->locks, next);
    turn_scheduler_set_conf(s->conversations, next);
    if (s->others.member)
        fleet_member_set_conf(s->others.member, next);
    inbound_set_conf(s->reception, next);
    if (s->callbacks.reloaded)
        s->callbacks.reloaded(s->callbacks.ctx, next);
    conf_unref(before);
}

static void host_on_reloading(void *ctx, bool begins)
{
    const struct host *const s = ctx;
    if (s->callbacks.reloading)
        s->callbacks.reloading(s->callbacks.ctx, begins);
}

static void host_on_changed(void *ctx)
{
    host_leading_update(((const struct host *)ctx)->others.leading);
}

static const struct conf *current_conf(void *ctx)
{
    return ((const struct host *)ctx)->conf;
}

static void start_changes(struct host *s)
{
    s->changes = instance_changes_new(&(struct changes_spec){
        .loop = s->loop,
        .dispatch = s->dispatch,
        .conf = current_conf,
        .take = host_apply_conf,
        .reloading = host_on_reloading,
        .changed = host_on_changed,
        .ctx = s,
    });
    if (!s->bus)
        return;
    s->others.leading = host_leading_new(&(struct leading_parts){
        .loop = s->loop,
        .bus = s->bus,
        .work = fleet_member_get_work(s->others.member),
        .journal = s->journal,
        .dispatch = s->dispatch,
        .conversations = s->conversations,
        .hosts = s->others.hosts,
        .turnlog = s->turnlog,
        .changes = s->changes,
        .host = s->conf->host_name,
    });
}

void host_reload(struct host *s, changes_done *done, void *ctx)
{
    instance_changes_reload(s->changes, done, ctx);
}

void host_reload_soon(struct host *s)
{
    if (!instance_changes_has_reload(s->changes))
        instance_changes_reload(s->changes, NULL, NULL);
}

void host_restart_instance(struct host *s, const char *instance, changes_done *done, void *ctx)
{
    instance_changes_restart(s->changes, instance, done, ctx);
}

/* ---- start ---- */

static void host_on_seated(void *ctx)
{
    struct host *const s = ctx;
    s->others.is_seated = true;
    host_begin_turns(s);
}

static void host_on_started(void *ctx, const char *report, const struct tc_err *err)
{
    struct host *const s = ctx;
    struct tc_err why = {0};
    (void)report;
    if (err)
        return; /* the host ends before its instances have started */
    const bool idle = dispatch_count_running(s->dispatch) == 0 && !s->httpd &&
                      !fleet_member_get_runner(s->others.member);
    if (idle)
        err_set(&why, s->conf->file,
                s->conf->n_instances
                    ? "no connector instance could be started; see the errors above"
                    : "nothing to serve: plugins.instances is empty, and http.listen is not set");
    if (s->callbacks.started)
        s->callbacks.started(s->callbacks.ctx, idle ? &why : NULL);
    if (idle)
        host_stop(s);
}

static int host_begin(struct host *s, struct tc_err *err)
{
    const struct journal_limits limits = retention_limits(&s->conf->retention);
    s->journal = journal_async_open(s->loop, s->conf->state_dir, &limits, NULL, err);
    if (!s->journal || dir_create_all(s->instances, err) < 0 || listen_on(s, err) < 0)
        return -1;
    launch_set_owner(s->conf->state_dir);
    make_dispatch(s);
    start_conversations(s);
    turn_scheduler_delay_starts(s->conversations);
    if (host_join_bus(s, err) < 0 ||
        host_recovery_run(s->journal, s->dispatch, s->conversations, s->turnlog, err) < 0)
        return -1;
    start_changes(s);
    instance_changes_start(s->changes, host_on_seated, host_on_started, s);
    s->watch = loop_timer_new(s->loop, host_on_watch, s);
    loop_timer_set(s->watch, WATCH_MS);
    return 0;
}

struct host *host_open(const struct conf *conf, struct tc_err *err)
{
    struct host *const s = xcalloc(1, sizeof *s);
    s->conf = conf_ref(conf);
    s->loop = loop_new();
    s->httpc = network_clients_new_http(s->loop, conf);
    s->websocket = network_clients_new_websocket(s->loop, conf);
    s->turnlog = turnlog_new(s->loop, NULL);
    s->instances = xasprintf("%s/instances", conf->state_dir);
    if (host_begin(s, err) == 0)
        return s;
    host_close(s);
    return NULL;
}

unsigned host_port(const struct host *s)
{
    return s->httpd ? httpd_bound_port(s->httpd) : 0;
}

struct loop *host_loop(struct host *s)
{
    return s->loop;
}

struct host_parts host_get_parts(struct host *s)
{
    return (struct host_parts){
        .loop = s->loop,
        .httpd = s->httpd,
        .journal = s->journal,
        .dispatch = s->dispatch,
        .conversations = s->conversations,
        .switches = s->switches,
        .turnlog = s->turnlog,
        .requests = s->requests,
        .approvals = s->approvals,
        .pairing = s->pairing,
        .budgets = s->budgets,
        .bus = s->bus,
        .leaders = host_leading_get_leaders(s->others.leading),
        .texts = host_leading_get_texts(s->others.leading),
        .work = fleet_member_get_work(s->others.member),
        .runner = fleet_member_get_runner(s->others.member),
        .member = s->others.member,
    };
}

bool host_is_stopping(const struct host *s)
{
    return s->stopping;
}

const struct conf *host_conf(const struct host *s)
{
    return s->conf;
}

/* ---- end ---- */

static void host_on_clients_drained(void *ctx)
{
    loop_stop(((struct host *)ctx)->loop);
}

/* Waits until HTTP clients that follow a turn have received its end. */
static void host_drain_clients(void *ctx)
{
    struct host *const s = ctx;
    if (s->callbacks.drained)
        s->callbacks.drained(s->callbacks.ctx);
    if (s->httpd)
        httpd_drain_begin(s->httpd, TELL_MS, host_on_clients_drained, s);
    else
        host_on_clients_drained(s);
}

/* So have other hosts. */
static void host_on_drained(void *ctx)
{
    struct host *const s = ctx;
    if (--s->draining)
        return;
    if (s->bus)
        bus_drain(s->bus, host_drain_clients, s);
    else
        host_drain_clients(s);
}

void host_stop(struct host *s)
{
    struct runner *const runner = fleet_member_get_runner(s->others.member);
    if (!s->stopping)
        s->draining = runner ? 2 : 1;
    s->stopping = true;
    instance_changes_refuse(s->changes);
    host_leading_retire(s->others.leading);
    if (runner)
        runner_drain(runner, host_on_drained, s);
    turn_scheduler_drain(s->conversations, host_on_drained, s);
}

void host_run(struct host *s)
{
    loop_run(s->loop);
    if (!dispatch_drain(s->dispatch, DELIVER_MS))
        log_write(LOG_INFO, "host",
                  "undelivered messages are kept in the outbox for the next start");
    host_leading_drain(s->others.leading, SHARE_MS);
}

void host_close(struct host *s)
{
    if (!s)
        return;
    host_leading_stop(s->others.leading);
    host_sharing_free(s->others.sharing);
    if (s->locks)
        turn_locks_close(s->locks);
    fleet_member_stop(s->others.member);
    work_hosts_free(s->others.hosts);
    bus_free(s->bus);
    if (s->conversations)
        turn_scheduler_detach_remote(s->conversations);
    instance_changes_free(s->changes);
    dispatch_free(s->dispatch, GRACE_MS);
    settings_worker_free(s->settings); /* what it still answers may go to the journal */
    journal_async_close(s->journal);
    host_leading_free(s->others.leading);
    inbound_free(s->reception);
    turn_scheduler_free(s->conversations);
    fleet_member_free(s->others.member);
    request_registry_free(s->requests);
    approvals_free(s->approvals);
    turn_locks_free(s->locks);
    session_store_free(s->sessions);
    session_history_free(s->history);
    usage_log_free(s->usage);
    budgets_free(s->budgets);
    bindings_free(s->bindings);
    pairing_free(s->pairing);
    visibility_cache_free(s->switches);
    turnlog_free(s->turnlog);
    websocket_free(s->websocket);
    httpd_free(s->httpd);
    httpc_free(s->httpc);
    if (s->watch)
        loop_timer_free(s->watch);
    loop_free(s->loop);
    conf_unref(s->conf);
    free(s->instances);
    free(s);
}
