/* SPDX-License-Identifier: MIT
 * turncast serve: runs the connectors of the configuration and answers what people write there,
 * until it is asked to end. */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "api/api.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/host.h"
#include "cli/stop.h"
#include "core/server.h"
#include "dialect/dialect.h"
#include "io/loop.h"
#include "io/process.h"

static const struct arg rows[] = {
    ARG_CONFIG,
    ARG_VERBOSE,
    {0},
};

/* Whoever may submit has somebody to submit to. */
static int check_agents(const struct conf *conf)
{
    for (size_t i = 0; i < conf->n_instances; i++) {
        const struct conf_instance *const inst = &conf->instances[i];
        const struct conf_agent *const agent = conf_agent_find(conf, inst->agent);
        if (!inst->enabled || !(inst->grants & CONF_SUBMIT) ||
            (agent && dialect_find(agent->dialect)))
            continue;
        fprintf(stderr, "turncast: %s:%d: plugins.instances.%s: %s\n", conf->file, inst->line,
                inst->name, agent ? "its agent is of an unknown dialect" : "it has no agent");
        return EXIT_USAGE;
    }
    return 0;
}

static int check_keys(struct conf *conf)
{
    struct tc_err err = {0};
    if (conf_resolve_keys(conf, &err) == 0)
        return 0;
    host_tell(&err);
    return EXIT_USAGE;
}

static void on_signal(void *arg, int signo)
{
    log_line(LOG_INFO, "host", "asked to end by signal %d", signo);
    server_stop(arg);
}

static void serve(struct server *s)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct loop_signal *watched[sizeof signals / sizeof *signals] = {NULL};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (stop_is_wanted(signals[i]))
            watched[i] = loop_signal_new(server_loop(s), signals[i], on_signal, s);
    if (server_port(s))
        log_line(LOG_INFO, "host", "listening on port %u", server_port(s));
    log_line(LOG_INFO, "host", "serving");
    server_run(s);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        loop_signal_free(watched[i]);
}

static int start_and_serve(const struct conf *conf)
{
    struct tc_err err = {0};
    process_become_subreaper();
    struct server *const s = server_new(conf, &err);
    if (!s) {
        host_tell(&err);
        return EXIT_USAGE;
    }
    struct api *const api = api_new(conf, s);
    serve(s);
    api_free(api);
    server_free(s);
    return 0;
}

static int run(const struct args *args)
{
    /* Its memory holds tokens for as long as it lives: no core, nobody's debugger. Agents, which
     * are programs of their own, are not concerned. */
    prctl(PR_SET_DUMPABLE, 0);
    struct conf *const conf = host_load_conf(args);
    if (!conf)
        return EXIT_USAGE;
    int status = check_agents(conf);
    if (status == 0)
        status = check_keys(conf);
    if (status == 0)
        status = start_and_serve(conf);
    conf_free(conf);
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
        "directory.",
    .args = rows,
    .run = run,
};
