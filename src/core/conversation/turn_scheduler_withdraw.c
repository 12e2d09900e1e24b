/* SPDX-License-Identifier: MIT
 * Owns how messages that wait are taken back: at once, or, where the agent has been given them,
 * when it has dropped them. */
#include "core/conversation/turn_scheduler_internal.h"

/* A process that waits or is about to would answer what it was given all the same. */
static void end_holder(struct turn_scheduler *cs, const char *key, bool held)
{
    if (held)
        warm_pool_end(cs->warm, key, "a message that it had received was withdrawn");
}

size_t turn_scheduler_drop_waiting(struct turn_scheduler *cs, struct conversation *c)
{
    bool held = false;
    const size_t n = conversation_drop_waiting(c, &held);
    end_holder(cs, c->key, held);
    conversations_drop_if_idle(cs, c);
    return n;
}

void turn_scheduler_take_back(struct turn_scheduler *cs, struct conversation *c,
                              conversation_taken_back *done, void *ctx)
{
    end_holder(cs, c->key, conversation_take_back(c, NULL, done, ctx));
    conversations_drop_if_idle(cs, c);
}

static void turn_scheduler_withdraw_ignore(void *ctx, const struct taken_back *t)
{
    (void)ctx, (void)t; /* the turn itself tells what has become of it */
}

bool turn_scheduler_cancel_turn(struct turn_scheduler *cs, const char *turn)
{
    struct conversation *c;
    LIST_FOREACH (c, &cs->list, next) {
        if (c->job && strcmp(turn_job_id(c->job), turn) == 0) {
            turn_job_cancel(c->job);
            return true;
        }
        if (!conversation_find(c, turn))
            continue;
        end_holder(cs, c->key,
                   conversation_take_back(c, turn, turn_scheduler_withdraw_ignore, NULL));
        conversations_drop_if_idle(cs, c);
        return true;
    }
    return false;
}
