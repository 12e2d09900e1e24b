/* SPDX-License-Identifier: MIT
 * Writes the metrics of the bus. */
#include "api/metrics/bus_metrics.h"

#include "api/metrics/prometheus.h"

static double bus_metrics_up(const struct bus_status *s)
{
    return s->state == BUS_ACTIVE;
}

static double bus_metrics_waiting(const struct bus_status *s)
{
    return (double)s->waiting;
}

static double bus_metrics_age(const struct bus_status *s)
{
    return (double)s->oldest_ms / 1000;
}

static double bus_metrics_followed(const struct bus_status *s)
{
    return (double)s->followed;
}

static double bus_metrics_batches(const struct bus_status *s)
{
    return (double)s->counters.batches;
}

static double bus_metrics_refused(const struct bus_status *s)
{
    return (double)s->counters.refused;
}

static double bus_metrics_fenced(const struct bus_status *s)
{
    return (double)s->counters.fenced;
}

static double bus_metrics_gaps(const struct bus_status *s)
{
    return (double)s->counters.gaps;
}

static double bus_metrics_dropped(const struct bus_status *s)
{
    return (double)s->counters.dropped;
}

static const struct {
    struct prometheus_family family;
    double (*value)(const struct bus_status *s);
} numbers[] = {
    {{"turncast_bus_up", "gauge", "1 while this host takes part in the bus."}, bus_metrics_up},
    {{"turncast_bus_turns_waiting", "gauge", "Turns with something not yet published on the bus."},
     bus_metrics_waiting},
    {{"turncast_bus_outbox_age_seconds", "gauge",
      "Time for which the oldest message waits to be stored by the NATS servers."},
     bus_metrics_age},
    {{"turncast_bus_turns_followed", "gauge",
      "Turns of other hosts whose events are followed on this host."},
     bus_metrics_followed},
    {{"turncast_bus_batches_total", "counter", "Batches of events stored on the bus."},
     bus_metrics_batches},
    {{"turncast_bus_refused_total", "counter",
      "Publishes that the NATS servers refused and that are tried again."},
     bus_metrics_refused},
    {{"turncast_bus_fenced_total", "counter", "Turns that another publisher has taken over."},
     bus_metrics_fenced},
    {{"turncast_bus_gaps_total", "counter", "Gaps in events of other hosts that were repaired."},
     bus_metrics_gaps},
    {{"turncast_bus_dropped_total", "counter",
      "Turns whose last events were not published: too many turns waited for the bus."},
     bus_metrics_dropped},
};

static void bus_metrics_append_histograms(struct buf *out, const struct bus_counters *c)
{
    static const char *const none[] = {NULL};
    static const struct prometheus_family publish = {
        "turncast_bus_publish_seconds", "histogram",
        "Time from a publish to the answer of the NATS servers that it is stored."};
    static const struct prometheus_family lag = {
        "turncast_bus_lag_seconds", "histogram",
        "Time from when an event was shown on the host of its turn until it is on this host."};
    prometheus_append_header(out, &publish);
    prometheus_append_histogram(out, &publish, none, &c->publish);
    prometheus_append_header(out, &lag);
    prometheus_append_histogram(out, &lag, none, &c->lag);
}

static void bus_metrics_append_work(struct buf *out, const struct work *work)
{
    static const struct prometheus_family
        given = {"turncast_turns_given_total", "counter", "Turns that other hosts were to run."},
        lost = {"turncast_turns_lost_total", "counter",
                "Turns that ended because the host that ran them was gone."},
        moved = {"turncast_conversations_moved_total", "counter",
                 "Conversations that went on at another host, in a new session."},
        reseeded = {"turncast_bus_reseeded_total", "counter",
                    "Turns stored again because the NATS servers had lost them."};
    const struct work_counters c = work_get_counters(work);
    prometheus_append_single(out, &given, (double)c.given);
    prometheus_append_single(out, &lost, (double)c.lost);
    prometheus_append_single(out, &moved, (double)c.moved);
    prometheus_append_single(out, &reseeded, (double)c.reseeded);
}

static void bus_metrics_append_runner(struct buf *out, const struct runner *runner)
{
    static const struct prometheus_family
        taken = {"turncast_turns_taken_total", "counter",
                 "Turns of other hosts begun on this one."},
        late = {"turncast_turns_late_total", "counter",
                "Turns of other hosts that had another outcome before they were over here."},
        runs = {"turncast_turns_for_others", "gauge", "Turns of other hosts on this one."};
    const struct runner_counters c = runner_get_counters(runner);
    prometheus_append_single(out, &taken, (double)c.taken);
    prometheus_append_single(out, &late, (double)c.late);
    prometheus_append_single(out, &runs, (double)runner_count(runner));
}

void bus_metrics_append(struct buf *out, const struct bus *bus, const struct work *work,
                        const struct runner *runner)
{
    if (!bus)
        return;
    if (work)
        bus_metrics_append_work(out, work);
    if (runner)
        bus_metrics_append_runner(out, runner);
    const struct bus_status s = bus_get_status(bus);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        prometheus_append_single(out, &numbers[i].family, numbers[i].value(&s));
    bus_metrics_append_histograms(out, &s.counters);
}
