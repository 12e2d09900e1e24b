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

/* The forms one event is cast in. MUTE: an open request as PLAIN or HIDDEN, without choices, for
 * instances that may not answer it. */
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

/* View: the instances that see a turn alike. */
struct dispatch_view {
    bool sees_all;
    bool wants_state, wants_raw;
    char *audience;          /* or NULL: user */
    enum dispatch_form form; /* of the event that is being cast */
};

/* The place of an instance. It stays, so that turns know it by its number; one that is left stays
 * empty. */
struct dispatch_slot {
    struct connector_instance *instance; /* NULL: empty */
    const struct conf_instance *spec;    /* of the configured instances */
    struct loaded_plugin *loaded;
    size_t group;
    uint32_t kinds;          /* bits: those it is cast */
    enum dispatch_form form; /* in which it gets the event that is being cast */
    bool is_led;             /* of several hosts one runs it */
    bool stands_by;          /* another one: its instance is not launched, and told of no turn */
    bool room;               /* when it was last looked */
    bool stalled;            /* did not move for as long as patience goes; not waited for */
};

/* Events that may be dispatched before the room in the queues is checked again: a part of the
 * smallest queue. */
struct dispatch_budget {
    int64_t events, bytes;
};

/* An instance that did not start with the host. */
struct disabled {
    struct disabled *next;
    char *name;
    struct tc_err why; /* the text does not name it */
};

/* An instance that has been told to end, and has no slot any more. */
struct leaving {
    struct leaving *next;
    struct connector_instance *instance;
    int64_t deadline_ms; /* monotonic */
};

struct dispatch {
    struct connector_services services;
    bool empty; /* nothing has been seated yet */
    struct leaving *leaving;
    struct configured_instances *configured;
    struct dispatch_slot *slots;
    struct dispatch_view *groups;
    struct dispatch_turn *turns;
    struct disabled *disabled;
    size_t n, n_groups;
    size_t log_all, log_shown; /* groups: what the turn log keeps, and what of it is shown */
    int backpressure_ms;
    struct dispatch_budget room; /* with patience */
    bool gathers;
    struct chunk_pool burst; /* of its shared events; holds nothing in between */
};

/* Which part of a turn an instance is told. */
enum dispatch_part { PART_NONE, PART_REQUESTS, PART_ALL };
struct dispatch_turn_slot {
    void *handle; /* NULL: the instance is gone, has got done, or is told nothing yet */
    enum dispatch_part part;
};

/* An open request that is asked at an instance which is told nothing else of the turn. */
struct dispatch_asked {
    SLIST_ENTRY(dispatch_asked) next;
    size_t slot;
    char request[]; /* its id */
};

struct dispatch_turn {
    struct dispatch *dispatch;
    struct dispatch_turn *next, *prev;
    struct arena arena;
    struct dispatch_turn_spec spec;   /* its strings are the arena's */
    struct showing *showings;         /* what each group was shown */
    size_t n_showings;                /* groups there were when an event was last cast */
    struct turnlog_entry *entry;      /* NULL: there is no turn log, or it has got done */
    bool decided;                     /* its outcome is noted, so it is told from the journal */
    size_t n;                         /* slots there were when it was opened: it knows no others */
    struct dispatch_turn_slot *slots; /* one per slot */
    SLIST_HEAD(, dispatch_asked) asked;
};

/* ---- dispatch.c */

/* Description of the turn for that instance. */
struct channel_turn dispatch_describe_turn(const struct dispatch_turn *t, const char *instance);

/* ---- dispatch_scope.c */

/* Opens the turn for every instance that is to be told of it. */
void dispatch_scope_open(struct dispatch_turn *t);
/* Before the event is cast: opens the turn for instances that are asked something by it, and are
 * told nothing else. */
void dispatch_scope_open_asked(struct dispatch_turn *t, const struct event *ev);
/* The instance in the slot is told of this event, if the form says so, too. */
bool dispatch_scope_tells(const struct dispatch_turn *t, size_t slot, const struct event *ev);
/* After it was cast. */
void dispatch_scope_close_asked(struct dispatch_turn *t, const struct event *ev);
void dispatch_scope_close(struct dispatch_turn *t);

/* ---- dispatch_slot.c */

/* The number of the slot of that instance, or d->n. */
size_t dispatch_find_slot(const struct dispatch *d, const char *name);
/* Makes an instance, which is not launched; takes over loaded when it does. -1 with err: it is not
 * there. */
int dispatch_start_slot(struct dispatch *d, struct dispatch_slot *s, const struct conf *conf,
                        const struct conf_instance *spec, struct loaded_plugin *loaded,
                        struct tc_err *err) MUST_CHECK;
size_t dispatch_add_slot(struct dispatch *d);
/* The slot of an instance that was not launched yet: turns that run are opened for it anew, but for
 * those whose outcome is in the journal, which is cast again when it is resumed. */
void dispatch_reopen_turns(struct dispatch *d, size_t slot);
/* Launches the instance in the slot, unless it stands by. */
void dispatch_launch_slot(const struct dispatch_slot *s);
/* Opens the running turns for an instance that stood by and is to be launched. */
void dispatch_join_turns(struct dispatch *d, size_t slot);
/* No turn is told to it any more; its plugin is given back. Its instance is the caller's. */
void dispatch_leave_slot(struct dispatch *d, size_t slot);

/* Logs, and keeps for dispatch_why_disabled, why an instance did not start with the host. */
void dispatch_note_disabled(struct dispatch *d, const struct conf_instance *spec,
                            const struct tc_err *err);
/* Logs which instances the configuration does not enable. */
void dispatch_log_switched_off(const struct conf *conf);

/* ---- dispatch_leave.c */

/* Stops it, and frees it when it has ended. It is killed when it has not within DISPATCH_END_MS. */
#define DISPATCH_END_MS 5000
void dispatch_leave(struct dispatch *d, struct connector_instance *r);
/* Frees those that have ended, kills those whose time is over. True: none is left. */
bool dispatch_all_left(struct dispatch *d);
/* Waits for them, and frees them; how many had to be abandoned. */
unsigned dispatch_await_leaving(struct dispatch *d, int64_t deadline_ms);

/* ---- dispatch_plan.c */

/* What becomes of one instance that is wanted. */
struct plan_step {
    const struct conf_instance *spec; /* of the next configuration */
    enum dispatch_reconfig_action what;
    size_t slot;                   /* of its predecessor, then its own; NO_SLOT: none */
    struct probe_candidate *probe; /* while its file is tried */
    struct loaded_plugin *loaded;  /* until the slot has it */
    struct dispatch_slot filled;   /* the next instance, until it is in `slot` */
    struct tc_err err;             /* why it was refused, or has failed */
    bool refused;                  /* its file or its options, and the change goes on without it */
    bool failed;                   /* to start */
    bool up;
};
#define NO_SLOT SIZE_MAX

struct plan {
    struct dispatch *dispatch;
    const struct configured_instances *next;
    struct probe_run *trial;
    struct plan_step *steps;
    size_t n;
    bool lenient; /* what is refused or fails is logged, and left out */
    bool is_one;  /* of one instance alone, which must not be left out */
};

/* Plans for all of the configured instances, or for one of it (else NULL), and begins to try the
 * files. `tried` is called from the loop when that is over. */
void plan_begin(struct plan *p, const struct conf_instance *only, void (*tried)(void *ctx),
                void *ctx);
/* Then: makes the next instances, which are not launched. -1 with err: one is refused. */
int plan_finish(struct plan *p, struct tc_err *err) MUST_CHECK;
void plan_fini(struct plan *p);
/* The instance in the slot is as the configuration wants it: keys, secrets, file. */
bool plan_stays(const struct dispatch_slot *s, const struct conf_instance *spec);

#endif
