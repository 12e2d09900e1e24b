/* SPDX-License-Identifier: MIT
 * The host interface of an instance in a connector process: each call becomes a frame. A call that
 * needs a result waits for the reply frame; other frames are processed later. */
#include "base/alloc.h"
#include "plugin/child/child_internal.h"

static void child_on_batch(void *ctx, struct callback_batch *b)
{
    struct child *const c = ctx;
    for (size_t i = 0; i < b->count; i++) {
        const size_t request = ipc_frame_begin(&c->out, IPC_REQUEST);
        ipc_frame_pack_request(&c->out, b->requests[i]);
        ipc_frame_end(&c->out, request);
    }
    const size_t begun = ipc_frame_begin(&c->out, IPC_BATCH);
    ipc_frame_pack_batch(&c->out, b);
    ipc_frame_end(&c->out, begun);
    callback_batch_free(b);
}

/* Takes the reply out of the received bytes, if it is complete; the rest is processed later. */
static bool child_host_find_result(struct child *c, uint64_t ask, struct arena *a,
                                   struct ipc_call_result *asked)
{
    struct ipc_frame f;
    for (size_t at = c->read; at < c->in.len;) {
        const int64_t n = child_next_frame(c, at, &f);
        if (n == 0)
            return false;
        if (f.type != IPC_CALL_RESULT || (uint64_t)unpack_number(&f.in) != ask) {
            at += (size_t)n;
            continue;
        }
        ipc_frame_unpack_call_result(&f.in, asked);
        asked->turn = arena_strdup(a, asked->turn);
        asked->text = arena_strdup(a, asked->text);
        memmove(c->in.p + at, c->in.p + at + n, c->in.len - at - (size_t)n);
        c->in.len -= (size_t)n;
        return true;
    }
    return false;
}

/* Sets the received bytes aside: they hold the arguments of the current callback, so they must not
 * move. */
static void child_retain_received(struct child *c)
{
    if (c->held.p || !c->in.p)
        return;
    c->held = c->in;
    c->in = (struct buf){0};
    buf_add(&c->in, c->held.p + c->read, c->held.len - c->read);
    c->read = 0;
}

/* Sends the call and waits for its result, so that host_call_wait does not block. The host always
 * replies. */
static void child_call_host(void *ctx, struct host_call *a)
{
    struct child *const c = ctx;
    struct arena arena = {0};
    struct ipc_call_result asked = {.accepted = TC_NOT_KEPT};
    const uint64_t number = ++c->asks;
    const size_t begun = ipc_frame_begin(&c->out, IPC_CALL);
    pack_int64(&c->out, (int64_t)number);
    ipc_frame_pack_call(&c->out, a);
    ipc_frame_end(&c->out, begun);
    child_flush(c);
    child_retain_received(c);
    while (!child_host_find_result(c, number, &arena, &asked))
        child_receive(c, -1);
    host_call_complete(a, asked.accepted, asked.turn, asked.text);
    arena_fini(&arena);
}

static void on_route(void *ctx, const char *path)
{
    child_send_text(ctx, IPC_ROUTE, path);
}

static void on_socket_open(void *ctx, int64_t socket, const struct tc_socket *spec)
{
    struct child *const c = ctx;
    const size_t begun = ipc_frame_begin(&c->out, IPC_SOCKET_OPEN);
    pack_int64(&c->out, socket);
    ipc_frame_pack_socket_spec(&c->out, spec);
    ipc_frame_end(&c->out, begun);
}

static void on_socket_send(void *ctx, int64_t socket, struct str message, bool is_binary)
{
    struct child *const c = ctx;
    const size_t begun = ipc_frame_begin(&c->out, IPC_SOCKET_SEND);
    pack_int64(&c->out, socket);
    pack_bool(&c->out, is_binary);
    pack_bytes(&c->out, message);
    ipc_frame_end(&c->out, begun);
}

static void on_socket_close(void *ctx, int64_t socket)
{
    child_send_number(ctx, IPC_SOCKET_CLOSE, (uint64_t)socket);
}

void child_send_answer(struct child *c, uint64_t hit, const struct tc_answer *answer)
{
    const size_t begun = ipc_frame_begin(&c->out, IPC_ANSWER);
    pack_int64(&c->out, (int64_t)hit);
    ipc_frame_pack_answer(&c->out, answer);
    ipc_frame_end(&c->out, begun);
}

static void on_hit_answer(void *ctx, uint64_t hit, const struct tc_answer *answer)
{
    child_send_answer(ctx, hit, answer);
}

static void on_secret(void *ctx, const char *name, const char *value)
{
    struct child *const c = ctx;
    const size_t begun = ipc_frame_begin(&c->out, IPC_SECRET);
    pack_string(&c->out, name);
    pack_string(&c->out, value);
    ipc_frame_end(&c->out, begun);
}

static void on_store(void *ctx, const char *key, const char *text)
{
    struct child *const c = ctx;
    const size_t begun = ipc_frame_begin(&c->out, IPC_STORE);
    pack_string(&c->out, key);
    pack_string(&c->out, text);
    ipc_frame_end(&c->out, begun);
}

struct channel_callbacks child_make_host(struct child *c)
{
    const struct ipc_setup *const s = &c->setup;
    return (struct channel_callbacks){
        .ctx = c,
        .batch = s->has_batch ? child_on_batch : NULL,
        .ask = s->has_ask ? child_call_host : NULL,
        .has_process = true,
        .has_server = s->has_server,
        .route = on_route,
        .socket_open = s->has_sockets ? on_socket_open : NULL,
        .socket_send = s->has_sockets ? on_socket_send : NULL,
        .socket_close = s->has_sockets ? on_socket_close : NULL,
        .hit_answer = s->has_server ? on_hit_answer : NULL,
        .secret = s->has_batch ? on_secret : NULL,
        .store = s->has_batch ? on_store : NULL,
    };
}
