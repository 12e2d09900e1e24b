/* SPDX-License-Identifier: MIT
 * Scheduling of turns that other hosts run. */
#include <string.h>

#include "core/conversation/turn_scheduler_internal.h"

size_t conversations_count_away(const struct turn_scheduler *cs)
{
    size_t n = 0;
    const struct conversation *c;
    LIST_FOREACH (c, &cs->list, next)
        n += c->job && turn_job_is_away(c->job);
    return n;
}

size_t turn_scheduler_count_here(const struct turn_scheduler *cs)
{
    return cs->running - conversations_count_away(cs);
}

size_t turn_scheduler_count_agent(const struct turn_scheduler *cs, const char *agent)
{
    size_t n = 0;
    const struct conversation *c;
    LIST_FOREACH (c, &cs->list, next)
        n += c->job && !turn_job_is_away(c->job) && strcmp(c->agent->name, agent) == 0;
    return n;
}

bool conversations_is_held(const struct turn_scheduler *cs, const struct conversation *c)
{
    return cs->is_aside && !(cs->spec.work && conf_agent_is_shared(cs->spec.conf, c->agent));
}

void turn_scheduler_set_aside(struct turn_scheduler *cs, bool is_aside)
{
    cs->is_aside = is_aside;
    conversations_pump(cs);
}


void turn_scheduler_cut_off_turn(struct turn_scheduler *cs, const char *turn)
{
    struct conversation *c;
    LIST_FOREACH (c, &cs->list, next)
        if (c->job && strcmp(turn_job_id(c->job), turn) == 0)
            turn_job_cut_off(c->job);
}
void turn_scheduler_set_work(struct turn_scheduler *cs, struct work *work)
{
    cs->spec.work = work;
}

void turn_scheduler_leave_away(struct turn_scheduler *cs)
{
    struct conversation *c;
    LIST_FOREACH (c, &cs->list, next)
        if (c->job && turn_job_is_away(c->job)) {
            turn_job_free(c->job);
            c->job = NULL;
        }
}
