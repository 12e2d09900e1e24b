/* SPDX-License-Identifier: MIT
 * Which turns an instance is told of: the rules, from its keys turns, agents and conversations.
 * Pure. */
#ifndef CONF_CONF_SCOPE_H
#define CONF_CONF_SCOPE_H

#include "conf/conf.h"

/* What of a turn counts; each may be NULL. */
struct conf_scope_turn {
    const char *agent, *conversation;
    const char *source;    /* the instance whose message began it, or any other */
    const char *instances; /* those that whoever began it wants to be told of it, too: names, a
                              newline between two */
};

/* The instance is told of the turn: its agents and conversations admit it; and it sees all turns,
 * or the turn is its own, or names it. What the agent asks for at the instance is none of this. */
bool conf_scope_admits(const struct conf_instance *inst, const struct conf_scope_turn *t);
/* Appends those names of the second list (or NULL) that the first one lacks; both as in
 * conf_scope_turn.instances. */
void conf_scope_add_names(struct buf *names, const char *more);
/* The first list (or NULL) has all names of the second (or NULL). */
bool conf_scope_has_names(const char *names, const char *wanted);
/* It sees its own turns only. Not said, that is so of an instance that may submit. */
bool conf_scope_is_own(const struct conf_instance *inst);
/* The configuration has turns that its agents and conversations admit, and that are its own if it
 * sees no others. */
bool conf_scope_admits_any(const struct conf *c, const struct conf_instance *inst);
/* Appends "own turns" or "all turns", and of which agents and conversations. */
void conf_scope_describe(const struct conf_instance *inst, struct buf *out);

#endif
