/* SPDX-License-Identifier: MIT
 * Checks the guarantees of texts, independently of the code that provides them. */
#include "text/text_check.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/bytes/utf8.h"
#include "text/markdown/markdown.h"
#include "text/html_check.h"
#include "text/render/split.h"
#include "text/terminal_check.h"

#define REQUIRE(holds, why)                                                                        \
    do {                                                                                           \
        if (!(holds))                                                                              \
            return why;                                                                            \
    } while (0)

static bool is_char_start(struct str s, size_t at)
{
    return at == s.len || ((unsigned char)s.p[at] & 0xc0) != 0x80;
}

const char *text_check_doc(const struct doc *d)
{
    REQUIRE(utf8_is_valid(d->text.p, d->text.len), "text is not UTF-8");
    for (size_t i = 0; i < d->count; i++) {
        const struct doc_span *s = &d->spans[i];
        const struct doc_span *outer = doc_get_parent(d, s);
        REQUIRE(s->start < s->end && s->end <= d->text.len, "span empty or out of the text");
        REQUIRE(i == 0 || s[-1].start <= s->start, "spans out of order");
        REQUIRE(!outer || (outer < s && outer->start <= s->start && s->end <= outer->end),
                "span out of its parent");
        REQUIRE(i == 0 || s[-1].end <= s->start || s[-1].end >= s->end, "spans overlap");
        REQUIRE(is_char_start(d->text, s->start) && is_char_start(d->text, s->end),
                "span cuts a character");
    }
    return NULL;
}

/* Does a character begin, or the text end, at this UTF-16 unit? */
static bool is_unit_start(const struct render_output *r, size_t unit)
{
    size_t at = 0, units = 0, len;
    for (; at < r->text.len && units < unit; at += len)
        units += utf8_decode(r->text.p + at, r->text.len - at, &len) > 0xffff ? 2 : 1;
    return units == unit;
}

static bool is_verbatim(enum render_kind kind)
{
    return kind == RENDER_CODE || kind == RENDER_PRE;
}

static bool is_quote(enum render_kind kind)
{
    return kind == RENDER_QUOTE || kind == RENDER_FOLD;
}

/* Checks two entities, a not after b. */
static const char *check_pair(const struct render_entity *a, const struct render_entity *b)
{
    const size_t a_end = a->offset + a->length, b_end = b->offset + b->length;
    REQUIRE(a->offset < b->offset || (a->offset == b->offset && a->length >= b->length),
            "entities out of order");
    if (b->offset >= a_end)
        return NULL;
    REQUIRE(b_end <= a_end, "entities overlap");
    REQUIRE(!is_verbatim(a->kind), "an entity in code");
    REQUIRE(!is_verbatim(b->kind) || is_quote(a->kind), "code in an entity");
    REQUIRE(!is_quote(b->kind), "a quote in an entity");
    return NULL;
}

static const char *check_entities(const struct render_output *r)
{
    const size_t units = render_count_utf16(r->text.p, r->text.len);
    for (size_t i = 0; i < r->count; i++) {
        const struct render_entity *e = &r->entities[i];
        REQUIRE(e->length > 0 && e->offset + e->length <= units, "entity out of the text");
        REQUIRE(is_unit_start(r, e->offset) && is_unit_start(r, e->offset + e->length),
                "entity cuts a surrogate pair");
        for (size_t k = 0; k < i; k++) {
            const char *why = check_pair(&r->entities[k], e);
            REQUIRE(!why, why);
        }
    }
    return NULL;
}

static bool has_links(const struct doc *d)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->spans[i].mark == DOC_LINK)
            return true;
    return false;
}

static bool has_tables(const struct doc *d)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->spans[i].mark == DOC_TABLE)
            return true;
    return false;
}

/* Checks for markup of Slack other than an address or a label. */
static const char *check_slack(const struct render_output *r)
{
    for (size_t i = 0; i + 1 < r->text.len; i++)
        REQUIRE(r->text.p[i] != '<' || !strchr("!@#", r->text.p[i + 1]), "a mention");
    return NULL;
}

/* "<" of CommonMark is text or an address; nobody is mentioned by name or number. Code may contain
 * "@" with a name, which is not a mention there. */
static const char *check_commonmark(const struct doc *d, const struct render_output *r)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->spans[i].mark == DOC_CODE || d->spans[i].mark == DOC_PRE ||
            d->spans[i].mark == DOC_TABLE)
            return NULL;
    for (size_t i = 0; i < r->text.len; i++) {
        const char *const p = r->text.p + i;
        const bool escaped = i > 0 && p[-1] == '\\';
        REQUIRE(*p != '<' || escaped || strncasecmp(p, "<http", 5) == 0, "a bare <");
        REQUIRE(*p != '@' || !(isdigit((unsigned char)p[1]) || strncasecmp(p, "@here", 5) == 0 ||
                               strncasecmp(p, "@everyone", 9) == 0),
                "a mention");
    }
    return NULL;
}

struct words {
    const char *at; /* position in the rendered text */
    bool tags;      /* the text has HTML tags */
    bool in_marker, lost;
};

static void words_open(void *arg, const struct doc_span *s)
{
    struct words *const w = arg;
    w->in_marker |= s->mark == DOC_MARKER;
}

static void words_close(void *arg, const struct doc_span *s)
{
    struct words *const w = arg;
    w->in_marker &= s->mark != DOC_MARKER;
}

static void find_letter(struct words *w, char c)
{
    for (; *w->at && *w->at != c; w->at++)
        if (w->tags && *w->at == '<')
            w->at += strcspn(w->at, ">");
    w->lost |= !*w->at;
    w->at += *w->at != '\0';
}

static void words_text(void *arg, struct str run)
{
    struct words *const w = arg;
    for (size_t i = 0; i < run.len && !w->in_marker; i++)
        if (isalnum((unsigned char)run.p[i]))
            find_letter(w, run.p[i]);
}

/* Are the letters and digits of the range in the output, in their order? */
static bool keeps_words(const struct doc *d, struct doc_range r, const struct render_output *out,
                        enum render_form form)
{
    static const struct doc_visitor visitor = {words_open, words_close, words_text};
    struct words w = {.at = out->text.p ? out->text.p : "", .tags = form == RENDER_HTML};
    doc_walk(d, r, &visitor, &w);
    return !w.lost;
}

static const char *check_rendered(const struct doc *d, struct doc_range r,
                                  const struct render_target *target,
                                  const struct render_output *out)
{
    REQUIRE(utf8_is_valid(out->text.p, out->text.len), "rendered text is not UTF-8");
    REQUIRE(render_fits_budget(out, &target->budget), "over the budget");
    /* On a terminal, cells of several lines are side by side. */
    REQUIRE((target->form == RENDER_TERMINAL && has_tables(d)) ||
                keeps_words(d, r, out, target->form),
            "words are missing");
    if (target->form == RENDER_MRKDWN || target->form == RENDER_MARKDOWN)
        return check_slack(out);
    if (target->form == RENDER_COMMONMARK)
        return check_commonmark(d, out);
    if (target->form == RENDER_HTML)
        return html_check(out->text.p ? out->text.p : "");
    if (target->form == RENDER_TERMINAL)
        return terminal_check((struct str){out->text.p, out->text.len}, target->columns,
                              target->styled, target->links);
    REQUIRE(out->text.len >= r.to - r.from, "text is missing");
    REQUIRE(has_links(d) || memcmp(out->text.p, d->text.p + r.from, r.to - r.from) == 0,
            "the text differs");
    return target->form == RENDER_TELEGRAM ? check_entities(out) : NULL;
}

static bool is_blank(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!strchr(" \t\n", p[i]))
            return false;
    return true;
}

/* A grapheme longer than the piece may be cut, and one that begins with a blank. */
static bool cuts_grapheme(const struct doc *d, struct doc_range r)
{
    const char *p = d->text.p + r.from;
    const size_t n = d->text.len - r.from;
    return utf8_truncated_len(p, n, r.to - r.from) != r.to - r.from &&
           !is_blank(d->text.p + r.to, 1);
}

const char *text_check_split(const struct doc *d, const struct render_target *target)
{
    struct arena a = {0};
    struct render_output out = {0};
    const struct split s = split_doc(&a, d, target);
    const char *why = NULL;
    size_t at = 0;
    for (size_t i = 0; i < s.count && !why; i++) {
        const struct doc_range r = s.pieces[i];
        render_doc(&out, d, r, target);
        why = check_rendered(d, r, target, &out);
        if (r.from < at || r.to <= r.from || r.to > d->text.len)
            why = "pieces out of order";
        else if (!is_blank(d->text.p + at, r.from - at))
            why = "text is left out between pieces";
        else if (r.to < d->text.len && cuts_grapheme(d, r))
            why = "a grapheme is cut";
        at = r.to;
    }
    if (!why && !is_blank(d->text.p + at, d->text.len - at))
        why = "text is left out at the end";
    rendered_fini(&out);
    arena_fini(&a);
    return why;
}

static const char *check_all_targets(const struct doc *d)
{
    static const struct render_target targets[] = {
        {.form = RENDER_PLAIN, .budget = {.bytes = 128}},
        {.form = RENDER_TELEGRAM, .budget = {.units = 128, .bytes = 32000, .entities = 8}},
        {.form = RENDER_TELEGRAM, .budget = {.units = 4000, .bytes = 32000, .entities = 95}},
        {.form = RENDER_MRKDWN, .budget = {.bytes = 160}},
        {.form = RENDER_MRKDWN, .budget = {.bytes = 4000}},
        {.form = RENDER_MARKDOWN, .budget = {.units = 200}},
        {.form = RENDER_MARKDOWN, .budget = {.units = 12000}},
        {.form = RENDER_COMMONMARK, .budget = {.units = 128, .unit = RENDER_CODEPOINTS}},
        {.form = RENDER_COMMONMARK,
         .budget = {.units = 150},
         .no_tables = true,
         .no_headings = true},
        {.form = RENDER_COMMONMARK,
         .budget = {.units = 2000, .unit = RENDER_CODEPOINTS},
         .no_tables = true},
        {.form = RENDER_HTML, .budget = {.units = 128, .unit = RENDER_BYTES}},
        {.form = RENDER_HTML, .budget = {.units = 128}, .no_tables = true, .no_headings = true},
        {.form = RENDER_HTML, .budget = {.units = 300, .unit = RENDER_CODEPOINTS}},
        {.form = RENDER_HTML, .budget = {.units = 8000, .unit = RENDER_BYTES}},
        {.form = RENDER_HTML, .budget = {.bytes = 20000}, .no_headings = true},
        {.form = RENDER_TERMINAL, .columns = 4, .styled = true},
        {.form = RENDER_TERMINAL, .columns = 20},
        {.form = RENDER_TERMINAL, .columns = 80, .styled = true, .links = true},
    };
    const char *why = text_check_doc(d);
    for (size_t i = 0; i < sizeof targets / sizeof targets[0] && !why; i++)
        why = text_check_split(d, &targets[i]);
    return why;
}

const char *text_check_source(struct str source)
{
    struct doc (*const readers[])(struct arena *, struct str) = {
        markdown_parse, markdown_parse_folded, markdown_make_plain};
    const char *why = NULL;
    for (size_t i = 0; i < sizeof readers / sizeof readers[0] && !why; i++) {
        struct arena a = {0};
        const struct doc d = readers[i](&a, source);
        why = check_all_targets(&d);
        arena_fini(&a);
    }
    const size_t settled = markdown_stable_length(source);
    if (!why && settled > 0 && (settled > source.len || source.p[settled - 1] != '\n'))
        why = "settled within a line";
    return why;
}
