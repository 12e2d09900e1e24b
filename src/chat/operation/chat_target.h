/* SPDX-License-Identifier: MIT
 * Target of a turn (the place where it is shown) as the JSON that the host stores as its route.
 * Pure. */
#ifndef CHAT_OPERATION_CHAT_TARGET_H
#define CHAT_OPERATION_CHAT_TARGET_H

#include <jansson.h>
#include <turncast/plugin.h>

/* Returns an object with the members that are set; owned by the caller. */
json_t *chat_target_to_json(const struct tc_target *t);
/* Strings are borrowed from `json`. Without a chat the result is all-zero. */
struct tc_target chat_target_from_json(const json_t *json);
/* Returns the text of the member, or NULL. */
const char *chat_json_text(const json_t *object, const char *key);
/* Returns the number of the member, or 0. */
int64_t chat_json_int(const json_t *object, const char *key);
bool chat_json_true(const json_t *object, const char *key);
/* Sets the member unless the text is NULL. */
void chat_json_set_text(json_t *object, const char *key, const char *text);

#endif
