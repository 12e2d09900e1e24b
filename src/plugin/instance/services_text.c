/* SPDX-License-Identifier: MIT
 * Markdown rendering and splitting for connectors. */
#include "event/json/json_writer.h"
#include "plugin/instance/services_internal.h"
#include "text/markdown/markdown.h"
#include "text/render/split.h"

static const enum render_form render_forms[] = {
    [TC_PLAIN] = RENDER_PLAIN,           [TC_TELEGRAM] = RENDER_TELEGRAM,
    [TC_MRKDWN] = RENDER_MRKDWN,         [TC_MARKDOWN] = RENDER_MARKDOWN,
    [TC_COMMONMARK] = RENDER_COMMONMARK, [TC_HTML] = RENDER_HTML,
};
#define FORM_COUNT (sizeof render_forms / sizeof *render_forms)

static const enum render_unit render_units[] = {
    [TC_UNIT_UTF16] = RENDER_UTF16,
    [TC_UNIT_CODEPOINTS] = RENDER_CODEPOINTS,
    [TC_UNIT_BYTES] = RENDER_BYTES,
};
#define UNIT_COUNT (sizeof render_units / sizeof *render_units)
#define TEXT_MIN offsetof(struct tc_text, unit) /* of a plugin for 1.0 to 1.4 */

static struct doc parse(struct arena *arena, const struct tc_text *text)
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

/* Those of which nothing is seen are left out. */
static size_t render_pieces(struct arena *arena, const struct doc *doc, const struct split *split,
                            const struct render_target *target, struct tc_piece *pieces)
{
    struct render_output r = {0};
    size_t n = 0;
    for (size_t i = 0; i < split->count; i++) {
        render_doc(&r, doc, split->pieces[i], target);
        if (r.text.len == 0)
            continue;
        pieces[n++] = (struct tc_piece){
            .text = arena_strndup(arena, r.text.p, r.text.len),
            .len = r.text.len,
            .entities = target->form == RENDER_TELEGRAM ? entities_json(arena, &r) : NULL,
        };
    }
    rendered_fini(&r);
    return n;
}

/* NULL, or what is wrong; members that the plugin does not know are 0. */
static const char *services_text_read(struct tc_text *text, const struct tc_text *given)
{
    if (!given || given->size < TEXT_MIN)
        return "the text is NULL";
    *text = (struct tc_text){0};
    memcpy(text, given, given->size < sizeof *text ? given->size : sizeof *text);
    if ((size_t)text->form >= FORM_COUNT)
        return "unknown form";
    if ((size_t)text->unit >= UNIT_COUNT)
        return "unknown unit";
    return text->markdown || !text->len ? NULL : "the text is NULL";
}

static struct render_target render_target_of(const struct tc_text *text)
{
    return (struct render_target){
        .form = render_forms[text->form],
        .budget = {.units = text->units,
                   .bytes = text->bytes,
                   .entities = text->entities,
                   .unit = render_units[text->unit]},
        .no_tables = text->flags & TC_NO_TABLES,
        .no_headings = text->flags & TC_NO_HEADINGS,
    };
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
    const struct render_target target = render_target_of(&text);
    const struct doc doc = parse(arena, &text);
    const struct split split = split_doc(arena, &doc, &target);
    struct tc_piece *const pieces = arena_alloc(arena, (split.count + 1) * sizeof *pieces);
    *n = render_pieces(arena, &doc, &split, &target, pieces);
    return *n ? pieces : NULL;
}

size_t service_settled(struct tc_turn *turn, const char *text, size_t len)
{
    if (!services_get_scratch(turn, 0, "tc_settled") || !text)
        return 0;
    return markdown_stable_length((struct str){text, len});
}
