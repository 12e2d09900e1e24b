/* SPDX-License-Identifier: MIT
 * Encoding of outbound requests, replies and batches. */
#include "base/alloc.h"
#include "plugin/ipc/ipc_frame.h"
#include "plugin/validate.h"

#define TURN_MAX ((size_t)512)

/* ---- requests ---- */

void ipc_frame_pack_request(struct buf *out, const struct outbound_request *l)
{
    CLEANUP_BUF struct buf record = {0};
    pack_int64(out, (int64_t)l->id);
    pack_string(out, l->turn);
    outbound_request_pack(&record, l);
    pack_bytes(out, (struct str){record.p, record.len});
}

struct outbound_request *ipc_frame_unpack_request(struct unpacker *u)
{
    const char *why;
    const uint64_t id = (uint64_t)unpack_number(u);
    const char *const turn = unpack_required_string(u);
    const struct str record = unpack_bytes(u);
    if (u->bad || !record.p || !validate_is_text(turn, TURN_MAX))
        return NULL;
    return outbound_unpack(id, turn, record, &why);
}

/* ---- replies ---- */

static void pack_verdict(struct buf *out, const struct tc_verdict *v)
{
    pack_int64(out, (int64_t)v->next);
    pack_int64(out, v->hold_ms);
    pack_int64(out, (int64_t)v->scope);
    pack_string(out, v->reason);
}

static struct tc_verdict unpack_verdict(struct unpacker *u)
{
    struct tc_verdict v;
    v.next = (enum tc_next)unpack_count(u, TC_NEXT_LATER);
    v.hold_ms = (int64_t)unpack_count(u, INT64_MAX);
    v.scope = (enum tc_scope)unpack_count(u, TC_HOLD_INSTANCE);
    v.reason = unpack_text(u);
    u->bad = u->bad || !validate_is_text(v.reason, VALIDATE_REASON_MAX);
    return v;
}

void ipc_frame_pack_reply(struct buf *out, const struct outbound_reply *r)
{
    const struct tc_reply *const reply = &r->reply;
    ipc_frame_pack_request(out, r->about);
    pack_int64(out, (int64_t)r->request);
    pack_bool(out, r->last);
    pack_verdict(out, &r->verdict);
    pack_string(out, reply->tag);
    pack_int64(out, (int64_t)reply->outcome);
    pack_int64(out, reply->status);
    pack_bytes(out, (struct str){reply->body, reply->body_len});
    pack_string(out, reply->path);
    pack_string(out, reply->error);
    pack_int64(out, reply->attempts);
    pack_bool(out, reply->in_doubt);
    ipc_frame_pack_headers(out, reply->headers, reply->header_count);
}

struct outbound_reply *ipc_frame_unpack_reply(struct unpacker *u)
{
    struct outbound_reply *const r = xcalloc(1, sizeof *r);
    r->about = ipc_frame_unpack_request(u);
    r->request = (uint64_t)unpack_number(u);
    r->last = unpack_flag(u);
    r->verdict = unpack_verdict(u);
    r->verdict.reason = arena_strdup(&r->arena, r->verdict.reason);
    struct tc_reply *const reply = &r->reply;
    reply->tag = arena_strdup(&r->arena, unpack_text(u));
    reply->outcome = (enum tc_outcome)unpack_count(u, TC_YOUR_TURN);
    reply->status = (int)unpack_count(u, INT32_MAX);
    const struct str body = unpack_bytes(u);
    reply->body = arena_memdup(&r->arena, body.p, body.len);
    reply->body_len = body.len;
    reply->path = arena_strdup(&r->arena, unpack_text(u));
    reply->error = arena_strdup(&r->arena, unpack_text(u));
    reply->attempts = (uint32_t)unpack_count(u, UINT32_MAX);
    reply->in_doubt = unpack_flag(u);
    reply->number = r->request;
    const struct tc_header *const headers =
        ipc_frame_unpack_headers(u, &r->arena, &reply->header_count);
    reply->headers = outbound_copy_headers(&r->arena, headers, reply->header_count);
    if (!u->bad && r->about) {
        reply->http = &r->about->http;
        return r;
    }
    outbound_reply_free(r);
    return NULL;
}

/* ---- batches ---- */

#define RESULTS_MAX 256

static void pack_results(struct buf *out, const struct outbound_result *first)
{
    int64_t count = 0;
    for (const struct outbound_result *r = first; r; r = r->next)
        count++;
    pack_int64(out, count);
    for (const struct outbound_result *r = first; r; r = r->next) {
        pack_int64(out, (int64_t)r->request);
        pack_int64(out, (int64_t)r->outcome);
        pack_int64(out, r->status);
        pack_bytes(out, r->body);
        pack_string(out, r->error);
        pack_int64(out, r->hold_ms);
    }
}

static struct outbound_result *unpack_result(struct unpacker *u)
{
    const char *why;
    const uint64_t request = (uint64_t)unpack_number(u);
    struct tc_completion c = {.size = sizeof c};
    c.outcome = (enum tc_outcome)unpack_count(u, TC_AMBIGUOUS);
    c.status = (int)unpack_count(u, INT32_MAX);
    const struct str body = unpack_bytes(u);
    c.body = body.len ? body.p : NULL;
    c.body_len = body.len;
    c.error = unpack_text(u);
    c.hold_ms = (int64_t)unpack_count(u, INT64_MAX);
    struct outbound_result *const r = u->bad ? NULL : outbound_result_new(request, &c, &why);
    u->bad = u->bad || !r;
    return r;
}

static struct outbound_result *unpack_results(struct unpacker *u)
{
    struct outbound_result *first = NULL, **end = &first;
    for (size_t left = unpack_count(u, RESULTS_MAX); left && !u->bad; left--) {
        *end = unpack_result(u);
        end = *end ? &(*end)->next : end;
    }
    return first;
}

void ipc_frame_pack_batch(struct buf *out, const struct callback_batch *b)
{
    pack_int64(out, (int64_t)b->settles);
    pack_bool(out, b->failed);
    pack_string(out, b->turn);
    pack_int64(out, (int64_t)b->request);
    pack_verdict(out, &b->verdict);
    pack_string(out, b->memory);
    pack_bool(out, b->over);
    pack_results(out, b->results);
}

struct callback_batch *ipc_frame_unpack_batch(struct unpacker *u)
{
    struct callback_batch *const b = xcalloc(1, sizeof *b);
    b->settles = (enum batch_settlement)unpack_count(u, BATCH_REQUEST);
    b->failed = unpack_flag(u);
    const char *const turn = unpack_required_string(u);
    b->request = (uint64_t)unpack_number(u);
    b->verdict = unpack_verdict(u);
    const char *const memory = unpack_text(u);
    b->over = unpack_flag(u);
    b->results = unpack_results(u);
    b->turn = xstrdup(turn);
    b->verdict.reason = xstrdup(b->verdict.reason);
    b->memory = xstrdup(memory);
    if (unpack_finish(u) == 0 && validate_is_text(turn, TURN_MAX) &&
        validate_is_text(memory, VALIDATE_MEMORY_MAX))
        return b;
    callback_batch_free(b);
    return NULL;
}
