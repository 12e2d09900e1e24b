/* SPDX-License-Identifier: MIT
 * Checks the names, and logs refused ones. */
#include "core/inbound/inbound_instances.h"

#include "base/sys/log.h"
#include "core/dispatch/named_instance.h"

static bool inbound_instances_check_one(const struct dispatch *d, const struct host_call *a,
                                        const struct conf_scope_turn *turn, const char *name)
{
    struct tc_err err = {0};
    switch (named_instance_check(d, name, turn, &err)) {
    case NAMED_ADMITTED:
        return true;
    case NAMED_UNKNOWN:
        log_write(LOG_ERR, "host", "instance %s: refused a message: instances: %s", a->instance,
                  err_format(&err));
        return false;
    case NAMED_NOT_FOR_IT:
        log_write(LOG_ERR, "host",
                  "instance %s: refused a message: instances: \"%s\" does not show turns of agent "
                  "\"%s\" in conversation \"%s\" (keys agents and conversations)",
                  a->instance, name, turn->agent, turn->conversation);
        return false;
    }
    return false;
}

bool inbound_instances_check(const struct dispatch *d, const struct host_call *a, const char *agent,
                             const char *conversation)
{
    const struct tc_inbound *const in = a->inbound;
    const struct conf_scope_turn turn = {.agent = agent, .conversation = conversation};
    for (size_t i = 0; i < in->instance_count; i++)
        if (!inbound_instances_check_one(d, a, &turn, in->instances[i]))
            return false;
    return true;
}

void inbound_instances_join(const struct tc_inbound *in, struct buf *names)
{
    for (size_t i = 0; i < in->instance_count; i++)
        conf_scope_add_names(names, in->instances[i]);
}
