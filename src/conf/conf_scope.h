/* SPDX-License-Identifier: MIT
 * Scope of an instance: the rules for which turns it receives, from its keys turns, agents and
 * conversations. Pure. */
#ifndef CONF_CONF_SCOPE_H
#define CONF_CONF_SCOPE_H

#include "conf/conf.h"

/* The properties of a turn that count; each may be NULL. */
struct conf_scope_turn {
    const char *agent, *conversation;
    const char *source;    /* the instance whose message started it, or another source */
    const char *instances; /* further instances named by the client: names, separated by newlines */
};

/* Whether the instance receives the turn: its agents and conversations admit the turn, and it sees
 * all turns, or the turn is its own, or the turn names the instance. Requests that rules send to
 * the instance are independent of this. */
bool conf_scope_admits(const struct conf_instance *inst, const struct conf_scope_turn *t);
/* Appends the names of the second list (or NULL) that are missing in the first; both as in
 * conf_scope_turn.instances. */
void conf_scope_add_names(struct buf *names, const char *more);
/* Whether the first list (or NULL) contains all names of the second (or NULL). */
bool conf_scope_has_names(const char *names, const char *wanted);
/* Whether the instance receives only its own turns: the default for an instance that may submit. */
bool conf_scope_is_own(const struct conf_instance *inst);
/* Whether the configuration can have turns that the scope admits. */
bool conf_scope_admits_any(const struct conf *c, const struct conf_instance *inst);
/* Appends "own turns" or "all turns", and the agents and conversations. */
void conf_scope_describe(const struct conf_instance *inst, struct buf *out);

#endif
