/* SPDX-License-Identifier: MIT
 * translate FILE...: what it costs to read an agent's stream, make events of it, guard them and
 * decide who sees them; beside what jansson needs to parse the same lines, in the same run. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "dialect/dialect.h"
#include "turn/guard.h"
#include "turn/translate.h"
#include "turn/visibility.h"

#define ROUNDS 5

struct work {
    struct buf text;
    uint64_t lines;
    const struct dialect *dialect;
    struct visibility visibility;
    uint64_t shown, hidden;
};

static double cpu_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void to_nobody(void *ctx, struct event *ev)
{
    struct work *const w = ctx;
    if (visibility_view(&w->visibility, ev) == VIEW_HIDE || !visibility_audience(NULL, ev))
        w->hidden++;
    else
        w->shown++;
}

static void to_guard(void *ctx, struct event *ev)
{
    guard_feed(ctx, ev);
}

static void each_line(const struct buf *text, void (*fn)(void *ctx, const char *p, size_t n),
                      void *ctx)
{
    const char *p = text->p, *const end = p + text->len;
    while (p < end) {
        const char *const newline = memchr(p, '\n', (size_t)(end - p));
        const char *const stop = newline ? newline : end;
        if (stop > p)
            fn(ctx, p, (size_t)(stop - p));
        p = stop + 1;
    }
}

static void count_line(void *ctx, const char *p, size_t n)
{
    (void)p;
    (void)n;
    ++*(uint64_t *)ctx;
}

static void translate_one(void *ctx, const char *p, size_t n)
{
    translate_line(ctx, p, n, true);
}

static double run_ours(struct work *w)
{
    struct guard guard;
    struct translate translate;
    struct stream_end_info end = {.how = STREAM_EOF};
    w->shown = w->hidden = 0;
    const double began = cpu_now();
    guard_init(&guard, w->dialect->name, "bench", to_nobody, w);
    translate_init(&translate, w->dialect, to_guard, &guard);
    each_line(&w->text, translate_one, &translate);
    translate_end(&translate, &end);
    guard_end(&guard, &end);
    translate_fini(&translate);
    guard_fini(&guard);
    return cpu_now() - began;
}

static void parse_one(void *ctx, const char *p, size_t n)
{
    json_t *const value = json_loadb(p, n, JSON_ALLOW_NUL, NULL);
    *(uint64_t *)ctx += value == NULL;
    json_decref(value);
}

static double run_jansson(struct work *w)
{
    uint64_t refused = 0;
    const double began = cpu_now();
    each_line(&w->text, parse_one, &refused);
    const double took = cpu_now() - began;
    if (refused)
        fprintf(stderr, "jansson refused %" PRIu64 " lines\n", refused);
    return took;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double report(const struct work *w, const char *what, double *times)
{
    qsort(times, ROUNDS, sizeof *times, by_value);
    const double median = times[ROUNDS / 2], mb = (double)w->text.len / 1e6;
    printf("%-32s %9.0f lines/s %8.1f MB/s %8.0f ns/line\n", what, (double)w->lines / median,
           mb / median, median * 1e9 / (double)w->lines);
    return median;
}

static int read_file(struct buf *text, const char *path)
{
    FILE *const f = fopen(path, "re");
    size_t n;
    if (!f) {
        perror(path);
        return -1;
    }
    while ((n = fread(buf_reserve(text, 1 << 20), 1, 1 << 20, f)) > 0)
        text->len += n;
    fclose(f);
    return 0;
}

static int measure(const char *path)
{
    struct work w = {.dialect = dialect_find("claude"),
                     .visibility = visibility_resolve(visibility_default())};
    double ours[ROUNDS], theirs[ROUNDS];
    if (read_file(&w.text, path))
        return -1;
    each_line(&w.text, count_line, &w.lines);
    for (int i = 0; i < ROUNDS; i++) {
        ours[i] = run_ours(&w);
        theirs[i] = run_jansson(&w);
    }
    printf("%s: %.1f MB, %" PRIu64 " lines, %" PRIu64 " events shown, %" PRIu64
           " hidden; CPU time, median of %d\n",
           path, (double)w.text.len / 1e6, w.lines, w.shown, w.hidden, ROUNDS);
    const double a = report(&w, "translate + guard + visibility", ours);
    const double b = report(&w, "jansson, json_loadb per line", theirs);
    printf("ratio %.1f\n", b / a);
    buf_fini(&w.text);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s FILE...\n", argv[0]);
        return 2;
    }
    for (int i = 1; i < argc; i++)
        if (measure(argv[i]))
            return 2;
    return 0;
}
