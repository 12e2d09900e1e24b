/* SPDX-License-Identifier: MIT
 * Owns the connection of a host to the bus: the steps from connecting to active, and the parts that
 * work while it is active. */
#include "core/bus/bus.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "base/sys/uuid.h"
#include "core/bus/bus_internal.h"
#include "event/json/json_writer.h"

#define RETRY_MS 5000
#define LOST_MS 1000 /* interval of checks for dropped messages */
#define DRAIN_MS 3000
#define DRAIN_LOOK_MS 20
#define STREAM_NOT_FOUND 10059
#define STREAM_EXISTS 10058 /* after a change of the configuration */

/* Bucket bounds of histograms, in seconds. */
static const double time_bounds[] = {0.0005, 0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.008,
                                     0.01,   0.02,  0.05,  0.1,   0.2,   0.5,   5};

const char *bus_state_name(enum bus_state state)
{
    static const char *const names[] = {"disconnected", "setting up", "joining", "active",
                                        "unusable"};
    return names[state];
}

/* ---- callbacks on activation ---- */

struct bus_watcher {
    LIST_ENTRY(bus_watcher) next;
    void (*active)(void *ctx);
    void *ctx;
};

struct bus_watcher *bus_watch(struct bus *b, void (*active)(void *ctx), void *ctx)
{
    struct bus_watcher *const w = xcalloc(1, sizeof *w);
    *w = (struct bus_watcher){.active = active, .ctx = ctx};
    LIST_INSERT_HEAD(&b->watchers, w, next);
    if (b->link.is_active)
        active(ctx);
    return w;
}

void bus_watcher_free(struct bus_watcher *w)
{
    if (!w)
        return;
    LIST_REMOVE(w, next);
    free(w);
}

static void bus_notify_watchers(struct bus *b)
{
    struct bus_watcher *w = LIST_FIRST(&b->watchers), *next;
    for (; w; w = next) {
        next = LIST_NEXT(w, next);
        w->active(w->ctx);
    }
}

void bus_set_unfinished(struct bus *b, bus_found_unfinished *found, void *ctx)
{
    bus_viewer_set_unfinished(b->viewer, found, ctx);
}

struct bus_link *bus_get_link(struct bus *b)
{
    return &b->link;
}

/* ---- states ---- */

static void bus_enter(struct bus *b, enum bus_state state, const char *why)
{
    const bool is_active = state == BUS_ACTIVE;
    snprintf(b->why, sizeof b->why, "%s", why);
    if (b->state != state)
        b->since_ms = clock_mono_ms();
    b->state = state;
    if (b->link.is_active && !is_active)
        b->link.inactive_ms = clock_mono_ms();
    b->link.is_active = is_active;
    if (!is_active)
        return;
    bus_publisher_resume(b->publisher);
    bus_viewer_resume(b->viewer, b->has_missed);
    b->has_missed = false;
    bus_lead_resume_all(b);
    if (b->runs)
        bus_publisher_resume(b->runs);
    bus_notify_watchers(b);
}

/* Logs the same reason only once. */
static void bus_fail(struct bus *b, const char *why)
{
    if (strcmp(b->why, why) != 0)
        log_write(LOG_ERR, "bus", "%s", why);
    bus_enter(b, BUS_UNUSABLE, why);
    loop_timer_set(b->retry, RETRY_MS);
}

/* ---- streams ---- */

static void bus_set_up_stream(struct bus *b);

static void bus_next_stream(struct bus *b)
{
    if (++b->stream < BUS_STREAMS) {
        bus_set_up_stream(b);
        return;
    }
    bus_enter(b, BUS_JOINING, "");
    bus_lease_resume(b->lease);
}

static void bus_request_api(struct bus *b, const char *what, struct str body,
                            nats_client_on_reply *on_reply)
{
    CLEANUP_BUF struct buf subject = {0};
    buf_printf(&subject, "$JS.API.STREAM.%s.", what);
    bus_stream_name(&subject, &b->link.names, (enum bus_stream)b->stream);
    b->asks = b->generation;
    nats_client_request(b->link.client,
                        &(struct nats_client_publication){.subject = subject.p, .data = body},
                        BUS_STORE_MS, on_reply, b);
}

/* False: the connection was replaced meanwhile; or there was no reply, and the request is
 * repeated. */
static bool bus_accepts_reply(struct bus *b, enum nats_client_result result)
{
    if (b->asks != b->generation || b->state != BUS_SETTING_UP)
        return false;
    if (result == NATS_CLIENT_NOBODY)
        bus_fail(b, "the NATS server has no JetStream; enable it with jetstream { store_dir: … } "
                    "in its configuration");
    else if (result != NATS_CLIENT_REPLIED)
        bus_fail(b, "the NATS server does not answer requests for JetStream; check that the user "
                    "may publish to $JS.API.>");
    return result == NATS_CLIENT_REPLIED;
}

/* All hosts use the lease time of the bucket, whatever their configurations say. */
static void bus_read_lease_duration(struct bus *b, struct str info)
{
    b->link.lease_ms[b->stream] = bus_stream_read_max_age(info);
}

static void bus_fail_stream(struct bus *b, const char *what, const struct bus_ack *ack)
{
    CLEANUP_BUF struct buf text = {0};
    buf_printf(&text, "the NATS server cannot %s stream %zu of %d: %s (error %" PRId64 ")", what,
               b->stream + 1, BUS_STREAMS, ack->text, ack->error);
    bus_fail(b, text.p);
}

static void bus_read_stream_info(struct bus *b, struct str info)
{
    CLEANUP_BUF struct buf name = {0}, why = {0}, text = {0};
    const enum bus_stream stream = (enum bus_stream)b->stream;
    bus_stream_name(&name, &b->link.names, stream);
    const enum bus_stream_fit fit =
        bus_stream_compare(info, &b->link.names, stream, b->replicas, &why);
    if (fit == BUS_STREAM_USELESS) {
        buf_printf(&text,
                   "stream %s has another %s than turncast needs; delete it, or set another "
                   "bus.prefix",
                   name.p, why.p);
        bus_fail(b, text.p);
        return;
    }
    if (fit == BUS_STREAM_OTHER_LIMITS && !b->has_joined)
        log_write(LOG_WARN, "bus", "stream %s has other limits: %s", name.p, why.p);
    bus_read_lease_duration(b, info);
    bus_next_stream(b);
}

static void bus_on_created(void *ctx, enum nats_client_result result,
                           const struct nats_client_message *m)
{
    struct bus *const b = ctx;
    struct bus_ack ack;
    if (!bus_accepts_reply(b, result))
        return;
    bus_ack_read(m->data, &ack);
    if (!ack.error) {
        bus_read_lease_duration(b, m->data);
        bus_next_stream(b);
    } else if (ack.error == STREAM_EXISTS) { /* another host created it first */
        bus_set_up_stream(b);
    } else {
        bus_fail_stream(b, "create", &ack);
    }
}

static void bus_on_info(void *ctx, enum nats_client_result result,
                        const struct nats_client_message *m)
{
    struct bus *const b = ctx;
    struct bus_ack ack;
    CLEANUP_BUF struct buf config = {0};
    if (!bus_accepts_reply(b, result))
        return;
    bus_ack_read(m->data, &ack);
    if (ack.error == STREAM_NOT_FOUND) {
        bus_stream_config(&config, &b->link.names, (enum bus_stream)b->stream, b->replicas);
        bus_request_api(b, "CREATE", (struct str){config.p, config.len}, bus_on_created);
    } else if (ack.error) {
        bus_fail_stream(b, "describe", &ack);
    } else {
        bus_read_stream_info(b, m->data);
    }
}

/* Looks for the stream before creating it: a server whose limits leave no room refuses to create a
 * stream even if it exists. */
static void bus_set_up_stream(struct bus *b)
{
    bus_request_api(b, "INFO", STR(""), bus_on_info);
}

static void bus_set_up(struct bus *b)
{
    CLEANUP_BUF struct buf text = {0};
    b->generation++;
    b->stream = 0;
    b->state = BUS_SETTING_UP;
    b->since_ms = clock_mono_ms();
    if (nats_client_max_payload(b->link.client) >= BUS_MESSAGE_LEAST) {
        bus_set_up_stream(b);
        return;
    }
    buf_printf(&text,
               "the NATS server takes messages of at most %zu bytes; set max_payload: 1MB in its "
               "configuration",
               nats_client_max_payload(b->link.client));
    bus_fail(b, text.p);
}

static void bus_on_retry(void *arg)
{
    struct bus *const b = arg;
    if (nats_client_is_connected(b->link.client) && b->state == BUS_UNUSABLE)
        bus_set_up(b);
}

/* ---- the connection ---- */

static void bus_on_connection(void *ctx, bool connected, const char *text)
{
    struct bus *const b = ctx;
    b->generation++;
    if (b->changed)
        b->changed(b->changed_ctx, connected);
    if (connected) {
        log_write(LOG_INFO, "bus", "connected to %s", text);
        snprintf(b->server, sizeof b->server, "%s", text);
        b->has_missed = true;
        bus_set_up(b);
        return;
    }
    if (b->state != BUS_DISCONNECTED || strcmp(b->why, text) != 0)
        log_write(LOG_WARN, "bus", "no connection to the NATS servers: %s", text);
    *b->server = '\0';
    bus_lease_pause(b->lease);
    bus_lead_pause_all(b);
    bus_enter(b, BUS_DISCONNECTED, text);
}

struct nats_client *bus_get_client(struct bus *b)
{
    return b->link.client;
}

void bus_watch_connection(struct bus *b, void (*changed)(void *ctx, bool connected), void *ctx)
{
    b->changed = changed;
    b->changed_ctx = ctx;
}

/* Fetches messages that were dropped because the loop was too slow. */
static void bus_on_watch(void *arg)
{
    struct bus *const b = arg;
    const uint64_t lost = nats_client_count_lost(b->link.client);
    if (lost) {
        log_write(LOG_WARN, "bus",
                  "messages that came faster than they were read: %" PRIu64
                  "; reading what was missed",
                  lost);
        b->link.counters.gaps += lost;
        b->has_missed = !b->link.is_active;
        if (b->link.is_active)
            bus_viewer_resume(b->viewer, true);
    }
    loop_timer_set(b->watch, LOST_MS);
}

/* ---- the lease of the host's name ---- */

static void bus_on_name_acquired(void *ctx)
{
    struct bus *const b = ctx;
    log_write(LOG_INFO, "bus", "this host is \"%s\" on the bus", b->link.names.host);
    b->has_joined = true;
    bus_enter(b, BUS_ACTIVE, "");
}

static void bus_format_twin(const struct bus *b, const char *boot, struct buf *why)
{
    buf_printf(why,
               "another host named \"%s\" is on the bus (start %s); set host.name to another "
               "name on one of them",
               b->link.names.host, boot);
}

static void bus_on_lost(void *ctx, const char *host, const char *boot)
{
    struct bus *const b = ctx;
    CLEANUP_BUF struct buf why = {0};
    if (!b->link.is_active)
        return;
    if (*host)
        bus_format_twin(b, boot, &why);
    else
        buf_add_str(&why, "the NATS servers did not renew the entry of this host in time");
    log_write(LOG_ERR, "bus", "%s", why.p);
    bus_enter(b, BUS_JOINING, why.p);
}

static void bus_on_refused(void *ctx, const char *host, const char *boot)
{
    struct bus *const b = ctx;
    CLEANUP_BUF struct buf why = {0};
    (void)host;
    bus_format_twin(b, boot, &why);
    snprintf(b->why, sizeof b->why, "%s", why.p);
    if (!b->has_joined && b->spec.name_taken)
        b->spec.name_taken(b->spec.name_ctx, why.p);
}

/* A state directory belongs to one host at a time, so the same directory on the same machine means
 * the same host after a restart. */
static void bus_make_identity(char *out, size_t size, const char *state_dir)
{
    char machine[64] = "";
    struct stat st = {0};
    const int fd = open("/etc/machine-id", O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && read(fd, machine, sizeof machine - 1) < 0)
        *machine = '\0';
    if (fd >= 0)
        close(fd);
    if (stat(state_dir, &st) < 0)
        st = (struct stat){0};
    uint64_t hash = hash_string(HASH_START, machine);
    hash = hash_bytes(hash, (const char *)&st.st_dev, sizeof st.st_dev);
    hash = hash_bytes(hash, (const char *)&st.st_ino, sizeof st.st_ino);
    hash = hash_string(hash, state_dir);
    snprintf(out, size, "%016" PRIx64, hash);
}

/* ---- status ---- */

struct bus_status bus_get_status(const struct bus *b)
{
    return (struct bus_status){
        .state = b->state,
        .since_ms = b->since_ms,
        .host = b->link.names.host,
        .server = b->server,
        .why = b->why,
        .waiting = bus_publisher_count_waiting(b->publisher),
        .oldest_ms = bus_publisher_get_age_ms(b->publisher),
        .followed = bus_viewer_count(b->viewer),
        .counters = b->link.counters,
    };
}

/* ---- create and free ---- */

static void bus_make_boot(char *boot)
{
    char id[37];
    size_t n = 0;
    uuid_make(id);
    for (const char *p = id; *p && n < BUS_BOOT_MAX; p++)
        if (*p != '-')
            boot[n++] = *p;
    boot[n] = '\0';
}

static struct nats_client *bus_connect(struct bus *b, const struct conf_bus *conf,
                                       struct tc_err *err)
{
    CLEANUP_FREE char *name = xasprintf("turncast %s", b->link.names.host);
    return nats_client_new(
        &(struct nats_client_spec){
            .loop = b->spec.loop,
            .urls = (const char *const *)conf->urls,
            .name = name,
            .credentials = conf->credentials,
            .token = conf->token,
            .creds_file = conf->creds_file,
            .ca = conf->tls.ca,
            .cert = conf->tls.cert,
            .key = conf->tls.key,
            .tls = conf->is_encrypted,
            .changed = bus_on_connection,
            .ctx = b,
        },
        err);
}

static void bus_describe_host(void *ctx, struct buf *out)
{
    const struct bus *const b = ctx;
    jsonw_member_str(out, "version", PACKAGE_VERSION);
    bus_lead_append_held(b, out);
    if (b->spec.describe)
        b->spec.describe(b->spec.ctx, out);
}

void bus_renew(struct bus *b)
{
    bus_lease_renew(b->lease);
}

static void bus_make_parts(struct bus *b)
{
    struct bus_link *const link = &b->link;
    b->lease = bus_lease_new(&(struct bus_lease_spec){
        .link = link,
        .bucket = BUS_HOSTS,
        .key = link->names.host,
        .describe = bus_describe_host,
        .held = bus_on_name_acquired,
        .lost = bus_on_lost,
        .refused = bus_on_refused,
        .ctx = b,
    });
    b->publisher = bus_publisher_new(link, b->spec.requests, b->spec.ctx);
    b->viewer = bus_viewer_new(link);
    b->retry = loop_timer_new(link->loop, bus_on_retry, b);
    b->watch = loop_timer_new(link->loop, bus_on_watch, b);
    loop_timer_set(b->watch, LOST_MS);
    bus_calls_begin(b);
}

struct bus *bus_new(const struct bus_spec *spec, struct tc_err *err)
{
    struct bus *const b = xcalloc(1, sizeof *b);
    const struct conf *const conf = spec->conf;
    b->spec = *spec;
    b->spec.conf = NULL;
    LIST_INIT(&b->watchers);
    b->replicas = conf->bus.replicas;
    b->link.loop = spec->loop;
    b->link.turnlog = spec->turnlog;
    b->link.counters.publish = b->link.counters.lag = (struct histogram){
        .bounds = time_bounds,
        .n_bounds = sizeof time_bounds / sizeof *time_bounds,
    };
    b->link.names = (struct bus_names){xstrdup(conf->bus.prefix), xstrdup(conf->host_name)};
    b->link.identity = b->identity;
    b->since_ms = clock_mono_ms();
    LIST_INIT(&b->leads);
    bus_make_boot(b->link.boot);
    bus_make_identity(b->identity, sizeof b->identity, conf->state_dir);
    b->link.client = bus_connect(b, &conf->bus, err);
    if (b->link.client) {
        bus_make_parts(b);
        return b;
    }
    bus_free(b);
    return NULL;
}

/* ---- turns run for other hosts ---- */

static void bus_on_run_fenced(void *ctx, const char *run)
{
    const struct bus *const b = ctx;
    b->run_fenced(b->runs_ctx, run);
}

void bus_share_runs(struct bus *b, struct turnlog *runs, void (*fenced)(void *ctx, const char *run),
                    void *ctx)
{
    static const struct bus_publisher_runs told = {bus_on_run_fenced};
    ASSERT(!b->runs);
    b->run_fenced = fenced;
    b->runs_ctx = ctx;
    b->runs = bus_publisher_new_for_runs(&b->link, runs, &told, b);
}

static bool bus_is_idle(const struct bus *b)
{
    return bus_publisher_is_idle(b->publisher) && (!b->runs || bus_publisher_is_idle(b->runs));
}

static void bus_look_drained(void *arg)
{
    struct bus *const b = arg;
    const bool waits = b->link.is_active && !bus_is_idle(b);
    if (waits && clock_mono_ms() < b->drain_ms)
        loop_timer_set(b->drain, DRAIN_LOOK_MS);
    else
        b->drained(b->drained_ctx);
}

void bus_drain(struct bus *b, void (*done)(void *ctx), void *ctx)
{
    ASSERT(!b->drain);
    b->drained = done;
    b->drained_ctx = ctx;
    b->drain_ms = clock_mono_ms() + DRAIN_MS;
    b->drain = loop_timer_new(b->link.loop, bus_look_drained, b);
    loop_timer_set(b->drain, 0);
}

/* Parts with subscriptions are freed before the client; parts that only send requests after it,
 * because the client answers all open requests. */
static void bus_free_parts(struct bus *b)
{
    ASSERT(LIST_EMPTY(&b->leads));
    b->link.is_active = false;
    b->generation++;
    loop_timer_free(b->retry);
    loop_timer_free(b->watch);
    loop_timer_free(b->drain);
    bus_lease_release(b->lease);
    bus_lease_free(b->lease);
    bus_viewer_free(b->viewer);
    bus_calls_end(b);
    nats_client_free(b->link.client);
    bus_publisher_free(b->publisher);
    bus_publisher_free(b->runs);
}

void bus_free(struct bus *b)
{
    if (!b)
        return;
    if (b->link.client)
        bus_free_parts(b);
    free((char *)(uintptr_t)b->link.names.prefix);
    free((char *)(uintptr_t)b->link.names.host);
    free(b);
}
