/* SPDX-License-Identifier: MIT
 * Agent, model and working directory of each conversation: the choice of people, stored in the
 * journal; otherwise the binding of the configuration; otherwise the instance's setting. A choice
 * that is no longer in the configured list is ignored. Loop thread only. */
#ifndef CORE_SETTINGS_BINDINGS_H
#define CORE_SETTINGS_BINDINGS_H

#include "conf/conf.h"
#include "core/shared/shared_settings.h"
#include "io/journal/journal_async.h"

struct bindings;

enum bindings_kind { BINDING_AGENT, BINDING_MODEL, BINDING_CWD };
#define BINDINGS_KINDS 3

/* Reads stored choices; call it at the start. Borrows the journal. */
struct bindings *bindings_new(struct journal_async *journal);
void bindings_free(struct bindings *b); /* NULL is allowed */

/* Shares choices with all hosts. Call it while the host starts. */
void bindings_join(struct bindings *b, struct shared_settings *shared);

/* The agent of the conversation with that key. NULL: the instance has no agent (any more). `b`
 * NULL: no choices. Borrowed from the configuration. */
const struct conf_agent *bindings_find_agent(const struct bindings *b, const struct conf *conf,
                                             const struct conf_instance *inst, const char *key);
/* Sets a person's choice; value NULL: resets it. -1: too many choices. */
int bindings_set(struct bindings *b, const char *key, enum bindings_kind kind, const char *value);

#endif
