/* SPDX-License-Identifier: MIT
 * Owns the CLI's open requests. */
#include "dialect/claude/input/claude_control.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "dialect/reader/value.h"
#include "event/json/json_reader.h"

#define SUBTYPE_MAX ((size_t)64)

/* ---- open requests ---- */

static void ask_free(const struct claude_control_pending *ask)
{
    free(ask->id);
    free(ask->raw_id);
    free(ask->input);
    free(ask->suggestions);
}

static struct claude_control_pending *claude_control_find(struct claude_control *c, const char *id)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->asks[i].id, id) == 0)
            return &c->asks[i];
    return NULL;
}

static void claude_control_remove_pending(struct claude_control *c,
                                          struct claude_control_pending *ask)
{
    c->bytes -= ask->bytes;
    ask_free(ask);
    *ask = c->asks[--c->n];
}

bool claude_control_waits(struct claude_control *c, const char *id)
{
    return claude_control_find(c, id) != NULL;
}

void claude_control_end(struct claude_control *c)
{
    while (c->n)
        claude_control_remove_pending(c, &c->asks[0]);
    free(c->asks);
    c->asks = NULL;
    c->cap = 0;
    c->over = true;
}

/* ---- lines of the CLI ---- */

/* The raw text of an id; p NULL: invalid. */
static struct str read_id(struct str value)
{
    const struct str raw = value_string(value);
    return raw.len && raw.len <= CLAUDE_CONTROL_ID ? raw : (struct str){0};
}

static void claude_control_refuse(struct claude_control *c, struct buf *out, struct str raw_id,
                                  struct str why)
{
    if (c->refusals++ >= CLAUDE_REFUSALS)
        return;
    buf_add_str(out, "{\"type\":\"control_response\",\"response\":{\"subtype\":\"error\","
                     "\"request_id\":\"");
    buf_add(out, raw_id.p, raw_id.len);
    buf_add_str(out, "\",\"error\":\"turncast does not answer this: ");
    buf_add(out, why.p, why.len);
    buf_add_str(out, "\"}}\n");
}

static char *claude_control_copy(struct str s)
{
    return s.p ? xstrndup(s.p, s.len) : NULL;
}

static void claude_control_add_pending(struct claude_control *c, const char *id, struct str raw_id,
                                       struct str request)
{
    struct str name = {0}, input = {0}, suggestions = {0};
    const struct value_row wants[] = {
        {"tool_name", &name}, {"input", &input}, {"permission_suggestions", &suggestions}};
    value_get_members(request, VALUE_ROWS(wants));
    const bool offers = suggestions.p && *suggestions.p == '[';
    c->asks = alloc_grow(c->asks, c->n, &c->cap, sizeof *c->asks);
    struct claude_control_pending *const ask = &c->asks[c->n++];
    *ask = (struct claude_control_pending){
        .id = xstrdup(id),
        .raw_id = claude_control_copy(raw_id),
        .input = claude_control_copy(input),
        .suggestions = offers ? claude_control_copy(suggestions) : NULL,
        .bytes = raw_id.len + input.len + (offers ? suggestions.len : 0),
        .questions = value_equals(name, "AskUserQuestion"),
    };
    c->bytes += ask->bytes;
}

static void claude_control_can_use_tool(struct claude_control *c, struct buf *out,
                                        struct str raw_id, struct str request)
{
    struct arena scratch = {0};
    const struct str input = value_get_last(request, "input");
    const char *const id = json_reader_unescape(&scratch, raw_id, NULL);
    if (!input.p || *input.p != '{')
        claude_control_refuse(c, out, raw_id, STR("tool request without input"));
    else if (claude_control_find(c, id))
        ; /* the request was repeated, and is answered once */
    else if (c->n == CLAUDE_ASKS || request.len > CLAUDE_ASKS_BYTES - c->bytes)
        claude_control_refuse(c, out, raw_id, STR("too many open requests"));
    else
        claude_control_add_pending(c, id, raw_id, request);
    arena_fini(&scratch);
}

static void control_request(struct claude_control *c, struct buf *out, struct str id,
                            struct str request)
{
    const struct str raw_id = value_string(id);
    const struct str subtype = value_string(value_get_last(request, "subtype"));
    if (!raw_id.len || raw_id.len > CLAUDE_CONTROL_ID_MAX || c->over)
        return;
    if (raw_id.len > CLAUDE_CONTROL_ID)
        claude_control_refuse(c, out, raw_id, STR("the request_id is too long"));
    else if (str_is(subtype, "can_use_tool"))
        claude_control_can_use_tool(c, out, raw_id, request);
    else
        claude_control_refuse(
            c, out, raw_id,
            subtype.len && subtype.len <= SUBTYPE_MAX ? subtype : STR("an unknown request"));
}

static void claude_control_withdraw(struct claude_control *c, struct str id)
{
    struct arena scratch = {0};
    const struct str raw_id = read_id(id);
    struct claude_control_pending *const ask =
        raw_id.p ? claude_control_find(c, json_reader_unescape(&scratch, raw_id, NULL)) : NULL;
    if (ask)
        claude_control_remove_pending(c, ask);
    arena_fini(&scratch);
}

/* -1: not a JSON object; no effect. */
static int claude_control_read(struct claude_control *c, struct buf *out, const char *line,
                               size_t len)
{
    struct str type = {0}, id = {0}, request = {0};
    const struct value_row wants[] = {{"type", &type}, {"request_id", &id}, {"request", &request}};
    if (value_parse_line(line, len, VALUE_ROWS(wants)) < 0)
        return -1;
    if (value_equals(type, "control_request"))
        control_request(c, out, id, request);
    else if (value_equals(type, "control_cancel_request"))
        claude_control_withdraw(c, id);
    return 0;
}

void claude_control_handle_line(struct claude_control *c, struct buf *out, const char *line,
                                size_t len)
{
    if (!memmem(line, len, "\"control_", 9) || claude_control_read(c, out, line, len) == 0)
        return;
    CLEANUP_BUF struct buf mended = {0}; /* as repaired for the translator */
    if (json_reader_repair(&mended, line, len))
        claude_control_read(c, out, mended.p, mended.len);
}

/* ---- replies ---- */

int claude_control_answer(struct claude_control *c, struct buf *out,
                          const struct dialect_answer *answer)
{
    struct claude_control_pending *const ask = claude_control_find(c, answer->request_id);
    CLEANUP_BUF struct buf reply = {0};
    if (!ask || claude_control_append_reply(&reply, ask, answer) < 0)
        return -1;
    buf_printf(out,
               "{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\","
               "\"request_id\":\"%s\",\"response\":",
               ask->raw_id);
    buf_add(out, reply.p, reply.len);
    buf_add_str(out, "}}\n");
    claude_control_remove_pending(c, ask);
    return 0;
}
