/* SPDX-License-Identifier: MIT
 * Agent, model and working directory of each conversation: what people chose there, kept in the
 * journal; else what the configuration binds to it; else the instance's own. A choice that the
 * configuration does not list any more does not count. Loop thread only. */
#ifndef CORE_SETTINGS_BINDINGS_H
#define CORE_SETTINGS_BINDINGS_H

#include "conf/conf.h"
#include "core/shared/shared_settings.h"
#include "io/journal/journal_async.h"

struct bindings;

enum bindings_kind { BINDING_AGENT, BINDING_MODEL, BINDING_CWD };
#define BINDINGS_KINDS 3

/* Reads what was chosen, so at the start. Borrows the journal. */
struct bindings *bindings_new(struct journal_async *journal);
void bindings_free(struct bindings *b); /* NULL is fine */

/* What is chosen holds on all hosts from now on. While the host starts. */
void bindings_join(struct bindings *b, struct shared_settings *shared);

/* The agent of the conversation with that key. NULL: the instance has no agent (any more). `b`
 * NULL: nobody can choose. Borrowed from the configuration. */
const struct conf_agent *bindings_find_agent(const struct bindings *b, const struct conf *conf,
                                             const struct conf_instance *inst, const char *key);
/* A choice of a person, from now on; value NULL: none. -1: there are too many of them. */
int bindings_set(struct bindings *b, const char *key, enum bindings_kind kind, const char *value);

#endif
