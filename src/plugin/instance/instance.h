/* SPDX-License-Identifier: MIT
 * One instance on its own thread: state, turns, callbacks, error counts. Runs beside the plugin
 * code, whichever channel delivers the events. */
#ifndef PLUGIN_INSTANCE_INSTANCE_H
#define PLUGIN_INSTANCE_INSTANCE_H

#include <turncast/plugin.h>

#include "base/sys/err.h"
#include "conf/conf.h"
#include "event/event.h"
#include "plugin/abi/loader.h"
#include "plugin/channel.h"
#include "plugin/outbound.h"

struct instance;
struct instance_turn;

/* Fills options and allocates state; does not call init. NULL with err. Copies what it needs of
 * conf and spec; borrows loaded and the status page (NULL: a private one). Functions of `host`
 * (copied; NULL: none) are called on the instance's thread. */
struct instance *instance_new(const struct conf *conf, const struct conf_instance *spec,
                              const struct loaded_plugin *loaded,
                              const struct channel_callbacks *host, struct status_page *status,
                              struct tc_err *err);
void instance_free(struct instance *in);
/* Request ids up to that one belong to an earlier process; new ones follow. */
void instance_reserve_request_ids(struct instance *in, uint64_t last);
/* Sets a text that an earlier instance of that name has stored; call it before init. */
void instance_load_stored(struct instance *in, const char *key, const char *text);
/* Calls the plugin's init. -1: it failed (and has logged why). Instance's thread, as all functions
 * below. */
int instance_init(struct instance *in);
void instance_teardown(struct instance *in);

/* Allocates a turn's state, zeroed; instance_free frees remaining ones. */
struct instance_turn *instance_turn_new(struct instance *in, const struct channel_turn *turn);
/* Frees a turn for which no event and no reply will arrive. */
bool instance_turn_is_over(const struct instance_turn *t);
void instance_turn_free(struct instance_turn *t);

/* Each of these calls the plugin's callback, if there is one, and passes its output on as one
 * batch. 0, or -1: the callback failed, which was counted and, once per burst, logged with turn and
 * callback. */

/* Calls the typed callback (not for thinking without text), then on_event. */
int instance_deliver_event(struct instance *in, struct instance_turn *t,
                           struct shared_event *shared);
/* Whether the plugin has an on_event. */
bool instance_has_on_event(const struct instance *in);
/* Calls on_reply; t NULL: of the instance context. Takes ownership. */
int instance_call_on_reply(struct instance *in, struct instance_turn *t, struct outbound_reply *r);
/* Calls on_hit; `answered` is called once, with the plugin's response (borrowed) or NULL. */
int instance_call_on_hit(struct instance *in, const struct tc_hit *hit,
                         void (*answered)(void *arg, const struct tc_answer *answer), void *arg);
/* Calls on_frame. */
int instance_call_on_frame(struct instance *in, const struct tc_frame *frame);
/* Between these calls, callbacks run in direct succession (status_page_begin_series). */
void instance_begin_series(struct instance *in);
void instance_end_series(struct instance *in);
/* The queue is empty: calls on_idle. */
void instance_call_on_idle(struct instance *in);
/* Time of the next on_wake, clock_mono_ms; INT64_MAX: none. */
int64_t instance_next_wake_ms(const struct instance *in);
/* Calls on_wake of the turns whose timers have expired. False: none. */
bool instance_call_on_wake(struct instance *in);

/* ---- held events, and watched descriptors; see tc_hold and tc_watch ---- */

/* Sets the number of the next task, for holds of its callbacks. */
void instance_set_task(struct instance *in, uint64_t task);
/* The oldest held task; UINT64_MAX: none. */
uint64_t instance_oldest_held_task(const struct instance *in);
/* Whether an event was released since the last call: turns may have ended. */
bool instance_take_released(struct instance *in);
#define INSTANCE_WATCHED ((size_t)8)
/* The watched descriptors, for poll; returns their number. */
size_t instance_watched_fds(const struct instance *in, int fds[INSTANCE_WATCHED]);
/* Whether delivery is paused; see tc_pause. */
bool instance_is_paused(const struct instance *in);
/* Calls on_ready, if the descriptor is still watched. */
int instance_call_on_ready(struct instance *in, int fd);

/* Name in the log: "instance NAME". Any thread, like all functions below. */
const char *instance_label(const struct instance *in);
const struct status_page *instance_status_page(const struct instance *in);

#endif
