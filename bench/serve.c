/* SPDX-License-Identifier: MIT
 * serve [--turns N] [--seconds N] [--clients N]: a whole `turncast serve` with many turns at once
 * beside many idle clients. Fails unless every turn ends well, with all its lines in order; prints
 * what that took. */
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bench/crowd.h"
#include "bench/host.h"

#define RATE 20        /* lines a second of one turn */
#define ASKERS 32      /* connections that ask for turns */
#define BACKLOG 64     /* clients that are connected, but not answered */
#define PATIENCE_S 120 /* beyond what the turns take */

struct times {
    double all_running, all_over;     /* seconds from the first request on */
    uint64_t starting[METER_BUCKETS]; /* the meter's when all had begun */
};

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* ---- what happens ---- */

static void begin_quiet_turn(const struct crowd *c, char id[37])
{
    char answer[4096];
    crowd_ask_once(c, "POST", "/turns", "{\"prompt\":\"quiet\"}", answer, sizeof answer);
    const char *const at = strstr(answer, "{\"id\":\"");
    if (!at || sscanf(at, "{\"id\":\"%36[0-9a-f-]\"", id) != 1)
        errx(1, "no turn for the idle clients: %s", answer);
}

static void open_clients(struct crowd *c, const char *turn, unsigned clients)
{
    const struct crowd_count *const n = crowd_look(c);
    crowd_add_watcher(c);
    for (unsigned i = 0; i < clients; i++) {
        crowd_add_idle(c, turn);
        while (i + 2 - n->open - n->refused > BACKLOG)
            crowd_step(c, 1000);
    }
    const double deadline = now() + PATIENCE_S;
    while (n->open + n->refused < clients + 1 && now() < deadline)
        crowd_step(c, 1000);
}

static bool is_over(const struct host *h, const struct crowd *c, unsigned turns)
{
    const struct crowd_count *const n = crowd_look(c);
    return h->meter->complete + h->meter->failed >= turns && n->final + n->error >= turns;
}

static void run_turns(const struct host *h, struct crowd *c, const struct host_spec *spec,
                      struct times *t)
{
    const double began = now(), deadline = began + spec->seconds + PATIENCE_S;
    crowd_add_turns(c, spec->turns, ASKERS);
    while (!is_over(h, c, spec->turns) && now() < deadline) {
        crowd_step(c, 100);
        if (t->all_running > 0 || crowd_look(c)->running < spec->turns)
            continue;
        t->all_running = now() - began;
        for (unsigned i = 0; i < METER_BUCKETS; i++)
            t->starting[i] = h->meter->times[i];
    }
    t->all_over = now() - began;
}

static void end_quiet_turn(struct crowd *c, const char *turn, unsigned clients)
{
    char path[100], answer[4096];
    const double deadline = now() + PATIENCE_S;
    snprintf(path, sizeof path, "/turns/%s/cancel", turn);
    crowd_ask_once(c, "POST", path, "", answer, sizeof answer);
    while (crowd_look(c)->gone < clients && now() < deadline)
        crowd_step(c, 1000);
}

/* ---- what it took ---- */

static double percentile_ms(const uint64_t *times, double share)
{
    uint64_t all = 0, seen = 0;
    unsigned i = 0;
    for (unsigned k = 0; k < METER_BUCKETS; k++)
        all += times[k];
    while (i + 1 < METER_BUCKETS && (seen += times[i]) < all &&
           seen <= (uint64_t)((double)all * share))
        i++;
    return (double)meter_time(i) / 1e6;
}

static void print_cpu(const char *who, double seconds, const struct times *t)
{
    printf("%-22s %10.2f s %8.1f %% of the time\n", who, seconds, 100 * seconds / t->all_over);
}

static void print_times(const char *when, const uint64_t *times)
{
    printf("%-22s p50 %.2f, p99 %.2f, p99.9 %.2f, max %.2f ms\n", when, percentile_ms(times, 0.5),
           percentile_ms(times, 0.99), percentile_ms(times, 0.999), percentile_ms(times, 1));
}

static void print_latency(const struct meter *m, const struct times *t)
{
    uint64_t all[METER_BUCKETS], later[METER_BUCKETS];
    for (unsigned i = 0; i < METER_BUCKETS; i++) {
        all[i] = m->times[i];
        later[i] = all[i] - t->starting[i];
    }
    print_times("line to callback", all);
    print_times("when all had begun", later);
}

static double mib(long kib)
{
    return (double)kib / 1024;
}

static void print_memory(const struct host_use u[3], const struct host_spec *spec, unsigned clients)
{
    printf("%-22s %10.1f MiB\n", "RSS idle", mib(u[0].rss));
    printf("%-22s %10.1f MiB %8.1f KiB a client\n", "RSS with the clients", mib(u[1].rss),
           clients ? (double)(u[1].rss - u[0].rss) / clients : 0.0);
    printf("%-22s %10.1f MiB %8.1f KiB a turn\n", "RSS at the peak", mib(u[2].rss_peak),
           (double)(u[2].rss_peak - u[1].rss) / spec->turns);
}

static void print_all(const struct meter *m, const struct host_use u[3], const struct times *t,
                      const struct host_spec *spec, unsigned clients)
{
    printf("%u turns of %u s at %u lines/s, %u idle clients\n", spec->turns, spec->seconds,
           spec->rate, clients);
    printf("%-22s %10" PRIu64 "   (misplaced %" PRIu64 ")\n", "lines", m->lines, m->misplaced);
    printf("%-22s %10" PRIu64 "\n", "turns at once", m->peak);
    printf("%-22s %10.2f s\n", "until all had begun", t->all_running);
    printf("%-22s %10.2f s\n", "until all were over", t->all_over);
    print_cpu("CPU of the loop", u[2].loop - u[1].loop, t);
    print_cpu("it waited for a core", u[2].loop_waited - u[1].loop_waited, t);
    print_cpu("CPU of other threads", u[2].threads - u[1].threads, t);
    print_cpu("CPU of the agents", u[2].agents - u[1].agents, t);
    print_memory(u, spec, clients);
    print_latency(m, t);
}

/* ---- whether it went well ---- */

static int check(const char *what, uint64_t got, uint64_t wanted)
{
    if (got == wanted)
        return 0;
    fprintf(stderr, "%s: %" PRIu64 ", expected %" PRIu64 "\n", what, got, wanted);
    return -1;
}

static int judge(const struct meter *m, const struct crowd_count *n, const struct host_spec *spec,
                 unsigned clients)
{
    const uint64_t lines = (uint64_t)spec->turns * spec->seconds * spec->rate;
    int bad = check("turns that were complete", m->complete, spec->turns);
    bad |= check("turns that the list saw end well", n->final, spec->turns);
    bad |= check("turns that the list saw fail", n->error, 0);
    bad |= check("lines", m->lines, lines);
    bad |= check("lines out of order", m->misplaced, 0);
    bad |= check("turns that were accepted", n->accepted, spec->turns);
    bad |= check("requests that were refused", n->refused, 0);
    bad |= check("clients that got their stream", n->open, clients + 1);
    return bad;
}

static int run(const struct host_spec *spec, unsigned clients)
{
    struct host host;
    struct host_use use[3];
    char quiet[37];
    host_start(&host, spec);
    struct crowd *const c = crowd_new(host.port);
    begin_quiet_turn(c, quiet);
    use[0] = host_look(&host);
    open_clients(c, quiet, clients);
    use[1] = host_look(&host);
    struct times t = {0};
    run_turns(&host, c, spec, &t);
    use[2] = host_look(&host);
    print_all(host.meter, use, &t, spec, clients);
    int bad = judge(host.meter, crowd_look(c), spec, clients);
    bad |= check("clients that left while they should be idle", crowd_look(c)->gone, 0);
    end_quiet_turn(c, quiet, clients);
    bad |= check("clients that were told the end", crowd_look(c)->gone, clients);
    crowd_free(c);
    bad |= check("exit status of the host", (uint64_t)-host_end(&host), 0);
    return bad ? 1 : 0;
}

/* ---- how it is asked for ---- */

static unsigned number(const char *text)
{
    char *end;
    const unsigned long n = strtoul(text, &end, 10);
    if (*end || !*text || n > 100000)
        errx(2, "%s is no number up to 100000", text);
    return (unsigned)n;
}

static void raise_limits(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        err(2, "RLIMIT_NOFILE");
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        err(2, "RLIMIT_NOFILE");
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"turns", required_argument, NULL, 't'},
        {"seconds", required_argument, NULL, 's'},
        {"clients", required_argument, NULL, 'c'},
        {0},
    };
    struct host_spec spec = {.turns = 1000, .seconds = 60, .rate = RATE, .isolation = "thread"};
    unsigned clients = 5000;
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;)
        switch (o) {
        case 't':
            spec.turns = number(optarg);
            break;
        case 's':
            spec.seconds = number(optarg);
            break;
        case 'c':
            clients = number(optarg);
            break;
        default:
            errx(2, "serve [--turns N] [--seconds N] [--clients N]");
        }
    if (!spec.turns || !spec.seconds)
        errx(2, "at least one turn of one second");
    raise_limits();
    return run(&spec, clients);
}
