/* SPDX-License-Identifier: MIT
 * Internal interface between the files of the executor. Loop thread only. */
#ifndef CORE_AGENT_EXECUTOR_INTERNAL_H
#define CORE_AGENT_EXECUTOR_INTERNAL_H

#include "base/bytes/buf.h"
#include "core/agent/agent_process.h"
#include "core/agent/executor.h"

enum executor_phase {
    PHASE_ATTEMPT, /* a process is at work, or is being ended */
    PHASE_PAUSE,   /* there is none: the next attempt waits for its time */
    PHASE_OVER,    /* the turn is told to its end, or about to be */
};

/* Why the host ended it, if it did. */
enum executor_stop_reason {
    WHY_NONE,
    WHY_IDLE,
    WHY_TOTAL,
    WHY_MUTE,
    WHY_CANCEL,
    WHY_SHUTDOWN,
    WHY_FENCED
};

/* Callbacks of the owner. */
struct executor_owner {
    const struct agent_place *place; /* where the agent runs; NULL: as a child of this host */
    void (*ended)(void *ctx, bool spawn_failed);
    void (*spawned)(void *ctx, pid_t pid);                                /* or NULL */
    void (*unasked)(void *ctx);                                           /* or NULL */
    void (*output)(void *ctx, const char *p, size_t n);                   /* or NULL */
    void (*settled)(void *ctx, const char *id, enum dialect_settled how); /* or NULL */
    void (*lost)(void *ctx);                                              /* or NULL */
    bool (*may_stay)(void *ctx);                                          /* or NULL */
    void (*stay)(void *ctx, struct agent_process *p, const char *bytes, size_t n);
    void *ctx;
};

struct executor {
    struct loop *loop;
    struct turn *turn;
    const struct conf_agent *agent;
    struct executor_owner owner;
    char *log_name;
    struct buf message;
    char *conversation; /* or NULL */
    /* the turn */
    struct loop_timer *total;
    int64_t deadline_ms; /* of all attempts together; 0: none */
    unsigned attempt;    /* from 1 */
    bool continues;      /* the next attempt gets CONTINUE_MESSAGE instead of the user's */
    unsigned cancels;
    int64_t lease_ms; /* until when its processes may run; 0: for any time */
    enum executor_stop_reason why;
    /* the attempt */
    enum executor_phase phase;
    char *session_id;              /* that it resumes, or NULL */
    struct agent_process *process; /* NULL: it could not be started, or serves the next turn */
    struct loop_timer *idle, *pause, *background;
    int64_t last_out_ms;
    int64_t background_until_ms; /* when background work is given up; 0: there was none yet */
    bool notice_sent;            /* "still working" since the last output */
    bool outcome;                /* has been read */
    bool spawn_failed;
    bool warm;   /* the process served an earlier turn */
    bool heard;  /* it has printed something in this turn */
    bool parted; /* it serves the next turn */
    struct tc_err spawn_error;
    size_t reason_len; /* of the final error: its part before the line of stderr */
};

/* executor.c: the pause before the next attempt is over. */
void executor_start_attempt(struct executor *x);
/* executor.c: after the turn was fed: there may be an outcome now, or background work. `rest` has
 * not been read of what the agent has printed. */
void executor_look(struct executor *x, const char *rest, size_t n);
struct executor_retry;
/* executor.c: ends the turn now; no process is at work for it. `retry` (or NULL) says why there is
 * no further attempt. */
void executor_finish(struct executor *x, const struct executor_retry *retry);

/* executor_stop.c: clocks, and why an attempt is ended */
void executor_timers_init(struct executor *x);
void executor_timers_fini(struct executor *x);
void executor_on_spawned(struct executor *x);      /* an attempt runs */
void executor_on_spawn_failed(struct executor *x); /* it does not: there is no process */
void executor_on_output(struct executor *x);       /* it printed something, or need not have */
void executor_on_outcome(struct executor *x);      /* it has an outcome: the clocks stop */
void ladder_background(struct executor *x);        /* it may work on in the background */
void ladder_settle(struct executor *x);            /* that is waited for no longer */
void executor_on_exited(struct executor *x);       /* it is gone, its tree perhaps not */
void executor_stop(struct executor *x, enum executor_stop_reason why);
void executor_schedule_retry(struct executor *x, int64_t ms); /* then executor_start_attempt */

/* executor_outcome.c */
struct executor_retry {
    bool again;
    bool without_session;
    bool anew;          /* the process that had waited is gone: another one gets the message */
    bool continues;     /* resumes what the failed attempt began, instead of repeating it */
    bool would_repeat;  /* refused: the cause is temporary, but the attempt has acted */
    const char *reason; /* the temporary cause, or NULL */
    int64_t delay_ms;
};
/* Whether the attempt is worth another one, by what is known of its error. */
struct executor_retry executor_decide_retry(const struct executor *x);
/* The error that the agent reported states the same as that of executor_describe_end: attempts, and
 * why there is no further one. Before turn_flush_held. */
void end_annotate_error(struct executor *x, const struct executor_retry *retry);
/* Fills `end` with how the attempt ended; the texts it points to live in `text`. The error states
 * how many attempts there were, and after `retry` why there is no further one. */
void executor_describe_end(struct executor *x, const struct executor_retry *retry,
                           struct stream_end_info *end, struct buf *text);
/* The same text as the log has it: in English, and without the last line of stderr. */
void executor_describe_for_log(struct executor *x, const struct executor_retry *retry,
                               struct buf *text);
/* After turn_end_attempt: logs `text` as an error, with the end of stderr, if the turn
 * ended with it. Some dialects report the answer only at the end of the stream; then nothing is
 * logged. */
void end_log(const struct executor *x, const struct stream_end_info *end, const struct buf *text);

#endif
