/* SPDX-License-Identifier: MIT
 * A conversation: its queued messages and its running turn. Messages of a burst, and those that
 * arrive while a turn runs, are joined to one prompt. Loop thread only. */
#ifndef CORE_CONVERSATION_CONVERSATION_H
#define CORE_CONVERSATION_CONVERSATION_H

#include <sys/queue.h>

#include "core/conversation/turn_job.h"
#include "core/turnlog/turnlog.h"

/* A message that is on disk and queued. */
struct conversation_message {
    struct conversation_message *next;
    char *id;        /* id of its turn, unless it is joined to an earlier one */
    char *user;      /* or NULL: no longer known */
    char *route;     /* or NULL */
    char *instances; /* named instances (conf_scope_turn), or NULL */
    char *prompt;
    size_t prompt_len;
    bool alone;            /* needs a separate turn: not joined with others */
    bool again, is_stored; /* see turn_job_away */
    bool given;            /* the agent has it, and will answer it after the running turn */
    bool follows;          /* its sender receives turns that the agent starts by itself */
    /* Waits for the agent to drop the message; or NULL. */
    struct conversation_withdrawal *withdrawal;
};

/* Result of a withdrawal. */
struct taken_back {
    size_t dropped;
    size_t too_late; /* number that the agent had taken into the running turn */
};
typedef void conversation_withdraw_done(void *ctx, const struct taken_back *t);

struct conversation;

/* Messages that the gateway of a turn which this host runs for it has queued, not this host; and
 * turns that agents begin by themselves behind such a turn. */
struct conversation_guests {
    /* The agent has accepted, refused or dropped such a message, or one of the turn. */
    void (*settled)(void *ctx, const struct conversation *c, const char *id,
                    enum dialect_settled how);
    /* The process to which messages had been written has ended. */
    void (*lost)(void *ctx, const struct conversation *c);
    /* Whether the agent will answer one of them next, whose turn has not arrived on this host. */
    bool (*waits)(void *ctx, const char *key);
    /* The agent begins a turn by itself, behind a turn with that route (or NULL). True: fills in
     * the id of the turn. */
    bool (*begins)(void *ctx, const char *route, char id[37]);
    void *ctx;
};

struct conversation {
    LIST_ENTRY(conversation) next;        /* links for the owner of the conversation */
    TAILQ_ENTRY(conversation) next_ready; /* the same */
    bool listed;                          /* in the list of ready conversations */
    const struct conf *conf;              /* configuration of the agent; holds a reference */
    const struct conf_agent *agent;
    char *source; /* source of its messages: an instance, or an API */
    char *key;
    char *chat;  /* or NULL: no longer known */
    char *owner; /* the API client, or NULL */
    struct conversation_message *first, *last;
    size_t n_waiting, n_admitting;
    uint64_t ready; /* position in the order of ready conversations; 0: not ready */
    struct turn_job *job;
    char *user;      /* who started it, or NULL */
    char *instances; /* named instances (conf_scope_turn), or NULL */
    struct journal_async *journal;
    struct turnlog *turnlog;                  /* or NULL */
    const struct conversation_guests *guests; /* or NULL */
    bool throwaway;                           /* the session is not stored */
    bool unlocked; /* the lock is unavailable: queued messages end with an error */
    struct loop_timer *burst;
    bool bursts; /* the timer is set */
    int64_t burst_began_ms;
    void (*calm)(void *ctx, struct conversation *c); /* the burst has ended */
    void *ctx;
};

/* Copies the texts. */
struct conversation *conversation_new(struct loop *loop, const char *source, const char *key,
                                      const char *chat,
                                      void (*calm)(void *ctx, struct conversation *c), void *ctx);
void conversation_free(struct conversation *c);
/* Sets the agent for turns that start from now on. */
void conversation_set_agent(struct conversation *c, const struct conf *conf,
                            const struct conf_agent *agent);
/* Whether no message or turn is queued, running, or being written to disk. */
bool conversation_is_idle(const struct conversation *c);

/* Appends a copy; the record's id, route, instances and prompt are used. */
struct conversation_message *conversation_enqueue(struct conversation *c,
                                                  const struct journal_turn *t, const char *user);
/* Extends a burst, which ends after this time of silence, or after ten times that. 0: ends it. */
void conversation_debounce(struct conversation *c, int64_t debounce_ms);
/* NULL: no queued message has that id. */
struct conversation_message *conversation_find(const struct conversation *c, const char *id);
/* Withdraws all queued messages; returns their number. Sets *held if the agent was given one of
 * them. */
size_t conversation_drop_waiting(struct conversation *c, bool *held);
/* Withdraws the message of that id, or all (NULL). Asks the agent to drop those that it was given;
 * `done` is called once, when the fate of all is known, or the turn has ended. True: the agent
 * cannot be asked about one of them. */
bool conversation_withdraw_messages(struct conversation *c, const char *id,
                                    conversation_withdraw_done *done, void *ctx);
/* Removes all queued messages as if they had never been accepted: their senders may send them
 * again. Turns that another host runs stay. */
void conversation_dismiss(struct conversation *c);
/* Offers the newest message to the agent for the running turn; false: it stays queued. */
bool conversation_steer(struct conversation *c, struct conversation_message *newest);
/* Starts a turn with queued messages (at least one): c->job. `spec` says where it runs. */
void conversation_start_turn(struct conversation *c, const struct turn_job_spec *spec,
                             void (*over)(void *conversation));
/* Starts a turn that the agent has started by itself; no turn may be running. */
void conversation_begin_by_agent(struct conversation *c, const struct turn_job_spec *spec,
                                 void (*over)(void *conversation));
/* Frees the ended turn. True: the fate of a withdrawn message is unknown; it is dropped now. */
bool conversation_finish_turn(struct conversation *c);

#endif
