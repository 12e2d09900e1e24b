/* SPDX-License-Identifier: MIT
 * Span-level callbacks of the parser, and the limits of a whole text. */
#include "text/markdown/markdown.h"

#include "base/bytes/utf8.h"
#include "text/link_url.h"
#include "text/markdown/html_entity.h"
#include "text/markdown/markdown_internal.h"
#include "text/text_clean.h"

/* An attribute with its character references decoded. */
static void attribute_text(struct buf *out, const MD_ATTRIBUTE *a)
{
    for (size_t i = 0; a->size > 0 && a->substr_offsets[i] < a->size; i++) {
        const MD_OFFSET from = a->substr_offsets[i];
        const struct str piece = {a->text + from, a->substr_offsets[i + 1] - from};
        if (a->substr_types[i] == MD_TEXT_ENTITY)
            html_entity_append_decoded(out, piece);
        else
            buf_add(out, piece.p, piece.len);
    }
}

/* NULL: none, or too long. */
static const char *link_address(struct markdown_parser *p, const MD_ATTRIBUTE *a)
{
    CLEANUP_BUF struct buf raw = {0};
    CLEANUP_BUF struct buf clean = {0};
    if (a->size == 0 || a->size > URL_MAX)
        return NULL;
    attribute_text(&raw, a);
    if (raw.p)
        link_url_append_clean(&clean, (struct str){raw.p, raw.len});
    return clean.len && clean.len <= URL_MAX ? arena_strdup(p->out.arena, clean.p) : NULL;
}

/* Appends the target of a link in a table, unless its label shows it. */
static void markdown_append_address(struct markdown_parser *p)
{
    struct buf *cells = &p->table.text;
    const struct str label = {cells->p + p->link_at, cells->len - p->link_at};
    if (p->labelled && !link_url_equals_label(p->link, label))
        buf_printf(cells, " (%s)", p->link);
}

static void markdown_end_link(struct markdown_parser *p)
{
    if (!p->labelled)
        markdown_append_str(p, p->link);
    else if (p->in_table)
        markdown_append_address(p);
    p->link = NULL;
}

void markdown_close_inlines(struct markdown_parser *p, unsigned depth)
{
    while (p->inline_depth > depth) {
        p->inline_depth--;
        if (p->link && p->link_depth == p->inline_depth)
            markdown_end_link(p);
        if (p->inlines[p->inline_depth].recorded)
            doc_builder_close(&p->out);
    }
}

/* False for a link in a link (an image), which is part of the label. */
static bool markdown_begin_link(struct markdown_parser *p, const MD_ATTRIBUTE *address)
{
    if (p->link)
        return false;
    p->link = link_address(p, address);
    p->link_depth = p->inline_depth;
    p->link_at = p->table.text.len;
    p->labelled = false;
    return p->link != NULL;
}

static const MD_ATTRIBUTE *markdown_address_of(MD_SPANTYPE type, const void *detail)
{
    if (type == MD_SPAN_A)
        return &((const MD_SPAN_A_DETAIL *)detail)->href;
    return &((const MD_SPAN_IMG_DETAIL *)detail)->src;
}

static enum doc_mark markdown_span_mark(MD_SPANTYPE type)
{
    return type == MD_SPAN_EM       ? DOC_ITALIC
           : type == MD_SPAN_STRONG ? DOC_BOLD
           : type == MD_SPAN_DEL    ? DOC_STRIKE
           : type == MD_SPAN_CODE   ? DOC_CODE
                                    : DOC_LINK;
}

/* Styles in a cell are dropped. */
static int enter_span(MD_SPANTYPE type, void *detail, void *arg)
{
    struct markdown_parser *p = arg;
    const enum doc_mark mark = markdown_span_mark(type);
    if (p->inline_depth == PARSE_INLINES_MAX)
        return markdown_count_event(p);
    const bool begun =
        mark != DOC_LINK || markdown_begin_link(p, markdown_address_of(type, detail));
    const bool recorded = begun && !p->in_table;
    p->inlines[p->inline_depth++] = (struct markdown_inline){mark, recorded};
    if (recorded)
        doc_builder_open(&p->out, mark, 0, mark == DOC_LINK ? p->link : NULL);
    return markdown_count_event(p);
}

static int leave_span(MD_SPANTYPE type, void *detail, void *arg)
{
    struct markdown_parser *p = arg;
    (void)detail;
    for (unsigned i = p->inline_depth; i > 0; i--) {
        if (p->inlines[i - 1].mark == markdown_span_mark(type)) {
            markdown_close_inlines(p, i - 1);
            break;
        }
    }
    return markdown_count_event(p);
}

static void markdown_put_charref(struct markdown_parser *p, struct str ref)
{
    CLEANUP_BUF struct buf decoded = {0};
    html_entity_append_decoded(&decoded, ref);
    markdown_append(p, decoded.p, decoded.len);
}

/* Newlines at the end of a code block are not part of it, so they are written only before further
 * text. */
static void put_code_block(struct markdown_parser *p, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\n') {
            p->code_newlines++;
            continue;
        }
        for (; p->code_newlines > 0; p->code_newlines--)
            markdown_append_str(p, "\n");
        const char *newline = memchr(text + i, '\n', n - i);
        const size_t line = newline ? (size_t)(newline - text) - i : n - i;
        markdown_append(p, text + i, line);
        i += line - 1;
    }
}

static int text(MD_TEXTTYPE type, const MD_CHAR *chars, MD_SIZE n, void *arg)
{
    struct markdown_parser *p = arg;
    if (type == MD_TEXT_BR || type == MD_TEXT_SOFTBR)
        markdown_append_str(p, p->in_table ? " " : "\n");
    else if (type == MD_TEXT_ENTITY)
        markdown_put_charref(p, (struct str){chars, n});
    else if (type == MD_TEXT_NULLCHAR)
        markdown_append_str(p, "\xef\xbf\xbd");
    else if (p->in_code_block)
        put_code_block(p, chars, n);
    else
        markdown_append(p, chars, n);
    return markdown_count_event(p);
}

static const MD_PARSER parser = {
    .flags = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS |
             MD_FLAG_PERMISSIVEURLAUTOLINKS | MD_FLAG_NOHTML,
    .enter_block = markdown_enter_block,
    .leave_block = markdown_enter_leave_block,
    .enter_span = enter_span,
    .leave_span = leave_span,
    .text = text,
};

static struct doc markdown_parse_nothing(struct arena *a, struct str text, bool folded)
{
    struct doc_builder b = {.arena = a};
    if (folded)
        doc_builder_open(&b, DOC_FOLD, 0, NULL);
    doc_builder_text(&b, text.p, utf8_truncated_len(text.p, text.len, MARKDOWN_BYTES_MAX));
    if (folded)
        doc_builder_close(&b);
    struct doc d = doc_builder_finish(&b);
    d.unformatted = true;
    doc_builder_fini(&b);
    return d;
}

static struct doc markdown_parse_clean(struct arena *a, struct str source, bool folded)
{
    struct markdown_parser p = {.out.arena = a};
    if (folded)
        doc_builder_open(&p.out, DOC_FOLD, 0, NULL);
    const int stop = md_parse(source.p, (MD_SIZE)source.len, &parser, &p);
    if (folded && !stop)
        doc_builder_close(&p.out);
    const struct doc d =
        stop ? markdown_parse_nothing(a, source, folded) : doc_builder_finish(&p.out);
    doc_builder_fini(&p.out);
    text_table_fini(&p.table);
    return d;
}

static struct doc read_source(struct arena *a, struct str source, bool markdown, bool folded)
{
    CLEANUP_BUF struct buf clean = {0};
    const bool fits = source.len <= MARKDOWN_BYTES_MAX;
    text_clean_append(&clean, source.p, fits ? source.len : MARKDOWN_BYTES_MAX);
    const struct str text = {clean.p ? clean.p : "", clean.len};
    return markdown && fits ? markdown_parse_clean(a, text, folded)
                            : markdown_parse_nothing(a, text, folded);
}

struct doc markdown_parse(struct arena *a, struct str source)
{
    return read_source(a, source, true, false);
}

struct doc markdown_parse_folded(struct arena *a, struct str source)
{
    return read_source(a, source, true, true);
}

struct doc markdown_make_plain(struct arena *a, struct str source)
{
    return read_source(a, source, false, false);
}
