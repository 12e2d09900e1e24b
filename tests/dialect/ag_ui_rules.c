/* SPDX-License-Identifier: MIT
 * Checks the rules of the AG-UI client. */
#include "dialect/ag_ui_rules.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

/* The open items by id, and the owner of every item. */
struct run {
    bool v1, started, over;
    json_t *text, *call, *reasoning, *span, *step, *agent;
    json_t *owners; /* "kind id": sub-agent or "" */
    const char *broken;
};

static const char *str(const json_t *event, const char *key)
{
    const char *const s = json_string_value(json_object_get(event, key));
    return s ? s : "";
}

static bool has(const json_t *event, const char *key)
{
    return json_is_string(json_object_get(event, key));
}

/* Does the event belong to the sub-agent that began the item? */
static bool is_owner(struct run *r, const char *kind, const char *id, const json_t *event)
{
    char key[4096];
    snprintf(key, sizeof(key), "%s %s", kind, id);
    const char *const owner = str(event, "subagentRunId");
    const json_t *const known = json_object_get(r->owners, key);
    if (!known) {
        json_object_set_new(r->owners, key, json_string(owner));
        return true;
    }
    return !*owner || strcmp(json_string_value(known), owner) == 0;
}

enum act { OPEN, GO_ON, CLOSE };

/* Events of items with an id. */
static const struct part {
    const char *type, *key, *kind;
    size_t set; /* offset in struct run */
    enum act act;
    const char *needs[3]; /* strings it must have */
} parts[] = {
#define SET(name) #name, offsetof(struct run, name)
    {"TEXT_MESSAGE_START", "messageId", SET(text), OPEN, {NULL}},
    {"TEXT_MESSAGE_CONTENT", "messageId", SET(text), GO_ON, {"delta", NULL}},
    {"TEXT_MESSAGE_END", "messageId", SET(text), CLOSE, {NULL}},
    {"TOOL_CALL_START", "toolCallId", SET(call), OPEN, {"toolCallName", NULL}},
    {"TOOL_CALL_ARGS", "toolCallId", SET(call), GO_ON, {"delta", NULL}},
    {"TOOL_CALL_END", "toolCallId", SET(call), CLOSE, {NULL}},
    {"REASONING_START", "messageId", SET(span), OPEN, {NULL}},
    {"REASONING_END", "messageId", SET(span), CLOSE, {NULL}},
    {"REASONING_MESSAGE_START", "messageId", SET(reasoning), OPEN, {"role", NULL}},
    {"REASONING_MESSAGE_CONTENT", "messageId", SET(reasoning), GO_ON, {"delta", NULL}},
    {"REASONING_MESSAGE_END", "messageId", SET(reasoning), CLOSE, {NULL}},
    {"STEP_STARTED", "stepName", SET(step), OPEN, {NULL}},
    {"STEP_FINISHED", "stepName", SET(step), CLOSE, {NULL}},
    {"SUBAGENT_STARTED", "subagentRunId", SET(agent), OPEN, {"name", NULL}},
    {"SUBAGENT_FINISHED", "subagentRunId", SET(agent), CLOSE, {NULL}},
    {"SUBAGENT_ERROR", "subagentRunId", SET(agent), CLOSE, {"message", NULL}},
};

/* Events without an id, and their required members of any type. */
static const struct lone {
    const char *type;
    const char *needs[3];
} lones[] = {
    {"TOOL_CALL_RESULT", {"messageId", "toolCallId", "content"}},
    {"REASONING_ENCRYPTED_VALUE", {"subtype", "entityId", "encryptedValue"}},
    {"STATE_SNAPSHOT", {"snapshot", NULL, NULL}},
    {"STATE_DELTA", {"delta", NULL, NULL}},
    {"MESSAGES_SNAPSHOT", {"messages", NULL, NULL}},
    {"ACTIVITY_SNAPSHOT", {"messageId", "activityType", "content"}},
    {"ACTIVITY_DELTA", {"messageId", "activityType", "patch"}},
    {"RAW", {"event", NULL, NULL}},
    {"CUSTOM", {"name", "value", NULL}},
};

static const char *see_part(struct run *r, const struct part *p, const json_t *event)
{
    json_t *const set = *(json_t **)(void *)((char *)r + p->set);
    const char *const id = str(event, p->key);
    const json_t *const open = json_object_get(set, id);
    const bool agent = strcmp(p->kind, "agent") == 0;
    if (!has(event, p->key))
        return "an id is missing";
    for (size_t i = 0; i < 3 && p->needs[i]; i++)
        if (!has(event, p->needs[i]))
            return "a member is missing";
    if (agent && !r->v1)
        return "a reader of 0.x knows no sub-agents";
    if (p->act == OPEN ? json_is_true(open) : !json_is_true(open))
        return p->act == OPEN ? "the item is open already" : "the item is not open";
    if (agent && open && p->act == OPEN)
        return "a sub-agent's id is used again";
    if (!agent && !is_owner(r, p->kind, id, event))
        return "the item belongs to another sub-agent";
    json_object_set_new(set, id, p->act == CLOSE ? json_false() : json_true());
    return NULL;
}

static bool is_any_open(const struct run *r)
{
    json_t *const sets[] = {r->text, r->call, r->reasoning, r->span, r->step, r->agent};
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
        const char *key;
        json_t *value;
        json_object_foreach(sets[i], key, value) if (json_is_true(value)) return true;
    }
    return false;
}

static bool is_usage(const json_t *usage)
{
    size_t i;
    json_t *entry, *count;
    const char *key;
    if (!json_is_array(usage))
        return !usage;
    json_array_foreach(usage, i, entry)
    {
        json_object_foreach(entry, key, count)
        {
            if (json_is_string(count))
                continue;
            if (!json_is_integer(count) || json_integer_value(count) < 0 ||
                json_integer_value(count) > 9007199254740991)
                return false;
        }
    }
    return true;
}

static const char *see_finish(struct run *r, const json_t *event)
{
    const json_t *const outcome = json_object_get(event, "outcome");
    const char *const type = str(outcome, "type");
    if (is_any_open(r))
        return "a run is finished with something open";
    r->over = true;
    if (!is_usage(json_object_get(event, "usage")))
        return "counts are whole and not negative";
    if (!outcome || strcmp(type, "success") == 0)
        return NULL;
    if (strcmp(type, "interrupt") == 0)
        return json_array_size(json_object_get(outcome, "interrupts")) ? NULL : "no interrupt";
    return r->v1 && strcmp(type, "cancelled") == 0 ? NULL : "an unknown outcome";
}

static const char *see_event(struct run *r, const json_t *event)
{
    const char *const type = str(event, "type");
    const json_t *const timestamp = json_object_get(event, "timestamp");
    const json_t *const metadata = json_object_get(event, "metadata");
    if ((timestamp && !json_is_integer(timestamp)) || (metadata && !json_is_object(metadata)) ||
        json_is_null(json_object_get(event, "rawEvent")))
        return "a common member is not what it should be";
    if (r->over)
        return "an event follows the end";
    if (strcmp(type, "RUN_STARTED") == 0) {
        const bool again = r->started;
        r->started = true;
        return again                                           ? "a second start"
               : has(event, "runId") && has(event, "threadId") ? NULL
                                                               : "no id";
    }
    if (!r->started)
        return "the run does not begin with RUN_STARTED";
    if (strcmp(type, "RUN_FINISHED") == 0)
        return see_finish(r, event);
    if (strcmp(type, "RUN_ERROR") == 0) {
        r->over = true;
        if (is_any_open(r)) /* stricter than the reference client */
            return "a run fails with something open";
        return has(event, "message") && is_usage(json_object_get(event, "usage")) ? NULL
                                                                                  : "no message";
    }
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strcmp(type, parts[i].type) == 0)
            return see_part(r, &parts[i], event);
    for (size_t i = 0; i < sizeof(lones) / sizeof(lones[0]); i++)
        if (strcmp(type, lones[i].type) == 0) {
            for (size_t k = 0; k < 3 && lones[i].needs[k]; k++)
                if (!json_object_get(event, lones[i].needs[k]))
                    return "a member is missing";
            return NULL;
        }
    return "an unknown type";
}

const char *ag_ui_rules(const char *lines, bool v1)
{
    static char broken[512];
    struct run r = {.v1 = v1};
    json_t **const sets[] = {&r.text, &r.call, &r.reasoning, &r.span, &r.step, &r.agent, &r.owners};
    const char *why = NULL;
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        *sets[i] = json_object();
    for (const char *p = lines; *p && !why; p += strcspn(p, "\n") + 1) {
        json_t *const event = json_loadb(p, strcspn(p, "\n"), JSON_ALLOW_NUL, NULL);
        why = json_is_object(event) ? see_event(&r, event) : "not a JSON object";
        if (why)
            snprintf(broken, sizeof(broken), "%s: %.*s", why, (int)strcspn(p, "\n"), p);
        json_decref(event);
    }
    if (!why && !r.over)
        snprintf(broken, sizeof(broken), "%s", why = "the run does not end");
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        json_decref(*sets[i]);
    return why ? broken : NULL;
}
