/* SPDX-License-Identifier: MIT
 * Encodes open requests as JSON, for clients of the API and for other hosts. */
#include <string.h>

#include "core/request/request_registry.h"
#include "event/json/json_writer.h"

void request_view_append_json(struct buf *out, const struct request_view *v, const char *choices)
{
    buf_add_char(out, '{');
    jsonw_member_str(out, "id", v->request);
    jsonw_member_str(out, "turn", v->turn);
    jsonw_member_str(out, "agent", v->agent);
    jsonw_member_str(out, "conversation", v->conversation);
    jsonw_member_str(out, "kind", v->kind);
    jsonw_member_str(out, "tool", v->shown->tool);
    jsonw_member_str(out, "subject", v->shown->subject);
    jsonw_member_str(out, "preview", v->shown->preview);
    jsonw_member_str(out, "message", v->shown->message);
    jsonw_member_str(out, "reason", v->shown->reason);
    jsonw_member_json(out, "args", v->shown->args);
    jsonw_member_json(out, "questions", v->shown->questions);
    jsonw_member_json(out, "choices", choices);
    jsonw_member_json(out, "to", v->to);
    jsonw_member_int(out, "opened_ms", v->opened_ms);
    if (v->expires_ms)
        jsonw_member_int(out, "expires_ms", v->expires_ms);
    buf_add_char(out, '}');
}

struct request_json_list {
    struct buf *out;
    const char *turn;
    size_t n;
};

static void request_json_add(void *ctx, const struct request_view *v)
{
    struct request_json_list *const l = ctx;
    if (strcmp(v->turn, l->turn) != 0)
        return;
    buf_add_char(l->out, l->n++ ? ',' : '[');
    request_view_append_json(l->out, v, v->choices);
}

void request_append_open_of(struct buf *out, const struct request_registry *r, const char *turn)
{
    struct request_json_list l = {.out = out, .turn = turn};
    request_each_open(r, request_json_add, &l);
    if (l.n)
        buf_add_char(out, ']');
}
