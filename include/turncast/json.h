/* SPDX-License-Identifier: MIT
 * Accessors for members of JSON objects, for a plugin that reads JSON with libjansson. Since API
 * 1.6; the functions are compiled into the plugin, and run on every host. */
#ifndef TURNCAST_JSON_H
#define TURNCAST_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <turncast/plugin.h>

/* Returns a member that is a string, or NULL. */
static inline const char *tc_member_text(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

/* Returns a member that is an integer, or 0. */
static inline int64_t tc_member_number(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

/* Returns a member of any type as JSON text, valid until the callback returns; or NULL. */
static inline const char *tc_member_json(struct tc_turn *turn, const json_t *object,
                                         const char *name)
{
    json_t *const member = json_object_get(object, name);
    return member ? tc_json(turn, "O", member) : NULL;
}

/* Returns whether a member is this string. */
static inline bool tc_member_is(const json_t *object, const char *name, const char *word)
{
    const char *const text = tc_member_text(object, name);
    return text && strcmp(text, word) == 0;
}

#endif
