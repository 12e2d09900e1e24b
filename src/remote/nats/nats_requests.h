/* SPDX-License-Identifier: MIT
 * What runs of AG-UI ask of people, and what is decided. A run that asks ends; the decisions are
 * part of the input of the next run of the thread. Two forms are read: the interrupts of AG-UI,
 * with which a run finishes, and the calls of tirea to its tools PermissionConfirm and
 * askUserQuestion, which have no result; those are turned into interrupts. No I/O. */
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
    char *tool; /* a call of tirea: its tool; else NULL */
    struct buf args;
    bool approval, edits;
    bool names_answers;  /* the answers are a member of the payload, not all of it */
    struct buf decision; /* JSON: an entry of "resume", or the content of a message; empty: open */
};

/* All zero is none. */
struct nats_requests {
    struct nats_asked all[NATS_REQUESTS_MAX];
    size_t n;
    bool by_calls; /* the run has asked by calls */
};

enum nats_event {
    NATS_EVENT_SHOWN,     /* it is for the reader of the dialect */
    NATS_EVENT_KEPT,      /* it is not */
    NATS_EVENT_LAST,      /* it is, and the run is over */
    NATS_EVENT_SUSPENDED, /* it is, and the run is over until all requests are decided */
};

/* What an event means. `shown` gets what is to be read instead, if that is not the event. */
enum nats_event nats_requests_take(struct nats_requests *r, struct str event, struct buf *shown);
/* Decides an open request. False: no request with that id is open. */
bool nats_requests_decide(struct nats_requests *r, const struct remote_answer *answer);
/* Denies all open requests. */
void nats_requests_dismiss(struct nats_requests *r);
bool nats_requests_are_decided(const struct nats_requests *r);
/* The members "messages" and "resume" of the input of the next run; all of it is decided. */
void nats_requests_append_input(const struct nats_requests *r, struct buf *out);
void nats_requests_clear(struct nats_requests *r);

#endif
