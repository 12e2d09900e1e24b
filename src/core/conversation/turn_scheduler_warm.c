/* SPDX-License-Identifier: MIT
 * Agents that wait or work without a turn: turns that they start by themselves, and their end. */
#include "base/sys/uuid.h"
#include "core/conversation/turn_scheduler_internal.h"

/* Starts the turn in the agent's conversation, on the route of the last message. If another turn
 * runs or starts there, that turn takes the process and its output; so does the turn of a message
 * that the agent was given while it worked. */
static void on_begins(void *ctx, const struct warm_place *place, const struct conf_agent *agent)
{
    struct turn_scheduler *const cs = ctx;
    const struct conversation_guests *const guests = cs->spec.guests;
    if (guests && guests->waits(guests->ctx, place->conversation))
        return; /* the turn of that message takes the output */
    const enum turn_lock_state lock = turn_lock_want(cs->spec.locks, place->conversation);
    if (lock == TURN_LOCK_ELSEWHERE || lock == TURN_LOCK_UNREACHABLE)
        warm_pool_end(cs->warm, place->conversation, "another host has the conversation");
    if (lock != TURN_LOCK_HELD)
        return; /* reported again when the lock is held */
    struct conversation *const c =
        conversations_find_or_make(cs, &(struct turn_scheduler_message){.key = place->conversation,
                                                                        .source = place->source,
                                                                        .owner = place->owner,
                                                                        .agent = agent});
    if (c->job)
        return;
    if (c->first && c->first->given) {
        conversations_begin_now(cs, c);
        return;
    }
    char id[37];
    if (!guests || !guests->begins(guests->ctx, place->route, id))
        uuid_make(id);
    struct turn_job_spec spec = conversations_place(cs);
    spec.id = id;
    conversations_add_lock(cs, c, &spec);
    spec.route = place->route;
    spec.instances = place->instances;
    conversations_log_waiting(cs, &(struct turnlog_spec){.id = id,
                                                         .agent = agent->name,
                                                         .conversation = c->key,
                                                         .source = c->source,
                                                         .owner = c->owner,
                                                         .task = "",
                                                         .instances = place->instances});
    cs->running++;
    conversation_begin_by_agent(c, &spec, conversations_turn_over);
}

static void on_works(void *ctx, const char *turn, bool works)
{
    const struct turn_scheduler *const cs = ctx;
    if (cs->spec.turnlog)
        turnlog_set_works(cs->spec.turnlog, turn, works);
}

static void on_rests(void *ctx, const char *conversation)
{
    conversations_unlock(ctx, conversation);
}

static void on_emptied(void *ctx)
{
    conversations_check_drained(ctx);
}

void conversations_open_warm(struct turn_scheduler *cs)
{
    static const struct warm_events events = {on_begins, on_works, on_rests, on_emptied};
    cs->warm = warm_pool_new(cs->spec.loop, cs->spec.journal, cs->spec.conf, &events, cs);
}

bool turn_scheduler_stop_background(struct turn_scheduler *cs, const char *key)
{
    if (!warm_pool_works(cs->warm, key))
        return false;
    warm_pool_end(cs->warm, key, "a person stopped it");
    return true;
}

void turn_scheduler_forget_process(struct turn_scheduler *cs, const char *key)
{
    warm_pool_end(cs->warm, key, "the next message starts a new session");
}

void turn_scheduler_end_process(struct turn_scheduler *cs, const char *key, const char *why)
{
    warm_pool_end(cs->warm, key, why);
}

void turn_scheduler_rebind(struct turn_scheduler *cs, const char *key,
                           const struct conf_agent *agent)
{
    struct conversation *const c = turn_scheduler_find(cs, key);
    warm_pool_end(cs->warm, key, "the conversation has chosen another agent, model or directory");
    if (c)
        conversation_set_agent(c, cs->spec.conf, agent);
}

size_t turn_scheduler_warm(const struct turn_scheduler *cs)
{
    return warm_pool_count(cs->warm);
}
