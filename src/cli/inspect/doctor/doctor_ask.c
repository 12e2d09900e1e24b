/* SPDX-License-Identifier: MIT
 * Checks that need other processes and the network, each with a time limit: the programs of agents
 * and the services of instances run in parallel before any result is printed. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/inspect/doctor/doctor.h"
#include "core/agent/launch.h"
#include "io/redis/redis.h"

#define PROXY_MS 3000

/* Uses the program that would become the agent's process. */
static struct agent_version *doctor_ask_remote(const struct conf_agent *a)
{
    struct tc_err err = {0};
    char **argv = launch_build_argv(a, NULL, NULL, &err);
    if (!argv)
        return NULL;
    size_t n = 0;
    while (argv[n])
        n++;
    argv = xrealloc(argv, (n + 2) * sizeof *argv);
    argv[n] = xstrdup("probe=yes");
    argv[n + 1] = NULL;
    char **const env = launch_build_env(a, environ, NULL);
    struct agent_version *const asked = agent_program_query_version(argv, env);
    launch_free(argv);
    launch_free(env);
    return asked;
}

static void doctor_query_agents(struct doctor *d)
{
    d->agents = xcalloc(d->conf->n_agents + 1, sizeof *d->agents);
    for (size_t i = 0; i < d->conf->n_agents; i++) {
        struct doctor_agent *const asked = &d->agents[i];
        const enum conf_transport_kind kind = d->conf->agents[i].transport.kind;
        if (kind == CONF_TRANSPORT_SSE || kind == CONF_TRANSPORT_NATS)
            asked->version = doctor_ask_remote(&d->conf->agents[i]);
        if (!conf_agent_program(&d->conf->agents[i]))
            continue;
        asked->file = agent_program_find(conf_agent_program(&d->conf->agents[i]));
        asked->version = asked->file ? agent_program_ask_version(asked->file) : NULL;
    }
}

static void doctor_query_services(struct doctor *d)
{
    const char *const *const dirs = (const char *const *)d->conf->plugin_dirs;
    d->instances = xcalloc(d->conf->n_instances + 1, sizeof *d->instances);
    d->services = service_probes_new(d->conf);
    for (size_t i = 0; i < d->conf->n_instances; i++) {
        const struct conf_instance *const inst = &d->conf->instances[i];
        struct doctor_instance *const asked = &d->instances[i];
        if (!inst->enabled)
            continue;
        asked->plugin = loader_probe_by_name(inst->plugin, dirs, &asked->err);
        if (asked->plugin)
            asked->probe = service_probes_add(d->services, inst, asked->plugin);
    }
    service_probes_run(d->services);
}

void doctor_query_all(struct doctor *d)
{
    doctor_query_agents(d);
    doctor_query_services(d);
}

void doctor_free_queries(struct doctor *d)
{
    service_probes_free(d->services);
    for (size_t i = 0; i < d->conf->n_instances; i++)
        loader_unref_plugin(d->instances[i].plugin);
    for (size_t i = 0; i < d->conf->n_agents; i++)
        free(d->agents[i].file);
    free(d->instances);
    free(d->agents);
}

/* ---- the server of the store ---- */

/* Number of hosts that use the conversation locks there; -1: scripts are refused. */
static int doctor_list_hosts(struct redis_client *redis, const char *prefix, struct buf *names,
                             size_t *n, struct tc_err *err)
{
    struct arena arena = {0};
    struct redis_reply reply = {.type = REDIS_NOTHING};
    const char *const words[] = {"EVAL",
                                 "local hosts = redis.call('ZRANGE', KEYS[1], 0, 99) "
                                 "table.sort(hosts) return hosts",
                                 "1", arena_sprintf(&arena, "%s:turncast_hosts", prefix), NULL};
    const int rc =
        redis_call_pipeline(redis, &(struct redis_command){words}, 1, &arena, &reply, err);
    *n = reply.type == REDIS_LIST ? reply.n : 0;
    for (size_t i = 0; i < *n; i++)
        buf_printf(names, "%s%.*s", i ? ", " : "", (int)strcspn(reply.items[i].text.p, "/"),
                   reply.items[i].text.p);
    arena_fini(&arena);
    return rc;
}

/* Whether the hosts that share the server can prevent a conversation from running twice. */
static void doctor_check_locks(struct doctor *d, struct redis_client *redis)
{
    const struct conf_store *const s = &d->conf->store;
    CLEANUP_BUF struct buf names = {0};
    struct tc_err err = {0};
    size_t n = 0;
    if (doctor_list_hosts(redis, s->prefix, &names, &n, &err) < 0) {
        doctor_report(
            d, FINDING_ERROR, "locks",
            "Redis refuses scripts; sessions are not stored in it, and hosts that share it "
            "cannot lock conversations: %s",
            err.text);
        doctor_suggest(d, "permit EVAL and the keys %s:* to the user of Redis", s->prefix);
    } else if (!s->lock_s && n) {
        doctor_report(d, FINDING_WARNING, "locks",
                      "store.redis.lock_s = 0, but Redis is shared with %s; a conversation can run "
                      "on two hosts at the same time",
                      names.p);
        doctor_suggest(d, "remove store.redis.lock_s");
    } else {
        doctor_report(d, FINDING_OK, "locks", "hosts that lock conversations in Redis: %s",
                      n ? names.p : "none yet");
    }
}

void doctor_check_store(struct doctor *d)
{
    const struct conf_store *const s = &d->conf->store;
    if (s->kind != CONF_REDIS)
        return;
    const struct redis_spec spec = {.host = s->host,
                                    .path = s->path,
                                    .port = (uint16_t)s->port,
                                    .password = s->password,
                                    .database = s->database};
    static const char *const ping[] = {"PING", NULL};
    struct arena arena = {0};
    struct redis_reply reply;
    struct tc_err err = {0};
    struct redis_client *const redis = redis_new(&spec);
    if (redis_call_pipeline(redis, &(struct redis_command){ping}, 1, &arena, &reply, &err) == 0) {
        doctor_report(d, FINDING_OK, "redis", "%s answers", s->path ? s->path : s->host);
        doctor_check_locks(d, redis);
    } else {
        doctor_report(d, FINDING_ERROR, "redis", "%s", err_format(&err));
        doctor_suggest(d, "start the server, or change store.redis");
    }
    redis_free(redis);
    arena_fini(&arena);
}

/* ---- the proxy ---- */

/* 0, or an errno. */
static int doctor_ask_connect(const struct addrinfo *at)
{
    CLEANUP_FD const int fd =
        socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, at->ai_protocol);
    int why = 0;
    socklen_t len = sizeof why;
    if (fd < 0 || (connect(fd, at->ai_addr, at->ai_addrlen) < 0 && errno != EINPROGRESS))
        return errno;
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    if (poll(&ready, 1, PROXY_MS) <= 0)
        return ETIMEDOUT;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &len) < 0 ? errno : why;
}

/* The URL has a port, as the configuration requires. NULL, or why the proxy cannot be reached. */
static const char *doctor_ask_host(const char *host, const char *port)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *list;
    const int rc = getaddrinfo(host, port, &hints, &list);
    if (rc)
        return gai_strerror(rc);
    const int why = doctor_ask_connect(list);
    freeaddrinfo(list);
    return why ? strerror(why) : NULL;
}

void doctor_check_proxy(struct doctor *d)
{
    const char *const scheme = d->conf->proxy.url ? strstr(d->conf->proxy.url, "://") : NULL;
    if (!scheme)
        return;
    CLEANUP_FREE char *host = xstrndup(scheme + 3, strcspn(scheme + 3, "/"));
    CLEANUP_FREE char *shown = xstrdup(host);
    char *const port = strrchr(host, ':');
    if (!port)
        return;
    *port = 0;
    const size_t len = strlen(host);
    const bool v6 = *host == '[' && len > 1 && host[len - 1] == ']';
    if (v6)
        host[len - 1] = 0;
    const char *const why = doctor_ask_host(host + v6, port + 1);
    if (!why) {
        doctor_report(d, FINDING_OK, "proxy", "%s accepts connections", shown);
        return;
    }
    doctor_report(d, FINDING_ERROR, "proxy", "cannot connect to %s: %s", shown, why);
    doctor_suggest(d, "start the proxy, or change proxy.url");
}
