/* SPDX-License-Identifier: MIT
 * What a reply of the service means, by the table of the connector. Pure. */
#ifndef CHAT_OPERATION_CHAT_RESULT_H
#define CHAT_OPERATION_CHAT_RESULT_H

#include <turncast/plugin.h>

#include "base/arena.h"

struct chat_result {
    struct tc_result result; /* strings in the arena */
    /* IN_DOUBT: the service, or a proxy before it, has answered completely (a 5xx, or a 2xx
     * that does not confirm the operation). Else the reply was lost. */
    bool answered;
};

/* Classifies a reply about an operation of that kind; not for outcome TC_DROPPED. */
struct chat_result chat_result_read(const struct tc_reply_map *map, enum tc_op_kind kind,
                                    const struct tc_reply *reply, struct arena *arena);
/* Of a refusal: rules are also searched for texts in what is at the JSON pointer (NULL: none). */
void chat_result_add_details(struct chat_result *r, const struct tc_reply_map *map,
                             const char *pointer, const struct tc_reply *reply,
                             struct arena *arena);
/* Of a refusal: the words at the JSON pointer (NULL: none) stand behind the code in the reason. */
void chat_result_add_words(struct chat_result *r, const char *pointer, const struct tc_reply *reply,
                           struct arena *arena);

#endif
