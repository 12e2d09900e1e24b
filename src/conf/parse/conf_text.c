/* SPDX-License-Identifier: MIT
 * Reads configuration files, follows @include, and detects errors that libconfig 1.5 accepts
 * silently. */
#include "conf/parse/conf_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes/utf8.h"
#include "base/cleanup.h"
#include "base/sys/file_trust.h"
#include "conf/parse/conf_path.h"

#define INCLUDE "@include"

/* Position of the scan in a file. */
struct scan {
    const char *path, *p, *end;
    int line;
    int open; /* depth of braces, brackets and parentheses */
    struct conf_text *out;
    const struct scan *parent; /* scan of the including file; NULL: none */
    struct tc_err *err;
};

static int conf_text_add_file(struct conf_text *t, const char *path, const struct scan *parent,
                              struct tc_err *err);

static int conf_text_fail(struct tc_err *err, const char *path, int line, const char *text)
{
    char place[sizeof err->place];
    snprintf(place, sizeof place, "%.200s:%d", path, line);
    return err_set(err, place, "%s", text);
}

/* ---- output ---- */

static void conf_text_append(struct conf_text *t, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        t->lines += text[i] == '\n';
    buf_add(&t->whole, text, n);
}

static void conf_text_begin_span(struct conf_text *t, const char *file, int line)
{
    if (t->n_spans == t->spans_room) {
        const size_t room = t->spans_room ? 2 * t->spans_room : 8;
        struct conf_span *const spans = arena_alloc(t->arena, room * sizeof *spans);
        if (t->n_spans)
            memcpy(spans, t->spans, t->n_spans * sizeof *spans);
        t->spans = spans;
        t->spans_room = room;
    }
    t->spans[t->n_spans++] = (struct conf_span){t->lines, file, line};
}

static void scan_copy(struct scan *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        s->line += s->p[i] == '\n';
    conf_text_append(s->out, s->p, n);
    s->p += n;
}

/* ---- tokens ---- */

/* Length of the comment at p; 0: none. */
static size_t scan_comment_len(const struct scan *s)
{
    const size_t left = (size_t)(s->end - s->p);
    if (*s->p == '#' || (left > 1 && s->p[0] == '/' && s->p[1] == '/'))
        return strcspn(s->p, "\n");
    if (left < 2 || s->p[0] != '/' || s->p[1] != '*')
        return 0;
    const char *close = strstr(s->p + 2, "*/");
    return close ? (size_t)(close + 2 - s->p) : left;
}

static size_t scan_string_len(const struct scan *s)
{
    if (*s->p != '"')
        return 0;
    const char *p = s->p + 1;
    while (p < s->end && *p != '"')
        p += *p == '\\' && p + 1 < s->end ? 2 : 1;
    return (size_t)(p - s->p) + (p < s->end);
}

static size_t scan_name_len(const struct scan *s)
{
    const char *p = s->p;
    if (isalpha((unsigned char)*p) || *p == '*')
        while (p < s->end && (isalnum((unsigned char)*p) || strchr("-_*", *p)))
            p++;
    return (size_t)(p - s->p);
}

/* libconfig silently truncates a number without L to 32 bits. */
static int scan_number(struct scan *s)
{
    const size_t len = strspn(s->p, "0123456789abcdefABCDEFxX.+-");
    char digits[64] = {0};
    memcpy(digits, s->p, len < sizeof digits ? len : sizeof digits - 1);
    const bool hex = strncasecmp(digits, "0x", 2) == 0;
    const bool real = !hex && strpbrk(digits, ".eE");
    errno = 0;
    const long long v = strtoll(digits, NULL, hex ? 16 : 10);
    if (!real && (errno == ERANGE || len >= sizeof digits))
        return conf_text_fail(s->err, s->path, s->line, "number out of range (64 bits)");
    scan_copy(s, len);
    if (!real && (v > INT32_MAX || v < INT32_MIN) && (s->p == s->end || *s->p != 'L'))
        conf_text_append(s->out, "L", 1);
    return 0;
}

/* ---- included files ---- */

static bool scan_is_including(const struct scan *s, const char *path)
{
    while (s && strcmp(s->path, path) != 0)
        s = s->parent;
    return s != NULL;
}

static size_t scan_depth(const struct scan *s)
{
    size_t depth = 0;
    for (; s; s = s->parent)
        depth++;
    return depth;
}

/* Relative to the directory of the including file. */
static const char *scan_resolve(const struct scan *s, const char *name, size_t len)
{
    const char *const slash = strrchr(s->path, '/');
    struct arena *const a = s->out->arena;
    const char *const folder = slash ? arena_strndup(a, s->path, (size_t)(slash - s->path)) : NULL;
    return conf_path_resolve(a, folder, arena_strndup(a, name, len));
}

static int scan_fail_file(const struct scan *s, const char *path, const char *why)
{
    char place[sizeof s->err->place];
    snprintf(place, sizeof place, "%.200s:%d", s->path, s->line);
    return err_set(s->err, place, INCLUDE ": %.200s: %s%s", path, why,
                   strstr(why, "; ") ? "" : "; check the name");
}

static int scan_include_file(struct scan *s, const char *path)
{
    struct tc_err why = {0};
    if (scan_is_including(s, path))
        return scan_fail_file(s, path, "the file includes itself; remove this line");
    if (scan_depth(s) >= CONF_TEXT_DEPTH)
        return scan_fail_file(
            s, path, "files are included too deeply (limit: 10); include it in another file");
    conf_text_append(s->out, "\n", 1);
    if (conf_text_add_file(s->out, path, s, &why) == 0) {
        conf_text_append(s->out, "\n", 1);
        conf_text_begin_span(s->out, s->path, s->line);
        return 0;
    }
    if (strcmp(why.place, path) == 0) /* the file could not be read */
        return scan_fail_file(s, path, why.text);
    return err_set(s->err, why.place, "%s", why.text);
}

static int scan_include(struct scan *s)
{
    static const char form[] = "unknown directive; use " INCLUDE " \"FILE\"";
    struct scan at = *s;
    if (strncmp(at.p, INCLUDE, strlen(INCLUDE)) != 0)
        return conf_text_fail(s->err, s->path, s->line, form);
    at.p += strlen(INCLUDE);
    at.p += strspn(at.p, " \t");
    const size_t len = scan_string_len(&at);
    if (len < 3 || at.p[len - 1] != '"' || memchr(at.p, '\n', len))
        return conf_text_fail(s->err, s->path, s->line, form);
    s->p = at.p + len;
    return scan_include_file(s, scan_resolve(s, at.p + 1, len - 2));
}

/* ---- one file ---- */

static int scan_token(struct scan *s)
{
    size_t len;
    if ((len = scan_comment_len(s)) || (len = scan_string_len(s)) || (len = scan_name_len(s))) {
        scan_copy(s, len);
        return 0;
    }
    if (*s->p == '@')
        return scan_include(s);
    if (isdigit((unsigned char)*s->p) ||
        (strchr("+-", *s->p) && s->p + 1 < s->end && isdigit((unsigned char)s->p[1])))
        return scan_number(s);
    s->open += strchr("{[(", *s->p) != NULL;
    s->open -= strchr("}])", *s->p) != NULL;
    scan_copy(s, 1);
    return 0;
}

/* An included file must close what it opens; otherwise libconfig would report the error far from
 * the mistake. `line`: position of the last token, which has this length. */
static int scan_check_whole(const struct scan *s, int line, const char *last, size_t len)
{
    const bool string = len && *last == '"' && (len == 1 || last[len - 1] != '"');
    const bool comment = len > 1 && strncmp(last, "/*", 2) == 0 &&
                         (len < 4 || strncmp(last + len - 2, "*/", 2) != 0);
    if (!s->parent || (s->open == 0 && !string && !comment))
        return 0;
    if (string)
        return conf_text_fail(s->err, s->path, line, "the string has no end; add a quote");
    if (comment)
        return conf_text_fail(s->err, s->path, line, "the comment has no end; add */");
    return conf_text_fail(s->err, s->path, s->line,
                          "braces or parentheses of the included file do not match; add what is "
                          "missing");
}

static int scan_file(struct scan *s)
{
    const char *last = s->p;
    int line = s->line;
    while (s->p < s->end && !(s->parent && s->open < 0)) {
        last = s->p;
        line = s->line;
        if (scan_token(s) < 0)
            return -1;
    }
    return scan_check_whole(s, line, last, (size_t)(s->p - last));
}

static int conf_text_check_bytes(const char *path, const char *text, size_t len, struct tc_err *err)
{
    const size_t bad = utf8_valid_prefix(text, len), nul = strnlen(text, len);
    if (bad == len && nul == len)
        return 0;
    const bool first_is_nul = nul < bad;
    int line = 1;
    for (size_t i = 0; i < (first_is_nul ? nul : bad); i++)
        line += text[i] == '\n';
    return conf_text_fail(err, path, line, first_is_nul ? "a NUL byte" : "invalid UTF-8");
}

static int conf_text_read_all(const struct conf_text *t, int fd, const char *path, struct buf *text,
                              struct tc_err *err)
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
        if (t->whole.len + text->len > CONF_TEXT_MAX)
            return err_set(err, path, "file is too large (limit: %zu bytes); make it shorter",
                           CONF_TEXT_MAX);
    }
}

static int conf_text_add_file(struct conf_text *t, const char *path, const struct scan *parent,
                              struct tc_err *err)
{
    CLEANUP_BUF struct buf text = {0};
    if (t->files == CONF_TEXT_FILES)
        return err_set(err, path, "too many files are included (limit: %zu); join some",
                       CONF_TEXT_FILES);
    CLEANUP_FD int fd = file_trust_open(path, err);
    if (fd < 0 || conf_text_read_all(t, fd, path, &text, err) < 0)
        return -1;
    buf_add(&text, "", 0); /* the final NUL */
    t->files++;
    if (conf_text_check_bytes(path, text.p, text.len, err) < 0)
        return -1;
    conf_text_begin_span(t, path, 1);
    struct scan s = {path, text.p, text.p + text.len, 1, 0, t, parent, err};
    return scan_file(&s);
}

int conf_text_read(struct conf_text *t, struct arena *a, const char *path, struct tc_err *err)
{
    *t = (struct conf_text){.arena = a, .lines = 1};
    return conf_text_add_file(t, arena_strdup(a, path), NULL, err);
}

struct conf_span conf_text_find_line(const struct conf_text *t, int line)
{
    size_t i = t->n_spans;
    while (i > 1 && t->spans[i - 1].first > line)
        i--;
    struct conf_span at = t->spans[i - 1];
    at.line += line > at.first ? line - at.first : 0;
    return at;
}

void conf_text_fini(struct conf_text *t)
{
    buf_fini(&t->whole);
}
