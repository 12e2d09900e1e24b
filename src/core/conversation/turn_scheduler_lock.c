/* SPDX-License-Identifier: MIT
 * Requests and releases the lock of a conversation (core/lock/turn_lock.h): held from the message
 * that can start a turn until no agent of the conversation works. */
#include "core/conversation/turn_scheduler_internal.h"

bool conversations_lock(struct turn_scheduler *cs, const struct conversation *c)
{
    return c->unlocked || c->throwaway || turn_lock_want(cs->spec.locks, c->key) == TURN_LOCK_HELD;
}

bool conversations_awaits_lock(const struct turn_scheduler *cs, const struct conversation *c)
{
    return turn_lock_state(cs->spec.locks, c->key) == TURN_LOCK_REQUESTED;
}

bool conversations_waits_for_lock(const struct turn_scheduler *cs, const struct conversation *c)
{
    if (c->unlocked || c->throwaway)
        return false;
    const enum turn_lock_state state = turn_lock_state(cs->spec.locks, c->key);
    return state == TURN_LOCK_REQUESTED || state == TURN_LOCK_ELSEWHERE ||
           state == TURN_LOCK_UNREACHABLE;
}

void conversations_add_lock(const struct turn_scheduler *cs, const struct conversation *c,
                            struct turn_job_spec *spec)
{
    spec->lock = (struct turn_job_lock){
        .fence = turn_lock_fence(cs->spec.locks, c->key),
        .until_ms = turn_lock_until_ms(cs->spec.locks, c->key),
        .refused = c->unlocked,
    };
}

/* Whether an agent of the conversation works here. */
static bool conversations_is_at_work(const struct turn_scheduler *cs, const char *key)
{
    const struct conversation *const c = turn_scheduler_find(cs, key);
    return (c && c->job) || warm_pool_is_busy(cs->warm, key);
}

void conversations_abandon_lock(struct turn_scheduler *cs, const char *key)
{
    if (conversations_is_at_work(cs, key))
        return;
    warm_pool_set_lease(cs->warm, key, 0);
    turn_lock_release(cs->spec.locks, key);
}

void conversations_unlock(struct turn_scheduler *cs, const char *key)
{
    const struct conversation *const c = turn_scheduler_find(cs, key);
    if (turn_lock_state(cs->spec.locks, key) == TURN_LOCK_HELD && !(c && c->bursts))
        conversations_abandon_lock(cs, key);
}

/* The process may have an outdated state of the session. */
static void conversations_on_held(struct turn_scheduler *cs, const char *key)
{
    if (turn_lock_has_moved(cs->spec.locks, key))
        warm_pool_end(cs->warm, key, "another host has continued the conversation");
    warm_pool_report_begin_again(cs->warm, key);
}

static void conversations_on_lock_changed(void *ctx, const char *key, enum turn_lock_state state)
{
    struct turn_scheduler *const cs = ctx;
    struct conversation *const c = turn_scheduler_find(cs, key);
    if (state == TURN_LOCK_HELD)
        conversations_on_held(cs, key);
    else
        warm_pool_end(cs->warm, key, "another host may have continued the conversation");
    if (c && state == TURN_LOCK_GIVEN_UP)
        c->unlocked = true;
    conversations_admit_deferred(cs, key);
    conversations_pump(cs);
    conversations_unlock(cs, key);
    if (!turn_scheduler_find(cs, key))
        conversations_abandon_lock(cs, key);
}

static void conversations_on_lock_renewed(void *ctx, const char *key, int64_t until_ms)
{
    const struct turn_scheduler *const cs = ctx;
    const struct conversation *const c = turn_scheduler_find(cs, key);
    if (c && c->job)
        turn_job_set_lease(c->job, until_ms);
    else
        warm_pool_set_lease(cs->warm, key, until_ms);
}

static void conversations_on_lock_lost(void *ctx, const char *key)
{
    const struct turn_scheduler *const cs = ctx;
    const struct conversation *const c = turn_scheduler_find(cs, key);
    if (c && c->job)
        turn_job_fence(c->job);
    warm_pool_end(cs->warm, key, "another host may continue the conversation");
}

void conversations_open_locks(struct turn_scheduler *cs)
{
    static const struct turn_lock_events events = {
        conversations_on_lock_changed, conversations_on_lock_renewed, conversations_on_lock_lost};
    if (cs->spec.locks)
        turn_locks_set_events(cs->spec.locks, &events, cs);
}
