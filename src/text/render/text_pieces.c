/* SPDX-License-Identifier: MIT
 * Renders Markdown piece by piece. */
#include "text/render/text_pieces.h"

#include "event/json/json_writer.h"
#include "text/markdown/markdown.h"
#include "text/render/split.h"

static const enum render_form render_forms[] = {
    [TC_PLAIN] = RENDER_PLAIN,           [TC_TELEGRAM] = RENDER_TELEGRAM,
    [TC_MRKDWN] = RENDER_MRKDWN,         [TC_MARKDOWN] = RENDER_MARKDOWN,
    [TC_COMMONMARK] = RENDER_COMMONMARK, [TC_HTML] = RENDER_HTML,
    [TC_TERMINAL] = RENDER_TERMINAL,
};
#define FORM_COUNT (sizeof render_forms / sizeof *render_forms)

static const enum render_unit render_units[] = {
    [TC_UNIT_UTF16] = RENDER_UTF16,
    [TC_UNIT_CODEPOINTS] = RENDER_CODEPOINTS,
    [TC_UNIT_BYTES] = RENDER_BYTES,
};
#define UNIT_COUNT (sizeof render_units / sizeof *render_units)

const char *text_pieces_find_fault(const struct tc_text *text)
{
    if ((size_t)text->form >= FORM_COUNT)
        return "unknown form";
    if ((size_t)text->unit >= UNIT_COUNT)
        return "unknown unit";
    return text->markdown || !text->len ? NULL : "the text is NULL";
}

static struct doc text_pieces_parse(struct arena *arena, const struct tc_text *text)
{
    const struct str source = {text->markdown, text->len};
    if (text->flags & TC_VERBATIM)
        return markdown_make_plain(arena, source);
    return text->flags & TC_FOLDED ? markdown_parse_folded(arena, source)
                                   : markdown_parse(arena, source);
}

static void write_entity(struct buf *out, const struct render_entity *e)
{
    buf_add_str(out, out->len > 1 ? ",{" : "{");
    jsonw_member_str(out, "type", render_kind_name(e->kind));
    jsonw_member_int(out, "offset", (int64_t)e->offset);
    jsonw_member_int(out, "length", (int64_t)e->length);
    if (e->value && *e->value)
        jsonw_member_str(out, e->kind == RENDER_LINK ? "url" : "language", e->value);
    buf_add_str(out, "}");
}

static const char *entities_json(struct arena *arena, const struct render_output *r)
{
    CLEANUP_BUF struct buf out = {0};
    buf_add_str(&out, "[");
    for (size_t i = 0; i < r->count; i++)
        write_entity(&out, &r->entities[i]);
    buf_add_str(&out, "]");
    return arena_strndup(arena, out.p, out.len);
}

static struct render_target text_pieces_target(const struct tc_text *text)
{
    return (struct render_target){
        .form = render_forms[text->form],
        .budget = {.units = text->units,
                   .bytes = text->bytes,
                   .entities = text->entities,
                   .unit = render_units[text->unit]},
        .no_tables = text->flags & TC_NO_TABLES,
        .no_headings = text->flags & TC_NO_HEADINGS,
        .fold_quotes = text->flags & TC_FOLD_QUOTES,
        .columns = text->columns,
        .styled = text->flags & TC_STYLED,
        .links = text->flags & TC_LINKED,
    };
}

/* False: nothing in it is visible. */
static bool render_piece(struct arena *arena, const struct doc *doc, struct doc_range range,
                         const struct render_target *target, bool wants_plain,
                         struct text_piece *piece)
{
    const struct render_target plain = {.form = RENDER_PLAIN};
    const bool is_plain = target->form == RENDER_PLAIN || target->form == RENDER_TELEGRAM;
    struct render_output r = {0};
    render_doc(&r, doc, range, target);
    const bool seen = r.text.len > 0;
    if (seen) {
        *piece = (struct text_piece){
            .text = arena_strndup(arena, r.text.p, r.text.len),
            .len = r.text.len,
            .entities = target->form == RENDER_TELEGRAM ? entities_json(arena, &r) : NULL,
        };
        piece->plain = is_plain ? piece->text : NULL;
    }
    if (seen && wants_plain && !is_plain) {
        render_doc(&r, doc, range, &plain);
        piece->plain = arena_strndup(arena, r.text.p ? r.text.p : "", r.text.len);
    }
    rendered_fini(&r);
    return seen;
}

const struct text_piece *text_pieces_render(struct arena *arena, const struct tc_text *text,
                                            size_t most, bool wants_plain, size_t *count)
{
    const struct render_target target = text_pieces_target(text);
    const struct doc doc = text_pieces_parse(arena, text);
    const struct split split = split_doc(arena, &doc, &target);
    struct text_piece *const pieces = arena_alloc(arena, (split.count + 1) * sizeof *pieces);
    size_t n = 0;
    for (size_t i = 0; i < split.count && (!most || n < most); i++)
        n += render_piece(arena, &doc, split.pieces[i], &target, wants_plain, &pieces[n]);
    *count = n;
    return n ? pieces : NULL;
}
