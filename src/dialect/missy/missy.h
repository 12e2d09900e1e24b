/* SPDX-License-Identifier: MIT
 * State of the three dialects of missy: the audit log, its JSON reporter, and a run's server-sent
 * events. missy.c reads the lines, missy_event.c interprets them, missy_tool.c pairs calls without
 * ids.
 *
 * The audit log may contain an event twice: as progress (agent.progress.*) and as a record of the
 * runtime (agent.tool.*, agent.run.*). The first record is emitted; the second one only adds
 * missing data. */
#ifndef DIALECT_MISSY_MISSY_H
#define DIALECT_MISSY_MISSY_H

#include "dialect/dialect_list.h"
#include "dialect/reader/dialect_emit.h"
#include "dialect/reader/value.h"

#define MISSY_CALLS 1024 /* open at once */

/* The families of records that reported a call. */
enum missy_family { MISSY_PROGRESS = 1, MISSY_TOOL = 2 };

struct missy_call {
    char *name; /* owned */
    char id[32];
    unsigned started, ended; /* families that reported it */
};

struct missy {
    bool started, ended;
    unsigned starts; /* families that reported the start of the run */
    int64_t step;    /* number of the open iteration; negative: none */
    uint64_t calls_made;
    struct missy_call *calls; /* oldest first */
    size_t count, cap;
    struct shared_event *held; /* a result held for additions of the other family, or NULL */
    char *held_name;           /* of its tool, owned */
    struct buf failure;        /* text of the agent, until the end of the run */
};

struct missy_event {
    struct missy *m;
    const struct dialect_sink *out;    /* marks common members for session, agent and x */
    const struct dialect_sink *source; /* the same without marks */
    const char *dialect, *name;
    struct str self;
    struct str detail; /* the object with the event's members */
    struct str result; /* value: of an audit record */
    enum missy_family family;
    const char *x;     /* other members of the record, or NULL */
    const char *agent; /* name of a called agent, or NULL: the run's own agent */
};

/* Name of an event, its owner, and its members. A name that ends in a dot matches all names with
 * this prefix. */
struct missy_row {
    const char *name;
    void (*take)(const struct missy_event *e);
    enum missy_family family;
    const char *const *known;
};

/* Handler of an event that begins a run. */
bool missy_is_start(const struct missy_row *row);

/* Rows of each dialect; end with a NULL name. */
extern const struct missy_row missy_audit_rows[], missy_json_rows[], missy_run_rows[];

char *missy_text(const struct missy_event *e, const char *key);
/* The event repeats earlier data: emitted as raw. */
void missy_emit_duplicate(const struct missy_event *e);

/* missy_tool.c */
void missy_handle_tool_start(const struct missy_event *e);
void missy_handle_tool_done(const struct missy_event *e);
/* Emits a held result, unless this event (or NULL) may add to it. */
void missy_flush_held_result(struct missy *m, const struct dialect_sink *out,
                             const struct missy_event *next);
void missy_calls_fini(struct missy *m);

#endif
