/* SPDX-License-Identifier: MIT
 * Requests of AG-UI runs to people, and the decisions. A run that asks ends; the decisions are part
 * of the input of the thread's next run. Two forms are supported: interrupts of AG-UI, with which a
 * run finishes; and tirea's calls of its tools PermissionConfirm and askUserQuestion, which have no
 * result and are converted to interrupts. No I/O. */
#ifndef REMOTE_NATS_NATS_REQUESTS_H
#define REMOTE_NATS_NATS_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes/buf.h"
#include "base/str.h"
#include "remote/remote_commands.h"

#define NATS_REQUESTS_MAX 64

struct nats_asked {
    char *id;
    char *tool; /* tool of a tirea call; otherwise NULL */
    struct buf args;
    bool approval, edits;
    bool names_answers;  /* answers are a member of the payload; otherwise the whole payload */
    struct buf decision; /* JSON: an entry of "resume", or the content of a message; empty:
                          * undecided */
};

/* A struct of zeros has no requests. */
struct nats_requests {
    struct nats_asked all[NATS_REQUESTS_MAX];
    size_t n;
    bool by_calls; /* the run has asked by calls */
};

enum nats_event {
    NATS_EVENT_SHOWN,     /* pass the event to the dialect */
    NATS_EVENT_KEPT,      /* suppress it */
    NATS_EVENT_LAST,      /* pass it on; the run has ended */
    NATS_EVENT_SUSPENDED, /* pass it on; the run has ended until all requests are decided */
};

/* Processes an event. `shown` receives the text to pass on, if it differs from the event. */
enum nats_event nats_requests_handle_event(struct nats_requests *r, struct str event,
                                           struct buf *shown);
/* Decides an open request. False: no request with that id is open. */
bool nats_requests_decide(struct nats_requests *r, const struct remote_answer *answer);
/* Denies all open requests. */
void nats_requests_dismiss(struct nats_requests *r);
bool nats_requests_are_decided(const struct nats_requests *r);
/* The members "messages" and "resume" of the next run's input; all requests must be decided. */
void nats_requests_append_input(const struct nats_requests *r, struct buf *out);
void nats_requests_clear(struct nats_requests *r);

#endif
