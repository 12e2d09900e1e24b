/* SPDX-License-Identifier: MIT
 * One turn of an agent that is a service: commands come from standard input (dialect/remote), the
 * events of the service go to standard output. Provides the common parts: calls, the event stream,
 * the output, the end. One thread; writes to standard output may block. */
#ifndef REMOTE_SSE_SSE_RUN_H
#define REMOTE_SSE_SSE_RUN_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/bytes/buf.h"
#include "base/str.h"
#include "base/sys/err.h"
#include "remote/remote.h"
#include "remote/remote_commands.h"
#include "remote/sse/event_source.h"

struct sse_run;

/* Implementation of one kind of service. `r` provides its state and the common parts. */
struct sse_service {
    const char *name; /* value of the key `agent` */
    /* Request of a probe, to test whether requests are accepted: GET of this path, or POST with
     * this body. */
    const char *probe, *probe_body;
    size_t state_size; /* allocated zeroed */
    /* Starts the turn. `session` may be NULL: a new conversation. */
    void (*prompt)(struct sse_run *r, const char *text, const char *session);
    void (*answer)(struct sse_run *r, const struct remote_answer *answer);
    /* Stops the turn, or ends the run if no turn was started. Called once. */
    void (*cancel)(struct sse_run *r);
    struct event_source_events events; /* ctx is the run; `dropped` may be NULL */
    void (*close)(void *state);        /* frees the contents of state; may be NULL */
};

extern const struct sse_service sse_awaken, sse_ethos, sse_reasonix, sse_turncast;

void *sse_run_state(struct sse_run *r);
const char *sse_run_setting(const struct sse_run *r, const char *name); /* or NULL */
bool sse_run_is_cancelled(const struct sse_run *r);

/* ---- requests ---- */

/* Borrowed for the callback. */
struct sse_reply {
    bool ok;    /* a 2xx */
    int status; /* 0: no response */
    struct str body;
    const char *text; /* reason of a failure, with the service's message; no secrets */
    bool is_unsent;   /* the request certainly did not reach the service */
};

enum {
    SSE_REPEATABLE = 1, /* repeat after any failure of the network or the server, even if the
                         * request may have arrived */
};

/* A request with a JSON body (NULL: none), repeated while the service is unreachable, at most for
 * `outage_ms`. `path` is behind the configured URL. `key`: an Idempotency-Key, or NULL. `done` may
 * be NULL: a failure then becomes a notice. `done` is not called after the end of the run. */
void sse_run_call(struct sse_run *r, const char *method, const char *path, const char *body,
                  const char *key, unsigned flags,
                  void (*done)(struct sse_run *r, const struct sse_reply *reply));
/* A `done` for calls whose failure is ignored: cancelling a turn that has just ended. */
void sse_run_ignore(struct sse_run *r, const struct sse_reply *reply);
/* Opens the event stream; `spec` without url, headers and outage. */
void sse_run_open_events(struct sse_run *r, const char *path, struct event_source_spec spec);
void sse_run_reopen_events(struct sse_run *r);

/* ---- the output ---- */

void sse_run_write(struct sse_run *r, const struct buf *lines);
void sse_run_write_data(struct sse_run *r, const char *data, size_t len);
void sse_run_write_open(struct sse_run *r, const char *dialect, const char *session);
void sse_run_write_request(struct sse_run *r, const char *id, bool question, bool edits);
void sse_run_write_settled(struct sse_run *r, const char *id);
void sse_run_write_notice(struct sse_run *r, const char *code, const char *text);

/* ---- the end ---- */

/* The end of the turn was written. Unfinished calls are completed, for 2 s at most. */
void sse_run_end(struct sse_run *r);
/* Ends the turn with an error: remote_unreachable, remote_refused, remote_invalid or
 * remote_lost. */
void sse_run_fail(struct sse_run *r, const char *code, const char *fmt, ...)
    __attribute__((__format__(__printf__, 3, 4)));
/* Ends the turn because a call has failed; `what`: "cannot start the turn". */
void sse_run_fail_call(struct sse_run *r, const char *what, const struct sse_reply *reply);
/* Ends the turn because the event stream has ended. */
void sse_run_fail_closed(struct sse_run *r, const struct event_source_closed *closed);

#endif
