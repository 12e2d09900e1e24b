/* SPDX-License-Identifier: MIT
 * serve [--turns N] [--seconds N] [--rate N] [--clients N] [--process] [--quiet]: a whole
 * `turncast serve` with many turns at once beside many idle clients. Fails unless every turn ends
 * well, with all its lines in order; prints what that took. Quiet turns say nothing, and are not
 * waited for. */
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/crowd.h"
#include "bench/files.h"
#include "bench/host.h"
#include "bench/percentile.h"

#define RATE 20        /* lines a second of one turn */
#define ASKERS 32      /* connections that ask for turns */
#define BACKLOG 64     /* clients that are connected, but not answered */
#define PATIENCE_S 120 /* beyond what the turns take */
#define SETTLE_S 2
#define STEP_MS 100

/* What the host had used, and the lines there had been. */
struct mark {
    struct host_use use;
    uint64_t lines;
};

struct times {
    double all_running, all_over;     /* seconds from the first request on */
    uint64_t starting[METER_BUCKETS]; /* the meter's when all had begun */
    struct mark settled, ending;      /* then, and when the first could end */
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

static bool is_over(const struct oneshot_host *h, const struct crowd *c, unsigned turns)
{
    const struct crowd_count *const n = crowd_look(c);
    return h->meter->complete + h->meter->failed >= turns && n->final + n->error >= turns;
}

static struct mark mark(const struct oneshot_host *h)
{
    return (struct mark){host_look(h), h->meter->lines};
}

static void note_running(const struct oneshot_host *h, struct times *t, double at)
{
    t->all_running = at;
    t->settled = t->ending = mark(h);
    for (unsigned i = 0; i < METER_BUCKETS; i++)
        t->starting[i] = h->meter->times[i];
}

static void run_turns(const struct oneshot_host *h, struct crowd *c, const struct host_spec *spec,
                      struct times *t)
{
    const double began = now(), first_end = spec->seconds - STEP_MS / 1e3;
    bool ending = false;
    crowd_add_turns(c, spec->turns, ASKERS, false);
    while (!is_over(h, c, spec->turns) && now() < began + spec->seconds + PATIENCE_S) {
        crowd_step(c, STEP_MS);
        const double at = now() - began;
        if (t->all_running == 0 && crowd_look(c)->running >= spec->turns)
            note_running(h, t, at);
        if (!ending && (ending = at >= first_end) && t->all_running > 0)
            t->ending = mark(h);
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

static void print_row(const char *name, double value, const char *unit)
{
    printf("%-20s %12.2f %s\n", name, value, unit);
}

static double cpu_of(const struct host_use *u)
{
    return u->loop + u->threads + u->connectors;
}

/* Of a line while all run, where they do for a time; else the turns' begin and end are in it. */
static double cpu_of_line(const struct times *t, double all, uint64_t lines)
{
    const uint64_t settled = t->ending.lines - t->settled.lines;
    return settled ? (cpu_of(&t->ending.use) - cpu_of(&t->settled.use)) / (double)settled
                   : all / (double)lines;
}

static void print_cpu(const struct host_use *from, const struct host_use *to, const struct times *t,
                      uint64_t lines, unsigned turns)
{
    const double all = cpu_of(to) - cpu_of(from), line = cpu_of_line(t, all, lines);
    print_row("cpu-loop", to->loop - from->loop, "s, of the loop's thread");
    print_row("cpu-waited", to->loop_waited - from->loop_waited,
              "s it could have run, and did not");
    print_row("cpu-threads", to->threads - from->threads, "s, of the others of the host");
    print_row("cpu-connectors", to->connectors - from->connectors, "s, of processes of connectors");
    print_row("cpu-agents", to->agents - from->agents, "s");
    print_row("cpu-all", all, "s, without the agents: of it");
    print_row("cpu-line", line * 1e6, "us for a line while all run, and");
    print_row("cpu-turn", (all - line * (double)lines) * 1e3 / turns,
              "ms for the begin and the end of a turn");
}

static void print_latency(const struct meter *m, const struct times *t)
{
    uint64_t all[METER_BUCKETS], later[METER_BUCKETS];
    for (unsigned i = 0; i < METER_BUCKETS; i++) {
        all[i] = m->times[i];
        later[i] = all[i] - t->starting[i];
    }
    percentile_print("latency", all);
    percentile_print("latency-settled", later);
}

static void print_memory(const struct host_use u[3], const struct host_spec *spec, unsigned clients)
{
    print_row("rss-idle", (double)u[0].rss, "KiB, of the host");
    print_row("rss-client", clients ? (double)(u[1].rss - u[0].rss) / clients : 0, "KiB each");
    print_row("rss-turn", (double)(u[2].rss_peak - u[1].rss) / spec->turns,
              "KiB each, at the peak");
}

static void print_all(const struct meter *m, const struct host_use u[3], const struct times *t,
                      const struct host_spec *spec, unsigned clients)
{
    printf("%u turns of %u s at %u lines/s, %u idle clients\n", spec->turns, spec->seconds,
           spec->rate, clients);
    print_row("lines", (double)m->lines, "");
    print_row("misplaced", (double)m->misplaced, "lines");
    print_row("at-once", (double)m->peak, "turns");
    print_row("begun", t->all_running, "s until all had");
    print_row("over", t->all_over, "s until all were");
    print_cpu(&u[1], &u[2], t, m->lines, spec->turns);
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
    struct oneshot_host host;
    struct host_use use[3];
    char quiet[37];
    oneshot_host_start(&host, spec);
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
    bad |= check("exit status of the host", (uint64_t)-oneshot_host_stop(&host), 0);
    return bad ? 1 : 0;
}

/* ---- turns that say nothing ---- */

static void settle(struct crowd *c)
{
    for (const double until = now() + SETTLE_S; now() < until;)
        crowd_step(c, 100);
}

static int run_quiet(const struct host_spec *spec)
{
    struct oneshot_host host;
    char quiet[37];
    oneshot_host_start(&host, spec);
    struct crowd *const c = crowd_new(host.port);
    begin_quiet_turn(c, quiet);
    crowd_add_watcher(c);
    settle(c);
    const struct host_use before = host_look(&host);
    const double deadline = now() + PATIENCE_S;
    crowd_add_turns(c, spec->turns, ASKERS, true);
    while (crowd_look(c)->running < spec->turns && now() < deadline)
        crowd_step(c, 100);
    settle(c);
    const struct host_use after = host_look(&host);
    int bad = check("turns that run", crowd_look(c)->running, spec->turns);
    printf("%u turns that say nothing\n", spec->turns);
    print_row("rss-idle", (double)before.rss, "KiB, of the host");
    print_row("rss-turn", (double)(after.rss - before.rss) / spec->turns, "KiB each");
    crowd_free(c);
    bad |= check("exit status of the host", (uint64_t)-oneshot_host_stop(&host), 0);
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

struct wish {
    struct host_spec host;
    unsigned clients;
    bool quiet;
};

static struct wish read_arguments(int argc, char **argv)
{
    static const struct option options[] = {
        {"turns", required_argument, NULL, 't'},
        {"seconds", required_argument, NULL, 's'},
        {"rate", required_argument, NULL, 'r'},
        {"clients", required_argument, NULL, 'c'},
        {"process", no_argument, NULL, 'p'},
        {"quiet", no_argument, NULL, 'q'},
        {0},
    };
    struct wish w = {.host = {.turns = 1000,
                              .seconds = 60,
                              .rate = RATE,
                              .connectors = 1,
                              .isolation = "thread"},
                     .clients = 5000};
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;)
        switch (o) {
        case 't':
            w.host.turns = number(optarg);
            break;
        case 's':
            w.host.seconds = number(optarg);
            break;
        case 'r':
            w.host.rate = number(optarg);
            break;
        case 'c':
            w.clients = number(optarg);
            break;
        case 'p':
            w.host.isolation = "process";
            break;
        case 'q':
            w.quiet = true;
            break;
        default:
            errx(2,
                 "serve [--turns N] [--seconds N] [--rate N] [--clients N] [--process] [--quiet]");
        }
    return w;
}

int main(int argc, char **argv)
{
    const struct wish w = read_arguments(argc, argv);
    if (!w.host.turns || !w.host.seconds || !w.host.rate)
        errx(2, "at least one turn of one second with one line");
    files_raise();
    return w.quiet ? run_quiet(&w.host) : run(&w.host, w.clients);
}
