/* SPDX-License-Identifier: MIT
 * Writer for awaken's flat events in serde member order. */
#ifndef DIALECT_AWAKEN_AWAKEN_WRITE_H
#define DIALECT_AWAKEN_AWAKEN_WRITE_H

#include "dialect/reader/tool_args.h"
#include "dialect/writer/json_style.h"
#include "dialect/writer/writer_list.h"

#define SERDE STYLE_SERDE

struct awaken_writer {
    struct buf thread_id, run_id, model;
    struct buf response, error;
    struct open_calls started;   /* calls whose tool_call_start was written */
    struct open_calls suspended; /* calls that wait for an answer, which the run does not cancel */
    bool answered;               /* the written response is the run's */
    bool counted;                /* a model call was written */
    bool activity;               /* the previous event was an activity */
    int64_t messages;            /* number of ids made so far */
};

struct awaken_write_ctx {
    struct awaken_writer *w;
    const struct writer_out *out;
    const struct event *ev;
};

/* Writes a line: begin with its event_type, add members in order, end. */
struct buf *awaken_begin(const struct awaken_write_ctx *e, const char *type);
void awaken_end(const struct awaken_write_ctx *e, struct buf *b);
void awaken_add_str(struct buf *b, const char *key, const char *s);      /* NULL: left out */
void awaken_add_json(struct buf *b, const char *key, const char *json);  /* NULL: null */
void awaken_add_slice(struct buf *b, const char *key, struct str value); /* absent: writes null */
void awaken_add_count(struct buf *b, const char *key, int64_t n);        /* negative: left out */
/* A value of meta.x; absent: p NULL. */
struct str awaken_rest(const struct event *ev, const char *pointer);

/* awaken_write_tool.c */
void awaken_write_call(const struct awaken_write_ctx *e);
void awaken_write_progress(const struct awaken_write_ctx *e);
void awaken_write_result(const struct awaken_write_ctx *e);
void awaken_write_request(const struct awaken_write_ctx *e);

#endif
