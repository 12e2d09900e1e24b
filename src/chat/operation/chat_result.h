/* SPDX-License-Identifier: MIT
 * Classifies replies of the service by the table of the connector. Pure. */
#ifndef CHAT_OPERATION_CHAT_RESULT_H
#define CHAT_OPERATION_CHAT_RESULT_H

#include <turncast/plugin.h>

#include "base/arena.h"

struct chat_result {
    struct tc_result result; /* strings in the arena */
    /* IN_DOUBT: true: the service or a proxy sent a complete response (a 5xx, or a 2xx that does
     * not confirm the operation); false: the reply was lost. */
    bool answered;
};

/* Classifies the reply to an operation of that kind; not for outcome TC_DROPPED. */
struct chat_result chat_result_read(const struct tc_reply_map *map, enum tc_op_kind kind,
                                    const struct tc_reply *reply, struct arena *arena);
/* For a refusal: also searches for the texts of rules in the value at the JSON pointer (NULL:
 * none). */
void chat_result_add_details(struct chat_result *r, const struct tc_reply_map *map,
                             const char *pointer, const struct tc_reply *reply,
                             struct arena *arena);
/* For a refusal: appends the text at the JSON pointer (NULL: none) to the code in the reason. */
void chat_result_add_words(struct chat_result *r, const char *pointer, const struct tc_reply *reply,
                           struct arena *arena);

#endif
