/* SPDX-License-Identifier: MIT
 * Transport interface between dispatch and a connector instance: open a turn, send events,
 * deliver replies, HTTP requests and socket messages, stop. Two implementations: a thread of the
 * host (channel_thread.c), a separate process (channel_process.c). Loop thread only. */
#ifndef PLUGIN_CHANNEL_H
#define PLUGIN_CHANNEL_H

#include "base/sys/err.h"
#include "conf/conf.h"
#include "event/event.h"
#include "io/loop/loop.h"
#include "plugin/abi/loader.h"
#include "plugin/connector_limits.h"
#include "plugin/host_call.h"
#include "plugin/outbound.h"
#include "plugin/status_page.h"

/* A turn as passed to an instance; strings are copied. */
struct channel_turn {
    const char *id, *agent, *conversation;
    const char *route;  /* or NULL; only for the instance that submitted the message */
    const char *memory; /* or NULL */
    size_t requests;    /* requests of an earlier process, whose replies will arrive */
    bool over;          /* no events will arrive, only those replies */
};

/* Callbacks of an instance to the host, called on the loop's thread, batches also from within join;
 * each may be NULL: the service is refused then. */
struct channel_callbacks {
    struct loop *loop;
    void *ctx;
    /* The standard output of a connector process is forwarded to that of the host, otherwise to the
     * log. */
    bool prints;
    /* Takes ownership. */
    void (*batch)(void *ctx, struct callback_batch *b);
    /* Completes the call with host_call_complete, now or later. */
    void (*ask)(void *ctx, struct host_call *a);
    bool has_process; /* it has a separate process: it can hold events and watch descriptors */
    /* False: the HTTP server is disabled. Any thread. */
    bool has_server;
    void (*route)(void *ctx, const char *path);
    /* The instance chooses the socket numbers. Strings are borrowed. */
    void (*socket_open)(void *ctx, int64_t socket, const struct tc_socket *spec);
    void (*socket_send)(void *ctx, int64_t socket, struct str message, bool is_binary);
    void (*socket_close)(void *ctx, int64_t socket);
    /* Only inside of an instance: a late response (borrowed) to the hit of that number. The channel
     * itself calls channel_hit.answered. */
    void (*hit_answer)(void *ctx, uint64_t hit, const struct tc_answer *answer);
    void (*secret)(void *ctx, const char *name, const char *value); /* value NULL: deletes the
                                                                     * secret */
    void (*store)(void *ctx, const char *key, const char *text);    /* text NULL: deletes the
                                                                     * text */
    /* The result of channel_ops.state may have changed. Never called from within a function of the
     * channel that the owner calls, except `stop` and `kill`. */
    void (*changed)(void *ctx);
    /* An event that has crashed the instance this many times is dropped. */
    void (*give_up_event)(void *ctx, const char *turn, struct shared_event *shared,
                          unsigned deaths);
};

/* A request to a route on its way to on_hit; allocated with xcalloc. The channel calls `answered`
 * on the loop's thread, once, with the response (borrowed) or NULL: the instance is gone or the
 * callback failed. Before that, it may be called with a response that has `later` set. */
struct channel_hit {
    struct tc_hit hit; /* owns the strings */
    struct arena arena;
    void (*answered)(void *arg, const struct tc_answer *answer);
    void *arg;
};

struct channel_health {
    uint64_t delivered, failed; /* callbacks that returned 0 / -1 */
    uint64_t dropped;           /* events dropped because the instance was too slow */
    struct callback_histogram times;
    bool hung;   /* within one callback longer than its deadline */
    double fill; /* fill level of its queue */
    bool own_process;
    bool starting; /* not started: its init has not begun, or has not returned */
    /* Only for an instance with a process: */
    bool down; /* its process has died and was not restarted yet */
    bool open; /* it died so often that it is restarted only at long intervals */
    uint64_t deaths;
    int64_t down_ms;  /* duration of that callback */
    int64_t next_ms;  /* time until its restart; 0: being started */
    int64_t pid, rss; /* 0: no process */
    struct limits_use use;
};

/* clang-format off */
/* State machine of a channel. Events that are not in the table do not change the state.
 *
 *   state    | event                                  | next     | what is done
 *   ---------+----------------------------------------+----------+---------------------------------
 *   NEW      | launch                                 | STARTING | its thread or process begins
 *   NEW      | launch, and there is no thread/process | FAILED   |
 *   NEW      | stop                                   | ENDED    | queued events are dropped
 *   STARTING | init returned 0                        | RUNNING  | queued events are delivered
 *   STARTING | init failed, crashed, took too long    | FAILED   | a process is killed and reaped
 *   STARTING | stop                                   | STOPPING |
 *   RUNNING  | its process dies                       | DOWN     | restarted later or by restart_now
 *   DOWN     | its next process has started           | RUNNING  | unfinished tasks are sent again
 *   RUNNING  | stop                                   | STOPPING | queue, then teardown
 *   DOWN     | stop                                   | STOPPING | a restart for the queued events
 *   DOWN     | stop, and the queue is empty           | ENDED    |
 *   STOPPING | teardown has returned, or it died      | ENDED    | a process is reaped
 *   STOPPING | kill                                   | ENDED    | a process when it is reaped
 *
 * During the restart of a channel that was DOWN, its state is STARTING; if the restart fails, it is
 * DOWN again. */
/* clang-format on */
enum channel_state {
    CHANNEL_NEW,
    CHANNEL_STARTING,
    CHANNEL_RUNNING,
    CHANNEL_DOWN,
    CHANNEL_STOPPING,
    CHANNEL_FAILED,
    CHANNEL_ENDED,
};

struct channel {
    const struct channel_ops *ops;
};

/* Only wait_started, wait_room and join block. */
struct channel_ops {
    /* Call it once: starts the instance. Turns may have been opened and events sent before. */
    void (*launch)(struct channel *c);
    /* FAILED, DOWN: err (or NULL) receives the reason of the last failed start. */
    enum channel_state (*state)(struct channel *c, struct tc_err *err);
    /* Call it when the instance runs: passes its output and calls to the host from now on. Earlier
     * output is delayed, so that an instance of a rejected configuration has no effect. */
    void (*release)(struct channel *c);
    /* For callers that do not run the loop meanwhile: launches the instance if necessary, and waits
     * until init has returned; its output is released with the first round of the loop. -1 with
     * err: it failed, and the channel is freed. */
    int (*wait_started)(struct channel *c, struct tc_err *err);
    /* In the state DOWN: starts the next process now. -1 with err: not possible, still down. NULL:
     * this kind of channel is never down. */
    int (*restart_now)(struct channel *c, struct tc_err *err);
    /* While NEW: sets the memory of a turn that was opened before the predecessor had ended. */
    void (*set_memory)(struct channel *c, void *turn, const char *memory);
    /* While NEW: sets a text that an earlier instance of that name has stored. */
    void (*load)(struct channel *c, const char *key, const char *text);
    /* Opens a turn; pass the handle to send. NULL: the instance is gone. */
    void *(*open)(struct channel *c, const struct channel_turn *turn);
    /* Sends one event; takes over one reference. Never blocks. The turn's handle is valid until its
     * done event (over: no event is sent), or its last reply, whichever is later. */
    void (*send)(struct channel *c, void *turn, struct shared_event *shared);
    /* While enabled, the instance may be woken once for several events. */
    void (*set_batching)(struct channel *c, bool on);
    /* Passes the result of a request of this turn (NULL: of the instance context); takes ownership.
     * Unless the instance is gone, one batch with BATCH_REQUEST answers it. */
    void (*reply)(struct channel *c, void *turn, struct outbound_reply *r);
    /* Takes ownership. */
    void (*hit)(struct channel *c, struct channel_hit *h);
    void (*frame)(struct channel *c, const struct tc_frame *frame); /* copied */
    /* Waits for room, see event_queue_wait_for_room. */
    bool (*wait_room)(struct channel *c, int timeout_ms);
    /* Also reports, once, a callback that exceeds its deadline. */
    struct channel_health (*health)(struct channel *c);
    /* Starts the shutdown: accepts no more turns, delivers queued events, then calls teardown; does
     * not wait. Later calls of the instance, and pending ones, get TC_NOT_KEPT. */
    void (*stop)(struct channel *c);
    /* Kills the process of the instance; a thread is abandoned by `join`. is_late: the instance had
     * time to end, so the log names its callback and the events that are lost. Returns whether join
     * would return at once; if not, the state becomes ENDED. */
    bool (*kill)(struct channel *c, bool is_late);
    /* Waits until deadline_ms (monotonic) for the end, then abandons the instance; does not wait if
     * the state is NEW, FAILED or ENDED, or kill returned true. 0: it ended; -1: abandoned; its
     * thread frees it if it ever ends. Before returning, passes pending batches to the host;
     * afterwards nothing. Frees the channel in both cases. */
    int (*join)(struct channel *c, int64_t deadline_ms);
};

/* An instance in a thread of this process, which loads its code and calls its init. NULL with err:
 * invalid options. Takes over `loaded` in both cases. Copies `host`; NULL: events only, without
 * `changed`. */
struct channel *channel_thread_new(const struct conf *conf, const struct conf_instance *inst,
                                   struct loaded_plugin *loaded,
                                   const struct channel_callbacks *host, struct tc_err *err);

/* An instance in a separate process, for a plugin that is not linked. `dir`: where it may write,
 * absolute; or NULL. `host` must have a loop. When the process dies, it is restarted, and receives
 * unfinished turns again: as resumed, with the remaining events. */
struct channel *channel_process_new(const struct conf *conf, const struct conf_instance *inst,
                                    struct loaded_plugin *loaded,
                                    const struct channel_callbacks *host, const char *dir,
                                    struct tc_err *err);

#endif
