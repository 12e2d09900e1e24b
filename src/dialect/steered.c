/* SPDX-License-Identifier: MIT
 * Owns the order of these ids. */
#include "dialect/steered.h"

#include <string.h>

bool steered_add(struct steered *s, const char *id)
{
    if (s->n == DIALECT_STEERED || strlen(id) >= DIALECT_STEER_ID)
        return false;
    strcpy(s->all[s->n].id, id);
    s->all[s->n++].taken = false;
    return true;
}

static void drop(struct steered *s, size_t i)
{
    s->n--;
    memmove(&s->all[i], &s->all[i + 1], (s->n - i) * sizeof s->all[0]);
}

void steered_settle(struct steered *s, struct str id, bool taken)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->all[i].taken || (id.len && !str_is(id, s->all[i].id)))
            continue;
        s->all[i].taken = taken;
        if (!taken)
            drop(s, i);
        return;
    }
}

bool steered_next(struct steered *s, char id[DIALECT_STEER_ID])
{
    for (size_t i = 0; i < s->n; i++)
        if (s->all[i].taken) {
            memcpy(id, s->all[i].id, DIALECT_STEER_ID);
            drop(s, i);
            return true;
        }
    return false;
}
