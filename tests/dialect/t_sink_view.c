/* SPDX-License-Identifier: MIT
 * What a sink written for agenticore sees of a claude turn. A small model of agenticore's own
 * translator and of its eight kinds reads every recording; our canonical lines, restricted to
 * those kinds, must say the same in the same order. Where they are meant to differ, the model
 * follows a rule with a name, and every rule is shown to matter: without it some recording does
 * not match. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "tap/tap.h"

#define NO_CONTENT "(no content)" /* what stands in a whole line for nothing */

enum rule {
    RULE_DONE,      /* done is told */
    RULE_OUTCOME,   /* final or error always fires */
    RULE_ERROR,     /* a failed turn has an error, and no final */
    RULE_CHILDREN,  /* what a sub-agent says and does is not the agent's */
    RULE_ONCE,      /* the first result ends the turn */
    RULE_COMMITTED, /* whole lines count: calls as they are in them, text that did not stream */
    RULE_ANSWER,    /* the answer is the result's */
    RULE_SUBTYPE,   /* a subtype error_* is no success */
    RULE_EMPTY,     /* nothing empty is told */
    RULE_CLOSED,    /* a call without a result is closed */
    RULES,
};

static const char *const rule_names[RULES] = {
    [RULE_DONE] = "row 0-5: done is told on this path, too, and last",
    [RULE_OUTCOME] = "row 0-2: final or error fires for an empty answer, too",
    [RULE_ERROR] = "row 0-3: a failed turn has an error and no final",
    [RULE_CHILDREN] = "bug 17: a sub-agent's words and tools are its own",
    [RULE_ONCE] = "row 0-4: one usage, one end; what follows is left out",
    [RULE_COMMITTED] = "bug 20: whole lines count, streamed or not",
    [RULE_ANSWER] = "bug 21: the answer is the whole message, not its last block",
    [RULE_SUBTYPE] = "bug 6: a result of subtype error_* is no success",
    [RULE_EMPTY] = "a narration is never empty",
    [RULE_CLOSED] = "bug 14: a call that never ran is closed",
};

static const char *text_of(const json_t *o, const char *key)
{
    const char *const text = json_string_value(json_object_get(o, key));
    return text ? text : "";
}

static bool has_type(const json_t *o, const char *type)
{
    return strcmp(text_of(o, "type"), type) == 0;
}

static bool is_blank(const char *text)
{
    return text[strspn(text, " \n")] == '\0';
}

/* The model. */

struct model {
    unsigned rules;   /* a bit for each */
    json_t *told;     /* [kind, payload] in order */
    json_t *block;    /* the tool block that streams, or NULL */
    char *args;       /* its JSON so far */
    char *text;       /* of the text block that streams */
    char *closed;     /* text of the last closed block; "" when that was a tool */
    json_t *streamed; /* texts of the message's blocks */
    json_t *open;     /* tool_use_id: null, of calls without a result */
    json_t *called;
    char *answer; /* committed text of the newest message that has some */
    bool goes_on; /* it was cut at the output limit: the next message continues it */
    bool stale;   /* a call came behind it */
    bool whole_lines, flushed, over, decided, refused, interrupted;
};

static bool follows(const struct model *m, enum rule rule)
{
    return m->rules >> rule & 1;
}

static void replace(char **to, const char *text)
{
    char *const copy = strdup(text);
    free(*to);
    *to = copy;
}

static void append(char **to, const char *text)
{
    char *all = NULL;
    if (asprintf(&all, "%s%s", *to, text) < 0)
        bail("no memory");
    free(*to);
    *to = all;
}

static void tell(struct model *m, const char *kind, json_t *payload)
{
    json_array_append_new(m->told, json_pack("[s, o]", kind, payload));
}

static void tell_text(struct model *m, const char *kind, const char *text)
{
    if (!is_blank(text) || !follows(m, RULE_EMPTY))
        tell(m, kind, json_pack("{s:s}", "text", text));
}

static void tell_call(struct model *m, const char *id, const char *name, json_t *args)
{
    if (json_object_get(m->called, id)) {
        json_decref(args);
        return;
    }
    m->stale = true;
    json_object_set_new(m->called, id, json_null());
    json_object_set_new(m->open, id, json_null());
    tell(m, "tool_call",
         json_pack("{s:s, s:o, s:s}", "name", name, "args", args, "tool_use_id", id));
}

static void start_block(struct model *m, json_t *block)
{
    replace(&m->text, "");
    if (!has_type(block, "tool_use"))
        return;
    json_decref(m->block);
    m->block = json_incref(block);
    replace(&m->args, "");
}

static void take_delta(struct model *m, const json_t *delta)
{
    if (has_type(delta, "text_delta")) {
        append(&m->text, text_of(delta, "text"));
        tell_text(m, "narration", text_of(delta, "text"));
    } else if (has_type(delta, "thinking_delta")) {
        append(&m->text, text_of(delta, "thinking"));
        tell_text(m, "thinking", text_of(delta, "thinking"));
    } else if (has_type(delta, "input_json_delta")) {
        append(&m->args, text_of(delta, "partial_json"));
    }
}

static json_t *read_args(const char *text)
{
    json_t *const args = *text ? json_loads(text, 0, NULL) : json_object();
    return json_is_object(args) ? args : json_pack("{s:s}", "_raw", text);
}

static void stop_block(struct model *m)
{
    if (m->block) {
        if (!(follows(m, RULE_COMMITTED) && m->whole_lines))
            tell_call(m, text_of(m->block, "id"), text_of(m->block, "name"), read_args(m->args));
        replace(&m->closed, "");
        json_decref(m->block);
        m->block = NULL;
    } else if (*m->text) {
        replace(&m->closed, m->text);
    }
    json_array_append_new(m->streamed, json_string(m->text));
    replace(&m->text, "");
}

static void start_message(struct model *m)
{
    json_array_clear(m->streamed);
    if (!m->goes_on && !m->stale)
        replace(&m->answer, "");
    m->goes_on = false;
}

static void stop_message(struct model *m, const json_t *delta)
{
    const char *const reason = text_of(delta, "stop_reason");
    m->refused = strcmp(reason, "refusal") == 0;
    m->goes_on = strcmp(reason, "max_tokens") == 0;
}

static void take_stream_event(struct model *m, const json_t *event)
{
    if (has_type(event, "message_start"))
        start_message(m);
    else if (has_type(event, "message_delta"))
        stop_message(m, json_object_get(event, "delta"));
    else if (has_type(event, "content_block_start"))
        start_block(m, json_object_get(event, "content_block"));
    else if (has_type(event, "content_block_delta"))
        take_delta(m, json_object_get(event, "delta"));
    else if (has_type(event, "content_block_stop"))
        stop_block(m);
}

/* The line comes before its block stops. */
static bool has_streamed(const struct model *m, const char *text)
{
    for (size_t i = 0; i < json_array_size(m->streamed); i++)
        if (strcmp(json_string_value(json_array_get(m->streamed, i)), text) == 0)
            return true;
    return strcmp(m->text, text) == 0;
}

/* What was no JSON comes wrapped. */
static json_t *committed_args(json_t *input)
{
    json_t *const raw = json_object_get(json_object_get(input, "__unparsedToolInput"), "raw");
    return raw ? json_pack("{s:O}", "_raw", raw) : json_incref(input);
}

static void commit_text(struct model *m, const char *kind, const char *text)
{
    if (!has_streamed(m, text))
        tell_text(m, kind, text);
    if (strcmp(kind, "narration") != 0)
        return;
    if (m->stale)
        replace(&m->answer, "");
    m->stale = false;
    append(&m->answer, text);
}

static void take_assistant(struct model *m, const json_t *message)
{
    size_t i;
    json_t *block;
    if (!follows(m, RULE_COMMITTED) || strcmp(text_of(message, "model"), "<synthetic>") == 0)
        return;
    json_array_foreach(json_object_get(message, "content"), i, block)
    {
        const bool thinks = has_type(block, "thinking");
        const char *const text = text_of(block, thinks ? "thinking" : "text");
        if (has_type(block, "tool_use"))
            tell_call(m, text_of(block, "id"), text_of(block, "name"),
                      committed_args(json_object_get(block, "input")));
        else if (!is_blank(text) && strcmp(text, NO_CONTENT) != 0)
            commit_text(m, thinks ? "thinking" : "narration", text);
    }
}

/* Texts of a list, joined; what is no text is another matter (see is_plain). */
static char *content_text(const json_t *content)
{
    char *text = strdup(json_is_string(content) ? json_string_value(content) : "");
    size_t i;
    json_t *part;
    json_array_foreach(content, i, part)
    {
        if (i)
            append(&text, "\n");
        append(&text, text_of(part, "text"));
    }
    return text;
}

static void take_user(struct model *m, const json_t *message)
{
    static const char interrupt[] = "[Request interrupted";
    size_t i;
    json_t *block;
    json_array_foreach(json_object_get(message, "content"), i, block)
    {
        m->interrupted |= strncmp(text_of(block, "text"), interrupt, strlen(interrupt)) == 0;
        if (!has_type(block, "tool_result"))
            continue;
        char *const text = content_text(json_object_get(block, "content"));
        const char *const id = text_of(block, "tool_use_id");
        json_object_del(m->open, id);
        tell(m, "tool_result",
             json_pack("{s:s, s:s, s:b}", "tool_use_id", id, "content", text, "is_error",
                       json_is_true(json_object_get(block, "is_error"))));
        free(text);
    }
}

static void close_calls(struct model *m)
{
    for (void *it = json_object_iter(m->open); it; it = json_object_iter_next(m->open, it))
        if (follows(m, RULE_CLOSED))
            tell(m, "tool_result",
                 json_pack("{s:s, s:s, s:b}", "tool_use_id", json_object_iter_key(it), "content",
                           "", "is_error", 1));
    json_object_clear(m->open);
}

/* The last closed block, if it was text; once. */
static void flush(struct model *m)
{
    if (m->flushed)
        return;
    m->flushed = true;
    if (*m->closed || (follows(m, RULE_OUTCOME) && !m->decided))
        tell(m, "final", json_pack("{s:s}", "text", m->closed));
}

/* Limits, refusals and interrupts end a turn, and are no failures of it. */
static bool is_failure(const struct model *m, const json_t *result)
{
    const char *const subtype = text_of(result, "subtype");
    if (m->refused || m->interrupted || strncmp(subtype, "error_max", 9) == 0)
        return false;
    return json_is_true(json_object_get(result, "is_error")) ||
           strcmp(subtype, "error_during_execution") == 0;
}

/* A result holds the last block only, and nothing when a limit ended the turn. */
static const char *answer_of(const struct model *m, const json_t *result)
{
    const char *const said = text_of(result, "result");
    const size_t len = strlen(said), all = strlen(m->answer);
    const bool limited = strncmp(text_of(result, "subtype"), "error_max", 9) == 0;
    if (m->interrupted || (m->stale && is_blank(said) && !limited))
        return "";
    if (is_blank(said))
        return m->answer;
    if (strcmp(said, NO_CONTENT) == 0)
        return "";
    return all > len && strcmp(m->answer + all - len, said) == 0 ? m->answer : said;
}

static void tell_end(struct model *m, const json_t *result)
{
    close_calls(m);
    if (follows(m, RULE_ERROR) && is_failure(m, result)) {
        m->decided = m->flushed = true;
        tell(m, "error", json_object());
        return;
    }
    if (follows(m, RULE_ANSWER))
        replace(&m->closed, answer_of(m, result));
    flush(m);
}

static double number_of(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

static void take_result(struct model *m, const json_t *result)
{
    const json_t *const usage = json_object_get(result, "usage");
    bool failed = json_is_true(json_object_get(result, "is_error"));
    if (follows(m, RULE_SUBTYPE))
        failed |= strncmp(text_of(result, "subtype"), "error", 5) == 0;
    tell_end(m, result);
    tell(m, "usage",
         json_pack("{s:f, s:f, s:f, s:f, s:b}", "input_tokens", number_of(usage, "input_tokens"),
                   "output_tokens", number_of(usage, "output_tokens"), "cost_usd",
                   number_of(result, "total_cost_usd"), "duration_ms",
                   number_of(result, "duration_ms"), "is_error", failed));
    m->decided = true;
    m->over = follows(m, RULE_ONCE);
}

static void take_line(struct model *m, const json_t *line)
{
    const bool child = *text_of(line, "parent_tool_use_id");
    if (m->over || (child && follows(m, RULE_CHILDREN)))
        return;
    if (has_type(line, "stream_event"))
        take_stream_event(m, json_object_get(line, "event"));
    else if (has_type(line, "assistant"))
        take_assistant(m, json_object_get(line, "message"));
    else if (has_type(line, "user"))
        take_user(m, json_object_get(line, "message"));
    else if (has_type(line, "result"))
        take_result(m, line);
}

/* A stream without a result lost its turn. */
static void end_stream(struct model *m)
{
    if (!m->decided && follows(m, RULE_ERROR)) {
        close_calls(m);
        m->decided = m->flushed = true;
        tell(m, "error", json_object());
    }
    if (!m->over)
        flush(m);
    if (follows(m, RULE_DONE))
        tell(m, "done", json_object());
}

static void each_line(const char *text, void (*take)(void *ctx, json_t *line), void *ctx)
{
    for (const char *p = text; *p;) {
        const size_t len = strcspn(p, "\n");
        json_t *const line = json_loadb(p, len, JSON_ALLOW_NUL, NULL);
        if (json_is_object(line))
            take(ctx, line);
        json_decref(line);
        p += len + (p[len] == '\n');
    }
}

static void model_line(void *ctx, json_t *line)
{
    take_line(ctx, line);
}

static json_t *model_of(const char *stream, unsigned rules)
{
    struct model m = {.rules = rules,
                      .told = json_array(),
                      .args = strdup(""),
                      .text = strdup(""),
                      .closed = strdup(""),
                      .answer = strdup(""),
                      .streamed = json_array(),
                      .open = json_object(),
                      .called = json_object(),
                      .whole_lines = strstr(stream, "\"type\":\"assistant\"")};
    each_line(stream, model_line, &m);
    end_stream(&m);
    json_decref(m.block);
    json_decref(m.streamed);
    json_decref(m.open);
    json_decref(m.called);
    free(m.args);
    free(m.text);
    free(m.closed);
    free(m.answer);
    return m.told;
}

/* Ours. */

static const char *const kinds[][7] = {
    {"narration", "text"},
    {"final", "text"},
    {"thinking", "text"},
    {"tool_call", "name", "args", "tool_use_id"},
    {"tool_result", "tool_use_id", "content", "is_error"},
    {"usage", "input_tokens", "output_tokens", "cost_usd", "duration_ms", "is_error"},
    {"error"}, /* agenticore has no text for it here */
    {"done"},
};

static json_t *restricted(const json_t *payload, const char *const *keys)
{
    json_t *const seen = json_object();
    for (; *keys; keys++) {
        json_t *const value = json_object_get(payload, *keys);
        if (json_is_number(value))
            json_object_set_new(seen, *keys, json_real(json_number_value(value)));
        else if (value)
            json_object_set(seen, *keys, value);
    }
    return seen;
}

/* usage{call}, sealed thinking and lineage are additions that such a sink does not know. */
static bool is_seen(const json_t *payload, const char *kind)
{
    if (*text_of(payload, "parent_id") || *text_of(payload, "agent"))
        return false;
    if (strcmp(kind, "usage") == 0)
        return strcmp(text_of(payload, "scope"), "turn") == 0;
    return strcmp(kind, "thinking") != 0 || *text_of(payload, "text");
}

static void view_line(void *ctx, json_t *line)
{
    json_t *const told = ctx;
    const char *const kind = text_of(line, "type");
    const json_t *const payload = json_object_get(line, "payload");
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kind, kinds[i][0]) == 0 && is_seen(payload, kind))
            json_array_append_new(told,
                                  json_pack("[s, o]", kind, restricted(payload, kinds[i] + 1)));
}

/* Recordings. */

struct recording {
    char *name, *stream, *events;
};

/* What the two cannot agree on is not their translation: pictures, which a sink gets as a word
 * and not as a Python object, and text that no C string can hold. Of answers that come behind
 * background work, and of words that an interrupt cut off, the model knows nothing: t_golden has an
 * independent reading of the former. */
static bool is_plain(const struct recording *r)
{
    static const char *const odd[] = {"image-read",     "mcp",          "odd-tools", "unicode-nul",
                                      "unicode-deltas", "bg-cut-resume"};
    static const char *const unknown[] = {"\"tasks\":[{", "\"scheduledFor\":", "\"aborted\":true"};
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
        if (strstr(r->name, odd[i]))
            return false;
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
        if (strstr(r->stream, unknown[i]))
            return false;
    return true;
}

static bool matches(const struct recording *r, unsigned rules, bool show)
{
    json_t *const told = json_array();
    json_t *const wanted = model_of(r->stream, rules);
    each_line(r->events, view_line, told);
    const bool same = json_equal(wanted, told);
    for (size_t i = 0; show && !same; i++) {
        const json_t *const got = json_array_get(told, i), *const want = json_array_get(wanted, i);
        if (got && want && json_equal(got, want))
            continue;
        char *const a = got ? json_dumps(got, 0) : NULL, *const b =
                                                             want ? json_dumps(want, 0) : NULL;
        diag("%zu: got %s, wanted %s", i, a ? a : "nothing", b ? b : "nothing");
        free(a);
        free(b);
        break;
    }
    json_decref(wanted);
    json_decref(told);
    return same;
}

static int is_stream(const struct dirent *entry)
{
    const char *const suffix = strrchr(entry->d_name, '.');
    return suffix && strcmp(suffix, ".jsonl") == 0;
}

static char *slurp(const char *folder, const char *name, const char *suffix)
{
    char path[8192];
    size_t len;
    snprintf(path, sizeof(path), "%s/%s%s", folder, name, suffix);
    return tap_slurp(path, &len);
}

enum { RECORDINGS_MAX = 512 };

struct recordings {
    struct recording at[RECORDINGS_MAX];
    int count;
};

static void load(struct recordings *all)
{
    struct dirent **entries;
    char folder[4096];
    snprintf(folder, sizeof(folder), "%s", tap_source("dialects/claude"));
    all->count = scandir(folder, &entries, is_stream, alphasort);
    if (all->count <= 0 || all->count > RECORDINGS_MAX)
        bail("%d recordings in %s", all->count, folder);
    for (int i = 0; i < all->count; i++) {
        struct recording *const r = &all->at[i];
        r->name = strdup(entries[i]->d_name);
        *strrchr(r->name, '.') = '\0';
        r->stream = slurp(folder, r->name, ".jsonl");
        r->events = slurp(folder, r->name, ".events");
        free(entries[i]);
    }
    free(entries);
}

static void unload(struct recordings *all)
{
    for (int i = 0; i < all->count; i++) {
        free(all->at[i].name);
        free(all->at[i].stream);
        free(all->at[i].events);
    }
    free(all);
}

/* Recordings that do not match without the rule. */
static int count_without(const struct recordings *all, unsigned rules)
{
    int count = 0;
    for (int i = 0; i < all->count; i++)
        count += is_plain(&all->at[i]) && !matches(&all->at[i], rules, false);
    return count;
}

int main(void)
{
    const unsigned every_rule = (1U << RULES) - 1;
    struct recordings *const all = calloc(1, sizeof(*all));
    plan_lazy();
    load(all);
    for (int i = 0; i < all->count; i++)
        if (is_plain(&all->at[i]))
            ok(matches(&all->at[i], every_rule, true), "%s", all->at[i].name);
    for (unsigned rule = 0; rule < RULES; rule++)
        ok(count_without(all, every_rule & ~(1U << rule)) > 0, "%s", rule_names[rule]);
    unload(all);
    return 0;
}
