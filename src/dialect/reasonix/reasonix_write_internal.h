/* SPDX-License-Identifier: MIT
 * What the files of the Reasonix writer share; nobody else includes it. */
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
    bool failed, counted;      /* an error was told; usage of a call was written */
    bool folded;               /* the usage that comes next stands in the message before it */
    double cost, cost_usd;     /* what the usage lines add up to */
};

/* One event being written. */
struct reasonix_wire {
    struct reasonix_writing *w;
    const struct writer_out *out;
    const struct event *ev;
    bool own; /* read from this very wire */
    struct str x;
};

/* A line of that kind, up to its first member behind `kind`; its end. */
struct buf *reasonix_begin(const struct reasonix_wire *wire, const char *kind);
void reasonix_end_line(const struct reasonix_wire *wire);

/* reasonix_write_usage.c */
void reasonix_write_usage(const struct reasonix_wire *wire);

#endif
