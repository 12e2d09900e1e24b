/* SPDX-License-Identifier: MIT
 * Members of JSON objects, for a plugin that reads JSON with libjansson. Since API 1.6; the
 * functions are compiled into the plugin, and run on every host. */
#ifndef TURNCAST_JSON_H
#define TURNCAST_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <turncast/plugin.h>

/* A member that is a string; NULL: there is none. */
static inline const char *tc_member_text(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

/* A member that is an integer; 0: there is none. */
static inline int64_t tc_member_number(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

/* A member of any type as JSON text, until the callback ends; NULL: there is none. */
static inline const char *tc_member_json(struct tc_turn *turn, const json_t *object,
                                         const char *name)
{
    json_t *const member = json_object_get(object, name);
    return member ? tc_json(turn, "O", member) : NULL;
}

/* Whether a member is this string. */
static inline bool tc_member_is(const json_t *object, const char *name, const char *word)
{
    const char *const text = tc_member_text(object, name);
    return text && strcmp(text, word) == 0;
}

#endif
