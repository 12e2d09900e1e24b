/* SPDX-License-Identifier: MIT
 * One instance on its own thread: state, turns, callbacks, errors counted. What runs beside the
 * plugin, whichever channel brings the events. */
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

/* Fills options and allocates state; does not call init. NULL with err. Keeps nothing of conf and
 * spec; borrows loaded and the status page (NULL: one of its own). The functions of `host` (copied;
 * NULL: none) are called on the instance's thread. */
struct instance *instance_new(const struct conf *conf, const struct conf_instance *spec,
                              const struct loaded_plugin *loaded,
                              const struct channel_callbacks *host, struct status_page *status,
                              struct tc_err *err);
void instance_free(struct instance *in);
/* Ids of requests up to that one are an earlier run's: those of this one come behind. */
void instance_reserve_request_ids(struct instance *in, uint64_t last);
/* A text that an earlier instance of that name has stored; before init. */
void instance_load_stored(struct instance *in, const char *key, const char *text);
/* The plugin's init. -1: it refused (it has logged why). Instance's thread, as all below. */
int instance_init(struct instance *in);
void instance_teardown(struct instance *in);

/* A turn's state, zeroed; instance_free frees those that are still there. */
struct instance_turn *instance_turn_new(struct instance *in, const struct channel_turn *turn);
/* No event and no reply will come for it: free it. */
bool instance_turn_is_over(const struct instance_turn *t);
void instance_turn_free(struct instance_turn *t);

/* Each of these calls the plugin, when it has such a callback, and hands over, as one batch, what
 * the plugin sent. 0, or -1: a callback failed; it has been counted and, once per burst, logged
 * with turn and callback. */

/* The typed callback (thinking without text: not), then on_event. */
int instance_deliver_event(struct instance *in, struct instance_turn *t,
                           struct shared_event *shared);
/* Whether the plugin has an on_event. */
bool instance_has_on_event(const struct instance *in);
/* on_reply; t NULL: of the instance context. Takes over. */
int instance_call_on_reply(struct instance *in, struct instance_turn *t, struct outbound_reply *r);
/* on_hit; `answered` is called once, with what the plugin answers (borrowed) or NULL. */
int instance_call_on_hit(struct instance *in, const struct tc_hit *hit,
                         void (*answered)(void *arg, const struct tc_answer *answer), void *arg);
/* on_frame. */
int instance_call_on_frame(struct instance *in, const struct tc_frame *frame);
/* Between these, callbacks follow one upon the other (status_page_begin_series). */
void instance_begin_series(struct instance *in);
void instance_end_series(struct instance *in);
/* The queue ran empty: on_idle. */
void instance_call_on_idle(struct instance *in);
/* When the next on_wake is due, clock_mono_ms; INT64_MAX: none. */
int64_t instance_next_wake_ms(const struct instance *in);
/* Calls on_wake of the turns whose time is there. False: of none. */
bool instance_call_on_wake(struct instance *in);

/* ---- events that are held, and descriptors that are watched; see tc_hold and tc_watch ---- */

/* The number of the task that comes next, which the holds of its callbacks get. */
void instance_set_task(struct instance *in, uint64_t task);
/* The oldest task that is held; UINT64_MAX: none. */
uint64_t instance_oldest_held_task(const struct instance *in);
/* Whether an event was released since the last call: turns may be over. */
bool instance_take_released(struct instance *in);
#define INSTANCE_WATCHED ((size_t)8)
/* The watched descriptors, for poll; their number. */
size_t instance_watched_fds(const struct instance *in, int fds[INSTANCE_WATCHED]);
/* Nothing is to be delivered now; see tc_pause. */
bool instance_is_paused(const struct instance *in);
/* on_ready, if the descriptor is still watched. */
int instance_call_on_ready(struct instance *in, int fd);

/* Its name in the log: "instance NAME". Any thread, like all below. */
const char *instance_label(const struct instance *in);
const struct status_page *instance_status_page(const struct instance *in);

#endif
