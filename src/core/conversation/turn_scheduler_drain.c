/* SPDX-License-Identifier: MIT
 * Shutdown of the scheduler: running turns, and messages for the next start. */
#include "core/conversation/turn_scheduler_internal.h"

static void end_all(void *arg)
{
    const struct turn_scheduler *const cs = arg;
    const struct conversation *c;
    LIST_FOREACH (c, &cs->list, next)
        if (c->job)
            turn_job_cancel_for_exit(c->job);
}

static void dismiss_attached(struct turn_scheduler *cs)
{
    for (struct conversation *c = LIST_FIRST(&cs->list), *next; c; c = next) {
        next = LIST_NEXT(c, next);
        if (!turn_scheduler_is_attached(c->source))
            continue;
        conversation_dismiss(c);
        conversations_drop_if_idle(cs, c);
    }
}

static void on_drain_check(void *arg)
{
    conversations_check_drained(arg);
}

void turn_scheduler_drain(struct turn_scheduler *cs, void (*drained)(void *ctx), void *ctx)
{
    warm_pool_close(cs->warm);
    if (cs->draining) {
        end_all(cs);
        return;
    }
    cs->draining = true;
    cs->drained = drained;
    cs->ctx = ctx;
    cs->drain = loop_timer_new(cs->spec.loop, end_all, cs);
    loop_timer_set(cs->drain, cs->limits->drain_ms);
    dismiss_attached(cs);
    loop_post(cs->spec.loop, on_drain_check, cs);
}
