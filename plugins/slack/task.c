/* SPDX-License-Identifier: MIT
 * The tool calls, the thinking and the silences of a turn, as the cards Slack has for tasks. */
#include <stdio.h>
#include <string.h>

#include "pulse.h"
#include "task.h"
#include "text.h"

#define ELAPSED_FROM_MS 10000 /* a running task of that age tells it */
#define ARGS_MAX (64u << 10)
#define OUTPUT_BYTES 240

static const char silence_id[] = "silence";
static const char thinking_id[] = "thinking-";

/* A free place, else the oldest that is over and shown. */
static struct slack_task *place(struct tasks *tasks)
{
    struct slack_task *best = NULL;
    for (size_t i = 0; i < TASKS_MAX; i++) {
        struct slack_task *t = &tasks->list[i];
        if (t->state == TASK_FREE)
            return t;
        if (t->state != TASK_RUNNING && !t->waiting && (!best || t->order < best->order))
            best = t;
    }
    return best;
}

static struct slack_task *begin(struct tc_turn *turn, const char *id, const char *title)
{
    struct tasks *tasks = &cast_of(turn)->tasks;
    struct slack_task *t = place(tasks);
    if (!t)
        return NULL;
    *t = (struct slack_task){
        .state = TASK_RUNNING, .begin_ms = pulse_now(), .took_ms = -1, .order = ++tasks->count};
    snprintf(t->id, sizeof t->id, "%s", id);
    snprintf(t->title, sizeof t->title, "%s", title);
    return t;
}

static struct slack_task *task_find(struct tasks *tasks, const char *id)
{
    for (size_t i = 0; i < TASKS_MAX; i++) {
        struct slack_task *t = &tasks->list[i];
        if (t->state != TASK_FREE && strncmp(t->id, id, sizeof t->id - 1) == 0)
            return t;
    }
    return NULL;
}

static struct slack_task *find_running(struct tasks *tasks, const char *prefix)
{
    for (size_t i = 0; i < TASKS_MAX; i++) {
        struct slack_task *t = &tasks->list[i];
        if (t->state == TASK_RUNNING && strncmp(t->id, prefix, strlen(prefix)) == 0)
            return t;
    }
    return NULL;
}

/* The argument that says most, else the first text. NULL: none. */
static const char *argument(const json_t *args)
{
    static const char *const telling[] = {"command", "file_path", "path",        "pattern",
                                          "query",   "url",       "description", "prompt"};
    for (size_t i = 0; i < sizeof telling / sizeof *telling; i++) {
        const char *text = json_string_value(json_object_get(args, telling[i]));
        if (text && *text)
            return text;
    }
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)args, key,
                        value) if (json_is_string(value) &&
                                   json_string_length(value) > 0) return json_string_value(value);
    return NULL;
}

/* Of mcp__server__tool the last part. */
static const char *short_name(const char *tool)
{
    const char *last = tool;
    for (const char *p = tool; (p = strstr(p, "__")) && p[2]; p += 2)
        last = p + 2;
    return last;
}

struct slack_task *task_call(struct tc_turn *turn, const struct tc_tool_call *ev)
{
    json_auto_t *args =
        ev->args_len <= ARGS_MAX ? json_loadb(ev->args, ev->args_len, 0, NULL) : NULL;
    const char *about = argument(args), *name = short_name(ev->name);
    const char *raw = about ? tc_sprint(turn, "%s: %.300s", name, about) : name;
    return begin(turn, ev->tool_use_id, text_label(turn, raw ? raw : name, 130));
}

struct slack_task *task_result(struct tc_turn *turn, const struct tc_tool_result *ev)
{
    struct slack_task *t = task_find(&cast_of(turn)->tasks, ev->tool_use_id);
    if (!t || t->state != TASK_RUNNING)
        return NULL;
    t->state = ev->is_error ? TASK_ERROR : TASK_COMPLETE;
    t->took_ms = ev->duration_ms >= 0 ? (int64_t)ev->duration_ms : pulse_now() - t->begin_ms;
    if (ev->is_error && ev->content_len > 0) {
        t->details = tc_keep(turn, text_label(turn, ev->content, OUTPUT_BYTES));
        t->details_len = t->details ? strlen(t->details) : 0;
    }
    return t;
}

struct slack_task *task_thinking(struct tc_turn *turn, const struct tc_thinking *ev)
{
    struct tasks *tasks = &cast_of(turn)->tasks;
    struct slack_task *t = find_running(tasks, thinking_id);
    if (!t) {
        char id[48];
        snprintf(id, sizeof id, "%s%llu", thinking_id, (unsigned long long)tasks->count + 1);
        t = begin(turn, id, "Thinking");
        if (!t || !(t->details = tc_alloc(turn, TASK_THINKING + 1)))
            return NULL;
    }
    const size_t room = TASK_THINKING - t->details_len;
    size_t n = ev->text_len < room ? ev->text_len : room;
    while (n < ev->text_len && n > 0 && ((unsigned char)ev->text[n] & 0xc0) == 0x80)
        n--;
    memcpy(t->details + t->details_len, ev->text, n);
    t->details_len += n;
    return n > 0 ? t : NULL;
}

struct slack_task *task_settle(struct tc_turn *turn)
{
    struct tasks *tasks = &cast_of(turn)->tasks;
    struct slack_task *t = find_running(tasks, thinking_id);
    if (!t)
        t = find_running(tasks, silence_id);
    if (t) {
        t->state = TASK_COMPLETE;
        t->took_ms = pulse_now() - t->begin_ms;
    }
    return t;
}

struct slack_task *task_silence(struct tc_turn *turn)
{
    struct cast *cast = cast_of(turn);
    if (task_is_running(&cast->tasks))
        return NULL;
    char id[48];
    snprintf(id, sizeof id, "%s-%llu", silence_id, (unsigned long long)cast->tasks.count + 1);
    struct slack_task *t =
        begin(turn, id, question_waits(turn) ? "Waiting for an answer" : "Working");
    if (t)
        t->begin_ms = cast->event_ms;
    return t;
}

size_t task_size(const struct slack_task *t)
{
    return strlen(t->title) + sizeof "running for (2m05s)" + 2 * t->details_len;
}

bool task_is_running(const struct tasks *t)
{
    for (size_t i = 0; i < TASKS_MAX; i++)
        if (t->list[i].state == TASK_RUNNING)
            return true;
    return false;
}

struct slack_task *task_after(struct tasks *tasks, const struct slack_task *previous)
{
    const uint64_t from = previous ? previous->order : 0;
    struct slack_task *best = NULL;
    for (size_t i = 0; i < TASKS_MAX; i++) {
        struct slack_task *t = &tasks->list[i];
        if (t->state != TASK_FREE && t->order > from && (!best || t->order < best->order))
            best = t;
    }
    return best;
}

/* " (2m05s)", or nothing. */
static void duration(const struct slack_task *t, char out[40])
{
    char elapsed[32];
    const int64_t ms = t->took_ms >= 0 ? t->took_ms : pulse_now() - t->begin_ms;
    out[0] = '\0';
    if (t->state == TASK_RUNNING && ms < ELAPSED_FROM_MS)
        return;
    text_elapsed(elapsed, ms);
    snprintf(out, 40, " (%s)", elapsed);
}

/* What the card lacks. */
static const char *new_details(struct tc_turn *turn, const struct slack_task *t)
{
    const size_t from = t->shown_in == cast_of(turn)->stream.number ? t->told : 0;
    if (!t->details || from >= t->details_len)
        return NULL;
    if (t->state == TASK_ERROR)
        return t->details + from;
    return text_mrkdwn(turn, t->details + from, t->details_len - from, TC_VERBATIM, TASK_THINKING);
}

json_t *task_chunk(struct tc_turn *turn, const struct slack_task *t, const char *left)
{
    static const char *const states[] = {[TASK_FREE] = "pending",
                                         [TASK_RUNNING] = "in_progress",
                                         [TASK_COMPLETE] = "complete",
                                         [TASK_ERROR] = "error"};
    const bool leaves = left && t->state == TASK_RUNNING;
    char took[40];
    duration(t, took);
    json_t *chunk = json_pack("{s:s, s:s, s:o*, s:s}", "type", "task_update", "id", t->id, "title",
                              json_sprintf("%s%s", t->title, leaves ? left : took), "status",
                              leaves ? "complete" : states[t->state]);
    const char *details = leaves ? NULL : new_details(turn, t);
    if (details)
        json_object_set_new(chunk, t->state == TASK_ERROR ? "output" : "details",
                            json_string(details));
    return chunk;
}

const char *task_line(struct tc_turn *turn, const struct slack_task *t)
{
    static const char *const marks[] = {[TASK_FREE] = "",
                                        [TASK_RUNNING] = "\xe2\x96\xb8",  /* ▸ */
                                        [TASK_COMPLETE] = "\xe2\x9c\x93", /* ✓ */
                                        [TASK_ERROR] = "\xe2\x9c\x97"};   /* ✗ */
    char took[40];
    duration(t, took);
    return tc_sprint(turn, "%s %s%s\n", marks[t->state], t->title, took);
}
