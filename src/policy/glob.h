/* SPDX-License-Identifier: MIT
 * Globs: * is any run of bytes but `sep`, ** of any bytes, ? one byte but `sep`; nothing else is
 * special. Pure. */
#ifndef POLICY_GLOB_H
#define POLICY_GLOB_H

#include <stdbool.h>

#include "base/str.h"

#define GLOB_NO_SEP (-1)

/* The whole text fits the pattern. */
bool glob_match(struct str pattern, struct str text, int sep);

#endif
