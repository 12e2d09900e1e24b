/* SPDX-License-Identifier: MIT
 * Checks a named instance. */
#include "core/dispatch/named_instance.h"

enum named_instance named_instance_check(const struct dispatch *d, const char *name,
                                         const struct conf_scope_turn *turn, struct tc_err *err)
{
    const struct conf_instance *const inst = dispatch_find_configured(d, name, err);
    struct conf_scope_turn named = *turn;
    named.instances = name;
    if (!inst)
        return NAMED_UNKNOWN;
    return conf_scope_admits(inst, &named) ? NAMED_ADMITTED : NAMED_NOT_FOR_IT;
}
