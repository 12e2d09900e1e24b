/* SPDX-License-Identifier: MIT
 * Reads the file, makes up for what libconfig 1.5 lets pass, and copies its tree. The only file
 * that knows libconfig. */
#include "conf/parse/conf_node.h"

#include <ctype.h>
#include <errno.h>
#include <libconfig.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes/buf.h"
#include "base/bytes/utf8.h"
#include "base/cleanup.h"
#include "base/sys/file_trust.h"

#define FILE_MAX ((size_t)1 << 20)

const char *conf_node_type_name(enum conf_node_type type)
{
    static const char *const names[] = {
        [NODE_STRING] = "a string",    [NODE_INT] = "an integer", [NODE_REAL] = "a real number",
        [NODE_BOOL] = "true or false", [NODE_LIST] = "a list",    [NODE_GROUP] = "a group",
    };
    return names[type];
}

static int fail_line(struct tc_err *err, const char *path, int line, const char *text)
{
    char place[sizeof err->place];
    snprintf(place, sizeof place, "%.200s:%d", path, line);
    return err_set(err, place, "%s", text);
}

/* Where the scan of the text is. */
struct scan {
    const char *path, *p, *end;
    int line;
    struct buf *out;
    struct tc_err *err;
};

static void conf_node_copy(struct scan *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        s->line += s->p[i] == '\n';
    buf_add(s->out, s->p, n);
    s->p += n;
}

/* Length of the comment at p, or 0. */
static size_t comment_len(const struct scan *s)
{
    const size_t left = (size_t)(s->end - s->p);
    if (*s->p == '#' || (left > 1 && s->p[0] == '/' && s->p[1] == '/'))
        return strcspn(s->p, "\n");
    if (left < 2 || s->p[0] != '/' || s->p[1] != '*')
        return 0;
    const char *close = strstr(s->p + 2, "*/");
    return close ? (size_t)(close + 2 - s->p) : left;
}

static size_t string_len(const struct scan *s)
{
    if (*s->p != '"')
        return 0;
    const char *p = s->p + 1;
    while (p < s->end && *p != '"')
        p += *p == '\\' && p + 1 < s->end ? 2 : 1;
    return (size_t)(p - s->p) + (p < s->end);
}

static size_t conf_node_name_len(const struct scan *s)
{
    const char *p = s->p;
    if (isalpha((unsigned char)*p) || *p == '*')
        while (p < s->end && (isalnum((unsigned char)*p) || strchr("-_*", *p)))
            p++;
    return (size_t)(p - s->p);
}

/* libconfig keeps the low 32 bits of a number without L, and says nothing. */
static int copy_number(struct scan *s)
{
    const size_t len = strspn(s->p, "0123456789abcdefABCDEFxX.+-");
    char digits[64] = {0};
    memcpy(digits, s->p, len < sizeof digits ? len : sizeof digits - 1);
    const bool hex = strncasecmp(digits, "0x", 2) == 0;
    const bool real = !hex && strpbrk(digits, ".eE");
    errno = 0;
    const long long v = strtoll(digits, NULL, hex ? 16 : 10);
    if (!real && (errno == ERANGE || len >= sizeof digits))
        return fail_line(s->err, s->path, s->line, "number out of range (64 bits)");
    conf_node_copy(s, len);
    if (!real && (v > INT32_MAX || v < INT32_MIN) && (s->p == s->end || *s->p != 'L'))
        buf_add_char(s->out, 'L');
    return 0;
}

static int scan_token(struct scan *s)
{
    size_t len;
    if ((len = comment_len(s)) || (len = string_len(s)) || (len = conf_node_name_len(s))) {
        conf_node_copy(s, len);
        return 0;
    }
    if (*s->p == '@')
        return fail_line(s->err, s->path, s->line,
                         "@include is not supported; put all settings in one file");
    if (isdigit((unsigned char)*s->p) ||
        (strchr("+-", *s->p) && s->p + 1 < s->end && isdigit((unsigned char)s->p[1])))
        return copy_number(s);
    conf_node_copy(s, 1);
    return 0;
}

static int check_bytes(const char *path, const char *text, size_t len, struct tc_err *err)
{
    const size_t bad = utf8_valid_prefix(text, len), nul = strnlen(text, len);
    if (bad == len && nul == len)
        return 0;
    const bool first_is_nul = nul < bad;
    int line = 1;
    for (size_t i = 0; i < (first_is_nul ? nul : bad); i++)
        line += text[i] == '\n';
    return fail_line(err, path, line, first_is_nul ? "a NUL byte" : "invalid UTF-8");
}

static enum conf_node_type conf_node_type_of(const config_setting_t *s)
{
    switch (config_setting_type(s)) {
    case CONFIG_TYPE_INT:
    case CONFIG_TYPE_INT64:
        return NODE_INT;
    case CONFIG_TYPE_FLOAT:
        return NODE_REAL;
    case CONFIG_TYPE_BOOL:
        return NODE_BOOL;
    case CONFIG_TYPE_GROUP:
        return NODE_GROUP;
    case CONFIG_TYPE_ARRAY:
    case CONFIG_TYPE_LIST:
        return NODE_LIST;
    default:
        return NODE_STRING;
    }
}

static void copy_value(struct arena *a, struct conf_node *to, const config_setting_t *from)
{
    if (to->type == NODE_STRING)
        to->value.string = arena_strdup(a, config_setting_get_string(from));
    else if (to->type == NODE_INT && config_setting_type(from) == CONFIG_TYPE_INT)
        to->value.integer = config_setting_get_int(from);
    else if (to->type == NODE_INT)
        to->value.integer = config_setting_get_int64(from);
    else if (to->type == NODE_REAL)
        to->value.real = config_setting_get_float(from);
    else if (to->type == NODE_BOOL)
        to->value.boolean = config_setting_get_bool(from);
}

/* The parser bounds the depth of what comes here. */
static void copy_tree(struct arena *a, struct conf_node *to, const config_setting_t *from)
{
    const char *name = config_setting_name(from);
    to->name = arena_strdup(a, name);
    to->type = conf_node_type_of(from);
    to->line = (int)config_setting_source_line(from);
    if (to->line == 0 && to->parent)
        to->line = to->parent->line;
    if (to->type != NODE_GROUP && to->type != NODE_LIST) {
        copy_value(a, to, from);
        return;
    }
    to->n = (size_t)config_setting_length(from);
    to->items = arena_alloc(a, to->n * sizeof *to->items);
    for (size_t i = 0; i < to->n; i++) {
        to->items[i].parent = to;
        copy_tree(a, &to->items[i], config_setting_get_elem(from, (unsigned)i));
    }
}

static int fail_parse(const config_t *c, const char *path, struct tc_err *err)
{
    const bool syntax = strcmp(config_error_text(c), "syntax error") == 0;
    return fail_line(
        err, path, config_error_line(c),
        syntax ? "syntax error on or before this line; check quotes, semicolons and braces"
               : config_error_text(c));
}

/* The same from text, NUL-terminated at len; `path` is for messages. */
static struct conf_node *conf_node_parse_text(struct arena *a, const char *path, const char *text,
                                              size_t len, struct tc_err *err)
{
    CLEANUP_BUF struct buf wide = {0};
    struct scan s = {path, text, text + len, 1, &wide, err};
    if (check_bytes(path, text, len, err) < 0)
        return NULL;
    while (s.p < s.end)
        if (scan_token(&s) < 0)
            return NULL;
    config_t c;
    config_init(&c);
    struct conf_node *root = NULL;
    if (config_read_string(&c, wide.p ? wide.p : "")) {
        root = arena_alloc(a, sizeof *root);
        copy_tree(a, root, config_root_setting(&c));
    } else {
        fail_parse(&c, path, err);
    }
    config_destroy(&c);
    return root;
}

static int conf_node_read_all(int fd, const char *path, struct buf *text, struct tc_err *err)
{
    for (;;) {
        const ssize_t n = read(fd, buf_reserve(text, 65536), 65536);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set_errno(err, errno, path, "cannot read the configuration");
        if (n == 0)
            return 0;
        text->len += (size_t)n;
        if (text->len > FILE_MAX)
            return err_set(err, path, "file is too large (limit: %zu bytes)", FILE_MAX);
    }
}

struct conf_node *conf_node_parse_file(struct arena *a, const char *path, struct tc_err *err)
{
    CLEANUP_FD int fd = file_trust_open(path, err);
    CLEANUP_BUF struct buf text = {0};
    if (fd < 0 || conf_node_read_all(fd, path, &text, err) < 0)
        return NULL;
    buf_add(&text, "", 0); /* the NUL */
    return conf_node_parse_text(a, path, text.p, text.len, err);
}
