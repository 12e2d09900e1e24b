/* SPDX-License-Identifier: MIT
 * Structs of the plugin API whose first member, a size_t, contains their size. */
#ifndef BASE_VERSIONED_H
#define BASE_VERSIONED_H

#include <stddef.h>
#include <string.h>

/* Copies a struct to one of `size` bytes. A plugin built for an older header has fewer members, one
 * built for a later header more; missing members are 0. given NULL: all are 0. */
static inline void versioned_copy(void *to, size_t size, const void *given)
{
    size_t known = 0;
    if (given)
        memcpy(&known, given, sizeof known);
    memset(to, 0, size);
    if (given)
        memcpy(to, given, known < size ? known : size);
}

#endif
