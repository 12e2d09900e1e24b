/* SPDX-License-Identifier: MIT
 * Internal interface between the files of a change of the instances (dispatch.h). Loop thread only.
 */
#ifndef CORE_DISPATCH_DISPATCH_RECONFIG_H
#define CORE_DISPATCH_DISPATCH_RECONFIG_H

#include "core/dispatch/dispatch_internal.h"

enum dispatch_reconfig_phase {
    PHASE_EXAMINE,
    PHASE_STOP,
    PHASE_START,
    PHASE_UNDO,
    PHASE_RESTORE,
    PHASE_DONE
};

/* State of a slot before the change. */
struct slot_before {
    const struct conf_instance *spec; /* NULL: it was empty, or its instance stays */
    struct loaded_plugin *loaded;
    bool is_replaced; /* otherwise the slot has no next instance */
    bool restoring;   /* the instance was launched again, and has neither started nor failed yet */
};

struct dispatch_reconfig {
    struct dispatch *dispatch;
    struct dispatch_change_spec spec;
    enum dispatch_reconfig_phase phase;
    struct plan plan;
    struct configured_instances *next; /* NULL: unchanged */
    struct slot_before *formers;
    size_t n_formers;                   /* number of slots before */
    struct connector_instance *revived; /* only the restart of this instance is awaited; or NULL */
    bool takes_lead;                    /* first start of an instance that stood by */
    struct tc_err err;                  /* reason of the failure */
    bool is_finished;                   /* `done` is being called */
    struct loop_timer *timer;
};

/* Allocates a change without starting it. */
struct dispatch_reconfig *dispatch_reconfig_new(struct dispatch *d,
                                                const struct dispatch_change_spec *spec);
void dispatch_reconfig_enter(struct dispatch_reconfig *c, enum dispatch_reconfig_phase phase);
/* Checks the change again when the state of the instance has changed. */
void dispatch_reconfig_watch(struct dispatch_reconfig *c, struct connector_instance *r);
/* Ends the instance (dispatch_end_instance), and observes it. */
void dispatch_reconfig_end_instance(struct dispatch_reconfig *c, struct connector_instance *r);
/* Stops the instance in the slot; its replacement is not launched yet. */
void dispatch_reconfig_exchange(struct dispatch_reconfig *c, size_t slot,
                                const struct dispatch_slot *next);
/* dispatch_lead.c: an instance that stood by runs, or has failed: c->err. */
void dispatch_reconfig_finish_lead(struct dispatch_reconfig *c);

#endif
