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

/* Turn as the host names it to an instance; strings are copied. */
struct channel_turn {
    const char *id, *agent, *conversation;
    const char *route;  /* or NULL; given to the instance that submitted the message only */
    const char *memory; /* or NULL */
    size_t requests;    /* of an earlier run, whose replies will come */
    bool over;          /* no events will come, only those replies */
};

/* Callbacks of an instance to the host. Called on the loop's thread, batches from within join too;
 * all may be NULL: such services are refused then. */
struct channel_callbacks {
    struct loop *loop;
    void *ctx;
    /* The standard output of a connector process is forwarded to that of the host, else to the
     * log. */
    bool prints;
    /* Takes over. */
    void (*batch)(void *ctx, struct callback_batch *b);
    /* Answers with host_call_complete, now or later. */
    void (*ask)(void *ctx, struct host_call *a);
    bool has_process; /* it is alone in its process: it can hold events and watch descriptors */
    /* False: the server is off. Any thread. */
    bool has_server;
    void (*route)(void *ctx, const char *path);
    /* Sockets are numbered by the instance. Strings are borrowed. */
    void (*socket_open)(void *ctx, int64_t socket, const struct tc_socket *spec);
    void (*socket_send)(void *ctx, int64_t socket, struct str message, bool is_binary);
    void (*socket_close)(void *ctx, int64_t socket);
    /* Inside of an instance only: a later answer (borrowed) to the hit of that number. The channel
     * calls channel_hit.answered itself. */
    void (*hit_answer)(void *ctx, uint64_t hit, const struct tc_answer *answer);
    void (*secret)(void *ctx, const char *name, const char *value); /* value NULL: forgotten */
    void (*store)(void *ctx, const char *key, const char *text);    /* text NULL: removed */
    /* The result of channel_ops.state may have changed. Never called from within a function of the
     * channel that the owner calls, but for `stop` and `kill`. */
    void (*changed)(void *ctx);
    /* An event that the instance has died of so many times: it is given up. */
    void (*bury)(void *ctx, const char *turn, struct shared_event *shared, unsigned deaths);
};

/* A request to a route on its way to on_hit; from xcalloc. The channel calls `answered` on the
 * loop's thread, once, with the answer (borrowed) or NULL: the instance is gone or the callback
 * failed. Before that it may be called with an answer that says `later`. */
struct channel_hit {
    struct tc_hit hit; /* strings in the arena */
    struct arena arena;
    void (*answered)(void *arg, const struct tc_answer *answer);
    void *arg;
};

struct channel_health {
    uint64_t delivered, failed; /* callbacks that returned 0 / -1 */
    uint64_t dropped;           /* events: the instance did not keep up */
    struct callback_histogram times;
    bool hung;   /* inside one callback longer than its deadline */
    double fill; /* of its queue */
    bool own_process;
    bool starting; /* it has not run yet: its init has not begun, or has not returned */
    /* Only for an instance with a process. */
    bool down; /* its process has died and was not restarted yet */
    bool open; /* it died so often that it is restarted only at long intervals */
    uint64_t deaths;
    int64_t down_ms;  /* for how long */
    int64_t next_ms;  /* until it is started again; 0: it is being started */
    int64_t pid, rss; /* 0: it has none */
    struct limits_use use;
};

/* clang-format off */
/* The life of a channel. What is not in the table does not change the state.
 *
 *   state    | event                                  | next     | what is done
 *   ---------+----------------------------------------+----------+---------------------------------
 *   NEW      | launch                                 | STARTING | its thread or process begins
 *   NEW      | launch, and there is no thread/process | FAILED   |
 *   NEW      | stop                                   | ENDED    | what is queued is dropped
 *   STARTING | init returned 0                        | RUNNING  | what is queued is delivered
 *   STARTING | init failed, crashed, took too long    | FAILED   | a process is killed and reaped
 *   STARTING | stop                                   | STOPPING |
 *   RUNNING  | its process dies                       | DOWN     | it starts later, or by revive
 *   DOWN     | its next life has started              | RUNNING  | it is told what it had not done
 *   RUNNING  | stop                                   | STOPPING | queue, then teardown
 *   DOWN     | stop                                   | STOPPING | another life for what is queued
 *   DOWN     | stop, and nothing is queued            | ENDED    |
 *   STOPPING | teardown has returned, or it died      | ENDED    | a process is reaped
 *   STOPPING | kill                                   | ENDED    | a process when it is reaped
 *
 * While the next life of a channel that was DOWN begins its state is STARTING; if that life fails
 * it is DOWN again. */
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

/* Nothing but await, wait_room and join waits. */
struct channel_ops {
    /* Once: begins the instance's first life. Turns may have been opened and events sent before. */
    void (*launch)(struct channel *c);
    /* FAILED, DOWN: err (or NULL) is filled with the reason of the last failure to start. */
    enum channel_state (*state)(struct channel *c, struct tc_err *err);
    /* Once it runs: what the instance hands over and asks reaches the host from now on. Before, it
     * waits, so that an instance of a configuration that is not taken changes nothing. */
    void (*release)(struct channel *c);
    /* For callers that do not run the loop meanwhile: launches it, if that was not done, and waits
     * until init has returned; what the instance asks is released with the first round of the
     * loop. -1 with err: it failed, and the channel is gone. */
    int (*await)(struct channel *c, struct tc_err *err);
    /* In the state DOWN: starts the next process now. -1 with err: not possible, still down. NULL:
     * this kind of channel is never down. */
    int (*revive)(struct channel *c, struct tc_err *err);
    /* While NEW: the memory of a turn that was opened before its predecessor had ended. */
    void (*remind)(struct channel *c, void *turn, const char *memory);
    /* While NEW: a text that an earlier instance of that name has stored. */
    void (*load)(struct channel *c, const char *key, const char *text);
    /* Opens a turn; the handle goes to send. NULL: the instance is gone. */
    void *(*open)(struct channel *c, const struct channel_turn *turn);
    /* Casts one event; takes over one reference. Never blocks. The turn's handle ends with its
     * done event (over: it is never sent to), or with the last reply, whichever is later. */
    void (*send)(struct channel *c, void *turn, struct shared_event *shared);
    /* While it is on, events that are sent may be told to the instance some at a time: for who
     * sends many in a row. */
    void (*gather)(struct channel *c, bool on);
    /* The result of a request of this turn (NULL: of the instance context); takes it over. Unless
     * the instance is gone, one batch with BATCH_REQUEST answers it. */
    void (*reply)(struct channel *c, void *turn, struct outbound_reply *r);
    /* Take over. */
    void (*hit)(struct channel *c, struct channel_hit *h);
    void (*frame)(struct channel *c, const struct tc_frame *frame); /* copied */
    /* Waits for room, see event_queue_wait_for_room. */
    bool (*wait_room)(struct channel *c, int timeout_ms);
    /* Also reports, once, a callback that is over its deadline. */
    struct channel_health (*health)(struct channel *c);
    /* No more turns: what is queued is delivered, then teardown; begun, not awaited. What the
     * instance asks from now on, and what it waits for, is TC_NOT_KEPT. */
    void (*stop)(struct channel *c);
    /* The instance has not ended in time: kills its process; a thread is abandoned by `join`.
     * Returns whether join would return at once; if not, the state becomes ENDED. */
    bool (*kill)(struct channel *c);
    /* Waits until deadline_ms (monotonic) for the end, then abandons the instance; does not wait
     * when the state is NEW, FAILED or ENDED, or kill returned true. 0: it ended;
     * -1: abandoned; its thread frees it, if it ever ends. Before it returns the host gets the
     * batches that are on their way; afterwards nothing. The channel is gone either way. */
    int (*join)(struct channel *c, int64_t deadline_ms);
};

/* An instance in a thread of this process. Its code is loaded, and its init called, on that thread.
 * NULL with err: its options do not fit. Takes over loaded either way. `host` is copied; NULL:
 * casting only, without `changed`. */
struct channel *channel_thread_new(const struct conf *conf, const struct conf_instance *inst,
                                   struct loaded_plugin *loaded,
                                   const struct channel_callbacks *host, struct tc_err *err);

/* The same in a process of its own, for one that is described only. `dir`: where it may write,
 * absolute; or NULL. `host` has to have a loop. When it dies, it starts again, and is told again
 * what it had not done: its turns as resumed, and then what is left of them. */
struct channel *channel_process_new(const struct conf *conf, const struct conf_instance *inst,
                                    struct loaded_plugin *loaded,
                                    const struct channel_callbacks *host, const char *dir,
                                    struct tc_err *err);

#endif
