/* SPDX-License-Identifier: MIT
 * Spans of a trace in the JSON form of OTLP: the data of a span while it is open, and its JSON when
 * it ends. All ids are derived from the id of the turn, so that a child can name a parent that is
 * written later, and a turn that is written again gives the same trace. Pure. */
#ifndef DIALECT_OTLP_OTLP_SPAN_H
#define DIALECT_OTLP_OTLP_SPAN_H

#include <stdbool.h>
#include <sys/queue.h>

#include "base/arena.h"
#include "base/bytes/buf.h"

#define OTLP_TRACE_ID ((size_t)32) /* hexadecimal digits */
#define OTLP_SPAN_ID ((size_t)16)

enum otlp_span_kind { OTLP_INTERNAL = 1, OTLP_CLIENT = 3 }; /* numbers of the protocol */

struct otlp_span {
    LIST_ENTRY(otlp_span) next; /* of those that are open */
    struct arena arena;         /* of all texts */
    const char *key;            /* tool_use_id; of a sub-agent that of the call that started it */
    char id[OTLP_SPAN_ID + 1], parent[OTLP_SPAN_ID + 1]; /* parent "": none */
    const char *operation, *name, *agent; /* agent: id of the sub-agent; the last two or NULL */
    double start, ready;                  /* ready: when the model could begin its next call */
    const char *error, *reason;           /* of a failure, or NULL */
    struct buf attributes, events;        /* elements of these arrays */
    bool is_agent, is_told;               /* the agent reports the end of this sub-agent */
};

void otlp_span_fini(struct otlp_span *s);

/* The first n digits of the SHA-256 of the text, and a NUL. */
void otlp_span_make_digits(char *to, size_t n, const char *text);
/* The id of a span of this turn; `sort` and `key` are different for each. */
void otlp_span_make_id(char to[OTLP_SPAN_ID + 1], const char *turn, const char *sort,
                       const char *key);
/* Keeps a text as long as the span; NULL of NULL and "". */
const char *otlp_span_copy_text(struct otlp_span *s, const char *text);
/* Adds an event of the span with these attributes. One that is too many is left out. */
void otlp_span_add_event(struct otlp_span *s, double ts, const char *name,
                         const struct buf *attributes);
/* Appends the span. */
void otlp_span_write(struct buf *b, const struct otlp_span *s, const char *turn,
                     enum otlp_span_kind kind, double end);

#endif
