/* SPDX-License-Identifier: MIT
 * Converts operations to requests: messages, edits, redactions, reactions, typing, uploads. Every
 * send uses the key of its operation as transaction id, so that the homeserver recognises a
 * repeat. */
#include <stdlib.h>
#include <string.h>

#include "matrix.h"

#define TYPING_MS 30000

const struct tc_header matrix_bearer[1] = {{"Authorization", "Bearer {option:token}"}};

static const char *room_url(struct tc_turn *turn, const struct tc_op *op, const char *rest)
{
    return tc_sprint(turn, MATRIX_CLIENT "/rooms/%s/%s", tc_quote(turn, op->target->chat), rest);
}

/* ---- content of messages ---- */

static bool is_reply(const struct tc_op *op)
{
    return op->target->message && op->part == 0 && !(op->omit & TC_OMIT_REPLY);
}

/* Relation to the thread and the question. In a thread, the reply is only a fallback for clients
 * without threads, unless it is the answer itself. NULL: none. */
static json_t *relation(const struct tc_op *op)
{
    const char *const thread = op->omit & TC_OMIT_THREAD ? NULL : op->target->thread;
    json_t *const relates = thread || is_reply(op) ? json_object() : NULL;
    if (thread)
        json_object_update_new(relates,
                               json_pack("{s:s, s:s, s:b}", "rel_type", "m.thread", "event_id",
                                         thread, "is_falling_back", !is_reply(op)));
    if (relates)
        json_object_set_new(
            relates, "m.in_reply_to",
            json_pack("{s:s}", "event_id", is_reply(op) ? op->target->message : thread));
    return relates;
}

/* Texts contain no mentions; only the answer and requests mention the person who asked, because
 * other messages do not notify in groups. */
static json_t *mentions_of(const struct tc_op *op)
{
    const bool notifies = (op->role == TC_ROLE_ANSWER || op->role == TC_ROLE_CARD) && !op->silent;
    if (notifies && op->target->group && op->target->user)
        return json_pack("{s:[s]}", "user_ids", op->target->user);
    return json_object();
}

/* m.notice: bots do not answer it, and it makes no sound. All parts of an answer have the same
 * type. */
static const char *type_of(const struct tc_op *op)
{
    return op->role == TC_ROLE_LIVE || op->role == TC_ROLE_REPLY ? "m.notice" : "m.text";
}

static json_t *content(const struct tc_op *op)
{
    const bool formatted = !(op->omit & TC_OMIT_FORMAT) && *op->text;
    return json_pack("{s:s, s:s, s:s*, s:s*, s:o}", "msgtype", type_of(op), "body",
                     *op->plain ? op->plain : op->text, "format",
                     formatted ? "org.matrix.custom.html" : NULL, "formatted_body",
                     formatted ? op->text : NULL, "m.mentions", mentions_of(op));
}

static json_t *post_content(const struct tc_op *op)
{
    json_t *const body = content(op), *const relates = relation(op);
    if (relates)
        json_object_set_new(body, "m.relates_to", relates);
    return body;
}

static json_t *edit_content(struct tc_turn *turn, const struct tc_op *op)
{
    return json_pack("{s:s, s:s, s:{}, s:o, s:{s:s, s:s}}", "msgtype", type_of(op), "body",
                     tc_sprint(turn, "* %s", op->plain), "m.mentions", "m.new_content", content(op),
                     "m.relates_to", "rel_type", "m.replace", "event_id", op->message);
}

static json_t *file_content(const struct tc_op *op)
{
    const struct tc_chat_file *const file = op->file;
    json_t *const body = json_pack(
        "{s:s, s:s, s:s, s:s, s:{s:s}, s:{}}", "msgtype", "m.file", "body",
        *op->plain ? op->plain : file->name, "filename", file->name, "url", op->cursor, "info",
        "mimetype", file->type ? file->type : "application/octet-stream", "m.mentions");
    json_t *const relates = relation(op);
    if (relates)
        json_object_set_new(body, "m.relates_to", relates);
    return body;
}

/* ---- requests ---- */

static void get(struct tc_http *http, const char *url)
{
    http->method = "GET";
    http->url = url;
}

static int send_event(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http,
                      const char *type, json_t *body)
{
    const struct matrix_conf *const conf = turn->inst->conf;
    http->url = room_url(turn, op, tc_sprint(turn, "send/%s/%s", type, op->key));
    http->body = tc_json(turn, "o", body);
    http->rates = conf->limited ? MATRIX_RATE_LIMITED : MATRIX_RATE_FREE;
    return http->body ? 0 : -1;
}

/* A homeserver accepts an edit of a deleted message without effect, so the message is checked
 * first. */
static int request_edit(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    if (op->step > 0)
        return send_event(turn, op, http, "m.room.message", edit_content(turn, op));
    get(http, room_url(turn, op, tc_sprint(turn, "event/%s", tc_quote(turn, op->message))));
    return 0;
}

static int request_file(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    if (op->step > 0)
        return send_event(turn, op, http, "m.room.message", file_content(op));
    http->method = "POST";
    http->url = tc_sprint(turn, "{option:homeserver}/_matrix/media/v3/upload?filename=%s",
                          tc_quote(turn, op->file->name));
    http->content_type = op->file->type;
    http->body = op->file->data;
    http->body_len = op->file->len;
    return 0;
}

static int request_download(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    const char *const media = matrix_event_media(turn, op->file->ref);
    if (!media)
        return -1;
    get(http, tc_sprint(turn, "{option:homeserver}/_matrix/client/v1/media/download/%s", media));
    http->flags |= TC_SAVE;
    return 0;
}

static int request_redaction(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    const char *const event = tc_quote(turn, op->message);
    const int rc = send_event(turn, op, http, "", json_object());
    http->url = room_url(turn, op, tc_sprint(turn, "redact/%s/%s", event, op->key));
    return rc;
}

static json_t *reaction(const struct tc_op *op)
{
    return json_pack("{s:{s:s, s:s, s:s}}", "m.relates_to", "rel_type", "m.annotation", "event_id",
                     op->message, "key", op->emoji);
}

static int request_typing(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    const struct matrix_conf *const conf = turn->inst->conf;
    http->url = room_url(turn, op, tc_sprint(turn, "typing/%s", tc_quote(turn, conf->user)));
    http->body = op->off ? "{\"typing\":false}"
                         : tc_sprint(turn, "{\"typing\":true,\"timeout\":%d}", TYPING_MS);
    return 0;
}

int matrix_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    http->method = "PUT";
    http->headers = matrix_bearer;
    http->header_count = 1;
    switch ((int)op->kind) {
    case TC_OP_IDENTIFY:
        get(http, MATRIX_CLIENT "/account/whoami");
        return 0;
    case TC_OP_POST:
        return send_event(turn, op, http, "m.room.message", post_content(op));
    case TC_OP_EDIT:
        return request_edit(turn, op, http);
    case TC_OP_DELETE:
        return request_redaction(turn, op, http);
    case TC_OP_FILE:
        return request_file(turn, op, http);
    case TC_OP_REACT:
        return send_event(turn, op, http, "m.reaction", reaction(op));
    case TC_OP_TYPING:
        return request_typing(turn, op, http);
    case TC_OP_POLL:
        return matrix_sync_request(turn, op, http);
    case TC_OP_FETCH:
        return request_download(turn, op, http);
    default:
        return -1;
    }
}
