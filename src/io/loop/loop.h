/* SPDX-License-Identifier: MIT
 * The host's event loop: descriptors, timers, signals, and calls posted from other threads. Wraps
 * libevent; all functions except loop_post are for the loop's thread. */
#ifndef IO_LOOP_LOOP_H
#define IO_LOOP_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct loop_fd;
struct loop_timer;
struct loop_signal;

/* LOOP_COALESCE: when many such descriptors are ready, reading may be delayed (wakeup_coalescer.h).
 */
enum { LOOP_READ = 1, LOOP_WRITE = 2, LOOP_COALESCE = 4 };

/* Ignores SIGPIPE for the whole process, so that a closed peer causes an error. Raises the limit of
 * open files as far as possible. */
struct loop *loop_new(void);
/* Whether the calling thread is the loop's, i.e. the one that created it. All functions except
 * loop_post assert this. */
bool loop_is_own_thread(const struct loop *l);
/* The limit of open files before loop_new raised it, for agents. 0: unknown. */
uint64_t loop_original_nofile(const struct loop *l);
/* Low descriptor numbers, reserved at the start. Moving a child's descriptors to them during the
 * fork avoids copying a descriptor table of thousands. `idle` occupies them. */
enum { LOOP_PLACES = 4 };
struct loop_reserved_fds {
    int idle, at[LOOP_PLACES]; /* increasing; excludes standard descriptors and SHIM_CONTROL_FD */
};
const struct loop_reserved_fds *loop_get_reserved_fds(const struct loop *l);
/* All objects created from it must have been freed. */
void loop_free(struct loop *l);
/* Runs until loop_stop, or until there is nothing to wait for: no watched descriptor, no armed
 * timer, no posted call. Signals alone do not keep it running. */
void loop_run(struct loop *l);
/* Runs one round of callbacks, waiting at most wait_ms (-1: until an event occurs). */
void loop_run_once(struct loop *l, int wait_ms);
void loop_stop(struct loop *l);

/* Calls fn while fd is ready for `events`; does not own fd. Ended by loop_fd_free. */
struct loop_fd *loop_fd_new(struct loop *l, int fd, unsigned events,
                            void (*fn)(void *arg, unsigned ready), void *arg);
/* Changes the events, or pauses (0). */
void loop_fd_set(struct loop_fd *f, unsigned events);
void loop_fd_free(struct loop_fd *f); /* NULL is allowed; may be called from its own callback */

/* One-shot timer. loop_timer_set re-arms it; negative ms disarms. */
struct loop_timer *loop_timer_new(struct loop *l, void (*fn)(void *arg), void *arg);
void loop_timer_set(struct loop_timer *t, int64_t ms);
void loop_timer_free(struct loop_timer *t);

struct loop_signal *loop_signal_new(struct loop *l, int signo, void (*fn)(void *arg, int signo),
                                    void *arg);
void loop_signal_free(struct loop_signal *s);

/* Any thread: calls fn(arg) soon on the loop's thread. */
void loop_post(struct loop *l, void (*fn)(void *arg), void *arg);
/* Loop thread: cancels posted calls of fn with arg that have not started. */
void loop_cancel_posted(struct loop *l, void (*fn)(void *arg), const void *arg);

#endif
