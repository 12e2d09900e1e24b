/* SPDX-License-Identifier: MIT
 * An instance in a process of its own, from the host's side, for channel_process.c (its face),
 * connector_writer.c (what goes to it), connector_reader.c (what comes from it),
 * connector_supervisor.c (birth, death, another life), connector_log_pipe.c (what it prints). Loop
 * thread only. */
#ifndef PLUGIN_PROCESS_CONNECTOR_PROCESS_H
#define PLUGIN_PROCESS_CONNECTOR_PROCESS_H

#include "base/arena.h"
#include "base/bytes/buf.h"
#include "plugin/channel.h"
#include "plugin/connector_limits.h"
#include "plugin/ipc/ipc_frame.h"
#include "plugin/ipc/shm_ring.h"
#include "plugin/process/connector_spawn.h"
#include "plugin/process/connector_state.h"
#include "plugin/process/restart_backoff.h"
#include "plugin/process/stdout_forwarder.h"
#include "plugin/queue/backlog.h"
#include "plugin/queue/control_msg.h"

struct connector_turn {
    struct connector_turn *next, *prev;
    struct connector_turn *next_id; /* in their bucket of guest.ids */
    uint64_t number;
    struct arena arena;
    struct channel_turn named;
    char *memory; /* the newest; owned */
    struct turn_backlog *lane;
    size_t tasks;      /* that are not done */
    size_t letters;    /* without their last reply */
    bool opened;       /* in this life */
    bool told;         /* something of it, in any */
    bool late;         /* opened for replies only */
    bool lost;         /* it is not told that the turn goes on: it dies of that */
    bool done;         /* its last event has been taken out of the backlog */
    bool closed;       /* its last batch is with the host */
    bool over;         /* the instance has seen its end */
    bool starts, ends; /* its start, its end are to be told again */
};

/* Something the instance has to do, until it is done. */
struct connector_task {
    struct connector_task *next;
    enum frame_type type;
    unsigned short deaths;       /* of instances that were at it */
    bool settled;                /* its batch is with the host */
    struct connector_turn *turn; /* NULL: of none */
    struct shared_event *box;    /* IPC_EVENT */
    struct control_msg *mail;    /* IPC_REPLY, IPC_HIT, IPC_SOCKET */
};

struct connector_task_list {
    struct connector_task *first, **end;
    size_t count;
};

/* What an instance is at, one behind the other in memory: each is looked at twice. */
#define WINDOW_TASKS ((size_t)1024)
struct task_window {
    struct connector_task tasks[WINDOW_TASKS];
    size_t first, count, bytes;
};

/* From the oldest on; NULL: no more. */
static inline struct connector_task *task_window_at(struct task_window *w, size_t i)
{
    return i < w->count ? &w->tasks[(w->first + i) % WINDOW_TASKS] : NULL;
}

/* Where the next one is made. */
static inline struct connector_task *task_window_next_slot(struct task_window *w)
{
    return &w->tasks[(w->first + w->count) % WINDOW_TASKS];
}

/* A call to the host whose result the connector waits for. */
struct pending_call {
    struct pending_call *next;
    struct connector_process *guest; /* NULL: the result is discarded */
    uint64_t number;
    int64_t since_ms;
};

/* A request to a route that it has not answered. */
struct pending_hit {
    struct pending_hit *next;
    uint64_t number;
    void (*answered)(void *arg, const struct tc_answer *answer);
    void *arg;
};

/* Of what it says before it has started, or is released. */
#define HELD_MAX ((size_t)160 << 20)
#define CONNECTOR_IDS 1024
#define CONNECTOR_CASTS 64

struct staged_event {
    struct turn_backlog *lane;
    struct shared_event *box; /* one reference, owned */
};

/* What of it reaches the host. */
enum connector_release {
    CONNECTOR_HELD,    /* nothing: its owner has not released it */
    CONNECTOR_AWAITED, /* the loop releases it with its first round */
    CONNECTOR_RELEASED,
};

/* How a life ended, as far as that is known. */
struct guest_death {
    const char *callback; /* NULL: it was in none */
    const char *broke;    /* guest.broke */
    char turn[80];
    struct connector_exit_info end; /* once it is reaped */
    int64_t lived_ms;
    bool handled; /* something */
    bool stopped; /* it had been sent IPC_STOP */
};

struct connector_process {
    struct channel channel;
    struct channel_callbacks host;
    /* what it is */
    char *name, *label;
    struct loaded_plugin *loaded;
    struct arena arena; /* of the setup, and the options */
    struct ipc_setup setup;
    struct limits *limits;
    bool prints; /* what it prints is forwarded to the standard output of the host */
    int64_t init_ms, callback_ms;
    bool delivers;
    /* what it has to do: again (from an earlier life), then mail, then the backlog; sent is what it
     * is at */
    struct connector_task_list again, mail;
    struct task_window sent;
    struct backlog backlog;
    struct staged_event casts[CONNECTOR_CASTS]; /* of a burst: not looked at yet */
    size_t n_casts;
    bool gathers;
    bool closing; /* no more turns */
    struct connector_turn *turns, *ids[CONNECTOR_IDS];
    uint64_t last_turn;
    struct pending_hit *hits;
    uint64_t last_hit;
    struct pending_call *questions;
    struct outbound_request **letters; /* of the batch that comes */
    size_t n_letters, letter_bytes;
    uint64_t last_letter;
    size_t under_way; /* bytes of requests without their last reply */
    /* of this life */
    size_t lobby_letters, open_sockets, routes;
    uint64_t socket_base; /* numbers of this life's sockets begin behind it */
    uint64_t last_socket; /* of this life */
    /* its life */
    enum connector_state stage;
    struct connector_child spawn;
    struct status_page *gauge; /* of this life; NULL: none */
    struct loop_fd *socket, *output;
    struct print *print;  /* of its standard output; NULL: that is `output`, too */
    struct shm_ring ring; /* of this life: what it is to do */
    struct buf out;       /* to its socket: its setup, answers, bells, what is too big */
    struct buf frame;     /* memory of one that is made */
    struct buf in, printed;
    size_t out_at;
    uint64_t handled;      /* tasks, as far as they have been taken off `sent` */
    uint64_t out_until;    /* tasks that have gone out, from the first of this life on */
    int64_t flushed_us;    /* monotonic */
    int64_t began_ms;      /* monotonic, as the next */
    int64_t died_ms;       /* not running since; 0: it runs */
    int64_t next_ms;       /* when it is started again, while it is down */
    int64_t looked_ms;     /* when it was last looked at, monotonic */
    int64_t waits_ms;      /* since when it has something to do, or has done the last thing */
    uint64_t seen_handled; /* then */
    bool ever_started, recycled;
    bool unwanted;            /* no other life, and nothing is told of its death */
    struct guest_death death; /* of this life, or the last one */
    int64_t peak;             /* bytes in memory at most, as far as was seen; of this life */
    int reap_ms;              /* until it is looked again whether a killed process has ended */
    unsigned vain;            /* lives, one after the other, that did nothing before the end */
    bool pardoned;            /* its deaths are forgotten once this life, asked for, runs */
    bool hung;                /* and is killed for it */
    enum connector_release release;
    bool start_seen;   /* while it was held: the frame is still to be read */
    size_t looked;     /* of in, for the start */
    bool gone;         /* its side of the socket is closed */
    const char *broke; /* what it did that it must not; NULL: nothing */
    struct restart_backoff revival;
    struct loop_timer *flush, *watch;
    struct loop_timer *revive; /* DOWN: the next life; DYING: the next look whether it has ended */
    bool flush_set;            /* at once */
    bool gathered;             /* something: within a millisecond */
    /* of earlier lives */
    struct channel_health before;
    char *refused; /* why it could not be started; owned; NULL: it could */
    unsigned printed_lines, unprinted;
    int64_t print_second;
};

static inline bool guest_has_process(const struct connector_process *g)
{
    return g->stage == CONNECTOR_STARTING || g->stage == CONNECTOR_RUNNING ||
           g->stage == CONNECTOR_STOPPING;
}

/* Its owner has not released it: nothing but its setup goes to it, nothing it says is heard but
 * that it has started. */
static inline bool guest_is_held(const struct connector_process *g)
{
    return g->release == CONNECTOR_HELD;
}

static inline struct connector_process *connector_process_of(struct channel *c)
{
    return (struct connector_process *)(void *)c;
}

/* connector_writer.c */
void connector_writer_init(struct connector_process *g);
void traffic_fini(struct connector_process *g);
void connector_writer_put_control(struct connector_process *g, enum frame_type type,
                                  struct connector_turn *t, struct control_msg *m);
/* Takes over one reference of the box. In a burst it is put aside, for one event after the other
 * costs less than one instance after the other. */
void connector_writer_put_event(struct connector_process *g, struct turn_backlog *lane,
                                struct shared_event *box);
/* What has been put aside is on its way. */
void connector_writer_flush_staged(struct connector_process *g);
/* It has done all that went out, as its gauge shows; else it says so as soon as it has. */
bool connector_writer_is_drained(const struct connector_process *g);
/* Soon, together with what else comes until then. */
void connector_writer_flush_soon(struct connector_process *g);
/* As much as it can take now. */
void connector_writer_flush(struct connector_process *g);
/* So many tasks of this life are done; maybe that is known already. */
void connector_writer_confirm(struct connector_process *g, uint64_t handled);
/* What it is at, or would be; NULL: nothing. */
struct connector_task *connector_writer_oldest_task(struct connector_process *g);
/* That one is given up. */
void connector_writer_drop_oldest(struct connector_process *g);
/* Something to do that is nothing, so that it says whether it lives. */
void connector_writer_ping(struct connector_process *g);
/* It is to end when it has done what it was sent. */
void connector_writer_stop(struct connector_process *g);
/* What is encoded goes out as far as it can. */
void connector_writer_write(struct connector_process *g);
/* It has died: what it had not done has to be done again, but for what cannot be. */
void connector_writer_requeue(struct connector_process *g);
/* Nothing waits, and it is at nothing. */
bool connector_writer_is_idle(const struct connector_process *g);
/* NULL: there is none. Of two of that name (one that runs, one that only waits for replies) the
 * first. */
struct connector_turn *connector_process_find_turn(const struct connector_process *g,
                                                   const char *id);
void connector_process_link_turn(struct connector_process *g, struct connector_turn *t);
void connector_process_free_turn(struct connector_process *g, struct connector_turn *t);

/* connector_reader.c: what it says. */
/* True: all that it had said until then. */
bool connector_reader_read(struct connector_process *g);
/* What was held back is said now. */
void connector_reader_resume(struct connector_process *g);
/* The loop runs: that releases one that was awaited without it. */
void intake_release_awaited(struct connector_process *g);
void connector_reader_reset(struct connector_process *g); /* a life is over */
/* Nobody will answer that. */
void connector_reader_refuse_call(struct connector_process *g, struct pending_call *q);
/* Those that the host has not answered in time. */
void connector_reader_refuse_expired(struct connector_process *g);
/* A hit that is answered, or that will not be. False: it was. */
bool connector_reader_finish_hit(struct connector_process *g, uint64_t number,
                                 const struct tc_answer *answer);
/* The reply that this task is will not be answered. */
void connector_reader_abandon_reply(struct connector_process *g, const struct connector_task *t);

/* connector_exit_report.c: logs why the process ended and what the host does, `then` (", …"). */
void death_report(const struct connector_process *g, const char *then);

/* connector_supervisor.c */
void connector_supervisor_move(struct connector_process *g, enum connector_state_event event);
int connector_supervisor_start(struct connector_process *g, struct tc_err *err);
/* It ended, closed its socket, broke the protocol, hung: kills and buries it, and lets it live
 * again. Does not wait for its end. */
void connector_supervisor_handle_exit(struct connector_process *g);
/* While it is DYING: it may have ended. */
void life_reap(struct connector_process *g);
/* channel_ops.state may return something else now. */
void life_tell_change(struct connector_process *g);
/* It has to be ended for that; nothing more of it is read. */
void connector_supervisor_fail(struct connector_process *g, const char *why);
void connector_supervisor_set_running(struct connector_process *g);
/* One that was stopped before it was released ends at once: what waits is not its own any more. */
void life_stop_held(struct connector_process *g);
/* Looks whether it hangs. */
void connector_supervisor_check(struct connector_process *g);
/* The time for its next life is there. */
void connector_supervisor_restart(struct connector_process *g);
/* Why the last life that began did not start. */
void life_explain(const struct connector_process *g, struct tc_err *err);
/* Ends it, and that is the end: ENDED, or DYING until it is reaped. */
void connector_supervisor_kill(struct connector_process *g);
/* Looks, without the loop, what it has done; of one that lives. False: not half of what it is at,
 * or it lies. */
bool connector_supervisor_sync_progress(struct connector_process *g);
/* One round without the loop: waits for at most ms, but not for what its gauge shows already. */
void connector_supervisor_poll(struct connector_process *g, int ms);

/* connector_log_pipe.c */
void connector_log_pipe_read(struct connector_process *g);
void connector_log_pipe_flush(struct connector_process *g); /* a line without an end, too */

#endif
