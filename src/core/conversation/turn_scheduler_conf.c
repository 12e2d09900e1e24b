/* SPDX-License-Identifier: MIT
 * Applies a new configuration to queued messages. */
#include "base/plural.h"
#include "base/sys/log.h"
#include "core/conversation/turn_scheduler_internal.h"

/* NULL: the instance or the agent of its messages no longer exists. */
static const struct conf_agent *agent_now(const struct turn_scheduler *cs,
                                          const struct conversation *c, const struct conf *before)
{
    const struct conf *const conf = cs->spec.conf;
    const struct conf_instance *const inst = conf_instance_find(conf, c->source);
    if (inst)
        return bindings_find_agent(cs->spec.bindings, conf, inst, c->key);
    return conf_instance_find(before, c->source) ? NULL : conf_agent_find(conf, c->agent->name);
}

void turn_scheduler_set_conf(struct turn_scheduler *cs, const struct conf *conf)
{
    const struct conf *const before = cs->spec.conf;
    cs->spec.conf = conf;
    cs->limits = &conf->conversations;
    warm_pool_reconfigure(cs->warm, conf);
    for (struct conversation *c = LIST_FIRST(&cs->list), *next; c; c = next) {
        next = LIST_NEXT(c, next);
        const struct conf_agent *const agent = agent_now(cs, c, before);
        if (agent) {
            conversation_set_agent(c, conf, agent);
            continue;
        }
        if (c->n_waiting)
            log_write(LOG_WARN, "host",
                      "dropped %zu queued message%s of conversation %s: its connector instance was "
                      "removed",
                      c->n_waiting, PLURAL(c->n_waiting, "", "s"), c->key);
        turn_scheduler_drop_waiting(cs, c);
    }
    conversations_pump(cs);
}
