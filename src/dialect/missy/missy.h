/* SPDX-License-Identifier: MIT
 * State of the three dialects of missy: the audit log, its JSON reporter, and a run's server-sent
 * events. missy.c reads their lines, missy_event.c knows what they mean, missy_tool.c pairs calls
 * that have no ids.
 *
 * The audit log may tell one thing twice: once as progress (agent.progress.*), once as the
 * runtime's own record (agent.tool.*, agent.run.*). What is told first counts, what the second
 * adds is added, nothing is doubled. */
#ifndef DIALECT_MISSY_MISSY_H
#define DIALECT_MISSY_MISSY_H

#include "dialect/dialect_list.h"
#include "dialect/reader/dialect_emit.h"
#include "dialect/reader/value.h"

#define MISSY_CALLS 1024 /* open at once */

/* Who tells of a call. */
enum missy_family { MISSY_PROGRESS = 1, MISSY_TOOL = 2 };

struct missy_call {
    char *name; /* owned */
    char id[32];
    unsigned started, ended; /* families that said so */
};

struct missy {
    bool started, ended;
    unsigned starts; /* families that said that the run begins */
    int64_t step;    /* index of the open one; negative: none */
    uint64_t calls_made;
    struct missy_call *calls; /* oldest first */
    size_t count, cap;
    struct shared_event *held; /* a result the other family may add to, or NULL */
    char *held_name;           /* of its tool, owned */
    struct buf failure;        /* of the agent, until the run says how it ends */
};

struct missy_event {
    struct missy *m;
    const struct dialect_sink *out;    /* marks what passes with session, agent and x */
    const struct dialect_sink *source; /* the same without marks */
    const char *dialect, *name;
    struct str self;
    struct str detail; /* the object that holds what the event says */
    struct str result; /* value: of an audit record */
    enum missy_family family;
    const char *x;     /* what of the record has no place, or NULL */
    const char *agent; /* one that another agent called, or NULL: the run's own */
};

/* What an event is called, whose it is, and the members that have a place. A name that ends in a
 * dot stands for all that begin so. */
struct missy_row {
    const char *name;
    void (*take)(const struct missy_event *e);
    enum missy_family family;
    const char *const *known;
};

/* The event begins a run: a row's take. */
bool missy_is_start(const struct missy_row *row);

/* Rows of each dialect; they end with a NULL name. */
extern const struct missy_row missy_audit_rows[], missy_json_rows[], missy_run_rows[];

char *missy_text(const struct missy_event *e, const char *key);
/* The event says what was said before: for whoever wants everything. */
void missy_emit_duplicate(const struct missy_event *e);

/* missy_tool.c */
void missy_take_tool_start(const struct missy_event *e);
void missy_handle_tool_done(const struct missy_event *e);
/* Tells a result that was held back, unless this event (or NULL) may add to it. */
void missy_flush_held_result(struct missy *m, const struct dialect_sink *out,
                             const struct missy_event *next);
void missy_calls_fini(struct missy *m);

#endif
