/* SPDX-License-Identifier: MIT
 * Internal interface between the files of the executor. Loop thread only. */
#ifndef CORE_AGENT_EXECUTOR_INTERNAL_H
#define CORE_AGENT_EXECUTOR_INTERNAL_H

#include "base/bytes/buf.h"
#include "core/agent/agent_process.h"
#include "core/agent/executor.h"

enum executor_phase {
    PHASE_ATTEMPT, /* a process works, or is being ended */
    PHASE_PAUSE,   /* no process: waits until the next attempt */
    PHASE_OVER,    /* the turn has ended, or is about to */
};

/* Why the host ended an attempt. */
enum executor_stop_reason {
    WHY_NONE,
    WHY_IDLE,
    WHY_TOTAL,
    WHY_MUTE,
    WHY_CANCEL,
    WHY_SHUTDOWN,
    WHY_FENCED,
    WHY_CUT_OFF
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
    /* about the turn */
    struct loop_timer *total;
    int64_t deadline_ms; /* deadline of all attempts together; 0: none */
    unsigned attempt;    /* number of the attempt, from 1 */
    bool continues;      /* the next attempt gets CONTINUE_MESSAGE instead of the user's message */
    unsigned cancels;
    int64_t lease_ms; /* end of the lease for its processes; 0: no limit */
    enum executor_stop_reason why;
    /* about the attempt */
    enum executor_phase phase;
    char *session_id;              /* session that it resumes, or NULL */
    struct agent_process *process; /* NULL: not started, or passed on to the next turn */
    struct loop_timer *idle, *pause, *background;
    int64_t last_out_ms;
    int64_t background_until_ms; /* deadline of background work; 0: none yet */
    bool notice_sent;            /* a "still working" notice was sent since the last output */
    bool outcome;                /* the outcome was read */
    bool spawn_failed;
    bool warm;   /* the process served an earlier turn */
    bool heard;  /* the process has printed something in this turn */
    bool parted; /* the process serves the next turn */
    struct tc_err spawn_error;
    size_t reason_len; /* length of the final error's text before the line of stderr */
};

/* executor.c: the pause before the next attempt has ended. */
void executor_start_attempt(struct executor *x);
/* executor.c: call it after output was fed to the turn: there may be an outcome, or background
 * work. `rest` is the unread output. */
void executor_check_progress(struct executor *x, const char *rest, size_t n);
struct executor_retry;
/* executor.c: ends the turn; no process may be running. `retry` (or NULL): why there is no further
 * attempt. */
void executor_finish(struct executor *x, const struct executor_retry *retry);

/* executor_stop.c: timeouts and stop reasons of an attempt */
void executor_timers_init(struct executor *x);
void executor_timers_fini(struct executor *x);
void executor_on_spawned(struct executor *x);      /* an attempt has started */
void executor_on_spawn_failed(struct executor *x); /* there is no process now */
void executor_on_output(struct executor *x);       /* the agent printed something, or waits for
                                                    * others */
void executor_on_outcome(struct executor *x);      /* the outcome was read: the clocks stop */
void ladder_background(struct executor *x);        /* background work may continue */
void ladder_settle(struct executor *x);            /* background work is not waited for any more */
void executor_on_exited(struct executor *x);       /* the process has exited, but perhaps not its
                                                    * tree */
void executor_stop(struct executor *x, enum executor_stop_reason why);
void executor_schedule_retry(struct executor *x, int64_t ms); /* when it ends:
                                                               * executor_start_attempt */

/* executor_outcome.c */
struct executor_retry {
    bool again;
    bool without_session;
    bool anew;          /* the waiting process has exited: a new one gets the message */
    bool continues;     /* resume the session of the failed attempt instead of repeating the
                         * message */
    bool would_repeat;  /* not permitted: the cause is temporary, but the attempt has acted */
    const char *reason; /* the temporary cause, or NULL */
    int64_t delay_ms;
};
/* Whether to retry, according to the error of the attempt. */
struct executor_retry executor_decide_retry(const struct executor *x);
/* Adds to the agent's error the information of executor_describe_end: the number of attempts, and
 * why there is no further one. Call it before turn_release_gated. */
void end_annotate_error(struct executor *x, const struct executor_retry *retry);
/* Fills `end` with how the attempt ended; its texts are in `text`. An error states the number of
 * attempts and, from `retry`, why there is no further one. */
void executor_describe_end(struct executor *x, const struct executor_retry *retry,
                           struct stream_end_info *end, struct buf *text);
/* The same text for the log: in English, and without the last line of stderr. */
void executor_describe_for_log(struct executor *x, const struct executor_retry *retry,
                               struct buf *text);
/* Call it after turn_end_attempt: logs `text` as an error, with the end of stderr, if the turn
 * ended with that error. Some dialects report the answer only at the end of the stream; nothing is
 * logged then. */
void end_log(const struct executor *x, const struct stream_end_info *end, const struct buf *text);

#endif
