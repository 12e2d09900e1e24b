/* SPDX-License-Identifier: MIT
 * Fault injection into an instance according to its configuration, for tests of the host with any
 * plugin. Choosing a fault is pure; chaos_inject_fault executes it. Instance's thread. */
#ifndef PLUGIN_CHAOS_CHAOS_H
#define PLUGIN_CHAOS_CHAOS_H

#include "base/str.h"
#include "conf/conf.h"

struct chaos;

/* NULL without rules. Copies them. */
struct chaos *chaos_new(const struct conf_chaos *rules);
/* NULL is allowed. */
void chaos_free(struct chaos *c);
/* The rule that applies to this callback, or NULL: the first one that is due. Each rule counts its
 * callbacks, so the result depends on their order. `line`: of the event, empty if there is none.
 * `is_there`: whether a file exists. */
const struct conf_chaos *chaos_select_fault(struct chaos *c, const char *callback, struct str line,
                                            bool (*is_there)(const char *path));
/* A number of the random sequence seeded by the first rule. */
uint64_t chaos_next_random(struct chaos *c);

/* chaos_inject.c: whether the file exists. */
bool chaos_file_exists(const char *path);
/* Executes the fault before the callback; does not return from some. The caller handles
 * CHAOS_ERROR. */
void chaos_inject_fault(struct chaos *c, const struct conf_chaos *rule);

#endif
