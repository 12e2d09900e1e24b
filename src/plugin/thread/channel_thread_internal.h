/* SPDX-License-Identifier: MIT
 * An instance in a thread of the host, shared by channel_thread.c (interface, on the loop's thread)
 * and channel_thread_main.c (the instance's thread). */
#ifndef PLUGIN_THREAD_CHANNEL_THREAD_INTERNAL_H
#define PLUGIN_THREAD_CHANNEL_THREAD_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "plugin/channel.h"
#include "plugin/instance/instance.h"
#include "plugin/queue/event_queue.h"
#include "plugin/thread/call_queue.h"

/* Stage of the thread; channel.h has the state table. */
enum thread_stage {
    THREAD_NEW, /* not started */
    THREAD_STARTING,
    THREAD_RUNNING,
    THREAD_REFUSED, /* the thread has ended without running */
    THREAD_ENDED,
};

/* A turn passed to the instance. */
struct thread_turn {
    struct thread_turn *next, *prev; /* protected by the channel's lock */
    struct turn_backlog *turn_backlog;
    struct channel_turn named; /* its strings are in the arena */
    struct arena arena;
    struct instance_turn *instance; /* used by the instance's thread only; created with the first
                                     * event */
};

struct thread_channel {
    struct channel channel;
    struct loaded_plugin *loaded;
    struct instance *instance;
    struct event_queue *queue; /* to the instance's thread */
    struct call_queue *line;   /* from it */
    pthread_t thread;
    char *name;
    char *place; /* name in the configuration; NULL: unknown */
    int64_t init_ms, began_ms;
    int callback_ms;
    unsigned sends;
    atomic_bool hung; /* logged already */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum thread_stage stage;   /* protected by the lock */
    struct tc_err why;         /* protected by the lock: error of REFUSED */
    bool released;             /* protected by the lock: delivery may begin */
    bool dropped;              /* protected by the lock: stop was called before that */
    bool stopped;              /* loop thread: stop was called */
    atomic_bool abandoned;     /* set under the lock: from then on, its thread owns the channel */
    struct thread_turn *turns; /* protected by the lock */
};

static inline const char *thread_label(const struct thread_channel *c)
{
    return instance_label(c->instance);
}

/* channel_thread_main.c */

/* Loop thread: starts the thread. An errno, or 0. */
int thread_start(struct thread_channel *c);
void thread_set_stage(struct thread_channel *c, enum thread_stage stage);
/* Call it when the thread has ended, or from the thread itself if it was abandoned. */
void thread_free(struct thread_channel *c);

#endif
