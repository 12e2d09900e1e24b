/* SPDX-License-Identifier: MIT
 * Glob matching: `*` any bytes but the separator, `**` any bytes, `?` one byte. Pure. */
#ifndef POLICY_GLOB_H
#define POLICY_GLOB_H

#include <stdbool.h>

#include "base/str.h"

#define GLOB_NO_SEP (-1)

/* Whether the whole text matches the pattern. */
bool glob_match(struct str pattern, struct str text, int sep);

#endif
