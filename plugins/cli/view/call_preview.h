/* SPDX-License-Identifier: MIT
 * Short description of a tool call: its main argument and its duration. Pure. */
#ifndef CLI_PREVIEW_H
#define CLI_PREVIEW_H

#include <stddef.h>

#define PREVIEW_CHARS 80
#define PREVIEW_SIZE (PREVIEW_CHARS * 4 + 4) /* including the ellipsis and the NUL */

/* The most informative argument (a command, a path, a pattern…), otherwise the first scalar that is
 * not empty, otherwise the whole object; newlines become spaces; cut to 80 characters with an
 * ellipsis. The text is from the agent, and not safe for a terminal yet. `args` is a JSON
 * object. */
void preview_args(char out[PREVIEW_SIZE], const char *tool, const char *args, size_t len);
/* The most informative part of a tool's name: of mcp__server__tool the last. */
const char *preview_name(const char *tool);
/* 850ms, 1.2s, 2m05s; negative: "?". */
void preview_elapsed(char out[32], double ms);

#endif
