/* SPDX-License-Identifier: MIT
 * Owns the shape of JSON-RPC lines and the requests of an agent that are open. */
#include "dialect/protocol/jsonrpc.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "dialect/reader/value.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"

#define ID_MAX ((size_t)256)
#define UNKNOWN_METHOD (-32601)
#define INVALID_REQUEST (-32600)

void rpc_close(struct rpc_asked *asked)
{
    free(asked->name);
    free(asked->id);
    for (size_t i = 0; i < RPC_TEXTS; i++)
        free(asked->text[i]);
    *asked = (struct rpc_asked){0};
}

void rpc_fini(struct rpc *rpc)
{
    for (size_t i = 0; i < RPC_ASKED; i++)
        rpc_close(&rpc->asked[i]);
}

/* ---- what the agent writes ---- */

static int read_values(struct rpc_line *l, const char *line, size_t len)
{
    const struct value_row rows[] = {{"id", &l->id},
                                     {"method", &l->method},
                                     {"params", &l->params},
                                     {"result", &l->result},
                                     {"error", &l->error}};
    return value_line(line, len, VALUE_ROWS(rows));
}

int rpc_read(struct rpc_line *l, const char *line, size_t len)
{
    *l = (struct rpc_line){0};
    if (read_values(l, line, len) == 0)
        return 0;
    *l = (struct rpc_line){0};
    if (json_repair(&l->mended, line, len) == 0)
        return -1;
    return read_values(l, l->mended.p, l->mended.len);
}

void rpc_line_fini(struct rpc_line *l)
{
    buf_fini(&l->mended);
}

bool rpc_is_ours(struct str id, const char *name)
{
    const struct str text = value_string(id);
    const size_t prefix = strlen(RPC_OURS);
    return text.p && text.len > prefix && memcmp(text.p, RPC_OURS, prefix) == 0 &&
           str_is((struct str){text.p + prefix, text.len - prefix}, name);
}

bool rpc_is_request(const struct rpc_line *l)
{
    return l->id.p && l->method.p;
}

bool rpc_answers(const struct rpc_line *l, const char *name)
{
    return !l->method.p && rpc_is_ours(l->id, name);
}

/* ---- what we write ---- */

void rpc_call(const struct rpc *rpc, struct buf *out, const char *name, const char *method)
{
    buf_printf(out, "%s\"id\":\"" RPC_OURS "%s\",\"method\":\"%s\",\"params\":{", rpc->head, name,
               method);
}

void rpc_notify(const struct rpc *rpc, struct buf *out, const char *method)
{
    buf_printf(out, "%s\"method\":\"%s\",\"params\":{", rpc->head, method);
}

void rpc_reply(const struct rpc *rpc, struct buf *out, const char *id)
{
    buf_printf(out, "%s\"id\":%s,\"result\":{", rpc->head, id);
}

void rpc_end(struct buf *out)
{
    buf_add_str(out, "}}\n");
}

static void write_error(const struct rpc *rpc, struct buf *out, struct str id, int code,
                        const char *text)
{
    buf_printf(out, "%s\"id\":%.*s,\"error\":{\"code\":%d", rpc->head, (int)id.len, id.p, code);
    jsonw_member_str(out, "message", text);
    rpc_end(out);
}

void rpc_refuse(const struct rpc *rpc, struct buf *out, const struct rpc_line *l)
{
    write_error(rpc, out, l->id, UNKNOWN_METHOD, "Method not found");
}

/* ---- what is open ---- */

struct rpc_asked *rpc_find(struct rpc *rpc, const char *name)
{
    for (size_t i = 0; i < RPC_ASKED; i++)
        if (rpc->asked[i].name && strcmp(rpc->asked[i].name, name) == 0)
            return &rpc->asked[i];
    return NULL;
}

static struct rpc_asked *find_room(struct rpc *rpc)
{
    for (size_t i = 0; i < RPC_ASKED; i++)
        if (!rpc->asked[i].name)
            return &rpc->asked[i];
    return NULL;
}

/* Of two with one name the first counts: it is the one that people see. */
struct rpc_asked *rpc_open(struct rpc *rpc, struct buf *out, const struct rpc_line *l)
{
    struct arena scratch = {0};
    const char *const name = value_show(&scratch, l->id, NULL);
    const struct rpc_asked *const same = rpc_find(rpc, name);
    struct rpc_asked *const room = l->id.len <= ID_MAX && !same ? find_room(rpc) : NULL;
    if (room)
        *room = (struct rpc_asked){.name = xstrdup(name), .id = xstrndup(l->id.p, l->id.len)};
    else if (!same || !str_is(l->id, same->id))
        write_error(rpc, out, l->id, INVALID_REQUEST, "Too many requests are open");
    arena_fini(&scratch);
    return room;
}

void rpc_forget(struct rpc *rpc, struct str id)
{
    struct arena scratch = {0};
    const char *const name = value_show(&scratch, id, NULL);
    struct rpc_asked *const asked = name ? rpc_find(rpc, name) : NULL;
    if (asked)
        rpc_close(asked);
    arena_fini(&scratch);
}

void rpc_each(struct rpc *rpc, void (*each)(void *ctx, struct rpc_asked *asked), void *ctx)
{
    for (size_t i = 0; i < RPC_ASKED; i++)
        if (rpc->asked[i].name)
            each(ctx, &rpc->asked[i]);
}
