/* SPDX-License-Identifier: MIT
 * Reads agenticore's tagged chunks back into events. */
#include "dialect/openai/openai.h"
#include "dialect/reader/tool_args.h"

static char *tag_text(const struct openai_choice *c, const char *key)
{
    return value_text(c->out->scratch, value_get_last(c->self, key), NULL);
}

/* The text between the first line that opens a fence and the last one that closes it. */
static struct str inside_fence(const char *text)
{
    const char *const open = text ? strstr(text, "\n```") : NULL;
    const char *const begin = open ? strchr(open + 4, '\n') : NULL;
    const char *end = NULL;
    for (const char *p = begin; p && (p = strstr(p, "\n```\n")); p++)
        end = p;
    if (!begin || !end || end < begin)
        return (struct str){0};
    return (struct str){begin + 1, end > begin ? (size_t)(end - begin) - 1 : 0};
}

static char *chip_text(const struct openai_choice *c)
{
    return value_text(c->out->scratch, value_get_last(c->delta, "reasoning_content"), NULL);
}

static void openai_agenticore_read_narration(const struct openai_choice *c)
{
    size_t len = 0;
    const char *const text = value_text(c->out->scratch, value_get_last(c->delta, "content"), &len);
    openai_emit_text(c, text, len);
}

static void openai_agenticore_read_thinking(const struct openai_choice *c)
{
    size_t len = 0;
    const char *const text =
        value_text(c->out->scratch, value_get_last(c->delta, "reasoning_content"), &len);
    dialect_emit_thinking(c->out, text, len, openai_message_id(c->o));
}

static void openai_agenticore_read_final(const struct openai_choice *c)
{
    size_t len = 0;
    const char *const text = value_text(c->out->scratch, value_get_last(c->delta, "content"), &len);
    if (c->o->answered || !len)
        return;
    openai_complete_text(c);
    c->o->answered = true;
    dialect_emit_final(c->out, text, len, openai_message_id(c->o));
}

static void openai_agenticore_read_tool_use(const struct openai_choice *c)
{
    struct event ev;
    event_init(&ev, TC_TOOL_CALL);
    const char *const id = tag_text(c, "x_agenticore_tool_use_id");
    const char *const name = tag_text(c, "x_agenticore_tool_name");
    const struct str args = inside_fence(chip_text(c));
    ev.u.tool_call.tool_use_id = id ? id : "";
    ev.u.tool_call.name = name ? name : "tool";
    tool_args_parse_text(c->out->scratch, &ev.u.tool_call, args.p, args.len);
    ev.u.tool_call.args_raw = NULL; /* formatted for people, not the agent's original JSON */
    ev.u.tool_call.args_raw_len = 0;
    buf_reset(&c->o->text);
    dialect_emit_draft(c->out, &ev);
}

static void openai_agenticore_read_tool_result(const struct openai_choice *c)
{
    struct event ev;
    event_init(&ev, TC_TOOL_RESULT);
    struct tc_tool_result *const result = &ev.u.tool_result;
    const char *const id = tag_text(c, "x_agenticore_tool_use_id");
    const struct str content = inside_fence(chip_text(c));
    result->tool_use_id = id ? id : "";
    if (content.p)
        result->content = arena_strndup(c->out->scratch, content.p, content.len);
    result->content_len = content.len;
    result->is_error = value_is_true(value_get_last(c->self, "x_agenticore_is_error"));
    result->outcome = result->is_error ? "failed" : "succeeded";
    dialect_emit_draft(c->out, &ev);
}

/* The answer to a status command. */
static void openai_agenticore_read_stream_config(const struct openai_choice *c)
{
    const char *const text = value_text(c->out->scratch, value_get_last(c->delta, "content"), NULL);
    dialect_emit_notice(c->out, "info", "stream_config", text ? text : "", NULL);
}

bool openai_agenticore_handle(const struct openai_choice *c)
{
    static const struct {
        const char *tag;
        void (*take)(const struct openai_choice *c);
    } tags[] = {{"narration", openai_agenticore_read_narration},
                {"assistant_text", openai_agenticore_read_narration},
                {"thinking", openai_agenticore_read_thinking},
                {"final", openai_agenticore_read_final},
                {"tool_use", openai_agenticore_read_tool_use},
                {"tool_result", openai_agenticore_read_tool_result},
                {"stream_config", openai_agenticore_read_stream_config}};
    const struct str tag = value_get_last(c->self, "x_agenticore_event_type");
    for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
        if (value_equals(tag, tags[i].tag)) {
            tags[i].take(c);
            return true;
        }
    return false;
}
