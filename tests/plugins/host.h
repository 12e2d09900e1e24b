/* SPDX-License-Identifier: MIT
 * A host of one plugin for tests: loads the real .so, sets its options, runs one turn at a time,
 * and keeps its log. */
#ifndef TESTS_PLUGINS_HOST_H
#define TESTS_PLUGINS_HOST_H

struct plugin_host;

/* Loads the module from the build tree and sets its options from "key", "value", …, NULL; bails out
 * on errors. */
struct plugin_host *plugin_host_new(const char *plugin, const char *const *options);
/* Calls init of the plugin. */
int plugin_host_init(struct plugin_host *h);
/* Delivers a canonical event, for example "narration" with payload {"text":"…"}, to the typed
 * callback, then to on_event. Returns their results, combined by or. The first event begins a turn,
 * and done ends it. */
int plugin_host_send(struct plugin_host *h, const char *kind, const char *payload);
/* Sets the time of later events, in Unix seconds. */
void plugin_host_set_time(struct plugin_host *h, double ts);
/* Sets other members of meta in later events. */
void plugin_host_set_meta(struct plugin_host *h, const char *parent_id, int hidden);
int plugin_host_idle(struct plugin_host *h);
/* Returns the log of the plugin, one message per line. */
const char *plugin_host_log(const struct plugin_host *h);
/* Calls teardown of the plugin, and frees all. */
void plugin_host_free(struct plugin_host *h);

#endif
