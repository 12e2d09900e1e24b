/* SPDX-License-Identifier: MIT
 * A host of one plugin for tests: the real .so, its options, one turn at a time, its log kept. */
#ifndef TESTS_PLUGINS_HOST_H
#define TESTS_PLUGINS_HOST_H

#include <stddef.h>

struct host;

/* Loads the module from the build tree and fills its options from "key", "value", …, NULL; bails
 * when that fails. */
struct host *host_new(const char *plugin, const char *const *options);
/* The plugin's init. */
int host_init(struct host *h);
/* Delivers a canonical event, "narration" with payload {"text":"…"}…: the typed callback, then
 * on_event; returns what they returned, or'ed. A turn begins by itself and ends with done. */
int host_send(struct host *h, const char *kind, const char *payload);
/* The same with the time, in unix seconds, that later events carry too. */
void host_set_time(struct host *h, double ts);
/* Other members of meta that later events carry. */
void host_set_meta(struct host *h, const char *parent_id, int hidden);
int host_idle(struct host *h);
/* What the plugin logged so far, a line each. */
const char *host_log(const struct host *h);
/* Teardown, and frees all. */
void host_free(struct host *h);

#endif
