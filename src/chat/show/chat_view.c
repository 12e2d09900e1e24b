/* SPDX-License-Identifier: MIT
 * Updates the view of a turn with each event. */
#include "chat/show/chat_view.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes/utf8.h"
#include "chat/show/chat_text.h"
#include "event/json/json_reader.h"
#include "text/sentence/texts.h"

void chat_view_init(struct chat_view *v, int64_t now_ms)
{
    *v = (struct chat_view){
        .began_ms = now_ms, .active_ms = now_ms, .fresh = true, .tokens = -1, .cost_usd = -1};
}

void chat_view_clip(char *out, size_t cap, const char *text)
{
    static const char ellipsis[] = "…";
    const size_t len = strlen(text);
    const bool cut = len >= cap;
    const size_t n = utf8_truncated_len(text, len, cut ? cap - sizeof ellipsis : cap - 1);
    for (size_t i = 0; i < n; i++)
        out[i] = (unsigned char)text[i] < ' ' || text[i] == 0x7f ? ' ' : text[i];
    memcpy(out + n, cut ? ellipsis : "", cut ? sizeof ellipsis : 1);
}

/* ---- narration ---- */

static void chat_view_set_message(struct chat_view *v, const char *id)
{
    char now[CHAT_VIEW_ID];
    chat_view_clip(now, sizeof now, id ? id : "");
    v->fresh |= strcmp(now, v->narrated) != 0;
    memcpy(v->narrated, now, sizeof now);
}

/* Updates the headline, which is the last line of narration that is not blank. */
static void chat_view_handle_narration(struct chat_view *v, const struct tc_narration *ev)
{
    chat_view_set_message(v, ev->message_id);
    for (const char *p = ev->text; *p;) {
        const size_t n = strcspn(p, "\n");
        char line[CHAT_VIEW_HEADLINE + 8], joined[2 * CHAT_VIEW_HEADLINE + 8];
        snprintf(line, sizeof line, "%.*s", (int)utf8_truncated_len(p, n, sizeof line - 1), p);
        if (line[strspn(line, " \t\r")]) {
            snprintf(joined, sizeof joined, "%s%s", v->fresh ? "" : v->headline, line);
            chat_view_clip(v->headline, sizeof v->headline, joined);
            v->fresh = false;
        }
        v->fresh |= p[n] == '\n';
        p += n + (p[n] == '\n');
    }
}

/* Keeps the end of the thinking. */
static void chat_view_append_thinking(struct chat_view *v, const char *text)
{
    char joined[2 * sizeof v->thinking];
    const size_t add = strlen(text), room = sizeof v->thinking - 1;
    snprintf(joined, sizeof joined, "%s%s", v->thinking, add > room ? text + add - room : text);
    const size_t n = strlen(joined), from = utf8_next_start(joined, n, n > room ? n - room : 0);
    memcpy(v->thinking, joined + from, n - from + 1);
}

/* ---- tool calls ---- */

/* Writes a summary of the arguments: the first argument that is a text; arguments with known names
 * come first. */
static void chat_view_summarize_args(char *out, size_t cap, const char *args)
{
    static const char *const telling[] = {"/command", "/cmd",   "/file_path", "/path",
                                          "/pattern", "/query", "/url",       "/description"};
    struct arena arena = {0};
    const struct str doc = {args, strlen(args)};
    struct json j;
    struct str raw;
    *out = '\0';
    for (size_t i = 0; i < sizeof telling / sizeof *telling && !*out; i++) {
        const struct str value = json_reader_pointer(doc, telling[i]);
        if (!value.p)
            continue;
        json_init(&j, value.p, value.len);
        if (json_reader_read_string(&j, &raw))
            chat_view_clip(out, cap, json_reader_unescape(&arena, raw, NULL));
    }
    arena_fini(&arena);
}

/* Returns the last part of mcp__server__tool. */
static const char *chat_view_short_tool_name(const char *tool)
{
    const char *const server = strncmp(tool, "mcp__", 5) == 0 ? tool + 5 : NULL;
    const char *const end = server ? strstr(server, "__") : NULL;
    return end && end[2] ? end + 2 : tool;
}

void chat_view_read_call(struct chat_view_line *line, const struct tc_tool_call *ev, int64_t now_ms)
{
    *line = (struct chat_view_line){.state = TC_LINE_RUNNING, .began_ms = now_ms};
    char name[96];
    snprintf(name, sizeof name, "%.40s%s%.40s", ev->meta->agent ? ev->meta->agent : "",
             ev->meta->agent ? " · " : "", chat_view_short_tool_name(ev->name));
    chat_view_clip(line->id, sizeof line->id, ev->tool_use_id);
    chat_view_clip(line->name, sizeof line->name, name);
    chat_view_summarize_args(line->summary, sizeof line->summary, ev->args);
}

static void chat_view_handle_call(struct chat_view *v, const struct tc_tool_call *ev,
                                  int64_t now_ms)
{
    if (v->line_count == CHAT_VIEW_LINES)
        memmove(v->lines, v->lines + 1, --v->line_count * sizeof *v->lines);
    chat_view_read_call(&v->lines[v->line_count++], ev, now_ms);
    v->tools++;
}

bool chat_view_finish_line(struct chat_view_line *line, const char *id,
                           const struct tc_tool_result *ev, int64_t now_ms)
{
    if (line->state != TC_LINE_RUNNING || strcmp(line->id, id) != 0)
        return false;
    line->state = ev->is_error ? TC_LINE_FAILED : TC_LINE_OK;
    line->took_ms = ev->duration_ms >= 0 ? (int64_t)ev->duration_ms : now_ms - line->began_ms;
    return true;
}

static void chat_view_handle_tool_result(struct chat_view *v, const struct tc_tool_result *ev,
                                         int64_t now_ms)
{
    char id[CHAT_VIEW_ID];
    chat_view_clip(id, sizeof id, ev->tool_use_id);
    for (size_t i = 0; i < v->line_count; i++)
        chat_view_finish_line(&v->lines[i], id, ev, now_ms);
}

/* ---- usage ---- */

static int64_t chat_view_count_tokens(const struct tc_usage *ev)
{
    int64_t sum;
    if (ev->total_tokens >= 0)
        return ev->total_tokens;
    if (ev->input_tokens < 0 || ev->output_tokens < 0)
        return -1;
    return __builtin_add_overflow(ev->input_tokens, ev->output_tokens, &sum) ? INT64_MAX : sum;
}

/* Adds the usage of a call, because the usage of the turn arrives after the outcome. */
static void chat_view_count_usage(struct chat_view *v, const struct tc_usage *ev)
{
    const bool whole = strcmp(ev->scope, "turn") == 0;
    const int64_t tokens = chat_view_count_tokens(ev);
    if (tokens >= 0 &&
        __builtin_add_overflow(whole || v->tokens < 0 ? 0 : v->tokens, tokens, &v->tokens))
        v->tokens = INT64_MAX;
    if (ev->cost_usd >= 0)
        v->cost_usd = (whole || v->cost_usd < 0 ? 0 : v->cost_usd) + ev->cost_usd;
}

/* ---- events ---- */

static bool chat_view_handle_notice(struct chat_view *v, const struct tc_notice *ev)
{
    const bool shown = strcmp(ev->level, "warn") == 0 || strcmp(ev->level, "error") == 0;
    if (ev->code && strcmp(ev->code, "retracted") == 0) {
        v->headline[0] = v->thinking[0] = '\0';
        return true;
    }
    if (shown) {
        char text[CHAT_VIEW_HEADLINE + 8];
        snprintf(text, sizeof text, "⚠ %.*s", CHAT_VIEW_HEADLINE, ev->text);
        chat_view_clip(v->notice, sizeof v->notice, text);
    }
    return shown;
}

/* Updates the view. Returns whether the event causes a progress message. */
static bool chat_view_apply_event(struct chat_view *v, const struct event *ev, int64_t now_ms,
                                  bool thinking)
{
    switch ((int)ev->kind) {
    case TC_NARRATION:
        if (!ev->meta.agent)
            chat_view_handle_narration(v, &ev->u.narration);
        return !ev->meta.agent;
    case TC_THINKING:
        chat_view_append_thinking(v, ev->u.thinking.text);
        return thinking && ev->u.thinking.text_len > 0;
    case TC_TOOL_CALL:
        chat_view_handle_call(v, &ev->u.tool_call, now_ms);
        return true;
    case TC_TOOL_RESULT:
        chat_view_handle_tool_result(v, &ev->u.tool_result, now_ms);
        return true;
    case TC_PROGRESS:
        if (!ev->u.progress.message || !*ev->u.progress.message)
            return false;
        chat_view_clip(v->notice, sizeof v->notice, ev->u.progress.message);
        return true;
    case TC_NOTICE:
        return chat_view_handle_notice(v, &ev->u.notice);
    case TC_USAGE:
        chat_view_count_usage(v, &ev->u.usage);
        return false;
    default:
        return false;
    }
}

bool chat_view_update(struct chat_view *v, const struct event *ev, int64_t now_ms, bool thinking)
{
    const bool shown = chat_view_apply_event(v, ev, now_ms, thinking);
    v->active_ms = now_ms;
    v->visible |= shown;
    return shown;
}

enum tc_phase chat_view_phase(const struct chat_view *v)
{
    return v->phase == TC_PHASE_WORKING && v->waiting ? TC_PHASE_WAITING : v->phase;
}

struct tc_view chat_view_export(const struct chat_view *v, int64_t now_ms, bool thinking,
                                struct tc_tool_line *lines)
{
    for (size_t i = 0; i < v->line_count; i++) {
        const struct chat_view_line *const line = &v->lines[i];
        const bool runs = line->state == TC_LINE_RUNNING;
        lines[i] = (struct tc_tool_line){
            .id = line->id,
            .name = line->name,
            .summary = line->summary,
            .state = line->state,
            .took_ms = runs ? now_ms - line->began_ms : line->took_ms,
        };
    }
    return (struct tc_view){
        .size = sizeof(struct tc_view),
        .phase = chat_view_phase(v),
        .headline = v->headline[0] ? v->headline : texts_get(TEXT_CHAT_WORKING),
        .lines = lines,
        .line_count = v->line_count,
        .lines_before = v->tools - v->line_count,
        .notice = v->notice[0] ? v->notice : NULL,
        .thinking = thinking && v->thinking[0] ? v->thinking : NULL,
        .waiting = v->waiting,
        .elapsed_ms = now_ms - v->began_ms,
        .silent_ms = now_ms - v->active_ms,
        .tokens = v->tokens,
    };
}
