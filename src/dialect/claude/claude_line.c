/* SPDX-License-Identifier: MIT
 * Parses a line: the relevant members of Claude Code's stream-json. */
#include "dialect/claude/claude_line.h"

#include "base/alloc.h"
#include "dialect/dialect.h"
#include "dialect/reader/value.h"

static void claude_line_read_usage(struct json *j, struct claude_usage *u)
{
    struct str key;
    if (!json_reader_enter_object(j))
        return;
    while (json_reader_next_key(j, &key)) {
        if (str_is(key, "input_tokens"))
            json_reader_read_int(j, &u->input);
        else if (str_is(key, "output_tokens"))
            json_reader_read_int(j, &u->output);
        else if (str_is(key, "cache_read_input_tokens"))
            json_reader_read_int(j, &u->cache_read);
        else if (str_is(key, "cache_creation_input_tokens"))
            json_reader_read_int(j, &u->cache_write);
        else
            json_reader_skip(j, NULL);
    }
}

/* Target of a string member of a content block; NULL: ignored. */
static struct str *content_string(struct claude_content *b, struct str key)
{
    if (str_is(key, "type"))
        return &b->type;
    if (str_is(key, "text"))
        return &b->text;
    if (str_is(key, "id"))
        return &b->id;
    if (str_is(key, "name"))
        return &b->name;
    if (str_is(key, "tool_use_id"))
        return &b->tool_use_id;
    if (str_is(key, "thinking"))
        return &b->thinking;
    if (str_is(key, "signature"))
        return &b->signature;
    return str_is(key, "data") ? &b->data : NULL;
}

void claude_content_read(struct json *j, struct claude_content *b)
{
    alloc_zero(b, sizeof *b);
    const char *const begin = j->p;
    struct str key;
    if (!json_reader_enter_object(j))
        return;
    while (json_reader_next_key(j, &key)) {
        struct str *const string = content_string(b, key);
        if (string)
            json_reader_read_string(j, string);
        else if (str_is(key, "input"))
            json_reader_skip(j, &b->input);
        else if (str_is(key, "content"))
            json_reader_skip(j, &b->content);
        else if (str_is(key, "is_error"))
            json_reader_read_bool(j, &b->is_error);
        else
            json_reader_skip(j, NULL);
    }
    b->self = (struct str){begin, (size_t)(j->p - begin)};
}

/* Parses the first block directly, because nearly every message has exactly one. */
static void read_message_content(struct json *j, struct claude_body *b)
{
    if (json_reader_peek(j) == JSON_AT_STRING) {
        json_reader_read_string(j, &b->text);
        return;
    }
    const char *const begin = j->p;
    if (!json_reader_enter_array(j))
        return;
    size_t count = 0;
    while (json_reader_next_element(j))
        if (count++ == 0)
            claude_content_read(j, &b->block);
        else
            json_reader_skip(j, NULL);
    if (count > 1)
        b->blocks = (struct str){begin, (size_t)(j->p - begin)};
}

static void claude_line_read_message(struct json *j, struct claude_body *b)
{
    struct str key;
    if (!json_reader_enter_object(j))
        return;
    while (json_reader_next_key(j, &key)) {
        if (str_is(key, "id"))
            json_reader_read_string(j, &b->message_id);
        else if (str_is(key, "model"))
            json_reader_read_string(j, &b->model);
        else if (str_is(key, "content"))
            read_message_content(j, b);
        else if (str_is(key, "stop_reason"))
            json_reader_read_string(j, &b->stop_reason);
        else if (str_is(key, "usage"))
            claude_line_read_usage(j, &b->usage);
        else
            json_reader_skip(j, NULL);
    }
}

static void claude_line_read_delta(struct json *j, struct claude_body *b)
{
    struct str key;
    if (!json_reader_enter_object(j))
        return;
    while (json_reader_next_key(j, &key)) {
        if (str_is(key, "type"))
            json_reader_read_string(j, &b->delta);
        else if (str_is(key, "text") || str_is(key, "thinking") || str_is(key, "partial_json") ||
                 str_is(key, "signature"))
            json_reader_read_string(j, &b->piece);
        else if (str_is(key, "stop_reason"))
            json_reader_read_string(j, &b->stop_reason);
        else
            json_reader_skip(j, NULL);
    }
}

static void claude_line_read_event(struct json *j, struct claude_body *b)
{
    struct str key;
    if (!json_reader_enter_object(j))
        return;
    while (json_reader_next_key(j, &key)) {
        if (str_is(key, "type"))
            json_reader_read_string(j, &b->event);
        else if (str_is(key, "index"))
            json_reader_read_int(j, &b->index);
        else if (str_is(key, "delta"))
            claude_line_read_delta(j, b);
        else if (str_is(key, "content_block"))
            claude_content_read(j, &b->block);
        else if (str_is(key, "message"))
            claude_line_read_message(j, b);
        else if (str_is(key, "usage"))
            claude_line_read_usage(j, &b->usage);
        else
            json_reader_skip(j, NULL);
    }
}

void claude_body_parse(struct json *j, bool is_event, struct claude_body *b)
{
    alloc_zero(b, sizeof *b);
    b->is_event = is_event;
    b->index = -1;
    b->usage = CLAUDE_USAGE_NONE;
    const char *const begin = j->p;
    if (is_event)
        claude_line_read_event(j, b);
    else
        claude_line_read_message(j, b);
    b->self = (struct str){begin, (size_t)(j->p - begin)};
}

static void read_abandoned(struct json *j, struct claude_line *l)
{
    struct str key;
    if (!json_reader_enter_object(j))
        return;
    while (json_reader_next_key(j, &key)) {
        if (str_is(key, "from_block_index"))
            json_reader_read_int(j, &l->abandoned_from);
        else if (str_is(key, "api_message_id"))
            json_reader_read_string(j, &l->abandoned_id);
        else
            json_reader_skip(j, NULL);
    }
}

/* Target of a string member of the line; NULL: ignored. */
static struct str *line_string(struct claude_line *l, struct str key)
{
    if (str_is(key, "type"))
        return &l->type;
    if (str_is(key, "session_id"))
        return &l->session_id;
    if (str_is(key, "uuid"))
        return &l->uuid;
    if (str_is(key, "parent_tool_use_id"))
        return &l->parent;
    if (str_is(key, "subtype"))
        return &l->subtype;
    if (str_is(key, "agent_id"))
        return &l->agent_id;
    if (str_is(key, "error"))
        return &l->error;
    if (str_is(key, "api_error"))
        return &l->api_error;
    return str_is(key, "api_error_type") ? &l->api_error_type : NULL;
}

static bool *line_flag(struct claude_line *l, struct str key)
{
    if (str_is(key, "aborted"))
        return &l->aborted;
    if (str_is(key, "isSynthetic"))
        return &l->synthetic;
    if (str_is(key, "isReplay"))
        return &l->replay;
    return str_is(key, "is_api_error_message") ? &l->api_error_message : NULL;
}

static struct str *line_value(struct claude_line *l, struct str key)
{
    if (str_is(key, "tool_use_result"))
        return &l->tool_use_result;
    if (str_is(key, "tool_result_meta"))
        return &l->tool_result_meta;
    return str_is(key, "supersedes") ? &l->supersedes : NULL;
}

static void claude_line_read_member(struct json *j, struct claude_line *l, struct str key,
                                    struct json_memo *memo)
{
    struct str *string = NULL;
    const bool is_event = str_is(key, "event");
    if (is_event || str_is(key, "message")) {
        j->memo = memo;
        claude_body_parse(j, is_event, &l->body);
        j->memo = NULL;
    } else if ((string = line_string(l, key))) {
        json_reader_read_string(j, string);
    } else if (str_is(key, "abandoned_blocks")) {
        read_abandoned(j, l);
    } else {
        bool *const flag = line_flag(l, key);
        if (flag)
            json_reader_read_bool(j, flag);
        else
            json_reader_skip(j, line_value(l, key));
    }
}

int claude_line_parse(struct claude_line *l, const char *line, size_t len, struct json_memo *memo)
{
    alloc_zero(l, sizeof *l);
    l->self = (struct str){line, len};
    l->body.index = l->abandoned_from = -1;
    l->body.usage = CLAUDE_USAGE_NONE;
    struct json j;
    struct str key;
    json_init(&j, line, len);
    if (!json_reader_enter_object(&j))
        return -1;
    while (json_reader_next_key(&j, &key))
        claude_line_read_member(&j, l, key, memo);
    return json_reader_finish(&j);
}

struct claude_usage claude_usage_read(struct str value)
{
    struct claude_usage usage = CLAUDE_USAGE_NONE;
    struct json j;
    if (value.p) {
        json_init(&j, value.p, value.len);
        claude_line_read_usage(&j, &usage);
    }
    return usage;
}

int claude_sniff(struct str line, const char *event)
{
    const struct str type = value_get_last(line, "type");
    (void)event;
    if (value_equals(type, "stream_event"))
        return value_get_last(line, "event").p ? DIALECT_SCORE_CERTAIN : 0;
    if (value_equals(type, "assistant") || value_equals(type, "user"))
        return value_get_last(line, "message").p ? DIALECT_SCORE_CERTAIN - 1 : 0;
    if (value_equals(type, "system") || value_equals(type, "result"))
        return value_get_last(line, "subtype").p ? DIALECT_SCORE_CERTAIN - 1 : 0;
    return value_equals(type, "control_request") || value_equals(type, "control_response") ? 50 : 0;
}
