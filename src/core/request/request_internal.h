/* SPDX-License-Identifier: MIT
 * Internal interface between the files of the request registry. Loop thread only. */
#ifndef CORE_REQUEST_REQUEST_INTERNAL_H
#define CORE_REQUEST_REQUEST_INTERNAL_H

#include "base/arena.h"
#include "core/request/request_registry.h"
#include "core/request/request_state.h"

#define REQUESTS_OPEN 64  /* of one turn; more are denied at once */
#define REQUESTS_OVER 256 /* of one turn that are still known */
#define REQUESTS_TICKETS 4096

struct request {
    struct request *next;
    struct request_turn *turn;
    struct arena arena; /* of all texts */
    enum request_state state;
    const char *id, *kind;
    const char *tool, *args, *choices, *to; /* or NULL; tool, args: as the agent sent them */
    struct tc_request shown; /* the same request as people read it (turn/request_preview.h) */
    const char *argument;    /* what it is remembered by; NULL: by nothing */
    bool four_eyes;          /* whoever asked for the turn may not allow it */
    int64_t opened_ms, expires_ms;
    struct loop_timer *timer; /* or NULL */
    struct dialect_answer soon;
    const char *decision, *by; /* over; soon: by */
};

struct request_turn {
    struct request_turn *next;
    bool is_linked; /* it has asked something */
    struct request_registry *registry;
    struct request_turn_spec spec; /* its strings are its own */
    char *id, *conversation;
    struct arena arena; /* of source and askers in spec */
    struct turn *turn;
    struct request *first, *last;
    unsigned n_open, n_known;
    struct loop_timer *soon;
};

struct request_ticket {
    char text[33];
    char *instance, *turn, *request;
};

struct request_registry {
    struct request_registry_spec spec;
    struct request_turn *turns;                      /* that have asked something */
    struct request_ticket tickets[REQUESTS_TICKETS]; /* a ring */
    uint64_t n_tickets;
};

/* request_registry.c */
struct request *request_find(const struct request_registry *r, const char *turn,
                             const char *request);
void request_move(struct request *q, enum request_state_event event);
/* `event`: why it is resolved. The agent is told, then everybody; by the word it is known under.
 * -1: the agent does not wait for it any more, and it is told as cancelled. */
int request_resolve(struct request *q, enum request_state_event event,
                    const struct dialect_answer *answer, const char *decision, const char *by);

/* It is asked at these places alone; NULL: wherever its turn is shown. */
void request_limit_places(struct request *q, const struct conf_place *places);

/* request_policy.c: decides what needs nobody: state REQUEST_DECIDED, soon, by. */
void request_apply_policy(struct request *q);

/* request_ticket.c */
void request_free_tickets(struct request_registry *r);

#endif
