/* SPDX-License-Identifier: MIT
 * Parses the forms in which agents report an edit. */
#include "edit_diff.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/cli_words.h"

#define CUT_MIN 8       /* minimum columns of a shown line */
#define CONTEXT_LINES 2 /* equal lines shown before and after a change */

struct text_lines {
    const char *at;
    size_t len;
};

void edit_diff_fini(struct edit_diff *d)
{
    free(d->text);
    *d = (struct edit_diff){0};
}

/* ---- lines ---- */

static void edit_diff_add_line(struct edit_diff *d, char kind, struct text_lines line)
{
    d->lines++;
    d->added += kind == '+';
    d->removed += kind == '-';
    if (d->lines > EDIT_DIFF_LINES_MAX)
        return;
    if (d->len + line.len + 2 > d->cap) {
        const size_t cap = (d->len + line.len + 2) * 2;
        char *const larger = realloc(d->text, cap);
        if (!larger)
            return;
        d->text = larger;
        d->cap = cap;
    }
    d->text[d->len++] = kind;
    memcpy(d->text + d->len, line.at, line.len);
    d->len += line.len;
    d->text[d->len++] = '\n';
}

/* Takes the first line. False: none. */
static bool edit_diff_pop_line(struct text_lines *rest, struct text_lines *line)
{
    if (rest->len == 0)
        return false;
    const char *const newline = memchr(rest->at, '\n', rest->len);
    line->at = rest->at;
    line->len = newline ? (size_t)(newline - rest->at) : rest->len;
    const size_t used = newline ? line->len + 1 : line->len;
    rest->at += used;
    rest->len -= used;
    return true;
}

static void add_all(struct edit_diff *d, char kind, const char *text)
{
    struct text_lines rest = {text, strlen(text)}, line;
    while (edit_diff_pop_line(&rest, &line))
        edit_diff_add_line(d, kind, line);
}

/* Lines of a unified diff or of the patch format of Codex. */
static void add_patch(struct edit_diff *d, const char *text)
{
    struct text_lines rest = {text, strlen(text)}, line;
    while (edit_diff_pop_line(&rest, &line)) {
        const char first = line.len ? line.at[0] : ' ';
        const bool name =
            line.len > 3 && (strncmp(line.at, "+++", 3) == 0 || strncmp(line.at, "---", 3) == 0);
        if (name || first == '@' || first == '*' || !strchr(" +-", first))
            edit_diff_add_line(d, '@', line);
        else if (line.len)
            edit_diff_add_line(d, first, (struct text_lines){line.at + 1, line.len - 1});
        else
            edit_diff_add_line(d, ' ', line);
    }
}

/* ---- an old and a new text ---- */

static size_t count_lines(const char *text)
{
    struct text_lines rest = {text, strlen(text)}, line;
    size_t n = 0;
    while (edit_diff_pop_line(&rest, &line))
        n++;
    return n;
}

static bool same_line(struct text_lines a, struct text_lines b)
{
    return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

static size_t equal_lines(const char *a, const char *b)
{
    struct text_lines rest_a = {a, strlen(a)}, rest_b = {b, strlen(b)}, line_a, line_b;
    size_t n = 0;
    while (edit_diff_pop_line(&rest_a, &line_a) && edit_diff_pop_line(&rest_b, &line_b) &&
           same_line(line_a, line_b))
        n++;
    return n;
}

static void nth_lines(struct text_lines *rest, size_t n)
{
    struct text_lines line;
    while (n-- > 0 && edit_diff_pop_line(rest, &line))
        ;
}

/* Takes the last line. */
static struct text_lines edit_diff_pop_last(struct text_lines *rest)
{
    const char *const newline = memrchr(rest->at, '\n', rest->len);
    const size_t from = newline ? (size_t)(newline - rest->at) + 1 : 0;
    const struct text_lines line = {rest->at + from, rest->len - from};
    rest->len = newline ? from - 1 : 0;
    return line;
}

static struct text_lines without_newline(const char *text)
{
    const size_t n = strlen(text);
    return (struct text_lines){text, n > 0 && text[n - 1] == '\n' ? n - 1 : n};
}

/* Number of equal lines at the end, after the first `from` of both. */
static size_t equal_at_end(const char *a, const char *b, size_t from)
{
    const size_t n_a = count_lines(a) - from, n_b = count_lines(b) - from;
    const size_t most = n_a < n_b ? n_a : n_b;
    struct text_lines rest_a = without_newline(a), rest_b = without_newline(b);
    size_t n = 0;
    while (n < most && same_line(edit_diff_pop_last(&rest_a), edit_diff_pop_last(&rest_b)))
        n++;
    return n;
}

static void add_range(struct edit_diff *d, char kind, const char *text, size_t from, size_t to)
{
    struct text_lines rest = {text, strlen(text)}, line;
    nth_lines(&rest, from);
    for (size_t i = from; i < to && edit_diff_pop_line(&rest, &line); i++)
        edit_diff_add_line(d, kind, line);
}

static void add_replacement(struct edit_diff *d, const char *old, const char *new)
{
    const size_t before = equal_lines(old, new), after = equal_at_end(old, new, before);
    const size_t n_old = count_lines(old), n_new = count_lines(new);
    const size_t end = n_old - after;
    add_range(d, ' ', old, before > CONTEXT_LINES ? before - CONTEXT_LINES : 0, before);
    add_range(d, '-', old, before, end);
    add_range(d, '+', new, before, n_new - after);
    add_range(d, ' ', old, end, end + CONTEXT_LINES < n_old ? end + CONTEXT_LINES : n_old);
}

/* ---- arguments ---- */

static const char *edit_diff_text_of(const json_t *object, const char *const *keys)
{
    for (; *keys; keys++) {
        const char *const text = json_string_value(json_object_get(object, *keys));
        if (text)
            return text;
    }
    return NULL;
}

static const char *const old_keys[] = {"old_string", "old_str", "oldText", "old_text", NULL};
static const char *const new_keys[] = {"new_string", "new_str", "newText", "new_text", NULL};
static const char *const content_keys[] = {"content", "file_text", NULL};
static const char *const patch_keys[] = {"patch", "patchText", "diff", "unified_diff", NULL};
static const char *const path_keys[] = {"file_path", "path", "filePath", NULL};

static bool add_edit(struct edit_diff *d, const json_t *object)
{
    const char *const old = edit_diff_text_of(object, old_keys), *const new = edit_diff_text_of(
                                                                     object, new_keys);
    const char *const content = edit_diff_text_of(object, content_keys);
    const char *const patch = edit_diff_text_of(object, patch_keys);
    if (new)
        add_replacement(d, old ? old : "", new);
    else if (patch)
        add_patch(d, patch);
    else if (content && edit_diff_text_of(object, path_keys))
        add_all(d, '+', content);
    else
        return false;
    return true;
}

static void add_name(struct edit_diff *d, const char *name)
{
    edit_diff_add_line(d, '@', (struct text_lines){name, strlen(name)});
}

/* A new file has its content in the member that has a diff for a changed one. */
static bool add_change(struct edit_diff *d, const char *path, const json_t *change)
{
    static const char *const contents[] = {"content", "diff", NULL};
    const json_t *const kind = json_object_get(change, "kind");
    const char *type = json_string_value(json_object_get(change, "type"));
    type = type ? type : json_string_value(json_object_get(kind, "type"));
    const char *const text = edit_diff_text_of(change, contents);
    add_name(d, path ? path : "?");
    if (type && strcmp(type, "add") == 0 && text)
        add_all(d, '+', text);
    else if (type && strcmp(type, "delete") == 0 && text)
        add_all(d, '-', text);
    else
        return add_edit(d, change);
    return true;
}

static bool add_changes(struct edit_diff *d, json_t *changes)
{
    size_t i;
    const char *path;
    json_t *one;
    bool any = false;
    json_array_foreach(changes, i, one)
    {
        any |= add_change(d, edit_diff_text_of(one, path_keys), one);
    }
    json_object_foreach(changes, path, one)
    {
        any |= add_change(d, path, one);
    }
    return any;
}

static bool add_edits(struct edit_diff *d, const json_t *edits)
{
    size_t i;
    const json_t *one;
    bool any = false;
    json_array_foreach(edits, i, one)
    {
        any |= add_edit(d, one);
    }
    return any;
}

bool edit_diff_from_args(struct edit_diff *d, const char *args)
{
    json_t *const json = args ? json_loads(args, JSON_DECODE_ANY, NULL) : NULL;
    const bool found =
        json_is_object(json) && (add_changes(d, json_object_get(json, "changes")) ||
                                 add_edits(d, json_object_get(json, "edits")) || add_edit(d, json));
    json_decref(json);
    if (!found)
        edit_diff_fini(d);
    return found;
}

static bool is_key(const char *key, const char *const *keys)
{
    for (; *keys; keys++)
        if (strcmp(*keys, key) == 0)
            return true;
    return false;
}

static bool is_member_of_diff(const char *key, const json_t *value, const char *path)
{
    const char *const text = json_string_value(value);
    if (!text)
        return false;
    return is_key(key, path_keys)
               ? strcmp(text, path) == 0
               : is_key(key, old_keys) || is_key(key, new_keys) || is_key(key, content_keys);
}

bool edit_diff_is_whole(const char *args, const char *path)
{
    const char *key;
    json_t *value, *const json = json_loads(args, JSON_REJECT_DUPLICATES, NULL);
    bool whole = path && edit_diff_text_of(json, path_keys) &&
                 !(edit_diff_text_of(json, new_keys) && edit_diff_text_of(json, content_keys));
    json_object_foreach(json, key, value)
    {
        whole &= is_member_of_diff(key, value, path ? path : "");
    }
    json_decref(json);
    return whole;
}

bool edit_diff_is_edit(const char *args)
{
    struct edit_diff d = {0};
    /* Quick check without parsing, because nearly all calls are no edits. */
    static const char *const hints[] = {"\"new_",  "\"newText\"", "\"content\"", "\"file_text\"",
                                        "\"patch", "\"diff\"",    "\"changes\"", "\"edits\""};
    bool hinted = false;
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        hinted |= strstr(args, hints[i]) != NULL;
    const bool is = hinted && edit_diff_from_args(&d, args);
    edit_diff_fini(&d);
    return is;
}

/* ---- results ---- */

/* [{oldStart, newStart, lines: [" a", "-b", "+c"]}] */
static bool add_hunks(struct edit_diff *d, const json_t *hunks)
{
    size_t i, k;
    const json_t *hunk, *line;
    json_array_foreach(hunks, i, hunk)
    {
        char head[64];
        const int n = snprintf(head, sizeof head, "@@ line %lld @@",
                               (long long)json_integer_value(json_object_get(hunk, "newStart")));
        edit_diff_add_line(d, '@', (struct text_lines){head, (size_t)n});
        json_array_foreach(json_object_get(hunk, "lines"), k, line)
        {
            const char *const text = json_string_value(line);
            if (text && *text && strchr(" +-", *text))
                edit_diff_add_line(d, *text, (struct text_lines){text + 1, strlen(text + 1)});
        }
    }
    return d->added + d->removed > 0;
}

bool edit_diff_from_result(struct edit_diff *d, const struct tc_tool_result *ev)
{
    bool found = false;
    if (ev->diff && *ev->diff) {
        add_patch(d, ev->diff);
        return true;
    }
    if (!ev->structured || !strstr(ev->structured, "\"structuredPatch\""))
        return false;
    json_t *const json = json_loads(ev->structured, 0, NULL);
    found = add_hunks(d, json_object_get(json, "structuredPatch"));
    json_decref(json);
    if (!found)
        edit_diff_fini(d);
    return found;
}

/* ---- writing ---- */

/* `cut`: at the width of the window; otherwise shows complete lines. */
static void edit_diff_put_line(struct term *t, const char *margin, struct text_lines line, bool cut)
{
    const char kind = line.at[0];
    const char *const look = kind == '+'   ? LOOK_GREEN
                             : kind == '-' ? LOOK_RED
                             : kind == '@' ? LOOK_CYAN
                                           : LOOK_DIM;
    const char sign[] = {kind, ' ', '\0'};
    term_margin(t, margin);
    term_look(t, look);
    if (kind != '@')
        term_put(t, sign, 2);
    for (line.at++, line.len--; line.len > 0 && *line.at == '\t'; line.at++, line.len--)
        term_put(t, "    ", 4);
    if (cut)
        term_phrase(t, line.at, line.len, term_room(t, CUT_MIN));
    else
        term_text(t, line.at, line.len, NULL);
    term_look(t, LOOK_PLAIN);
    term_newline(t);
}

void edit_diff_put(const struct edit_diff *d, struct term *t, const char *margin, size_t most)
{
    char text[48];
    struct text_lines rest = {d->text, d->len}, line;
    size_t n = 0;
    while (n < most && edit_diff_pop_line(&rest, &line)) {
        edit_diff_put_line(t, margin, line, most < EDIT_DIFF_LINES_MAX);
        n++;
    }
    if (n >= d->lines)
        return;
    snprintf(text, sizeof text, "(%zu %s)", d->lines - n,
             cli_word(t, d->lines - n == 1 ? CLI_WORD_MORE_LINE : CLI_WORD_MORE_LINES));
    term_margin(t, margin);
    term_look(t, LOOK_DIM);
    term_put(t, text, (unsigned)strlen(text));
    term_look(t, LOOK_PLAIN);
    term_newline(t);
}
