/* SPDX-License-Identifier: MIT
 * Options that every chat connector has. They are added to the option table of the plugin, so that
 * `turncast check`, `doctor` and `plugins` treat them like the options of the plugin. */
#ifndef CHAT_CHAT_OPTIONS_H
#define CHAT_CHAT_OPTIONS_H

#include <turncast/plugin.h>

#include "base/arena.h"

enum chat_overflow { CHAT_OVERFLOW_SPLIT, CHAT_OVERFLOW_FILE, CHAT_OVERFLOW_TRIM };
enum chat_after { CHAT_AFTER_DELETE, CHAT_AFTER_SUMMARY, CHAT_AFTER_KEEP };

/* Options of an instance as the engine uses them. */
struct chat_options {
    bool finalize_edit, drops_doubts, progress, thinking, footer, retry;
    enum chat_overflow overflow;
    enum chat_after after;
    size_t max_parts;
    int64_t progress_after_ms, refusals_max;
};

/* Returns the description of a chat plugin with the common options and rules after its own; if the
 * plugin has an option with the same key, that option is kept. The tables are in the arena. The
 * description of a plugin without chat is returned unchanged. */
struct tc_plugin chat_options_extend(const struct tc_plugin *plugin, struct arena *arena);
/* Returns a description of an error in the chat table of a plugin; NULL: none. */
const char *chat_options_find_fault(const struct tc_plugin *plugin, const struct tc_chat *chat);
/* Reads the common options of a conf struct that was filled by the extended tables. */
struct chat_options chat_options_read(const struct tc_plugin *extended, const void *conf);

#endif
