/* SPDX-License-Identifier: MIT
 * isolation [--rounds N]: what it costs that a connector has a process of its own. The same stream
 * is cast to the same connector in the host and in a process, in turns, in one run: as fast as it
 * goes (a replay), at a high and at a low rate (an agent under serve). Fails unless every line
 * arrives in its place. */
#include <err.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/crowd.h"
#include "bench/host.h"

#define ROUNDS_MAX 100
#define PATIENCE_S 60

enum place { THREAD, PROCESS, PLACES };
static const char *const places[PLACES] = {"thread", "process"};

static const struct scenario {
    const char *name;
    unsigned seconds, rate;
    bool replayed;
} scenarios[] = {
    {"as fast as it goes", 1, 300000, true},
    {"20,000 lines/s", 2, 20000, false},
    {"20 lines/s", 5, 20, false},
};
enum { SCENARIOS = sizeof scenarios / sizeof *scenarios };

struct result {
    double cpu_us;      /* a line, of the host and the connector together */
    double lines_s;     /* of a replay */
    double p50, p99;    /* us, from an agent's write to the callback */
    double host, other; /* us of cpu_us: of the loop; of the connector's thread or process */
};

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static double percentile_us(const struct meter *m, double share)
{
    uint64_t all = 0, seen = 0;
    unsigned i = 0;
    for (unsigned k = 0; k < METER_BUCKETS; k++)
        all += m->times[k];
    while (i + 1 < METER_BUCKETS && (seen += m->times[i]) < all &&
           seen <= (uint64_t)((double)all * share))
        i++;
    return (double)meter_time(i) / 1e3;
}

static void judge(const struct host *h, const struct scenario *s)
{
    const struct meter *const m = h->meter;
    const uint64_t lines = (uint64_t)s->seconds * s->rate;
    if (m->lines != lines || m->misplaced || m->complete != 1)
        errx(1, "%s: %lu lines of %lu, %lu out of place: see %s", s->name, (unsigned long)m->lines,
             (unsigned long)lines, (unsigned long)m->misplaced, h->folder);
}

/* ---- an agent under serve ---- */

static void await_turn(const struct host *h)
{
    const double deadline = now() + PATIENCE_S;
    while (h->meter->complete + h->meter->failed == 0 && now() < deadline)
        usleep(20 * 1000);
}

static struct result serve(const struct scenario *s, const struct host_spec *spec)
{
    struct host h;
    char answer[4096];
    host_start(&h, spec);
    struct crowd *const c = crowd_new(h.port);
    const struct host_use before = host_look(&h);
    crowd_ask_once(c, "POST", "/turns", "{\"prompt\":\"go\"}", answer, sizeof answer);
    await_turn(&h);
    const struct host_use after = host_look(&h);
    crowd_free(c);
    judge(&h, s);
    const double lines = (double)h.meter->lines;
    struct result r = {
        .p50 = percentile_us(h.meter, 0.5),
        .p99 = percentile_us(h.meter, 0.99),
        .host = (after.loop - before.loop) * 1e6 / lines,
        .other =
            (after.threads + after.connector - before.threads - before.connector) * 1e6 / lines,
    };
    r.cpu_us = r.host + r.other;
    if (host_end(&h) < 0)
        errx(1, "the host did not end well: see %s", h.folder);
    return r;
}

/* ---- a replay ---- */

static pid_t start(const char *file, char *const *argv, const char *in, const char *out)
{
    const pid_t pid = fork();
    if (pid)
        return pid;
    if (dup2(open(in, O_RDONLY | O_CLOEXEC), STDIN_FILENO) < 0 ||
        dup2(open(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), STDOUT_FILENO) < 0)
        _exit(126);
    execv(file, argv);
    _exit(127);
}

/* CPU seconds of it and of those it has waited for. */
static double await(pid_t pid, const char *what)
{
    struct rusage u;
    int status;
    if (pid < 0 || wait4(pid, &status, 0, &u) != pid || status)
        errx(1, "%s did not end well", what);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void record(const char *file, const struct scenario *s)
{
    char seconds[20], rate[20], program[] = "bench/ticker", prompt[320];
    snprintf(seconds, sizeof seconds, "%u", s->seconds);
    snprintf(rate, sizeof rate, "%u", s->rate);
    snprintf(prompt, sizeof prompt, "%s.prompt", file);
    FILE *const f = fopen(prompt, "w");
    if (!f || fputs("go", f) < 0 || fclose(f) != 0)
        err(2, "%s", prompt);
    await(start(program, (char *[]){program, seconds, rate, NULL}, prompt, file), program);
}

static struct result replay(const struct scenario *s, const struct host_spec *spec)
{
    struct host h;
    char conf[300], file[300], program[] = "./turncast";
    host_prepare(&h, spec);
    snprintf(conf, sizeof conf, "%s/turncast.conf", h.folder);
    snprintf(file, sizeof file, "%s/stream", h.folder);
    record(file, s);
    char *const argv[] = {program,
                          (char[]){"replay"},
                          (char[]){"--dialect"},
                          (char[]){"claude"},
                          (char[]){"-c"},
                          conf,
                          file,
                          NULL};
    const double began = now();
    const double cpu = await(start(program, argv, "/dev/null", "/dev/null"), program);
    const double took = now() - began, lines = (double)h.meter->lines;
    judge(&h, s);
    host_forget(&h);
    return (struct result){.cpu_us = cpu * 1e6 / lines, .lines_s = lines / took};
}

/* ---- the table ---- */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of a number of all rounds. */
static double median(const struct result *all, unsigned rounds, size_t offset)
{
    double values[ROUNDS_MAX];
    for (unsigned i = 0; i < rounds; i++)
        values[i] = *(const double *)(const void *)((const char *)&all[i] + offset);
    qsort(values, rounds, sizeof *values, by_size);
    return values[rounds / 2];
}

static void print_row(const char *what, const struct result all[PLACES][ROUNDS_MAX],
                      unsigned rounds, size_t offset)
{
    const double thread = median(all[THREAD], rounds, offset);
    const double process = median(all[PROCESS], rounds, offset);
    printf("  %-24s %12.1f %12.1f %8.2f\n", what, thread, process,
           thread > 0 ? process / thread : 0);
}

static void print(const struct scenario *s, const struct result all[PLACES][ROUNDS_MAX],
                  unsigned rounds)
{
    printf("%s\n", s->name);
    if (s->replayed)
        print_row("lines/s", all, rounds, offsetof(struct result, lines_s));
    print_row("CPU us a line", all, rounds, offsetof(struct result, cpu_us));
    if (s->replayed)
        return;
    print_row("  of the loop", all, rounds, offsetof(struct result, host));
    print_row("  of the connector", all, rounds, offsetof(struct result, other));
    print_row("p50 us to the callback", all, rounds, offsetof(struct result, p50));
    print_row("p99 us to the callback", all, rounds, offsetof(struct result, p99));
}

static void run(const struct scenario *s, unsigned rounds)
{
    static struct result all[PLACES][ROUNDS_MAX];
    for (unsigned i = 0; i < rounds; i++)
        for (enum place p = THREAD; p < PLACES; p++) {
            const struct host_spec spec = {
                .turns = 1, .seconds = s->seconds, .rate = s->rate, .isolation = places[p]};
            all[p][i] = s->replayed ? replay(s, &spec) : serve(s, &spec);
        }
    print(s, (const struct result(*)[ROUNDS_MAX])all, rounds);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"rounds", required_argument, NULL, 'r'}, {0}};
    unsigned long rounds = 3;
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;)
        if (o != 'r' || (rounds = strtoul(optarg, NULL, 10)) - 1 >= ROUNDS_MAX)
            errx(2, "isolation [--rounds N]");
    if (chdir(getenv("TURNCAST_BUILDDIR") ? getenv("TURNCAST_BUILDDIR") : ".") < 0)
        err(2, "TURNCAST_BUILDDIR");
    unsetenv("TURNCAST_BUILDDIR");
    printf("%-26s %12s %12s %8s\n", "median of the rounds", "thread", "process", "ratio");
    for (size_t i = 0; i < SCENARIOS; i++)
        run(&scenarios[i], (unsigned)rounds);
    return 0;
}
