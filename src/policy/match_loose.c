/* SPDX-License-Identifier: MIT
 * Normalises different spellings of one command, path or URL. */
#include "policy/match_loose.h"

#include <ctype.h>
#include <string.h>

#include "policy/glob.h"

#define LONGEST (128 << 10) /* longest argument of a program, and longest path */
#define FRONTS_MAX 16       /* number of skipped front words: sudo env A=B … */

static bool match_loose_is_blank(char c)
{
    return (unsigned char)c <= ' ';
}

static struct str match_loose_trim(struct str text)
{
    while (text.len && match_loose_is_blank(*text.p))
        text = (struct str){text.p + 1, text.len - 1};
    while (text.len && match_loose_is_blank(text.p[text.len - 1]))
        text.len--;
    return text;
}

static bool match_loose_fits(const struct conf_rule *rule, struct str text)
{
    const struct str pattern = {rule->pattern, strlen(rule->pattern)};
    switch (rule->match) {
    case CONF_ANY:
        break;
    case CONF_EXACT:
        return str_equal(text, match_loose_trim(pattern));
    case CONF_PREFIX:
        return str_has_prefix(text, pattern);
    case CONF_GLOB:
        return glob_match(pattern, text, GLOB_NO_SEP);
    }
    return true;
}

/* ---- commands ---- */

/* Removes quotes and backslashes; collapses blanks. */
static struct str unquote(struct arena *a, struct str text)
{
    char *const to = arena_alloc_bytes(a, text.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        const char c = match_loose_is_blank(text.p[i]) ? ' ' : text.p[i];
        if (!strchr("'\"\\", c) && !(c == ' ' && (!len || to[len - 1] == ' ')))
            to[len++] = c;
    }
    to[len] = 0;
    return match_loose_trim((struct str){to, len});
}

static struct str first_word(struct str text)
{
    const char *const blank = memchr(text.p, ' ', text.len);
    return (struct str){text.p, blank ? (size_t)(blank - text.p) : text.len};
}

static struct str base_name(struct str text)
{
    const char *const slash =
        first_word(text).len ? memrchr(text.p, '/', first_word(text).len) : NULL;
    const size_t skip = slash ? (size_t)(slash + 1 - text.p) : 0;
    return (struct str){text.p + skip, text.len - skip};
}

/* Words before a command that only change how it runs. */
static bool is_front(struct str word)
{
    static const char *const words[] = {
        "sudo",  "pkexec", "env",   "exec", "command", "builtin", "eval", "time",  "nice",
        "nohup", "setsid", "xargs", "if",   "then",    "else",    "elif", "while", "until",
        "do",    "!",      "sh",    "bash", "zsh",     "dash",    NULL};
    if (*word.p == '-' || memchr(word.p, '=', word.len))
        return true;
    const struct str name = base_name(word);
    for (const char *const *w = words; *w; w++)
        if (str_is(name, *w))
            return true;
    return false;
}

/* Matches a command, and the command behind its front words. */
static bool fits_simple(struct arena *a, const struct conf_rule *rule, struct str piece)
{
    struct str text = unquote(a, piece);
    for (unsigned i = 0; text.len && i < FRONTS_MAX; i++) {
        const struct str word = first_word(text);
        if (match_loose_fits(rule, text) || match_loose_fits(rule, base_name(text)))
            return true;
        if (!is_front(word))
            return false;
        text = match_loose_trim((struct str){text.p + word.len, text.len - word.len});
    }
    return false;
}

/* A backslash at the end of a line continues it. */
static struct str join_lines(struct arena *a, struct str text)
{
    char *const to = arena_alloc_bytes(a, text.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++)
        if (text.p[i] == '\\' && i + 1 < text.len && text.p[i + 1] == '\n')
            i++;
        else
            to[len++] = text.p[i];
    to[len] = 0;
    return (struct str){to, len};
}

static bool fits_command(struct arena *a, const struct conf_rule *rule, struct str lines)
{
    const struct str text = join_lines(a, lines);
    if (fits_simple(a, rule, text))
        return true;
    for (size_t from = 0, i = 0; i <= text.len; i++) {
        if (i < text.len && (!text.p[i] || !strchr(";&|\n\r(){}`", text.p[i])))
            continue;
        if (fits_simple(a, rule, (struct str){text.p + from, i - from}))
            return true;
        from = i + 1;
    }
    return false;
}

/* ---- paths ---- */

/* Removes empty components, "." and ".."; *above: the path leaves its starting directory. */
static struct str straighten(struct arena *a, struct str path, bool *above)
{
    const bool rooted = path.len && *path.p == '/';
    char *const to = arena_alloc_bytes(a, path.len + 2);
    size_t len = 0;
    for (size_t at = 0; at <= path.len;) {
        const char *const from = path.p + at, *const slash = memchr(from, '/', path.len - at);
        const struct str name = {from, slash ? (size_t)(slash - from) : path.len - at};
        at += name.len + 1;
        if (str_is(name, "..")) {
            *above |= !len && !rooted;
            while (len && to[--len] != '/')
                ;
        } else if (name.len && !str_is(name, ".")) {
            if (len || rooted)
                to[len++] = '/';
            memcpy(to + len, name.p, name.len);
            len += name.len;
        }
    }
    if (!len && rooted)
        to[len++] = '/';
    to[len] = 0;
    return (struct str){to, len};
}

static enum match_result match_path(struct arena *a, const struct conf_rule *rule, struct str text)
{
    bool above = false;
    const struct str straight = straighten(a, text, &above);
    const struct str folder = {arena_sprintf(a, "%s/", straight.p), straight.len + 1};
    if (match_loose_fits(rule, straight) || match_loose_fits(rule, folder))
        return MATCH_YES;
    return above || (text.len && *text.p == '~') ? MATCH_UNCERTAIN : MATCH_NO;
}

/* ---- URLs ---- */

/* Normalises like HTTP clients: removes blanks, control characters and the user; unifies slashes;
 * lower case. */
static struct str straighten_url(struct arena *a, struct str url)
{
    char *const to = arena_alloc_bytes(a, url.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < url.len; i++)
        if (!match_loose_is_blank(url.p[i]))
            to[len++] = url.p[i] == '\\' ? '/' : (char)tolower((unsigned char)url.p[i]);
    to[len] = 0;
    char *const host = strstr(to, "://");
    if (!host || memchr(to, 0, len))
        return (struct str){to, len};
    char *const at = memrchr(host + 3, '@', strcspn(host + 3, "/?#"));
    if (at) {
        memmove(host + 3, at + 1, len - (size_t)(at + 1 - to));
        len -= (size_t)(at + 1 - (host + 3));
        to[len] = 0;
    }
    return (struct str){to, len};
}

static bool fits_url(struct arena *a, const struct conf_rule *rule, struct str text)
{
    char *const pattern = arena_strdup(a, rule->pattern);
    for (char *c = pattern; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    const struct conf_rule lower = {.match = rule->match, .pattern = pattern};
    return match_loose_fits(&lower, straighten_url(a, text));
}

enum match_result match_loose_argument(struct arena *a, const struct conf_rule *rule,
                                       enum tool_argument_kind kind, struct str text)
{
    const struct str trimmed = match_loose_trim(text);
    if (text.len >= LONGEST || match_loose_fits(rule, trimmed))
        return MATCH_YES;
    if (kind == ARGUMENT_PATH)
        return match_path(a, rule, trimmed);
    if (kind == ARGUMENT_URL)
        return fits_url(a, rule, trimmed) ? MATCH_YES : MATCH_NO;
    if (fits_command(a, rule, trimmed))
        return MATCH_YES;
    if (kind != ARGUMENT_ANY)
        return MATCH_NO;
    return fits_url(a, rule, trimmed) ? MATCH_YES : match_path(a, rule, trimmed);
}
