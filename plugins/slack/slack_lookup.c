/* SPDX-License-Identifier: MIT
 * Searches for a message of the bot whose reply was lost: by the key in its metadata, or by its
 * file. The cursor holds the file ("id"), which is that of the request in doubt, and the next page
 * of the thread ("next"). */
#include <string.h>

#include "slack_operation.h"

#define PAGES_MAX 20

int slack_lookup_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    const struct tc_target *const to = op->target;
    const char *const next = op->cursor ? tc_json_get(turn, op->cursor, "/next") : NULL;
    const char *query = tc_sprint(turn, "channel=%s&limit=200&include_all_metadata=true", to->chat);
    if (to->thread)
        query = tc_sprint(turn, "%s&ts=%s", query, to->thread);
    if (to->message)
        query = tc_sprint(turn, "%s&oldest=%s", query, to->message);
    if (next)
        query = tc_sprint(turn, "%s&cursor=%s", query, tc_quote(turn, next));
    return slack_get(turn, to->thread ? REPLIES : HISTORY, query, http);
}

static bool has_key(const json_t *message, const char *key)
{
    const json_t *const payload =
        json_object_get(json_object_get(message, "metadata"), "event_payload");
    const char *const have = tc_member_text(payload, "key");
    return have && strcmp(have, key) == 0;
}

static bool has_file(const json_t *message, const char *id)
{
    size_t i;
    const json_t *file;
    json_array_foreach(json_object_get(message, "files"), i, file)
    {
        const char *const have = tc_member_text(file, "id");
        if (have && strcmp(have, id) == 0)
            return true;
    }
    return false;
}

/* The ts of the message, or NULL. */
static const char *find(const json_t *messages, const char *key, const char *file)
{
    size_t i;
    const json_t *message;
    json_array_foreach(messages, i, message)
    {
        if (file ? has_file(message, file) : has_key(message, key))
            return tc_member_text(message, "ts");
    }
    return NULL;
}

/* Only a thread is read to its end: it begins with its oldest messages, a channel with its newest.
 */
static const char *next_page(const struct tc_op *op, const json_t *ok)
{
    const char *const next =
        tc_member_text(json_object_get(ok, "response_metadata"), "next_cursor");
    return next && *next && op->target->thread && op->step < PAGES_MAX ? next : NULL;
}

void slack_lookup_read(struct tc_turn *turn, const struct tc_op *op, const json_t *ok,
                       struct tc_result *result)
{
    const char *const file = op->cursor ? tc_json_get(turn, op->cursor, "/id") : NULL;
    if (!ok)
        return;
    const char *const found = find(json_object_get(ok, "messages"), op->key, file);
    const char *const next = next_page(op, ok);
    result->kind = found ? TC_RESULT_DONE : next ? TC_RESULT_NEXT_STEP : TC_RESULT_NOT_FOUND;
    result->message = found ? tc_sprint(turn, "%s", found) : NULL;
    if (next && !found)
        result->cursor = tc_json(turn, "{s:s*, s:s}", "id", file, "next", next);
}
