/* SPDX-License-Identifier: MIT
 * Turns that AG-UI clients are told in several runs: one that asks its client ends the run, and
 * goes on in the one that answers. Remembered as long as the turn log has the turn. Loop thread
 * only. */
#ifndef API_AG_UI_AG_UI_RUNS_H
#define API_AG_UI_AG_UI_RUNS_H

#include "core/request/request_registry.h"
#include "core/turnlog/turnlog.h"
#include "dialect/reader/tool_args.h"

/* One AG-UI run of such a turn: it tells the events after `after`, up to `until`. */
struct ag_ui_leg {
    struct ag_ui_leg *next;
    char turn[37];
    char *thread, *run;      /* thread: the conversation's key */
    char *scope;             /* the turn's first run */
    uint64_t after, until;   /* until 0: it has not been interrupted */
    struct open_calls asked; /* the requests it was interrupted by */
};

struct ag_ui_legs;

struct ag_ui_legs *ag_ui_runs_new(const struct turnlog *log);
void ag_ui_runs_free(struct ag_ui_legs *legs); /* NULL is fine */

/* NULL: there is none. Borrowed until the loop goes on. */
struct ag_ui_leg *ag_ui_runs_find(struct ag_ui_legs *legs, const char *thread, const char *run);
/* The thread's newest. */
struct ag_ui_leg *ag_ui_runs_find_newest(struct ag_ui_legs *legs, const char *thread);
/* The newest that was interrupted, of the turn that asked what a client knows by that id; by that
 * very request, if it is still known. */
struct ag_ui_leg *ag_ui_runs_find_interrupted(struct ag_ui_legs *legs, const char *thread,
                                              const char *id);
/* The request as its turn knows it; NULL: the id is that of another turn. */
const char *ag_ui_run_get_request(const struct ag_ui_leg *leg, const char *id);
/* Another run of a turn. */
struct ag_ui_leg *ag_ui_runs_add(struct ag_ui_legs *legs, const char *thread, const char *run,
                                 const char *turn, const char *scope, uint64_t after);
/* Ends the run after that event; the turn waits for these requests. */
void ag_ui_run_interrupt(struct ag_ui_leg *leg, uint64_t until, const struct open_calls *asked);
/* Something it was interrupted by is still open. */
bool ag_ui_run_is_waiting(const struct ag_ui_leg *leg, const struct request_registry *requests);
/* Number of the event at which a run of the turn was first interrupted after `after`; 0: none. */
uint64_t ag_ui_runs_next_interrupt(struct ag_ui_legs *legs, const char *turn, uint64_t after);

#endif
