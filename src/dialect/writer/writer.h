/* SPDX-License-Identifier: MIT
 * Interface of a writer: canonical events in, another system's wire format out, as JSON lines or
 * server-sent events. Pure. */
#ifndef DIALECT_WRITER_WRITER_H
#define DIALECT_WRITER_WRITER_H

#include <stdbool.h>

#include "base/bytes/buf.h"
#include "event/event.h"

enum writer_framing {
    FRAMING_LINES, /* J\n */
    FRAMING_SSE,   /* data: J\n\n */
};

/* Settings of the stream of one turn. Strings are borrowed for its whole life. */
struct writer_conf {
    enum writer_framing framing;
    const char *protocol; /* version of the format, or NULL: the oldest that all readers support */
    const char *model;    /* or NULL: from the turn */
    /* Ids of conversation, turn and parent turn for the reader; each or NULL: from the turn. */
    const char *thread, *run, *parent_run;
    const char *agent, *conversation; /* otlp: names of them; each or NULL: not known */
    const char *settings;             /* JSON object, see struct tc_format; or NULL */
    const char *scope;  /* ag-ui: the first run of this turn that the reader saw; NULL: `run` */
    bool is_answer;     /* agenticore-openai: for a client of the API, which must get no text
                         * twice */
    bool repeats_final; /* except the answer, with the tag "final", although it was narrated */
    bool usage_apart;   /* usage in a separate chunk, as OpenAI sends it on request */
};

/* Output of a writer. */
struct writer_out {
    struct buf *buf;
    const struct writer_conf *conf;
};

/* A message: begin, append its text to the returned buffer, end. */
struct buf *writer_begin_message(const struct writer_out *out);
void writer_begin_end_message(const struct writer_out *out);

struct writer {
    const char *name;
    const char *summary;
    size_t state_size; /* zeroed; one per turn */
    /* Appends zero or more messages. Events arrive in the guard's order: after `done`, everything
     * that the writer opened is closed. */
    void (*event)(void *state, const struct writer_out *out, const struct event *ev);
    void (*close)(void *state); /* frees the contents of state; may be NULL */
};

/* A turn that is being written. */
struct writer_stream {
    const struct writer *writer;
    struct writer_conf conf;
    void *state;
};

void writer_stream_init(struct writer_stream *w, const struct writer *writer,
                        const struct writer_conf *conf);
void writer_stream_write(struct writer_stream *w, struct buf *out, const struct event *ev);
void writer_stream_fini(struct writer_stream *w);

/* Looks up the table (writer_table.c). NULL: unknown name. */
const struct writer *writer_find(const char *name);
/* Writer i, from 0; NULL behind the last. */
const struct writer *writer_get(size_t i);

#endif
