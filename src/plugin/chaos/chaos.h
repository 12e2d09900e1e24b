/* SPDX-License-Identifier: MIT
 * Things that go wrong in an instance because its configuration says so: for tests of the host
 * with any plugin. The decision is pure; what is decided is done by chaos_inject_fault. Instance's
 * thread. */
#ifndef PLUGIN_CHAOS_CHAOS_H
#define PLUGIN_CHAOS_CHAOS_H

#include "base/str.h"
#include "conf/conf.h"

struct chaos;

/* NULL without rules. Keeps nothing of them. */
struct chaos *chaos_new(const struct conf_chaos *rules);
/* NULL is fine. */
void chaos_free(struct chaos *c);
/* The rule that a callback is to suffer now, or NULL: the first of those whose time it is. Each
 * rule counts what it is about, so another order of callbacks decides otherwise. `line`: of the
 * event, empty where there is none. `is_there`: whether a file is. */
const struct conf_chaos *chaos_select_fault(struct chaos *c, const char *callback, struct str line,
                                            bool (*is_there)(const char *path));
/* A number of the sequence that the seed of the first rule gives. */
uint64_t chaos_next_random(struct chaos *c);

/* chaos_inject.c: asks the file system. */
bool chaos_file_exists(const char *path);
/* Does what is to be done before the callback; does not return from some. CHAOS_ERROR is the
 * caller's. */
void chaos_inject_fault(struct chaos *c, const struct conf_chaos *rule);

#endif
