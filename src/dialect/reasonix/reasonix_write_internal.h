/* SPDX-License-Identifier: MIT
 * Shared by the files of the Reasonix writer; private to them. */
#ifndef DIALECT_REASONIX_REASONIX_WRITE_INTERNAL_H
#define DIALECT_REASONIX_REASONIX_WRITE_INTERNAL_H

#include "dialect/reader/tool_args.h"
#include "dialect/writer/json_member.h"
#include "dialect/writer/json_style.h"
#include "dialect/writer/writer.h"

#define GO STYLE_GO

struct reasonix_writing {
    struct open_calls calls;   /* open: id, name */
    struct open_calls readers; /* of those, the read-only ones */
    struct buf message;        /* text of the newest message */
    struct buf said;           /* text that was streamed */
    struct buf error;          /* kept until done */
    bool failed, counted;      /* an error was emitted; usage of a call was written */
    bool folded;               /* the next usage is in the message before it */
    double cost, cost_usd;     /* sum of the usage lines */
};

/* One event being written. */
struct reasonix_wire {
    struct reasonix_writing *w;
    const struct writer_out *out;
    const struct event *ev;
    bool own; /* read from this format */
    struct str x;
};

/* Begins a line of that kind, up to its first member behind `kind`; ends it. */
struct buf *reasonix_begin(const struct reasonix_wire *wire, const char *kind);
void reasonix_end_line(const struct reasonix_wire *wire);

/* reasonix_write_usage.c */
void reasonix_write_usage(const struct reasonix_wire *wire);

#endif
