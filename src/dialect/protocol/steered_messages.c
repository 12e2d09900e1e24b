/* SPDX-License-Identifier: MIT
 * Ordered list of message ids. */
#include "dialect/protocol/steered_messages.h"

#include <string.h>

bool steered_messages_add(struct steered *s, const char *id)
{
    if (s->n == DIALECT_STEERED || strlen(id) >= DIALECT_STEER_ID)
        return false;
    strcpy(s->all[s->n].id, id);
    s->all[s->n++].settled = DIALECT_UNSETTLED;
    return true;
}

bool steered_messages_waits(const struct steered *s, const char *id)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->all[i].settled == DIALECT_UNSETTLED && strcmp(s->all[i].id, id) == 0)
            return true;
    return false;
}

void steered_messages_settle(struct steered *s, struct str id, enum dialect_settled how)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->all[i].settled == DIALECT_UNSETTLED && (!id.len || str_is(id, s->all[i].id))) {
            s->all[i].settled = how;
            return;
        }
}

enum dialect_settled steered_messages_next(struct steered *s, char id[DIALECT_STEER_ID])
{
    for (size_t i = 0; i < s->n; i++) {
        const enum dialect_settled how = s->all[i].settled;
        if (how == DIALECT_UNSETTLED)
            continue;
        memcpy(id, s->all[i].id, DIALECT_STEER_ID);
        s->n--;
        memmove(&s->all[i], &s->all[i + 1], (s->n - i) * sizeof s->all[0]);
        return how;
    }
    return DIALECT_UNSETTLED;
}
