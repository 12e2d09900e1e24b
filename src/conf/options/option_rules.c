/* SPDX-License-Identifier: MIT
 * One function per kind of rule, in a table. */
#include "conf/options/option_rules.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "base/sys/executable.h"
#include "conf/parse/option_list.h"

#define PROGRAM_DIRS "/usr/local/bin:/usr/bin:/bin" /* directories for TC_RULE_PROGRAM */
#define WHOLE_MAX 9007199254740992.0                /* 2^53: larger doubles skip integers */

/* ---- words and numbers ---- */

/* Takes the next word of a list; false at the end. */
static bool option_rules_next_word(const char **rest, struct str *word)
{
    *rest += strspn(*rest, " ");
    *word = (struct str){*rest, strcspn(*rest, " ")};
    *rest += word->len;
    return word->len > 0;
}

static bool option_rules_has_word(const char *words, const char *text, size_t len)
{
    struct str word;
    while (option_rules_next_word(&words, &word))
        if (word.len == len && memcmp(word.p, text, len) == 0)
            return true;
    return false;
}

/* Formats "a, b, c", each with `before` and `after` around it. */
static void option_rules_add_words(struct buf *out, const char *words, const char *before,
                                   const char *after)
{
    struct str word;
    for (const char *join = ""; option_rules_next_word(&words, &word); join = ", ")
        buf_printf(out, "%s%s%.*s%s", join, before, (int)word.len, word.p, after);
}

double option_rules_parse_real(const char *text, char **end)
{
    const locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const double v = strtod_l(text, end, plain);
    freelocale(plain);
    return v;
}

/* End of the number at the beginning of the text; the text itself: no number. */
static const char *option_rules_read_number(const char *text, double *number)
{
    char *end;
    *number = option_rules_parse_real(text, &end);
    return strspn(text, "+-.0123456789") > 0 && isfinite(*number) ? end : text;
}

/* ---- durations and sizes ---- */

struct option_rules_unit {
    const char *name;
    double factor;
};

static const struct option_rules_unit durations[] = {{"ms", 1},      {"s", 1e3},   {"min", 6e4},
                                                     {"h", 3600000}, {"d", 864e5}, {NULL, 0}};
static const struct option_rules_unit sizes[] = {
    {"B", 1}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}, {NULL, 0}};

/* Options of other types have no units. */
static const struct option_rules_unit *option_rules_units_of(enum tc_rule_kind kind)
{
    static const struct option_rules_unit none[] = {{NULL, 0}};
    return kind == TC_RULE_DURATION ? durations : kind == TC_RULE_SIZE ? sizes : none;
}

/* Factor of a unit; 0: unknown. */
static double option_rules_factor(const struct option_rules_unit *units, const char *name)
{
    for (; units->name; units++)
        if (strcmp(units->name, name) == 0)
            return units->factor;
    return 0;
}

static const struct tc_rule *option_rules_find_unit(const struct tc_rule *rules, const char *key)
{
    for (; rules && rules->key; rules++)
        if (option_rules_units_of(rules->kind)->name && strcmp(rules->key, key) == 0)
            return rules;
    return NULL;
}

static void option_rules_tell_units(const struct tc_rule *rule, const char *shown, struct buf *why)
{
    const struct option_rules_unit *unit = option_rules_units_of(rule->kind);
    buf_printf(why, "invalid value%s; use a number of %s, or a %s such as \"%s\" (units: ", shown,
               rule->text, rule->kind == TC_RULE_SIZE ? "size" : "duration",
               rule->kind == TC_RULE_SIZE ? "64 MiB" : "30 s");
    for (const char *join = ""; unit->name; unit++, join = ", ")
        buf_printf(why, "%s%s", join, unit->name);
    buf_add_str(why, ")");
}

/* Formats ' "value"', or nothing for a secret. Owned. */
static char *option_rules_show(const struct tc_option *option, const char *text)
{
    return option->flags & TC_SECRET ? xstrdup("") : xasprintf(" \"%.200s\"", text);
}

const char *option_rules_scale(const struct tc_rule *rules, const struct tc_option *option,
                               const char *text, struct buf *out, struct buf *why)
{
    const struct tc_rule *const rule = option_rules_find_unit(rules, option->key);
    double number;
    if (!rule)
        return text;
    const char *const end = option_rules_read_number(text, &number);
    if (end != text && !*end)
        return text;
    const struct option_rules_unit *const units = option_rules_units_of(rule->kind);
    const double factor = option_rules_factor(units, end + strspn(end, " "));
    const double value = number * factor / option_rules_factor(units, rule->text);
    CLEANUP_FREE char *shown = option_rules_show(option, text);
    if (end == text || factor <= 0) {
        option_rules_tell_units(rule, shown, why);
        return NULL;
    }
    if (option->type == TC_T_INT && (rint(value) < value || rint(value) > value)) {
        buf_printf(why, "the value%s is not a whole number of %s; use a multiple of 1 %s", shown,
                   rule->text, rule->text);
        return NULL;
    }
    buf_reset(out);
    if (fabs(value) < WHOLE_MAX && !(rint(value) < value) && !(rint(value) > value))
        buf_printf(out, "%" PRId64, (int64_t)value);
    else
        buf_printf(out, "%.17g", value);
    return out->p;
}

/* ---- one value ---- */

/* The rule and the value to check. */
struct option_rules_case {
    const struct tc_rule *rule;
    const struct tc_rule *rules; /* all options of the plugin */
    const char *text;
    const char *shown; /* ' "text"', or "" */
    bool paths;        /* check paths in the file system */
    struct buf *why;
};

static int option_rules_fail(const struct option_rules_case *c, const char *fmt, ...)
    PRINTF_LIKE(2, 3);
static int option_rules_fail(const struct option_rules_case *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(c->why, fmt, ap);
    va_end(ap);
    return -1;
}

static int option_rules_check_one_of(const struct option_rules_case *c)
{
    if (*c->text && option_rules_has_word(c->rule->text, c->text, strlen(c->text)))
        return 0;
    option_rules_fail(c, "invalid value%s; valid values: ", c->shown);
    option_rules_add_words(c->why, c->rule->text, "", "");
    return -1;
}

static void option_rules_add_bounds(struct buf *out, const struct tc_rule *rule)
{
    if (rule->max == INT64_MAX)
        buf_printf(out, "%" PRId64 " or more", rule->min);
    else if (rule->min == INT64_MIN)
        buf_printf(out, "%" PRId64 " or less", rule->max);
    else
        buf_printf(out, "%" PRId64 " to %" PRId64, rule->min, rule->max);
}

static int option_rules_check_range(const struct option_rules_case *c)
{
    char *end;
    double real;
    errno = 0;
    const int64_t whole = strtoll(c->text, &end, 10);
    const bool is_whole = end != c->text && !*end && !errno;
    option_rules_read_number(c->text, &real);
    if (is_whole ? whole >= c->rule->min && whole <= c->rule->max
                 : real >= (double)c->rule->min && real <= (double)c->rule->max)
        return 0;
    const struct tc_rule *const unit = option_rules_find_unit(c->rules, c->rule->key);
    option_rules_fail(c, "%s is out of range; use ", *c->shown ? c->text : "the value");
    option_rules_add_bounds(c->why, c->rule);
    if (unit)
        buf_printf(c->why, " %s", unit->text);
    return -1;
}

/* Accepts the text behind the host: nothing, or ":" and a port, then a path, query or fragment. */
static bool option_rules_is_rest(const char *text)
{
    const char *end = text;
    if (*text == ':') {
        char *after;
        const long port = text[1] >= '0' && text[1] <= '9' ? strtol(text + 1, &after, 10) : 0;
        if (port < 1 || port > 65535)
            return false;
        end = after;
    }
    return !*end || strchr("/?#", *end);
}

static bool option_rules_is_address(const char *host)
{
    static const char names[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    static const char v6[] = "0123456789abcdefABCDEF:.";
    if (*host != '[') {
        const size_t len = strspn(host, names);
        return len && option_rules_is_rest(host + len);
    }
    const size_t len = strspn(host + 1, v6);
    return len && host[1 + len] == ']' && option_rules_is_rest(host + len + 2);
}

static int option_rules_check_url(const struct option_rules_case *c)
{
    const char *const colon = strstr(c->text, "://");
    const char *const host = colon ? colon + 3 : c->text;
    if (memchr(host, '@', strcspn(host, "/?#")))
        return option_rules_fail(c, "the URL contains a user name or password; remove it");
    bool clean = true;
    for (const char *p = c->text; *p; p++)
        clean = clean && (unsigned char)*p > ' ' && *p != 0x7f;
    if (clean && colon &&
        option_rules_has_word(c->rule->text, c->text, (size_t)(colon - c->text)) &&
        option_rules_is_address(host))
        return 0;
    option_rules_fail(c, "invalid URL%s; use ", c->shown);
    option_rules_add_words(c->why, c->rule->text, "", "://HOST");
    return -1;
}

static int option_rules_check_variable(const struct option_rules_case *c)
{
    static const char name[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const size_t len = strspn(c->text, name);
    if (len && c->text[len] == '=' && !(c->text[0] >= '0' && c->text[0] <= '9'))
        return 0;
    return option_rules_fail(c,
                             "invalid variable%s; use NAME=VALUE, where NAME consists of letters, "
                             "digits and _",
                             c->shown);
}

/* ---- paths ---- */

static bool option_rules_may(const char *path, int mode)
{
    return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0;
}

static int option_rules_check_exists(const struct option_rules_case *c)
{
    struct stat st;
    if (stat(c->text, &st) == 0)
        return 0;
    return option_rules_fail(c, "cannot access \"%s\": %s; create it or change the path", c->text,
                             strerror(errno));
}

static int option_rules_check_reads(const struct option_rules_case *c)
{
    struct stat st;
    if (option_rules_check_exists(c) < 0)
        return -1;
    if (stat(c->text, &st) == 0 && S_ISDIR(st.st_mode))
        return option_rules_fail(c, "\"%s\" is a directory; use the path of a file", c->text);
    return option_rules_may(c->text, R_OK)
               ? 0
               : option_rules_fail(c, "cannot read \"%s\": %s; change its mode or the path",
                                   c->text, strerror(errno));
}

static int option_rules_check_parent(const struct option_rules_case *c)
{
    const char *const slash = strrchr(c->text, '/');
    CLEANUP_FREE char *dir = !slash             ? xstrdup(".")
                             : slash == c->text ? xstrdup("/")
                                                : xstrndup(c->text, (size_t)(slash - c->text));
    struct stat st;
    if (stat(dir, &st) < 0)
        return option_rules_fail(c, "directory \"%s\": %s; create it or change the path", dir,
                                 strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return option_rules_fail(c, "\"%s\" is not a directory; change the path", dir);
    return option_rules_may(dir, W_OK | X_OK)
               ? 0
               : option_rules_fail(c,
                                   "directory \"%s\" is not writable: %s; change its mode or "
                                   "the path",
                                   dir, strerror(errno));
}

static int option_rules_check_writes(const struct option_rules_case *c)
{
    struct stat st;
    const size_t len = strlen(c->text);
    if (len == 0)
        return option_rules_fail(c, "must not be empty; use the path of a file");
    if (stat(c->text, &st) < 0 && errno == ENOENT && c->text[len - 1] != '/')
        return option_rules_check_parent(c);
    if (c->text[len - 1] == '/' || (stat(c->text, &st) == 0 && S_ISDIR(st.st_mode)))
        return option_rules_fail(c, "\"%s\" is a directory; use the path of a file", c->text);
    return option_rules_may(c->text, W_OK)
               ? 0
               : option_rules_fail(c, "cannot write \"%s\": %s; change its mode or the path",
                                   c->text, strerror(errno));
}

static int option_rules_check_program(const struct option_rules_case *c)
{
    if (!*c->text)
        return option_rules_fail(c, "must not be empty; name a program");
    CLEANUP_FREE char *file = c->paths ? executable_find(c->text, PROGRAM_DIRS) : NULL;
    if (file || !c->paths)
        return 0;
    if (!strchr(c->text, '/'))
        return option_rules_fail(
            c, "program \"%s\" not found in %s; install it, or write its full path", c->text,
            PROGRAM_DIRS);
    if (option_rules_check_exists(c) < 0)
        return -1;
    return option_rules_fail(c, "program \"%s\" is not an executable file; run: chmod +x %s",
                             c->text, c->text);
}

static int option_rules_check_hex(const struct option_rules_case *c)
{
    const size_t digits = strtoul(c->rule->text, NULL, 10);
    return strlen(c->text) == digits && strspn(c->text, "0123456789abcdefABCDEF") == digits
               ? 0
               : option_rules_fail(c,
                                   "is not a number with this count of hexadecimal digits: %zu; "
                                   "copy the value again",
                                   digits);
}

/* ---- kinds of rules ---- */

enum option_rules_class { OF_TEXT, OF_NUMBER, OF_PATH, OF_PROGRAM, OF_GROUP, OF_HOST };

static const struct option_rules_kind {
    enum option_rules_class class;
    bool has_words; /* the kind requires text */
    int (*check)(const struct option_rules_case *c);
    const char *description;
} kinds[] = {
    [TC_RULE_ONE_OF] = {OF_TEXT, true, option_rules_check_one_of, "one of: "},
    [TC_RULE_RANGE] = {OF_NUMBER, false, option_rules_check_range, "from "},
    [TC_RULE_DURATION] = {OF_NUMBER, true, NULL, "duration; a number is in "},
    [TC_RULE_SIZE] = {OF_NUMBER, true, NULL, "size; a number is in "},
    [TC_RULE_URL] = {OF_TEXT, true, option_rules_check_url, "URL: "},
    [TC_RULE_EXISTS] = {OF_PATH, false, option_rules_check_exists, "existing path"},
    [TC_RULE_READS] = {OF_PATH, false, option_rules_check_reads, "readable file"},
    [TC_RULE_WRITES] = {OF_PATH, false, option_rules_check_writes, "writable file"},
    [TC_RULE_NEEDS] = {OF_GROUP, true, NULL, "requires "},
    [TC_RULE_EXACTLY_ONE] = {OF_GROUP, true, NULL, "exactly one of this and "},
    [TC_RULE_AT_LEAST_ONE] = {OF_GROUP, true, NULL, "at least one of this and "},
    [TC_RULE_SERVER] = {OF_HOST, false, NULL, "requires http.listen"},
    [TC_RULE_PROGRAM] = {OF_PROGRAM, false, option_rules_check_program, "program"},
    [TC_RULE_VARIABLE] = {OF_TEXT, false, option_rules_check_variable, "NAME=VALUE"},
    [TC_RULE_GRANTS] = {OF_HOST, true, NULL, "uses the grants "},
    [TC_RULE_HEX] = {OF_TEXT, true, option_rules_check_hex, "number of hexadecimal digits: "},
};
#define KINDS (sizeof kinds / sizeof *kinds)

/* i: position in a list, otherwise 0. */
static int option_rules_check_text(const struct tc_rule *rules, const struct tc_option *option,
                                   const char *text, size_t i, bool paths, struct buf *why)
{
    CLEANUP_FREE char *shown = option_rules_show(option, text);
    for (const struct tc_rule *rule = rules; rule && rule->key; rule++) {
        const struct option_rules_kind *const kind = &kinds[rule->kind];
        const struct option_rules_case c = {rule, rules, text, shown, paths, why};
        if (!kind->check || (kind->class == OF_PATH && !paths) ||
            (kind->class == OF_PROGRAM && i > 0) || strcmp(rule->key, option->key) != 0)
            continue;
        if (kind->check(&c) < 0)
            return -1;
    }
    return 0;
}

/* An empty list violates a rule about a program; all other rules are about elements. */
static int option_rules_check_empty(const struct tc_rule *rules, const struct tc_option *option,
                                    struct buf *why)
{
    for (const struct tc_rule *rule = rules; rule && rule->key; rule++)
        if (kinds[rule->kind].class == OF_PROGRAM && strcmp(rule->key, option->key) == 0)
            return option_rules_check_program(
                &(const struct option_rules_case){.rule = rule, .text = "", .why = why});
    return 0;
}

bool option_rules_is_path(const struct tc_rule *rules, const struct tc_option *option)
{
    for (const struct tc_rule *rule = rules; rule && rule->key; rule++)
        if (kinds[rule->kind].class == OF_PATH && strcmp(rule->key, option->key) == 0)
            return option->type == TC_T_STR;
    return false;
}

int option_rules_check_value(const struct tc_rule *rules, const struct tc_option *option,
                             const char *text, bool paths, struct buf *why)
{
    struct arena arena = {0};
    if (option->type != TC_T_LIST)
        return option_rules_check_text(rules, option, text, 0, paths, why);
    const char *const *const list = option_list_split(&arena, text);
    int rc = *list ? 0 : option_rules_check_empty(rules, option, why);
    for (size_t i = 0; rc == 0 && list[i]; i++)
        rc = option_rules_check_text(rules, option, list[i], i, paths, why);
    arena_fini(&arena);
    return rc;
}

/* ---- several options ---- */

static size_t option_rules_count_set(const char *keys,
                                     bool (*is_set)(const void *ctx, const char *key),
                                     const void *ctx)
{
    size_t n = 0;
    struct str word;
    while (option_rules_next_word(&keys, &word)) {
        CLEANUP_FREE char *key = xstrndup(word.p, word.len);
        n += is_set(ctx, key);
    }
    return n;
}

static int option_rules_fail_group(const struct tc_rule *rule, const char *what, struct buf *why)
{
    buf_printf(why, "%s %s, ", what, rule->key);
    option_rules_add_words(why, rule->text, "", "");
    return -1;
}

int option_rules_check_group(const struct tc_rule *rule,
                             bool (*is_set)(const void *ctx, const char *key), const void *ctx,
                             struct buf *why)
{
    if (kinds[rule->kind].class != OF_GROUP)
        return 0;
    const bool own = is_set(ctx, rule->key);
    const size_t set = option_rules_count_set(rule->text, is_set, ctx);
    if (rule->kind == TC_RULE_NEEDS) {
        if (!own || set)
            return 0;
        buf_add_str(why, "requires ");
        option_rules_add_words(why, rule->text, "", "");
        buf_printf(why, "; set %s, too", strchr(rule->text, ' ') ? "one of them" : "it");
        return -1;
    }
    if (own + set == 0)
        return option_rules_fail_group(rule, "nothing is set; set one of", why);
    if (own + set > 1 && rule->kind == TC_RULE_EXACTLY_ONE)
        return option_rules_fail_group(rule, "too much is set; set only one of", why);
    return 0;
}

/* ---- the table ---- */

static const struct tc_option *option_rules_find_option(const struct tc_option *options,
                                                        const char *key, size_t len)
{
    for (; options && options->key; options++)
        if (strlen(options->key) == len && memcmp(options->key, key, len) == 0)
            return options;
    return NULL;
}

/* Whether every word is valid for the kind. */
static bool option_rules_are_words_known(const struct tc_rule *rule,
                                         const struct tc_option *options)
{
    const struct option_rules_unit *const units = option_rules_units_of(rule->kind);
    const char *rest = rule->text;
    struct str word;
    size_t n = 0;
    if (units->name)
        return option_rules_factor(units, rule->text) > 0;
    for (; option_rules_next_word(&rest, &word); n++) {
        if (rule->kind == TC_RULE_URL &&
            !option_rules_has_word("https http wss ws smtps smtp", word.p, word.len))
            return false;
        if (kinds[rule->kind].class == OF_GROUP &&
            !option_rules_find_option(options, word.p, word.len))
            return false;
        if (rule->kind == TC_RULE_HEX && strtol(word.p, NULL, 10) < 1)
            return false;
    }
    return n > 0;
}

static bool option_rules_suits(const struct tc_rule *rule, const struct tc_option *option)
{
    const bool is_number = option->type == TC_T_INT || option->type == TC_T_REAL;
    switch (kinds[rule->kind].class) {
    case OF_NUMBER:
        return is_number;
    case OF_PATH: /* text is printed unchanged */
    case OF_PROGRAM:
        return !is_number && option->type != TC_T_BOOL && !(option->flags & TC_SECRET);
    case OF_TEXT:
        return !is_number && option->type != TC_T_BOOL;
    case OF_GROUP:
    case OF_HOST:
        break;
    }
    return true;
}

static int option_rules_check_row(const struct tc_rule *rules, size_t i,
                                  const struct tc_option *options, struct tc_err *err)
{
    const struct tc_rule *const rule = &rules[i];
    const struct tc_option *const option =
        option_rules_find_option(options, rule->key, strlen(rule->key));
    if (!option)
        return err_set(err, NULL, "rule %zu: unknown option", i + 1);
    if ((size_t)rule->kind < TC_RULE_ONE_OF || (size_t)rule->kind >= KINDS)
        return err_set(err, NULL, "rule for \"%s\": unknown kind %d", rule->key, (int)rule->kind);
    if (!option_rules_suits(rule, option))
        return err_set(err, NULL, "rule for \"%s\": kind %d does not suit the type of the option",
                       rule->key, (int)rule->kind);
    if (kinds[rule->kind].has_words &&
        (!rule->text || !option_rules_are_words_known(rule, options)))
        return err_set(err, NULL, "rule for \"%s\": invalid text", rule->key);
    if (rule->kind == TC_RULE_RANGE && rule->min > rule->max)
        return err_set(err, NULL, "rule for \"%s\": min is greater than max", rule->key);
    return 0;
}

static int option_rules_check_default(const struct tc_rule *rules, const struct tc_option *option,
                                      struct tc_err *err)
{
    CLEANUP_BUF struct buf scaled = {0}, why = {0};
    if (!option->dflt)
        return 0;
    const char *const text = option_rules_scale(rules, option, option->dflt, &scaled, &why);
    if (text && option_rules_check_value(rules, option, text, false, &why) == 0)
        return 0;
    return err_set(err, NULL, "option \"%s\": invalid default: %s", option->key, why.p);
}

int option_rules_check_table(const struct tc_rule *rules, const struct tc_option *options,
                             struct tc_err *err)
{
    for (size_t i = 0; rules && rules[i].key; i++) {
        if (i == OPTION_RULES_MAX)
            return err_set(err, NULL, "more than %zu rules; the last row must have the key NULL",
                           OPTION_RULES_MAX);
        if (option_rules_check_row(rules, i, options, err) < 0)
            return -1;
    }
    for (const struct tc_option *o = options; rules && o && o->key; o++)
        if (option_rules_check_default(rules, o, err) < 0)
            return -1;
    return 0;
}

void option_rules_describe(const struct tc_rule *rule, struct buf *out)
{
    buf_add_str(out, kinds[rule->kind].description);
    if (rule->kind == TC_RULE_RANGE)
        option_rules_add_bounds(out, rule);
    else if (kinds[rule->kind].has_words)
        option_rules_add_words(out, rule->text, "", rule->kind == TC_RULE_URL ? "://HOST" : "");
}
