/* SPDX-License-Identifier: MIT
 * Defines plain text, and matches prefixes and globs by whole words, components and hosts. */
#include "policy/match_strict.h"

#include <string.h>

#include "policy/glob.h"

#define PLAIN_MAX 4096 /* bytes */

#define WORD_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:,+@%-"
/* Characters that are usual in file names and have no meaning in a shell: no expansion, quotes or
 * separators. */
#define PATH_CHARS WORD_CHARS " ()[]{}#=~^!"
#define HOST_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-"
#define URL_CHARS WORD_CHARS "?#=&~!()*'$[]"
#define NAME_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./:-"

/* Whether the text is not empty and has only these characters. */
static bool is_made_of(struct str text, const char *chars)
{
    for (size_t i = 0; i < text.len; i++)
        if (!text.p[i] || !strchr(chars, text.p[i]))
            return false;
    return text.len > 0;
}

static bool match_strict_is_printable(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.p[i] < ' ' || text.p[i] > '~')
            return false;
    return text.len > 0;
}

static bool is_trimmed(struct str text)
{
    return text.len && text.p[0] != ' ' && text.p[text.len - 1] != ' ';
}

static bool is_plain_command(struct str text)
{
    return is_trimmed(text) && is_made_of(text, WORD_CHARS " ");
}

/* Whether all components are names: not empty (except for a slash at the end), "." or "..". */
static bool has_names(struct str path)
{
    for (size_t at = 0; at < path.len;) {
        const char *const from = path.p + at + 1;
        const size_t left = path.len - at - 1;
        const char *const slash = memchr(from, '/', left);
        const struct str name = {from, slash ? (size_t)(slash - from) : left};
        if (str_is(name, ".") || str_is(name, "..") || (!name.len && left))
            return false;
        at += 1 + name.len;
    }
    return true;
}

/* Excludes %, too, which a reader that expects a URL would decode. */
static bool is_plain_path(struct str text)
{
    return is_made_of(text, PATH_CHARS) && *text.p == '/' && !memchr(text.p, '%', text.len) &&
           has_names(text);
}

/* ---- URLs ---- */

struct url {
    struct str origin; /* length of scheme and host */
    struct str host, rest;
};

/* The part before the first of `ends`. */
static struct str before(struct str text, const char *ends)
{
    size_t len = 0;
    while (len < text.len && !strchr(ends, text.p[len]))
        len++;
    return (struct str){text.p, len};
}

static struct str text_from(struct str text, size_t n)
{
    return (struct str){text.p + n, text.len - n};
}

static bool split_url(struct str text, const char *ends, struct url *url)
{
    const size_t scheme = before(text, ":").len;
    if (!scheme || !str_has_prefix(text_from(text, scheme), STR("://")))
        return false;
    url->host = before(text_from(text, scheme + 3), ends);
    url->origin = (struct str){text.p, scheme + 3 + url->host.len};
    url->rest = text_from(text, url->origin.len);
    return url->host.len > 0;
}

static int match_strict_hex_value(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *const at = c ? strchr(digits, c | 0x20) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* Excludes encodings that would change the path when decoded. */
static bool has_plain_escapes(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.p[i] != '%')
            continue;
        const int high = i + 2 < text.len ? match_strict_hex_value(text.p[i + 1]) : -1;
        const int low = i + 2 < text.len ? match_strict_hex_value(text.p[i + 2]) : -1;
        const int byte = high * 16 + low;
        if (high < 0 || low < 0 || byte < ' ' || strchr("./\\%?#;", byte))
            return false;
    }
    return true;
}

/* Accepts a name or an address, with or without a numeric port. */
static bool is_plain_host(struct str text)
{
    const struct str name = before(text, ":");
    return is_made_of(name, HOST_CHARS) &&
           (name.len == text.len || is_made_of(text_from(text, name.len + 1), "0123456789"));
}

/* Excludes any @, because clients disagree about the end of the user. */
static bool is_plain_url(struct str text, struct url *url)
{
    return is_made_of(text, URL_CHARS) && !memchr(text.p, '@', text.len) &&
           split_url(text, "/?#", url) && is_plain_host(url->host) &&
           has_plain_escapes(url->rest) && has_names(before(url->rest, "?#"));
}

/* ---- prefixes ---- */

/* Whether the prefix is the whole text, or ends at a boundary. */
static bool has_parts(struct str text, struct str prefix, const char *ends)
{
    if (!str_has_prefix(text, prefix))
        return false;
    return text.len == prefix.len || strchr(ends, text.p[prefix.len]) ||
           strchr(ends, prefix.p[prefix.len - 1]);
}

static bool covers_url(const struct conf_rule *rule, struct str pattern, struct str text)
{
    struct url wanted, url;
    if (!split_url(pattern, "/", &wanted) || !is_plain_url(text, &url))
        return false;
    if (rule->match == CONF_GLOB)
        return glob_match(wanted.origin, url.origin, GLOB_NO_SEP) &&
               glob_match(wanted.rest, url.rest, '/');
    return str_equal(wanted.origin, url.origin) &&
           (!wanted.rest.len || has_parts(url.rest, wanted.rest, "/?#"));
}

/* Whether a ".." stands between slashes and blanks. */
static bool climbs(struct str text)
{
    for (struct str name; text.len; text = text_from(text, name.len + (name.len < text.len))) {
        name = before(text, "/ ");
        if (str_is(name, ".."))
            return true;
    }
    return false;
}

static bool match_strict_covers(const struct conf_rule *rule, struct str pattern, struct str text,
                                char sep)
{
    const char ends[] = {sep, 0};
    return rule->match == CONF_GLOB ? !climbs(text) && glob_match(pattern, text, sep)
                                    : has_parts(text, pattern, ends);
}

static bool covers_path(const struct conf_rule *rule, struct str pattern, struct str text)
{
    return *pattern.p == '/' && is_plain_path(text) &&
           match_strict_covers(rule, pattern, text, '/');
}

static bool covers_command(const struct conf_rule *rule, struct str pattern, struct str command)
{
    const struct str script = tool_argument_shell_script(command);
    const struct str text = script.p ? script : command;
    return is_plain_command(text) && match_strict_covers(rule, pattern, text, ' ');
}

/* The reader of an unknown argument is unknown, so the text must be plain for a shell, too. */
static bool covers_any(const struct conf_rule *rule, struct str pattern, struct str text)
{
    if (!is_plain_command(text))
        return false;
    if (strstr(rule->pattern, "://"))
        return covers_url(rule, pattern, text);
    return *pattern.p == '/' ? covers_path(rule, pattern, text)
                             : match_strict_covers(rule, pattern, text, ' ');
}

bool match_strict_argument(const struct conf_rule *rule, enum tool_argument_kind kind,
                           struct str text)
{
    const struct str pattern = {rule->pattern, strlen(rule->pattern)};
    if (rule->match == CONF_EXACT)
        return str_equal(pattern, text) ||
               (kind == ARGUMENT_COMMAND && str_equal(pattern, tool_argument_shell_script(text)));
    if (text.len > PLAIN_MAX)
        return false;
    switch (kind) {
    case ARGUMENT_COMMAND:
        return covers_command(rule, pattern, text);
    case ARGUMENT_PATH:
        return covers_path(rule, pattern, text);
    case ARGUMENT_URL:
        return covers_url(rule, pattern, text);
    case ARGUMENT_TEXT:
        return is_trimmed(text) && match_strict_is_printable(text) &&
               match_strict_covers(rule, pattern, text, ' ');
    case ARGUMENT_ANY:
        break;
    }
    return covers_any(rule, pattern, text);
}

bool match_strict_tool(const char *pattern, const char *tool, bool strict)
{
    const struct str name = {tool, strlen(tool)};
    if (strcmp(pattern, tool) == 0)
        return *tool;
    if (strict && (name.len > PLAIN_MAX || !is_made_of(name, NAME_CHARS)))
        return false;
    return glob_match((struct str){pattern, strlen(pattern)}, name, GLOB_NO_SEP);
}
