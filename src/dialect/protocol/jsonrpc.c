/* SPDX-License-Identifier: MIT
 * Parses and writes JSON-RPC messages, and owns the agent's open requests. */
#include "dialect/protocol/jsonrpc.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "dialect/reader/value.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

#define ID_MAX ((size_t)256)
#define UNKNOWN_METHOD (-32601)
#define INVALID_REQUEST (-32600)

void jsonrpc_pending_fini(struct jsonrpc_pending *asked)
{
    free(asked->name);
    free(asked->id);
    for (size_t i = 0; i < RPC_TEXTS; i++)
        free(asked->text[i]);
    *asked = (struct jsonrpc_pending){0};
}

void jsonrpc_fini(struct jsonrpc *rpc)
{
    for (size_t i = 0; i < RPC_ASKED; i++)
        jsonrpc_pending_fini(&rpc->asked[i]);
}

/* ---- messages of the agent ---- */

static int jsonrpc_read_values(struct jsonrpc_message *l, const char *line, size_t len)
{
    const struct value_row rows[] = {{"id", &l->id},
                                     {"method", &l->method},
                                     {"params", &l->params},
                                     {"result", &l->result},
                                     {"error", &l->error}};
    return value_parse_line(line, len, VALUE_ROWS(rows));
}

int jsonrpc_parse(struct jsonrpc_message *l, const char *line, size_t len)
{
    *l = (struct jsonrpc_message){0};
    if (jsonrpc_read_values(l, line, len) == 0)
        return 0;
    *l = (struct jsonrpc_message){0};
    if (json_reader_repair(&l->mended, line, len) == 0)
        return -1;
    return jsonrpc_read_values(l, l->mended.p, l->mended.len);
}

void jsonrpc_line_fini(struct jsonrpc_message *l)
{
    buf_fini(&l->mended);
}

bool jsonrpc_is_own_id(struct str id, const char *name)
{
    const struct str text = value_string(id);
    const size_t prefix = strlen(JSONRPC_ID_PREFIX);
    return text.p && text.len > prefix && memcmp(text.p, JSONRPC_ID_PREFIX, prefix) == 0 &&
           str_is((struct str){text.p + prefix, text.len - prefix}, name);
}

bool jsonrpc_is_request(const struct jsonrpc_message *l)
{
    return l->id.p && l->method.p;
}

bool jsonrpc_is_response_to(const struct jsonrpc_message *l, const char *name)
{
    return !l->method.p && jsonrpc_is_own_id(l->id, name);
}

/* ---- our messages ---- */

void jsonrpc_begin_request(const struct jsonrpc *rpc, struct buf *out, const char *name,
                           const char *method)
{
    buf_printf(out, "%s\"id\":\"" JSONRPC_ID_PREFIX "%s\",\"method\":\"%s\",\"params\":{",
               rpc->head, name, method);
}

void jsonrpc_begin_notification(const struct jsonrpc *rpc, struct buf *out, const char *method)
{
    buf_printf(out, "%s\"method\":\"%s\",\"params\":{", rpc->head, method);
}

void jsonrpc_begin_response(const struct jsonrpc *rpc, struct buf *out, const char *id)
{
    buf_printf(out, "%s\"id\":%s,\"result\":{", rpc->head, id);
}

void jsonrpc_end(struct buf *out)
{
    buf_add_str(out, "}}\n");
}

void jsonrpc_add_prompt(struct buf *out, const char *key, const struct buf *text)
{
    jsonw_key(out, key);
    buf_add_str(out, "[{\"type\":\"text\",\"text\":");
    jsonw_string(out, text->p ? text->p : "", text->len);
    buf_add_str(out, "}]");
}

void jsonrpc_add_text(struct buf *to, const char *text)
{
    CLEANUP_BUF struct buf safe = {0};
    utf8_repair(&safe, text, strlen(text));
    jsonw_string(to, safe.p ? safe.p : "", safe.len);
}

static void jsonrpc_write_error(const struct jsonrpc *rpc, struct buf *out, struct str id, int code,
                                const char *text)
{
    buf_printf(out, "%s\"id\":%.*s,\"error\":{\"code\":%d", rpc->head, (int)id.len, id.p, code);
    jsonw_member_str(out, "message", text);
    jsonrpc_end(out);
}

void jsonrpc_reject(const struct jsonrpc *rpc, struct buf *out, const struct jsonrpc_message *l)
{
    jsonrpc_write_error(rpc, out, l->id, UNKNOWN_METHOD, "Method not found");
}

/* ---- open requests ---- */

struct jsonrpc_pending *jsonrpc_find_pending(struct jsonrpc *rpc, const char *name)
{
    for (size_t i = 0; i < RPC_ASKED; i++)
        if (rpc->asked[i].name && strcmp(rpc->asked[i].name, name) == 0)
            return &rpc->asked[i];
    return NULL;
}

bool jsonrpc_waits(void *state, const char *request_id)
{
    return jsonrpc_find_pending(state, request_id) != NULL;
}

static struct jsonrpc_pending *jsonrpc_find_room(struct jsonrpc *rpc)
{
    for (size_t i = 0; i < RPC_ASKED; i++)
        if (!rpc->asked[i].name)
            return &rpc->asked[i];
    return NULL;
}

/* Of two requests with the same name, the first counts, because people see it. */
struct jsonrpc_pending *jsonrpc_add_pending(struct jsonrpc *rpc, struct buf *out,
                                            const struct jsonrpc_message *l)
{
    struct arena scratch = {0};
    const char *const name = value_text_or_json(&scratch, l->id, NULL);
    const struct jsonrpc_pending *const same = jsonrpc_find_pending(rpc, name);
    struct jsonrpc_pending *const room =
        l->id.len <= ID_MAX && !same ? jsonrpc_find_room(rpc) : NULL;
    if (room)
        *room = (struct jsonrpc_pending){.name = xstrdup(name), .id = xstrndup(l->id.p, l->id.len)};
    else if (!same || !str_is(l->id, same->id))
        jsonrpc_write_error(rpc, out, l->id, INVALID_REQUEST, "Too many requests are open");
    arena_fini(&scratch);
    return room;
}

void jsonrpc_remove_pending(struct jsonrpc *rpc, struct str id)
{
    struct arena scratch = {0};
    const char *const name = value_text_or_json(&scratch, id, NULL);
    struct jsonrpc_pending *const asked = name ? jsonrpc_find_pending(rpc, name) : NULL;
    if (asked)
        jsonrpc_pending_fini(asked);
    arena_fini(&scratch);
}

void jsonrpc_each_pending(struct jsonrpc *rpc,
                          void (*each)(void *ctx, struct jsonrpc_pending *asked), void *ctx)
{
    for (size_t i = 0; i < RPC_ASKED; i++)
        if (rpc->asked[i].name)
            each(ctx, &rpc->asked[i]);
}
