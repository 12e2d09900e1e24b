/* SPDX-License-Identifier: MIT
 * Measures callbacks, and writes the status page. */
#include "plugin/status_page.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/sys/clock.h"

/* Upper bounds in microseconds of the histogram's buckets; the last bucket is unlimited. */
static const int64_t status_page_buckets_us[STATUS_BUCKETS] = {100,     1000,     10000,    100000,
                                                               1000000, 10000000, INT64_MAX};

#define TOGETHER_MAX 64

#define NAME(lower, UPPER, gate, pressure) [TC_##UPPER] = "on_" #lower,
static const char *const names[STATUS_CALLBACKS] = {
    EVENT_KINDS(NAME)[STATUS_EVENT] = "on_event",
    [STATUS_REPLY] = "on_reply",
    [STATUS_HIT] = "on_hit",
    [STATUS_FRAME] = "on_frame",
    [STATUS_READY] = "on_ready",
    [STATUS_WAKE] = "on_wake",
    [STATUS_IDLE] = "on_idle",
    [STATUS_INIT] = "init",
    [STATUS_TEARDOWN] = "teardown",
};

const char *callback_name(int callback)
{
    return callback >= 0 && callback < STATUS_CALLBACKS ? names[callback] : "a callback";
}

/* ---- writer: the instance's thread ---- */

static size_t callback_histogram_bucket(int64_t took_us)
{
    size_t i = 0;
    while (took_us > status_page_buckets_us[i])
        i++;
    return i;
}

void status_page_begin_measure(struct status_page *g)
{
    g->measured_us = clock_mono_us();
    g->returned = 0;
}

/* Number of callbacks that, at the current speed, take half of the first bucket together. */
static unsigned status_page_next_series_length(int64_t took_us, unsigned returned)
{
    const int64_t n =
        took_us > 0 ? status_page_buckets_us[0] / 2 * returned / took_us : TOGETHER_MAX;
    return n < 1 ? 1 : n < TOGETHER_MAX ? (unsigned)n : TOGETHER_MAX;
}

void status_page_account_time(struct status_page *g)
{
    const int64_t before_us = g->measured_us;
    const unsigned n = g->returned;
    if (!n)
        return;
    status_page_begin_measure(g);
    const int64_t took = g->measured_us > before_us ? g->measured_us - before_us : 0;
    status_page_add(&g->took[callback_histogram_bucket(took)], 1);
    status_page_add(&g->took[0], n - 1);
    status_page_add(&g->took_us, (uint64_t)took);
    g->together = status_page_next_series_length(took, n);
}

void status_page_begin_series(struct status_page *g)
{
    g->run = true;
    g->together = 1;
    status_page_begin_measure(g);
    g->left_ms = clock_mono_coarse_ms();
}

void status_page_end_series(struct status_page *g)
{
    status_page_account_time(g);
    g->run = false;
    g->named = NULL;
}

void status_page_set_turn(struct status_page *g, const char *turn)
{
    const size_t len = strnlen(turn, sizeof g->turn - 1);
    memcpy(g->turn, turn, len);
    g->turn[len] = '\0';
    g->named = g->run ? turn : NULL;
}

void status_page_clear_turn(struct status_page *g)
{
    g->named = NULL;
}

void status_page_reset_timer(struct status_page *g)
{
    atomic_store_explicit(&g->since_ms, clock_mono_ms(), memory_order_relaxed);
}

/* ---- readers ---- */

const char *status_page_running_callback(const struct status_page *g, int64_t *since_ms)
{
    const int running = atomic_load_explicit(&g->running, memory_order_acquire);
    const int64_t since = atomic_load_explicit(&g->since_ms, memory_order_relaxed);
    *since_ms = since > 0 ? since : 0;
    return running ? callback_name(running > 0 ? running - 1 : -1) : NULL;
}

uint64_t status_page_get_delivered(const struct status_page *g)
{
    return atomic_load_explicit(&g->delivered, memory_order_relaxed);
}

uint64_t status_page_get_failed(const struct status_page *g)
{
    return atomic_load_explicit(&g->failed, memory_order_relaxed);
}

struct callback_histogram status_page_histogram(const struct status_page *g)
{
    struct callback_histogram times = {.sum_us =
                                           atomic_load_explicit(&g->took_us, memory_order_relaxed)};
    for (size_t i = 0; i < STATUS_BUCKETS; i++)
        times.counts[i] = atomic_load_explicit(&g->took[i], memory_order_relaxed);
    return times;
}

void status_page_copy_turn(const struct status_page *g, char out[80])
{
    size_t i = 0;
    for (; i < sizeof g->turn - 1 && g->turn[i] > ' ' && g->turn[i] < 0x7f; i++)
        out[i] = g->turn[i];
    out[i] = '\0';
}

/* ---- shared memory ---- */

struct status_page *status_page_map(int fd, struct tc_err *err)
{
    void *const page =
        mmap(NULL, sizeof(struct status_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (page != MAP_FAILED)
        return page;
    err_set_errno(err, errno, NULL, "cannot create the shared status page");
    return NULL;
}

struct status_page *status_page_new_shared(size_t more, int *fd, struct tc_err *err)
{
    *fd = memfd_create("turncast-gauge", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    /* Sealed: shrinking the file would kill the other process by SIGBUS. */
    if (*fd < 0 || ftruncate(*fd, (off_t)(STATUS_SHARED + more)) < 0 ||
        fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
        err_set_errno(err, errno, NULL, "cannot create the shared status page");
        if (*fd >= 0)
            close(*fd);
        return NULL;
    }
    struct status_page *const g = status_page_map(*fd, err);
    if (!g)
        close(*fd);
    return g;
}

void status_page_unmap(struct status_page *g)
{
    if (g)
        munmap(g, sizeof *g);
}
