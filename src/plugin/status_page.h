/* SPDX-License-Identifier: MIT
 * Status page: the current activity of an instance, and its counters. Its thread writes without a
 * lock, others read. For an instance with a process, the page is in shared memory: it outlives the
 * instance, and its contents are not trusted. */
#ifndef PLUGIN_STATUS_PAGE_H
#define PLUGIN_STATUS_PAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/align.h"
#include "base/sys/clock.h"
#include "base/sys/err.h"
#include "event/event.h"

/* Callbacks of a plugin: those for events, in the order of the kinds, then the others. */
enum {
    STATUS_EVENT = TC_KINDS,
    STATUS_REPLY,
    STATUS_HIT,
    STATUS_FRAME,
    STATUS_READY,
    STATUS_WAKE,
    STATUS_IDLE,
    STATUS_INIT,
    STATUS_TEARDOWN,
    STATUS_CALLBACKS,
};

enum { STATUS_BUCKETS = 7 };

struct callback_histogram {
    uint64_t counts[STATUS_BUCKETS];
    uint64_t sum_us;
};

struct status_page {
    _Atomic int32_t running; /* the running callback, from 1; 0: none */
    _Atomic int64_t since_ms;
    /* Used by the instance's thread only. Callbacks of a series are measured together. */
    int64_t measured_us;
    int64_t left_ms;   /* in a series: when the last one returned, by the coarse clock */
    unsigned returned; /* callbacks since then */
    unsigned together; /* limit of that number */
    bool run;
    const char *named; /* source of the copy in `turn`, in a series; NULL: copy it */
    char turn[80];     /* callback of that series; no other thread of the process reads it */
    _Atomic uint64_t delivered, failed;
    _Atomic uint64_t took[STATUS_BUCKETS], took_us;
    _Atomic uint64_t handled; /* number of processed tasks of the host */
    _Atomic bool holds;       /* it waits on purpose before processing the next (tc_hold) */
    /* Written by the host: it waits to be notified that the sent tasks are processed. */
    _Atomic bool awaited;
};

/* Instance's thread, the only writer of such numbers. */
static inline void status_page_add(_Atomic uint64_t *to, uint64_t n)
{
    const uint64_t before = atomic_load_explicit(to, memory_order_relaxed);
    atomic_store_explicit(to, before + n, memory_order_relaxed);
}
void status_page_begin_measure(struct status_page *g);
void status_page_account_time(struct status_page *g); /* callbacks since the last measurement */
void status_page_set_turn(struct status_page *g, const char *turn);
static inline void status_page_enter_callback(struct status_page *g, int callback, const char *turn)
{
    if (turn != g->named)
        status_page_set_turn(g, turn);
    if (!g->run)
        status_page_begin_measure(g);
    const int64_t since_ms = g->run ? g->left_ms : g->measured_us / 1000;
    atomic_store_explicit(&g->since_ms, since_ms, memory_order_relaxed);
    atomic_store_explicit(&g->running, callback + 1, memory_order_release);
}
/* Also ends a measurement when time has visibly passed. */
static inline void status_page_leave_callback(struct status_page *g)
{
    g->returned++;
    const int64_t now_ms = g->run ? clock_mono_coarse_ms() : 0;
    if (!g->run || g->returned >= g->together || now_ms != g->left_ms)
        status_page_account_time(g);
    g->left_ms = now_ms;
    atomic_store_explicit(&g->running, 0, memory_order_release);
}
/* The turn's id was freed, and its address may be reused. */
void status_page_clear_turn(struct status_page *g);
/* Between these calls, callbacks run in direct succession. Reading the clock costs more than many
 * callbacks, so quick ones are measured together; if a group takes longer than quick ones can, one
 * of them is counted as slow. The sum is exact. */
void status_page_begin_series(struct status_page *g);
void status_page_end_series(struct status_page *g);
/* A wait caused by the host has ended. */
void status_page_reset_timer(struct status_page *g);
static inline void status_page_count_result(struct status_page *g, bool failed)
{
    status_page_add(failed ? &g->failed : &g->delivered, 1);
}

/* Any thread: the name of the running callback, and its start (clock_mono_ms); NULL: none. */
const char *status_page_running_callback(const struct status_page *g, int64_t *since_ms);
const char *callback_name(int callback);
uint64_t status_page_get_delivered(const struct status_page *g);
uint64_t status_page_get_failed(const struct status_page *g);
struct callback_histogram status_page_histogram(const struct status_page *g);

/* A page for two processes: *fd (close-on-exec, owned by the caller) is passed to the other
 * process, which maps it. From STATUS_SHARED on, the file has `more` zero bytes for other mappings.
 * NULL with err. */
#define STATUS_SHARED ALIGN_PAGE
struct status_page *status_page_new_shared(size_t more, int *fd, struct tc_err *err);
struct status_page *status_page_map(int fd, struct tc_err *err);
void status_page_unmap(struct status_page *g); /* NULL is allowed */
/* The turn of the running or last callback, sanitised. */
void status_page_copy_turn(const struct status_page *g, char out[80]);

#endif
