/* SPDX-License-Identifier: MIT
 * The seam between the host and where an instance runs: the thread beside the host's loop
 * (channel_thread.c), or a process of its own behind the same table. Loop thread only. */
#ifndef PLUGIN_CHANNEL_H
#define PLUGIN_CHANNEL_H

#include "base/err.h"
#include "conf/conf.h"
#include "event/event.h"
#include "plugin/loader.h"

/* Turn as the host names it to an instance; strings are copied. */
struct channel_turn {
    const char *id, *agent, *conversation;
};

struct channel_health {
    uint64_t delivered, failed; /* callbacks that returned 0 / -1 */
    bool hung;                  /* inside one callback longer than its deadline */
    double fill;                /* of its queue */
};

struct channel {
    const struct channel_ops *ops;
};

struct channel_ops {
    /* Opens a turn; the handle goes to send. NULL: the instance is gone. */
    void *(*open)(struct channel *c, const struct channel_turn *turn);
    /* Casts one event; takes over one reference. Never blocks. The turn's handle ends with its
     * done event. */
    void (*send)(struct channel *c, void *turn, struct event_box *box);
    /* Waits for room, see queue_wait_room. */
    bool (*wait_room)(struct channel *c, int timeout_ms);
    /* Also reports, once, a callback that is over its deadline. */
    struct channel_health (*health)(struct channel *c);
    /* No more turns: what is queued is delivered, then teardown; begun, not awaited. */
    void (*stop)(struct channel *c);
    /* Waits until deadline_ms (monotonic) for the end, then abandons the instance. 0: it ended;
     * -1: abandoned; its thread frees it, if it ever ends. The channel is gone either way. */
    int (*join)(struct channel *c, int64_t deadline_ms);
};

/* Starts an instance in a thread of this process: options are filled, init is called on the
 * thread and awaited. NULL with err: the instance is disabled, others go on. Takes over loaded
 * either way. */
struct channel *channel_thread_start(const struct conf *conf, const struct conf_instance *inst,
                                     struct loaded *loaded, struct tc_err *err);

#endif
