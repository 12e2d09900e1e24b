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
#include "plugin/process/restart_backoff.h"
#include "plugin/process/stdout_forwarder.h"
#include "plugin/queue/backlog.h"
#include "plugin/queue/control_msg.h"

struct guest_turn {
    struct guest_turn *next, *prev;
    struct guest_turn *next_id; /* in their bucket of guest.ids */
    uint64_t number;
    struct arena arena;
    struct channel_turn named;
    char *memory; /* the newest; owned */
    struct lane *lane;
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
struct task {
    struct task *next;
    enum frame_type type;
    unsigned short deaths;   /* of instances that were at it */
    bool settled;            /* its batch is with the host */
    struct guest_turn *turn; /* NULL: of none */
    struct event_box *box;   /* FRAME_EVENT */
    struct mail *mail;       /* FRAME_REPLY, FRAME_HIT, FRAME_SOCKET */
};

struct task_list {
    struct task *first, **end;
    size_t count;
};

/* What an instance is at, one behind the other in memory: each is looked at twice. */
#define WINDOW_TASKS ((size_t)1024)
struct window {
    struct task tasks[WINDOW_TASKS];
    size_t first, count, bytes;
};

/* From the oldest on; NULL: no more. */
static inline struct task *window_at(struct window *w, size_t i)
{
    return i < w->count ? &w->tasks[(w->first + i) % WINDOW_TASKS] : NULL;
}

/* Where the next one is made. */
static inline struct task *window_place(struct window *w)
{
    return &w->tasks[(w->first + w->count) % WINDOW_TASKS];
}

/* A question that it waits for the answer of. */
struct question {
    struct question *next;
    struct guest *guest; /* NULL: nobody waits any more */
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
#define GUEST_IDS 1024
#define GUEST_CASTS 64

struct cast {
    struct lane *lane;
    struct event_box *box; /* one reference, owned */
};

/* Where the instance's life is. Each stage but NEW, DOWN and ENDED has a process.
 *
 *   stage    | event                                    | next
 *   ---------+------------------------------------------+-----------------------------------------
 *   NEW      | launch                                   | STARTING (no process: ENDED)
 *   NEW      | stop                                     | ENDED
 *   STARTING | it says that its init has returned       | RUNNING
 *   RUNNING  | it is sent FRAME_STOP                    | STOPPING
 *   any with | it ended, closed its socket, broke the   | DYING: it is killed, what it did is
 * settled process  | protocol, hung; or it is not wanted      | DYING    | reaped, and it is to
 * live again          | DOWN DYING    | reaped, and it is not                    | ENDED DOWN     |
 * the time is there, or it is asked for    | STARTING (no process: DOWN, later) DOWN     | stop,
 * and nothing waits for it           | ENDED
 *
 * A first life that fails is not followed by another one. */
enum guest_stage {
    GUEST_NEW,
    GUEST_DOWN,
    GUEST_STARTING,
    GUEST_RUNNING,
    GUEST_STOPPING,
    GUEST_DYING,
    GUEST_ENDED,
};

/* How a life ended, as far as that is known. */
struct guest_death {
    const char *callback; /* NULL: it was in none */
    const char *broke;    /* guest.broke */
    char turn[80];
    struct spawn_end end; /* once it is reaped */
    int64_t lived_ms;
    bool handled; /* something */
};

struct guest {
    struct channel channel;
    struct channel_host host;
    /* what it is */
    char *name, *label;
    struct loaded *loaded;
    struct arena arena; /* of the setup, and the options */
    struct frame_setup setup;
    struct limits *limits;
    bool prints; /* what it prints is forwarded to the standard output of the host */
    int64_t init_ms, callback_ms;
    bool delivers;
    /* what it has to do: again (from an earlier life), then mail, then the backlog; sent is what it
     * is at */
    struct task_list again, mail;
    struct window sent;
    struct backlog backlog;
    struct cast casts[GUEST_CASTS]; /* of a burst: not looked at yet */
    size_t n_casts;
    bool gathers;
    bool closing; /* no more turns */
    struct guest_turn *turns, *ids[GUEST_IDS];
    uint64_t last_turn;
    struct pending_hit *hits;
    uint64_t last_hit;
    struct question *questions;
    struct letter **letters; /* of the batch that comes */
    size_t n_letters, letter_bytes;
    uint64_t last_letter;
    size_t under_way; /* bytes of requests without their last reply */
    /* of this life */
    size_t lobby_letters, open_sockets, routes;
    uint64_t socket_base; /* numbers of this life's sockets begin behind it */
    uint64_t last_socket; /* of this life */
    /* its life */
    enum guest_stage stage;
    bool stop_sent;
    struct spawn spawn;
    struct gauge *gauge; /* of this life; NULL: none */
    struct loop_fd *socket, *output;
    struct print *print; /* of its standard output; NULL: that is `output`, too */
    struct ring ring;    /* of this life: what it is to do */
    struct buf out;      /* to its socket: its setup, answers, bells, what is too big */
    struct buf frame;    /* memory of one that is made */
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
    bool held;                /* nothing of it reaches the host before that is released */
    bool awaited;             /* the loop releases it when it runs */
    bool was_held;            /* and its start, which is known, is still to be read */
    size_t looked;            /* of in, for the start */
    bool gone;                /* its side of the socket is closed */
    const char *broke;        /* what it did that it must not; NULL: nothing */
    struct revival revival;
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

static inline bool guest_has_process(const struct guest *g)
{
    return g->stage == GUEST_STARTING || g->stage == GUEST_RUNNING || g->stage == GUEST_STOPPING;
}

/* Its owner has not released it: nothing but its setup goes to it, nothing it says is heard but
 * that it has started. */
static inline bool guest_is_held(const struct guest *g)
{
    return g->held && !g->awaited;
}

static inline struct guest *guest_of(struct channel *c)
{
    return (struct guest *)(void *)c;
}

/* connector_writer.c */
void traffic_init(struct guest *g);
void traffic_fini(struct guest *g);
void traffic_put_mail(struct guest *g, enum frame_type type, struct guest_turn *t, struct mail *m);
/* Takes over one reference of the box. In a burst it is put aside, for one event after the other
 * costs less than one instance after the other. */
void traffic_put_event(struct guest *g, struct lane *lane, struct event_box *box);
/* What has been put aside is on its way. */
void traffic_take_casts(struct guest *g);
/* It has done all that went out, as its gauge shows; else it says so as soon as it has. */
bool traffic_has_caught_up(const struct guest *g);
/* Soon, together with what else comes until then. */
void traffic_flush_soon(struct guest *g);
/* As much as it can take now. */
void traffic_flush(struct guest *g);
/* So many tasks of this life are done; maybe that is known already. */
void traffic_done(struct guest *g, uint64_t handled);
/* What it is at, or would be; NULL: nothing. */
struct task *traffic_current(struct guest *g);
/* That one is given up. */
void traffic_drop_current(struct guest *g);
/* Something to do that is nothing, so that it says whether it lives. */
void traffic_ping(struct guest *g);
/* It is to end when it has done what it was sent. */
void traffic_stop(struct guest *g);
/* What is encoded goes out as far as it can. */
void traffic_write(struct guest *g);
/* It has died: what it had not done has to be done again, but for what cannot be. */
void traffic_recall(struct guest *g);
/* Nothing waits, and it is at nothing. */
bool traffic_is_idle(const struct guest *g);
/* NULL: there is none. Of two of that name (one that runs, one that only waits for replies) the
 * first. */
struct guest_turn *guest_find_turn(const struct guest *g, const char *id);
void guest_link_turn(struct guest *g, struct guest_turn *t);
void guest_free_turn(struct guest *g, struct guest_turn *t);

/* connector_reader.c: what it says. */
/* True: all that it had said until then. */
bool intake_read(struct guest *g);
/* What was held back is said now. */
void intake_release(struct guest *g);
/* The loop runs: that releases one that was awaited without it. */
void intake_release_awaited(struct guest *g);
void intake_forget(struct guest *g); /* a life is over */
/* Nobody will answer that. */
void intake_refuse(struct guest *g, struct question *q);
/* Those that the host has not answered in time. */
void intake_refuse_late(struct guest *g);
/* A hit that is answered, or that will not be. False: it was. */
bool intake_finish_hit(struct guest *g, uint64_t number, const struct tc_answer *answer);
/* The reply that this task is will not be answered. */
void intake_give_up_reply(struct guest *g, const struct task *t);

/* connector_exit_report.c: logs why the process ended and what the host does, `then` (", …"). */
void death_report(const struct guest *g, const char *then);

/* connector_supervisor.c */
int life_begin(struct guest *g, struct tc_err *err);
/* It ended, closed its socket, broke the protocol, hung: kills and buries it, and lets it live
 * again. Does not wait for its end. */
void life_end(struct guest *g);
/* While it is DYING: it may have ended. */
void life_reap(struct guest *g);
/* channel_ops.state may return something else now. */
void life_tell_change(struct guest *g);
/* It has to be ended for that; nothing more of it is read. */
void life_break(struct guest *g, const char *why);
void life_started(struct guest *g);
/* One that was stopped before it was released ends at once: what waits is not its own any more. */
void life_stop_held(struct guest *g);
/* Looks whether it hangs. */
void life_watch(struct guest *g);
/* The time for its next life is there. */
void life_revive(struct guest *g);
/* Why the last life that began did not start. */
void life_explain(const struct guest *g, struct tc_err *err);
/* Ends it, and that is the end: ENDED, or DYING until it is reaped. */
void life_kill(struct guest *g);
/* Looks, without the loop, what it has done; of one that lives. False: not half of what it is at,
 * or it lies. */
bool life_catch_up(struct guest *g);
/* One round without the loop: waits for at most ms, but not for what its gauge shows already. */
void life_pump(struct guest *g, int ms);

/* connector_log_pipe.c */
void output_read(struct guest *g);
void output_flush(struct guest *g); /* a line without an end, too */

#endif
