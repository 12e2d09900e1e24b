/* SPDX-License-Identifier: MIT
 * Withdraws queued messages: at once, or, if the agent was given them, when it has dropped them. */
#include "core/conversation/turn_scheduler_internal.h"

/* A waiting process would answer a message that it was given, so the process must end. */
static void end_holder(struct turn_scheduler *cs, const char *key, bool held)
{
    if (held)
        warm_pool_end(cs->warm, key, "a message that it had received was withdrawn");
}

/* The conversation may have reserved a place by requesting its lock: another one can use it. */
static void turn_scheduler_free_place(struct turn_scheduler *cs, struct conversation *c)
{
    conversations_drop_if_idle(cs, c);
    conversations_pump(cs);
}

size_t turn_scheduler_drop_waiting(struct turn_scheduler *cs, struct conversation *c)
{
    bool held = false;
    const size_t n = conversation_drop_waiting(c, &held);
    end_holder(cs, c->key, held);
    turn_scheduler_free_place(cs, c);
    return n;
}

void turn_scheduler_withdraw_all(struct turn_scheduler *cs, struct conversation *c,
                                 conversation_withdraw_done *done, void *ctx)
{
    end_holder(cs, c->key, conversation_withdraw_messages(c, NULL, done, ctx));
    turn_scheduler_free_place(cs, c);
}

static void turn_scheduler_withdraw_ignore(void *ctx, const struct taken_back *t)
{
    (void)ctx, (void)t; /* the turn itself reports the result */
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
                   conversation_withdraw_messages(c, turn, turn_scheduler_withdraw_ignore, NULL));
        turn_scheduler_free_place(cs, c);
        return true;
    }
    return false;
}
