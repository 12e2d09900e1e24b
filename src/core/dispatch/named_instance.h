/* SPDX-License-Identifier: MIT
 * Checks whether a message may name an instance as an additional receiver of its turn
 * (conf_scope_turn.instances). The caller formats the error message. Loop thread only. */
#ifndef CORE_DISPATCH_NAMED_INSTANCE_H
#define CORE_DISPATCH_NAMED_INSTANCE_H

#include "conf/conf_scope.h"
#include "core/dispatch/dispatch.h"

enum named_instance {
    NAMED_ADMITTED,
    NAMED_UNKNOWN,    /* the instance is not configured, or disabled */
    NAMED_NOT_FOR_IT, /* its agents or conversations do not admit the turn */
};

/* `turn` without names. *err: for NAMED_UNKNOWN, with the nearest name. */
enum named_instance named_instance_check(const struct dispatch *d, const char *name,
                                         const struct conf_scope_turn *turn, struct tc_err *err);

#endif
