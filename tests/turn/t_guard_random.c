/* SPDX-License-Identifier: MIT
 * Random streams through the guard keep every promise, and the checker notices every change to
 * what they became. TURNCAST_LONG=1 runs fifty times as many. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "promise.h"
#include "tap/tap.h"
#include "turn/drive.h"

static double fixed_time(void)
{
    return 1000;
}

/* What the guard told of one turn. */
struct told {
    struct shared_event **shared;
    size_t count, cap;
};

static void keep(void *ctx, struct event *ev)
{
    struct told *const told = ctx;
    if (told->count == told->cap) {
        told->cap = told->cap ? told->cap * 2 : 64;
        told->shared = xrealloc(told->shared, told->cap * sizeof(struct shared_event *));
    }
    told->shared[told->count++] = shared_event_new(ev);
}

static void forget(struct told *told)
{
    for (size_t i = 0; i < told->count; i++)
        shared_event_unref(told->shared[i]);
    told->count = 0;
}

/* splitmix64 */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static void tell_random(struct told *told, uint64_t *random)
{
    uint8_t program[1 + 4 * 63];
    const size_t n = 1 + 4 * (next_random(random) % 64);
    for (size_t i = 0; i < n; i++)
        program[i] = (uint8_t)next_random(random);
    /* Outcomes end what can be seen of a stream: most are made something else. */
    for (size_t i = 1; i < n; i += 4)
        if ((program[i] % TC_KINDS == TC_FINAL || program[i] % TC_KINDS == TC_ERROR) &&
            next_random(random) % 8)
            program[i] = (uint8_t)((program[i] & 0xf0) | (TC_TOOL_CALL + program[i + 3] % 4));
    struct guard g;
    guard_init(&g, "random", "c-1", keep, told);
    g.now = fixed_time;
    drive_guard(&g, program, n);
    guard_fini(&g);
}

/* The broken promise of the events in this order, or "": numbered anew if asked for. */
static void judge(struct shared_event *const *shared, size_t count, bool renumber, char out[256])
{
    struct promise p = {0};
    for (size_t i = 0; i < count; i++) {
        struct event ev = *shared_event_get(shared[i]);
        ev.u.meta = &ev.meta;
        if (renumber)
            ev.meta.seq = i + 1;
        promise_see(&p, &ev);
    }
    const char *const broken = promise_end(&p);
    snprintf(out, 256, "%s", broken ? broken : "");
    promise_fini(&p);
}

static enum tc_kind kind_at(const struct told *told, size_t i)
{
    return shared_event_get(told->shared[i])->kind;
}

/* Without its number nobody would miss it: what is told for its own sake. */
static bool is_structure(const struct told *told, size_t i)
{
    const struct event *const ev = shared_event_get(told->shared[i]);
    switch ((int)ev->kind) {
    case TC_START:
    case TC_TOOL_CALL:
    case TC_TOOL_RESULT:
    case TC_FINAL:
    case TC_ERROR:
    case TC_DONE:
        return true;
    case TC_STEP:
        return strcmp(ev->u.step.state, "mark") != 0;
    default:
        return false;
    }
}

static bool once_only(const struct told *told, size_t i)
{
    const struct event *const ev = shared_event_get(told->shared[i]);
    return is_structure(told, i) || ev->kind == TC_REQUEST ||
           (ev->kind == TC_USAGE && strcmp(ev->u.usage.scope, "turn") == 0);
}

struct mutations {
    uint64_t made, missed;
};

static void try_mutation(struct mutations *m, struct shared_event *const *shared, size_t count,
                         bool renumber, const char *what)
{
    char broken[256];
    judge(shared, count, renumber, broken);
    m->made++;
    if (broken[0])
        return;
    if (m->missed++ < 5)
        diag("not noticed: %s", what);
}

/* Drops, doubles and swaps the event at i; each change must be noticed. */
static void mutate(struct mutations *m, const struct told *told, size_t i)
{
    struct shared_event **const shared = xcalloc(told->count + 1, sizeof(struct shared_event *));
    const size_t n = told->count;
    const size_t size = sizeof(struct shared_event *);

    memcpy(shared, told->shared, i * size);
    memcpy(shared + i, told->shared + i + 1, (n - i - 1) * size);
    if (i + 1 < n)
        try_mutation(m, shared, n - 1, false, "an event dropped");
    if (is_structure(told, i))
        try_mutation(m, shared, n - 1, true, kind_name(kind_at(told, i)));

    memcpy(shared, told->shared, (i + 1) * size);
    memcpy(shared + i + 1, told->shared + i, (n - i) * size);
    try_mutation(m, shared, n + 1, false, "an event doubled");
    if (once_only(told, i))
        try_mutation(m, shared, n + 1, true, "an event doubled and numbered");

    if (i + 1 < n) {
        memcpy(shared, told->shared, n * size);
        shared[i] = told->shared[i + 1];
        shared[i + 1] = told->shared[i];
        try_mutation(m, shared, n, false, "two events swapped");
        if (i == 0 || i + 2 == n)
            try_mutation(m, shared, n, true, "start or done moved");
    }
    free(shared);
}

int main(void)
{
    plan_lazy();
    const char *const wants_long = getenv("TURNCAST_LONG");
    const uint64_t runs = wants_long && *wants_long == '1' ? 1000000 : 20000;
    uint64_t random = 42, bad = 0, events = 0, seen[TC_KINDS] = {0};
    struct told told = {0};
    struct mutations m = {0};
    for (uint64_t i = 0; i < runs; i++) {
        const uint64_t seed = random;
        tell_random(&told, &random);
        char broken[256];
        judge(told.shared, told.count, false, broken);
        if (broken[0] && bad++ < 5)
            diag("seed %" PRIu64 ": %s", seed, broken);
        for (size_t k = 0; k < told.count; k++)
            seen[kind_at(&told, k)]++;
        events += told.count;
        mutate(&m, &told, next_random(&random) % told.count);
        forget(&told);
    }
    is_int((long long)bad, 0, "%" PRIu64 " random streams, %" PRIu64 " events: promises kept", runs,
           events);
    is_int((long long)m.missed, 0, "%" PRIu64 " changes: all noticed", m.made);
    ok(m.made > 3 * runs, "every stream was changed");
    for (int k = 0; k < TC_KINDS; k++)
        ok(seen[k] > runs / 10, "%s was told often: %" PRIu64, kind_name((enum tc_kind)k), seen[k]);
    free(told.shared);
}
