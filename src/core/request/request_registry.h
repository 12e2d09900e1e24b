/* SPDX-License-Identifier: MIT
 * The open requests of all turns: what an agent waits for, who may decide it, until when; each is
 * decided once, by the first who may, the policy, the clock, or the end of its turn. Loop thread
 * only.
 *
 * A request that a person is asked is open: it gets choices, an expiry, and where it is asked. One
 * that the policy or an earlier answer decides is told with blocking false, and resolved at once.
 * What was decided goes to the agent first, then to everybody as request{resolved}. */
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

struct request_registry_spec {
    struct loop *loop;
    struct journal_async *journal; /* or NULL: nothing is noted on disk */
    struct approvals *approvals;   /* or NULL: nothing is remembered */
    bool unattended;               /* nobody can answer: what would be asked is denied at once */
};

struct request_registry *request_registry_new(const struct request_registry_spec *spec);
void request_registry_free(struct request_registry *r); /* when no turn is left. NULL is fine */

/* ---- the side of the agent */

struct request_turn_spec {
    const char *id, *conversation; /* conversation: or NULL */
    const struct conf_agent *agent;
    const struct dialect *dialect;
    /* Whose messages it is about (four_eyes): people of this instance, or keys of
     * CONF_PLACE_HTTP; NULL: of any. One that is NULL is not known any more. */
    const char *source;
    const char *const *askers;
    size_t n_askers;
    enum language language; /* of the reasons that the host gives */
    /* Gives the decision to the agent (executor_answer). */
    int (*answer)(void *ctx, const struct dialect_answer *answer);
    /* Whether the agent waits for an answer: executor_waits. NULL: it does. */
    bool (*waits)(void *ctx, const char *request_id);
    /* Whether who allows it may change its arguments: executor_takes_args. NULL: they may. */
    bool (*takes_args)(void *ctx, const char *request_id);
    void *ctx;
};
/* Strings are copied, the agent is borrowed. */
struct request_turn *request_turn_begin(struct request_registry *r,
                                        const struct request_turn_spec *spec);
/* A message of that person (NULL: not known) becomes part of the turn. */
void request_registry_add_asker(struct request_turn *t, const char *user);
/* Sets the turn in which decisions are told; to be called before the first request. */
void request_turn_attach(struct request_turn *t, struct turn *turn);
/* turn_spec.request. */
void request_turn_add(struct request_turn *t, struct tc_request *request);
/* The agent waits for nothing any more: what is open is cancelled, and told so. */
void request_turn_cancel_open(struct request_turn *t);
/* The turn is over. NULL is fine. */
void request_turn_end(struct request_turn *t);

/* ---- the side of people */

/* A decision of somebody who may answer. Strings are borrowed; those without a comment may be NULL.
 */
struct request_decision {
    const char *turn, *request; /* which one */
    const char *choice;         /* allow allow_turn allow_session allow_always allow_agent deny
                                   deny_stop answer */
    const char *text;           /* deny: the reason; answer: to a single question */
    const char *answers;        /* answer: JSON object, see tc_decision */
    const char *args;           /* allow: JSON object instead of the arguments asked for */
    const char *by;             /* for people, never NULL: "Ann (telegram)" */
    /* Where; instance NULL: the operator's own ways. Over HTTP: CONF_PLACE_HTTP and the name of the
     * key. */
    const char *instance, *chat, *thread;
    const char *user; /* who, as the instance names people; over HTTP the name of the key */
};

/* Why somebody may not decide on an open request, whatever they are granted. */
enum requests_bar {
    REQUESTS_FREE,      /* no reason; or it is not open */
    REQUESTS_ELSEWHERE, /* it is asked at other places alone (`to`) */
    REQUESTS_FOUR_EYES, /* they asked for the turn: they may deny, not allow */
};
/* Of who decides `turn`, `request`, `instance`, `chat`, `thread` and `user` count. */
enum requests_bar request_registry_bar(const struct request_registry *r,
                                       const struct request_decision *who);
/* TC_COMMAND: it counts. TC_KNOWN: decided before, or no longer open. TC_DENIED: not asked there,
 * or no valid decision. `text` gets a sentence for the person, in each case. */
enum tc_accepted request_answer(struct request_registry *r, const struct request_decision *d,
                                struct buf *text);
/* Appends, as a sentence for a person, that a request is closed: "Already denied by Ann (tg)." The
 * decision and who made it may be NULL. */
void request_describe_closed(struct buf *out, const char *decision, const char *by);
/* The result that request_answer would return, without deciding anything. */
enum tc_accepted request_check_answer(const struct request_registry *r,
                                      const struct request_decision *d, struct buf *text);

/* The ticket of an open request for an instance, the same each time. NULL: it is not open. */
const char *request_issue_ticket(struct request_registry *r, const char *instance, const char *turn,
                                 const char *request);
/* Finds the request of a ticket of that instance, open or not. False: unknown ticket. Borrowed. */
bool request_find_ticket(const struct request_registry *r, const char *instance, const char *ticket,
                         const char **turn, const char **request);

struct request_view {
    const char *turn, *request, *agent, *conversation;
    const char *kind, *choices, *to;
    const struct tc_request *shown; /* what it is about, as people read it; args: as they are */
    int64_t opened_ms, expires_ms;  /* unix milliseconds; 0: never */
};
/* Every open one, the oldest first. */
void request_each_open(const struct request_registry *r,
                       void (*each)(void *ctx, const struct request_view *v), void *ctx);
/* Appends a request as a JSON object; choices: a JSON array, or NULL. */
void request_view_append_json(struct buf *out, const struct request_view *v, const char *choices);
/* Appends the open requests of a turn as a JSON array; nothing when there is none. */
void request_append_open_of(struct buf *out, const struct request_registry *r, const char *turn);

#endif
