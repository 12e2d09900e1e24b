/* SPDX-License-Identifier: MIT
 * One conversation: the messages that wait in it and the turn that runs in it. Several messages
 * are given to the agent as one: those of a burst, and those that came while a turn ran. Loop
 * thread only. */
#ifndef CORE_CONVERSATION_CONVERSATION_H
#define CORE_CONVERSATION_CONVERSATION_H

#include <sys/queue.h>

#include "core/conversation/turn_job.h"
#include "core/turnlog/turnlog.h"

/* A message that is on disk and waits. */
struct conversation_message {
    struct conversation_message *next;
    char *id;        /* of its turn, unless it goes into that of an earlier one */
    char *user;      /* or NULL: not known any more */
    char *route;     /* or NULL */
    char *instances; /* that it names (conf_scope_turn), or NULL */
    char *prompt;
    size_t prompt_len;
    bool alone;            /* it is a turn of its own: not given to the agent with others */
    bool again, is_stored; /* see turn_job_away */
    bool given;            /* the agent has it, and answers it behind the turn that runs */
    bool follows;          /* its sender is told of turns that the agent begins by itself */
    struct taking_back
        *back; /* somebody takes it back, and the agent is asked to drop it; or NULL */
};

/* What has become of messages that somebody wanted to take back. */
struct taken_back {
    size_t dropped;
    size_t too_late; /* the agent had taken them into the turn that runs */
};
typedef void conversation_taken_back(void *ctx, const struct taken_back *t);

struct conversation {
    LIST_ENTRY(conversation) next;        /* for the owner of it */
    TAILQ_ENTRY(conversation) next_ready; /* the same */
    bool listed;                          /* among those that were ready */
    const struct conf *conf;              /* of the agent: it is kept */
    const struct conf_agent *agent;
    char *source; /* where its messages come from: an instance, or an API */
    char *key;
    char *chat;  /* or NULL: not known any more */
    char *owner; /* the API client, or NULL */
    struct conversation_message *first, *last;
    size_t n_waiting, n_admitting;
    uint64_t ready; /* when it may begin: its number in the order; 0: not now */
    struct turn_job *job;
    char *user;      /* who began it, or NULL */
    char *instances; /* that its messages name (conf_scope_turn), or NULL */
    struct journal_async *journal;
    struct turnlog *turnlog; /* or NULL */
    bool throwaway;          /* its session is not kept */
    bool unlocked;           /* its lock could not be had: what waits ends with an error */
    struct loop_timer *burst;
    bool bursts; /* the timer runs */
    int64_t burst_began_ms;
    void (*calm)(void *ctx, struct conversation *c); /* the burst is over */
    void *ctx;
};

/* Copies the texts. */
struct conversation *conversation_new(struct loop *loop, const char *source, const char *key,
                                      const char *chat,
                                      void (*calm)(void *ctx, struct conversation *c), void *ctx);
void conversation_free(struct conversation *c);
/* What begins from now on is of this agent. */
void conversation_set_agent(struct conversation *c, const struct conf *conf,
                            const struct conf_agent *agent);
/* Nothing waits, runs, or is on its way to the disk. */
bool conversation_is_idle(const struct conversation *c);

/* Appends a copy; the record's id, route, instances and prompt count. */
struct conversation_message *conversation_enqueue(struct conversation *c,
                                                  const struct journal_turn *t, const char *user);
/* A burst goes on: it is over after so long a silence, or ten times that. 0: it is over. */
void conversation_debounce(struct conversation *c, int64_t debounce_ms);
/* NULL: no message of that id waits. */
struct conversation_message *conversation_find(const struct conversation *c, const char *id);
/* Takes back all that waits; returns how many those were. *held is set if the agent was given one
 * of them. */
size_t conversation_drop_waiting(struct conversation *c, bool *held);
/* Takes back the message of that id, or all (NULL). Those that the agent was given it is asked to
 * drop; `done` is called once, when it has said so of all, or its turn has ended. True: the agent
 * cannot be asked for one that it was given. */
bool conversation_take_back(struct conversation *c, const char *id, conversation_taken_back *done,
                            void *ctx);
/* Removes all that waits as if it had never been accepted: whoever sent it may send it again. */
void conversation_dismiss(struct conversation *c);
/* Offers the newest message to the agent for the turn that runs; false: it waits for its end. */
bool conversation_steer(struct conversation *c, struct conversation_message *newest);
/* Starts a turn of what waits, which is not nothing: c->job. Where it runs is taken from `spec`. */
void conversation_start_turn(struct conversation *c, const struct turn_job_spec *spec,
                             void (*over)(void *conversation));
/* Starts a turn that the agent has begun by itself; while there is none. */
void conversation_begin_by_agent(struct conversation *c, const struct turn_job_spec *spec,
                                 void (*over)(void *conversation));
/* Frees the turn that is over. True: the agent has not said what became of a message that was to be
 * taken back, which is dropped now. */
bool conversation_finish_turn(struct conversation *c);

#endif
