/* SPDX-License-Identifier: MIT
 * Owns how a method of the Bot API is called: address, order, pace, and the one upload there is. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "telegram.h"

/* Bits of the rates in telegram.c. */
enum { PACE_PRIVATE = 1, PACE_GROUP = 2, PACE_ALL = 4 };

#define BOUNDARY "turncast-5f1d8c03b6a94e7b-"

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

/* What is sent either way; `body` and `tag` are texts. */
static int send_request(struct tc_turn *turn, const struct telegram_call *c,
                        const char *content_type, const char *body, size_t len, const char *tag)
{
    return tc_http(
        turn, TC_HTTP(.url = tc_sprint(turn, "{option:api_base}/bot{option:token}/%s", c->method),
                      .content_type = content_type, .body = body, .body_len = len,
                      .lane = lane_of(turn, c), .priority = c->priority, .key = c->key,
                      .rates = rates_of(c), .flags = c->flags, .timeout_ms = c->timeout_ms,
                      .max_age_ms = c->max_age_ms, .delay_ms = c->delay_ms, .tag = tag));
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
    const int rc = send_request(turn, c, NULL, body, 0, tag);
    free(body);
    free(tag);
    json_decref(c->body);
    json_decref(c->tag);
    return rc;
}

/* ---- multipart ---- */

/* A boundary that does not occur in the content. */
static void choose_boundary(char *out, size_t cap, const char *content, size_t len)
{
    unsigned n = 0;
    do
        snprintf(out, cap, "%s%u", BOUNDARY, n++);
    while (memmem(content, len, out, strlen(out)));
}

static void write_fields(FILE *to, const char *boundary, json_t *fields)
{
    const char *key;
    json_t *value;
    json_object_foreach(fields, key, value)
    {
        char *const text =
            json_is_string(value) ? NULL : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        fprintf(to, "--%s\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n", boundary,
                key, text ? text : json_string_value(value));
        free(text);
    }
}

int call_send_document(struct tc_turn *turn, const struct telegram_call *c, const char *content,
                       size_t len)
{
    char boundary[64], *body = NULL;
    size_t size = 0;
    choose_boundary(boundary, sizeof boundary, content, len);
    FILE *const to = open_memstream(&body, &size);
    char *const tag = json_dumps(c->tag, JSON_COMPACT);
    int rc = -1;
    if (to) {
        write_fields(to, boundary, c->body);
        fprintf(to,
                "--%s\r\nContent-Disposition: form-data; name=\"document\"; "
                "filename=\"%s\"\r\nContent-Type: %s; charset=utf-8\r\n\r\n",
                boundary, c->filename ? c->filename : "answer.md",
                c->filename ? "text/plain" : "text/markdown");
        fwrite(content, 1, len, to);
        fprintf(to, "\r\n--%s--\r\n", boundary);
        fclose(to);
        rc = send_request(turn, c, tc_sprint(turn, "multipart/form-data; boundary=%s", boundary),
                          body, size, tag);
    }
    free(body);
    free(tag);
    json_decref(c->body);
    json_decref(c->tag);
    return rc;
}

/* Our own body: fields first, each in a part that ends before the next mark. */
json_t *call_read_document(const struct tc_http *http, const char **content, size_t *len)
{
    const char *const is = http->content_type ? strstr(http->content_type, "boundary=") : NULL;
    if (!is)
        return NULL;
    char mark[80];
    const int n = snprintf(mark, sizeof mark, "\r\n--%s", is + strlen("boundary="));
    json_t *const fields = json_object();
    const char *p = http->body + n - 2, *const end = http->body + http->body_len;
    for (const char *next; (next = memmem(p, (size_t)(end - p), mark, (size_t)n)); p = next + n) {
        const char *const text = memmem(p, (size_t)(next - p), "\r\n\r\n", 4);
        char name[64] = "";
        if (!text || sscanf(p, "\r\nContent-Disposition: form-data; name=\"%63[^\"]", name) != 1)
            break;
        *content = text + 4;
        *len = (size_t)(next - *content);
        if (strcmp(name, "document") == 0)
            return fields;
        json_t *const value =
            strcmp(name, "caption") == 0 ? NULL : json_loadb(*content, *len, JSON_DECODE_ANY, NULL);
        json_object_set_new(fields, name, value ? value : json_stringn(*content, *len));
    }
    json_decref(fields);
    return NULL;
}
