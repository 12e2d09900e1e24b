/* SPDX-License-Identifier: MIT
 * Escapes text in markup. */
#include "text/render/markup_line.h"

#include <ctype.h>
#include <strings.h>

#define NO_BREAK "\xc2\xa0"

void markup_line_set_prefix(struct markup_line *l, const char *prefix, size_t n)
{
    if (l->prefix_len + n > sizeof l->prefix)
        return;
    memcpy(l->prefix + l->prefix_len, prefix, n);
    l->prefix_len += n;
}

/* An empty line of a quote is marked, too; otherwise the quote would be split in two. Discord
 * requires the blank. */
static void markup_line_end_line(struct markup_line *l)
{
    size_t n = l->line_begun ? 0 : l->prefix_len;
    while (n > 0 && l->prefix[n - 1] == ' ')
        n--;
    if (l->commonmark && n > 0)
        n++;
    buf_add(l->out, l->prefix, n);
    buf_add_char(l->out, '\n');
    l->line_begun = false;
    l->unjoined = false;
    l->start = MARKUP_FRESH;
}

static void markup_line_begin_line(struct markup_line *l)
{
    if (!l->line_begun)
        buf_add(l->out, l->prefix, l->prefix_len);
    l->line_begun = true;
}

static void markup_line_put(struct markup_line *l, const char *p, size_t n)
{
    markup_line_begin_line(l);
    buf_add(l->out, p, n);
    l->unjoined = false;
}

/* Appends markup that turncast generates, unescaped. */
static void markup_raw(struct markup_line *l, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] == '\n')
            markup_line_end_line(l);
        else
            markup_line_put(l, s.p + i, 1);
    }
}

void markup_raw_str(struct markup_line *l, const char *s)
{
    markup_raw(l, (struct str){s, strlen(s)});
}

static const char *markup_line_char_reference(char c)
{
    return c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : NULL;
}

/* Whether the text begins with the name, or may begin with it when more text follows. */
static bool markup_line_may_begin_with(struct str s, const char *name)
{
    const size_t n = strlen(name);
    return strncasecmp(s.p, name, s.len < n ? s.len : n) == 0;
}

/* A person or role of Discord: "<@123>", "<@!123>", "<@&123>". */
static bool markup_line_may_be_mention_id(struct str s)
{
    if (s.len > 0 && (*s.p == '!' || *s.p == '&'))
        s = (struct str){s.p + 1, s.len - 1};
    return s.len == 0 || isdigit((unsigned char)*s.p);
}

/* "@here" and similar words notify everybody; a joint after the @ disarms them. */
static bool is_mention(const struct markup_line *l, struct str s, size_t at)
{
    static const char *const names[] = {"here", "channel", "everyone", "group"};
    if (s.p[at] != '@')
        return false;
    const struct str rest = {s.p + at + 1, s.len - at - 1};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (markup_line_may_begin_with(rest, names[i]))
            return true;
    return l->commonmark && markup_line_may_be_mention_id(rest);
}

bool markup_is_word(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* A joint is no word character, although its bytes look like one. */
bool markup_ends_in_word(const struct markup_line *l)
{
    const size_t n = l->out->len, joint = strlen(MARKUP_JOINT);
    if (n == 0 || (n >= joint && memcmp(l->out->p + n - joint, MARKUP_JOINT, joint) == 0))
        return false;
    return markup_is_word(l->out->p[n - 1]);
}

/* Whether the position is not within a word. Discord treats non-ASCII letters as word
 * boundaries. */
static bool is_underscore_markup(const struct markup_line *l, struct str s, size_t at)
{
    if (at == 0 || at + 1 == s.len)
        return true;
    const char before = s.p[at - 1], after = s.p[at + 1];
    if (l->commonmark)
        return !isalnum((unsigned char)before) || !isalnum((unsigned char)after);
    return !markup_is_word(before) || !markup_is_word(after);
}

/* Whether Markdown gives the character a special meaning here. */
static bool markup_line_is_markup(const struct markup_line *l, struct str s, size_t at)
{
    const char c = s.p[at];
    if (c == '_')
        return is_underscore_markup(l, s, at);
    if (l->start == MARKUP_FRESH && strchr("#+-=>", c))
        return true;
    if (l->start == MARKUP_DIGITS && (c == '.' || c == ')'))
        return true;
    if (l->commonmark && c == '&')
        return at + 1 == s.len || s.p[at + 1] == '#' || isalnum((unsigned char)s.p[at + 1]);
    return strchr("\\`*[]~|", c) || (l->commonmark && (c == '<' || is_mention(l, s, at)));
}

/* Blanks at the start of a line would make it code. */
static bool is_indent(const struct markup_line *l, char c)
{
    const size_t n = l->out->len, width = strlen(NO_BREAK);
    if (!l->commonmark || l->start != MARKUP_FRESH || (c != ' ' && c != '\t'))
        return false;
    return !l->line_begun || (n >= width && memcmp(l->out->p + n - width, NO_BREAK, width) == 0);
}

static void markup_line_advance_start(struct markup_line *l, char c)
{
    if ((c == ' ' || is_indent(l, c)) && l->start == MARKUP_FRESH)
        return;
    l->start =
        l->start != MARKUP_WITHIN && isdigit((unsigned char)c) ? MARKUP_DIGITS : MARKUP_WITHIN;
}

static void put_char(struct markup_line *l, struct str s, size_t at)
{
    const char *ref = is_indent(l, s.p[at]) ? NO_BREAK
                      : l->commonmark       ? NULL
                                            : markup_line_char_reference(s.p[at]);
    if (ref) {
        markup_line_put(l, ref, strlen(ref));
    } else {
        if (l->block && markup_line_is_markup(l, s, at))
            markup_line_put(l, "\\", 1);
        markup_line_put(l, s.p + at, 1);
    }
    if (is_mention(l, s, at))
        markup_line_put(l, MARKUP_JOINT, strlen(MARKUP_JOINT));
    markup_line_advance_start(l, s.p[at]);
}

void markup_text(struct markup_line *l, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] == '\n')
            markup_line_end_line(l);
        else
            put_char(l, s, i);
    }
}

/* mrkdwn and Discord support only one fence, so three backticks in a row are separated by
 * joints. */
void markup_code(struct markup_line *l, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        const char *ref = l->commonmark ? NULL : markup_line_char_reference(s.p[i]);
        l->backticks = s.p[i] == '`' ? l->backticks + 1 : 0;
        if ((!l->block || l->commonmark) && l->backticks == 3) {
            markup_line_put(l, MARKUP_JOINT, strlen(MARKUP_JOINT));
            l->backticks = 1;
        }
        if (s.p[i] == '\n')
            markup_line_end_line(l);
        else
            markup_line_put(l, ref ? ref : s.p + i, ref ? strlen(ref) : 1);
    }
}

size_t markup_longest_backticks(struct str s)
{
    size_t longest = 0, run = 0;
    for (size_t i = 0; i < s.len; i++) {
        run = s.p[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

void markup_backticks(struct markup_line *l, size_t n)
{
    for (; n > 0; n--)
        markup_line_put(l, "`", 1);
}

/* mrkdwn cannot contain a backtick in inline code; a similar character is used. */
static void markup_line_put_similar_char(struct markup_line *l, struct str code)
{
    for (size_t i = 0; i < code.len; i++) {
        if (code.p[i] == '`')
            markup_line_put(l, "\xcb\x8b", 2);
        else
            markup_code(l, (struct str){code.p + i, 1});
    }
}

void markup_inline_code(struct markup_line *l, struct str code)
{
    const size_t fence = l->block ? markup_longest_backticks(code) + 1 : 1;
    const size_t blanks = fence > 1 ? 1 : 0;
    l->backticks = 0;
    markup_backticks(l, fence);
    markup_line_put(l, " ", blanks);
    if (l->block)
        markup_code(l, code);
    else
        markup_line_put_similar_char(l, code);
    markup_line_put(l, " ", blanks);
    markup_backticks(l, fence);
}

/* Replacement of a character in an address; NULL: unchanged. In CommonMark, a semicolon may end a
 * character reference. */
static const char *url_escape(const struct markup_line *l, const char *url, bool bare)
{
    const struct str rest = {url, strlen(url)};
    if (l->commonmark && is_mention(l, rest, 0))
        return "%40";
    if (bare && l->block)
        return NULL;
    if (*url == '&' && !l->commonmark)
        return "&amp;";
    if (*url == ';' && l->commonmark)
        return "%3B";
    if (l->block && (*url == '(' || *url == ')'))
        return *url == '(' ? "%28" : "%29";
    return NULL;
}

void markup_address(struct markup_line *l, const char *url, bool bare)
{
    for (; *url; url++) {
        const char *const escape = url_escape(l, url, bare);
        markup_line_put(l, escape ? escape : url, escape ? strlen(escape) : 1);
    }
}

size_t markup_line_url_size(const char *url)
{
    size_t n = 0;
    for (; *url; url++)
        n += strchr("&@", *url) ? 5 : strchr("();", *url) ? 3 : strchr("\\`*_[]~|", *url) ? 2 : 1;
    return n;
}
