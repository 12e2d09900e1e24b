/* SPDX-License-Identifier: MIT
 * turncast serve: runs the connectors of the configuration and answers what people write there,
 * until it is asked to end. */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "api/api.h"
#include "api/control/control.h"
#include "base/sys/log.h"
#include "cli/command_table.h"
#include "cli/oneshot_host.h"
#include "core/host/host.h"
#include "core/host/host_reload.h"
#include "io/loop/loop.h"
#include "io/loop/service_notify.h"
#include "io/process/cgroup.h"

static const struct arg rows[] = {
    ARG_CONFIG,
    ARG_VERBOSE,
    {0},
};

/* What a serving process has beside its server. */
struct serving {
    const struct args *args;
    struct server *server;
    struct api *api; /* or NULL */
    struct notify *notify;
    bool taken;            /* by the reload that is under way */
    struct tc_err failure; /* why it had nothing to do */
};

#define END_MS 20000 /* what the host itself needs at its end, beside its turns */

static void on_end(void *arg, int signo)
{
    const struct serving *const s = arg;
    log_line(LOG_INFO, "host", "asked to end by signal %d", signo);
    notify_stopping(s->notify, server_conf(s->server)->conversations.drain_ms + END_MS);
    server_stop(s->server);
}

static void on_hangup(void *arg, int signo)
{
    const struct serving *const s = arg;
    (void)signo;
    server_reload_soon(s->server);
}

static void on_started(void *ctx, const struct tc_err *err)
{
    struct serving *const s = ctx;
    if (err) {
        s->failure = *err;
        return;
    }
    if (server_is_ending(s->server))
        return;
    log_line(LOG_INFO, "host", "serving");
    notify_ready(s->notify, "serving");
}

static void on_reloading(void *ctx, bool begins)
{
    struct serving *const s = ctx;
    if (server_is_ending(s->server))
        return;
    if (begins) {
        s->taken = false;
        notify_reloading(s->notify);
    } else {
        notify_ready(s->notify,
                     s->taken ? "serving" : "serving; the last configuration was refused");
    }
}

static void on_reloaded(void *ctx, const struct conf *conf)
{
    struct serving *const s = ctx;
    s->taken = true;
    log_setup(conf->log_format, s->args->verbose ? LOG_DEBUG : conf->log_level, STDERR_FILENO);
    if (s->api)
        api_set_conf(s->api, conf);
}

static void on_drained(void *ctx)
{
    const struct serving *const s = ctx;
    if (s->api)
        api_drain(s->api);
}

static void serve(struct serving *s)
{
    struct loop *const loop = server_loop(s->server);
    struct loop_signal *const watched[] = {
        loop_signal_new(loop, SIGINT, on_end, s),
        loop_signal_new(loop, SIGTERM, on_end, s),
        loop_signal_new(loop, SIGHUP, on_hangup, s),
    };
    if (server_port(s->server))
        log_line(LOG_INFO, "host", "listening on port %u", server_port(s->server));
    server_run(s->server);
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        loop_signal_free(watched[i]);
}

static void settle(void)
{
    if (cgroup_settle())
        log_line(LOG_INFO, "host", "every turn has a cgroup of its own");
    else
        log_line(LOG_DEBUG, "host", "no cgroup is delegated: turns have none of their own");
}

static int start_and_serve(const struct conf *conf, const struct args *args)
{
    struct tc_err err = {0};
    settle();
    struct server *const s = server_new(conf, &err);
    if (!s) {
        host_tell(&err);
        return EXIT_USAGE;
    }
    struct serving serving = {
        .args = args,
        .server = s,
        .api = api_new(conf, s),
        .notify = notify_new(server_loop(s)),
    };
    struct control *const control = control_new(s, &err);
    if (!control)
        log_line(LOG_WARN, "host", "turncast status, reload and restart will not work: %s",
                 err_str(&err));
    server_set_watch(s, &(struct server_watch){.started = on_started,
                                               .reloading = on_reloading,
                                               .reloaded = on_reloaded,
                                               .drained = on_drained,
                                               .ctx = &serving});
    serve(&serving);
    control_free(control);
    notify_free(serving.notify);
    api_free(serving.api);
    server_free(s);
    if (!*serving.failure.text)
        return 0;
    host_tell(&serving.failure);
    return EXIT_USAGE;
}

static int run(const struct args *args)
{
    /* Its memory holds tokens for as long as it lives: no core, nobody's debugger. Agents, which
     * are programs of their own, are not concerned. */
    prctl(PR_SET_DUMPABLE, 0);
    struct conf *const conf = host_load_conf(args);
    if (!conf)
        return EXIT_USAGE;
    struct tc_err err = {0};
    const bool good = reload_vet(conf, &err) == 0;
    if (!good)
        host_tell(&err);
    const int status = good ? start_and_serve(conf, args) : EXIT_USAGE;
    conf_unref(conf);
    return status;
}

const struct command cmd_serve = {
    .name = "serve",
    .operands = "",
    .summary = "Answers what people write to the connectors",
    .about =
        "Runs the instances of the configuration until SIGTERM or Ctrl-C. Turns that run then get\n"
        "their time to end (conversations.drain_s), a second signal ends them, a third one kills\n"
        "them. What is not delivered stays on disk for the next start. One host per state\n"
        "directory. SIGHUP reads the configuration again.",
    .args = rows,
    .run = run,
};
