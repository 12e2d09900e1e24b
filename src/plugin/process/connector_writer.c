/* SPDX-License-Identifier: MIT
 * Writer to a connector process: encodes tasks into the ring buffer or socket, keeps each until
 * the process has confirmed it. */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/invariant.h"
#include "base/sys/clock.h"
#include "plugin/process/connector_process.h"

#define WINDOW_BYTES ((size_t)1 << 20)
#define OUT_BYTES ((size_t)256 << 10) /* limit of bytes that wait for its socket */
/* Interval of wake-ups for events: one event per millisecond is not delayed. */
#define GATHER_US 800
/* After this time the process is woken, even if it announced a longer sleep. */
#define GATHER_MS 1
#define EVENTS_AHEAD 4
#define TURNS_APART 16 /* events between two control messages */

/* Size of its tasks; the caller owns the memory. */
static void connector_writer_release_task(struct connector_process *g,
                                          const struct connector_task *t)
{
    struct connector_turn *const turn = t->turn;
    shared_event_unref(t->shared);
    if (t->control)
        control_msg_free(t->control);
    if (!turn)
        return;
    ASSERT(turn->tasks > 0);
    if (--turn->tasks == 0 && turn->over)
        connector_turns_free(g, turn);
}

static void connector_writer_free_list(struct connector_process *g, struct connector_task_list *l)
{
    for (struct connector_task *t; (t = connector_task_list_take(l));) {
        connector_writer_release_task(g, t);
        free(t);
    }
}

static void connector_writer_on_timer(void *arg)
{
    struct connector_process *const g = arg;
    connector_reader_release_awaited(g);
    if (g->sup.broke && connector_has_process(g))
        connector_supervisor_handle_exit(g);
    else
        connector_writer_flush(g);
}

void connector_writer_init(struct connector_process *g, const struct backlog_limits *limits)
{
    backlog_init(&g->writer.backlog, limits);
    g->writer.timer = loop_timer_new(g->host.loop, connector_writer_on_timer, g);
    connector_task_list_init(&g->writer.again);
    connector_task_list_init(&g->writer.control);
}

void connector_writer_fini(struct connector_process *g)
{
    while (g->writer.n_staged)
        shared_event_unref(g->writer.staged[--g->writer.n_staged].shared);
    for (struct connector_task t; task_window_take(&g->writer.sent, &t);)
        connector_writer_release_task(g, &t);
    connector_writer_free_list(g, &g->writer.again);
    connector_writer_free_list(g, &g->writer.control);
}

void connector_writer_free_memory(struct connector_process *g)
{
    backlog_fini(&g->writer.backlog);
    loop_timer_free(g->writer.timer);
    buf_fini(&g->writer.out);
    buf_fini(&g->writer.frame);
}

int connector_writer_attach(struct connector_process *g, int fd, struct tc_err *err)
{
    return shm_ring_map(&g->writer.ring, fd, STATUS_SHARED, err);
}

void connector_writer_detach(struct connector_process *g)
{
    shm_ring_unmap(&g->writer.ring);
    loop_timer_set(g->writer.timer, -1);
    g->writer.flush_due = g->writer.gather_due = false;
}

void connector_writer_set_batching(struct connector_process *g, bool on)
{
    g->writer.batching = on;
    if (!on)
        connector_writer_flush_staged(g);
}

void connector_writer_send_setup(struct connector_process *g)
{
    struct ipc_setup setup = g->conf.setup;
    setup.last_request = g->reader.last_request;
    setup.stored = g->stored.first;
    setup.dir_full = connector_limits_is_full(g->conf.limits);
    const size_t begun = ipc_frame_begin(&g->writer.out, IPC_SETUP);
    ipc_frame_pack_setup(&g->writer.out, &setup);
    ipc_frame_end(&g->writer.out, begun);
    connector_writer_write(g);
}

#define EVENT_HEAD (IPC_HEAD + sizeof(int64_t)) /* and the number of its turn */

/* The encoded frame goes to the ring buffer, which has room (has_room); one that is too large goes
 * to the socket, and the ring buffer gets a marker. */
static void connector_writer_put_frame(struct connector_process *g)
{
    struct buf *const f = &g->writer.frame;
    if (f->len <= RING_PIECE_MAX) {
        memcpy(shm_ring_reserve(&g->writer.ring), f->p, f->len);
        shm_ring_commit(&g->writer.ring, f->len);
        buf_reset(f);
        return;
    }
    ipc_frame_write_header(shm_ring_reserve(&g->writer.ring), IPC_ON_SOCKET, 0);
    shm_ring_commit(&g->writer.ring, IPC_HEAD);
    buf_add(&g->writer.out, f->p, f->len);
    buf_fini(f);
}

static void connector_writer_put_open(struct connector_process *g, struct connector_turn *t)
{
    struct channel_turn named = t->named;
    named.memory = t->memory ? t->memory : named.memory;
    named.requests = t->requests;
    named.over = t->done && !t->ends;
    const size_t begun = ipc_frame_begin(&g->writer.frame, IPC_OPEN);
    pack_int64(&g->writer.frame, (int64_t)t->number);
    ipc_frame_pack_turn(&g->writer.frame, &named);
    ipc_frame_end(&g->writer.frame, begun);
    connector_writer_put_frame(g);
    t->opened = true;
}

static void connector_writer_write_event(char *to, size_t size, const struct connector_task *t,
                                         struct str line)
{
    const int64_t number = (int64_t)t->turn->number;
    ipc_frame_write_header(to, IPC_EVENT, size - IPC_HEAD);
    memcpy(to + IPC_HEAD, &number, sizeof number);
    shared_event_serialize(to + EVENT_HEAD, t->shared, line);
}

/* Encodes the event into the ring buffer. The canonical line is encoded once for all receivers. */
static void connector_writer_encode_event(struct connector_process *g,
                                          const struct connector_task *t)
{
    struct str line = {0};
    if (loader_has_callback(g->conf.plugin, DESCRIPTOR_ON_EVENT))
        line.p = shared_event_json_line(t->shared, &line.len);
    const size_t size = EVENT_HEAD + shared_event_serialized_size(t->shared, line);
    if (size <= RING_PIECE_MAX) {
        connector_writer_write_event(shm_ring_reserve(&g->writer.ring), size, t, line);
        shm_ring_commit(&g->writer.ring, size);
        return;
    }
    connector_writer_write_event(buf_reserve(&g->writer.frame, size), size, t, line);
    g->writer.frame.len = size;
    connector_writer_put_frame(g);
}

static void connector_writer_pack_payload(struct buf *out, const struct connector_task *t)
{
    if (t->type == IPC_REPLY) {
        pack_int64(out, t->turn ? (int64_t)t->turn->number : 0);
        ipc_frame_pack_reply(out, t->control->reply);
    } else if (t->type == IPC_HIT) {
        pack_int64(out, (int64_t)t->control->hit_id);
        ipc_frame_pack_hit(out, &t->control->hit->hit);
    } else if (t->type == IPC_SOCKET) {
        ipc_frame_pack_socket_text(out, &t->control->frame);
    }
}

static void connector_writer_put_task(struct connector_process *g, const struct connector_task *t)
{
    if (t->turn && !t->turn->opened)
        connector_writer_put_open(g, t->turn);
    if (t->type == IPC_EVENT) {
        connector_writer_encode_event(g, t);
        return;
    }
    const size_t begun = ipc_frame_begin(&g->writer.frame, t->type);
    connector_writer_pack_payload(&g->writer.frame, t);
    ipc_frame_end(&g->writer.frame, begun);
    connector_writer_put_frame(g);
}

/* ---- sending ---- */

/* Sends the task that was prepared in task_window_next_slot. */
static void connector_writer_send_prepared(struct connector_process *g)
{
    const struct connector_task *const t = task_window_next_slot(&g->writer.sent);
    if (!g->writer.sent.count)
        connector_supervisor_record_progress(g);
    if (t->turn)
        t->turn->told = true;
    connector_writer_put_task(g, t);
    task_window_commit(&g->writer.sent);
}

/* A task may open its turn, and be followed by its end. */
static bool connector_writer_has_room(struct connector_process *g)
{
    return g->writer.sent.count < WINDOW_TASKS && g->writer.sent.bytes < WINDOW_BYTES &&
           g->writer.out.len - g->writer.out_at < OUT_BYTES &&
           shm_ring_has_room(&g->writer.ring, 3);
}

static void send_event(struct connector_process *g, const struct backlog_item *item)
{
    struct connector_turn *const turn = item->turn;
    struct connector_task *const t = task_window_next_slot(&g->writer.sent);
    *t = connector_task_make(IPC_EVENT, turn);
    t->shared = item->shared;
    connector_writer_send_prepared(g);
    turn->done = turn->done || shared_event_get(item->shared)->kind == TC_DONE;
}

/* With few pending tasks, an event is encoded at once, and the shared line for all others with
 * it. */
static void connector_writer_add_event(struct connector_process *g,
                                       struct turn_backlog *turn_backlog,
                                       struct shared_event *shared, int64_t now_ms)
{
    struct backlog_item item;
    if (g->sup.state == CONNECTOR_RUNNING && !connector_is_held(g) && !g->writer.again.first &&
        !g->writer.control.first && connector_writer_has_room(g) &&
        backlog_try_bypass(&g->writer.backlog, turn_backlog, shared, &item))
        send_event(g, &item);
    else
        backlog_push(&g->writer.backlog, turn_backlog, shared, now_ms);
}

static void connector_writer_delay_flush(struct connector_process *g)
{
    if (g->writer.flush_due || g->writer.gather_due)
        return;
    g->writer.gather_due = true;
    loop_timer_set(g->writer.timer, GATHER_MS);
}

void connector_writer_flush_staged(struct connector_process *g)
{
    if (!g->writer.n_staged)
        return;
    const bool idle = !g->writer.sent.count;
    const int64_t now_ms = clock_mono_ms();
    for (size_t i = 0; i < g->writer.n_staged; i++)
        connector_writer_add_event(g, g->writer.staged[i].turn_backlog, g->writer.staged[i].shared,
                                   now_ms);
    g->writer.n_staged = 0;
    /* While the process is busy, events are collected until it reports progress. */
    if (idle || connector_writer_is_drained(g))
        connector_writer_flush_soon(g);
    else
        connector_writer_delay_flush(g);
}

void connector_writer_put_event(struct connector_process *g, struct turn_backlog *turn_backlog,
                                struct shared_event *shared)
{
    ASSERT(g->writer.n_staged < CONNECTOR_STAGED);
    g->writer.staged[g->writer.n_staged++] = (struct staged_event){turn_backlog, shared};
    if (!g->writer.batching || g->writer.n_staged == CONNECTOR_STAGED)
        connector_writer_flush_staged(g);
}

static void send_events(struct connector_process *g, size_t max)
{
    struct backlog_item item;
    const int64_t now_ms = clock_mono_ms();
    for (size_t n = 0; n < max && connector_writer_has_room(g) &&
                       backlog_pop(&g->writer.backlog, &item, 1, now_ms);
         n++)
        send_event(g, &item);
}

static void connector_writer_send_first(struct connector_process *g, struct connector_task_list *l)
{
    struct connector_task *const t = connector_task_list_take(l);
    if (!t)
        return;
    *task_window_next_slot(&g->writer.sent) = *t;
    connector_writer_send_prepared(g);
    free(t);
}

/* Results of requests and events alternate, so that neither waits for a long row of the other. */
static void connector_writer_send_queued(struct connector_process *g)
{
    if (g->sup.state == CONNECTOR_STOPPING)
        return;
    while (g->writer.again.first && connector_writer_has_room(g))
        connector_writer_send_first(g, &g->writer.again);
    while (connector_writer_has_room(g)) {
        const size_t before = g->writer.sent.count;
        connector_writer_send_first(g, &g->writer.control);
        send_events(g, TURNS_APART);
        if (g->writer.sent.count == before)
            break;
    }
}

void connector_writer_stop(struct connector_process *g)
{
    if (g->sup.state == CONNECTOR_STOPPING)
        return;
    ipc_frame_end(&g->writer.frame, ipc_frame_begin(&g->writer.frame, IPC_STOP));
    connector_writer_put_frame(g);
    connector_supervisor_move(g, CONNECTOR_ON_STOP);
    connector_supervisor_record_progress(g);
    connector_writer_flush_soon(g);
}

void connector_writer_write(struct connector_process *g)
{
    if (shm_ring_publish(&g->writer.ring))
        ipc_frame_end(&g->writer.out, ipc_frame_begin(&g->writer.out, IPC_WAKE_UP));
    while (g->writer.out_at < g->writer.out.len) {
        const ssize_t n = send(g->sup.child.socket, g->writer.out.p + g->writer.out_at,
                               g->writer.out.len - g->writer.out_at, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break; /* later; a dead process is detected when reading */
        g->writer.out_at += (size_t)n;
    }
    /* Compacts when more was sent than remains; otherwise a slow process would let the buffer
     * grow. */
    if (g->writer.out_at > g->writer.out.len / 2) {
        buf_consume(&g->writer.out, g->writer.out_at);
        g->writer.out_at = 0;
    }
    const bool reads = !connector_is_held(g) || g->reader.in.len < HELD_MAX;
    loop_fd_set(g->sup.socket, (reads ? LOOP_READ : 0u) | (g->writer.out.len ? LOOP_WRITE : 0u));
}

static void connector_writer_schedule_paced(struct connector_process *g)
{
    const int64_t due = backlog_next_due_ms(&g->writer.backlog);
    if (due == INT64_MAX || g->writer.flush_due)
        return;
    const int64_t left = due - clock_mono_ms();
    loop_timer_set(g->writer.timer, left > 0 ? left : 0);
}

/* Either the process sees the new frames, or the host sees that the process is done. */
bool connector_writer_is_drained(const struct connector_process *g)
{
    if (!g->sup.status || g->writer.flush_due)
        return false;
    if (!atomic_load(&g->sup.status->awaited)) {
        if (clock_mono_us() - g->writer.flushed_us < GATHER_US)
            return false;
        atomic_store(&g->sup.status->awaited, true);
    }
    return atomic_load(&g->sup.status->handled) >= g->writer.sent_until;
}

void connector_writer_flush(struct connector_process *g)
{
    g->writer.flush_due = g->writer.gather_due = false;
    if (g->sup.status)
        atomic_store(&g->sup.status->awaited, false);
    if (g->sup.state == CONNECTOR_STARTING || (connector_is_held(g) && connector_has_process(g)))
        connector_writer_write(g);
    if (connector_is_held(g) ||
        (g->sup.state != CONNECTOR_RUNNING && g->sup.state != CONNECTOR_STOPPING))
        return;
    do {
        connector_writer_send_queued(g);
        if (g->closing && connector_writer_is_idle(g))
            connector_writer_stop(g);
        connector_writer_write(g);
    } while (!g->writer.out.len && g->sup.state == CONNECTOR_RUNNING &&
             connector_writer_has_room(g) &&
             (g->writer.again.first || g->writer.control.first || g->writer.backlog.n_ready));
    /* The remaining tasks follow at once. */
    if (g->sup.status &&
        (g->writer.again.first || g->writer.control.first || g->writer.backlog.n_ready))
        atomic_store(&g->sup.status->awaited, true);
    g->writer.sent_until = g->writer.handled + g->writer.sent.count;
    g->writer.flushed_us = clock_mono_us();
    connector_writer_schedule_paced(g);
}

void connector_writer_flush_soon(struct connector_process *g)
{
    if (g->writer.flush_due)
        return;
    g->writer.flush_due = true;
    loop_timer_set(g->writer.timer, 0);
}

void connector_writer_put_control(struct connector_process *g, enum frame_type type,
                                  struct connector_turn *turn, struct control_msg *m)
{
    struct connector_task t = connector_task_make(type, turn);
    t.control = m;
    connector_task_list_queue(&g->writer.control, &t);
    connector_writer_flush_soon(g);
}

void connector_writer_ping(struct connector_process *g)
{
    const struct connector_task t = connector_task_make(IPC_PING, NULL);
    connector_task_list_queue(&g->writer.control, &t);
    connector_writer_flush_soon(g);
}

bool connector_writer_is_idle(const struct connector_process *g)
{
    return !g->writer.again.first && !g->writer.control.first && !g->writer.sent.count &&
           !g->writer.backlog.stats.events;
}

/* ---- progress ---- */

void connector_writer_finish_task(struct connector_process *g, const struct connector_task *t)
{
    if (t->type == IPC_HIT)
        connector_calls_finish_task(g, t->control->hit_id);
    connector_writer_release_task(g, t);
}

/* Prefetches the reference count, which is no longer in the first-level cache. */
static void prefetch_event(const struct connector_task *t)
{
    if (t && t->shared)
        __builtin_prefetch((const char *)t->shared + sizeof(struct event), 1);
}

void connector_writer_confirm(struct connector_process *g, uint64_t handled)
{
    if (handled <= g->writer.handled)
        return;
    for (struct connector_task t;
         g->writer.handled < handled && task_window_take(&g->writer.sent, &t);) {
        g->writer.handled++;
        prefetch_event(task_window_at(&g->writer.sent, EVENTS_AHEAD));
        connector_writer_finish_task(g, &t);
    }
    if (g->writer.handled < handled)
        connector_supervisor_fail(g, "count exceeds the delivered events");
    connector_supervisor_record_progress(g);
}

struct connector_task *connector_writer_oldest_task(struct connector_process *g)
{
    return task_window_at(&g->writer.sent, 0);
}

void connector_writer_drop_oldest(struct connector_process *g)
{
    struct connector_task t;
    if (task_window_take(&g->writer.sent, &t))
        connector_writer_finish_task(g, &t);
}

void connector_writer_reset(struct connector_process *g)
{
    ASSERT(!g->writer.sent.count && !g->writer.sent.bytes);
    g->writer.handled = g->writer.sent_until = 0;
    buf_fini(&g->writer.out);
    g->writer.out_at = 0;
}
