/* SPDX-License-Identifier: MIT
 * Renders for a terminal: lines of a width, optionally with SGR styles and OSC 8 links. Guarantees
 * that the output contains no other control characters except line feeds. */
#include "text/link_url.h"
#include "text/render/code_color.h"
#include "text/render/render_internal.h"
#include "text/render/terminal_line.h"
#include "text/render/terminal_table.h"

struct terminal_mark {
    size_t prefix_len, prefix_width;
};

struct terminal {
    struct terminal_line lines;
    const struct render_job *job;
    unsigned bold, italic, strike, code, heading;
    const struct doc_span *link;   /* the open span that is written as a link */
    const struct doc_span *hidden; /* the span is rendered separately; its text is skipped */
    const struct doc_span *pre;
    struct terminal_mark kept[DOC_DEPTH]; /* prefixes of the surrounding items and quotes */
    unsigned depth;
};

static struct terminal_style render_terminal_style_of(const struct terminal *t)
{
    return (struct terminal_style){
        .bold = t->bold || t->heading,
        .italic = t->italic,
        .strike = t->strike,
        .underline = t->link,
        .color = t->code      ? TERMINAL_CYAN
                 : t->heading ? TERMINAL_MAGENTA
                              : TERMINAL_DEFAULT,
        .link = t->link ? t->link->attr : NULL,
    };
}

static void put(struct terminal *t, struct str text)
{
    const struct terminal_style style = render_terminal_style_of(t);
    terminal_line_put(&t->lines, text, &style);
}

/* ---- code ---- */

static const struct terminal_style token_styles[] = {
    [CODE_PLAIN] = {0},
    [CODE_KEYWORD] = {.color = TERMINAL_MAGENTA},
    [CODE_STRING] = {.color = TERMINAL_GREEN},
    [CODE_COMMENT] = {.dim = true},
    [CODE_NUMBER] = {.color = TERMINAL_CYAN},
    [CODE_ADDED] = {.color = TERMINAL_GREEN},
    [CODE_REMOVED] = {.color = TERMINAL_RED},
    [CODE_HUNK] = {.color = TERMINAL_CYAN},
};

static void put_code(struct terminal *t, struct str code)
{
    const struct code_language *const lang = code_color_find_language(t->pre->attr);
    struct str rest = code;
    while (rest.len > 0) {
        enum code_token token = CODE_PLAIN;
        const size_t n = lang ? code_color_next(lang, code, rest, &token) : rest.len;
        terminal_line_put(&t->lines, (struct str){rest.p, n}, &token_styles[token]);
        rest = (struct str){rest.p + n, rest.len - n};
    }
}

static void terminal_open_pre(struct terminal *t, const struct doc_span *span)
{
    t->pre = span;
    terminal_line_flush(&t->lines);
    t->lines.verbatim = true;
    terminal_line_add_prefix(&t->lines, "  ", 2);
}

static void terminal_close_pre(struct terminal *t, const struct doc_span *span)
{
    (void)span;
    t->pre = NULL;
    t->lines.verbatim = false;
}

/* Without styles, backticks mark code. */
static void put_backtick(struct terminal *t)
{
    if (!t->lines.styled)
        put(t, STR("`"));
}

static void terminal_open_code(struct terminal *t, const struct doc_span *span)
{
    (void)span;
    put_backtick(t);
    t->code++;
}

static void terminal_close_code(struct terminal *t, const struct doc_span *span)
{
    (void)span;
    t->code--;
    put_backtick(t);
}

/* ---- links ---- */

/* A label that looks like another address must not hide the target of the link. */
static bool render_terminal_is_misleading_label(const struct terminal *t,
                                                const struct doc_span *span)
{
    const struct str label = doc_span_text(t->job->doc, span, t->job->range);
    return memmem(label.p, label.len, "://", 3) || memmem(label.p, label.len, "www.", 4) ||
           (memchr(label.p, '.', label.len) && memchr(label.p, '/', label.len));
}

static void terminal_open_link(struct terminal *t, const struct doc_span *span)
{
    if (t->job->links && link_url_is_web_or_mail(span->attr))
        t->link = span;
}

static void terminal_close_link(struct terminal *t, const struct doc_span *span)
{
    const bool linked = t->link == span;
    if (linked)
        t->link = NULL;
    if ((linked && !render_terminal_is_misleading_label(t, span)) ||
        !render_shows_url(t->job, span, strlen(span->attr)))
        return;
    put(t, STR(" ("));
    put(t, (struct str){span->attr, strlen(span->attr)});
    put(t, STR(")"));
}

/* ---- blocks ---- */

static void terminal_open_heading(struct terminal *t, const struct doc_span *span)
{
    static const char marks[] = "######";
    t->heading++;
    if (!t->lines.styled) {
        put(t, (struct str){marks, span->level < 6 ? span->level : 6});
        put(t, STR(" "));
    }
}

static void terminal_close_heading(struct terminal *t, const struct doc_span *span)
{
    (void)span;
    t->heading--;
}

static void terminal_open_quote(struct terminal *t, const struct doc_span *span)
{
    (void)span;
    if (terminal_line_add_prefix(&t->lines, "│ ", 2) && t->lines.begun) {
        const struct terminal_style dim = {.dim = true};
        terminal_line_put(&t->lines, STR("│ "), &dim);
    }
}

/* The marker without its indentation, which the prefix contains. Further lines of the item are
 * indented by the width of the marker. */
static void terminal_open_marker(struct terminal *t, const struct doc_span *span)
{
    const struct terminal_style style = {.color = TERMINAL_CYAN};
    struct str marker = doc_span_text(t->job->doc, span, t->job->range);
    while (marker.len > 0 && *marker.p == ' ')
        marker = (struct str){marker.p + 1, marker.len - 1};
    terminal_line_put(&t->lines, marker, &style);
    for (size_t i = 0; i < render_count_units(marker.p, marker.len, RENDER_CODEPOINTS); i++)
        terminal_line_add_prefix(&t->lines, " ", 1);
    t->hidden = span;
}

static void terminal_open_rule(struct terminal *t, const struct doc_span *span)
{
    const struct terminal_style dim = {.dim = true};
    const size_t room =
        t->lines.columns > t->lines.prefix_width ? t->lines.columns - t->lines.prefix_width : 20;
    for (size_t i = 0; i < room && i < 60; i++)
        terminal_line_put(&t->lines, STR("─"), &dim);
    t->hidden = span;
}

static void terminal_open_table(struct terminal *t, const struct doc_span *span)
{
    if (render_has_cells(t->job, span) && span->start >= t->job->range.from &&
        span->end <= t->job->range.to) {
        terminal_table_put(&t->lines, t->job->doc, span);
        t->hidden = span;
    } else {
        t->lines.verbatim = true;
    }
}

static void terminal_close_table(struct terminal *t, const struct doc_span *span)
{
    (void)span;
    t->lines.verbatim = false;
}

/* ---- the walk ---- */

static void terminal_open_style(struct terminal *t, const struct doc_span *span)
{
    t->bold += span->mark == DOC_BOLD;
    t->italic += span->mark == DOC_ITALIC;
    t->strike += span->mark == DOC_STRIKE;
}

static void terminal_close_style(struct terminal *t, const struct doc_span *span)
{
    t->bold -= span->mark == DOC_BOLD;
    t->italic -= span->mark == DOC_ITALIC;
    t->strike -= span->mark == DOC_STRIKE;
}

static const struct {
    void (*open)(struct terminal *t, const struct doc_span *span);
    void (*close)(struct terminal *t, const struct doc_span *span);
    bool prefixes; /* the line prefix ends with the span */
} spans[] = {
    [DOC_BOLD] = {terminal_open_style, terminal_close_style, false},
    [DOC_ITALIC] = {terminal_open_style, terminal_close_style, false},
    [DOC_STRIKE] = {terminal_open_style, terminal_close_style, false},
    [DOC_CODE] = {terminal_open_code, terminal_close_code, false},
    [DOC_LINK] = {terminal_open_link, terminal_close_link, false},
    [DOC_PRE] = {terminal_open_pre, terminal_close_pre, true},
    [DOC_TABLE] = {terminal_open_table, terminal_close_table, false},
    [DOC_HEADING] = {terminal_open_heading, terminal_close_heading, false},
    [DOC_QUOTE] = {terminal_open_quote, NULL, true},
    [DOC_FOLD] = {terminal_open_quote, NULL, true},
    [DOC_ITEM] = {NULL, NULL, true},
    [DOC_MARKER] = {terminal_open_marker, NULL, false},
    [DOC_RULE] = {terminal_open_rule, NULL, false},
};

static void terminal_open(void *arg, const struct doc_span *span)
{
    struct terminal *t = arg;
    t->kept[t->depth++] = (struct terminal_mark){t->lines.prefix_len, t->lines.prefix_width};
    if (!t->hidden && spans[span->mark].open)
        spans[span->mark].open(t, span);
}

static void terminal_close(void *arg, const struct doc_span *span)
{
    struct terminal *t = arg;
    const struct terminal_mark *const before = &t->kept[--t->depth];
    if (t->hidden == span)
        t->hidden = NULL;
    else if (!t->hidden && spans[span->mark].close)
        spans[span->mark].close(t, span);
    if (!spans[span->mark].prefixes)
        return;
    terminal_line_flush(&t->lines);
    terminal_line_cut_prefix(&t->lines, before->prefix_len, before->prefix_width);
}

static void terminal_run(void *arg, struct str run)
{
    struct terminal *t = arg;
    if (t->hidden)
        return;
    if (t->pre)
        put_code(t, run);
    else
        put(t, run);
}

static const struct doc_visitor visitor = {terminal_open, terminal_close, terminal_run};

/* The last line has no line feed, as in the other forms. */
void render_terminal(struct render_output *out, const struct render_job *job)
{
    struct terminal t = {
        .lines = {.out = &out->text, .columns = job->columns, .styled = job->styled}, .job = job};
    doc_walk(job->doc, job->range, &visitor, &t);
    terminal_line_end(&t.lines);
    while (out->text.len > 0 && out->text.p[out->text.len - 1] == '\n')
        out->text.len--;
    terminal_line_fini(&t.lines);
}
