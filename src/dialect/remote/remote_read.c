/* SPDX-License-Identifier: MIT
 * Reader of the output of turncast-remote for a service: control lines (remote_line.h), and between
 * them lines of the service, which are passed to the reader of its dialect. Every event gets the
 * session ID that the control line named. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "dialect/dialect_list.h"
#include "dialect/reader/dialect_emit.h"
#include "dialect/reader/value.h"
#include "dialect/remote/remote_line.h"

#define SESSION_MAX 128

struct remote_reader {
    const struct dialect *service; /* NULL before the line "open" */
    void *state;                   /* state of that dialect */
    char session[SESSION_MAX + 1]; /* "": the service's own, if any */
    bool ended;                    /* the end of the stream was passed to the dialect */
    bool suspends;                 /* the next line of the service suspends the turn */
    bool resumes;                  /* the next start continues it */
};

/* Receives events of the service's dialect first. */
struct remote_reader_sink {
    struct remote_reader *reader;
    const struct dialect_sink *out;
};

/* Runs that form one turn have one start and one end. */
static bool remote_read_is_inner(struct remote_reader *r, const struct event *ev)
{
    const bool ends = ev->kind == TC_DONE || ev->kind == TC_FINAL || ev->kind == TC_USAGE;
    const bool goes_on = ev->kind == TC_START && r->resumes;
    r->resumes &= !goes_on;
    return (r->suspends && ends) || goes_on;
}

static void remote_read_emit(void *ctx, struct event *ev)
{
    const struct remote_reader_sink *const sink = ctx;
    if (remote_read_is_inner(sink->reader, ev))
        return;
    if (*sink->reader->session)
        ev->meta.session_id = sink->reader->session;
    sink->out->emit(sink->out->ctx, ev);
}

static struct dialect_sink remote_read_sink(struct remote_reader_sink *sink)
{
    struct dialect_sink inner = *sink->out;
    inner.emit = remote_read_emit;
    inner.ctx = sink;
    return inner;
}

static void remote_read_finish_service(struct remote_reader *r, const struct dialect_sink *out,
                                       const struct stream_end_info *end)
{
    struct remote_reader_sink sink = {r, out};
    const struct dialect_sink inner = remote_read_sink(&sink);
    if (r->service && r->service->end && !r->ended)
        r->service->end(r->state, &inner, end);
    r->ended = true;
}

/* ---- control lines ---- */

static void remote_read_open(struct remote_reader *r, const struct dialect_sink *out,
                             const struct remote_line *l)
{
    const char *const name = value_text(out->scratch, l->dialect, NULL);
    const struct dialect *const service = name ? dialect_find(name) : NULL;
    utf8_copy_truncated(r->session, sizeof r->session, value_text(out->scratch, l->session, NULL));
    if (r->service || !service || service->input)
        return; /* only the first one counts */
    r->service = service;
    r->state = service->state_size ? xcalloc(1, service->state_size) : NULL;
}

static const char *remote_read_text(const struct dialect_sink *out, struct str value,
                                    const char *otherwise)
{
    const char *const text = value_text(out->scratch, value, NULL);
    return text ? text : otherwise;
}

static void remote_read_error(struct remote_reader *r, const struct dialect_sink *out,
                              const struct remote_line *l)
{
    const struct stream_end_info end = {.how = STREAM_EXIT};
    remote_read_finish_service(r, out, &end);
    dialect_emit_error(out, remote_read_text(out, l->message, ""),
                       remote_read_text(out, l->code, NULL));
    dialect_emit_done(out, "error", remote_read_text(out, l->code, NULL));
}

/* "request" and "settled" are for the input side. */
static void remote_read_control(struct remote_reader *r, const struct dialect_sink *out,
                                const struct remote_line *l)
{
    if (value_equals(l->kind, "open"))
        remote_read_open(r, out, l);
    else if (value_equals(l->kind, "notice"))
        dialect_emit_notice(out, remote_read_text(out, l->level, "info"),
                            remote_read_text(out, l->code, NULL),
                            remote_read_text(out, l->text, ""), NULL);
    else if (value_equals(l->kind, "suspended"))
        r->suspends = true;
    else if (value_equals(l->kind, "error"))
        remote_read_error(r, out, l);
}

/* ---- the stream ---- */

static int remote_read_line(void *state, const struct dialect_sink *out, const char *line,
                            size_t len)
{
    struct remote_reader *const r = state;
    struct remote_line l;
    if (remote_line_parse(&l, line, len)) {
        struct remote_reader_sink sink = {r, out};
        const struct dialect_sink inner = remote_read_sink(&sink);
        remote_read_control(r, &inner, &l);
        return 0;
    }
    if (!r->service || r->ended)
        return -1;
    struct remote_reader_sink sink = {r, out};
    const struct dialect_sink inner = remote_read_sink(&sink);
    const int status = r->service->line(r->state, &inner, line, len);
    r->resumes |= r->suspends;
    r->suspends = false;
    return status;
}

static void remote_read_end(void *state, const struct dialect_sink *out,
                            const struct stream_end_info *end)
{
    remote_read_finish_service(state, out, end);
}

static void remote_read_close(void *state)
{
    struct remote_reader *const r = state;
    if (r->service && r->service->close)
        r->service->close(r->state);
    free(r->state);
}

const struct dialect dialect_remote = {
    .name = "remote",
    .summary = "events of a service, as turncast-remote writes them",
    .state_size = sizeof(struct remote_reader),
    .line = remote_read_line,
    .end = remote_read_end,
    .close = remote_read_close,
    .input = &remote_input,
};
