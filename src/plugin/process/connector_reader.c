/* SPDX-License-Identifier: MIT
 * Parses and checks the frames of an instance's process: a frame that is malformed, refers to
 * unknown objects or exceeds a limit ends its sender, never the host. */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "plugin/process/connector_process.h"
#include "plugin/validate.h"

#define READ_SIZE ((size_t)256 << 10)
#define ROUND_BYTES ((size_t)1 << 20) /* limit per instance and round of the loop */
/* Above the limits of the services; only a compromised process exceeds these. */
#define BATCH_REQUESTS ((size_t)512)
#define TURN_REQUESTS ((size_t)4096)        /* limit of pending requests */
#define UNDER_WAY_BYTES ((size_t)512 << 20) /* limit for all turns */
#define SOCKETS ((size_t)64)                /* limit of open sockets */
#define ROUTES ((size_t)256)
#define SOCKETS_PER_LIFE ((uint64_t)1 << 32)

/* ---- batches ---- */

static void connector_reader_clear_requests(struct connector_process *g)
{
    for (size_t i = 0; i < g->reader.n_requests; i++)
        outbound_request_unref(g->reader.requests[i]);
    free(g->reader.requests);
    g->reader.requests = NULL;
    g->reader.n_requests = g->reader.request_bytes = 0;
}

/* Size in memory. */
static size_t outbound_request_size(const struct outbound_request *l)
{
    return l->arena.used;
}

/* Ids of requests belong to this process: odd and increasing. */
static const char *check_request(const struct connector_process *g,
                                 const struct outbound_request *l)
{
    if (*l->turn && !connector_turns_find(g, l->turn))
        return "request for an unknown turn";
    if (l->id % 2 == 0 || l->id <= g->reader.last_request)
        return "outbound request out of sequence";
    if (g->reader.n_requests == BATCH_REQUESTS)
        return "too many outbound requests in one callback";
    if (g->reader.bytes_under_way + g->reader.request_bytes + outbound_request_size(l) >
        UNDER_WAY_BYTES)
        return "too many outbound requests";
    return NULL;
}

static const char *connector_reader_handle_request(struct connector_process *g, struct unpacker *u)
{
    struct outbound_request *const l = ipc_frame_unpack_request(u);
    const char *const why =
        !l || unpack_finish(u) < 0 ? "malformed outbound request" : check_request(g, l);
    if (why) {
        outbound_request_unref(l);
        return why;
    }
    if (g->reader.n_requests % 16 == 0)
        g->reader.requests = xrealloc(g->reader.requests, (g->reader.n_requests + 16) *
                                                              sizeof(struct outbound_request *));
    g->reader.requests[g->reader.n_requests++] = l;
    g->reader.request_bytes += outbound_request_size(l);
    g->reader.last_request = l->id;
    return NULL;
}

static bool connector_reader_is_task_of(const struct connector_task *t, const char *turn)
{
    return strcmp(t->turn ? t->turn->named.id : "", turn) == 0;
}

/* The unsettled task; NULL: unknown. */
static struct connector_task *connector_reader_find_settled_task(struct connector_process *g,
                                                                 const struct callback_batch *b)
{
    struct connector_task *t;
    for (size_t i = 0; (t = task_window_at(&g->writer.sent, i)); i++) {
        const enum tc_kind kind = connector_task_kind(t);
        if (t->settled || !connector_reader_is_task_of(t, b->turn))
            continue;
        if (b->settles == BATCH_REQUEST
                ? t->type == IPC_REPLY && t->control->reply->request == b->request
                : g->conf.delivers && (kind == TC_FINAL || kind == TC_ERROR))
            break;
    }
    return t;
}

/* Finds the task of which the last batch of the turn is the result: done, unless the last reply is.
 */
static struct connector_task *connector_reader_find_end_task(struct connector_process *g,
                                                             const char *turn)
{
    struct connector_task *t;
    size_t i = 0;
    while (
        (t = task_window_at(&g->writer.sent, i)) &&
        (t->settled || !connector_reader_is_task_of(t, turn) || connector_task_kind(t) != TC_DONE))
        i++;
    return t;
}

/* The request gets no reply. */
static void connector_reader_release_request(struct connector_process *g,
                                             struct connector_turn *turn,
                                             const struct outbound_reply *r)
{
    size_t *const requests = turn ? &turn->requests : &g->reader.context_requests;
    const size_t size = r->request % 2 && r->about ? outbound_request_size(r->about) : 0;
    *requests -= *requests > 0;
    g->reader.bytes_under_way -=
        size < g->reader.bytes_under_way ? size : g->reader.bytes_under_way;
}

void connector_reader_abandon_reply(struct connector_process *g, const struct connector_task *t)
{
    connector_reader_release_request(g, t->turn, t->control->reply);
}

/* A batch settles a task of the instance, which is settled once. *turn: turn of the task. */
static const char *connector_reader_settle_batch(struct connector_process *g,
                                                 const struct callback_batch *b,
                                                 struct connector_turn **turn)
{
    if (b->settles == BATCH_NOTHING)
        return NULL;
    struct connector_task *const t = connector_reader_find_settled_task(g, b);
    if (!t)
        return "unexpected response";
    if (b->settles == BATCH_REQUEST && t->control->reply->last && b->verdict.next == TC_NEXT_AGAIN)
        return "retry of a completed request";
    if (b->verdict.next == TC_NEXT_LATER && !connector_task_is_offer(t))
        return "a completion that nobody asked for";
    t->settled = true;
    *turn = t->turn;
    if (b->settles == BATCH_REQUEST && b->verdict.next != TC_NEXT_AGAIN &&
        b->verdict.next != TC_NEXT_LATER)
        connector_reader_release_request(g, t->turn, t->control->reply);
    return NULL;
}

/* A callback may send for any turn of its instance. */
static const char *connector_reader_count_requests(struct connector_process *g,
                                                   struct connector_turn *turn)
{
    for (size_t i = 0; i < g->reader.n_requests; i++) {
        const char *const id = g->reader.requests[i]->turn;
        struct connector_turn *const t =
            turn && strcmp(turn->named.id, id) == 0 ? turn : connector_turns_find(g, id);
        if (*id && !t)
            return "request for an unknown turn";
        if (++*(t ? &t->requests : &g->reader.context_requests) > TURN_REQUESTS)
            return "too many outbound requests of one turn";
    }
    g->reader.bytes_under_way += g->reader.request_bytes;
    return NULL;
}

static const char *connector_reader_check_turn_end(struct connector_process *g,
                                                   struct callback_batch *b,
                                                   struct connector_turn *turn)
{
    if (!b->over)
        return NULL;
    struct connector_task *const end =
        b->settles == BATCH_REQUEST ? NULL : connector_reader_find_end_task(g, b->turn);
    turn = end ? end->turn : turn;
    if (!turn || !turn->done || turn->requests || turn->closed)
        return "end of a turn that has not ended";
    turn->closed = true;
    b->ending = turn;
    if (end)
        end->settled = true;
    return NULL;
}

static void connector_reader_set_memory(struct connector_turn *t, const char *memory)
{
    if (!t || !memory)
        return;
    free(t->memory);
    t->memory = xstrdup(memory);
}

static const char *connector_reader_handle_batch(struct connector_process *g, struct unpacker *u)
{
    struct callback_batch *const b = ipc_frame_unpack_batch(u);
    if (!b)
        return "malformed batch";
    struct connector_turn *turn = *b->turn ? connector_turns_find(g, b->turn) : NULL;
    const char *why = *b->turn && !turn ? "batch for an unknown turn"
                                        : connector_reader_settle_batch(g, b, &turn);
    if (!why && b->failed && b->settles != BATCH_NOTHING && g->reader.n_requests)
        why = "outbound requests of a failed callback";
    why = why ? why : connector_reader_count_requests(g, turn);
    why = why ? why : connector_reader_check_turn_end(g, b, turn);
    if (why) {
        callback_batch_free(b);
        return why;
    }
    connector_reader_set_memory(turn, b->memory);
    b->requests = g->reader.requests;
    b->count = g->reader.n_requests;
    g->reader.requests = NULL;
    g->reader.n_requests = g->reader.request_bytes = 0;
    g->host.batch(g->host.ctx, b);
    return NULL;
}

static const char *connector_reader_handle_turn_over(struct connector_process *g,
                                                     struct unpacker *u)
{
    const uint64_t number = (uint64_t)unpack_number(u);
    struct connector_turn *t = g->turns.first;
    while (t && t->number != number)
        t = t->next;
    if (unpack_finish(u) < 0 || !t || !t->done || t->requests || t->over ||
        t->closed != (g->host.batch != NULL))
        return "end of a turn that has not ended";
    t->over = true;
    if (!t->tasks)
        connector_turns_free(g, t);
    return NULL;
}

/* ---- routes and sockets ---- */

static const char *connector_reader_handle_route(struct connector_process *g, struct unpacker *u)
{
    const char *const path = unpack_required_string(u);
    if (unpack_finish(u) < 0 || !validate_path(path) || !g->host.has_server || !g->host.route)
        return "invalid route";
    if (++g->reader.routes > ROUTES)
        return "too many routes";
    g->host.route(g->host.ctx, path);
    return NULL;
}

/* The host's numbers continue across all processes. */
static const char *connector_reader_handle_socket_spec(struct connector_process *g,
                                                       struct unpacker *u, struct arena *arena)
{
    struct tc_socket spec;
    const uint64_t number = (uint64_t)unpack_number(u);
    ipc_frame_unpack_socket_spec(u, arena, &spec);
    if (unpack_finish(u) < 0 || !g->host.socket_open || number != g->reader.last_socket + 1 ||
        number >= SOCKETS_PER_LIFE)
        return "invalid socket";
    if (++g->reader.open_sockets > SOCKETS)
        return "too many open sockets";
    g->reader.last_socket = number;
    g->host.socket_open(g->host.ctx, (int64_t)(g->reader.socket_base + number), &spec);
    return NULL;
}

static const char *connector_reader_handle_socket_open(struct connector_process *g,
                                                       struct unpacker *u)
{
    struct arena arena = {0};
    const char *const why = connector_reader_handle_socket_spec(g, u, &arena);
    arena_fini(&arena);
    return why;
}

static const char *connector_reader_handle_socket_send(struct connector_process *g,
                                                       struct unpacker *u)
{
    const uint64_t number = (uint64_t)unpack_number(u);
    const bool is_binary = unpack_flag(u);
    const struct str message = unpack_bytes(u);
    if (unpack_finish(u) < 0 || !number || number > g->reader.last_socket ||
        !validate_socket_message(message, is_binary))
        return "frame for an unknown socket";
    g->host.socket_send(g->host.ctx, (int64_t)(g->reader.socket_base + number), message, is_binary);
    return NULL;
}

static const char *connector_reader_handle_socket_close(struct connector_process *g,
                                                        struct unpacker *u)
{
    const uint64_t number = (uint64_t)unpack_number(u);
    if (unpack_finish(u) < 0 || !number || number > g->reader.last_socket)
        return "end of an unknown socket";
    g->host.socket_close(g->host.ctx, (int64_t)(g->reader.socket_base + number));
    return NULL;
}

static const char *connector_reader_handle_secret(struct connector_process *g, struct unpacker *u)
{
    const char *const name = unpack_required_string(u), *const value = unpack_text(u);
    if (unpack_finish(u) < 0 || !g->host.secret || validate_secret(name, value))
        return "invalid secret";
    g->host.secret(g->host.ctx, name, value);
    return NULL;
}

static const char *connector_reader_handle_stored(struct connector_process *g, struct unpacker *u)
{
    const char *const key = unpack_required_string(u), *const text = unpack_text(u);
    if (unpack_finish(u) < 0 || !g->host.store || validate_stored(key, text))
        return "invalid text to store";
    if (!text)
        stored_texts_remove(&g->stored, key);
    else if (stored_texts_set(&g->stored, STORED_TEXTS_MAX, key, text) < 0)
        return "too many texts to store";
    g->host.store(g->host.ctx, key, text);
    return NULL;
}

/* ---- processing ---- */

static const char *connector_reader_handle_started(struct connector_process *g, struct unpacker *u)
{
    if (unpack_text(u) || unpack_finish(u) < 0 || g->sup.refused ||
        (g->sup.state != CONNECTOR_STARTING && !g->reader.start_seen))
        return "unexpected report of a start";
    g->reader.start_seen = false;
    if (g->sup.state == CONNECTOR_STARTING)
        connector_supervisor_set_running(g);
    return NULL;
}

static const char *connector_reader_handle_refused(struct connector_process *g, struct unpacker *u)
{
    const char *const why = unpack_text(u);
    if (unpack_finish(u) < 0 || g->sup.state != CONNECTOR_STARTING || g->sup.refused ||
        !validate_is_text(why, 1024))
        return "unexpected report of a failed start";
    connector_supervisor_set_refusal(g, why && *why ? why : "init failed; see the log");
    return NULL;
}

static const char *connector_reader_handle_room(struct connector_process *g, struct unpacker *u)
{
    const uint64_t handled = unpack_count(u, SIZE_MAX / 2);
    if (unpack_finish(u) < 0 || !handled)
        return "malformed count";
    connector_writer_confirm(g, handled);
    return NULL;
}

/* Each returns an error, or NULL. */
static const char *(*const takers[IPC_TYPES])(struct connector_process *g, struct unpacker *u) = {
    [IPC_STARTED] = connector_reader_handle_started,
    [IPC_REFUSED] = connector_reader_handle_refused,
    [IPC_REQUEST] = connector_reader_handle_request,
    [IPC_BATCH] = connector_reader_handle_batch,
    [IPC_TURN_OVER] = connector_reader_handle_turn_over,
    [IPC_CALL] = connector_calls_handle_call,
    [IPC_ROUTE] = connector_reader_handle_route,
    [IPC_SECRET] = connector_reader_handle_secret,
    [IPC_STORE] = connector_reader_handle_stored,
    [IPC_SOCKET_OPEN] = connector_reader_handle_socket_open,
    [IPC_SOCKET_SEND] = connector_reader_handle_socket_send,
    [IPC_SOCKET_CLOSE] = connector_reader_handle_socket_close,
    [IPC_ANSWER] = connector_calls_handle_answer,
    [IPC_ROOM] = connector_reader_handle_room,
};

/* Before the instance has started, only the result of the start and output of init are accepted. */
static bool connector_reader_accepts_frame(const struct connector_process *g, enum frame_type type)
{
    if (!takers[type] || (!g->host.batch && (type == IPC_REQUEST || type == IPC_BATCH)))
        return false;
    return g->sup.state != CONNECTOR_STARTING || type != IPC_ROOM;
}

/* Searches only for the result of the start; all frames are kept in their order. */
static void connector_reader_find_start(struct connector_process *g)
{
    struct ipc_frame f;
    int64_t n;
    for (; g->sup.state == CONNECTOR_STARTING && g->reader.looked < g->reader.in.len;
         g->reader.looked += (size_t)n) {
        n = ipc_frame_decode_next(
            (struct str){g->reader.in.p + g->reader.looked, g->reader.in.len - g->reader.looked},
            &f);
        if (n < 0 || g->reader.in.len > HELD_MAX) {
            connector_supervisor_fail(g, n < 0 ? "malformed frame"
                                               : "too much data before start-up finished");
            return;
        }
        if (n == 0)
            return;
        if (f.type == IPC_STARTED)
            connector_supervisor_set_running(g);
        else if (f.type == IPC_REFUSED)
            connector_reader_handle_refused(g, &f.in);
        else if (!connector_reader_accepts_frame(g, f.type))
            connector_supervisor_fail(g, "unexpected frame type");
    }
}

static void connector_reader_handle_frames(struct connector_process *g)
{
    struct ipc_frame f;
    size_t at = 0;
    int64_t n;
    if (g->reader.release != CONNECTOR_RELEASED) {
        connector_reader_find_start(g);
        return;
    }
    while (!g->sup.broke &&
           (n = ipc_frame_decode_next((struct str){g->reader.in.p + at, g->reader.in.len - at},
                                      &f)) != 0) {
        const char *const why = n < 0 ? "malformed frame"
                                : !connector_reader_accepts_frame(g, f.type)
                                    ? "unexpected frame type"
                                    : takers[f.type](g, &f.in);
        if (why)
            connector_supervisor_fail(g, why);
        else
            at += (size_t)n;
    }
    if (at)
        buf_consume(&g->reader.in, at);
}

void connector_reader_resume(struct connector_process *g)
{
    if (g->reader.release == CONNECTOR_RELEASED)
        return;
    g->reader.release = CONNECTOR_RELEASED;
    g->reader.start_seen = g->sup.state != CONNECTOR_STARTING;
    connector_reader_handle_frames(g);
}

void connector_reader_await_release(struct connector_process *g)
{
    if (g->reader.release == CONNECTOR_HELD)
        g->reader.release = CONNECTOR_AWAITED;
}

void connector_reader_release_awaited(struct connector_process *g)
{
    if (g->reader.release == CONNECTOR_AWAITED)
        connector_reader_resume(g);
}

bool connector_reader_read(struct connector_process *g)
{
    for (size_t all = 0; all < ROUND_BYTES && !g->sup.broke;) {
        const ssize_t n = recv(g->sup.child.socket, buf_reserve(&g->reader.in, READ_SIZE),
                               READ_SIZE, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return true;
        if (n <= 0) {
            g->reader.gone = true;
            return false;
        }
        g->reader.in.len += (size_t)n;
        all += (size_t)n;
        connector_reader_handle_frames(g);
        if ((size_t)n < READ_SIZE)
            return !g->sup.broke;
    }
    return false;
}

/* ---- end of a process ---- */

static void close_sockets(struct connector_process *g)
{
    for (uint64_t i = 1; i <= g->reader.last_socket && g->host.socket_close; i++)
        g->host.socket_close(g->host.ctx, (int64_t)(g->reader.socket_base + i));
    g->reader.socket_base += g->reader.last_socket;
    g->reader.last_socket = 0;
}

void connector_reader_count_closed_socket(struct connector_process *g)
{
    g->reader.open_sockets -= g->reader.open_sockets > 0;
}

void connector_reader_begin(struct connector_process *g)
{
    g->reader.gone = g->reader.start_seen = false;
}

void connector_reader_set_gone(struct connector_process *g)
{
    g->reader.gone = true;
}

void connector_reader_reset(struct connector_process *g)
{
    connector_reader_clear_requests(g);
    connector_calls_drop(g);
    connector_calls_end_later_hits(g);
    close_sockets(g);
    buf_fini(&g->reader.in);
    g->reader.looked = 0;
    g->reader.context_requests = g->reader.open_sockets = g->reader.routes = 0;
}
