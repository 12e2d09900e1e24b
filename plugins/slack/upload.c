/* SPDX-License-Identifier: MIT
 * An answer too long for messages, as files: asks for a place, puts the bytes there, shows them in
 * the thread. Three durable steps each. */
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "call.h"
#include "fault.h"
#include "find.h"
#include "route.h"
#include "slack.h"
#include "text.h"
#include "upload.h"

#define FILE_BYTES (96u << 10) /* what a durable request has room for, escaped */
#define COMMENT_BYTES 1500     /* of the beginning, beside the file */

/* Up to FILE_BYTES, at the end of a line where there is one. */
static size_t cut(const char *p)
{
    const size_t n = strnlen(p, FILE_BYTES + 1);
    if (n <= FILE_BYTES)
        return n;
    const char *newline = memrchr(p, '\n', FILE_BYTES);
    size_t at = newline && newline > p ? (size_t)(newline - p) + 1 : FILE_BYTES;
    while (at > 0 && ((unsigned char)p[at] & 0xc0) == 0x80)
        at--;
    return at;
}

/* Data: name, part, comment; text when it is not yet put there. Takes it over. */
static int ask_for_place(struct tc_turn *turn, json_t *data)
{
    const char *name = json_string_value(json_object_get(data, "name"));
    const size_t length = json_string_length(json_object_get(data, "text"));
    const char *query = tc_sprint(turn, "filename=%s&length=%zu", name, length);
    const struct slack_call how = {.tag = call_tag(turn, "place", data),
                                   .lane = route_of(turn)->lane,
                                   .priority = TC_P_FINAL,
                                   .flags = TC_DURABLE | TC_IDEMPOTENT};
    return call_get(turn, UPLOAD_URL, query, &how);
}

int upload_send(struct tc_turn *turn, const char *markdown)
{
    const bool several = strlen(markdown) > cut(markdown);
    const char *comment =
        text_mrkdwn(turn, markdown, strnlen(markdown, 4 * (size_t)COMMENT_BYTES), 0, COMMENT_BYTES);
    int part = 0, rc = 0;
    for (const char *p = markdown; *p && rc == 0; part++) {
        const size_t n = cut(p);
        char name[32];
        snprintf(name, sizeof name, several ? "answer-%d.md" : "answer.md", part + 1);
        rc = ask_for_place(turn, json_pack("{s:s, s:i, s:s, s:s%}", "name", name, "part", part,
                                           "comment", part == 0 ? comment : "", "text", p, n));
        p += n;
    }
    return rc;
}

/* Files are not for this app: then as messages, however many. */
static void give_up(struct tc_turn *turn, const struct fault *f, const char *text,
                    struct tc_verdict *v)
{
    if (f->kind == FAULT_SCOPE && !state_of(turn)->off.upload) {
        state_of(turn)->off.upload = true;
        tc_log(turn->inst, TC_WARN, "cannot upload files: %s; long answers are split instead",
               f->error);
    }
    fault_replaced(v, answer_post(turn, text, 0), f->error);
}

static int upload_put(struct tc_turn *turn, const char *url, const char *id, json_t *data)
{
    const char *text = json_string_value(json_object_get(data, "text"));
    const size_t length = json_string_length(json_object_get(data, "text"));
    const char *own = call_own(turn, url);
    json_t *rest = json_copy(data);
    json_object_del(rest, "text");
    json_object_set_new(rest, "file", json_string(id));
    return tc_http(turn, TC_HTTP(.url = own ? own : url, .content_type = "application/octet-stream",
                                 .body = text, .body_len = length, .lane = route_of(turn)->lane,
                                 .priority = TC_P_FINAL, .flags = TC_DURABLE | TC_IDEMPOTENT,
                                 .tag = call_tag(turn, "put", rest)));
}

int upload_on_place(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v)
{
    FAULT_CLEANUP struct fault f = fault_read(turn, r);
    json_auto_t *data = answer_data(r);
    const char *text = json_string_value(json_object_get(data, "text"));
    const char *url = json_string_value(json_object_get(f.json, "upload_url"));
    const char *id = json_string_value(json_object_get(f.json, "file_id"));
    fault_judge(turn, &f, r, true, v);
    if (!text || !fault_is_end(v) || f.kind == FAULT_DROPPED)
        return 0;
    if (f.kind == FAULT_NONE && url && id && upload_put(turn, url, id, data) == 0)
        fault_replaced(v, 0, NULL);
    else
        give_up(turn, &f, text, v);
    return 0;
}

/* This answer is not of the Web API: its status says it all. */
int upload_on_put(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v)
{
    json_auto_t *data = answer_data(r);
    const char *id = json_string_value(json_object_get(data, "file"));
    const char *name = json_string_value(json_object_get(data, "name"));
    const json_int_t tries = json_integer_value(json_object_get(data, "tries"));
    if (!id || !name)
        return 0;
    if (r->outcome == TC_OK) {
        const struct route *route = route_of(turn);
        const char *comment = json_string_value(json_object_get(data, "comment"));
        json_t *body = json_pack("{s:[{s:s, s:s}], s:s}", "files", "id", id, "title", name,
                                 "channel_id", route->channel);
        if (route->thread)
            json_object_set_new(body, "thread_ts", json_string(route->thread));
        if (comment && *comment)
            json_object_set_new(body, "initial_comment", json_string(comment));
        fault_replaced(v, upload_complete(turn, body, json_object()), NULL);
    } else if (r->outcome == TC_REJECTED && r->status != 429 && tries < 2) {
        /* the place is only good for a while */
        json_t *again = json_copy(data);
        json_object_set_new(again, "text", json_stringn(r->http->body, r->http->body_len));
        json_object_set_new(again, "tries", json_integer(tries + 1));
        fault_replaced(v, ask_for_place(turn, again), r->error);
    } else if (r->outcome == TC_REJECTED && r->status != 429) {
        fault_replaced(v, answer_post(turn, r->http->body, 0), r->error);
    }
    return 0;
}

int upload_complete(struct tc_turn *turn, json_t *body, json_t *data)
{
    const struct slack_call how = {.tag = call_tag(turn, "complete", data),
                                   .lane = route_of(turn)->lane,
                                   .priority = TC_P_FINAL,
                                   .flags = TC_DURABLE};
    return call_json(turn, UPLOAD_DONE, body, &how);
}

int upload_on_complete(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v)
{
    FAULT_CLEANUP struct fault f = fault_read(turn, r);
    fault_judge(turn, &f, r, false, v);
    json_auto_t *body = json_loads(r->http->body, 0, NULL), *data = answer_data(r);
    if (f.kind == FAULT_DOUBT)
        find_file(turn, body, data, v);
    answer_lost(turn, &f, v);
    return 0;
}
