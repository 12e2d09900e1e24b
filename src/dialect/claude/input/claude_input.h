/* SPDX-License-Identifier: MIT
 * What Claude Code is told over its standard input. */
#ifndef DIALECT_CLAUDE_INPUT_CLAUDE_INPUT_H
#define DIALECT_CLAUDE_INPUT_CLAUDE_INPUT_H

#include "dialect/dialect.h"

extern const struct dialect_input claude_input;

#endif
