/* SPDX-License-Identifier: MIT
 * One instance on its own thread: state, turns, callbacks, errors counted. What runs beside the
 * plugin, whichever channel brings the events. */
#ifndef PLUGIN_INSTANCE_H
#define PLUGIN_INSTANCE_H

#include <turncast/plugin.h>

#include "base/arena.h"
#include "base/err.h"
#include "conf/conf.h"
#include "event/event.h"
#include "plugin/loader.h"

struct instance;
struct instance_turn;

/* Fills options and allocates state; does not call init. NULL with err. Keeps nothing of conf and
 * spec; borrows loaded. */
struct instance *instance_new(const struct conf *conf, const struct conf_instance *spec,
                              const struct loaded *loaded, struct tc_err *err);
void instance_free(struct instance *in);
/* The plugin's init. -1: it refused (it has logged why). Instance's thread, as all below. */
int instance_init(struct instance *in);
void instance_teardown(struct instance *in);

/* A turn's state, zeroed; instance_free frees those that are still there. */
struct instance_turn *instance_turn_new(struct instance *in, const char *id, const char *agent,
                                        const char *conversation);
/* After its done event was delivered. */
void instance_turn_free(struct instance_turn *t);
/* Calls the typed callback (thinking without text: not), then on_event. 0, or -1: a callback
 * failed; it has been counted and, once per burst, logged with turn and callback. */
int instance_deliver(struct instance *in, struct instance_turn *t, struct event_box *box);
/* The queue ran empty: on_idle. */
void instance_idle(struct instance *in);

/* How it speaks in the log: "instance NAME". Any thread, as all below. */
const char *instance_label(const struct instance *in);
/* Name of the callback running now, and since when (monotonic ms), or NULL. */
const char *instance_running(const struct instance *in, int64_t *since_ms);
uint64_t instance_delivered(const struct instance *in);
uint64_t instance_failed(const struct instance *in);

/* For the host services, which get a plugin's handles and must not believe them. NULL: the handle
 * is of a turn that is over, of none, or this is not the instance's thread; it has been logged
 * with the service and the callback that runs. */
struct arena *instance_check_turn(struct tc_turn *turn, const char *service);
/* The event being delivered in another format; see tc_encode. The turn has been checked. */
const char *instance_encode(struct tc_turn *turn, const struct tc_format *format, size_t *len);
/* NULL: no instance. */
struct instance *instance_check(struct tc_instance *inst);

#endif
