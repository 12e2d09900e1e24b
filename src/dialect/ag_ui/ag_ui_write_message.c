/* SPDX-License-Identifier: MIT
 * Builds one AG-UI message: type, sub-agent tag, ids scoped to the run, and members preserved
 * from an AG-UI source. */
#include "dialect/ag_ui/ag_ui_check.h"
#include "dialect/ag_ui/ag_ui_write.h"
#include "event/json/json_reader.h"

static const char *ag_ui_write_message_first_of(const char *a, const char *b, const char *c)
{
    return a ? a : b ? b : c;
}

/* The input of the run is omitted: the reader has its own request. */
void ag_ui_start(const struct ag_ui_write_ctx *e)
{
    const struct event *const ev = e->ev;
    const struct tc_start *const start = ev->kind == TC_START ? &ev->u.start : NULL;
    const struct tc_meta *const meta = &ev->meta;
    const struct writer_conf *const reader = e->out->conf;
    const char *const session =
        meta->session_id && *meta->session_id ? meta->session_id : meta->correlation_id;
    struct ag_ui_writer *const w = e->w;
    if (w->started)
        return;
    w->started = true;
    w->scopes = reader->run && !e->own;
    ag_ui_write_replace(
        &w->thread_id,
        ag_ui_write_message_first_of(reader->thread, start ? start->thread_id : NULL, session));
    ag_ui_write_replace(&w->run_id,
                        ag_ui_write_message_first_of(reader->run, start ? start->run_id : NULL,
                                                     meta->correlation_id));
    if (!w->scope.len)
        ag_ui_write_replace(&w->scope, reader->scope ? reader->scope : w->run_id.p);
    struct buf *const b = ag_ui_begin(e, "RUN_STARTED", NULL);
    json_style_member_str(b, S, "threadId", w->thread_id.p);
    json_style_member_str(b, S, "runId", w->run_id.p);
    if (e->v1)
        json_style_member_str(b, S, "protocolVersion", "1.0");
    if (reader->run)
        ag_ui_add_str(b, "parentRunId", reader->parent_run);
    else
        ag_ui_add_str(b, "parentRunId", start ? start->parent_run_id : NULL);
    if (start && start->input && e->own && !reader->run) {
        const struct str input = {start->input, strlen(start->input)};
        if (ag_ui_is_input(input))
            ag_ui_add_json(b, "input", input);
    }
    ag_ui_end(e, b, start && !reader->run ? ag_ui_x(e) : (struct str){0});
    ag_ui_continue_steps(e);
}

struct buf *ag_ui_begin(const struct ag_ui_write_ctx *e, const char *type, const char *tag)
{
    ag_ui_start(e);
    struct buf *const b = writer_begin_message(e->out);
    buf_add_char(b, '{');
    json_style_member_str(b, S, "type", type);
    if (tag && *tag)
        json_style_member_str(b, S, "subagentRunId", tag);
    return b;
}

/* Members of x that the writer sets itself, or that only one place may write. */
static bool is_kept_back(struct str key)
{
    static const char *const ours[] = {"TEXT_MESSAGE_START",
                                       "REASONING_START",
                                       "REASONING_MESSAGE_START",
                                       "span",
                                       "synthesized",
                                       "derived",
                                       "activity_type",
                                       "outcome",
                                       "usage",
                                       "type",
                                       "subagentRunId",
                                       "protocolVersion",
                                       "threadId",
                                       "runId",
                                       "messageId",
                                       "toolCallId",
                                       "parentSubagentRunId"};
    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        if (json_reader_string_is(key, ours[i]))
            return true;
    return false;
}

static bool is_role(struct str value)
{
    static const char *const roles[] = {"assistant", "user", "system", "developer"};
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
        if (value_equals(value, roles[i]))
            return true;
    return false;
}

/* Members that a reader validates must have the expected type. */
static bool is_sound(struct str key, struct str value)
{
    static const char *const strings[] = {"name",        "parentMessageId",  "parentRunId",
                                          "description", "parentToolCallId", "delta",
                                          "code",        "message",          "source"};
    if (str_is(value, "null"))
        return false;
    if (json_reader_string_is(key, "timestamp"))
        return ag_ui_is_integer(value);
    if (json_reader_string_is(key, "metadata"))
        return ag_ui_is_object(value);
    if (json_reader_string_is(key, "role"))
        return is_role(value);
    for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
        if (json_reader_string_is(key, strings[i]))
            return value_string(value).p;
    return true;
}

void ag_ui_end(const struct ag_ui_write_ctx *e, struct buf *b, struct str x)
{
    struct json j;
    struct str value;
    struct str key;
    json_reader_open_object(&j, x);
    while (json_reader_next_member(&j, &key, &value)) {
        if (is_kept_back(key) || !is_sound(key, value))
            continue;
        buf_add_char(b, ',');
        json_style_append_value(b, S, key.p - 1, key.len + 2);
        buf_add_char(b, ':');
        json_style_append_value(b, S, value.p, value.len);
    }
    ag_ui_end_plain(e, b);
}

void ag_ui_end_plain(const struct ag_ui_write_ctx *e, struct buf *b)
{
    buf_add_char(b, '}');
    writer_begin_end_message(e->out);
}

void ag_ui_add_str(struct buf *b, const char *key, const char *s)
{
    if (s)
        json_style_member_str(b, S, key, s);
}

void ag_ui_add_json(struct buf *b, const char *key, struct str value)
{
    json_style_append_key(b, S, key);
    if (value.p)
        json_style_append_value(b, S, value.p, value.len);
    else
        buf_add_str(b, "null");
}

struct str ag_ui_x(const struct ag_ui_write_ctx *e)
{
    const char *const x = e->own ? e->ev->meta.x : NULL;
    return (struct str){x, x ? strlen(x) : 0};
}

struct str ag_ui_x_member(const struct ag_ui_write_ctx *e, const char *key)
{
    return ag_ui_get_raw(ag_ui_x(e), key);
}

bool ag_ui_is_child(const struct ag_ui_write_ctx *e)
{
    return e->ev->meta.agent || e->ev->meta.parent_id;
}

/* A sub-agent without an id is identified by the call that spawned it. */
const char *ag_ui_tag(const struct ag_ui_write_ctx *e)
{
    const struct tc_meta *const meta = &e->ev->meta;
    if (!e->v1 || meta->agent)
        return e->v1 ? meta->agent : NULL;
    const char *const known =
        meta->parent_id ? open_calls_find_by_name(&e->w->agents, meta->parent_id) : NULL;
    return known ? known : meta->parent_id;
}

const char *ag_ui_scoped(const struct ag_ui_write_ctx *e, const char *id)
{
    ag_ui_start(e);
    return id && e->w->scopes ? arena_sprintf(e->a, "%s:%s", e->w->scope.p, id) : id;
}

static const char *ag_ui_write_message_make_id(const struct ag_ui_write_ctx *e)
{
    return ag_ui_scoped(e, arena_sprintf(e->a, "msg_%llu", (unsigned long long)++e->w->made));
}

const char *ag_ui_new_id(const struct ag_ui_write_ctx *e, const char *wanted, const char *source)
{
    struct ag_ui_writer *const w = e->w;
    const char *const base = ag_ui_scoped(e, wanted);
    const char *id = base ? base : ag_ui_write_message_make_id(e);
    for (unsigned n = 2; open_calls_contains(&w->used, id); n++)
        id = base ? arena_sprintf(e->a, "%s-%u", base, n) : ag_ui_write_message_make_id(e);
    open_calls_add(&w->used, id, source);
    return id;
}

void ag_ui_write_replace(struct buf *to, const char *text)
{
    buf_reset(to);
    buf_add_str(to, text ? text : "");
}
