/* SPDX-License-Identifier: MIT
 * Synchronises the two threads of a call. */
#include "plugin/host_call.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/invariant.h"

#define SIDES 2 /* the waiting thread and the answering one */

static struct host_call *host_call_new(enum host_call_kind kind, const char *instance)
{
    struct host_call *const a = xcalloc(1, sizeof *a);
    a->kind = kind;
    a->instance = arena_strdup(&a->arena, instance);
    atomic_init(&a->refs, SIDES);
    pthread_mutex_init(&a->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&a->changed, &attr);
    pthread_condattr_destroy(&attr);
    return a;
}

static const char *const *host_call_copy_list(struct arena *arena, const char *const *from,
                                              size_t n)
{
    if (!from)
        return NULL;
    const char **const to = arena_alloc(arena, (n + 1) * sizeof *to);
    for (size_t i = 0; i < n; i++)
        to[i] = arena_strdup(arena, from[i]);
    return to;
}

struct host_call *host_call_new_submit(const char *instance, const struct tc_inbound *in)
{
    struct host_call *const a = host_call_new(HOST_CALL_SUBMIT, instance);
    struct arena *const arena = &a->arena;
    struct tc_inbound *const to = arena_alloc(arena, sizeof *to);
    *to = (struct tc_inbound){
        .size = sizeof *to,
        .id = arena_strdup(arena, in->id),
        .also = arena_strdup(arena, in->also),
        .chat = arena_strdup(arena, in->chat),
        .thread = arena_strdup(arena, in->thread),
        .user = arena_strdup(arena, in->user),
        .name = arena_strdup(arena, in->name),
        .text = arena_strdup(arena, in->text),
        .quote = arena_strdup(arena, in->quote),
        .route = arena_strdup(arena, in->route),
        .files = host_call_copy_list(arena, in->files, in->file_count),
        .file_names = host_call_copy_list(arena, in->file_names, in->file_count),
        .file_count = in->file_count,
        .instances = host_call_copy_list(arena, in->instances, in->instance_count),
        .instance_count = in->instance_count,
        .direct = in->direct,
        .kind = arena_strdup(arena, in->kind),
    };
    a->inbound = to;
    return a;
}

struct host_call *host_call_new_retry(const char *instance, const struct tc_inbound *in,
                                      const char *turn)
{
    struct host_call *const a = host_call_new_submit(instance, in);
    a->kind = HOST_CALL_RETRY;
    a->turn = arena_strdup(&a->arena, turn);
    return a;
}

struct host_call *host_call_new_cancel(const char *instance, const char *turn, const char *user)
{
    struct host_call *const a = host_call_new(HOST_CALL_CANCEL, instance);
    a->turn = arena_strdup(&a->arena, turn);
    a->user = arena_strdup(&a->arena, user);
    return a;
}

struct host_call *host_call_new_check_permission(const char *instance, const char *user,
                                                 const char *chat)
{
    struct host_call *const a = host_call_new(HOST_CALL_CHECK_PERMISSION, instance);
    a->user = arena_strdup(&a->arena, user);
    a->chat = arena_strdup(&a->arena, chat);
    return a;
}

struct host_call *host_call_new_knows_chat(const char *instance, const char *chat,
                                           const char *thread)
{
    struct host_call *const a = host_call_new(HOST_CALL_KNOWS_CHAT, instance);
    a->chat = arena_strdup(&a->arena, chat);
    a->thread = arena_strdup(&a->arena, thread);
    return a;
}

struct host_call *host_call_new_ticket(const char *instance, const char *turn, const char *request)
{
    struct host_call *const a = host_call_new(HOST_CALL_TICKET, instance);
    a->turn = arena_strdup(&a->arena, turn);
    a->request = arena_strdup(&a->arena, request);
    return a;
}

struct host_call *host_call_new_resend(const char *instance, const char *turn, const char *user,
                                       const char *chat)
{
    struct host_call *const a = host_call_new(HOST_CALL_RESEND, instance);
    a->turn = arena_strdup(&a->arena, turn);
    a->user = arena_strdup(&a->arena, user);
    a->chat = arena_strdup(&a->arena, chat);
    return a;
}

struct host_call *host_call_new_answer(const char *instance, const struct tc_decision *d)
{
    struct host_call *const a = host_call_new(HOST_CALL_ANSWER, instance);
    struct arena *const arena = &a->arena;
    struct tc_decision *const to = arena_alloc(arena, sizeof *to);
    *to = (struct tc_decision){
        .size = sizeof *to,
        .ticket = arena_strdup(arena, d->ticket),
        .choice = arena_strdup(arena, d->choice),
        .text = arena_strdup(arena, d->text),
        .answers = arena_strdup(arena, d->answers),
        .user = arena_strdup(arena, d->user),
        .name = arena_strdup(arena, d->name),
        .chat = arena_strdup(arena, d->chat),
        .thread = arena_strdup(arena, d->thread),
    };
    a->decision = to;
    return a;
}

struct host_call *host_call_ref(struct host_call *a)
{
    const unsigned before = atomic_fetch_add(&a->refs, 1);
    ASSERT(before > 0);
    return a;
}

void host_call_unref(struct host_call *a)
{
    if (!a)
        return;
    const unsigned before = atomic_fetch_sub(&a->refs, 1);
    ASSERT(before > 0);
    if (before > 1)
        return;
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    arena_fini(&a->arena);
    free(a->answer_turn);
    free(a->answer_text);
    free(a);
}

/* The first answer counts. */
static void host_call_set_result(struct host_call *a, enum tc_accepted accepted, const char *turn,
                                 const char *answer)
{
    pthread_mutex_lock(&a->lock);
    if (!a->answered) {
        a->answered = true;
        a->accepted = accepted;
        a->answer_turn = xstrdup(turn);
        a->answer_text = xstrdup(answer);
        pthread_cond_signal(&a->changed);
    }
    pthread_mutex_unlock(&a->lock);
}

void host_call_complete(struct host_call *a, enum tc_accepted accepted, const char *turn,
                        const char *answer)
{
    if (a->told)
        a->told(a->ctx, accepted, turn, answer);
    else
        host_call_set_result(a, accepted, turn, answer);
    host_call_unref(a);
}

void host_call_set_callback(struct host_call *a,
                            void (*told)(void *ctx, enum tc_accepted accepted, const char *turn,
                                         const char *answer),
                            void *ctx)
{
    ASSERT(told && !a->told);
    a->told = told;
    a->ctx = ctx;
    host_call_unref(a); /* reference of the waiting thread */
}

void host_call_discard(struct host_call *a)
{
    host_call_unref(a);
    host_call_unref(a);
}

void host_call_abandon(struct host_call *a)
{
    host_call_set_result(a, TC_NOT_KEPT, NULL, NULL);
}

enum tc_accepted host_call_wait(struct host_call *a, int64_t ms, struct arena *into,
                                struct tc_receipt *receipt)
{
    ASSERT(!a->told);
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const int64_t nsec = until.tv_nsec + ms % 1000 * 1000000;
    until.tv_sec += ms / 1000 + nsec / 1000000000;
    until.tv_nsec = nsec % 1000000000;
    pthread_mutex_lock(&a->lock);
    for (int rc = 0; !a->answered && rc != ETIMEDOUT;)
        rc = pthread_cond_timedwait(&a->changed, &a->lock, &until);
    const bool answered = a->answered;
    a->answered = true; /* later answers are ignored */
    pthread_mutex_unlock(&a->lock);
    const enum tc_accepted accepted = answered ? a->accepted : TC_NOT_KEPT;
    *receipt =
        (struct tc_receipt){arena_strdup(into, a->answer_turn), arena_strdup(into, a->answer_text)};
    host_call_unref(a);
    return accepted;
}
