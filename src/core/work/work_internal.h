/* SPDX-License-Identifier: MIT
 * Internal interface between the files of work. Loop thread only. */
#ifndef CORE_WORK_WORK_INTERNAL_H
#define CORE_WORK_WORK_INTERNAL_H

#include <sys/queue.h>

#include "core/bus/bus_kv.h"
#include "core/bus/bus_reader.h"
#include "core/work/work.h"
#include "core/work/work_hosts.h"
#include "core/work/work_outcome.h"
#include "core/work/work_share.h"

enum work_run_state {
    RUN_PLACING,
    RUN_RECALL,
    RUN_STORING,
    RUN_QUEUEING,
    RUN_WAITING,
    RUN_RUNNING,
    RUN_ENDING,
    RUN_OVER,
};

/* Notices of the run to people, beside its events. */
struct work_notices {
    enum language language;
    bool is_first;   /* one stands before the events */
    bool is_waiting; /* the notice that no host has begun it was sent */
    enum work_run_session {
        SESSION_KEPT,
        SESSION_DROPPED,  /* a notice is due; the stored order may still name the session */
        SESSION_REPORTED, /* the notice was sent */
    } session;
};

/* Messages for the running turn. */
struct work_steer_queue {
    STAILQ_HEAD(, work_steer_message) list; /* the first is sent until it is answered */
    struct work_steer_request *request;     /* the request in flight; or NULL */
    struct loop_timer *timer;
};

struct work_run {
    LIST_ENTRY(work_run) next;
    struct work *work; /* NULL: it was stopped */
    const struct process_events *events;
    void *ctx;
    struct {
        void (*done)(void *ctx); /* work_run_spec.stored */
        void *ctx;
        bool is_done; /* in an earlier life of this host */
    } stored;
    struct arena arena;
    struct work_order order; /* its texts are the arena's */
    char id[WORK_ID];
    struct buf home_key;
    char *const *hosts; /* that may run it; of a configuration that the turn keeps */
    enum work_run_state state;
    bool awaits_reply; /* a request to the servers is in flight */
    struct loop_timer *timer, *exit;
    struct bus_reader *reader;
    struct bus_origin runner;      /* host "": not known */
    int64_t runner_ms;             /* since when that is known, monotonic */
    char target[BUS_HOST_MAX + 1]; /* whose message is in the queue; "": any host's */
    uint64_t queued;               /* sequence of that message; 0: none */
    struct {
        int64_t placing, waiting; /* its host is looked for; no host has begun it */
        int64_t full;             /* the queue is full; 0: it is not */
    } since_ms;                   /* monotonic */
    int64_t not_before_ms;        /* it is not queued before; 0: at once */
    bool is_order_stored;         /* the turn was stored */
    struct work_notices notices;
    unsigned cancels, looks;
    struct work_outcome *outcome; /* that is being stored; or NULL */
    struct buf out;               /* the outcome as it is stored, once it is known */
    bool is_last;                 /* the host that ran it publishes nothing more */
    bool has_event, has_done;
    struct work_steer_queue steering;
};

struct work {
    struct bus *bus;
    struct journal_async *journal;
    char *instances; /* directory of the instances' data */
    struct bus_link *link;
    struct bus_watcher *watcher;
    struct work_hosts *hosts;
    struct work_hosts_listener *listener; /* of hosts */
    int64_t lost_after_ms, move_after_ms;
    bool has_shared_sessions; /* sessions.shared */
    bool is_strict;           /* bus.on_loss = "kill" */
    struct {
        void (*on_outcome)(void *ctx, const struct work_late *late);
        void *ctx;
    } late;
    struct work_counters counters;
    struct work_homes *homes; /* that are being given up; or NULL */
    bool is_aside;
    LIST_HEAD(, work_run) runs;
    LIST_HEAD(, work_place) places;
    LIST_HEAD(, work_farewell) farewells;
    struct work_share *share; /* or NULL */
};

/* work_run.c */
extern const struct bus_reader_sink work_run_sink; /* of the reader */
void work_run_go_on(struct work_run *r);           /* does what its state calls for */
void work_run_enter(struct work_run *r, enum work_run_state state); /* and goes on */
void work_run_retry(struct work_run *r);                            /* goes on after a pause */
void work_run_on_timer(void *run);                                  /* of `timer` */
void work_run_on_exit(void *run);                                   /* of `exit` */
void work_run_resume(struct work_run *r);                           /* the bus has become active */
void work_run_look(struct work_run *r);                             /* the hosts were looked at */
void work_run_print_notice(struct work_run *r, const char *level, const char *code,
                           const char *text);
/* Ends it by this error, unless it has an outcome already. */
void work_run_end(struct work_run *r, const char *code, const char *text);
/* work_queue.c */
void work_run_queue(struct work_run *r);
void work_run_unqueue(struct work_run *r);         /* PLACING again */
void work_run_read_home_again(struct work_run *r); /* unqueues if the conversation was moved */
/* work_place.c */
void work_place_stop(struct work *w);
/* work_files_server.c: serves the request "file". */
void work_files_serve(struct work *w);
/* Directory with the files that this host has downloaded for that instance; owned. */
char *work_files_dir(const struct work *w, const char *source);
/* work_steer.c */
void work_steer_begin(struct work_run *r);
void work_steer_end(struct work_run *r);
/* Sends a message for the running turn, or its withdrawal. False: the line is another one. */
bool work_steer_enqueue(struct work_run *r, struct str line);
/* work_process.c: the body of the request "run" with that line. */
void work_process_write_call(struct buf *out, const struct work_run *r, const char *line);
/* The bus ends. */
void work_run_stop(struct work_run *r);
/* work_begun.c: whether that is this host before it was restarted. */
bool work_is_former_life(const struct work *w, const struct bus_origin *from);
/* work.c: stores the outcome of a run that is being freed. */
void work_store_farewell(struct work *w, const struct work_order *o, const char *code,
                         const char *text);

#endif
