/* SPDX-License-Identifier: MIT
 * Text services: Markdown rendering and splitting, cutting, and sentences of the host. */
#include "base/bytes/buf.h"
#include "base/bytes/utf8.h"
#include "base/versioned.h"
#include "plugin/instance/services_internal.h"
#include "text/markdown/markdown.h"
#include "text/render/text_pieces.h"
#include "text/sentence/texts.h"

#define TEXT_MIN offsetof(struct tc_text, unit) /* size for a plugin built for 1.0 to 1.4 */

/* NULL, or the error. */
static const char *services_text_read(struct tc_text *text, const struct tc_text *given)
{
    if (!given || given->size < TEXT_MIN)
        return "the text is NULL";
    versioned_copy(text, sizeof *text, given);
    return text_pieces_find_fault(text);
}

const struct tc_piece *service_pieces(struct tc_turn *turn, const struct tc_text *given,
                                      size_t *count)
{
    size_t ignored;
    size_t *const n = count ? count : &ignored;
    *n = 0;
    struct arena *const arena = services_get_scratch(turn, 0, "tc_pieces");
    if (!arena)
        return NULL;
    struct tc_text text;
    const char *const fault = services_text_read(&text, given);
    if (fault) {
        services_refuse(instance_check(turn->inst), "tc_pieces", fault);
        return NULL;
    }
    const struct text_piece *const rendered = text_pieces_render(arena, &text, 0, false, n);
    struct tc_piece *const pieces = arena_alloc(arena, (*n + 1) * sizeof *pieces);
    for (size_t i = 0; i < *n; i++)
        pieces[i] = (struct tc_piece){rendered[i].text, rendered[i].len, rendered[i].entities};
    return *n ? pieces : NULL;
}

size_t service_settled(struct tc_turn *turn, const char *text, size_t len)
{
    if (!services_get_scratch(turn, 0, "tc_settled") || !text)
        return 0;
    return markdown_stable_length((struct str){text, len});
}

char *service_say(struct tc_turn *turn, const char *english, const char *value)
{
    struct arena *const arena = services_get_scratch(turn, 0, "tc_say");
    CLEANUP_BUF struct buf text = {0};
    if (!arena || !english)
        return NULL;
    texts_append_english(&text, english, value);
    return arena_strdup(arena, text.p ? text.p : "");
}

char *service_cut(struct tc_turn *turn, const char *text, size_t bytes)
{
    const size_t len = text ? strlen(text) : 0;
    struct arena *const arena = services_get_scratch(turn, len, "tc_cut");
    return arena && text ? arena_strndup(arena, text, utf8_truncated_len(text, len, bytes)) : NULL;
}

char *service_fit(struct tc_turn *turn, const char *text, size_t characters)
{
    const size_t len = text ? strlen(text) : 0;
    struct arena *const arena = services_get_scratch(turn, len, "tc_fit");
    size_t end = 0, last = 0;
    for (size_t n = 0; end < len && n < characters; n++) {
        last = end;
        end = utf8_next_start(text, len, end + 1);
    }
    if (!arena || !text)
        return NULL;
    return len && end == len ? arena_strdup(arena, text)
                             : arena_sprintf(arena, "%.*s…", (int)last, text);
}
