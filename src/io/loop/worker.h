/* SPDX-License-Identifier: MIT
 * A thread that runs jobs in the order of their submission, so that the loop's thread never waits
 * for disk or network. All functions are for the loop's thread; only `work` runs on the
 * worker's. */
#ifndef IO_LOOP_WORKER_H
#define IO_LOOP_WORKER_H

#include "io/loop/loop.h"

struct worker;

struct worker *worker_new(struct loop *loop);
/* Sets the thread's name for debuggers, at most 15 characters. Default: "tc-disk". */
void worker_set_name(struct worker *w, const char *name);
/* Completes all jobs, including those that a `done` adds meanwhile, and joins the thread. Must not
 * be called from a `done`. NULL is allowed. */
void worker_free(struct worker *w);

/* Runs work(arg) on the worker's thread, then done(arg) on the loop's; both in the order of the
 * calls. The loop keeps running while a `done` is pending. NULL: none, so the loop is not woken
 * when the job is complete. */
void worker_submit(struct worker *w, void (*work)(void *arg), void (*done)(void *arg), void *arg);
/* Runs work(arg) on the worker's thread, after all earlier jobs; returns when it is done. Blocks
 * the loop: for the start only. */
void worker_run_sync(struct worker *w, void (*work)(void *arg), void *arg);

#endif
