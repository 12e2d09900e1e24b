/* SPDX-License-Identifier: MIT
 * Renders Slack's mrkdwn, standard Markdown for Slack's markdown block, and CommonMark. Each run of
 * text gets separate marks, which are closed at the end of each line, because not every service
 * continues them on the next line. */
#include <ctype.h>

#include "text/link_url.h"
#include "text/render/render_internal.h"
#include "text/render/markup_line.h"

#define STYLES 3 /* DOC_BOLD to DOC_STRIKE */

struct markup {
    struct markup_line lines;
    const struct render_job *job;
    bool block; /* Markdown, otherwise mrkdwn */
    unsigned styles[STYLES];
    const struct doc_span *link;   /* the open link span */
    const struct doc_span *hidden; /* the span is rendered separately; its text is skipped */
    const struct doc_span *fence;
    const struct doc_span *grid; /* render a table as a table */
    bool in_cell, in_heading;
    unsigned row_cells;
    size_t kept_prefix[DOC_DEPTH]; /* prefixes of the surrounding items and quotes */
    unsigned depth;
};

static const char *const marks[2][STYLES] = {
    {[DOC_BOLD] = "*", [DOC_ITALIC] = "_", [DOC_STRIKE] = "~"},
    {[DOC_BOLD] = "**", [DOC_ITALIC] = "*", [DOC_STRIKE] = "~~"},
};

static bool is_styled(const struct markup *s)
{
    return s->styles[DOC_BOLD] || s->styles[DOC_ITALIC] || s->styles[DOC_STRIKE];
}

/* mrkdwn recognises marks only at word boundaries, and in both forms adjacent marks must not
 * merge. */
static void render_markup_separate_marks(struct markup *s)
{
    if (s->lines.unjoined || (!s->block && s->lines.line_begun && markup_ends_in_word(&s->lines)))
        markup_raw_str(&s->lines, MARKUP_JOINT);
}

static void open_marks(struct markup *s)
{
    if (!is_styled(s))
        return;
    render_markup_separate_marks(s);
    for (unsigned i = 0; i < STYLES; i++)
        if (s->styles[i])
            markup_raw_str(&s->lines, marks[s->block][i]);
}

static void close_marks(struct markup *s)
{
    if (!is_styled(s))
        return;
    for (unsigned i = STYLES; i > 0; i--)
        if (s->styles[i - 1])
            markup_raw_str(&s->lines, marks[s->block][i - 1]);
    s->lines.unjoined = true;
}

static bool is_blank_or_end(char c)
{
    return c == ' ' || c == '\n' || c == '\0';
}

/* CommonMark recognises marks beside punctuation only if the other side is not a word; a joint
 * counts as one. The text is in the doc, so the following character can be examined. */
static bool render_markup_is_at_word_start(const struct markup *s)
{
    const struct buf *const out = s->lines.out;
    return !s->lines.line_begun || (out->len > 0 && out->p[out->len - 1] == ' ');
}

static bool is_blank_or_punctuation(char c)
{
    return c == ' ' || ispunct((unsigned char)c);
}

static size_t leading_punctuation(struct str core)
{
    size_t n = 0;
    while (n < core.len && is_blank_or_punctuation(core.p[n]))
        n++;
    return n;
}

static size_t trailing_punctuation(struct str core)
{
    size_t n = 0;
    while (n < core.len && is_blank_or_punctuation(core.p[core.len - 1 - n]))
        n++;
    return n;
}

static void put_marked(struct markup *s, struct str core)
{
    if (core.len == 0)
        return;
    if (!is_styled(s) && !s->block && s->lines.unjoined && markup_is_word(*core.p))
        markup_raw_str(&s->lines, MARKUP_JOINT);
    open_marks(s);
    markup_text(&s->lines, core);
    close_marks(s);
}

/* Moves punctuation outside of the marks that would prevent them from being recognised. */
static void render_markup_put_styled(struct markup *s, struct str core)
{
    size_t before = 0, behind = 0;
    if (s->lines.commonmark && is_styled(s)) {
        before = render_markup_is_at_word_start(s) ? 0 : leading_punctuation(core);
        const struct str rest = {core.p + before, core.len - before};
        behind = is_blank_or_end(core.p[core.len]) ? 0 : trailing_punctuation(rest);
    }
    markup_text(&s->lines, (struct str){core.p, before});
    put_marked(s, (struct str){core.p + before, core.len - before - behind});
    markup_text(&s->lines, (struct str){core.p + core.len - behind, behind});
}

/* Moves blanks at either end outside of the marks. */
static void put_line(struct markup *s, struct str line)
{
    size_t from = 0, to = line.len;
    while (to > 0 && line.p[to - 1] == ' ')
        to--;
    while (from < to && line.p[from] == ' ')
        from++;
    markup_text(&s->lines, (struct str){line.p, from});
    render_markup_put_styled(s, (struct str){line.p + from, to - from});
    markup_text(&s->lines, (struct str){line.p + to, line.len - to});
}

/* Labels and headings have one line. */
static void put_newline(struct markup *s)
{
    const bool one_line = s->in_heading || (s->link && !s->block);
    markup_text(&s->lines, one_line ? STR(" ") : STR("\n"));
}

static void put_run(struct markup *s, struct str run)
{
    for (;;) {
        const char *newline = memchr(run.p, '\n', run.len);
        const size_t n = newline ? (size_t)(newline - run.p) : run.len;
        if (s->link && !s->block)
            markup_text(&s->lines, (struct str){run.p, n});
        else
            put_line(s, (struct str){run.p, n});
        if (!newline)
            return;
        put_newline(s);
        run = (struct str){newline + 1, run.len - n - 1};
    }
}

static void open_inline_code(struct markup *s, const struct doc_span *span)
{
    if (s->hidden || (s->link && !s->block))
        return;
    const struct str code = doc_span_text(s->job->doc, span, s->job->range);
    const bool marked = !s->lines.commonmark ||
                        (render_markup_is_at_word_start(s) && is_blank_or_end(code.p[code.len]));
    render_markup_separate_marks(s);
    if (marked)
        open_marks(s);
    markup_inline_code(&s->lines, code);
    if (marked)
        close_marks(s);
    s->lines.unjoined = true;
    s->hidden = span;
}

static size_t render_markup_fence_length(const struct markup *s)
{
    const size_t longest =
        markup_longest_backticks(doc_span_text(s->job->doc, s->fence, s->job->range));
    return s->block && !s->lines.commonmark && longest >= 3 ? longest + 1 : 3;
}

static void open_fence(struct markup *s, const struct doc_span *span)
{
    s->fence = span;
    s->lines.backticks = 0;
    markup_backticks(&s->lines, render_markup_fence_length(s));
    if (s->block && span->attr)
        markup_raw_str(&s->lines, span->attr);
    markup_raw_str(&s->lines, "\n");
}

static void close_fence(struct markup *s, const struct doc_span *span)
{
    (void)span;
    markup_raw_str(&s->lines, "\n");
    markup_backticks(&s->lines, render_markup_fence_length(s));
    s->fence = NULL;
}

/* Whether the range contains the whole span, except for blanks. */
static bool render_markup_contains_span(const struct markup *s, const struct doc_span *span)
{
    const struct doc_range r = s->job->range;
    size_t end = span->end;
    while (end > r.to && s->job->doc->text.p[end - 1] == ' ')
        end--;
    return span->start >= r.from && end <= r.to;
}

/* A table that is cut is shown as lines, because its parts would not be valid tables. */
static void open_table(struct markup *s, const struct doc_span *span)
{
    if (s->block && !s->job->no_tables && render_markup_contains_span(s, span) &&
        render_has_cells(s->job, span))
        s->grid = span;
    else
        open_fence(s, span);
}

static void close_table(struct markup *s, const struct doc_span *span)
{
    if (s->fence)
        close_fence(s, span);
    s->grid = NULL;
}

static void open_row(struct markup *s, const struct doc_span *span)
{
    if (s->grid && !span->level)
        markup_raw_str(&s->lines, "\n");
    s->row_cells = 0;
}

static void close_row(struct markup *s, const struct doc_span *span)
{
    if (!s->grid)
        return;
    markup_raw_str(&s->lines, "|");
    if (!span->level)
        return;
    markup_raw_str(&s->lines, "\n");
    for (; s->row_cells > 0; s->row_cells--)
        markup_raw_str(&s->lines, "| --- ");
    markup_raw_str(&s->lines, "|");
}

static void open_cell(struct markup *s, const struct doc_span *span)
{
    (void)span;
    if (s->grid)
        markup_raw_str(&s->lines, "| ");
    s->in_cell = true;
    s->row_cells++;
}

static void close_cell(struct markup *s, const struct doc_span *span)
{
    (void)span;
    if (s->grid)
        markup_raw_str(&s->lines, " ");
    s->in_cell = false;
}

static bool render_markup_is_linked(const struct markup *s, const struct doc_span *span)
{
    return markup_line_url_size(span->attr) <= s->job->link_max &&
           (s->lines.commonmark ? link_url_is_web : link_url_is_web_or_mail)(span->attr);
}

/* The label is exactly the address. */
static bool render_markup_is_bare(const struct markup *s, const struct doc_span *span)
{
    const struct str label = doc_span_text(s->job->doc, span, s->job->range);
    return label.len == strlen(span->attr) && memcmp(label.p, span->attr, label.len) == 0;
}

static void render_markup_put_bare_link(struct markup *s, const struct doc_span *span)
{
    markup_raw_str(&s->lines, "<");
    markup_address(&s->lines, span->attr, true);
    markup_raw_str(&s->lines, ">");
    s->hidden = span;
}

static void render_markup_open_link(struct markup *s, const struct doc_span *span)
{
    if (!render_markup_is_linked(s, span))
        return;
    if (!s->block)
        open_marks(s);
    if (render_markup_is_bare(s, span)) {
        render_markup_put_bare_link(s, span);
    } else if (s->block) {
        markup_raw_str(&s->lines, "[");
    } else {
        markup_raw_str(&s->lines, "<");
        markup_address(&s->lines, span->attr, false);
        markup_raw_str(&s->lines, "|");
    }
    s->link = span;
}

static void close_shown_link(struct markup *s, const struct doc_span *span)
{
    s->link = NULL;
    if (s->block && s->hidden != span) {
        markup_raw_str(&s->lines, "](");
        markup_address(&s->lines, span->attr, false);
        markup_raw_str(&s->lines, ")");
    } else if (!s->block) {
        if (s->hidden != span)
            markup_raw_str(&s->lines, ">");
        close_marks(s);
    }
}

static void render_markup_close_link(struct markup *s, const struct doc_span *span)
{
    if (s->link == span) {
        close_shown_link(s, span);
    } else if (render_shows_url(s->job, span, markup_line_url_size(span->attr))) {
        markup_text(&s->lines, STR(" ("));
        markup_text(&s->lines, (struct str){span->attr, strlen(span->attr)});
        markup_text(&s->lines, STR(")"));
    }
}

/* mrkdwn has no nested quotes. */
static void render_markup_open_quote(struct markup *s, const struct doc_span *span)
{
    (void)span;
    if (!s->block && s->lines.prefix_len > 0)
        return;
    if (s->lines.line_begun)
        markup_raw_str(&s->lines, "> ");
    markup_line_set_prefix(&s->lines, "> ", 2);
}

static bool has_headings(const struct markup *s)
{
    return s->block && !s->job->no_headings;
}

/* Discord has three heading levels. */
static void open_heading(struct markup *s, const struct doc_span *span)
{
    const unsigned level = s->lines.commonmark && span->level > 3 ? 3 : span->level;
    if (!has_headings(s)) {
        s->styles[DOC_BOLD]++;
        return;
    }
    s->in_heading = true;
    for (unsigned i = 0; i < level; i++)
        markup_raw_str(&s->lines, "#");
    markup_raw_str(&s->lines, " ");
}

static void close_heading(struct markup *s, const struct doc_span *span)
{
    (void)span;
    if (has_headings(s))
        s->in_heading = false;
    else
        s->styles[DOC_BOLD]--;
}

/* Further lines of the item are indented by the width of its marker. */
static void open_marker(struct markup *s, const struct doc_span *span)
{
    if (!s->block)
        return;
    const size_t width = strcspn(span->attr, " ") + 1;
    markup_raw_str(&s->lines, span->attr);
    s->lines.start = MARKUP_FRESH;
    for (size_t i = 0; i < width; i++)
        markup_line_set_prefix(&s->lines, " ", 1);
    s->hidden = span;
}

static void open_rule(struct markup *s, const struct doc_span *span)
{
    if (!s->block)
        return;
    markup_raw_str(&s->lines, "***");
    s->hidden = span;
}

static void render_markup_open_style(struct markup *s, const struct doc_span *span)
{
    s->styles[span->mark]++;
}

static void render_markup_close_style(struct markup *s, const struct doc_span *span)
{
    s->styles[span->mark]--;
}

static const struct {
    void (*open)(struct markup *s, const struct doc_span *span);
    void (*close)(struct markup *s, const struct doc_span *span);
    bool prefixes; /* the line prefix ends with the span */
} spans[] = {
    [DOC_BOLD] = {render_markup_open_style, render_markup_close_style, false},
    [DOC_ITALIC] = {render_markup_open_style, render_markup_close_style, false},
    [DOC_STRIKE] = {render_markup_open_style, render_markup_close_style, false},
    [DOC_CODE] = {open_inline_code, NULL, false},
    [DOC_LINK] = {render_markup_open_link, render_markup_close_link, false},
    [DOC_PRE] = {open_fence, close_fence, false},
    [DOC_TABLE] = {open_table, close_table, false},
    [DOC_ROW] = {open_row, close_row, false},
    [DOC_CELL] = {open_cell, close_cell, false},
    [DOC_HEADING] = {open_heading, close_heading, false},
    [DOC_QUOTE] = {render_markup_open_quote, NULL, true},
    [DOC_FOLD] = {render_markup_open_quote, NULL, true},
    [DOC_ITEM] = {NULL, NULL, true},
    [DOC_MARKER] = {open_marker, NULL, false},
    [DOC_RULE] = {open_rule, NULL, false},
};

static void markup_open(void *arg, const struct doc_span *span)
{
    struct markup *s = arg;
    s->kept_prefix[s->depth++] = s->lines.prefix_len;
    if (spans[span->mark].open)
        spans[span->mark].open(s, span);
}

static void markup_close(void *arg, const struct doc_span *span)
{
    struct markup *s = arg;
    if (spans[span->mark].close)
        spans[span->mark].close(s, span);
    if (s->hidden == span)
        s->hidden = NULL;
    s->depth--;
    if (spans[span->mark].prefixes)
        s->lines.prefix_len = s->kept_prefix[s->depth];
}

static void markup_run(void *arg, struct str run)
{
    struct markup *s = arg;
    if (s->hidden || (s->grid && !s->in_cell))
        return;
    if (s->fence)
        markup_code(&s->lines, run);
    else
        put_run(s, run);
}

static const struct doc_visitor visitor = {markup_open, markup_close, markup_run};

void render_markup(struct render_output *out, const struct render_job *job, enum render_form form)
{
    const bool block = form != RENDER_MRKDWN;
    struct markup s = {.lines = {.out = &out->text,
                                 .block = block,
                                 .commonmark = form == RENDER_COMMONMARK,
                                 .start = MARKUP_FRESH},
                       .job = job,
                       .block = block};
    doc_walk(job->doc, job->range, &visitor, &s);
}
