/* SPDX-License-Identifier: MIT
 * Owns HTML: the elements that Matrix permits (org.matrix.custom.html), and no others. Every piece
 * is well-formed. Blocks of the doc become elements; newlines separate paragraphs; styles are
 * opened before their first text, and reopened after the end of a block. */
#include <stdlib.h>

#include "text/link_url.h"
#include "text/render/render_internal.h"

/* Quotes and items nested deeper are not shown as such: Matrix has a limit. */
#define BLOCKS_MAX 32
/* Upper bounds: for a block, and for everything around one character. */
#define BLOCK_BYTES 40
#define FIXED_BYTES 84

#define NO_BREAK "\xc2\xa0"
#define JOINT "\xe2\x80\x8b" /* an invisible character that separates "@" from "room" */

enum html_list { LIST_NONE, LIST_BULLETS, LIST_NUMBERS };
enum html_paragraph { PARAGRAPH_NONE, PARAGRAPH_BARE, PARAGRAPH_P, PARAGRAPH_HEADING };
enum html_table { TABLE_NONE, TABLE_BEGUN, TABLE_HEAD, TABLE_BODY };

/* A container: the message, a quote or an item. */
struct html_block {
    const struct doc_span *span; /* NULL: the message */
    enum html_list list;         /* the child that is open */
    unsigned next;               /* number of its next item */
    bool begun;                  /* it has content */
};

struct html {
    struct buf *out;
    const struct render_job *job;
    struct html_block blocks[BLOCKS_MAX + 1];
    unsigned depth, depth_max; /* newlines between blocks */
    enum html_paragraph paragraph;
    unsigned newlines;                        /* since the last text */
    char last;                                /* last character; '\n' at the beginning of a line */
    const struct doc_span *styles[DOC_DEPTH]; /* styles around the text */
    unsigned style_count, styles_open;        /* number of outer styles that are written */
    const struct doc_span *code, *heading;
    const struct doc_span *hidden; /* the span is rendered by its own function */
    const struct doc_span *grid, *row;
    enum html_table table;
    bool in_cell, row_open;
};

static void html_raw(struct html *h, const char *s)
{
    buf_add_str(h->out, s);
}

static void html_escape(struct html *h, char c)
{
    const char *ref = c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : NULL;
    if (ref)
        html_raw(h, ref);
    else
        buf_add_char(h->out, c);
}

/* ---- styles ---- */

static const char *const style_tags[] = {
    [DOC_BOLD] = "strong", [DOC_ITALIC] = "em", [DOC_STRIKE] = "del", [DOC_CODE] = "code"};

static void html_open_style(struct html *h, const struct doc_span *s)
{
    if (s->mark != DOC_LINK) {
        buf_printf(h->out, "<%s>", style_tags[s->mark]);
        return;
    }
    html_raw(h, "<a href=\"");
    for (const char *p = s->attr; *p; p++)
        html_escape(h, *p);
    html_raw(h, "\">");
}

static void html_close_styles(struct html *h, unsigned keep)
{
    for (; h->styles_open > keep; h->styles_open--) {
        const struct doc_span *s = h->styles[h->styles_open - 1];
        buf_printf(h->out, "</%s>", s->mark == DOC_LINK ? "a" : style_tags[s->mark]);
    }
}

static bool html_has_style(const struct html *h, enum doc_mark mark)
{
    for (unsigned i = 0; i < h->style_count; i++)
        if (h->styles[i]->mark == mark)
            return true;
    return mark == DOC_BOLD && h->heading && h->job->no_headings;
}

static void html_enter_style(struct html *h, const struct doc_span *s)
{
    if (!html_has_style(h, s->mark))
        h->styles[h->style_count++] = s;
}

static void html_leave_style(struct html *h, const struct doc_span *s)
{
    if (h->style_count == 0 || h->styles[h->style_count - 1] != s)
        return;
    html_close_styles(h, --h->style_count);
}

/* ---- paragraphs ---- */

static void html_end_paragraph(struct html *h)
{
    html_close_styles(h, 0);
    if (h->paragraph == PARAGRAPH_P)
        html_raw(h, "</p>");
    if (h->paragraph != PARAGRAPH_HEADING)
        h->paragraph = PARAGRAPH_NONE;
    h->newlines = 0;
    h->last = '\n';
}

static void html_end_list(struct html *h)
{
    struct html_block *const block = &h->blocks[h->depth];
    if (block->list != LIST_NONE)
        html_raw(h, block->list == LIST_NUMBERS ? "</ol>" : "</ul>");
    block->list = LIST_NONE;
}

/* Begins a block within the open one. */
static void html_begin_block(struct html *h)
{
    html_end_paragraph(h);
    html_end_list(h);
    h->blocks[h->depth].begun = true;
}

/* The first text of an item needs no paragraph. */
static void html_begin_paragraph(struct html *h)
{
    const struct html_block *const block = &h->blocks[h->depth];
    const bool bare = block->span && block->span->mark == DOC_ITEM && !block->begun;
    html_begin_block(h);
    if (!bare)
        html_raw(h, "<p>");
    h->paragraph = bare ? PARAGRAPH_BARE : PARAGRAPH_P;
}

/* One newline becomes a line break, several a new paragraph; but not in a heading. */
static void html_before_text(struct html *h)
{
    if (h->newlines > 1 && h->paragraph != PARAGRAPH_HEADING)
        html_end_paragraph(h);
    if (h->paragraph == PARAGRAPH_NONE)
        html_begin_paragraph(h);
    else if (h->newlines > 0)
        html_raw(h, "<br/>");
    h->newlines = 0;
    for (; h->styles_open < h->style_count; h->styles_open++)
        html_open_style(h, h->styles[h->styles_open]);
}

/* Matrix clients that do not support intentional mentions search for "@room". */
static bool html_mentions_room(struct str s, size_t at)
{
    static const char room[] = "room";
    const size_t rest = s.len - at - 1, n = sizeof room - 1;
    return s.p[at] == '@' && memcmp(s.p + at + 1, room, rest < n ? rest : n) == 0;
}

/* HTML collapses blanks, and drops those at the start of a line, so they are preserved
 * explicitly. */
static void html_put_char(struct html *h, struct str s, size_t at)
{
    const char c = s.p[at];
    if (c == '\n') {
        h->newlines++;
        h->last = '\n';
        return;
    }
    if (h->newlines > 0 || h->paragraph == PARAGRAPH_NONE || h->styles_open < h->style_count)
        html_before_text(h);
    if ((c == ' ' || c == '\t') && strchr(" \t\n", h->last))
        html_raw(h, NO_BREAK);
    else
        html_escape(h, c);
    if (html_mentions_room(s, at))
        html_raw(h, JOINT);
    h->last = c;
}

static void html_put(struct html *h, struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        html_put_char(h, s, i);
}

/* ---- links ---- */

/* Matrix clients show an address of matrix.to as a mention. */
static bool html_mentions(const char *url)
{
    return strcasestr(url, "matrix.to/") != NULL;
}

static size_t html_url_size(const char *url)
{
    size_t n = 0;
    for (; *url; url++)
        n += *url == '&' ? 5 : 1;
    return n;
}

static bool html_is_linked(const struct html *h, const struct doc_span *s)
{
    return html_url_size(s->attr) <= h->job->link_max && link_url_is_web_or_mail(s->attr) &&
           !html_mentions(s->attr);
}

static void html_open_link(struct html *h, const struct doc_span *s)
{
    if (html_is_linked(h, s))
        html_enter_style(h, s);
}

static void html_close_link(struct html *h, const struct doc_span *s)
{
    if (html_is_linked(h, s)) {
        html_leave_style(h, s);
    } else if (render_shows_url(h->job, s, html_url_size(s->attr))) {
        html_put(h, STR(" ("));
        html_put(h, (struct str){s->attr, strlen(s->attr)});
        html_put(h, STR(")"));
    }
}

/* ---- headings, rules, code ---- */

static void html_open_heading(struct html *h, const struct doc_span *s)
{
    html_begin_block(h);
    if (h->job->no_headings)
        html_raw(h, "<p><strong>");
    else
        buf_printf(h->out, "<h%u>", s->level);
    h->heading = s;
    h->paragraph = PARAGRAPH_HEADING;
}

static void html_close_heading(struct html *h, const struct doc_span *s)
{
    html_end_paragraph(h);
    if (h->job->no_headings)
        html_raw(h, "</strong></p>");
    else
        buf_printf(h->out, "</h%u>", s->level);
    h->heading = NULL;
    h->paragraph = PARAGRAPH_NONE;
}

static void html_open_rule(struct html *h, const struct doc_span *s)
{
    html_begin_block(h);
    html_raw(h, "<hr/>");
    h->hidden = s;
}

static void html_open_code(struct html *h, const struct doc_span *s)
{
    html_begin_block(h);
    if (s->attr && *s->attr)
        buf_printf(h->out, "<pre><code class=\"language-%s\">", s->attr);
    else
        html_raw(h, "<pre><code>");
    h->code = s;
}

static void html_close_code(struct html *h, const struct doc_span *s)
{
    (void)s;
    html_raw(h, "</code></pre>");
    h->code = NULL;
}

/* ---- tables: elements are written with their first cell ---- */

static void html_open_table(struct html *h, const struct doc_span *s)
{
    if (h->job->no_tables || !render_has_cells(h->job, s)) {
        html_open_code(h, s);
        return;
    }
    html_begin_block(h);
    h->grid = s;
    h->table = TABLE_NONE;
}

static void html_close_table(struct html *h, const struct doc_span *s)
{
    if (h->code == s) {
        html_close_code(h, s);
        return;
    }
    if (h->table == TABLE_BODY)
        html_raw(h, "</tbody>");
    if (h->table != TABLE_NONE)
        html_raw(h, "</table>");
    h->grid = NULL;
}

static void html_open_row(struct html *h, const struct doc_span *s)
{
    h->row = s;
    h->row_open = false;
}

static void html_close_row(struct html *h, const struct doc_span *s)
{
    if (!h->grid || !h->row_open)
        return;
    html_raw(h, "</tr>");
    if (s->level) {
        html_raw(h, "</thead>");
        h->table = TABLE_BEGUN;
    }
}

static void html_begin_row(struct html *h)
{
    const enum html_table wanted = h->row->level ? TABLE_HEAD : TABLE_BODY;
    if (h->table == TABLE_NONE)
        html_raw(h, "<table>");
    if (h->table != wanted)
        html_raw(h, wanted == TABLE_HEAD ? "<thead>" : "<tbody>");
    html_raw(h, "<tr>");
    h->table = wanted;
    h->row_open = true;
}

static void html_open_cell(struct html *h, const struct doc_span *s)
{
    (void)s;
    if (!h->grid)
        return;
    if (!h->row_open)
        html_begin_row(h);
    html_raw(h, h->row->level ? "<th>" : "<td>");
    h->in_cell = true;
}

static void html_close_cell(struct html *h, const struct doc_span *s)
{
    (void)s;
    if (!h->grid)
        return;
    html_raw(h, h->row->level ? "</th>" : "</td>");
    h->in_cell = false;
}

/* ---- quotes and lists ---- */

/* Whether it is shown as an element: not nested too deeply. */
static bool html_push_block(struct html *h, const struct doc_span *s)
{
    if (h->depth >= h->depth_max)
        return false;
    h->blocks[++h->depth] = (struct html_block){.span = s};
    return true;
}

static bool html_pop_block(struct html *h, const struct doc_span *s)
{
    html_end_paragraph(h);
    if (h->blocks[h->depth].span != s)
        return false;
    html_end_list(h);
    h->depth--;
    return true;
}

static void html_open_quote(struct html *h, const struct doc_span *s)
{
    html_begin_block(h);
    if (html_push_block(h, s))
        html_raw(h, "<blockquote>");
}

static void html_close_quote(struct html *h, const struct doc_span *s)
{
    if (html_pop_block(h, s))
        html_raw(h, "</blockquote>");
}

/* The span of an item that begins in the range; NULL: it continues, or is nested too deeply. */
static const struct doc_span *html_marker(const struct html *h, const struct doc_span *s)
{
    const struct doc *const d = h->job->doc;
    const bool has =
        s + 1 < d->spans + d->count && s[1].mark == DOC_MARKER && doc_get_parent(d, &s[1]) == s;
    return has && s->start >= h->job->range.from ? &s[1] : NULL;
}

/* An item continues the open list if its number is the next. */
static void html_begin_item(struct html *h, const char *marker)
{
    struct html_block *const block = &h->blocks[h->depth];
    const enum html_list list = *marker == '-' ? LIST_BULLETS : LIST_NUMBERS;
    const unsigned number = (unsigned)strtoul(marker, NULL, 10);
    html_end_paragraph(h);
    if (block->list != list || (list == LIST_NUMBERS && block->next != number)) {
        html_begin_block(h);
        if (list == LIST_BULLETS)
            html_raw(h, "<ul>");
        else if (number == 1)
            html_raw(h, "<ol>");
        else
            buf_printf(h->out, "<ol start=\"%u\">", number);
    }
    block->list = list;
    block->next = number + 1;
}

/* The rest of an item that began in the previous piece is shown without a marker. */
static void html_open_item(struct html *h, const struct doc_span *s)
{
    const struct doc_span *const marker = html_marker(h, s);
    if (!marker || h->depth >= h->depth_max) {
        html_begin_block(h);
        return;
    }
    html_begin_item(h, marker->attr);
    html_push_block(h, s);
    html_raw(h, "<li>");
}

static void html_close_item(struct html *h, const struct doc_span *s)
{
    if (html_pop_block(h, s))
        html_raw(h, "</li>");
    else
        html_end_list(h);
}

/* Skips the marker that HTML lists draw themselves, but keeps the box of a task. */
static void html_open_marker(struct html *h, const struct doc_span *s)
{
    if (h->blocks[h->depth].span != doc_get_parent(h->job->doc, s))
        return;
    const char *const box = strchr(s->attr, '[');
    if (box)
        html_put(h, box[1] == ' ' ? STR("☐ ") : STR("☑ "));
    h->hidden = s;
}

/* ---- the walk ---- */

static const struct {
    void (*open)(struct html *h, const struct doc_span *s);
    void (*close)(struct html *h, const struct doc_span *s);
} spans[] = {
    [DOC_BOLD] = {html_enter_style, html_leave_style},
    [DOC_ITALIC] = {html_enter_style, html_leave_style},
    [DOC_STRIKE] = {html_enter_style, html_leave_style},
    [DOC_CODE] = {html_enter_style, html_leave_style},
    [DOC_LINK] = {html_open_link, html_close_link},
    [DOC_PRE] = {html_open_code, html_close_code},
    [DOC_TABLE] = {html_open_table, html_close_table},
    [DOC_ROW] = {html_open_row, html_close_row},
    [DOC_CELL] = {html_open_cell, html_close_cell},
    [DOC_HEADING] = {html_open_heading, html_close_heading},
    [DOC_QUOTE] = {html_open_quote, html_close_quote},
    [DOC_FOLD] = {html_open_quote, html_close_quote},
    [DOC_ITEM] = {html_open_item, html_close_item},
    [DOC_MARKER] = {html_open_marker, NULL},
    [DOC_RULE] = {html_open_rule, NULL},
};

static void html_open(void *arg, const struct doc_span *s)
{
    if (spans[s->mark].open)
        spans[s->mark].open(arg, s);
}

static void html_close(void *arg, const struct doc_span *s)
{
    struct html *const h = arg;
    if (spans[s->mark].close)
        spans[s->mark].close(h, s);
    if (h->hidden == s)
        h->hidden = NULL;
}

static void html_run(void *arg, struct str run)
{
    struct html *const h = arg;
    if (h->hidden || (h->grid && !h->in_cell))
        return;
    if (!h->code && !h->grid) {
        html_put(h, run);
        return;
    }
    for (size_t i = 0; i < run.len; i++)
        html_escape(h, run.p[i]);
}

static const struct doc_visitor visitor = {html_open, html_close, html_run};

/* Chosen so that any character fits, whatever elements surround it. */
static unsigned html_depth_max(size_t room)
{
    const size_t left = room - room / 4;
    const size_t most = left > FIXED_BYTES ? (left - FIXED_BYTES) / BLOCK_BYTES : 0;
    return most < BLOCKS_MAX ? (unsigned)most : BLOCKS_MAX;
}

void render_html(struct render_output *out, const struct render_job *job)
{
    struct html h = {
        .out = &out->text, .job = job, .depth_max = html_depth_max(job->room), .last = '\n'};
    doc_walk(job->doc, job->range, &visitor, &h);
    html_end_paragraph(&h);
    html_end_list(&h);
}
