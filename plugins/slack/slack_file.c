/* SPDX-License-Identifier: MIT
 * Files. An upload to Slack consists of three requests: get an upload URL, upload the content,
 * share the file in the thread; the cursor contains the upload ("url", "id") and then the file
 * ("id"). Files of people are downloaded only from Slack's own hosts, because the requests contain
 * the token. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "slack_inbound.h"
#include "slack_operation.h"

#define TRIES_MAX 3 /* maximum number of upload URLs, each of which is valid for a limited time */

/* ---- to Slack ---- */

static int slack_file_request_upload_url(struct tc_turn *turn, const struct tc_op *op,
                                         struct tc_http *http)
{
    return slack_get(
        turn, UPLOAD_URL,
        tc_sprint(turn, "filename=%s&length=%zu", tc_quote(turn, op->file->name), op->file->len),
        http);
}

static int put(struct tc_turn *turn, const struct tc_op *op, const char *url, struct tc_http *http)
{
    const char *const own = tc_url_at(turn, url, "api_base", NULL);
    http->url = own ? own : url;
    http->content_type = "application/octet-stream";
    http->body = op->file->data;
    http->body_len = op->file->len;
    http->rates = 0;
    return 0;
}

static int complete(struct tc_turn *turn, const struct tc_op *op, const char *id,
                    struct tc_http *http)
{
    const struct tc_target *const to = op->target;
    const char *const comment = slack_escape(turn, op->plain, 0);
    json_t *const body = json_pack("{s:[{s:s, s:s}], s:s, s:s*, s:s*}", "files", "id", id, "title",
                                   op->file->name, "channel_id", to->chat, "thread_ts",
                                   op->omit & TC_OMIT_THREAD ? NULL : to->thread, "initial_comment",
                                   *comment ? comment : NULL);
    return slack_call(turn, UPLOAD_DONE, body, http);
}

int slack_file_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    const char *const url = op->cursor ? tc_json_get(turn, op->cursor, "/url") : NULL;
    const char *const id = op->cursor ? tc_json_get(turn, op->cursor, "/id") : NULL;
    if (!id)
        return slack_file_request_upload_url(turn, op, http);
    return url ? put(turn, op, url, http) : complete(turn, op, id, http);
}

static void slack_file_next_step(struct tc_turn *turn, struct tc_result *result, json_t *cursor)
{
    result->kind = TC_RESULT_NEXT_STEP;
    result->cursor = cursor ? tc_json(turn, "o", cursor) : NULL;
}

static void read_place(struct tc_turn *turn, const json_t *ok, struct tc_result *result)
{
    const char *const url = tc_member_text(ok, "upload_url"), *const id =
                                                                  tc_member_text(ok, "file_id");
    if (url && id)
        slack_file_next_step(turn, result, json_pack("{s:s, s:s}", "url", url, "id", id));
    else if (result->kind == TC_RESULT_IN_DOUBT)
        result->kind = TC_RESULT_RETRY; /* nothing is visible yet */
}

/* This reply does not come from the Web API: only its status is relevant. */
static void read_put(struct tc_turn *turn, const char *id, const struct tc_op *op,
                     const struct tc_reply *reply, struct tc_result *result)
{
    if (reply->outcome == TC_OK)
        slack_file_next_step(turn, result, json_pack("{s:s}", "id", id));
    else if (reply->outcome == TC_REJECTED && reply->status != 429 && op->step < 2 * TRIES_MAX)
        slack_file_next_step(turn, result, NULL);
    else if (reply->outcome == TC_AMBIGUOUS)
        result->kind = TC_RESULT_RETRY;
}

static void read_complete(const char *id, const json_t *ok, struct tc_result *result)
{
    if (!ok)
        return;
    result->kind = TC_RESULT_DONE;
    result->message = id;
}

void slack_file_read(struct tc_turn *turn, const struct tc_op *op, const struct tc_reply *reply,
                     const json_t *ok, struct tc_result *result)
{
    const char *const url = op->cursor ? tc_json_get(turn, op->cursor, "/url") : NULL;
    const char *const id = op->cursor ? tc_json_get(turn, op->cursor, "/id") : NULL;
    if (!id)
        read_place(turn, ok, result);
    else if (url)
        read_put(turn, id, op, reply, result);
    else
        read_complete(id, ok, result);
}

/* ---- from people ---- */

int slack_fetch_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    static const struct tc_header bot[] = {{"Authorization", "Bearer {option:bot_token}"}};
    http->method = "GET";
    http->url = tc_url_at(turn, op->file->ref, "api_base", "slack.com .slack.com");
    http->headers = bot;
    http->header_count = 1;
    http->flags |= TC_SAVE;
    return http->url ? 0 : -1;
}

/* Without the scope files:read Slack answers with its page to sign in, and 200. */
void slack_fetch_read(const struct tc_op *op, const struct tc_reply *reply,
                      struct tc_result *result)
{
    char head[15] = "";
    FILE *const file = reply->path ? fopen(reply->path, "re") : NULL;
    const size_t n = file ? fread(head, 1, sizeof head, file) : 0;
    const bool html = op->file && op->file->type && strcmp(op->file->type, "text/html") == 0;
    if (file)
        fclose(file);
    if (result->kind != TC_RESULT_DONE || html || n < sizeof head ||
        strncasecmp(head, "<!DOCTYPE html>", n) != 0)
        return;
    result->kind = TC_RESULT_REFUSED;
    result->reason = "not available: the Slack app lacks the scope files:read";
}
