/* SPDX-License-Identifier: MIT
 * Implements chat_lines.h. */
#include "chat/stream/chat_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "text/sentence/texts.h"

/* Bytes in addition to the text of a line: a sign, the duration, and the text that the service
 * adds. */
#define LINE_FRAME ((size_t)24)

void chat_lines_fini(struct chat_lines *l)
{
    free(l->list);
    *l = (struct chat_lines){0};
}

/* ---- places ---- */

/* Returns the oldest line that has ended and is in no batch. */
static struct chat_line *chat_lines_find_spare(struct chat_lines *l)
{
    struct chat_line *best = NULL;
    for (size_t i = 0; i < l->count; i++) {
        struct chat_line *const line = &l->list[i];
        if (line->is.state != TC_LINE_RUNNING && !line->held &&
            (!best || line->order < best->order))
            best = line;
    }
    return best;
}

/* Begins a line. NULL: too many lines run. */
static struct chat_line *chat_lines_begin_line(struct chat_lines *l, enum chat_line_kind kind,
                                               const struct chat_view_line *is)
{
    struct chat_line *line = l->count == CHAT_LINES_MAX ? chat_lines_find_spare(l) : NULL;
    if (!line && l->count == CHAT_LINES_MAX)
        return NULL;
    if (!line) {
        l->list = alloc_grow(l->list, l->count, &l->cap, sizeof *l->list);
        line = &l->list[l->count++];
    }
    *line = (struct chat_line){.is = *is, .kind = kind, .order = ++l->begun};
    return line;
}

static struct chat_line *chat_lines_find_running(struct chat_lines *l, enum chat_line_kind kind)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->list[i].is.state == TC_LINE_RUNNING && l->list[i].kind == kind)
            return &l->list[i];
    return NULL;
}

/* Begins a line that is not a tool call, with a generated id. */
static struct chat_line *chat_lines_begin_named(struct chat_lines *l, enum chat_line_kind kind,
                                                const char *id, const char *name, int64_t now_ms)
{
    struct chat_view_line is = {.state = TC_LINE_RUNNING, .began_ms = now_ms};
    snprintf(is.id, sizeof is.id, "%s-%" PRIu64, id, l->begun + 1);
    snprintf(is.name, sizeof is.name, "%s", name);
    return chat_lines_begin_line(l, kind, &is);
}

/* ---- events ---- */

struct chat_line *chat_lines_begin_call(struct chat_lines *l, const struct tc_tool_call *ev,
                                        int64_t now_ms)
{
    struct chat_view_line is;
    chat_view_read_call(&is, ev, now_ms);
    return chat_lines_begin_line(l, CHAT_LINE_CALL, &is);
}

/* Appends as much text as fits, with control characters as blanks. */
static bool chat_lines_add_detail(struct chat_line *line, const char *text)
{
    const size_t have = strlen(line->detail);
    const size_t n = utf8_truncated_len(text, strlen(text), CHAT_LINE_DETAIL - have);
    for (size_t i = 0; i < n; i++)
        line->detail[have + i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? ' ' : text[i];
    line->detail[have + n] = '\0';
    return n > 0;
}

struct chat_line *chat_lines_finish(struct chat_lines *l, const struct tc_tool_result *ev,
                                    int64_t now_ms)
{
    char id[CHAT_VIEW_ID];
    chat_view_clip(id, sizeof id, ev->tool_use_id);
    for (size_t i = 0; i < l->count; i++) {
        struct chat_line *const line = &l->list[i];
        if (!chat_view_finish_line(&line->is, id, ev, now_ms))
            continue;
        if (ev->is_error)
            chat_lines_add_detail(line, ev->content + strspn(ev->content, " \t\r\n"));
        return line;
    }
    return NULL;
}

struct chat_line *chat_lines_add_thinking(struct chat_lines *l, const char *text, int64_t now_ms)
{
    struct chat_line *line = chat_lines_find_running(l, CHAT_LINE_THINKING);
    const bool is_new = !line;
    if (is_new)
        line = chat_lines_begin_named(l, CHAT_LINE_THINKING, "thinking",
                                      texts_get(TEXT_CHAT_LINE_THINKING), now_ms);
    const bool more = line && chat_lines_add_detail(line, text);
    return more || is_new ? line : NULL;
}

struct chat_line *chat_lines_begin_silence(struct chat_lines *l, int64_t since_ms, bool waiting)
{
    if (chat_lines_has_running(l))
        return NULL;
    return chat_lines_begin_named(
        l, CHAT_LINE_SILENCE, "silence",
        texts_get(waiting ? TEXT_CHAT_LINE_WAITING : TEXT_CHAT_LINE_WORKING), since_ms);
}

struct chat_line *chat_lines_complete_running(struct chat_lines *l, enum chat_line_kind kind,
                                              int64_t now_ms)
{
    struct chat_line *const line = chat_lines_find_running(l, kind);
    if (line) {
        line->is.state = TC_LINE_OK;
        line->is.took_ms = now_ms - line->is.began_ms;
    }
    return line;
}

/* ---- reading ---- */

bool chat_lines_has_running(const struct chat_lines *l)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->list[i].is.state == TC_LINE_RUNNING)
            return true;
    return false;
}

struct chat_line *chat_lines_next_shown(struct chat_lines *l, const struct chat_line *previous)
{
    struct chat_line *best = NULL;
    for (size_t i = 0; i < l->count; i++) {
        struct chat_line *const line = &l->list[i];
        if (line->order > (previous ? previous->order : 0) && (!best || line->order < best->order))
            best = line;
    }
    return best;
}

size_t chat_line_size(const struct chat_line *line)
{
    return strlen(line->is.name) + strlen(line->is.summary) + 2 * strlen(line->detail) + LINE_FRAME;
}

static const char *chat_lines_mark_continued(const char *summary, struct arena *arena)
{
    const char *const text = texts_get(TEXT_CHAT_LINE_CONTINUED);
    return *summary ? arena_sprintf(arena, "%s — %s", summary, text) : text;
}

struct tc_tool_line chat_line_export(const struct chat_line *line, unsigned number,
                                     enum chat_line_end end, int64_t now_ms, struct arena *arena)
{
    const bool runs = line->is.state == TC_LINE_RUNNING;
    const bool leaves = runs && end == CHAT_LINE_CONTINUES;
    const char *const rest = line->detail + (line->shown_in == number ? line->told : 0);
    return (struct tc_tool_line){
        .id = line->is.id,
        .name = line->is.name,
        .summary = leaves ? chat_lines_mark_continued(line->is.summary, arena) : line->is.summary,
        .state = runs && end != CHAT_LINE_RUNS ? TC_LINE_OK : line->is.state,
        .took_ms = runs ? now_ms - line->is.began_ms : line->is.took_ms,
        .detail = *rest && !leaves ? arena_strdup(arena, rest) : NULL,
    };
}
