/* SPDX-License-Identifier: MIT
 * Input side of Claude Code over its standard input. */
#ifndef DIALECT_CLAUDE_INPUT_CLAUDE_INPUT_H
#define DIALECT_CLAUDE_INPUT_CLAUDE_INPUT_H

#include "dialect/dialect.h"

extern const struct dialect_input claude_input;

#endif
