/* SPDX-License-Identifier: MIT
 * Markdown as messages of a service, and the Markdown that the host writes itself. Pure. */
#ifndef CHAT_SHOW_CHAT_TEXT_H
#define CHAT_SHOW_CHAT_TEXT_H

#include <turncast/plugin.h>

#include "base/arena.h"
#include "base/bytes/buf.h"
#include "text/render/text_pieces.h"

/* Options of rendering. */
struct chat_text_options {
    uint32_t flags;   /* flags of tc_text, added to those of the service */
    size_t divide_by; /* the limits of the service are divided by this number; 0: 1 */
    bool first_only;
};

/* Returns pieces in the arena, within the limits of the role; *count is their number. NULL: the
 * text has no visible character. */
const struct text_piece *chat_text_render(struct arena *arena, const struct tc_chat *table,
                                          enum tc_role role, const char *markdown, size_t len,
                                          const struct chat_text_options *options, size_t *count);

/* Appends text as Markdown that shows exactly this text, on one line. */
void chat_text_escape(struct buf *out, const char *text);
/* Appends text as inline code, at most `cap` bytes of it, cut between characters. */
void chat_text_add_code(struct buf *out, const char *text, size_t cap);
/* Appends text as a code block; nothing in the text can end the block. */
void chat_text_add_block(struct buf *out, const char *text, size_t len);
/* "42s", "3m 05s", "1h 02m". */
void chat_text_add_time(struct buf *out, int64_t ms);

#endif
