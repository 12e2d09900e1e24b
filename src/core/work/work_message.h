/* SPDX-License-Identifier: MIT
 * Messages about turns that another host runs: the turn, the message that wakes its runner up, and
 * its outcome. Formats and parses; unknown members are ignored. Pure. */
#ifndef CORE_WORK_WORK_MESSAGE_H
#define CORE_WORK_WORK_MESSAGE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/bytes/buf.h"
#include "base/str.h"
#include "core/bus/bus_message.h"

#define WORK_ID 37 /* bytes of the id of a run, with the end */

/* A turn as its gateway stores it (tc.turn.new.SOURCE.TURN): all that is needed to run it, and to
 * deliver its outcome from another host. Members may be NULL only where that is written. */
struct work_order {
    const char *turn, *agent, *conversation, *source;
    const char *gateway;                          /* host that admitted it */
    const char *route, *owner, *instances, *user; /* see journal_turn; or NULL */
    const char *seen;           /* names of its recipients, a line each; or NULL */
    const char *session;        /* that it resumes, or NULL */
    const char *message, *also; /* ids of its message in its source; or NULL */
    const char *files;          /* of the prompt, that its gateway has (work_files.h); or NULL */
    const char *follows;        /* not NULL: results of background work may be separate turns */
    const char *shared;         /* not NULL: the next leader of its source can adopt the turn */
    uint64_t after;             /* not in the message: sequence of the one that it replaces, or 0 */
    struct str prompt;
    int64_t admitted_ms; /* Unix */
};

void work_order_write(struct buf *out, const struct bus_origin *from, const struct work_order *o);
/* Its texts are the arena's. -1: it is none. */
int work_order_read(struct str message, struct arena *a, struct work_order *o) MUST_CHECK;

/* Message of the work queue: wakes up a runner, which reads the stored order. */
struct work_signal {
    const char *turn, *agent, *source, *gateway;
    const char *fresh; /* not NULL: the session of the order is not resumed */
};
void work_signal_write(struct buf *out, const struct bus_origin *from, const struct work_signal *s);
int work_signal_read(struct str message, struct arena *a, struct work_signal *s) MUST_CHECK;

/* An outcome (tc.turn.out.SOURCE.TURN): a first line, then canonical lines of events, of which the
 * last is `done`. */
void work_outcome_write(struct buf *out, const struct bus_origin *from, struct str lines);
/* The same for a turn that ends without an agent. */
void work_outcome_write_error(struct buf *out, const struct bus_origin *from, const char *turn,
                              double ts, const char *code, const char *text);
/* Whether the outcome is that the turn's host was lost. */
bool work_outcome_is_lost(struct str message);
/* The lines of an outcome; borrowed. */
struct str work_outcome_lines(struct str message);

/* The id that a turn has on the host that runs it; differs from the id on its gateway, which shows
 * the turn as its own. Derived from the latter. False: the turn's id is no UUID. */
bool work_run_id(const char *turn, char run[WORK_ID]);
/* The id of the turn of a message, the same on each host: its id in that source. */
void work_turn_id(const char *source, const char *message, char turn[WORK_ID]);
/* Appends the key of a conversation in the bucket of homes; sessions: conf_agent_session_name. */
void work_home_key(struct buf *out, const char *sessions, const char *conversation);

#endif
