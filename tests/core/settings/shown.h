/* SPDX-License-Identifier: MIT
 * Switches as text: "00111" in the order of the keys. */
#ifndef TESTS_CORE_SETTINGS_SHOWN_H
#define TESTS_CORE_SETTINGS_SHOWN_H

#include "turn/visibility/visibility.h"

/* '-': not set. Static. */
static inline const char *show_of(struct visibility v)
{
    static char out[VISIBILITY_KEYS + 1];
    for (size_t i = 0; i < VISIBILITY_KEYS; i++)
        out[i] = "-01"[*visibility_switch_at(&v, i) + 1];
    return out;
}

static inline struct visibility shown(const char *bits)
{
    struct visibility v;
    for (size_t i = 0; i < VISIBILITY_KEYS; i++)
        *visibility_switch_at(&v, i) = bits[i] == '1' ? SHOW_ON : SHOW_OFF;
    return v;
}

#endif
