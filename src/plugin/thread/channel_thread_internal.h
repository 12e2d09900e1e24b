/* SPDX-License-Identifier: MIT
 * An instance in a thread of the host, for channel_thread.c (its face, on the loop's thread) and
 * channel_thread_main.c (the instance's thread). */
#ifndef PLUGIN_THREAD_CHANNEL_THREAD_INTERNAL_H
#define PLUGIN_THREAD_CHANNEL_THREAD_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "plugin/channel.h"
#include "plugin/instance/instance.h"
#include "plugin/queue/event_queue.h"
#include "plugin/thread/call_queue.h"

/* Stage of the thread; the table of the states is in channel.h. */
enum thread_stage {
    THREAD_NEW, /* not started */
    THREAD_STARTING,
    THREAD_RUNNING,
    THREAD_REFUSED, /* it has ended without having run */
    THREAD_ENDED,
};

/* A turn that is passed to the instance. */
struct thread_turn {
    struct thread_turn *next, *prev; /* under the channel's lock */
    struct turn_backlog *turn_backlog;
    struct channel_turn named; /* its strings are the arena's */
    struct arena arena;
    struct instance_turn *instance; /* the instance's thread only; made when it is first heard of */
};

struct thread_channel {
    struct channel channel;
    struct loaded_plugin *loaded;
    struct instance *instance;
    struct event_queue *queue; /* to the instance's thread */
    struct call_queue *line;   /* from it */
    pthread_t thread;
    char *name;
    char *place; /* in the configuration; NULL: none is known */
    int64_t init_ms, began_ms;
    int callback_ms;
    unsigned sends;
    atomic_bool hung; /* told in the log */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum thread_stage stage;   /* under lock */
    struct tc_err why;         /* under lock: of REFUSED */
    bool released;             /* under lock: it may begin with its queue */
    bool dropped;              /* under lock: stop came before that */
    bool stopped;              /* loop thread: stop was called */
    atomic_bool abandoned;     /* set under lock: from then on its thread owns the channel */
    struct thread_turn *turns; /* under lock */
};

static inline const char *thread_label(const struct thread_channel *c)
{
    return instance_label(c->instance);
}

/* channel_thread_main.c */

/* Loop thread: begins the thread. An errno, or 0. */
int thread_start(struct thread_channel *c);
void thread_set_stage(struct thread_channel *c, enum thread_stage stage);
/* When there is no thread any more, or from the thread itself, when it was abandoned. */
void thread_free(struct thread_channel *c);

#endif
