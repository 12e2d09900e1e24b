/* SPDX-License-Identifier: MIT
 * Text that grows in memory of the turn: see text_add. */
#ifndef SLACK_GROW_H
#define SLACK_GROW_H

#include <stddef.h>

struct text {
    char *p;
    size_t len, cap;
};

#endif
