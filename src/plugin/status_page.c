/* SPDX-License-Identifier: MIT
 * Owns how an instance's doings are measured, and the page they are shown in. */
#include "plugin/status_page.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/sys/clock.h"

const int64_t gauge_buckets_us[GAUGE_BUCKETS] = {100,     1000,     10000,    100000,
                                                 1000000, 10000000, INT64_MAX};

#define TOGETHER_MAX 64

#define NAME(lower, UPPER, gate, pressure, terminal) [TC_##UPPER] = "on_" #lower,
static const char *const names[GAUGE_CALLBACKS] = {
    EVENT_KINDS(NAME)[GAUGE_EVENT] = "on_event",
    [GAUGE_REPLY] = "on_reply",
    [GAUGE_HIT] = "on_hit",
    [GAUGE_FRAME] = "on_frame",
    [GAUGE_WAKE] = "on_wake",
    [GAUGE_IDLE] = "on_idle",
    [GAUGE_INIT] = "init",
    [GAUGE_TEARDOWN] = "teardown",
};

const char *gauge_callback_name(int callback)
{
    return callback >= 0 && callback < GAUGE_CALLBACKS ? names[callback] : "a callback";
}

/* ---- the instance's thread ---- */

static size_t bucket_of(int64_t took_us)
{
    size_t i = 0;
    while (took_us > gauge_buckets_us[i])
        i++;
    return i;
}

void gauge_begin_measure(struct gauge *g)
{
    g->measured_us = clock_mono_us();
    g->returned = 0;
}

/* As many together as take half of the first bucket at the pace of the last ones. */
static unsigned next_together(int64_t took_us, unsigned returned)
{
    const int64_t n = took_us > 0 ? gauge_buckets_us[0] / 2 * returned / took_us : TOGETHER_MAX;
    return n < 1 ? 1 : n < TOGETHER_MAX ? (unsigned)n : TOGETHER_MAX;
}

void gauge_measure(struct gauge *g)
{
    const int64_t before_us = g->measured_us;
    const unsigned n = g->returned;
    if (!n)
        return;
    gauge_begin_measure(g);
    const int64_t took = g->measured_us > before_us ? g->measured_us - before_us : 0;
    gauge_add(&g->took[bucket_of(took)], 1);
    gauge_add(&g->took[0], n - 1);
    gauge_add(&g->took_us, (uint64_t)took);
    g->together = next_together(took, n);
}

void gauge_begin_run(struct gauge *g)
{
    g->run = true;
    g->together = 1;
    gauge_begin_measure(g);
    g->left_ms = clock_mono_coarse_ms();
}

void gauge_end_run(struct gauge *g)
{
    gauge_measure(g);
    g->run = false;
    g->named = NULL;
}

void gauge_name_turn(struct gauge *g, const char *turn)
{
    const size_t len = strnlen(turn, sizeof g->turn - 1);
    memcpy(g->turn, turn, len);
    g->turn[len] = '\0';
    g->named = g->run ? turn : NULL;
}

void gauge_forget_turn(struct gauge *g)
{
    g->named = NULL;
}

void gauge_restart(struct gauge *g)
{
    atomic_store_explicit(&g->since_ms, clock_mono_ms(), memory_order_relaxed);
}

/* ---- who looks ---- */

const char *gauge_running(const struct gauge *g, int64_t *since_ms)
{
    const int running = atomic_load_explicit(&g->running, memory_order_acquire);
    const int64_t since = atomic_load_explicit(&g->since_ms, memory_order_relaxed);
    *since_ms = since > 0 ? since : 0;
    return running ? gauge_callback_name(running > 0 ? running - 1 : -1) : NULL;
}

uint64_t gauge_delivered(const struct gauge *g)
{
    return atomic_load_explicit(&g->delivered, memory_order_relaxed);
}

uint64_t gauge_failed(const struct gauge *g)
{
    return atomic_load_explicit(&g->failed, memory_order_relaxed);
}

struct gauge_times gauge_times(const struct gauge *g)
{
    struct gauge_times times = {.sum_us = atomic_load_explicit(&g->took_us, memory_order_relaxed)};
    for (size_t i = 0; i < GAUGE_BUCKETS; i++)
        times.counts[i] = atomic_load_explicit(&g->took[i], memory_order_relaxed);
    return times;
}

void gauge_copy_turn(const struct gauge *g, char out[80])
{
    size_t i = 0;
    for (; i < sizeof g->turn - 1 && g->turn[i] > ' ' && g->turn[i] < 0x7f; i++)
        out[i] = g->turn[i];
    out[i] = '\0';
}

/* ---- the page ---- */

struct gauge *gauge_map(int fd, struct tc_err *err)
{
    void *const page = mmap(NULL, sizeof(struct gauge), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page != MAP_FAILED)
        return page;
    err_sys(err, errno, NULL, "no page to share with an instance");
    return NULL;
}

struct gauge *gauge_new_shared(size_t more, int *fd, struct tc_err *err)
{
    *fd = memfd_create("turncast-gauge", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    /* Sealed: who made it smaller would end the other by a SIGBUS. */
    if (*fd < 0 || ftruncate(*fd, (off_t)(GAUGE_SHARED + more)) < 0 ||
        fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
        err_sys(err, errno, NULL, "no page to share with an instance");
        if (*fd >= 0)
            close(*fd);
        return NULL;
    }
    struct gauge *const g = gauge_map(*fd, err);
    if (!g)
        close(*fd);
    return g;
}

void gauge_unmap(struct gauge *g)
{
    if (g)
        munmap(g, sizeof *g);
}
