/* SPDX-License-Identifier: MIT
 * Registry of the open requests of all turns: the request, who may decide, and the deadline. Each
 * is decided once: by the first permitted person, the policy, the deadline, or the end of its turn.
 * Loop thread only.
 *
 * A request for people is open: it gets choices, a deadline, and the places where it may be
 * answered. A request that the policy or an earlier answer decides is emitted with blocking false,
 * and resolved at once. A decision goes to the agent first, then to everybody as
 * request{resolved}. */
#ifndef CORE_REQUEST_REQUEST_REGISTRY_H
#define CORE_REQUEST_REQUEST_REGISTRY_H

#include <turncast/plugin.h>

#include "base/bytes/buf.h"
#include "base/language.h"
#include "conf/conf.h"
#include "core/turn/turn.h"
#include "dialect/dialect.h"
#include "io/loop/loop.h"

struct approvals;
struct journal_async;
struct request_registry;
struct request_turn;

#define REQUEST_TICKET_SIZE 33 /* a button has room for 32 characters */

struct request_registry_spec {
    struct loop *loop;
    struct journal_async *journal; /* or NULL: no audit in the journal */
    struct approvals *approvals;   /* or NULL: no remembered approvals */
    bool unattended;               /* no person can answer: requests are denied at once */
};

struct request_registry *request_registry_new(const struct request_registry_spec *spec);
void request_registry_free(struct request_registry *r); /* call it when no turn is left. NULL is
                                                         * allowed */

/* ---- for the agent's side */

struct request_turn_spec {
    const char *id, *conversation; /* conversation: or NULL */
    const struct conf_agent *agent;
    const struct dialect *dialect;
    /* Authors of its messages (for four_eyes): people of this instance, or keys of CONF_PLACE_HTTP;
     * NULL: unchecked. A NULL element is unknown. */
    const char *source;
    const char *const *askers;
    size_t n_askers;
    enum language language; /* language of the host's reasons */
    /* Gives the decision to the agent (executor_answer). */
    int (*answer)(void *ctx, const struct dialect_answer *answer);
    /* Whether the agent waits for an answer: executor_waits. NULL: always. */
    bool (*waits)(void *ctx, const char *request_id);
    /* Whether a person who allows it may change its arguments: executor_accepts_args. NULL:
     * always. */
    bool (*takes_args)(void *ctx, const char *request_id);
    void *ctx;
};
/* Copies strings, borrows the agent. */
struct request_turn *request_turn_begin(struct request_registry *r,
                                        const struct request_turn_spec *spec);
/* A message of that person (NULL: unknown) becomes part of the turn. */
void request_registry_add_asker(struct request_turn *t, const char *user);
/* Sets the turn for resolving events; call it before the first request. */
void request_turn_attach(struct request_turn *t, struct turn *turn);
/* turn_spec.request. */
void request_turn_add(struct request_turn *t, struct tc_request *request);
/* The agent no longer waits: cancels the open requests, and emits that. */
void request_turn_cancel_open(struct request_turn *t);
/* The turn has ended. NULL is allowed. */
void request_turn_end(struct request_turn *t);

/* ---- for people */

/* A decision of a permitted person. Strings are borrowed; those without a comment may be NULL. */
struct request_decision {
    const char *turn, *request; /* id of the request */
    const char *choice;         /* allow allow_turn allow_session allow_always allow_agent deny
                                   deny_stop answer */
    const char *text;           /* deny: the reason; answer: to a single question */
    const char *answers;        /* answer: JSON object, see tc_decision */
    const char *args;           /* allow: JSON object instead of the arguments asked for */
    const char *by;             /* author for people, never NULL: "Ann (telegram)" */
    /* Place; instance NULL: the operator's interfaces. Over HTTP: CONF_PLACE_HTTP and the name of
     * the key. */
    const char *instance, *chat, *thread;
    const char *user; /* the author as the instance identifies people; over HTTP the name of the
                       * key */
};

/* Why a person may not decide an open request, whatever their grants. */
enum requests_bar {
    REQUESTS_FREE,      /* permitted; or the request is not open */
    REQUESTS_ELSEWHERE, /* only other places may answer (`to`) */
    REQUESTS_FOUR_EYES, /* the person asked for the turn, and may deny but not allow */
};
/* Uses `turn`, `request`, `instance`, `chat`, `thread` and `user` of the decision. */
enum requests_bar request_registry_bar(const struct request_registry *r,
                                       const struct request_decision *who);
/* TC_COMMAND: the decision counts. TC_KNOWN: decided before, or no longer open. TC_DENIED: not
 * permitted there, or invalid. `text` gets a sentence for the person in each case. */
enum tc_accepted request_answer(struct request_registry *r, const struct request_decision *d,
                                struct buf *text);
/* Appends a sentence for people that a request is closed: "Already denied by Ann (tg)." Decision
 * and author may be NULL. */
void request_describe_closed(struct buf *out, const char *decision, const char *by);
/* The result that request_answer would have, without deciding. */
enum tc_accepted request_check_answer(const struct request_registry *r,
                                      const struct request_decision *d, struct buf *text);

/* The ticket of an open request for an instance, the same each time. NULL: not open. */
const char *request_issue_ticket(struct request_registry *r, const char *instance, const char *turn,
                                 const char *request);
/* Makes the ticket of a request of another host's turn: a digest, the same on every host, so that
 * buttons remain valid when another host leads the instance. */
void request_make_guest_ticket(char text[REQUEST_TICKET_SIZE], const char *instance,
                               const char *turn, const char *request);
/* Finds the request of a ticket of that instance, open or not. False: unknown ticket. Borrowed. */
bool request_find_ticket(const struct request_registry *r, const char *instance, const char *ticket,
                         const char **turn, const char **request);

struct request_view {
    const char *turn, *request, *agent, *conversation;
    const char *kind, *choices, *to;
    const struct tc_request *shown; /* subject as shown to people; args: unchanged */
    int64_t opened_ms, expires_ms;  /* unix milliseconds; 0: never */
};
/* Calls `each` for every open request, the oldest first. */
void request_each_open(const struct request_registry *r,
                       void (*each)(void *ctx, const struct request_view *v), void *ctx);
/* Appends a request as a JSON object; choices: a JSON array, or NULL. */
void request_view_append_json(struct buf *out, const struct request_view *v, const char *choices);
/* Appends the open requests of a turn as a JSON array; nothing if there are none. */
void request_append_open_of(struct buf *out, const struct request_registry *r, const char *turn);

#endif
