/* SPDX-License-Identifier: MIT
 * Writer to a connector process: encodes tasks into the ring buffer or socket, keeps each until
 * the process has confirmed it, and re-queues unconfirmed tasks after a restart. */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/sys/clock.h"
#include "plugin/process/connector_process.h"

#define WINDOW_BYTES ((size_t)1 << 20)
#define OUT_BYTES ((size_t)256 << 10) /* that wait for its socket */
#define GATHER_US                                                                                  \
    800             /* between two wake-ups for events: one event a millisecond is not delayed     \
                     */
#define GATHER_MS 1 /* and then it is, whatever it says */
#define BOXES_AHEAD 4
#define TURNS_APART 16 /* events between two pieces of mail */

static void list_init(struct connector_task_list *l)
{
    *l = (struct connector_task_list){.end = &l->first};
}

static void list_add(struct connector_task_list *l, struct connector_task *t)
{
    t->next = NULL;
    *l->end = t;
    l->end = &t->next;
    l->count++;
}

static struct connector_task *list_take(struct connector_task_list *l)
{
    struct connector_task *const t = l->first;
    if (!t)
        return NULL;
    l->first = t->next;
    if (!l->first)
        l->end = &l->first;
    l->count--;
    return t;
}

static struct connector_task make_task(enum frame_type type, struct connector_turn *turn)
{
    if (turn)
        turn->tasks++;
    return (struct connector_task){.type = type, .turn = turn};
}

static void queue_task(struct connector_task_list *l, const struct connector_task *task)
{
    struct connector_task *const t = xmalloc(sizeof *t);
    *t = *task;
    list_add(l, t);
}

/* What it holds; its memory is the caller's. */
static void release_task(struct connector_process *g, const struct connector_task *t)
{
    struct connector_turn *const turn = t->turn;
    shared_event_unref(t->box);
    if (t->mail)
        control_msg_free(t->mail);
    if (turn && --turn->tasks == 0 && turn->over)
        connector_process_free_turn(g, turn);
}

static void connector_writer_free_list(struct connector_process *g, struct connector_task_list *l)
{
    for (struct connector_task *t; (t = list_take(l));) {
        release_task(g, t);
        free(t);
    }
}

static size_t connector_task_size(const struct connector_task *t)
{
    return t->box ? shared_event_size(t->box) : sizeof *t;
}

/* False: there was none. */
static bool window_take(struct task_window *w, struct connector_task *t)
{
    if (!w->count)
        return false;
    *t = w->tasks[w->first];
    w->first = --w->count ? (w->first + 1) % WINDOW_TASKS : 0;
    w->bytes -= connector_task_size(t);
    return true;
}

void connector_writer_init(struct connector_process *g)
{
    list_init(&g->again);
    list_init(&g->mail);
}

void traffic_fini(struct connector_process *g)
{
    while (g->n_casts)
        shared_event_unref(g->casts[--g->n_casts].box);
    for (struct connector_task t; window_take(&g->sent, &t);)
        release_task(g, &t);
    connector_writer_free_list(g, &g->again);
    connector_writer_free_list(g, &g->mail);
}

static size_t connector_turn_hash_slot(const char *id)
{
    return hash_string(HASH_START, id) % CONNECTOR_IDS;
}

struct connector_turn *connector_process_find_turn(const struct connector_process *g,
                                                   const char *id)
{
    struct connector_turn *found = NULL;
    for (struct connector_turn *t = g->ids[connector_turn_hash_slot(id)]; t; t = t->next_id)
        if (!t->closed && strcmp(t->named.id, id) == 0 && (!found || found->late))
            found = t;
    return found;
}

void connector_process_link_turn(struct connector_process *g, struct connector_turn *t)
{
    struct connector_turn **const bucket = &g->ids[connector_turn_hash_slot(t->named.id)];
    t->next_id = *bucket;
    *bucket = t;
    t->next = g->turns;
    if (g->turns)
        g->turns->prev = t;
    g->turns = t;
}

void connector_process_free_turn(struct connector_process *g, struct connector_turn *t)
{
    struct connector_turn **at = &g->ids[connector_turn_hash_slot(t->named.id)];
    while (*at != t)
        at = &(*at)->next_id;
    *at = t->next_id;
    *(t->prev ? &t->prev->next : &g->turns) = t->next;
    if (t->next)
        t->next->prev = t->prev;
    arena_fini(&t->arena);
    free(t->memory);
    free(t);
}

#define EVENT_HEAD (IPC_HEAD + sizeof(int64_t)) /* and the number of its turn */

/* What has been made goes into the ring, which there is room in (has_room); what is too big for it
 * to the socket, and the ring says so. */
static void put_frame(struct connector_process *g)
{
    struct buf *const f = &g->frame;
    if (f->len <= RING_PIECE_MAX) {
        memcpy(shm_ring_reserve(&g->ring), f->p, f->len);
        shm_ring_commit(&g->ring, f->len);
        buf_reset(f);
        return;
    }
    ipc_frame_write_header(shm_ring_reserve(&g->ring), IPC_ON_SOCKET, 0);
    shm_ring_commit(&g->ring, IPC_HEAD);
    buf_add(&g->out, f->p, f->len);
    buf_fini(f);
}

static void put_open(struct connector_process *g, struct connector_turn *t)
{
    struct channel_turn named = t->named;
    named.memory = t->memory ? t->memory : named.memory;
    named.letters = t->letters;
    named.over = t->done && !t->ends;
    const size_t begun = ipc_frame_begin(&g->frame, IPC_OPEN);
    pack_int64(&g->frame, (int64_t)t->number);
    ipc_frame_pack_turn(&g->frame, &named);
    ipc_frame_end(&g->frame, begun);
    put_frame(g);
    t->opened = true;
}

static void connector_writer_write_event(char *to, size_t size, const struct connector_task *t,
                                         struct str line)
{
    const int64_t number = (int64_t)t->turn->number;
    ipc_frame_write_header(to, IPC_EVENT, size - IPC_HEAD);
    memcpy(to + IPC_HEAD, &number, sizeof number);
    shared_event_serialize(to + EVENT_HEAD, t->box, line);
}

/* Where the instance will find it. The line is made once for all who want it. */
static void put_event(struct connector_process *g, const struct connector_task *t)
{
    struct str line = {0};
    if (loader_has_callback(g->loaded, DESCRIPTOR_ON_EVENT))
        line.p = shared_event_json_line(t->box, &line.len);
    const size_t size = EVENT_HEAD + shared_event_serialized_size(t->box, line);
    if (size <= RING_PIECE_MAX) {
        connector_writer_write_event(shm_ring_reserve(&g->ring), size, t, line);
        shm_ring_commit(&g->ring, size);
        return;
    }
    connector_writer_write_event(buf_reserve(&g->frame, size), size, t, line);
    g->frame.len = size;
    put_frame(g);
}

static void pack_what(struct buf *out, const struct connector_task *t)
{
    if (t->type == IPC_REPLY) {
        pack_int64(out, t->turn ? (int64_t)t->turn->number : 0);
        ipc_frame_pack_reply(out, t->mail->reply);
    } else if (t->type == IPC_HIT) {
        pack_int64(out, (int64_t)t->mail->hit_id);
        ipc_frame_pack_hit(out, &t->mail->hit->hit);
    } else if (t->type == IPC_SOCKET) {
        ipc_frame_pack_socket_text(out, &t->mail->frame);
    }
}

static void put_task(struct connector_process *g, const struct connector_task *t)
{
    if (t->turn && !t->turn->opened)
        put_open(g, t->turn);
    if (t->type == IPC_EVENT) {
        put_event(g, t);
        return;
    }
    const size_t begun = ipc_frame_begin(&g->frame, t->type);
    pack_what(&g->frame, t);
    ipc_frame_end(&g->frame, begun);
    put_frame(g);
}

/* ---- sending ---- */

/* The one that has been made at task_window_next_slot. */
static void send_made(struct connector_process *g)
{
    const struct connector_task *const t = task_window_next_slot(&g->sent);
    if (!g->sent.count)
        g->waits_ms = clock_mono_ms();
    if (t->turn)
        t->turn->told = true;
    put_task(g, t);
    g->sent.bytes += connector_task_size(t);
    g->sent.count++;
}

/* A task may open its turn, and behind it may be the end. */
static bool connector_writer_has_room(struct connector_process *g)
{
    return g->sent.count < WINDOW_TASKS && g->sent.bytes < WINDOW_BYTES &&
           g->out.len - g->out_at < OUT_BYTES && shm_ring_has_room(&g->ring, 3);
}

static void send_event(struct connector_process *g, const struct backlog_item *item)
{
    struct connector_turn *const turn = item->turn;
    struct connector_task *const t = task_window_next_slot(&g->sent);
    *t = make_task(IPC_EVENT, turn);
    t->box = item->box;
    send_made(g);
    turn->done = turn->done || shared_event_get(item->box)->kind == TC_DONE;
}

/* While little is under way it is encoded at once, and with it all that others are sent of it. */
static void take_cast(struct connector_process *g, struct turn_backlog *lane,
                      struct shared_event *box, int64_t now_ms)
{
    struct backlog_item item;
    if (g->stage == CONNECTOR_RUNNING && !guest_is_held(g) && !g->again.first && !g->mail.first &&
        connector_writer_has_room(g) && backlog_try_bypass(&g->backlog, lane, box, &item))
        send_event(g, &item);
    else
        backlog_push(&g->backlog, lane, box, now_ms);
}

static void gather(struct connector_process *g)
{
    if (g->flush_set || g->gathered)
        return;
    g->gathered = true;
    loop_timer_set(g->flush, GATHER_MS);
}

void connector_writer_flush_staged(struct connector_process *g)
{
    if (!g->n_casts)
        return;
    const bool idle = !g->sent.count;
    const int64_t now_ms = clock_mono_ms();
    for (size_t i = 0; i < g->n_casts; i++)
        take_cast(g, g->casts[i].lane, g->casts[i].box, now_ms);
    g->n_casts = 0;
    /* While it is at something, what comes is gathered: it says when it is done. */
    if (idle || connector_writer_is_drained(g))
        connector_writer_flush_soon(g);
    else
        gather(g);
}

void connector_writer_put_event(struct connector_process *g, struct turn_backlog *lane,
                                struct shared_event *box)
{
    g->casts[g->n_casts++] = (struct staged_event){lane, box};
    if (!g->gathers || g->n_casts == CONNECTOR_CASTS)
        connector_writer_flush_staged(g);
}

static void send_events(struct connector_process *g, size_t max)
{
    struct backlog_item item;
    const int64_t now_ms = clock_mono_ms();
    for (size_t n = 0;
         n < max && connector_writer_has_room(g) && backlog_pop(&g->backlog, &item, 1, now_ms); n++)
        send_event(g, &item);
}

static void send_from(struct connector_process *g, struct connector_task_list *l)
{
    struct connector_task *const t = list_take(l);
    if (!t)
        return;
    *task_window_next_slot(&g->sent) = *t;
    send_made(g);
    free(t);
}

/* What came of a request never waits behind a long row of events, nor they behind replies. */
static void connector_writer_choose(struct connector_process *g)
{
    if (g->stage == CONNECTOR_STOPPING)
        return;
    while (g->again.first && connector_writer_has_room(g))
        send_from(g, &g->again);
    while (connector_writer_has_room(g)) {
        const size_t before = g->sent.count;
        send_from(g, &g->mail);
        send_events(g, TURNS_APART);
        if (g->sent.count == before)
            break;
    }
}

void connector_writer_stop(struct connector_process *g)
{
    if (g->stage == CONNECTOR_STOPPING)
        return;
    ipc_frame_end(&g->frame, ipc_frame_begin(&g->frame, IPC_STOP));
    put_frame(g);
    connector_supervisor_move(g, CONNECTOR_ON_STOP);
    g->waits_ms = clock_mono_ms();
    connector_writer_flush_soon(g);
}

void connector_writer_write(struct connector_process *g)
{
    if (shm_ring_publish(&g->ring))
        ipc_frame_end(&g->out, ipc_frame_begin(&g->out, IPC_WAKE_UP));
    while (g->out_at < g->out.len) {
        const ssize_t n =
            send(g->spawn.socket, g->out.p + g->out_at, g->out.len - g->out_at, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break; /* later; when it is gone, that is read */
        g->out_at += (size_t)n;
    }
    /* What is gone may be more than what is left: one that never catches up would gather it. */
    if (g->out_at > g->out.len / 2) {
        buf_consume(&g->out, g->out_at);
        g->out_at = 0;
    }
    const bool reads = !guest_is_held(g) || g->in.len < HELD_MAX;
    loop_fd_set(g->socket, (reads ? LOOP_READ : 0u) | (g->out.len ? LOOP_WRITE : 0u));
}

static void set_pace(struct connector_process *g)
{
    const int64_t due = backlog_next_due_ms(&g->backlog);
    if (due == INT64_MAX || g->flush_set)
        return;
    const int64_t left = due - clock_mono_ms();
    loop_timer_set(g->flush, left > 0 ? left : 0);
}

/* One of both sees what the other one has written: it that there is more, or we that it is done. */
bool connector_writer_is_drained(const struct connector_process *g)
{
    if (!g->gauge || g->flush_set)
        return false;
    if (!atomic_load(&g->gauge->awaited)) {
        if (clock_mono_us() - g->flushed_us < GATHER_US)
            return false;
        atomic_store(&g->gauge->awaited, true);
    }
    return atomic_load(&g->gauge->handled) >= g->out_until;
}

void connector_writer_flush(struct connector_process *g)
{
    g->flush_set = g->gathered = false;
    if (g->gauge)
        atomic_store(&g->gauge->awaited, false);
    if (g->stage == CONNECTOR_STARTING || (guest_is_held(g) && guest_has_process(g)))
        connector_writer_write(g);
    if (guest_is_held(g) || (g->stage != CONNECTOR_RUNNING && g->stage != CONNECTOR_STOPPING))
        return;
    do {
        connector_writer_choose(g);
        if (g->closing && connector_writer_is_idle(g))
            connector_writer_stop(g);
        connector_writer_write(g);
    } while (!g->out.len && g->stage == CONNECTOR_RUNNING && connector_writer_has_room(g) &&
             (g->again.first || g->mail.first || g->backlog.n_ready));
    /* What is left is to follow at once. */
    if (g->gauge && (g->again.first || g->mail.first || g->backlog.n_ready))
        atomic_store(&g->gauge->awaited, true);
    g->out_until = g->handled + g->sent.count;
    g->flushed_us = clock_mono_us();
    set_pace(g);
}

void connector_writer_flush_soon(struct connector_process *g)
{
    if (g->flush_set)
        return;
    g->flush_set = true;
    loop_timer_set(g->flush, 0);
}

void connector_writer_put_control(struct connector_process *g, enum frame_type type,
                                  struct connector_turn *turn, struct control_msg *m)
{
    struct connector_task t = make_task(type, turn);
    t.mail = m;
    queue_task(&g->mail, &t);
    connector_writer_flush_soon(g);
}

void connector_writer_ping(struct connector_process *g)
{
    const struct connector_task t = make_task(IPC_PING, NULL);
    queue_task(&g->mail, &t);
    connector_writer_flush_soon(g);
}

bool connector_writer_is_idle(const struct connector_process *g)
{
    return !g->again.first && !g->mail.first && !g->sent.count && !g->backlog.stats.events;
}

/* ---- what is done ---- */

static void connector_writer_finish_task(struct connector_process *g,
                                         const struct connector_task *t)
{
    if (t->type == IPC_HIT)
        connector_reader_finish_hit(g, t->mail->hit_id, NULL);
    release_task(g, t);
}

/* The count of its references, long out of the first cache, is changed soon. */
static void expect_box(const struct connector_task *t)
{
    if (t && t->box)
        __builtin_prefetch((const char *)t->box + sizeof(struct event), 1);
}

void connector_writer_confirm(struct connector_process *g, uint64_t handled)
{
    if (handled <= g->handled)
        return;
    for (struct connector_task t; g->handled < handled && window_take(&g->sent, &t);) {
        g->handled++;
        expect_box(task_window_at(&g->sent, BOXES_AHEAD));
        connector_writer_finish_task(g, &t);
    }
    if (g->handled < handled)
        connector_supervisor_fail(g, "a count of more than there was to do");
    g->waits_ms = clock_mono_ms();
}

struct connector_task *connector_writer_oldest_task(struct connector_process *g)
{
    return task_window_at(&g->sent, 0);
}

void connector_writer_drop_oldest(struct connector_process *g)
{
    struct connector_task t;
    if (window_take(&g->sent, &t))
        connector_writer_finish_task(g, &t);
}

/* ---- another life ---- */

/* What belongs to a life ends with it: its sockets' frames; who asked over HTTP asks again. */
static bool can_be_done_again(const struct connector_task *t)
{
    return (t->type == IPC_EVENT || t->type == IPC_REPLY) && !t->settled &&
           !(t->turn && t->turn->closed);
}

static enum tc_kind connector_writer_kind_of(const struct connector_task *t)
{
    return t->box ? shared_event_get(t->box)->kind : TC_RAW;
}

static void do_again(struct connector_process *g, const struct connector_task *t)
{
    if (!can_be_done_again(t)) {
        connector_writer_finish_task(g, t);
        return;
    }
    if (t->turn) {
        t->turn->starts = t->turn->starts || connector_writer_kind_of(t) == TC_START;
        t->turn->ends = t->turn->ends || connector_writer_kind_of(t) == TC_DONE;
    }
    queue_task(&g->again, t);
}

static void do_list_again(struct connector_process *g, struct connector_task_list *from)
{
    for (struct connector_task *t; (t = list_take(from));) {
        do_again(g, t);
        free(t);
    }
}

static void add_resumed(struct connector_task_list *to, struct connector_turn *turn)
{
    struct event start;
    event_init_resumed(&start, turn->named.id, clock_wall_s());
    struct connector_task t = make_task(IPC_EVENT, turn);
    t.box = shared_event_new(&start);
    queue_task(to, &t);
}

/* Every turn it knew of is told again, before what is left of it. */
static void resume_turns(struct connector_process *g, struct connector_task_list *starts)
{
    for (struct connector_turn *t = g->turns; t; t = t->next) {
        t->opened = false;
        if (t->told && !t->lost && !t->starts && (!t->done || t->ends))
            add_resumed(starts, t);
    }
}

/* Of one whose last batch has arrived nothing is left to do. */
static void end_closed(struct connector_process *g)
{
    for (struct connector_turn *t = g->turns, *next; t; t = next) {
        next = t->next;
        t->over = t->over || t->closed;
        if (t->over && !t->tasks)
            connector_process_free_turn(g, t);
    }
}

static void connector_writer_append(struct connector_task_list *to,
                                    struct connector_task_list *from)
{
    for (struct connector_task *t; (t = list_take(from));)
        list_add(to, t);
}

void connector_writer_requeue(struct connector_process *g)
{
    struct connector_task_list left, mail, starts;
    list_init(&left);
    list_init(&mail);
    list_init(&starts);
    end_closed(g);
    connector_writer_append(&left, &g->again);
    connector_writer_append(&mail, &g->mail);
    for (struct connector_turn *t = g->turns; t; t = t->next)
        t->starts = t->ends = false;
    for (struct connector_task t; window_take(&g->sent, &t);)
        do_again(g, &t);
    do_list_again(g, &left);
    do_list_again(g, &mail);
    connector_writer_append(&left, &g->again);
    resume_turns(g, &starts);
    connector_writer_append(&g->again, &starts);
    connector_writer_append(&g->again, &left);
    g->handled = g->out_until = 0;
    buf_fini(&g->out);
    g->out_at = 0;
}
