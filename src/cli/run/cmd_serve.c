/* SPDX-License-Identifier: MIT
 * `turncast serve`: runs the host until it is asked to stop. */
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

static const struct args_option rows[] = {
    ARG_CONFIG,
    ARG_VERBOSE,
    {0},
};

/* The parts of a serving process. */
struct serving {
    const struct args *args;
    struct host *server;
    struct api_context *api;          /* or NULL */
    struct api_context *operator_api; /* control socket; NULL: none */
    struct service_notify *notify;
    bool taken;            /* set by the current reload */
    struct tc_err failure; /* why the host could not start, or must stop */
};

#define END_MS 20000 /* time that the host needs to shut down, in addition to that of its turns */

static void cmd_serve_on_termination(void *arg, int signo)
{
    const struct serving *const s = arg;
    log_write(
        LOG_INFO, "host",
        "received SIG%s; shutting down; running turns have up to %lld s (conversations.drain_s)",
        sigabbrev_np(signo), (long long)(host_conf(s->server)->conversations.drain_ms / 1000));
    service_notify_stopping(s->notify, host_conf(s->server)->conversations.drain_ms + END_MS);
    host_stop(s->server);
}

static void cmd_serve_on_hangup(void *arg, int signo)
{
    const struct serving *const s = arg;
    (void)signo;
    host_reload_soon(s->server);
}

static void cmd_serve_on_started(void *ctx, const struct tc_err *err)
{
    struct serving *const s = ctx;
    if (err) {
        s->failure = *err;
        return;
    }
    if (host_is_stopping(s->server))
        return;
    log_write(LOG_INFO, "host", "serving");
    service_notify_ready(s->notify, "serving");
}

static void cmd_serve_on_failed(void *ctx, const struct tc_err *err)
{
    struct serving *const s = ctx;
    s->failure = *err;
}

static void cmd_serve_on_reloading(void *ctx, bool begins)
{
    struct serving *const s = ctx;
    if (host_is_stopping(s->server))
        return;
    if (begins) {
        s->taken = false;
        service_notify_reloading(s->notify);
    } else {
        service_notify_ready(
            s->notify, s->taken
                           ? "serving"
                           : "serving; last reload rejected, previous configuration still active");
    }
}

static void on_reloaded(void *ctx, const struct conf *conf)
{
    struct serving *const s = ctx;
    s->taken = true;
    log_setup(conf->log_format, s->args->verbose ? LOG_DEBUG : conf->log_level, STDERR_FILENO);
    if (s->api)
        api_set_conf(s->api, conf);
    if (s->operator_api)
        api_set_conf(s->operator_api, conf);
}

static void cmd_serve_on_drained(void *ctx)
{
    const struct serving *const s = ctx;
    if (s->api)
        api_drain(s->api);
    if (s->operator_api)
        api_drain(s->operator_api);
}

static void cmd_serve_run_loop(struct serving *s)
{
    struct loop *const loop = host_loop(s->server);
    struct loop_signal *const watched[] = {
        loop_signal_new(loop, SIGINT, cmd_serve_on_termination, s),
        loop_signal_new(loop, SIGTERM, cmd_serve_on_termination, s),
        loop_signal_new(loop, SIGHUP, cmd_serve_on_hangup, s),
    };
    if (host_port(s->server))
        log_write(LOG_INFO, "host", "HTTP: listening on port %u (http.listen = %s)",
                  host_port(s->server), host_conf(s->server)->http.listen);
    host_run(s->server);
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        loop_signal_free(watched[i]);
}

static void cmd_serve_enter_cgroup(void)
{
    if (cgroup_enter_leaf())
        log_write(LOG_INFO, "host", "running each turn in its own cgroup");
    else
        log_write(LOG_DEBUG, "host",
                  "no delegated cgroup; turns run without one (systemd: Delegate=yes)");
}

static int start_and_serve(const struct conf *conf, const struct args *args)
{
    struct tc_err err = {0};
    cmd_serve_enter_cgroup();
    struct host *const s = host_open(conf, &err);
    if (!s) {
        command_conf_print_error(&err);
        return EXIT_USAGE;
    }
    struct serving serving = {
        .args = args,
        .server = s,
        .api = api_new(conf, s),
        .notify = service_notify_new(host_loop(s)),
    };
    struct control *const control = control_new(s, &err);
    if (control)
        serving.operator_api = api_new_operator(conf, s, control_httpd(control));
    else
        log_write(LOG_WARN, "host",
                  "cannot open the control socket; status, reload, restart, answer, turns, send, "
                  "cancel and tail are unavailable: %s",
                  err_format(&err));
    host_set_watch(s, &(struct server_watch){.started = cmd_serve_on_started,
                                             .failed = cmd_serve_on_failed,
                                             .reloading = cmd_serve_on_reloading,
                                             .reloaded = on_reloaded,
                                             .drained = cmd_serve_on_drained,
                                             .ctx = &serving});
    cmd_serve_run_loop(&serving);
    api_free(serving.operator_api);
    control_free(control);
    service_notify_free(serving.notify);
    api_free(serving.api);
    host_close(s);
    if (!*serving.failure.text)
        return 0;
    command_conf_print_error(&serving.failure);
    return EXIT_USAGE;
}

static int cmd_serve_run(const struct args *args)
{
    /* Memory contains tokens: disables core dumps and debuggers for this process, but not for
     * agents, which are separate programs. */
    prctl(PR_SET_DUMPABLE, 0);
    struct conf *const conf = command_conf_load(args);
    if (!conf)
        return EXIT_USAGE;
    struct tc_err err = {0};
    const bool good = host_reload_check(conf, &err) == 0;
    if (!good)
        command_conf_print_error(&err);
    const int status = good ? start_and_serve(conf, args) : EXIT_USAGE;
    conf_unref(conf);
    return status;
}

const struct cli_command cmd_serve = {
    .name = "serve",
    .operands = "",
    .summary = "Runs the connectors and answers messages",
    .about =
        "Runs the configured instances until SIGTERM or Ctrl-C. Running turns then have\n"
        "conversations.drain_s to finish; a second signal cancels them, a third kills their\n"
        "agents. Undelivered messages stay on disk for the next start. A state directory is used\n"
        "by one host only. SIGHUP reloads the configuration.",
    .args = rows,
    .run = cmd_serve_run,
};
