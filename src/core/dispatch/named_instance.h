/* SPDX-License-Identifier: MIT
 * Whether a message may name an instance, to be told of its turn beside those that are told anyway
 * (conf_scope_turn.instances). Whoever asks has the words for what is wrong. Loop thread only. */
#ifndef CORE_DISPATCH_NAMED_INSTANCE_H
#define CORE_DISPATCH_NAMED_INSTANCE_H

#include "conf/conf_scope.h"
#include "core/dispatch/dispatch.h"

enum named_instance {
    NAMED_ADMITTED,
    NAMED_UNKNOWN,    /* the configuration has no such instance, or it is disabled */
    NAMED_NOT_FOR_IT, /* its agents or conversations do not admit the turn */
};

/* `turn` without names. *err: what NAMED_UNKNOWN is, with the nearest name. */
enum named_instance named_instance_check(const struct dispatch *d, const char *name,
                                         const struct conf_scope_turn *turn, struct tc_err *err);

#endif
