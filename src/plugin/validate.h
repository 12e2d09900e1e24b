/* SPDX-License-Identifier: MIT
 * What a plugin may say: sizes, UTF-8, ranges. Asked where it calls a service, and again where it
 * comes from another process, which may say anything. Pure. */
#ifndef PLUGIN_VALIDATE_H
#define PLUGIN_VALIDATE_H

#include <stdbool.h>

#include <turncast/plugin.h>

#include "base/str.h"

#define VALIDATE_ANSWER_MAX ((size_t)1 << 20)
#define VALIDATE_MEMORY_MAX ((size_t)4 << 10) /* of what a turn remembers */
#define VALIDATE_INSTANCES_MAX ((size_t)100)  /* that a message names */
#define VALIDATE_REASON_MAX ((size_t)512)     /* of a verdict */

/* Not longer than max, and UTF-8. NULL is none. */
bool validate_is_text(const char *text, size_t max);
/* The same of what names a person, a chat, a turn: it has to be there. */
bool validate_id(const char *text);
/* The path of a route. */
bool validate_path(const char *path);
/* A frame for a socket. */
bool validate_socket_message(struct str message, bool is_binary);
/* Each: what is wrong with it, or NULL. */
const char *validate_inbound(const struct tc_inbound *in);
const char *validate_decision(const struct tc_decision *d);
const char *validate_headers(const struct tc_header *headers, size_t count);
const char *validate_socket(const struct tc_socket *s);
const char *validate_secret(const char *name, const char *value); /* value NULL is fine */
const char *validate_stored(const char *key, const char *text);   /* text NULL is fine */
const char *validate_answer(const struct tc_answer *a);

#endif
