/* SPDX-License-Identifier: MIT
 * translate [--rounds N] FILE [CONTENDER...]: what it costs to read an agent's stream, make events
 * of it, guard them and decide who sees them; beside less (its lines, our reader) and beside what
 * jansson needs to parse the same lines. They take turns; the CPU time is the median. */
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bytes/buf.h"
#include "dialect/dialect.h"
#include "event/json/json_reader.h"
#include "io/loop/line_splitter.h"
#include "turn/guard.h"
#include "turn/translator.h"
#include "turn/visibility/visibility.h"

#define ROUNDS_MAX 100
#define CHUNK_SIZE ((size_t)1 << 16)

struct work {
    struct buf text;
    const struct dialect *dialect;
    struct visibility visibility;
    uint64_t lines, refused, events;
};

static double cpu_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* ---- the contenders ---- */

static void to_nobody(void *ctx, struct event *ev)
{
    struct work *const w = ctx;
    w->events +=
        visibility_decide(&w->visibility, ev) != VIEW_HIDE && visibility_matches_audience(NULL, ev);
}

static void to_guard(void *ctx, struct event *ev)
{
    guard_feed(ctx, ev);
}

static void refuse_one(void *ctx, uint64_t bytes)
{
    (void)ctx;
    errx(1, "a line of %" PRIu64 " bytes", bytes);
}

/* As the host cuts them. */
static void each_line(const struct buf *text,
                      void (*fn)(void *ctx, const char *p, size_t n, bool complete), void *ctx)
{
    struct line_splitter lines = {.line = fn, .dropped = refuse_one, .ctx = ctx};
    line_splitter_feed(&lines, text->p, text->len);
    line_splitter_finish(&lines);
}

static void read_one(void *ctx, const char *p, size_t n, bool complete)
{
    struct work *const w = ctx;
    struct json j;
    (void)complete;
    json_init(&j, p, n);
    json_reader_skip(&j, NULL);
    w->refused += json_reader_finish(&j) < 0;
}

static void parse_one(void *ctx, const char *p, size_t n, bool complete)
{
    struct work *const w = ctx;
    (void)complete;
    json_t *const value = json_loadb(p, n, JSON_ALLOW_NUL, NULL);
    w->refused += value == NULL;
    json_decref(value);
}

/* As the host reads: what was read at once came in at one time. */
struct reading {
    struct translator translate;
    struct guard guard;
    const char *read_to;
};

static void translate_one(void *ctx, const char *p, size_t n, bool complete)
{
    struct reading *const r = ctx;
    if (p >= r->read_to) {
        guard_freeze_clock(&r->guard);
        r->read_to = p + CHUNK_SIZE;
    }
    translator_feed_line(&r->translate, p, n, complete);
}

static void run_split(struct work *w)
{
    const char *p = w->text.p, *const end = p + w->text.len;
    w->lines = 0;
    while ((p = memchr(p, '\n', (size_t)(end - p))) && ++p < end)
        w->lines++;
    w->lines += p == end; /* the last one, when it ends as a line does */
}

static void run_reader(struct work *w)
{
    each_line(&w->text, read_one, w);
}

static void run_jansson(struct work *w)
{
    each_line(&w->text, parse_one, w);
}

static void run_translate(struct work *w)
{
    struct reading r = {.read_to = w->text.p};
    struct stream_end_info end = {.how = STREAM_EOF};
    w->events = 0;
    guard_init(&r.guard, w->dialect->name, "bench", to_nobody, w);
    translator_init(&r.translate, w->dialect, to_guard, &r.guard);
    each_line(&w->text, translate_one, &r);
    translator_end(&r.translate, &end);
    guard_end(&r.guard, &end);
    translator_fini(&r.translate);
    guard_fini(&r.guard);
}

static const struct contender {
    const char *name;
    void (*run)(struct work *w);
} contenders[] = {
    {"split", run_split},
    {"reader", run_reader},
    {"translate", run_translate},
    {"jansson", run_jansson},
};
enum { CONTENDERS = sizeof contenders / sizeof *contenders };

/* ---- their times ---- */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void report(const struct work *w, const char *name, double *times, unsigned rounds)
{
    qsort(times, rounds, sizeof *times, by_value);
    const double median = times[rounds / 2];
    printf("%-12s %12.1f MB/s %12.1f ns/line\n", name, (double)w->text.len / 1e6 / median,
           median * 1e9 / (double)w->lines);
}

static void measure(struct work *w, const bool chosen[CONTENDERS], unsigned rounds)
{
    double times[CONTENDERS][ROUNDS_MAX];
    for (unsigned i = 0; i < rounds; i++)
        for (unsigned k = 0; k < CONTENDERS; k++) {
            const double began = cpu_now();
            if (chosen[k])
                contenders[k].run(w);
            times[k][i] = cpu_now() - began;
        }
    printf("%-12s %12.1f MB %12" PRIu64 " lines %12" PRIu64 " events\n", "stream",
           (double)w->text.len / 1e6, w->lines, w->events);
    for (unsigned k = 0; k < CONTENDERS; k++)
        if (chosen[k])
            report(w, contenders[k].name, times[k], rounds);
    if (w->refused)
        errx(1, "%" PRIu64 " lines were refused", w->refused);
}

static void read_file(struct buf *text, const char *path)
{
    FILE *const f = fopen(path, "re");
    size_t n;
    if (!f)
        err(2, "%s", path);
    while ((n = fread(buf_reserve(text, 1 << 20), 1, 1 << 20, f)) > 0)
        text->len += n;
    fclose(f);
}

static void choose(bool chosen[CONTENDERS], const char *name)
{
    bool found = false;
    for (unsigned k = 0; k < CONTENDERS; k++) {
        chosen[k] |= !name || strcmp(contenders[k].name, name) == 0;
        found |= chosen[k];
    }
    if (!found)
        errx(2, "%s: there are split, reader, translate and jansson", name);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"rounds", required_argument, NULL, 'r'}, {0}};
    unsigned long rounds = 5;
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;)
        if (o != 'r' || (rounds = strtoul(optarg, NULL, 10)) - 1 >= ROUNDS_MAX)
            errx(2, "translate [--rounds N] FILE [CONTENDER...]");
    if (optind == argc)
        errx(2, "which file?");
    struct work w = {.dialect = dialect_find("claude"),
                     .visibility = visibility_resolve(visibility_default())};
    bool chosen[CONTENDERS] = {false};
    for (int i = optind + 1; i < argc; i++)
        choose(chosen, argv[i]);
    if (optind + 1 == argc)
        choose(chosen, NULL);
    read_file(&w.text, argv[optind]);
    run_split(&w);
    measure(&w, chosen, (unsigned)rounds);
    buf_fini(&w.text);
    return 0;
}
