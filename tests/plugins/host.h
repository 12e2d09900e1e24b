/* SPDX-License-Identifier: MIT
 * A host of one plugin for tests: the real .so, its options, one turn at a time, its log kept. */
#ifndef TESTS_PLUGINS_HOST_H
#define TESTS_PLUGINS_HOST_H

struct plugin_host;

/* Loads the module from the build tree and fills its options from "key", "value", …, NULL; bails
 * when that fails. */
struct plugin_host *plugin_host_new(const char *plugin, const char *const *options);
/* The plugin's init. */
int plugin_host_init(struct plugin_host *h);
/* Delivers a canonical event, "narration" with payload {"text":"…"}…: the typed callback, then
 * on_event; returns what they returned, or'ed. A turn begins by itself and ends with done. */
int plugin_host_send(struct plugin_host *h, const char *kind, const char *payload);
/* The same with the time, in unix seconds, that later events carry too. */
void plugin_host_set_time(struct plugin_host *h, double ts);
/* Other members of meta that later events carry. */
void plugin_host_set_meta(struct plugin_host *h, const char *parent_id, int hidden);
int plugin_host_idle(struct plugin_host *h);
/* What the plugin logged so far, a line each. */
const char *plugin_host_log(const struct plugin_host *h);
/* Teardown, and frees all. */
void plugin_host_free(struct plugin_host *h);

#endif
