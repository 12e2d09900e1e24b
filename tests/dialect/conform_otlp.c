/* SPDX-License-Identifier: MIT
 * The JSON form of OTLP traces (opentelemetry-proto, trace/v1) as a checker, and that a turn is one
 * trace in which each token is in one span. */
#include <stdlib.h>
#include <string.h>

#include "dialect/conform.h"

struct trace {
    struct conform *c;
    json_t *spans; /* id -> its parent */
    char id[33];
    unsigned roots;
    bool has_calls, root_has_tokens, is_over;
};

static bool is_hex(const char *text, size_t len)
{
    return strlen(text) == len && strspn(text, "0123456789abcdef") == len;
}

/* Each attribute has one value of a known type; no key occurs twice. -> key -> value */
static json_t *read_attributes(struct conform *c, size_t i, const json_t *list)
{
    static const char *const types[] = {"stringValue", "intValue", "doubleValue", NULL};
    json_t *const found = json_object();
    size_t n;
    json_t *one;
    json_array_foreach(list, n, one)
    {
        json_t *const value = conform_object(c, i, one, "value");
        const char *const key = conform_text(c, i, one, "key");
        const char *const type = json_object_iter_key(json_object_iter(value));
        if (!type || json_object_size(value) != 1 || !conform_is_one_of(type, types))
            conform_fail(c, i, "%s has no value of one type", key);
        if (json_object_get(found, key))
            conform_fail(c, i, "%s occurs twice", key);
        json_object_set(found, key, type ? json_object_get(value, type) : NULL);
    }
    return found;
}

static unsigned long long read_time(struct conform *c, size_t i, const json_t *span,
                                    const char *key)
{
    const char *const text = conform_text(c, i, span, key);
    if (!*text || text[strspn(text, "0123456789")])
        conform_fail(c, i, "%s is no number in a string: %s", key, text);
    return strtoull(text, NULL, 10);
}

static void see_root(struct trace *t, size_t i, const json_t *attributes)
{
    t->roots++;
    t->is_over = true;
    t->root_has_tokens = json_object_get(attributes, "gen_ai.usage.output_tokens") != NULL;
    if (!*conform_text(t->c, i, attributes, "turncast.turn.id"))
        conform_fail(t->c, i, "the root has no turn");
}

static void see_kind(struct trace *t, size_t i, const json_t *span, const json_t *attributes)
{
    const char *const operation = conform_text(t->c, i, attributes, "gen_ai.operation.name");
    const bool is_chat = strcmp(operation, "chat") == 0;
    const char *const name = conform_text(t->c, i, span, "name");
    if (strncmp(name, operation, strlen(operation)) != 0)
        conform_fail(t->c, i, "the name %s does not begin with %s", name, operation);
    if (conform_count(t->c, i, span, "kind") != (is_chat ? 3 : 1))
        conform_fail(t->c, i, "kind of %s", name);
    t->has_calls |= is_chat;
}

static void see_span(struct trace *t, size_t i, const json_t *span)
{
    const char *const id = conform_text(t->c, i, span, "spanId");
    const char *const parent = conform_text(t->c, i, span, "parentSpanId");
    json_t *const attributes = read_attributes(t->c, i, json_object_get(span, "attributes"));
    if (t->is_over)
        conform_fail(t->c, i, "a span behind the root");
    if (strcmp(conform_text(t->c, i, span, "traceId"), t->id) != 0)
        conform_fail(t->c, i, "another trace");
    if (!is_hex(id, 16) || json_object_get(t->spans, id))
        conform_fail(t->c, i, "id %s", id);
    if (read_time(t->c, i, span, "startTimeUnixNano") > read_time(t->c, i, span, "endTimeUnixNano"))
        conform_fail(t->c, i, "%s ends before it starts", id);
    json_object_set_new(t->spans, id, json_string(parent));
    see_kind(t, i, span, attributes);
    if (!*parent)
        see_root(t, i, attributes);
    json_decref(attributes);
}

static void see_line(struct trace *t, size_t i, const json_t *line)
{
    const json_t *const resource = json_array_get(json_object_get(line, "resourceSpans"), 0);
    const json_t *const scope = json_array_get(json_object_get(resource, "scopeSpans"), 0);
    const json_t *const spans = json_object_get(scope, "spans");
    json_t *const service = read_attributes(
        t->c, i, json_object_get(conform_object(t->c, i, resource, "resource"), "attributes"));
    size_t n;
    json_t *span;
    if (!*conform_text(t->c, i, service, "service.name"))
        conform_fail(t->c, i, "no service.name");
    json_decref(service);
    if (!json_array_size(spans))
        conform_fail(t->c, i, "no spans");
    if (!*t->id)
        strncat(t->id, conform_text(t->c, i, json_array_get(spans, 0), "traceId"), 32);
    json_array_foreach(spans, n, span)
    {
        see_span(t, i, span);
    }
}

/* The call that started a sub-agent may be of an earlier turn, or not have been told. */
static void check_parents(struct trace *t)
{
    const char *id;
    json_t *parent;
    json_object_foreach(t->spans, id, parent)
    {
        const char *const text = json_string_value(parent);
        if (*text && !json_object_get(t->spans, text) && !t->c->turn->has_orphans)
            conform_fail(t->c, 0, "the parent of %s is not in the trace", id);
    }
}

void conform_otlp(struct conform *c)
{
    struct trace t = {.c = c, .spans = json_object()};
    size_t i;
    json_t *line;
    json_array_foreach(c->lines, i, line)
    {
        see_line(&t, i, line);
    }
    if (!is_hex(t.id, 32) || t.roots != 1)
        conform_fail(c, 0, "trace %s with %u roots", t.id, t.roots);
    if (t.has_calls && t.root_has_tokens)
        conform_fail(c, 0, "tokens of calls and of the turn");
    check_parents(&t);
    json_decref(t.spans);
}
