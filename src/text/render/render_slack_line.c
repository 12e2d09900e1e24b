/* SPDX-License-Identifier: MIT
 * Owns escaping for Slack. */
#include "text/render/render_slack_line.h"

#include <ctype.h>
#include <strings.h>

void render_slack_line_set_prefix(struct render_slack_line *l, const char *prefix, size_t n)
{
    if (l->prefix_len + n > sizeof l->prefix)
        return;
    memcpy(l->prefix + l->prefix_len, prefix, n);
    l->prefix_len += n;
}

/* An empty line of a quote is marked too, else it would be two quotes. */
static void render_slack_line_end_line(struct render_slack_line *l)
{
    size_t n = l->line_begun ? 0 : l->prefix_len;
    while (n > 0 && l->prefix[n - 1] == ' ')
        n--;
    buf_add(l->out, l->prefix, n);
    buf_add_char(l->out, '\n');
    l->line_begun = false;
    l->unjoined = false;
    l->start = SLACK_FRESH;
}

static void render_slack_line_begin_line(struct render_slack_line *l)
{
    if (!l->line_begun)
        buf_add(l->out, l->prefix, l->prefix_len);
    l->line_begun = true;
}

static void render_slack_line_put(struct render_slack_line *l, const char *p, size_t n)
{
    render_slack_line_begin_line(l);
    buf_add(l->out, p, n);
    l->unjoined = false;
}

/* Our own markup, as it is. */
static void slack_raw(struct render_slack_line *l, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] == '\n')
            render_slack_line_end_line(l);
        else
            render_slack_line_put(l, s.p + i, 1);
    }
}

void slack_raw_str(struct render_slack_line *l, const char *s)
{
    slack_raw(l, (struct str){s, strlen(s)});
}

static const char *reference(char c)
{
    return c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : NULL;
}

/* "@here" and its like ring everywhere; behind a joint they are words. */
static bool is_mass_mention(struct str s, size_t at)
{
    static const char *const names[] = {"here", "channel", "everyone", "group"};
    if (s.p[at] != '@')
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const size_t n = strlen(names[i]);
        if (s.len - at > n && strncasecmp(s.p + at + 1, names[i], n) == 0)
            return true;
    }
    return false;
}

bool slack_is_word(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* A joint is no word, for all that its bytes look like. */
bool slack_ends_in_word(const struct render_slack_line *l)
{
    const size_t n = l->out->len, joint = strlen(SLACK_JOINT);
    if (n == 0 || (n >= joint && memcmp(l->out->p + n - joint, SLACK_JOINT, joint) == 0))
        return false;
    return slack_is_word(l->out->p[n - 1]);
}

/* Would Markdown read the character as anything but itself? */
static bool is_markup(const struct render_slack_line *l, struct str s, size_t at)
{
    const char c = s.p[at];
    if (c == '_')
        return at == 0 || at + 1 == s.len || !slack_is_word(s.p[at - 1]) ||
               !slack_is_word(s.p[at + 1]);
    if (l->start == SLACK_FRESH && strchr("#+-=", c))
        return true;
    if (l->start == SLACK_DIGITS && (c == '.' || c == ')'))
        return true;
    return strchr("\\`*[]~|", c) != NULL;
}

static void advance_start(struct render_slack_line *l, char c)
{
    if (c == ' ' && l->start == SLACK_FRESH)
        return;
    l->start = l->start != SLACK_WITHIN && isdigit((unsigned char)c) ? SLACK_DIGITS : SLACK_WITHIN;
}

static void put_char(struct render_slack_line *l, struct str s, size_t at)
{
    const char *ref = reference(s.p[at]);
    if (ref) {
        render_slack_line_put(l, ref, strlen(ref));
    } else {
        if (l->block && is_markup(l, s, at))
            render_slack_line_put(l, "\\", 1);
        render_slack_line_put(l, s.p + at, 1);
    }
    if (is_mass_mention(s, at))
        render_slack_line_put(l, SLACK_JOINT, strlen(SLACK_JOINT));
    advance_start(l, s.p[at]);
}

void slack_text(struct render_slack_line *l, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] == '\n')
            render_slack_line_end_line(l);
        else
            put_char(l, s, i);
    }
}

/* mrkdwn has one fence only, so three backticks in a row are parted. */
void slack_code(struct render_slack_line *l, struct str s)
{
    for (size_t i = 0; i < s.len; i++) {
        const char *ref = reference(s.p[i]);
        l->backticks = s.p[i] == '`' ? l->backticks + 1 : 0;
        if (!l->block && l->backticks == 3) {
            render_slack_line_put(l, SLACK_JOINT, strlen(SLACK_JOINT));
            l->backticks = 1;
        }
        if (s.p[i] == '\n')
            render_slack_line_end_line(l);
        else
            render_slack_line_put(l, ref ? ref : s.p + i, ref ? strlen(ref) : 1);
    }
}

size_t slack_longest_backticks(struct str s)
{
    size_t longest = 0, run = 0;
    for (size_t i = 0; i < s.len; i++) {
        run = s.p[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest;
}

void slack_backticks(struct render_slack_line *l, size_t n)
{
    for (; n > 0; n--)
        render_slack_line_put(l, "`", 1);
}

/* mrkdwn cannot write a backtick here; one that looks like it can be. */
static void put_lookalike(struct render_slack_line *l, struct str code)
{
    for (size_t i = 0; i < code.len; i++) {
        if (code.p[i] == '`')
            render_slack_line_put(l, "\xcb\x8b", 2);
        else
            slack_code(l, (struct str){code.p + i, 1});
    }
}

void slack_inline_code(struct render_slack_line *l, struct str code)
{
    const size_t fence = l->block ? slack_longest_backticks(code) + 1 : 1;
    const size_t blanks = fence > 1 ? 1 : 0;
    slack_backticks(l, fence);
    render_slack_line_put(l, " ", blanks);
    if (l->block)
        slack_code(l, code);
    else
        put_lookalike(l, code);
    render_slack_line_put(l, " ", blanks);
    slack_backticks(l, fence);
}

void slack_address(struct render_slack_line *l, const char *url)
{
    for (; *url; url++) {
        if (*url == '&')
            render_slack_line_put(l, "&amp;", 5);
        else if (l->block && (*url == '(' || *url == ')'))
            render_slack_line_put(l, *url == '(' ? "%28" : "%29", 3);
        else
            render_slack_line_put(l, url, 1);
    }
}

size_t render_slack_line_url_size(const char *url)
{
    size_t n = 0;
    for (; *url; url++)
        n += *url == '&' ? 5 : *url == '(' || *url == ')' ? 3 : strchr("\\`*_[]~|", *url) ? 2 : 1;
    return n;
}
