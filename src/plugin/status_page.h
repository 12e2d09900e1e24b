/* SPDX-License-Identifier: MIT
 * What an instance is doing right now, and how it did so far: written by its thread without a lock,
 * read by others. In a page shared between two processes when the instance has its own: then it
 * outlives the instance, and what is read may be anything. */
#ifndef PLUGIN_STATUS_PAGE_H
#define PLUGIN_STATUS_PAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/align.h"
#include "base/sys/clock.h"
#include "base/sys/err.h"
#include "event/event.h"

/* The callbacks of a plugin: those of the kinds of events, in their order, then the others. */
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
    _Atomic int32_t running; /* a callback, from 1; 0: none */
    _Atomic int64_t since_ms;
    /* The instance's thread only. From here on all that have returned are measured together. */
    int64_t measured_us;
    int64_t left_ms;   /* in a run: when the last one returned, by the coarse clock */
    unsigned returned; /* since then */
    unsigned together; /* so many may be */
    bool run;
    const char *named; /* what `turn` is a copy of, in a run; NULL: copy it */
    char turn[80];     /* of that callback; no other thread of the process reads it */
    _Atomic uint64_t delivered, failed;
    _Atomic uint64_t took[STATUS_BUCKETS], took_us;
    _Atomic uint64_t handled; /* of what came from the host: all done with */
    _Atomic bool holds;       /* it waits on purpose before it is done with the next (tc_hold) */
    /* The host's: more waits until the instance says that it has done what it was sent. */
    _Atomic bool awaited;
};

/* Instance's thread, which alone writes such numbers. */
static inline void status_page_add(_Atomic uint64_t *to, uint64_t n)
{
    const uint64_t before = atomic_load_explicit(to, memory_order_relaxed);
    atomic_store_explicit(to, before + n, memory_order_relaxed);
}
void status_page_begin_measure(struct status_page *g);
void status_page_account_time(struct status_page *g); /* what has returned since the last time */
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
/* A run is also looked at when time has visibly passed. */
static inline void status_page_leave_callback(struct status_page *g)
{
    g->returned++;
    const int64_t now_ms = g->run ? clock_mono_coarse_ms() : 0;
    if (!g->run || g->returned >= g->together || now_ms != g->left_ms)
        status_page_account_time(g);
    g->left_ms = now_ms;
    atomic_store_explicit(&g->running, 0, memory_order_release);
}
/* A turn's name is gone, and another one may stand in its place. */
void status_page_forget_turn(struct status_page *g);
/* Between these, callbacks follow one upon the other. Looking at the clock costs more than many of
 * them do, so quick ones are measured several at a time; when that takes longer than quick ones
 * can, one of them is taken for the slow one. The sum is exact. */
void status_page_begin_series(struct status_page *g);
void status_page_end_series(struct status_page *g);
/* A wait that is the host's fault is over. */
void status_page_reset_timer(struct status_page *g);
static inline void status_page_count_result(struct status_page *g, bool failed)
{
    status_page_add(failed ? &g->failed : &g->delivered, 1);
}

/* Any thread: the name of the callback that runs, and since when (clock_mono_ms); NULL: none. */
const char *status_page_running_callback(const struct status_page *g, int64_t *since_ms);
const char *callback_name(int callback);
uint64_t status_page_delivered(const struct status_page *g);
uint64_t status_page_failed(const struct status_page *g);
struct callback_histogram status_page_histogram(const struct status_page *g);

/* A page for two processes: *fd (close-on-exec, the caller's) is handed to the other, which maps
 * it. From STATUS_SHARED on the file has `more` bytes, zero, for others to map. NULL with err. */
#define STATUS_SHARED ALIGN_PAGE
struct status_page *status_page_new_shared(size_t more, int *fd, struct tc_err *err);
struct status_page *status_page_map(int fd, struct tc_err *err);
void status_page_unmap(struct status_page *g); /* NULL is fine */
/* The turn of the callback that runs or ran last, as far as it is plain text. */
void status_page_copy_turn(const struct status_page *g, char out[80]);

#endif
