/* SPDX-License-Identifier: MIT
 * Compares one stream with the canonical lines that were made from it. */
#include "dialect/adds_up.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

struct facts {
    json_t *told;     /* block id -> text that stands */
    json_t *messages; /* message id -> text */
    json_t *final, *error, *done, *result;
    json_t *steps;  /* message ids of the steps */
    json_t *step;   /* message id of the open step, or NULL */
    json_t *astray; /* an event outside of the step of its message, or a second step of one */
    bool goes_on;
};

static const char *text_of(const json_t *o, const char *key)
{
    const char *const text = json_string_value(json_object_get(o, key));
    return text ? text : "";
}

static void append(json_t *map, const char *key, const char *text)
{
    const char *const old = text_of(map, key);
    char *const all = malloc(strlen(old) + strlen(text) + 1);
    strcpy(stpcpy(all, old), text);
    json_object_set_new(map, key, json_string(all));
    free(all);
}

static void set(json_t **to, json_t *owned)
{
    json_decref(*to);
    *to = owned;
}

static bool is_step(const char *kind)
{
    return strcmp(kind, "step") == 0;
}

static bool is_of_model(const char *kind)
{
    return strcmp(kind, "narration") == 0 || strcmp(kind, "thinking") == 0 ||
           strcmp(kind, "tool_call") == 0;
}

/* A step is one message of the main agent, with all text and tool calls of the message. */
static void note_step(struct facts *f, const char *kind, json_t *payload)
{
    const char *const id = text_of(payload, "message_id");
    const bool starts = strcmp(text_of(payload, "state"), "start") == 0;
    char message[256];
    snprintf(message, sizeof(message), "%.*s", (int)strcspn(id, "#"), id);
    if (json_object_get(payload, "parent_id") || strcmp(text_of(payload, "kind"), "agent") == 0)
        return;
    const char *const open = f->step ? json_string_value(f->step) : "";
    const bool again = is_step(kind) && starts && json_object_get(f->steps, message);
    if (again || (is_of_model(kind) && *message && strcmp(message, open) != 0))
        set(&f->astray, json_incref(payload));
    if (is_step(kind))
        set(&f->step, starts ? json_string(message) : NULL);
    if (is_step(kind) && starts)
        json_object_set(f->steps, message, json_true());
}

static void note_event(struct facts *f, const char *kind, json_t *payload)
{
    const char *const id = text_of(payload, "message_id");
    if (strcmp(kind, "narration") == 0)
        append(f->told, id, text_of(payload, "text"));
    else if (strcmp(text_of(payload, "code"), "retracted") == 0)
        json_object_del(f->told, id);
    else if (strcmp(kind, "message") == 0)
        append(f->messages, id, text_of(payload, "text"));
    else if (strcmp(kind, "final") == 0)
        f->final = json_incref(payload);
    else if (strcmp(kind, "error") == 0)
        f->error = json_incref(payload);
    else if (strcmp(kind, "done") == 0)
        f->done = json_incref(payload);
}

static void read_told(struct facts *f, const char *told)
{
    for (const char *p = told; *p; p = strchr(p, '\n') + 1) {
        json_t *const line = json_loadb(p, strcspn(p, "\n"), 0, NULL);
        note_event(f, text_of(line, "type"), json_object_get(line, "payload"));
        note_step(f, text_of(line, "type"), json_object_get(line, "payload"));
        json_decref(line);
    }
}

static bool is_nothing(const char *text)
{
    return text[strspn(text, " \n\r\t")] == '\0' || strcmp(text, "(no content)") == 0;
}

/* Does a task run in the background, or start later? Then a later result may have the answer. */
static bool goes_on(const json_t *line)
{
    if (json_object_get(json_object_get(line, "tool_use_result"), "scheduledFor"))
        return true;
    return strcmp(text_of(line, "subtype"), "background_tasks_changed") == 0 &&
           json_array_size(json_object_get(line, "tasks")) > 0;
}

/* The result that decides: the first one that answers the user, else the last one of a task; with
 * background work the last that says something, or is an error. */
static bool decides(const struct facts *f, const json_t *line)
{
    if (!f->result || json_object_get(f->result, "origin"))
        return true;
    return f->goes_on && (json_is_true(json_object_get(line, "is_error")) ||
                          !is_nothing(text_of(line, "result")));
}

static void read_stream(struct facts *f, const char *stream, size_t len)
{
    const char *const end = stream + len;
    for (const char *p = stream; p < end;) {
        const char *const newline = memchr(p, '\n', (size_t)(end - p));
        const size_t n = (size_t)((newline ? newline : end) - p);
        json_t *const line = json_loadb(p, n, JSON_ALLOW_NUL, NULL);
        p += n + 1;
        f->goes_on |= goes_on(line);
        if (strcmp(text_of(line, "type"), "result") == 0 && decides(f, line)) {
            json_decref(f->result);
            f->result = json_incref(line);
        }
        json_decref(line);
    }
}

/* Message ids of the blocks, their texts in the order of their first words. */
static bool texts_add_up(const struct facts *f, char why[512])
{
    json_t *const sums = json_object();
    const char *id;
    json_t *text;
    json_object_foreach(f->told, id, text)
    {
        char message[256];
        snprintf(message, sizeof(message), "%.*s", (int)strcspn(id, "#"), id);
        append(sums, message, json_string_value(text));
    }
    bool same = true;
    json_object_foreach(sums, id, text)
    {
        if (same && strcmp(json_string_value(text), text_of(f->messages, id)) != 0) {
            snprintf(why, 512, "message %s: told \"%.80s\", complete \"%.80s\"", id,
                     json_string_value(text), text_of(f->messages, id));
            same = false;
        }
    }
    json_decref(sums);
    return same;
}

static bool final_adds_up(const struct facts *f, char why[512])
{
    const char *const final = text_of(f->final, "text"), *const result =
                                                             text_of(f->result, "result");
    const size_t len = strlen(final), tail = strlen(result);
    if (is_nothing(result) || (len >= tail && strcmp(final + len - tail, result) == 0))
        return true;
    snprintf(why, 512, "final \"%.100s\", result \"%.100s\"", final, result);
    return false;
}

/* The reason of `done` that the result line requires, in the words of the canonical format. */
static const char *wanted_reason(const json_t *result)
{
    const char *const subtype = text_of(result, "subtype");
    const bool failed =
        json_is_true(json_object_get(result, "is_error")) || strncmp(subtype, "error", 5) == 0;
    if (!failed)
        return "completed";
    if (strcmp(text_of(result, "stop_reason"), "refusal") == 0)
        return "refused";
    if (strncmp(text_of(result, "terminal_reason"), "aborted", 7) == 0)
        return "cancelled";
    if (strcmp(subtype, "error_max_turns") == 0 || strcmp(subtype, "error_max_budget_usd") == 0)
        return "stopped";
    return "error";
}

/* Releases before 2.1 report neither the stop reason nor an interrupt. */
static bool reason_adds_up(const struct facts *f, char why[512])
{
    const char *const reason = text_of(f->done, "reason"), *const wanted = wanted_reason(f->result);
    const bool vague = strcmp(wanted, "error") == 0 &&
                       !json_object_get(f->result, "terminal_reason") &&
                       (strcmp(reason, "cancelled") == 0 || strcmp(reason, "refused") == 0);
    if (vague || strcmp(reason, wanted) == 0)
        return true;
    snprintf(why, 512, "done %s, result wants %s", reason, wanted);
    return false;
}

static bool steps_add_up(const struct facts *f, char why[512])
{
    if (f->astray)
        snprintf(why, 512, "not in the step of message %s", text_of(f->astray, "message_id"));
    return !f->astray;
}

static bool judge(const struct facts *f, char why[512])
{
    if (!steps_add_up(f, why))
        return false;
    if (!f->result) {
        if (f->error)
            return true;
        snprintf(why, 512, "no result, and no error");
        return false;
    }
    const bool completed = strcmp(text_of(f->done, "reason"), "completed") == 0;
    return texts_add_up(f, why) && reason_adds_up(f, why) && (!completed || final_adds_up(f, why));
}

bool adds_up(const char *stream, size_t stream_len, const char *told, char why[512])
{
    struct facts f = {.told = json_object(), .messages = json_object(), .steps = json_object()};
    read_told(&f, told);
    read_stream(&f, stream, stream_len);
    const bool good = judge(&f, why);
    json_t *const all[] = {f.told,   f.messages, f.final, f.error, f.done,
                           f.result, f.steps,    f.step,  f.astray};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        json_decref(all[i]);
    return good;
}

/* The text of the event that a person reads. */
static const char *said_by(const json_t *event)
{
    const char *const type = text_of(event, "type");
    const bool says = strcmp(type, "message") == 0 || strcmp(type, "final") == 0;
    return says ? text_of(json_object_get(event, "payload"), "text") : "";
}

/* Whether the text ends what some event says; *last: the text of the last final. */
static bool is_told(const char *told, const char *text, char last[512])
{
    const size_t len = strlen(text);
    bool found = false;
    for (const char *p = told; *p; p = strchr(p, '\n') + 1) {
        json_t *const event = json_loadb(p, strcspn(p, "\n"), 0, NULL);
        const char *const said = said_by(event);
        const size_t n = strlen(said);
        found |= n >= len && strcmp(said + n - len, text) == 0;
        if (strcmp(text_of(event, "type"), "final") == 0 && *said)
            snprintf(last, 512, "%s", said);
        json_decref(event);
    }
    return found;
}

bool answers_are_told(const char *stream, size_t len, const char *told, char why[512])
{
    char newest[512] = "", last[512] = "";
    bool good = true;
    for (const char *p = stream; p < stream + len; p += strcspn(p, "\n") + 1) {
        json_t *const line = json_loadb(p, strcspn(p, "\n"), 0, NULL);
        const char *const text =
            strcmp(text_of(line, "type"), "result") == 0 ? text_of(line, "result") : "";
        if (!is_nothing(text) && !is_told(told, text, last)) {
            snprintf(why, 512, "not told: \"%.100s\"", text);
            good = false;
        }
        if (!is_nothing(text))
            snprintf(newest, sizeof(newest), "%s", text);
        json_decref(line);
    }
    if (good && strcmp(newest, last) != 0) {
        snprintf(why, 512, "the last answer is \"%.100s\", not \"%.100s\"", last, newest);
        good = false;
    }
    return good;
}
