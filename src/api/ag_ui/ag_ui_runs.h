/* SPDX-License-Identifier: MIT
 * Runs ("legs") of turns that AG-UI clients follow in several runs: a request of the turn ends one
 * run, and the run with the answer continues the turn. Kept as long as the turn log has the turn.
 * Loop thread only. */
#ifndef API_AG_UI_AG_UI_RUNS_H
#define API_AG_UI_AG_UI_RUNS_H

#include "core/request/request_registry.h"
#include "core/turnlog/turnlog.h"
#include "dialect/reader/tool_args.h"

/* One AG-UI run of a turn: covers the events after `after`, up to `until`. */
struct ag_ui_leg {
    struct ag_ui_leg *next;
    char turn[37];
    char *thread, *run;      /* thread: the conversation's key */
    char *scope;             /* the turn's first run */
    uint64_t after, until;   /* until 0: not interrupted */
    struct open_calls asked; /* the requests that interrupted it */
};

struct ag_ui_legs;

struct ag_ui_legs *ag_ui_runs_new(const struct turnlog *log);
void ag_ui_runs_free(struct ag_ui_legs *legs); /* run may be NULL */

/* NULL: unknown. Borrowed until control returns to the loop. */
struct ag_ui_leg *ag_ui_runs_find(struct ag_ui_legs *legs, const char *thread, const char *run);
/* The newest leg of the thread. */
struct ag_ui_leg *ag_ui_runs_find_newest(struct ag_ui_legs *legs, const char *thread);
/* The newest interrupted leg of the turn to which this interrupt id belongs; the leg that this
 * request interrupted, if that is still known. */
struct ag_ui_leg *ag_ui_runs_find_interrupted(struct ag_ui_legs *legs, const char *thread,
                                              const char *id);
/* The request's id within its turn; NULL: the interrupt id belongs to another turn. */
const char *ag_ui_run_get_request(const struct ag_ui_leg *leg, const char *id);
/* Adds a run of a turn. */
struct ag_ui_leg *ag_ui_runs_add(struct ag_ui_legs *legs, const char *thread, const char *run,
                                 const char *turn, const char *scope, uint64_t after);
/* Ends the run after that event, because the turn waits for these requests. */
void ag_ui_run_interrupt(struct ag_ui_leg *leg, uint64_t until, const struct open_calls *asked);
/* Whether a request that interrupted the run is still open. */
bool ag_ui_run_is_waiting(const struct ag_ui_leg *leg, const struct request_registry *requests);
/* Number of the event at which a run of the turn was first interrupted behind `after`; 0: none. */
uint64_t ag_ui_runs_next_interrupt(struct ag_ui_legs *legs, const char *turn, uint64_t after);

#endif
