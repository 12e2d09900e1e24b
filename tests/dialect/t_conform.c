/* SPDX-License-Identifier: MIT
 * Every recording of every dialect, written in every output format, keeps what the documentation of
 * that format promises to its readers. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dialect/conform.h"
#include "dialect/rewrite.h"
#include "tap/tap.h"

static const struct conform_format formats[] = {
    {"ag-ui", false, conform_ag_ui},
    {"agenticore-openai", true, conform_agenticore},
    {"agenticore-openai", false, conform_agenticore},
    {"awaken", false, conform_awaken},
    {"ethos", false, conform_ethos},
    {"missy-audit", false, conform_missy_audit},
    {"missy-json", false, conform_missy_json},
    {"otlp", false, conform_otlp},
    {"reasonix", false, conform_reasonix},
};

enum { FORMATS = sizeof formats / sizeof *formats };

static size_t seen[FORMATS];

/* Numbers that no integer of jansson holds are legal. */
static json_t *read_line(const char *p, size_t len)
{
    json_t *const line = json_loadb(p, len, JSON_ALLOW_NUL, NULL);
    return line ? line : json_loadb(p, len, JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);
}

/* Takes over the text. */
static json_t *read_lines(char *text)
{
    json_t *const lines = json_array();
    for (const char *p = text; *p; p += strcspn(p, "\n") + (p[strcspn(p, "\n")] == '\n')) {
        json_t *const line = read_line(p, strcspn(p, "\n"));
        json_array_append_new(lines, json_is_object(line) ? line : json_object());
        if (!json_is_object(line))
            json_decref(line);
    }
    free(text);
    return lines;
}

static char *copy_text(const json_t *payload, const char *key)
{
    const char *const text = json_string_value(json_object_get(payload, key));
    return strdup(text ? text : "");
}

/* Of the agent: formats that are older than sub-agents do not tell what those say. */
static bool is_retraction(const json_t *notice)
{
    const char *const code = json_string_value(json_object_get(notice, "code"));
    return code && strcmp(code, "retracted") == 0 && json_object_get(notice, "message_id") &&
           !json_object_get(notice, "agent") && !json_object_get(notice, "parent_id");
}

/* `calls`: the tool_use_ids so far. */
static void note_calls(struct conform_turn *turn, json_t *calls, const json_t *payload)
{
    const char *const parent = json_string_value(json_object_get(payload, "parent_id"));
    const char *const call = json_string_value(json_object_get(payload, "tool_use_id"));
    turn->has_orphans |= parent && !json_object_get(calls, parent);
    if (call)
        json_object_set_new(calls, call, json_true());
}

static void note_event(struct conform_turn *turn, json_t *calls, const json_t *line)
{
    const char *const kind = json_string_value(json_object_get(line, "type"));
    const json_t *const payload = json_object_get(line, "payload");
    const char *const scope = json_string_value(json_object_get(payload, "scope"));
    const json_t *const cost = json_object_get(payload, "cost_usd");
    if (!kind)
        return;
    note_calls(turn, calls, payload);
    if (strcmp(kind, "final") == 0) {
        turn->final = copy_text(payload, "text");
        turn->by_host = json_is_true(json_object_get(payload, "synthesized"));
    } else if (strcmp(kind, "error") == 0) {
        turn->failed = true;
    } else if (strcmp(kind, "done") == 0)
        snprintf(turn->reason, sizeof turn->reason, "%s",
                 json_string_value(json_object_get(payload, "reason")));
    else if (strcmp(kind, "notice") == 0)
        turn->retracts |= is_retraction(payload);
    else if (strcmp(kind, "tool_call") == 0)
        turn->resumes |=
            json_is_true(json_object_get(json_object_get(payload, "x"), "synthesized"));
    else if (strcmp(kind, "usage") == 0 && scope && strcmp(scope, "turn") == 0 && cost)
        turn->cost_usd = json_number_value(cost);
}

static struct conform_turn turn_of(const char *dialect, const char *stream, size_t len)
{
    struct conform_turn turn = {.cost_usd = -1};
    const struct rewrite r = {.dialect = dialect, .writer = "turncast"};
    json_t *const lines = read_lines(rewrite(&r, stream, len)), *const calls = json_object();
    size_t i;
    json_t *line;
    json_array_foreach(lines, i, line)
    {
        note_event(&turn, calls, line);
    }
    json_decref(calls);
    json_decref(lines);
    return turn;
}

static void test_format(size_t format, const char *name, const char *dialect,
                        const struct conform_turn *turn, const char *stream, size_t len)
{
    const struct rewrite r = {.dialect = dialect,
                              .writer = formats[format].writer,
                              .conf.is_answer = formats[format].is_answer,
                              .conf.repeats_final = formats[format].is_answer};
    struct conform c = {.turn = turn, .lines = read_lines(rewrite(&r, stream, len))};
    formats[format].check(&c);
    ok(!*c.why, "%s: %s", formats[format].writer, name);
    if (*c.why)
        diag("%s", c.why);
    seen[format]++;
    json_decref(c.lines);
}

static void test_recording(const char *dialect, const char *file)
{
    char name[1024];
    size_t len;
    snprintf(name, sizeof name, "dialects/%.200s/%.300s", dialect, file);
    char *const stream = tap_slurp(tap_source(name), &len);
    const struct conform_turn turn = turn_of(dialect, stream, len);
    for (size_t i = 0; i < FORMATS; i++)
        test_format(i, name + strlen("dialects/"), dialect, &turn, stream, len);
    free(turn.final);
    free(stream);
}

static int is_recording(const struct dirent *entry)
{
    const char *const dot = strrchr(entry->d_name, '.');
    return dot && !strstr(entry->d_name, ".in.") &&
           (strcmp(dot, ".jsonl") == 0 || strcmp(dot, ".sse") == 0);
}

static void test_dialect(const char *dialect)
{
    char folder[4096], relative[512];
    struct dirent **entries;
    snprintf(relative, sizeof relative, "dialects/%s", dialect);
    snprintf(folder, sizeof folder, "%s", tap_source(relative));
    const int n = scandir(folder, &entries, is_recording, alphasort);
    for (int i = 0; i < n; i++) {
        test_recording(dialect, entries[i]->d_name);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

static int is_folder(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && dialect_find(entry->d_name);
}

int main(void)
{
    char folder[4096];
    struct dirent **entries;
    plan_lazy();
    snprintf(folder, sizeof folder, "%s", tap_source("dialects"));
    const int n = scandir(folder, &entries, is_folder, alphasort);
    if (n <= 0)
        bail("no dialects in %s", folder);
    for (int i = 0; i < n; i++) {
        test_dialect(entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    for (size_t i = 0; i < FORMATS; i++)
        ok(seen[i] > 250, "%s: %zu recordings", formats[i].writer, seen[i]);
    return 0;
}
