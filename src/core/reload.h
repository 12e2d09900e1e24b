/* SPDX-License-Identifier: MIT
 * Another configuration for a host that serves: taken as a whole, or refused with a reason. */
#ifndef CORE_RELOAD_H
#define CORE_RELOAD_H

#include "base/attr.h"
#include "base/buf.h"
#include "conf/conf.h"
#include "core/dispatch.h"

/* What a serving host wants of a configuration beside its form: whoever may submit has an agent of
 * a known dialect, and secrets of keys can be read. */
int reload_vet(struct conf *conf, struct tc_err *err) MUST_CHECK;

/* Reads the file of the current configuration anew, checks it, and changes the instances. NULL with
 * err: all is as it was. Else the new one, for everybody else to take; *report is one JSON object
 * on what has changed: {"file","started":[…],"restarted":[…],"stopped":[…],"kept":N,
 * "needs_restart":[…]}, names of instances and of keys that count from the next start on. */
struct conf *reload_conf(const struct conf *current, struct dispatch *d, struct buf *report,
                         struct tc_err *err);

#endif
