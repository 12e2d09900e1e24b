/* SPDX-License-Identifier: MIT
 * Turn handles of an instance and the instance context; rejects stale and foreign handles. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "base/sys/log.h"
#include "plugin/instance/instance_internal.h"
#include "text/sentence/texts.h"

#define TURN_MAGIC 0x74635431u
#define TURN_OVER 0x74635430u
#define OVER_MAX 32 /* number of ended turns whose handles are still recognised */

/* ---- the instance context ---- */

void instance_context_init(struct instance *in)
{
    in->context = (struct instance_turn){.magic = TURN_MAGIC, .in = in};
    in->context.handle = (struct tc_turn){.inst = &in->handle, .id = "", .agent = ""};
    in->handle.lobby = &in->context.handle;
}

static void instance_turn_release(struct instance_turn *t)
{
    wake_heap_remove(&t->in->wakes.plugin, &t->wake);
    wake_heap_remove(&t->in->wakes.chat, &t->chat_wake);
    chat_turn_free(t->chat);
    t->in->memory.remembering -= t->memory != NULL;
    free(t->memory);
    writer_stream_fini(&t->writing);
    buf_fini(&t->encoded);
    arena_fini(&t->arena);
    free(t->state);
}

void instance_context_fini(struct instance *in)
{
    if (in->context.in)
        instance_turn_release(&in->context);
}

/* ---- turns ---- */

struct instance_turn *instance_turn_new(struct instance *in, const struct channel_turn *turn)
{
    TEXTS_IN(in->language);
    const size_t state_size = in->loaded->plugin.turn_size;
    struct instance_turn *const t = xcalloc(1, sizeof *t);
    t->magic = TURN_MAGIC;
    t->in = in;
    t->state = state_size ? xcalloc(1, state_size) : NULL;
    t->requests = turn->requests;
    t->done = turn->over;
    t->handle = (struct tc_turn){
        .inst = &in->handle,
        .state = t->state,
        .id = arena_strdup(&t->arena, turn->id),
        .agent = arena_strdup(&t->arena, turn->agent ? turn->agent : ""),
        .conversation = arena_strdup(&t->arena, turn->conversation),
        .route = arena_strdup(&t->arena, turn->route),
        .memory = arena_strdup(&t->arena, turn->memory),
    };
    t->next = in->turns;
    if (in->turns)
        in->turns->prev = t;
    in->turns = t;
    if (in->chat)
        t->chat = chat_turn_new(in->chat, &t->handle);
    return t;
}

bool instance_turn_is_over(const struct instance_turn *t)
{
    return t->done && t->requests == 0;
}

/* For a while, the handle of an ended turn is distinguished from an invalid one. */
static void instance_turn_retain_ended(struct instance *in, struct instance_turn *t)
{
    *t = (struct instance_turn){.magic = TURN_OVER, .in = in, .next = in->over.list};
    t->handle.inst = &in->handle;
    in->over.list = t;
    if (++in->over.count <= OVER_MAX)
        return;
    struct instance_turn **oldest = &in->over.list;
    while ((*oldest)->next)
        oldest = &(*oldest)->next;
    free(*oldest);
    *oldest = NULL;
    in->over.count--;
}

void instance_turn_free(struct instance_turn *t)
{
    struct instance *const in = t->in;
    TEXTS_IN(in->language);
    ASSERT(t->magic == TURN_MAGIC && t != &in->context);
    ASSERT((t->prev ? t->prev->next : in->turns) == t);
    *(t->prev ? &t->prev->next : &in->turns) = t->next;
    if (t->next)
        t->next->prev = t->prev;
    status_page_clear_turn(in->status);
    instance_turn_release(t);
    instance_turn_retain_ended(in, t);
}

/* ---- verification of handles ---- */

static void instance_turn_log_invalid_handle(struct instance *in, const char *service,
                                             const char *why)
{
    int64_t since;
    const char *const callback = status_page_running_callback(in->status, &since);
    log_write(LOG_ERR, in->label, "plugin %s called %s with %s (from %s)", in->loaded->plugin.name,
              service, why, callback ? callback : "its own thread");
}

struct instance_turn *instance_check_turn(struct tc_turn *turn, const char *service)
{
    struct instance_turn *const t = turn ? CONTAINER(turn, struct instance_turn, handle) : NULL;
    if (!t || (t->magic != TURN_MAGIC && t->magic != TURN_OVER)) {
        log_write(LOG_ERR, "host", "a plugin called %s with an invalid turn handle", service);
        return NULL;
    }
    if (t->magic == TURN_OVER) {
        instance_turn_log_invalid_handle(t->in, service, "a turn that has ended");
        return NULL;
    }
    if (!pthread_equal(t->in->thread, pthread_self())) {
        instance_turn_log_invalid_handle(t->in, service, "a turn that belongs to another thread");
        return NULL;
    }
    return t;
}

struct instance *instance_check_thread(struct tc_instance *inst, const char *service)
{
    struct instance *const in = instance_check(inst);
    if (!in) {
        log_write(LOG_ERR, "host", "a plugin called %s with an invalid instance handle", service);
        return NULL;
    }
    if (!pthread_equal(in->thread, pthread_self())) {
        instance_turn_log_invalid_handle(in, service, "an instance that belongs to another thread");
        return NULL;
    }
    return in;
}
