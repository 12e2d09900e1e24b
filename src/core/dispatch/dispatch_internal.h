/* SPDX-License-Identifier: MIT
 * Internal interface between the files of dispatch. Loop thread only. */
#ifndef CORE_DISPATCH_DISPATCH_INTERNAL_H
#define CORE_DISPATCH_DISPATCH_INTERNAL_H

#include <sys/queue.h>

#include "base/attr.h"
#include "base/chunk_pool.h"
#include "core/dispatch/configured_instances.h"
#include "core/dispatch/dispatch.h"
#include "turn/visibility/view_pairing.h"

/* The forms in which an event is delivered. MUTE: an open request as PLAIN or HIDDEN, without
 * choices, for instances that may not answer it. */
enum dispatch_form {
    FORM_NONE,
    FORM_PLAIN,
    FORM_HIDDEN,
    FORM_STRIPPED,
    FORM_FAILURE, /* a failed result as a notice */
    FORM_MUTE,
    FORM_MUTE_HIDDEN,
    FORMS,
};

/* View: a group of instances with the same audience and visibility. */
struct dispatch_view {
    bool sees_all;
    bool wants_state, wants_raw;
    char *audience;          /* or NULL: user */
    enum dispatch_form form; /* shared forms of the current event */
};

/* The place of an instance. Slots are never removed, so that turns can refer to them by number; an
 * unused one is empty. */
struct dispatch_slot {
    struct connector_instance *instance; /* NULL: empty */
    const struct conf_instance *spec;    /* index in the configured instances */
    struct loaded_plugin *loaded;
    size_t group;
    uint32_t kinds;          /* bits: kinds of events that it receives */
    enum dispatch_form form; /* form of the current event for it */
    bool is_led;             /* runs on one of several hosts only, its leader */
    bool stands_by; /* another host leads it: it is not launched here, and receives no turn */
    bool room;      /* time of the last check */
    bool stalled;   /* no progress within the time limit; not waited for */
};

/* Number of events that may be dispatched before the room in the queues is checked again: a part of
 * the smallest queue. */
struct dispatch_budget {
    int64_t events, bytes;
};

/* An instance that did not start with the host. */
struct disabled {
    struct disabled *next;
    char *name;
    struct tc_err why; /* the text does not contain the name */
};

/* An instance that is ending, and no longer has a slot. */
struct ending_instance {
    struct ending_instance *next;
    struct connector_instance *instance;
    int64_t deadline_ms; /* monotonic */
};

struct dispatch {
    struct connector_services services;
    bool empty; /* no instance was created yet */
    struct ending_instance *ending;
    struct configured_instances *configured;
    struct dispatch_slot *slots;
    struct dispatch_view *groups;
    struct dispatch_turn *turns;
    struct disabled *disabled;
    size_t n, n_groups;
    size_t log_all, log_shown; /* views: complete, for the turn log, and its visible part */
    int backpressure_ms;
    struct dispatch_budget room; /* with a time limit */
    bool gathers;
    struct chunk_pool burst; /* pool of its shared events; empty between events */
};

/* State of a turn for one instance. */
enum dispatch_part { PART_NONE, PART_REQUESTS, PART_ALL };
struct dispatch_turn_slot {
    void *handle; /* NULL: the instance is gone, has received done, or receives nothing yet */
    enum dispatch_part part;
};

/* An open request sent to an instance that receives nothing else of the turn. */
struct dispatch_open_request {
    SLIST_ENTRY(dispatch_open_request) next;
    size_t slot;
    char request[]; /* id of the request */
};

struct dispatch_turn {
    struct dispatch *dispatch;
    struct dispatch_turn *next, *prev;
    struct arena arena;
    struct dispatch_turn_spec spec;   /* its strings are in the arena */
    struct showing *showings;         /* view state of each group */
    size_t n_showings;                /* number of groups at the last event */
    struct turnlog_entry *entry;      /* NULL: no turn log, or it has received done */
    bool has_started;                 /* its start was cast */
    bool decided;                     /* the outcome is journaled, and will be delivered from
                                       * there */
    size_t n;                         /* number of slots when it was opened; later slots are
                                       * ignored */
    struct dispatch_turn_slot *slots; /* one per slot */
    SLIST_HEAD(, dispatch_open_request) open_requests;
    struct dispatch_guest {
        const char *instance; /* NULL: a turn of this host; else the only instance that receives
                               * it */
        const char *memory;   /* of that instance, or NULL */
    } guest;                  /* their texts are in the arena */
};

/* ---- dispatch.c */

/* Describes the turn for that instance. */
struct channel_turn dispatch_describe_turn(const struct dispatch_turn *t, const char *instance);
void dispatch_link_turn(struct dispatch *d, struct dispatch_turn *t);

/* ---- dispatch_scope.c */

/* Opens the turn for every instance whose scope admits it. */
void dispatch_scope_open(struct dispatch_turn *t);
/* Opens the turn for an instance that is new in its slot, which receives a start (resumed) if the
 * start was cast before. NULL: it does not receive the turn. */
void *dispatch_scope_reopen(const struct dispatch_turn *t, struct connector_instance *r);
/* Appends the names of the instances that receive the turn and that only one of several hosts runs,
 * separated by newlines. */
void dispatch_scope_append_led(const struct dispatch_turn *t, struct buf *names);
/* Another host has adopted the turn, and alone delivers it to the instance in the slot. */
bool dispatch_scope_is_adopted(const struct dispatch_turn *t, size_t slot);
/* Call it before delivering the event: opens the turn for instances to which the event sends a
 * request, and which receive nothing else. */
void dispatch_scope_open_requested(struct dispatch_turn *t, const struct event *ev);
/* Whether the instance in the slot receives this event, provided that it is visible. */
bool dispatch_scope_delivers(const struct dispatch_turn *t, size_t slot, const struct event *ev);
/* Call it after delivering the event. */
void dispatch_scope_close_requested(struct dispatch_turn *t, const struct event *ev);
void dispatch_scope_close(struct dispatch_turn *t);

/* ---- dispatch_slot.c */

/* The slot number of that instance, or d->n. */
size_t dispatch_find_slot(const struct dispatch *d, const char *name);
/* Creates an instance without launching it; takes over `loaded` on success. -1 with err. */
int dispatch_start_slot(struct dispatch *d, struct dispatch_slot *s, const struct conf *conf,
                        const struct conf_instance *spec, struct loaded_plugin *loaded,
                        struct tc_err *err) MUST_CHECK;
size_t dispatch_add_slot(struct dispatch *d);
/* Assigns an instance that was not launched yet to the slot: opens running turns for it, except
 * those whose outcome is in the journal, which will be delivered from there. */
void dispatch_reopen_turns(struct dispatch *d, size_t slot);
/* Launches the instance in the slot, unless it stands by. */
void dispatch_launch_slot(const struct dispatch_slot *s);
/* Opens running turns for an instance that stood by and is to be launched. */
void dispatch_join_turns(struct dispatch *d, size_t slot);
/* Removes the instance from its slot: it receives nothing more, and its plugin is released. The
 * caller owns the instance. */
void dispatch_clear_slot(struct dispatch *d, size_t slot);

/* Logs why an instance did not start with the host, and stores the reason for
 * dispatch_why_disabled. */
void dispatch_record_disabled(struct dispatch *d, const struct conf_instance *spec,
                              const struct tc_err *err);
/* Logs the instances that the configuration disables. */
void dispatch_log_switched_off(const struct conf *conf);

/* ---- dispatch_end_instance.c */

/* Stops the instance, and frees it when it has ended. Kills it after DISPATCH_END_MS. */
#define DISPATCH_END_MS 5000
void dispatch_end_instance(struct dispatch *d, struct connector_instance *r);
/* Frees ended instances, and kills those whose time has expired. True: none is left. */
bool dispatch_reap_ended(struct dispatch *d);
/* Waits for them, and frees them; returns the number of abandoned ones. */
unsigned dispatch_await_ended(struct dispatch *d, int64_t deadline_ms);

/* ---- dispatch_plan.c */

/* Plan for one configured instance. */
struct plan_step {
    const struct conf_instance *spec; /* index in the next configuration */
    enum dispatch_reconfig_action what;
    size_t slot;                   /* slot of its predecessor, then its own; NO_SLOT: none */
    struct probe_candidate *probe; /* while its file is probed */
    struct loaded_plugin *loaded;  /* until the slot owns it */
    struct dispatch_slot filled;   /* the next instance, until it is in `slot` */
    struct tc_err err;             /* why it was refused, or has failed */
    bool refused;                  /* its file or its options are invalid, and the change continues
                                    * without it */
    bool failed;
    bool up;
};
#define NO_SLOT SIZE_MAX

struct plan {
    struct dispatch *dispatch;
    const struct configured_instances *next;
    struct probe_run *trial;
    struct plan_step *steps;
    size_t n;
    bool lenient; /* refused and failing instances are logged and skipped */
    bool is_one;  /* for a single instance, which must not be skipped */
};

/* Plans for all configured instances, or for one (otherwise NULL), and starts probing the files.
 * `tried` is called from the loop at the end. */
void plan_begin(struct plan *p, const struct conf_instance *only, void (*tried)(void *ctx),
                void *ctx);
/* After that: creates the next instances without launching them. -1 with err: one is refused. */
int plan_finish(struct plan *p, struct tc_err *err) MUST_CHECK;
void plan_fini(struct plan *p);
/* Whether the instance in the slot matches the configuration: keys, secrets, file. */
bool plan_stays(const struct dispatch_slot *s, const struct conf_instance *spec);

#endif
