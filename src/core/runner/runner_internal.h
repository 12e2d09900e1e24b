/* SPDX-License-Identifier: MIT
 * Internal interface between the files of the runner. Loop thread only. */
#ifndef CORE_RUNNER_RUNNER_INTERNAL_H
#define CORE_RUNNER_RUNNER_INTERNAL_H

#include <sys/queue.h>

#include "core/bus/bus_kv.h"
#include "core/bus/bus_queue.h"
#include "core/runner/runner.h"
#include "core/runner/runner_files.h"
#include "core/work/work_message.h"
#include "core/work/work_outcome.h"
#include "core/work/work_share.h"
#include "dialect/turncast/turncast_run.h"

struct runner_queue {
    LIST_ENTRY(runner_queue) next;
    struct runner *runner;
    struct bus_queue *queue;
    char *agent; /* agent of the messages; NULL: messages for this host, of any agent */
};

struct runner {
    struct runner_spec spec;
    const struct conf *conf;
    struct bus_link *link;
    struct bus_watcher *watcher;
    struct dispatch *dispatch;
    struct turnlog *turnlog;
    struct request_registry *requests;
    struct turn_scheduler *turns;
    struct turnlog_watcher *finished;
    struct loop_timer *tick; /* with bus.on_loss = "kill": checks whether the bus is lost */
    LIST_HEAD(, runner_queue) queues;
    LIST_HEAD(, runner_job) jobs;
    LIST_HEAD(, runner_steered) steered;
    struct conversation_guests steering_hooks;
    struct loop_timer *steering_timer;
    struct runner_counters counters;
    bool is_draining, is_stopped, is_aside;
    void (*drained)(void *ctx);
    void *drained_ctx;
};

/* runner_job.c: one received message of the queue, or a turn that an agent has begun by itself. */
struct runner_job {
    LIST_ENTRY(runner_job) next;
    struct runner *runner;
    enum runner_job_state {
        JOB_ORDER,
        JOB_FILES,
        JOB_CLAIM,
        JOB_OUTCOME,
        JOB_OTHER,
        JOB_RUN,
        JOB_STORE,
        JOB_LATE
    } state;
    struct arena arena;
    struct work_signal signal; /* its texts are in the arena, like those of the order */
    struct work_order order;
    char run[WORK_ID];
    char ticket[BUS_QUEUE_ACK_MAX];
    unsigned deliveries;
    struct bus_origin claim;
    struct runner_own *own; /* of a turn that the agent has begun by itself; else NULL */
    bool awaits_reply;
    struct loop_timer *timer;
    struct work_outcome *outcome;
    bool is_cut_off;
    struct runner_files *files; /* NULL: none are fetched */
    struct str prompt;          /* what the agent is sent */
    struct buf result;          /* text of its answer or error */
    unsigned late_tries;
};
void runner_job_begin(struct runner *r, const struct bus_queue_item *item);
/* For the caller to fill in. */
struct runner_job *runner_job_new(struct runner *r);
/* Everything of it is stored: removes the message, and frees the job. */
void runner_job_end(struct runner_job *job);
void runner_job_write_claim(struct runner_job *job, nats_client_on_reply *on_reply);
void runner_job_resume(struct runner_job *job);                   /* the bus has become active */
void runner_job_stop(struct runner_job *job);                     /* frees the job */
struct runner_job *runner_job_next(const struct runner_job *job); /* or NULL */
bool runner_job_is_of_agent(const struct runner_job *job, const char *agent);
struct runner_job *runner_job_find(const struct runner *r, const char *run);
/* The turn has reached its final state. */
void runner_job_finish(struct runner_job *job, const struct turnlog_turn *t);
/* Ends its agent, because another publisher has taken over its events, or another outcome counts.
 */
void runner_job_abort(struct runner_job *job, const char *why);
/* Ends its agent, because the bus has been lost for too long (bus.on_loss). */
void runner_job_cut_off(struct runner_job *job);
/* runner_input.c: handles a line of the gateway for the agent (turncast_run.h). Returns the reply.
 */
struct str runner_job_handle_line(struct runner_job *job, struct str line);
/* runner_steering.c: writes a message for the running turn to the agent; false: the message becomes
 * a turn of its own. */
bool runner_steered_add(struct runner_job *job, const struct turncast_run_message *m);
void runner_steered_withdraw(struct runner_job *job, const char *id);
/* Whether the agent already has the message of the turn that is about to begin. */
bool runner_steering_begin_turn(struct runner_job *job);
void runner_steering_end_turn(struct runner_job *job);
void runner_steering_begin(struct runner *r);
void runner_steering_end(struct runner *r);
/* runner_own.c: appends the route of the job's turn on this host. */
void runner_own_write_route(struct buf *out, const struct runner_job *job);
/* An agent begins a turn by itself, behind a turn with that route (or NULL): makes its job, and
 * fills in the id of the run. False: it is of no turn of another host. */
bool runner_own_begin(struct runner *r, const char *route, char id[WORK_ID]);
/* Stores what is not stored yet, if the bus is active. */
void runner_own_go_on(struct runner_job *job);
void runner_own_resume(struct runner_job *job); /* the bus has become active */
/* The outcome is stored: whether the rest is, too; if not, runner_job_end is called later. */
bool runner_own_is_stored(struct runner_job *job);
void runner_own_free(struct runner_own *own);
/* runner_home.c: makes this host the home of the conversation. */
void runner_store_home(struct runner *r, const char *sessions, const char *conversation);
/* runner.c: a slot may be free. */
void runner_pull_orders(struct runner *r);

#endif
