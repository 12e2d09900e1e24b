/* SPDX-License-Identifier: MIT
 * Recorded streams of every dialect (tests/dialects/NAME/CASE.jsonl or .sse): their canonical lines
 * (CASE.events), the same in whatever pieces the bytes come, and the promises kept wherever the
 * stream is cut, shuffled or strewn with rubbish. The streams in tests/turns have several turns,
 * each of which keeps them. `make regolden` writes the events anew. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "dialect/adds_up.h"
#include "dialect/cast.h"
#include "tap/tap.h"

struct golden {
    const struct dialect *dialect;
    bool split; /* into turns */
    char name[512];
    char *stream;
    size_t len;
    char *events;
};

static char *cast_all(const struct golden *g, const char *p, size_t n, size_t piece)
{
    struct cast c;
    uint32_t seed = 77;
    cast_init(&c, g->dialect, true);
    if (g->split)
        cast_split(&c);
    for (size_t i = 0, step; i < n; i += step) {
        step = piece ? piece : 1 + cast_random(&seed) % 300;
        step = step < n - i ? step : n - i;
        cast_feed(&c, p + i, step);
    }
    const char *const broken = cast_end(&c);
    char *const told = broken ? xasprintf("broken promise: %s", broken) : buf_steal(&c.told);
    cast_fini(&c);
    return told;
}

/* Where two texts differ first, as lines. */
static void show_difference(const char *got, const char *wanted)
{
    while (*got && *got == *wanted) {
        const size_t a = strcspn(got, "\n"), b = strcspn(wanted, "\n");
        if (a != b || memcmp(got, wanted, a) != 0)
            break;
        got += a + (got[a] == '\n');
        wanted += b + (wanted[b] == '\n');
    }
    diag("got    %.*s", (int)strcspn(got, "\n"), got);
    diag("wanted %.*s", (int)strcspn(wanted, "\n"), wanted);
}

static void is_same(const struct golden *g, char *got, const char *what)
{
    if (!ok(strcmp(got, g->events) == 0, "%s: %s", g->name, what))
        show_difference(got, g->events);
    free(got);
}

static void ignore(void *ctx, struct event *ev)
{
    (void)ctx;
    (void)ev;
}

/* The stream alone tells its dialect. */
static void test_found(const struct golden *g)
{
    struct translator t;
    struct stream_end_info end = {.how = STREAM_EOF};
    translator_init(&t, NULL, ignore, NULL);
    for (const char *p = g->stream; p < g->stream + g->len; p += strcspn(p, "\n") + 1)
        translator_feed_line(&t, p, strcspn(p, "\n"), true);
    translator_end(&t, &end);
    ok(t.dialect == g->dialect, "%s: found by its lines", g->name);
    translator_fini(&t);
}

static void test_pieces(const struct golden *g)
{
    is_same(g, cast_all(g, g->stream, g->len, g->len ? g->len : 1), "canonical lines");
    is_same(g, cast_all(g, g->stream, g->len, 1), "a byte at a time");
    is_same(g, cast_all(g, g->stream, g->len, 0), "in random pieces");
}

static void test_cuts(const struct golden *g)
{
    char broken[256] = "";
    size_t at = 0, good = 0, cuts = 0;
    for (size_t i = 0; i < g->len; i++)
        if (g->stream[i] == '\n') {
            cuts++;
            good += cast_keeps(g->dialect, g->stream, at = i + 1, g->split, broken);
        }
    if (!ok(good == cuts, "%s: cut after each line", g->name))
        diag("%zu of %zu cuts break a promise, the last one at %zu: %s", cuts - good, cuts, at,
             broken);
    uint32_t seed = 4711;
    for (cuts = good = 0; cuts < 200 && g->len; cuts++) {
        at = cast_random(&seed) % g->len;
        if (cast_keeps(g->dialect, g->stream, at, g->split, broken))
            good++;
    }
    if (!ok(good == cuts, "%s: cut after 200 random bytes", g->name))
        diag("%zu cuts break a promise: %s", cuts - good, broken);
}

/* Lines that no reader should mind. Valid JSON among them is of no known form. */
static const char *const rubbish[] = {
    "Welcome to the wrapper!",
    "{\"type\":\"assistant\",\"mess",
    "[1,2,3]",
    "null",
    "{}{}",
    "\x1b[31mred\x1b[0m",
    "\xff\xfe\x80",
    "{'a':1}",
    "17",
    "\"text\"",
};

/* What is told with rubbish taken out again: the notices about it, and the numbering. */
static char *without_rubbish(char *told)
{
    struct buf out = {0};
    buf_add_str(&out, "");
    for (const char *p = told; *p; p = strchr(p, '\n') + 1) {
        const size_t len = strcspn(p, "\n");
        const char *const seq = memmem(p, len, ",\"seq\":", 7);
        if (!seq || memmem(p, len, "\"code\":\"unparsable_line\"", 24))
            continue;
        buf_add(&out, p, (size_t)(seq - p));
        buf_add_char(&out, '\n');
    }
    free(told);
    return buf_steal(&out);
}

static void test_rubbish(const struct golden *g)
{
    CLEANUP_BUF struct buf strewn = {0};
    uint32_t seed = 99;
    for (const char *p = g->stream, *const end = p + g->len; p < end;) {
        const char *const newline = memchr(p, '\n', (size_t)(end - p));
        const size_t n = newline ? (size_t)(newline - p) + 1 : (size_t)(end - p);
        /* The first line tells how a stream is framed: none before that. */
        for (uint32_t i = p > g->stream ? cast_random(&seed) % 3 : 0; i > 0; i--) {
            buf_add_str(&strewn,
                        rubbish[cast_random(&seed) % (sizeof(rubbish) / sizeof(*rubbish))]);
            buf_add_char(&strewn, '\n');
        }
        buf_add(&strewn, p, n);
        p += n;
    }
    char *const wanted = without_rubbish(xstrdup(g->events));
    char *const got = without_rubbish(cast_all(g, strewn.p ? strewn.p : "", strewn.len, 4096));
    if (!ok(strcmp(got, wanted) == 0, "%s: with rubbish between", g->name))
        show_difference(got, wanted);
    free(got);
    free(wanted);
}

static void test_shuffled(const struct golden *g)
{
    const char *lines[4096];
    size_t count = 0, good = 0;
    char broken[256] = "";
    uint32_t seed = 5;
    for (const char *p = g->stream; p < g->stream + g->len && count < 4096; count++) {
        lines[count] = p;
        p += strcspn(p, "\n") + 1;
    }
    for (int round = 0; round < 20; round++) {
        CLEANUP_BUF struct buf mixed = {0};
        for (size_t i = count; i > 1; i--) {
            const size_t other = cast_random(&seed) % i;
            const char *const line = lines[i - 1];
            lines[i - 1] = lines[other];
            lines[other] = line;
        }
        for (size_t i = 0; i < count; i++) {
            buf_add(&mixed, lines[i], strcspn(lines[i], "\n"));
            buf_add_char(&mixed, '\n');
        }
        good += cast_keeps(g->dialect, mixed.p ? mixed.p : "", mixed.len, g->split, broken);
    }
    if (!ok(good == 20, "%s: lines in any order", g->name))
        diag("%s", broken);
}

/* Each turn is whole: an outcome and an end of its own, and what every result of the stream says is
 * told; the last one that says something is the last answer. */
static void test_turns(const struct golden *g)
{
    size_t starts = 0, outcomes = 0, dones = 0;
    for (const char *p = g->events; *p; p = strchr(p, '\n') + 1) {
        starts += strncmp(p, "{\"type\":\"start\"", 15) == 0;
        outcomes += strncmp(p, "{\"type\":\"final\"", 15) == 0;
        outcomes += strncmp(p, "{\"type\":\"error\"", 15) == 0;
        dones += strncmp(p, "{\"type\":\"done\"", 14) == 0;
    }
    ok(starts > 0 && starts == outcomes && starts == dones, "%s: %zu whole turns", g->name, starts);
    char why[512] = "";
    if (strcmp(g->dialect->name, "claude") == 0 &&
        !ok(answers_are_told(g->stream, g->len, g->events, why), "%s: every answer is told",
            g->name))
        diag("%s", why);
}

static void test_case(struct golden *g, const char *events_path)
{
    if (getenv("TURNCAST_REGOLDEN")) {
        char *const told = cast_all(g, g->stream, g->len, g->len ? g->len : 1);
        tap_spew(events_path, told, strlen(told));
        free(told);
    }
    size_t len;
    g->events = tap_slurp(events_path, &len);
    if (g->dialect->sniff)
        test_found(g);
    if (g->split)
        test_turns(g);
    test_pieces(g);
    test_cuts(g);
    test_rubbish(g);
    test_shuffled(g);
    char why[512] = "";
    if (!g->split && strcmp(g->dialect->name, "claude") == 0 &&
        !ok(adds_up(g->stream, g->len, g->events, why), "%s: it adds up", g->name))
        diag("%s", why);
    free(g->events);
}

static int is_stream(const struct dirent *entry)
{
    const char *const suffix = strrchr(entry->d_name, '.');
    return suffix && (strcmp(suffix, ".jsonl") == 0 || strcmp(suffix, ".sse") == 0);
}

static int test_dialect(const struct dialect *dialect, const char *root)
{
    const bool split = strcmp(root, "turns") == 0;
    char folder[4096], relative[512];
    snprintf(relative, sizeof(relative), "%s/%s", root, dialect->name);
    snprintf(folder, sizeof(folder), "%s", tap_source(relative));
    struct dirent **entries;
    const int n = scandir(folder, &entries, is_stream, alphasort);
    for (int i = 0; i < n; i++) {
        struct golden g = {.dialect = dialect, .split = split};
        char path[8192];
        snprintf(g.name, sizeof(g.name), "%s%s/%s", split ? "turns/" : "", dialect->name,
                 entries[i]->d_name);
        snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
        g.stream = tap_slurp(path, &g.len);
        snprintf(strrchr(path, '.'), 8, ".events");
        *strrchr(g.name, '.') = '\0';
        test_case(&g, path);
        free(g.stream);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return n > 0 ? n : 0;
}

int main(void)
{
    plan_lazy();
    int cases = 0;
    for (size_t i = 0; dialect_get(i); i++)
        cases += test_dialect(dialect_get(i), "dialects") + test_dialect(dialect_get(i), "turns");
    ok(cases > 60, "%d recorded streams", cases);
    return 0;
}
