/* SPDX-License-Identifier: MIT
 * One turn between its files: turn_job.c (disk, agent, outcome), turn_job_refuse.c (turns that end
 * without an agent), turn_job_transcribe.c (files of sounds), turn_job_away.c (other hosts). */
#ifndef CORE_CONVERSATION_TURN_JOB_INTERNAL_H
#define CORE_CONVERSATION_TURN_JOB_INTERNAL_H

#include "core/agent/executor.h"
#include "core/agent/transcription.h"
#include "core/budget/turn_spending.h"
#include "core/conversation/turn_job.h"

struct turn_job {
    struct turn_job_spec spec; /* its strings are the arena's */
    struct arena arena;
    void (*over)(void *ctx);
    void *ctx;
    unsigned awaited;             /* answers that it needs before it can run */
    struct visibility visibility; /* until its end: what changes meanwhile is for the next */
    struct buf session;           /* that it resumes */
    struct buf spent;             /* what that had spent before; or empty */
    struct turn *turn;            /* NULL: it has not begun */
    struct executor *executor;
    struct transcription *transcription; /* NULL: no file of the prompt is being transcribed */
    struct request_turn *requests;
    unsigned cancels, shutdowns;   /* asked for before it ran */
    struct agent_process *process; /* that has waited for it, until it runs; or NULL */
    struct buf unread;             /* what that has printed */
    const char *seen;              /* to whom it is told, a name a line; or NULL */
    bool is_away;                  /* another host runs it */
    struct conf_agent away;        /* then: the agent, as it is for the executor */
    struct agent_place place;
    bool forget;
    bool cancelled;    /* somebody asked for its end */
    bool fenced;       /* its conversation is another host's now */
    size_t usage_kept; /* bytes of the usage that was kept with the outcome */
    bool gone;         /* nothing of the agent runs any more */
    struct turn_spending spending;
};

/* turn_job.c */
enum language turn_job_language(const struct turn_job_spec *s);
void turn_job_open_turn(struct turn_job *j);
/* Calls `over` when nothing of it is left. */
void turn_job_look_for_end(struct turn_job *j);
/* One of the answers is there that it needs before it can run. */
void turn_job_on_answer(struct turn_job *j);

void turn_job_on_visibility(void *job, struct visibility v);
void turn_job_on_session(void *job, const char *id);

/* turn_job_away.c */
bool turn_job_may_go_away(const struct turn_job_spec *s);
/* Before it runs: another host is to run it. */
void turn_job_go_away(struct turn_job *j);
/* Another host is to run it since an earlier life of this one. */
void turn_job_begin_again(struct turn_job *j);
const struct dialect *turn_job_away_dialect(void);

/* turn_job_refuse.c; true: the turn ends without an agent */
bool turn_job_refuse(struct turn_job *j);          /* a budget is used up */
bool turn_job_refuse_unlocked(struct turn_job *j); /* its conversation is not this host's */

/* turn_job_transcribe.c: if it has to be done, its end is one of those answers */
void turn_job_transcribe(struct turn_job *j);

#endif
