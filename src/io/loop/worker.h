/* SPDX-License-Identifier: MIT
 * One thread that does jobs in the order in which they come, so that the loop's thread waits for
 * no disk and no network. Everything here belongs to the loop's thread, but for `work`. */
#ifndef IO_LOOP_WORKER_H
#define IO_LOOP_WORKER_H

#include "io/loop/loop.h"

struct worker;

struct worker *worker_new(struct loop *loop);
/* Names the thread for debuggers, at most 15 characters. Default: "tc-disk". */
void worker_set_name(struct worker *w, const char *name);
/* Finishes all jobs, those that a `done` adds meanwhile among them, and joins the thread. Not
 * from a `done`. NULL is fine. */
void worker_free(struct worker *w);

/* work(arg) on the worker's thread, then done(arg) on the loop's (NULL: none); both in the order
 * of the calls. The loop runs as long as a job is under way. */
void worker_submit(struct worker *w, void (*work)(void *arg), void (*done)(void *arg), void *arg);
/* work(arg) on the worker's thread, after all that was asked before; returns when it is done.
 * The loop stands still meanwhile: for the start. */
void worker_run_sync(struct worker *w, void (*work)(void *arg), void *arg);

#endif
