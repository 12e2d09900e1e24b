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

/* What a stream of one turn is written for. Strings are borrowed for its whole life. */
struct writer_conf {
    enum writer_framing framing;
    const char *protocol; /* version of the dialect, or NULL: its oldest still read everywhere */
    const char *model;    /* or NULL: what the turn says */
    /* How the reader calls conversation, turn and the turn before it; each or NULL: as the turn
     * says. */
    const char *thread, *run, *parent_run;
    const char *scope;  /* ag-ui: the run of this turn that the reader saw first; NULL: `run` */
    bool is_answer;     /* agenticore-openai: to a client of the API, which is told nothing twice */
    bool repeats_final; /* but the answer, with the tag "final", although it was narrated */
    bool usage_apart;   /* and usage in a chunk of its own, as OpenAI does when asked for it */
};

/* Where a writer puts its messages. */
struct writer_out {
    struct buf *buf;
    const struct writer_conf *conf;
};

/* One message: begin, append its text to the buffer returned, end. */
struct buf *writer_begin_message(const struct writer_out *out);
void writer_begin_end_message(const struct writer_out *out);

struct writer {
    const char *name;
    const char *summary;
    size_t state_size; /* zeroed; one per turn */
    /* Appends no, one or several messages. Events come as the guard gives them: after `done`
     * everything the writer opened is closed. */
    void (*event)(void *state, const struct writer_out *out, const struct event *ev);
    void (*close)(void *state); /* frees what state owns; may be NULL */
};

/* One turn being written. */
struct writer_stream {
    const struct writer *writer;
    struct writer_conf conf;
    void *state;
};

void writer_stream_init(struct writer_stream *w, const struct writer *writer,
                        const struct writer_conf *conf);
void writer_stream_write(struct writer_stream *w, struct buf *out, const struct event *ev);
void writer_stream_fini(struct writer_stream *w);

/* The table (writer_table.c). NULL: unknown name. */
const struct writer *writer_find(const char *name);
/* Every writer in turn, i from 0; NULL behind the last. */
const struct writer *writer_get(size_t i);

#endif
