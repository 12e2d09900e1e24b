/* SPDX-License-Identifier: MIT
 * What the files of dispatch share: dispatch.c (turns and casting), dispatch_seat.c (instances, and
 * their groups), dispatch_change.c (another configuration). */
#ifndef CORE_DISPATCH_IMPL_H
#define CORE_DISPATCH_IMPL_H

#include "base/attr.h"
#include "base/slab.h"
#include "core/dispatch.h"
#include "core/roster.h"
#include "turn/showing.h"

/* The forms one event is cast in. MUTE: an open request as PLAIN or HIDDEN, without choices, for
 * instances that may not answer it. */
enum form {
    FORM_NONE,
    FORM_PLAIN,
    FORM_HIDDEN,
    FORM_STRIPPED,
    FORM_FAILURE, /* a failed result as a notice */
    FORM_MUTE,
    FORM_MUTE_HIDDEN,
    FORMS,
};

/* What of a turn some instances see alike. */
struct group {
    bool sees_all;
    bool wants_state, wants_raw;
    char *audience; /* or NULL: user */
    enum form form; /* of the event that is being cast */
};

/* The place of an instance. It stays, so that turns know it by its number; one that is left stays
 * empty. */
struct seat {
    struct runner *runner;            /* NULL: empty */
    const struct conf_instance *spec; /* of the roster */
    struct loaded *loaded;
    size_t group;
    uint32_t kinds;   /* bits: those it is cast */
    enum form form;   /* in which it gets the event that is being cast */
    bool room;        /* when it was last looked */
    bool left_behind; /* did not move for as long as patience goes; not waited for */
};

/* What may still be cast before it is looked again who has room: a part of the smallest queue. */
struct room {
    int64_t events, bytes;
};

/* An instance that did not start with the host. */
struct disabled {
    struct disabled *next;
    char *name;
    struct tc_err why; /* the text does not name it */
};

struct dispatch {
    struct services services;
    struct roster *roster;
    struct seat *seats;
    struct group *groups;
    struct dispatch_turn *turns;
    struct disabled *disabled;
    size_t n, n_groups;
    size_t log_all, log_shown; /* groups: what the turn log keeps, and what of it is shown */
    int patience_ms;
    struct room room; /* with patience */
    bool gathers;
    struct slab burst; /* of its boxes; holds nothing in between */
};

struct dispatch_turn {
    struct dispatch *dispatch;
    struct dispatch_turn *next, *prev;
    struct arena arena;
    struct dispatch_spec spec;   /* its strings are the arena's */
    struct showing *showings;    /* what each group was shown */
    size_t n_showings;           /* groups there were when an event was last cast */
    struct turnlog_entry *entry; /* NULL: there is no turn log, or it has got done */
    bool decided;                /* its outcome is noted, so it is told from the ledger */
    size_t n;                    /* seats there were when it was opened: it knows no others */
    void **handles;              /* one per seat, NULL: it is gone or has got done */
};

/* ---- dispatch.c */

/* As that instance is named the turn. */
struct channel_turn dispatch_name_turn(const struct dispatch_turn *t, const char *instance);

/* ---- dispatch_seat.c */

/* The group that sees the same; a new one when there is none. `audience` is copied. */
size_t dispatch_find_group(struct dispatch *d, const struct group *wanted, const char *audience);
/* The number of the seat of that instance, or d->n. */
size_t dispatch_find_seat(const struct dispatch *d, const char *name);
/* Begins to look at its plugin. NULL with err: there is none. */
struct loader_probe *dispatch_probe(struct loader_trial *trial, const struct conf *conf,
                                    const struct conf_instance *spec, struct tc_err *err);
/* Begins to start an instance; takes over loaded when it does. -1 with err: it is not there. */
int dispatch_fill_seat(struct dispatch *d, struct seat *s, const struct conf *conf,
                       const struct conf_instance *spec, struct loaded *loaded,
                       struct tc_err *err) MUST_CHECK;
/* Waits until it runs. -1 with err: the seat has no runner; its plugin is still there. */
int dispatch_await_seat(struct seat *s, struct tc_err *err) MUST_CHECK;
size_t dispatch_add_seat(struct dispatch *d);

#endif
