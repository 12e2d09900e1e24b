/* SPDX-License-Identifier: MIT
 * Recovers messages and turns after a restart. */
#include <string.h>

#include "core/conversation/turn_scheduler_internal.h"
#include "core/turn/turn_record.h"
#include "core/turnlog/turnlog.h"

/* The agent of the conversation may have changed. NULL: no agent answers there any more. */
static const struct conf_agent *turn_scheduler_find_agent(const struct turn_scheduler *cs,
                                                          const struct journal_turn *t)
{
    const struct conf *const conf = cs->spec.conf;
    if (strcmp(t->source, TURN_SCHEDULER_DETACHED) == 0)
        return conf_agent_find(conf, t->agent);
    const struct conf_instance *const inst = conf_instance_find(conf, t->source);
    return inst ? bindings_find_agent(cs->spec.bindings, conf, inst, t->conv) : NULL;
}

/* A journal of schema 4 has the owner of a detached turn only as its route. */
const char *turn_scheduler_owner(const struct journal_turn *t)
{
    const bool detached = strcmp(t->source, TURN_SCHEDULER_DETACHED) == 0;
    return t->owner ? t->owner : detached ? t->route : NULL;
}

static bool turn_scheduler_put_back(struct turn_scheduler *cs, const struct journal_turn *t,
                                    const struct conf_agent *agent, bool again)
{
    if (!agent)
        return false;
    const char *const owner = turn_scheduler_owner(t);
    struct conversation *const c = conversations_find_or_make(
        cs, &(struct turn_scheduler_message){
                .key = t->conv, .source = t->source, .owner = owner, .agent = agent});
    const bool detached = strcmp(t->source, TURN_SCHEDULER_DETACHED) == 0;
    const char *const user = t->person ? t->person + strlen(t->source) + 1 : NULL;
    struct conversation_message *const m = conversation_enqueue(c, t, detached ? t->route : user);
    m->alone = detached || again;
    m->again = again;
    m->is_stored = again && turn_record_is_stored_elsewhere(t);
    m->follows = !detached; /* the client's preference is not on disk; a single answer is the safe
                             * choice */
    conversations_log_waiting(cs, &(struct turnlog_spec){.id = t->id,
                                                         .agent = agent->name,
                                                         .conversation = t->conv,
                                                         .source = t->source,
                                                         .owner = owner,
                                                         .task = t->prompt,
                                                         .instances = t->instances,
                                                         .created_ms = t->admitted_ms});
    conversations_make_ready(cs, c);
    return true;
}

bool turn_scheduler_restore(struct turn_scheduler *cs, const struct journal_turn *t)
{
    return turn_scheduler_put_back(cs, t, turn_scheduler_find_agent(cs, t), false);
}

/* A turn that its agent has begun by itself has no message. Its client does not wait for it, so it
 * goes on also if its source is attached. */
static const struct conf_agent *turn_scheduler_find_running_agent(const struct turn_scheduler *cs,
                                                                  const struct journal_turn *t)
{
    const bool is_by_agent = !t->prompt || !*t->prompt;
    return is_by_agent && turn_scheduler_is_attached(t->source)
               ? conf_agent_find(cs->spec.conf, t->agent)
               : turn_scheduler_find_agent(cs, t);
}

bool turn_scheduler_resume(struct turn_scheduler *cs, const struct journal_turn *t)
{
    const struct conf_agent *const agent = turn_scheduler_find_running_agent(cs, t);
    return cs->spec.work && agent && work_can_run(t->id, t->source, agent) &&
           turn_scheduler_put_back(cs, t, agent, true);
}

void turn_scheduler_start_ready(struct turn_scheduler *cs)
{
    conversations_pump(cs);
}
