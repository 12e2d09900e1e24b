/* SPDX-License-Identifier: MIT
 * Validates values from a plugin: sizes, UTF-8, ranges. Called when the plugin calls a service, and
 * again for values from another process, which is not trusted. Pure. */
#ifndef PLUGIN_VALIDATE_H
#define PLUGIN_VALIDATE_H

#include <stdbool.h>

#include <turncast/plugin.h>

#include "base/str.h"

#define VALIDATE_ANSWER_MAX ((size_t)1 << 20)
#define VALIDATE_MEMORY_MAX ((size_t)4 << 10) /* limit of a turn's memory */
#define VALIDATE_INSTANCES_MAX ((size_t)100)  /* limit of named instances */
#define VALIDATE_REASON_MAX ((size_t)512)     /* limit of a verdict's reason */

/* Whether the text has at most max bytes, and is UTF-8. NULL is valid. */
bool validate_is_text(const char *text, size_t max);
/* Checks the id of a person, a chat or a turn, which must be present. */
bool validate_id(const char *text);
/* Whether the path of a route is valid. */
bool validate_path(const char *path);
/* Whether a frame for a socket is valid. */
bool validate_socket_message(struct str message, bool is_binary);
/* Each returns an error, or NULL. */
const char *validate_inbound(const struct tc_inbound *in);
const char *validate_decision(const struct tc_decision *d);
const char *validate_headers(const struct tc_header *headers, size_t count);
const char *validate_socket(const struct tc_socket *s);
const char *validate_secret(const char *name, const char *value); /* value NULL is allowed */
const char *validate_stored(const char *key, const char *text);   /* text NULL is allowed */
const char *validate_answer(const struct tc_answer *a);

#endif
