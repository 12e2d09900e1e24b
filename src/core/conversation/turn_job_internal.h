/* SPDX-License-Identifier: MIT
 * Internal interface of the files of a turn: turn_job.c (disk, agent, outcome), turn_job_refuse.c
 * (turns that end without an agent), turn_job_transcribe.c (sound files), turn_job_away.c (other
 * hosts). */
#ifndef CORE_CONVERSATION_TURN_JOB_INTERNAL_H
#define CORE_CONVERSATION_TURN_JOB_INTERNAL_H

#include "core/agent/executor.h"
#include "core/agent/transcription.h"
#include "core/budget/turn_spending.h"
#include "core/conversation/turn_job.h"

struct turn_job {
    struct turn_job_spec spec; /* its strings are in the arena */
    struct arena arena;
    void (*over)(void *ctx);
    void *ctx;
    unsigned awaited;             /* pending lookups before it can run */
    struct visibility visibility; /* fixed until its end; changes apply to the next turn */
    struct buf session;           /* session that it resumes */
    struct buf spent;             /* totals of that session; or empty */
    struct turn *turn;            /* NULL: not started */
    struct executor *executor;
    struct transcription *transcription; /* NULL: no transcription is running */
    struct request_turn *requests;
    unsigned cancels, shutdowns;   /* cancelled before it ran */
    struct agent_process *process; /* a waiting process for it, until it runs; or NULL */
    struct buf unread;             /* unread output of that process */
    const char *seen;              /* instances that receive the turn, one name per line; or NULL */
    bool is_away;                  /* another host runs it */
    bool is_released;              /* another host has adopted it before it began */
    uint64_t after;                /* work_share_begin */
    struct conf_agent away;        /* then: how the executor runs the agent */
    struct agent_place place;
    bool is_started; /* its start has been told */
    bool forget;
    bool cancelled;    /* a cancellation was requested */
    bool fenced;       /* another host has the conversation now */
    size_t usage_kept; /* length of the usage stored with the outcome */
    bool gone;         /* no process of the agent is left */
    struct turn_spending spending;
};

/* turn_job.c */
enum language turn_job_language(const struct turn_job_spec *s);
void turn_job_open_turn(struct turn_job *j);
/* Calls `over` when everything is complete. */
void turn_job_check_end(struct turn_job *j);
/* One of the pending lookups is complete. */
void turn_job_on_answer(struct turn_job *j);

/* It runs, here or on the other host. */
void turn_job_run_here(struct turn_job *j);
void turn_job_run(struct turn_job *j);

void turn_job_on_visibility(void *job, struct visibility v);
void turn_job_on_session(void *job, const char *id);

/* turn_job_away.c */
bool turn_job_may_run_remotely(const struct turn_job_spec *s);
/* Whether the turn could take that message while it runs. */
bool turn_job_may_steer(const struct turn_job *j, struct str text);
/* Starts the turn here or on another host, unless another host has adopted it. */
void turn_job_share(struct turn_job *j, bool here);
/* Whether another host was chosen before a restart. */
void turn_job_begin_again(struct turn_job *j);
const struct dialect *turn_job_away_dialect(void);
/* Its start has been told. */
void turn_job_on_started(void *job);

/* turn_job_refuse.c; true: the turn ends without an agent */
bool turn_job_refuse(struct turn_job *j);          /* a budget is used up */
bool turn_job_refuse_unlocked(struct turn_job *j); /* another host has the conversation */

/* turn_job_transcribe.c: a necessary transcription counts as a pending lookup */
void turn_job_transcribe(struct turn_job *j);

#endif
