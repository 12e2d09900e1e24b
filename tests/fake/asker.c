/* SPDX-License-Identifier: MIT
 * An agent that asks before it acts, with the control protocol of Claude Code over stdin and
 * stdout.
 *
 * The words of the message choose the requests: run=COMMAND (up to a comma) asks for permission to
 * run the command; several of them ask one after another, or at the same time with the word
 * together. single, multi, text and two ask questions. plan asks for permission to execute a plan.
 * stubborn ignores an interrupt. Each response is the result of its call, and all of them are the
 * answer. */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS 16

static const char *const session = "asked-1";

struct call {
    char id[32];      /* of the request; the call's is "call_" and its number */
    const char *tool; /* NULL: none */
    json_t *input;
    char *told; /* NULL: it is still open */
    bool failed;
};

static struct call calls[CALLS];
static int n_calls;
static bool stubborn, together;

static void put(json_t *line)
{
    char *const text = json_dumps(line, JSON_COMPACT);
    puts(text);
    fflush(stdout);
    free(text);
    json_decref(line);
}

static void say(json_t *content)
{
    static int n;
    char id[32];
    snprintf(id, sizeof id, "msg_%d", ++n);
    put(json_pack("{s:s, s:{s:s, s:s, s:s, s:[o], s:n}, s:n, s:s}", "type", "assistant", "message",
                  "id", id, "role", "assistant", "model", "asker-1", "content", content,
                  "stop_reason", "parent_tool_use_id", "session_id", session));
}

/* ---- requests of the message ---- */

static void want(const char *tool, json_t *input)
{
    if (n_calls == CALLS)
        exit(3);
    struct call *const c = &calls[n_calls++];
    snprintf(c->id, sizeof c->id, "req-%d", n_calls);
    c->tool = tool;
    c->input = input;
}

static json_t *option(const char *label, const char *text)
{
    return json_pack("{s:s, s:s}", "label", label, "description", text);
}

static json_t *question(const char *text, const char *header, bool multi)
{
    return json_pack("{s:s, s:s, s:b, s:[o, o, o]}", "question", text, "header", header,
                     "multiSelect", multi, "options", option("Red", "As a rose"),
                     option("Green", "As grass"), option("Blue", "As the sky"));
}

static void want_questions(const char *message)
{
    json_t *const list = json_array();
    if (strstr(message, "single") || strstr(message, "two"))
        json_array_append_new(list, question("Which colour?", "Colour", false));
    if (strstr(message, "multi") || strstr(message, "two"))
        json_array_append_new(list, question("Which colours fit?", "Fit", true));
    if (strstr(message, "text"))
        json_array_append_new(list, json_pack("{s:s, s:s, s:b, s:[]}", "question", "What name?",
                                              "header", "Name", "multiSelect", 0, "options"));
    if (json_array_size(list))
        want("AskUserQuestion", json_pack("{s:O}", "questions", list));
    json_decref(list);
}

static void read_wishes(const char *message)
{
    for (const char *at = message; (at = strstr(at, "run=")) != NULL; at += 4)
        want("Bash", json_pack("{s:s%}", "command", at + 4, strcspn(at + 4, ",")));
    want_questions(message);
    if (strstr(message, "plan"))
        want("ExitPlanMode", json_pack("{s:s}", "plan", "1. Look.\n2. *Leap*."));
    stubborn = strstr(message, "stubborn") != NULL;
    together = strstr(message, "together") != NULL;
}

/* ---- sending requests ---- */

static void ask(int i)
{
    struct call *const c = &calls[i];
    char id[32];
    snprintf(id, sizeof id, "call_%d", i + 1);
    say(json_pack("{s:s, s:s, s:s, s:O}", "type", "tool_use", "id", id, "name", c->tool, "input",
                  c->input));
    put(json_pack("{s:s, s:s, s:{s:s, s:s, s:O, s:s, s:[{s:s, s:s, s:s}]}}", "type",
                  "control_request", "request_id", c->id, "request", "subtype", "can_use_tool",
                  "tool_name", c->tool, "input", c->input, "tool_use_id", id,
                  "permission_suggestions", "type", "setMode", "mode", "acceptEdits", "destination",
                  "session"));
}

static void settle(int i)
{
    const struct call *const c = &calls[i];
    char id[32];
    snprintf(id, sizeof id, "call_%d", i + 1);
    put(json_pack("{s:s, s:{s:s, s:[{s:s, s:s, s:s, s:b}]}, s:n, s:s}", "type", "user", "message",
                  "role", "user", "content", "type", "tool_result", "tool_use_id", id, "content",
                  c->told, "is_error", c->failed, "parent_tool_use_id", "session_id", session));
}

static void finish(const char *subtype)
{
    char text[8192] = "";
    for (int i = 0; i < n_calls; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? "; " : "",
                 calls[i].told ? calls[i].told : "not told");
    const bool ok = strcmp(subtype, "success") == 0;
    if (ok)
        say(json_pack("{s:s, s:s}", "type", "text", "text", text));
    put(json_pack("{s:s, s:s, s:b, s:i, s:i, s:s, s:s}", "type", "result", "subtype", subtype,
                  "is_error", !ok, "duration_ms", 1, "num_turns", 1, "result", text, "session_id",
                  session));
}

/* ---- responses of the host ---- */

static void take_answer(json_t *response)
{
    const char *const id = json_string_value(json_object_get(response, "request_id"));
    json_t *const answer = json_object_get(response, "response");
    for (int i = 0; id && i < n_calls; i++) {
        struct call *const c = &calls[i];
        if (strcmp(c->id, id) != 0 || c->told)
            continue;
        c->told = answer ? json_dumps(answer, JSON_COMPACT | JSON_SORT_KEYS) : strdup("an error");
        c->failed = !answer || strcmp(json_string_value(json_object_get(answer, "behavior"))
                                          ? json_string_value(json_object_get(answer, "behavior"))
                                          : "",
                                      "allow") != 0;
        settle(i);
        if (json_is_true(json_object_get(answer, "interrupt"))) {
            finish("error_during_execution");
            exit(0);
        }
        return;
    }
    fprintf(stderr, "asker: an answer to what was not asked: %s\n", id ? id : "?");
    exit(4);
}

static void take_interrupt(json_t *line, int asked)
{
    if (stubborn)
        return;
    for (int i = 0; i < asked; i++)
        if (!calls[i].told)
            put(json_pack("{s:s, s:s}", "type", "control_cancel_request", "request_id",
                          calls[i].id));
    put(json_pack("{s:s, s:{s:s, s:O, s:{}}}", "type", "control_response", "response", "subtype",
                  "success", "request_id", json_object_get(line, "request_id"), "response"));
    finish("error_during_execution");
    exit(0);
}

static void listen(int asked)
{
    static char text[1 << 20];
    while (!fgets(text, sizeof text, stdin)) {
        if (!stubborn)
            exit(0);
        clearerr(stdin);
    }
    json_t *const line = json_loads(text, 0, NULL);
    const char *const type = json_string_value(json_object_get(line, "type"));
    if (type && strcmp(type, "control_response") == 0)
        take_answer(json_object_get(line, "response"));
    else if (type && strcmp(type, "control_request") == 0)
        take_interrupt(line, asked);
    json_decref(line);
}

static bool is_waiting(int asked)
{
    for (int i = 0; i < asked; i++)
        if (!calls[i].told)
            return true;
    return false;
}

int main(void)
{
    static char message[1 << 20];
    if (!fgets(message, sizeof message, stdin))
        return 2;
    json_t *const line = json_loads(message, 0, NULL);
    const char *const text =
        json_string_value(json_object_get(json_object_get(line, "message"), "content"));
    read_wishes(text ? text : "");
    put(json_pack("{s:s, s:s, s:s, s:s, s:s}", "type", "system", "subtype", "init", "cwd", "/srv",
                  "session_id", session, "model", "asker-1"));
    for (int i = 0; i < n_calls; i++) {
        ask(i);
        while (!together && is_waiting(i + 1))
            listen(i + 1);
    }
    while (is_waiting(n_calls))
        listen(n_calls);
    finish("success");
    return 0;
}
