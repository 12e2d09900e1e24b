/* SPDX-License-Identifier: MIT
 * Owns how a method of the Bot API is called: address, order, pace, and the one upload there is. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "telegram.h"

/* Bits of the rates in telegram.c. */
enum { PACE_PRIVATE = 1, PACE_GROUP = 2, PACE_ALL = 4 };

#define FIELDS_MAX 16

int64_t call_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t call_int(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

const char *call_str(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

json_t *call_tag(const char *kind)
{
    return json_pack("{s:s}", "k", kind);
}

json_t *call_body(struct tc_turn *turn, const struct target *to)
{
    const int64_t chat = route_chat_now(state_of(turn), to->chat);
    json_t *const body = json_pack("{s:I}", "chat_id", (json_int_t)chat);
    if (body && to->thread && chat == to->chat)
        json_object_set_new(body, "message_thread_id", json_integer(to->thread));
    return body;
}

static uint32_t rates_of(const struct telegram_call *c)
{
    if (!c->to || !c->paced)
        return c->to ? PACE_ALL : 0;
    return PACE_ALL | (c->to->group ? PACE_GROUP : PACE_PRIVATE);
}

static const char *lane_of(struct tc_turn *turn, const struct telegram_call *c)
{
    if (!c->to)
        return NULL;
    const int64_t chat = route_chat_now(state_of(turn), c->to->chat);
    return c->apart ? tc_sprint(turn, "%s:%" PRId64, c->method, chat)
                    : tc_sprint(turn, "%" PRId64, chat);
}

/* All but the body. */
static struct tc_http make_request(struct tc_turn *turn, const struct telegram_call *c,
                                   const char *tag)
{
    return (struct tc_http){
        .size = sizeof(struct tc_http),
        .url = tc_sprint(turn, "{option:api_base}/bot{option:token}/%s", c->method),
        .lane = lane_of(turn, c),
        .priority = c->priority,
        .key = c->key,
        .rates = rates_of(c),
        .flags = c->flags,
        .timeout_ms = c->timeout_ms,
        .max_age_ms = c->max_age_ms,
        .delay_ms = c->delay_ms,
        .tag = tag,
    };
}

static bool is_silenced(struct tc_turn *turn, const struct telegram_call *c)
{
    if (!state_of(turn)->dead)
        return false;
    json_decref(c->body);
    json_decref(c->tag);
    return true;
}

int call_send(struct tc_turn *turn, const struct telegram_call *c)
{
    /* What is durable is refused again, and becomes a dead letter. */
    if (!(c->flags & TC_DURABLE) && is_silenced(turn, c))
        return -1;
    char *const body = c->body ? json_dumps(c->body, JSON_COMPACT) : NULL;
    char *const tag = c->tag ? json_dumps(c->tag, JSON_COMPACT) : NULL;
    struct tc_http http = make_request(turn, c, tag);
    http.body = body;
    const int rc = tc_http(turn, &http);
    free(body);
    free(tag);
    json_decref(c->body);
    json_decref(c->tag);
    return rc;
}

/* ---- documents ---- */

/* The fields as parts; their texts are to be freed. Returns how many. */
static size_t make_fields(json_t *fields, struct tc_part *parts, char **texts, size_t room)
{
    size_t n = 0;
    const char *key;
    json_t *value;
    json_object_foreach(fields, key, value)
    {
        if (n == room)
            break;
        texts[n] = json_is_string(value) ? NULL : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        const char *const text = texts[n] ? texts[n] : json_string_value(value);
        parts[n++] = (struct tc_part){.name = key, .data = text ? text : ""};
    }
    return n;
}

int call_send_document(struct tc_turn *turn, const struct telegram_call *c, const char *content,
                       size_t len)
{
    struct tc_part parts[FIELDS_MAX + 1];
    char *texts[FIELDS_MAX];
    char *const tag = json_dumps(c->tag, JSON_COMPACT);
    const size_t n = make_fields(c->body, parts, texts, FIELDS_MAX);
    parts[n] = (struct tc_part){.name = "document",
                                .file_name = c->filename ? c->filename : "answer.md",
                                .type = c->filename ? "text/plain; charset=utf-8"
                                                    : "text/markdown; charset=utf-8",
                                .data = content,
                                .len = len};
    struct tc_http http = make_request(turn, c, tag);
    http.parts = parts;
    http.part_count = n + 1;
    const int rc = tc_http(turn, &http);
    for (size_t i = 0; i < n; i++)
        free(texts[i]);
    free(tag);
    json_decref(c->body);
    json_decref(c->tag);
    return rc;
}

json_t *call_read_document(const struct tc_http *http, const char **content, size_t *len)
{
    json_t *const fields = json_object();
    for (size_t i = 0; i < http->part_count; i++) {
        const struct tc_part *const p = &http->parts[i];
        if (p->file_name) {
            *content = p->data;
            *len = p->len;
            return fields;
        }
        json_t *const value = strcmp(p->name, "caption") == 0
                                  ? NULL
                                  : json_loadb(p->data, p->len, JSON_DECODE_ANY, NULL);
        json_object_set_new(fields, p->name, value ? value : json_stringn(p->data, p->len));
    }
    json_decref(fields);
    return NULL;
}
