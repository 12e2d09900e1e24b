/* SPDX-License-Identifier: MIT
 * Tool calls streamed in pieces, assembled by index. */
#include <inttypes.h>

#include "dialect/openai/openai.h"
#include "dialect/reader/tool_args.h"
#include "event/json/json_reader.h"

struct openai_call_piece {
    struct str index, id, name, arguments;
};

static bool openai_tool_has_text(struct str value)
{
    return value_string(value).len > 0;
}

/* Servers leave out the index or the id, or repeat both. */
static struct openai_call *openai_tool_find_call(struct openai *o,
                                                 const struct openai_call_piece *p, const char *id)
{
    const int64_t index = value_int(p->index, -1);
    for (size_t i = 0; i < o->call_count; i++) {
        struct openai_call *const call = &o->calls[i];
        if (index >= 0 ? call->index == index : id && strcmp(call->id.p, id) == 0)
            return call;
    }
    const bool fresh = index >= 0 || id || openai_tool_has_text(p->name) || !o->call_count;
    return fresh ? NULL : &o->calls[o->call_count - 1];
}

static void openai_tool_emit_progress(const struct openai_choice *c, const struct openai_call *call,
                                      const char *piece, size_t len)
{
    struct event ev;
    event_init(&ev, TC_PROGRESS);
    ev.u.progress.tool_use_id = call->id.p;
    ev.u.progress.name = call->name.len ? call->name.p : NULL;
    ev.u.progress.phase = piece ? "args" : "preparing";
    ev.u.progress.args_delta = piece;
    ev.u.progress.args_delta_len = len;
    dialect_emit_draft(c->out, &ev);
}

static struct openai_call *openai_tool_add_call(const struct openai_choice *c,
                                                const struct openai_call_piece *p, const char *id)
{
    struct openai *const o = c->o;
    if (o->call_count == OPENAI_CALLS)
        return NULL;
    struct openai_call *const call = &o->calls[o->call_count++];
    const char *const name = value_text(c->out->scratch, p->name, NULL);
    call->index = value_int(p->index, (int64_t)o->call_count - 1);
    if (id)
        buf_add_str(&call->id, id);
    else
        buf_printf(&call->id, "call-%" PRId64, call->index);
    buf_add_str(&call->name, name ? name : "");
    openai_tool_emit_progress(c, call, NULL, 0);
    return call;
}

static void openai_tool_read_piece(const struct openai_choice *c, const struct openai_call_piece *p)
{
    size_t len = 0;
    const char *const id =
        openai_tool_has_text(p->id) ? value_text(c->out->scratch, p->id, NULL) : NULL;
    const char *const args = value_text_or_json(c->out->scratch, p->arguments, &len);
    struct openai_call *call = openai_tool_find_call(c->o, p, id);
    if (!call)
        call = openai_tool_add_call(c, p, id);
    if (!call || !len || call->told || len > OPENAI_ARGS_MAX - call->args.len)
        return;
    buf_add(&call->args, args, len);
    openai_tool_emit_progress(c, call, args, len);
}

void openai_handle_calls(const struct openai_choice *c)
{
    const struct str calls = value_get_last(c->delta, "tool_calls");
    const struct str old = value_get_last(c->delta, "function_call");
    struct json j;
    struct str one;
    if (old.p)
        openai_tool_read_piece(
            c, &(struct openai_call_piece){.index = STR("0"),
                                           .name = value_get_last(old, "name"),
                                           .arguments = value_get_last(old, "arguments")});
    json_reader_open_array(&j, calls);
    while (json_reader_next_value(&j, &one)) {
        const struct str function = value_get_last(one, "function");
        openai_tool_read_piece(
            c, &(struct openai_call_piece){.index = value_get_last(one, "index"),
                                           .id = value_get_last(one, "id"),
                                           .name = value_get_last(function, "name"),
                                           .arguments = value_get_last(function, "arguments")});
    }
}

bool openai_settle_calls(const struct openai_choice *c)
{
    struct openai *const o = c->o;
    for (size_t i = 0; i < o->call_count; i++) {
        struct openai_call *const call = &o->calls[i];
        struct event ev;
        event_init(&ev, TC_TOOL_CALL);
        ev.u.tool_call.tool_use_id = call->id.p;
        ev.u.tool_call.name = call->name.len ? call->name.p : "tool";
        ev.u.tool_call.message_id = openai_message_id(o);
        tool_args_parse_text(c->out->scratch, &ev.u.tool_call, call->args.p, call->args.len);
        if (!call->told)
            dialect_emit_draft(c->out, &ev);
        call->told = true;
    }
    return o->call_count > 0;
}

void openai_calls_fini(struct openai *o)
{
    for (size_t i = 0; i < o->call_count; i++) {
        buf_fini(&o->calls[i].id);
        buf_fini(&o->calls[i].name);
        buf_fini(&o->calls[i].args);
    }
}
