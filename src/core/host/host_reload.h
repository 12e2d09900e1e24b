/* SPDX-License-Identifier: MIT
 * Reloads the configuration file: validates it, applies it to the instances as a whole, or
 * rejects it with a reason and changes nothing. */
#ifndef CORE_HOST_HOST_RELOAD_H
#define CORE_HOST_HOST_RELOAD_H

#include "base/attr.h"
#include "base/bytes/buf.h"
#include "conf/conf.h"
#include "core/dispatch/dispatch.h"

/* What a serving host wants of a configuration beside its form: whoever may submit has an agent of
 * a known dialect, and secrets of keys can be read. */
int host_reload_check(struct conf *conf, struct tc_err *err) MUST_CHECK;

/* Reads the file of the current configuration anew, and checks it. NULL with err: the file is not
 * valid, or has another value of a key that a running host cannot change, such as state_directory,
 * host.name and most keys of bus; the error names all such keys. */
struct conf *host_reload_load(const struct conf *current, struct tc_err *err);
/* Appends one JSON object on what has changed: {"file","started":[…],"restarted":[…],
 * "stopped":[…],"kept":N,"needs_restart":[…]}, names of instances and of keys that count from the
 * next start on. Within `done` of the change. */
void host_reload_write_report(struct buf *out, const struct conf *old, const struct conf *next,
                              const struct dispatch_reconfig *change);
/* Appends the same as one line for the log: "FILE; started: a, b; unchanged: 2". */
void host_reload_describe(struct buf *out, const struct conf *old, const struct conf *next,
                          const struct dispatch_reconfig *change);

#endif
