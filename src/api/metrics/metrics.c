/* SPDX-License-Identifier: MIT
 * Collects the numbers of the host and writes them as metrics. */
#include "api/metrics/metrics.h"

#include <stdlib.h>

#include "api/metrics/bus_metrics.h"
#include "api/metrics/process_usage.h"
#include "api/metrics/prometheus.h"
#include "api/metrics/turn_counters.h"
#include "api/metrics/turn_metrics.h"
#include "api/shared/api_internal.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "core/dispatch/dispatch.h"
#include "core/request/request_registry.h"
#include "io/journal/journal.h"

#define LABELS(...) ((const char *const[]){__VA_ARGS__, NULL})

struct metrics {
    struct api_context *api; /* NULL: the host part was freed */
    struct turn_counters *turns;
    size_t asking; /* responses that wait for the journal */
};

/* A response that waits for the journal. */
struct metrics_query {
    struct metrics *metrics;
    struct httpd_request *request;
};

/* ---- turns and events ---- */

struct now {
    double states[TURNLOG_CANCELLED + 1];
};

static bool metrics_count_state(void *ctx, const struct turnlog_turn *t)
{
    struct now *const now = ctx;
    now->states[t->state] += !t->spec.host;
    return true;
}

static void add_turns(struct buf *out, const struct metrics *m)
{
    static const struct prometheus_family running = {"turncast_turns_running", "gauge",
                                                     "Turns running."};
    static const struct prometheus_family waiting = {"turncast_turns_waiting", "gauge",
                                                     "Turns waiting to run."};
    static const struct prometheus_family events = {"turncast_events_total", "counter",
                                                    "Events of turns, by kind."};
    struct now now = {0};
    turnlog_each_turn(m->api->host.turnlog, metrics_count_state, &now);
    turn_metrics_append_turns(out, m->turns);
    prometheus_append_single(out, &running, now.states[TURNLOG_RUNNING]);
    prometheus_append_single(out, &waiting, now.states[TURNLOG_WAITING]);
    prometheus_append_header(out, &events);
    for (unsigned i = 0; i < TC_KINDS; i++)
        prometheus_append_sample(
            out, &events, "", LABELS("kind", kind_name((enum tc_kind)i)),
            (double)turnlog_count_events(m->api->host.turnlog, (enum tc_kind)i));
}

/* ---- instances ---- */

struct instances {
    struct dispatch_instance *list;
    size_t n;
};

static void metrics_add_instance(void *ctx, const struct dispatch_instance *i)
{
    struct instances *const all = ctx;
    all->list = xrealloc(all->list, (all->n + 1) * sizeof *all->list);
    all->list[all->n++] = *i;
}

static double fill_of(const struct dispatch_instance *i)
{
    return i->health.fill;
}

static double up_of(const struct dispatch_instance *i)
{
    return !i->health.down;
}

static double deaths_of(const struct dispatch_instance *i)
{
    return (double)i->health.deaths;
}

static double rss_of(const struct dispatch_instance *i)
{
    return (double)i->health.rss;
}

static double hung_of(const struct dispatch_instance *i)
{
    return i->health.hung;
}

static double dropped_of(const struct dispatch_instance *i)
{
    return (double)i->health.dropped;
}

static double delivered_of(const struct dispatch_instance *i)
{
    return (double)i->health.delivered;
}

static double failed_of(const struct dispatch_instance *i)
{
    return (double)i->health.failed;
}

static double waiting_of(const struct dispatch_instance *i)
{
    return (double)i->outbox.waiting;
}

static double in_flight_of(const struct dispatch_instance *i)
{
    return (double)i->outbox.in_flight;
}

static const struct {
    struct prometheus_family family;
    double (*value)(const struct dispatch_instance *i);
} numbers[] = {
    {{"turncast_instance_up", "gauge",
      "1 if the instance is running, 0 while its process is down."},
     up_of},
    {{"turncast_instance_deaths_total", "counter", "Crashes of the instance's process."},
     deaths_of},
    {{"turncast_instance_rss_bytes", "gauge",
      "Resident memory of the instance's process; 0 for a thread."},
     rss_of},
    {{"turncast_instance_queue_fill", "gauge", "Fill level of the event queue (1: full)."},
     fill_of},
    {{"turncast_instance_hung", "gauge", "1 while a callback exceeds its deadline."}, hung_of},
    {{"turncast_instance_dropped_total", "counter", "Events dropped: queue full."}, dropped_of},
    {{"turncast_instance_delivered_total", "counter", "Callbacks that returned 0."}, delivered_of},
    {{"turncast_instance_failed_total", "counter", "Callbacks that failed."}, failed_of},
    {{"turncast_instance_requests_waiting", "gauge", "Outbound requests queued."}, waiting_of},
    {{"turncast_instance_requests_in_flight", "gauge", "Outbound requests in flight."},
     in_flight_of},
};

static void add_times(struct buf *out, const struct prometheus_family *f,
                      const struct dispatch_instance *i)
{
    static const char *const bounds[STATUS_BUCKETS] = {"0.0001", "0.001", "0.01", "0.1",
                                                       "1",      "10",    "+Inf"};
    uint64_t n = 0;
    for (size_t b = 0; b < STATUS_BUCKETS; b++) {
        n += i->health.times.counts[b];
        prometheus_append_sample(out, f, "_bucket", LABELS("instance", i->name, "le", bounds[b]),
                                 (double)n);
    }
    prometheus_append_sample(out, f, "_sum", LABELS("instance", i->name),
                             (double)i->health.times.sum_us / 1e6);
    prometheus_append_sample(out, f, "_count", LABELS("instance", i->name), (double)n);
}

static void add_deliveries(struct buf *out, const struct prometheus_family *f,
                           const struct dispatch_instance *i)
{
    static const char *const classes[] = {[HTTPC_OK] = "ok",
                                          [HTTPC_REJECTED] = "rejected",
                                          [HTTPC_NOT_SENT] = "not_sent",
                                          [HTTPC_AMBIGUOUS] = "ambiguous"};
    for (size_t c = 0; c < sizeof classes / sizeof *classes; c++)
        prometheus_append_sample(out, f, "", LABELS("instance", i->name, "class", classes[c]),
                                 (double)i->outbox.attempts[c]);
    prometheus_append_sample(out, f, "", LABELS("instance", i->name, "class", "dead"),
                             (double)i->outbox.dead);
}

/* Only for instances that one of several hosts runs. */
static void metrics_add_leads(struct buf *out, const struct instances *all)
{
    static const struct prometheus_family lead = {
        "turncast_lead", "gauge", "1 while this host leads the instance; 0: it stands by."};
    bool is_first = true;
    for (size_t i = 0; i < all->n; i++) {
        if (!all->list[i].is_led)
            continue;
        if (is_first)
            prometheus_append_header(out, &lead);
        is_first = false;
        prometheus_append_sample(out, &lead, "", LABELS("instance", all->list[i].name),
                                 !all->list[i].stands_by);
    }
}

static void add_instances(struct buf *out, const struct metrics *m)
{
    static const struct prometheus_family times = {"turncast_instance_callback_seconds",
                                                   "histogram", "Duration of connector callbacks."};
    static const struct prometheus_family deliveries = {
        "turncast_deliveries_total", "counter",
        "Attempts of outbound requests by outcome; dead: moved to the dead letters."};
    struct instances all = {0};
    dispatch_each_instance(m->api->host.dispatch, metrics_add_instance, &all);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        prometheus_append_header(out, &numbers[k].family);
        for (size_t i = 0; i < all.n; i++)
            prometheus_append_sample(out, &numbers[k].family, "",
                                     LABELS("instance", all.list[i].name),
                                     numbers[k].value(&all.list[i]));
    }
    prometheus_append_header(out, &times);
    for (size_t i = 0; i < all.n; i++)
        add_times(out, &times, &all.list[i]);
    prometheus_append_header(out, &deliveries);
    for (size_t i = 0; i < all.n; i++)
        add_deliveries(out, &deliveries, &all.list[i]);
    metrics_add_leads(out, &all);
    free(all.list);
}

/* ---- host and delivery ---- */

static void metrics_add_outbox(struct buf *out, const struct journal_stats *s)
{
    static const struct prometheus_family rows = {"turncast_outbox_rows", "gauge",
                                                  "Rows of the outbox, by state."};
    static const struct prometheus_family bytes = {"turncast_outbox_bytes", "gauge",
                                                   "Bytes in the rows of the outbox."};
    static const struct prometheus_family age = {"turncast_outbox_oldest_seconds", "gauge",
                                                 "Age of the oldest row of the outbox."};
    static const struct prometheus_family dead = {"turncast_dead_letters", "gauge",
                                                  "Dead letters stored."};
    prometheus_append_header(out, &rows);
    prometheus_append_sample(out, &rows, "", LABELS("state", "queued"), (double)s->queued);
    prometheus_append_sample(out, &rows, "", LABELS("state", "in_flight"), (double)s->in_flight);
    prometheus_append_single(out, &bytes, (double)s->bytes);
    prometheus_append_single(out, &age, (double)s->oldest_ms / 1000);
    prometheus_append_single(out, &dead, (double)s->dead);
}

static void count_request(void *ctx, const struct request_view *v)
{
    (void)v;
    ++*(size_t *)ctx;
}

static void add_requests(struct buf *out, const struct request_registry *requests)
{
    static const struct prometheus_family open = {
        "turncast_requests_open", "gauge",
        "Approvals and questions of agents waiting for an answer."};
    size_t n = 0;
    request_each_open(requests, count_request, &n);
    prometheus_append_single(out, &open, (double)n);
}

static void add_http(struct buf *out, const struct api_context *a)
{
    static const struct prometheus_family requests = {"turncast_http_requests_total", "counter",
                                                      "HTTP requests answered, by status."};
    static const struct prometheus_family connections = {"turncast_http_connections", "gauge",
                                                         "Connections to the HTTP server."};
    static const struct prometheus_family feeds = {"turncast_http_streams", "gauge",
                                                   "Open event streams (SSE)."};
    prometheus_append_header(out, &requests);
    for (int status = HTTPD_STATUS_BEGIN; status < HTTPD_STATUS_END; status++) {
        char text[16];
        const uint64_t n = httpd_count_answers(a->host.httpd, status);
        snprintf(text, sizeof text, "%d", status);
        if (n)
            prometheus_append_sample(out, &requests, "", LABELS("status", text), (double)n);
    }
    prometheus_append_single(out, &connections, httpd_count_connections(a->host.httpd));
    prometheus_append_single(out, &feeds, (double)event_stream_count(a));
}

static void metrics_add_process(struct buf *out)
{
    static const struct prometheus_family build = {"turncast_build_info", "gauge",
                                                   "Always 1; the version is a label."};
    static const struct prometheus_family rss = {"turncast_process_resident_bytes", "gauge",
                                                 "Resident memory of turncast, without agents."};
    static const struct prometheus_family cpu = {"turncast_process_cpu_seconds_total", "counter",
                                                 "CPU time used by turncast, without agents."};
    static const struct prometheus_family files = {"turncast_process_open_files", "gauge",
                                                   "Open file descriptors of turncast."};
    const struct process_usage usage = process_usage_read();
    prometheus_append_header(out, &build);
    prometheus_append_sample(out, &build, "", LABELS("version", PACKAGE_VERSION), 1);
    prometheus_append_single(out, &rss, usage.resident_bytes);
    prometheus_append_single(out, &cpu, usage.cpu_s);
    prometheus_append_single(out, &files, usage.open_files);
}

/* ---- the response ---- */

static void metrics_answer(const struct metrics_query *asked, enum journal_status status,
                           const struct journal_stats *stats)
{
    const struct metrics *const m = asked->metrics;
    CLEANUP_BUF struct buf out = {0};
    add_turns(&out, m);
    add_requests(&out, m->api->host.requests);
    turn_metrics_append_budgets(&out, m->api->host.budgets);
    add_instances(&out, m);
    if (status == JOURNAL_DONE)
        metrics_add_outbox(&out, stats);
    bus_metrics_append(&out, m->api->host.bus, m->api->host.work, m->api->host.runner);
    add_http(&out, m->api);
    metrics_add_process(&out);
    httpd_answer(asked->request, 200, PROMETHEUS_TYPE, (struct str){out.p, out.len});
}

static void metrics_on_stats(void *ctx, enum journal_status status,
                             const struct journal_stats *stats)
{
    struct metrics_query *const asked = ctx;
    struct metrics *const m = asked->metrics;
    if (m->api)
        metrics_answer(asked, status, stats);
    else
        api_http_error(asked->request, 503, "ending", "turncast is shutting down.");
    free(asked);
    if (--m->asking == 0 && !m->api)
        free(m);
}

static void on_metrics(void *arg, struct httpd_request *r)
{
    struct metrics *const m = arg;
    if (!auth_require_grant(m->api->auth, r, CONF_WATCH))
        return;
    struct metrics_query *const asked = xmalloc(sizeof *asked);
    *asked = (struct metrics_query){m, r};
    m->asking++;
    journal_async_stats(m->api->host.journal, metrics_on_stats, asked);
}

struct metrics *metrics_new(struct api_context *a)
{
    struct metrics *const m = xcalloc(1, sizeof *m);
    m->api = a;
    m->turns = turn_counters_new(a->host.turnlog);
    httpd_route(a->host.httpd, "/metrics", HTTPD_GET, on_metrics, m);
    return m;
}

void metrics_free(struct metrics *m)
{
    httpd_unroute(m->api->host.httpd, "/metrics");
    turn_counters_free(m->turns);
    m->turns = NULL;
    m->api = NULL;
    if (!m->asking)
        free(m);
}
