/* SPDX-License-Identifier: MIT
 * Starts the host parts of a turn in the order of their dependencies. */
#include "cli/oneshot_host.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/plural.h"
#include "base/sys/clock.h"
#include "base/sys/dir.h"
#include "base/sys/log.h"
#include "core/agent/launch.h"
#include "core/host/host_recovery.h"
#include "core/settings/retention.h"
#include "core/host/network_clients.h"
#include "core/inbound/inbound_request.h"
#include "core/request/approvals.h"
#include "io/http/client/httpc.h"
#include "io/journal/journal_async.h"
#include "text/sentence/texts.h"

#define END_MS 500 /* time for an instance to end after HOST_GRACE_MS */

void command_conf_print_error(const struct tc_err *err)
{
    fprintf(stderr, "turncast: %s\n", err_format(err));
}

/* On such a terminal, the connector cli keeps live rows; see its term_init. */
static bool oneshot_host_has_live_rows(void)
{
    const char *const type = getenv("TERM");
    return type && strcmp(type, "dumb") != 0 && isatty(STDERR_FILENO);
}

struct conf *command_conf_load(const struct args *args)
{
    struct tc_err err = {0};
    CLEANUP_FREE char *found = args->config ? NULL : conf_default_path();
    struct conf *conf = conf_load(args->config ? args->config : found, &err);
    if (!conf) {
        command_conf_print_error(&err);
        return NULL;
    }
    log_setup(conf->log_format, args->verbose ? LOG_DEBUG : conf->log_level, STDERR_FILENO);
    log_set_clears_below(oneshot_host_has_live_rows());
    return conf;
}

int oneshot_host_apply_plugins(struct conf *conf, const struct args *args,
                               const struct cli_command *c)
{
    struct tc_err err = {0};
    if (args->n_plugins)
        conf_remove_instances(conf);
    for (size_t i = 0; i < args->n_plugins; i++)
        if (conf_add_plugin(conf, args->plugins[i], &err) < 0) {
            args_usage_error(c, "%s", err_format(&err));
            return -1;
        }
    return 0;
}

/* Two hosts must not use one state directory: if another host holds the lock, this one runs without
 * state. */
static struct journal_async *oneshot_host_open_journal(struct loop *loop, const struct conf *conf)
{
    struct tc_err err = {0};
    bool in_use = false;
    const struct journal_limits limits = retention_limits(&conf->retention);
    struct journal_async *const l =
        journal_async_open(loop, conf->state_dir, &limits, &in_use, &err);
    if (!l)
        log_write(in_use ? LOG_INFO : LOG_WARN, "host", "running this turn without a journal: %s",
                  err_format(&err));
    else
        launch_set_owner(conf->state_dir);
    return l;
}

static void oneshot_host_recover(const struct oneshot_host *h)
{
    struct tc_err err = {0};
    if (h->journal && host_recovery_run(h->journal, h->dispatch, NULL, NULL, &err) < 0)
        log_write(LOG_ERR, "host", "%s", err_format(&err));
}

/* There is one turn and no chat, so the only input from people are answers and cancellations. */
static void oneshot_host_on_ask(void *ctx, struct host_call *a)
{
    struct oneshot_host *const h = ctx;
    const struct conf_instance *const inst = conf_instance_find(h->conf, a->instance);
    a->language = inst ? inst->chat.language : LANGUAGE_EN;
    TEXTS_IN(a->language);
    if (inst && h->requests && (a->kind == HOST_CALL_TICKET || a->kind == HOST_CALL_ANSWER))
        inbound_request_handle(h->requests, NULL, &h->access, inst, a);
    else
        host_call_complete(a, TC_DENIED, NULL, NULL);
}

/* For showing requests and reading answers. */
static bool has_terminal(void)
{
    CLEANUP_FD int keyboard = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
    return keyboard >= 0 && isatty(STDERR_FILENO);
}

static bool is_of_terminal(const struct conf_instance *inst)
{
    return strcmp(inst->plugin, "cli") == 0;
}

enum language oneshot_host_language(const struct conf *conf)
{
    for (size_t i = 0; i < conf->n_instances; i++)
        if (conf->instances[i].enabled && is_of_terminal(&conf->instances[i]))
            return conf->instances[i].chat.language;
    return LANGUAGE_EN;
}

/* Whether an instance can ask for approvals. The terminal connector can ask only on a terminal. */
static bool oneshot_host_can_ask(const struct conf *conf)
{
    for (size_t i = 0; i < conf->n_instances; i++) {
        const struct conf_instance *const inst = &conf->instances[i];
        if (inst->enabled && (inst->grants & CONF_ANSWER) &&
            (!is_of_terminal(inst) || has_terminal()))
            return true;
    }
    return false;
}

static void start_requests(struct oneshot_host *h)
{
    h->approvals = approvals_new(h->journal);
    h->requests = request_registry_new(
        &(struct request_registry_spec){.loop = h->loop,
                                        .journal = h->journal,
                                        .approvals = h->approvals,
                                        .unattended = !oneshot_host_can_ask(h->conf)});
}

/* For the host of the state directory, the directories that `serve` gives its instances; otherwise
 * temporary ones. NULL: instances get none. */
static const char *oneshot_host_make_directories(struct oneshot_host *h)
{
    struct tc_err err = {0};
    if (h->journal)
        h->instances = xasprintf("%s/instances", h->conf->state_dir);
    else
        h->instances = h->temporary = dir_create_temporary(&err);
    if (h->instances && dir_create_all(h->instances, &err) == 0)
        return h->instances;
    log_write(LOG_WARN, "host", "connectors have no directory of their own: %s", err_format(&err));
    return NULL;
}

int oneshot_host_start(struct oneshot_host *h, const struct conf *conf, const struct args *args,
                       bool keeps)
{
    unsigned failed = 0;
    h->conf = conf;
    h->loop = loop_new();
    h->httpc = network_clients_new_http(h->loop, conf);
    h->journal = keeps ? oneshot_host_open_journal(h->loop, conf) : NULL;
    if (keeps)
        start_requests(h);
    const struct connector_services services = {
        .loop = h->loop,
        .httpc = h->httpc,
        .journal = h->journal,
        .instances = oneshot_host_make_directories(h),
        /* `run` keeps the turn and reports the outcome in its result, which programs read. */
        .prints = keeps ? PRINTS_OURS : PRINTS_ALL,
        .ask = oneshot_host_on_ask,
        .ctx = h,
    };
    h->dispatch = dispatch_new(conf, &services, &failed);
    if (failed == 0 || args->n_plugins == 0) {
        oneshot_host_recover(h);
        dispatch_resume_deliveries(h->dispatch);
        return 0;
    }
    oneshot_host_stop(h);
    return -1;
}

/* Reports lost events and failed callbacks. */
struct losses {
    bool late; /* deliveries are incomplete after the time limit */
    uint64_t count;
};

static void oneshot_host_print_losses(void *ctx, const struct dispatch_instance *i)
{
    struct losses *const losses = ctx;
    const struct channel_health *const health = &i->health;
    if (health->failed)
        fprintf(stderr, "turncast: instance %s: %" PRIu64 " callback%s failed\n", i->name,
                health->failed, PLURAL(health->failed, "", "s"));
    if (health->dropped)
        fprintf(stderr, "turncast: instance %s: lost %" PRIu64 " event%s\n", i->name,
                health->dropped, PLURAL(health->dropped, "", "s"));
    if (losses->late && i->busy)
        fprintf(stderr, "turncast: instance %s: events are undelivered after %d s\n", i->name,
                HOST_GRACE_MS / 1000);
    losses->count += health->failed + health->dropped;
}

bool oneshot_host_settle(struct oneshot_host *h)
{
    struct losses losses = {.late = !dispatch_drain(h->dispatch, HOST_GRACE_MS)};
    dispatch_each_instance(h->dispatch, oneshot_host_print_losses, &losses);
    h->late = losses.late;
    return losses.late || losses.count > 0;
}

void oneshot_host_stop(struct oneshot_host *h)
{
    const int64_t deadline_ms = clock_mono_ms() + HOST_GRACE_MS;
    if (!h->late)
        dispatch_drain(h->dispatch, HOST_GRACE_MS);
    const int64_t left = deadline_ms - clock_mono_ms();
    dispatch_free(h->dispatch, left > END_MS ? left : END_MS);
    journal_async_close(h->journal);
    request_registry_free(h->requests);
    approvals_free(h->approvals);
    httpc_free(h->httpc);
    loop_free(h->loop);
    if (h->temporary)
        dir_remove_all(h->temporary);
    free(h->instances);
    h->instances = h->temporary = NULL;
}

struct visibility oneshot_host_load_visibility(struct visibility_store *store, const char *agent)
{
    struct tc_err err = {0};
    struct visibility v;
    if (visibility_store_load(store, agent, &v, &err) < 0)
        log_write(LOG_WARN, "host", "cannot read stored visibility: %s; using the configured one",
                  err_format(&err));
    return v;
}
