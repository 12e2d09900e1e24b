/* SPDX-License-Identifier: MIT
 * The list of findings, and parsing of messages. */
#include "base/sys/finding.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Starts of a remedy in parentheses. */
static const char *const parenthesised[] = {"did you mean ", "configured: "};

static void findings_push(struct findings *f, struct finding item)
{
    if (f->n == f->room) {
        f->room = f->room ? 2 * f->room : 16;
        struct finding *const items = arena_alloc(&f->arena, f->room * sizeof *items);
        if (f->n)
            memcpy(items, f->items, f->n * sizeof *items);
        f->items = items;
    }
    f->items[f->n++] = item;
    f->errors += item.level == FINDING_ERROR;
    f->warnings += item.level == FINDING_WARNING;
}

/* ---- a message in parts ---- */

/* Length of a first word that ends with ": ", or 0. */
static size_t finding_key_len(const char *text)
{
    const size_t n = strcspn(text, " ");
    return n > 1 && text[n] && text[n - 1] == ':' ? n - 1 : 0;
}

static bool finding_is_parenthesised(const char *remedy)
{
    for (size_t i = 0; i < sizeof parenthesised / sizeof *parenthesised; i++)
        if (strncmp(remedy, parenthesised[i], strlen(parenthesised[i])) == 0)
            return true;
    return false;
}

/* Cuts off the remedy; NULL: none. */
static const char *finding_cut_remedy(char *text)
{
    bool quoted = false;
    for (char *p = text; *p; p++) {
        quoted = quoted != (*p == '"');
        if (quoted || p == text)
            continue;
        const size_t len = strlen(p);
        if (p[0] == ' ' && p[1] == '(' && p[len - 1] == ')' && finding_is_parenthesised(p + 2)) {
            p[0] = p[len - 1] = 0;
            return p + 2;
        }
        if (p[0] == ';' && p[1] == ' ') {
            *p = 0;
            return p + 2;
        }
    }
    return NULL;
}

/* Parses "file:line", or a file. */
static void finding_set_place(struct arena *a, struct finding *item, const char *place)
{
    const char *const colon = strrchr(place, ':');
    const bool has_line = colon && colon[1] && !colon[1 + strspn(colon + 1, "0123456789")];
    if (!*place)
        return;
    item->file = arena_strndup(a, place, has_line ? (size_t)(colon - place) : strlen(place));
    item->line = has_line ? atoi(colon + 1) : 0;
}

static int finding_add_text(struct findings *f, enum finding_level level, const char *place,
                            char *text)
{
    struct finding item = {.level = level};
    const size_t key = finding_key_len(text);
    finding_set_place(&f->arena, &item, place ? place : "");
    if (key)
        item.key = arena_strndup(&f->arena, text, key);
    item.text = key ? text + key + 2 : text;
    item.remedy = finding_cut_remedy(text + (key ? key + 2 : 0));
    findings_push(f, item);
    return -1;
}

int findings_add(struct findings *f, enum finding_level level, const char *place, const char *fmt,
                 ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *const text = arena_vsprintf(&f->arena, fmt, ap);
    va_end(ap);
    return finding_add_text(f, level, place, text);
}

int findings_add_err(struct findings *f, enum finding_level level, const struct tc_err *err)
{
    return finding_add_text(f, level, err->place, arena_strdup(&f->arena, err->text));
}

void findings_add_item(struct findings *f, const struct finding *item)
{
    struct arena *const a = &f->arena;
    findings_push(f, (struct finding){item->level, arena_strdup(a, item->file), item->line,
                                      arena_strdup(a, item->key), arena_strdup(a, item->text),
                                      arena_strdup(a, item->remedy)});
}

/* ---- the list ---- */

static bool finding_is_before(const struct finding *a, const struct finding *b)
{
    if (!a->line || !b->line)
        return a->line > b->line;
    const int order = a->file && b->file ? strcmp(a->file, b->file) : 0;
    return order < 0 || (order == 0 && a->line < b->line);
}

/* Insertion sort keeps the order of findings with equal lines; the list is nearly sorted, and
 * short. */
void findings_sort(struct findings *f)
{
    for (size_t i = 1; i < f->n; i++) {
        const struct finding item = f->items[i];
        size_t at = i;
        for (; at > 0 && finding_is_before(&item, &f->items[at - 1]); at--)
            f->items[at] = f->items[at - 1];
        f->items[at] = item;
    }
}

static void finding_add_remedy(struct buf *out, const char *remedy)
{
    buf_printf(out, finding_is_parenthesised(remedy) ? " (%s)" : "; %s", remedy);
}

/* The parts behind the place. */
static void finding_format_message(struct buf *out, const struct finding *item)
{
    buf_printf(out, "%s%s%s%s", item->level == FINDING_WARNING ? "warning: " : "",
               item->key ? item->key : "", item->key ? ": " : "", item->text);
    if (item->remedy)
        finding_add_remedy(out, item->remedy);
}

void finding_format(struct buf *out, const struct finding *item)
{
    if (item->file)
        buf_add_str(out, item->file);
    if (item->line)
        buf_printf(out, ":%d", item->line);
    if (item->file)
        buf_add_str(out, ": ");
    finding_format_message(out, item);
}

int findings_take_first(const struct findings *f, struct tc_err *err)
{
    CLEANUP_BUF struct buf text = {0};
    size_t i = 0;
    while (i < f->n && f->items[i].level != FINDING_ERROR)
        i++;
    if (i == f->n)
        return 0;
    const struct finding *const item = &f->items[i];
    finding_format_message(&text, item);
    err_set(err, NULL, "%s", text.p);
    if (err && item->file && item->line)
        snprintf(err->place, sizeof err->place, "%.200s:%d", item->file, item->line);
    else if (err && item->file)
        snprintf(err->place, sizeof err->place, "%.200s", item->file);
    return -1;
}

void findings_fini(struct findings *f)
{
    arena_fini(&f->arena);
    *f = (struct findings){0};
}
