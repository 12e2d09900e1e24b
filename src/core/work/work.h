/* SPDX-License-Identifier: MIT
 * Turns of this host that other hosts run. The executor sees such a run as the agent's process: its
 * output is the canonical lines of the turn's events on the other host, decisions are written to
 * its input, and it exits when the last event has been read, or when its host is lost. So the
 * journal, the guard and the connectors of this host know nothing of the bus. Loop thread only.
 *
 *   state    | what happens                                            | next
 *   ---------+---------------------------------------------------------+--------------------------
 *   PLACING  | the conversation's host is read                         | STORING
 *   RECALL   | a turn of an earlier life of this host is read; if it   | WAITING
 *            | was never stored, it is one like any other              | PLACING
 *   STORING  | the turn is stored, once (tc.turn.new)                  | QUEUEING
 *   QUEUEING | a message is put into the work queue                    | WAITING
 *   WAITING  | no host is known to have begun it                       | RUNNING, or PLACING again
 *   RUNNING  | a host is: its events are read                          | OVER
 *   ENDING   | cancelled before it began, or its host is lost: that is | OVER
 *            | stored as its outcome, unless there is one              |
 *   OVER     | nothing more comes                                      |
 *
 * The turn is begun once: the host that runs it has written so (bucket of runs) before its agent
 * starts. A message may be in the queue twice. */
#ifndef CORE_WORK_WORK_H
#define CORE_WORK_WORK_H

#include "conf/conf.h"
#include "core/agent/agent_backend.h"
#include "base/language.h"
#include "core/bus/bus.h"
#include "core/work/work_hosts.h"
#include "core/work/work_message.h"
#include "core/work/work_share.h"
#include "io/journal/journal_async.h"

struct work;

struct work_counters {
    uint64_t given;    /* turns that were given to other hosts */
    uint64_t lost;     /* turns whose host was lost */
    uint64_t moved;    /* conversations that went on at another host */
    uint64_t reseeded; /* turns that were stored again because the servers had lost them */
};

/* Copies what it needs of the configuration. */
struct work *work_new(struct bus *b, struct work_hosts *hosts, const struct conf *conf,
                      struct journal_async *journal);
/* Before the bus is freed. Runs that have not ended emit no more events; their hosts go on. */
void work_stop(struct work *w);
void work_free(struct work *w); /* behind the runs. NULL is fine */
struct work_counters work_get_counters(const struct work *w);

/* The outcome of a turn that had been ended as host_lost before its host came back. */
struct work_late {
    const char *turn, *conversation, *host;
    const char *text; /* of its answer or error, perhaps shortened */
};
void work_watch_late(struct work *w, void (*late)(void *ctx, const struct work_late *late),
                     void *ctx);

/* Decides whether the next turn of the conversation runs on this host, which is able to run it;
 * calls `done` from the loop. has_slot: this host has room for a conversation without a home. */
void work_find_place(struct work *w, const struct conf_agent *agent, const char *conversation,
                     bool has_slot, void (*done)(void *ctx, bool here), void *ctx);
/* `done` is not called any more for that ctx. */
void work_forget_place(struct work *w, const void *ctx);

/* True: this host runs no turns for now. Other hosts run those that they can, and the homes of its
 * conversations are released, once. False: this host runs turns again. */
void work_set_aside(struct work *w, bool is_aside);

/* Time for which the host has been absent; see work_hosts_absent_ms. */
int64_t work_host_absent_ms(const struct work *w, const char *host);

/* Whether the prompt names files that this host has downloaded for that instance. */
bool work_has_files(const struct work *w, const char *source, struct str prompt);
/* Appends the prompt of a turn that another host has admitted and that begins on this one. A file
 * that is missing here is shown to the agent as one that was not downloaded. */
void work_adopt_prompt(const struct work *w, const char *source, struct str prompt,
                       struct buf *out);

/* ---- a run */

/* Whether the turn can run on another host: its names are valid in subjects. */
bool work_can_run(const char *turn, const char *source, const struct conf_agent *agent);

extern const struct agent_backend work_run_backend;
struct work_run_spec {
    const struct work_order *order; /* copied */
    const struct conf_agent *agent;
    bool again;                /* an earlier process of this host has begun the run … */
    bool is_stored;            /* … and has called `stored` */
    enum language language;    /* of its notices */
    void (*stored)(void *ctx); /* other hosts can read the turn, so one may begin it */
    void *ctx;
};
/* For agent_place.start. */
void *work_run_start(struct work *w, const struct work_run_spec *spec,
                     const struct process_events *events, void *events_ctx);

#endif
