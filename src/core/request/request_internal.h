/* SPDX-License-Identifier: MIT
 * Internal interface between the files of the request registry. Loop thread only. */
#ifndef CORE_REQUEST_REQUEST_INTERNAL_H
#define CORE_REQUEST_REQUEST_INTERNAL_H

#include "base/arena.h"
#include "core/request/request_registry.h"
#include "core/request/request_state.h"

#define REQUESTS_OPEN 64  /* open requests of a turn; further ones are denied at once */
#define REQUESTS_OVER 256 /* remembered requests of a turn */
#define REQUESTS_TICKETS 4096

struct request {
    struct request *next;
    struct request_turn *turn;
    struct arena arena; /* owns all texts */
    enum request_state state;
    const char *id, *kind;
    const char *tool, *args, *choices, *to; /* or NULL; tool, args: as the agent sent them */
    struct tc_request shown; /* the same request in the form for people (turn/request_preview.h) */
    const char *argument;    /* key for remembered approvals; NULL: cannot be remembered */
    bool four_eyes;          /* the person who asked for the turn may not allow it */
    int64_t opened_ms, expires_ms;
    struct loop_timer *timer; /* or NULL */
    struct dialect_answer soon;
    const char *decision, *by; /* ended; soon: by */
};

struct request_turn {
    struct request_turn *next;
    bool is_linked; /* it has asked something */
    struct request_registry *registry;
    struct request_turn_spec spec; /* owns its strings */
    char *id, *conversation;
    struct arena arena; /* copies of source and askers of spec */
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
    struct request_turn *turns;                      /* turns that have asked something */
    struct request_ticket tickets[REQUESTS_TICKETS]; /* ring buffer */
    uint64_t n_tickets;
};

/* request_registry.c */
struct request *request_find(const struct request_registry *r, const char *turn,
                             const char *request);
void request_move(struct request *q, enum request_state_event event);
/* Resolves a request. `event`: the reason. Informs the agent, then everybody, with the given word.
 * -1: the agent no longer waits; reported as cancelled. */
int request_resolve(struct request *q, enum request_state_event event,
                    const struct dialect_answer *answer, const char *decision, const char *by);

/* The only places where it may be answered; NULL: wherever its turn is shown. */
void request_limit_places(struct request *q, const struct conf_place *places);

/* request_policy.c: decides requests that need no person: state REQUEST_DECIDED, soon, by. */
void request_apply_policy(struct request *q);

/* request_ticket.c */
void request_free_tickets(struct request_registry *r);

#endif
