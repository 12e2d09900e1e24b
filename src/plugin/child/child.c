/* SPDX-License-Identifier: MIT
 * The process of an instance: executes its tasks in order, and passes output to the host. */
#include "plugin/child/child_internal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/align.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "plugin/abi/loader.h"
#include "plugin/child/child_load.h"

#define READ_SIZE ((size_t)256 << 10)
/* Number of processed tasks, most of a window, after which a waiting host is notified. */
#define ROOM_EVERY 768
#define ROOM_MS 4 /* interval of notifications for fewer tasks */
#define REST_MS 60000

/* ---- the stream ---- */

/* Exits because the connection to the host is closed: the host has ended, or the plugin has closed
 * a descriptor that is not its own. */
__attribute__((__noreturn__)) static void child_exit_without_host(void)
{
    _exit(CHILD_EXIT_ALONE);
}

/* Exits because of invalid data. The host never sends any, so the plugin has overwritten memory
 * that is not its own. */
__attribute__((__noreturn__)) void child_exit_corrupted(void)
{
    _exit(CHILD_EXIT_BROKEN);
}

void child_flush(struct child *c)
{
    for (size_t at = 0; at < c->out.len;) {
        const ssize_t n = send(CHILD_SOCKET, c->out.p + at, c->out.len - at, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            child_exit_without_host();
        at += n > 0 ? (size_t)n : 0;
    }
    buf_reset(&c->out);
}

/* Waits for the host and for the descriptors that the plugin watches. */
static void child_poll(struct child *c, int wait_ms)
{
    int watched[INSTANCE_WATCHED];
    struct pollfd fds[1 + INSTANCE_WATCHED] = {{.fd = CHILD_SOCKET, .events = POLLIN}};
    const size_t n = c->instance ? instance_watched_fds(c->instance, watched) : 0;
    for (size_t i = 0; i < n; i++)
        fds[1 + i] = (struct pollfd){.fd = watched[i], .events = POLLIN};
    c->n_ready = 0;
    c->heard = poll(fds, (nfds_t)(1 + n), wait_ms) > 0 && fds[0].revents;
    for (size_t i = 0; i < n; i++)
        if (fds[1 + i].revents)
            c->ready[c->n_ready++] = watched[i];
}

/* False: no data within the time. */
bool child_receive(struct child *c, int wait_ms)
{
    struct pollfd fd = {.fd = CHILD_SOCKET, .events = POLLIN};
    if (wait_ms != 0 && poll(&fd, 1, wait_ms) <= 0)
        return false;
    buf_consume(&c->in, c->read);
    c->read = 0;
    const ssize_t n = recv(CHILD_SOCKET, buf_reserve(&c->in, READ_SIZE), READ_SIZE, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
        child_exit_without_host();
    c->in.len += n > 0 ? (size_t)n : 0;
    return n > 0;
}

int64_t child_next_frame(const struct child *c, size_t at, struct ipc_frame *f)
{
    const int64_t n = ipc_frame_decode_next((struct str){c->in.p + at, c->in.len - at}, f);
    if (n < 0)
        child_exit_corrupted();
    return n;
}

void child_send_number(struct child *c, enum frame_type type, uint64_t number)
{
    const size_t begun = ipc_frame_begin(&c->out, type);
    pack_int64(&c->out, (int64_t)number);
    ipc_frame_end(&c->out, begun);
}

void child_send_text(struct child *c, enum frame_type type, const char *text)
{
    const size_t begun = ipc_frame_begin(&c->out, type);
    pack_string(&c->out, text);
    ipc_frame_end(&c->out, begun);
}

/* ---- turns ---- */

static struct child_turn **child_find_turn(struct child *c, uint64_t number)
{
    struct child_turn **at = &c->turns[number % CHILD_BUCKETS];
    while (*at && (*at)->number != number)
        at = &(*at)->next;
    return at;
}

static void child_open_turn(struct child *c, struct unpacker *u)
{
    struct channel_turn named;
    const uint64_t number = (uint64_t)unpack_number(u);
    ipc_frame_unpack_turn(u, &named);
    struct child_turn *const t = xmalloc(sizeof *t);
    *t = (struct child_turn){NULL, number, instance_turn_new(c->instance, &named)};
    *child_find_turn(c, number) = t;
}

static void child_end_turn(struct child *c, struct child_turn **at)
{
    struct child_turn *const t = *at;
    if (!instance_turn_is_over(t->turn))
        return;
    child_send_number(c, IPC_TURN_OVER, t->number);
    *at = t->next;
    instance_turn_free(t->turn);
    free(t);
}

/* ---- tasks ---- */

/* Copies the event if it is not at an aligned position. In the ring buffer, every event is aligned.
 */
static const char *child_align_event(struct child *c, const struct unpacker *u)
{
    const size_t len = (size_t)(u->end - u->p);
    if ((uintptr_t)u->p % ALIGN_WORD == 0)
        return u->p;
    return memcpy(buf_reserve(&c->aligned, len), u->p, len);
}

static void child_handle_event(struct child *c, struct unpacker *u)
{
    struct child_turn **const at = child_find_turn(c, (uint64_t)unpack_number(u));
    const char *const flat = child_align_event(c, u);
    struct shared_event *const shared =
        shared_event_attach(&c->event, flat, (size_t)(u->end - u->p));
    if (!*at || !shared)
        child_exit_corrupted();
    instance_set_task(c->instance, c->handled + 1);
    instance_deliver_event(c->instance, (*at)->turn, shared);
    shared_event_unref(shared);
    if (c->aligned.p)
        buf_fini(&c->aligned);
    child_end_turn(c, at);
}

static void child_handle_reply(struct child *c, struct unpacker *u)
{
    const uint64_t number = (uint64_t)unpack_number(u);
    struct child_turn **const at = child_find_turn(c, number);
    struct outbound_reply *const r = ipc_frame_unpack_reply(u);
    if (!r || (number && !*at))
        child_exit_corrupted();
    instance_call_on_reply(c->instance, number ? (*at)->turn : NULL, r);
    if (number)
        child_end_turn(c, at);
}

struct child_hit_answer {
    struct child *child;
    uint64_t hit;
};

static void child_on_answered(void *arg, const struct tc_answer *answer)
{
    const struct child_hit_answer *const a = arg;
    child_send_answer(a->child, a->hit, answer);
}

static void child_handle_hit(struct child *c, struct unpacker *u)
{
    struct arena arena = {0};
    struct tc_hit hit = {0};
    struct child_hit_answer answering = {c, (uint64_t)unpack_number(u)};
    ipc_frame_unpack_hit(u, &arena, &hit);
    hit.number = answering.hit;
    instance_call_on_hit(c->instance, &hit, child_on_answered, &answering);
    arena_fini(&arena);
}

static void child_handle_socket_text(struct child *c, struct unpacker *u)
{
    struct tc_frame frame;
    ipc_frame_unpack_socket(u, &frame);
    instance_call_on_frame(c->instance, &frame);
}

static void child_ignore_frame(struct child *c, struct unpacker *u)
{
    (void)c;
    (void)u;
}

static void child_handle_stop(struct child *c, struct unpacker *u)
{
    (void)u;
    c->stopping = true;
}

static const struct {
    void (*run)(struct child *c, struct unpacker *u);
    bool counts;
} tasks[IPC_TYPES] = {
    [IPC_OPEN] = {child_open_turn, false},           [IPC_EVENT] = {child_handle_event, true},
    [IPC_REPLY] = {child_handle_reply, true},        [IPC_HIT] = {child_handle_hit, true},
    [IPC_SOCKET] = {child_handle_socket_text, true}, [IPC_PING] = {child_ignore_frame, true},
    [IPC_STOP] = {child_handle_stop, false},
};

/* Number of completed tasks: an event held by the plugin is incomplete, and so are later ones. */
static uint64_t child_count_done(const struct child *c)
{
    const uint64_t held = instance_oldest_held_task(c->instance);
    return held <= c->handled ? held - 1 : c->handled;
}

static void child_publish_done(struct child *c)
{
    const uint64_t done = child_count_done(c);
    const bool waits = done < c->handled || instance_is_paused(c->instance);
    atomic_store_explicit(&c->status->holds, waits, memory_order_relaxed);
    atomic_store_explicit(&c->status->handled, done, memory_order_release);
}

static void child_report_room(struct child *c)
{
    const uint64_t done = child_count_done(c);
    if (!c->unsaid)
        return;
    if (done > c->told)
        child_send_number(c, IPC_ROOM, done);
    c->told = done;
    c->unsaid = 0;
    c->told_ms = clock_mono_ms();
    child_flush(c);
}

/* Frees turns whose last event or request was released. */
static void child_end_released(struct child *c)
{
    if (!instance_take_released(c->instance))
        return;
    for (size_t i = 0; i < CHILD_BUCKETS; i++)
        for (struct child_turn **at = &c->turns[i], *t; (t = *at);) {
            child_end_turn(c, at);
            if (*at == t)
                at = &t->next;
        }
    c->unsaid++;
    child_publish_done(c);
}

/* False: no descriptor was ready. */
static bool child_call_ready(struct child *c)
{
    const size_t n = c->n_ready;
    c->n_ready = 0;
    for (size_t i = 0; i < n; i++)
        instance_call_on_ready(c->instance, c->ready[i]);
    child_end_released(c);
    if (n)
        child_publish_done(c);
    return n;
}

/* Passes output to the host before the task counts as processed, so that a crash in between repeats
 * nothing. */
static void child_finish_task(struct child *c)
{
    if (c->out.len)
        child_flush(c);
    c->handled++;
    child_publish_done(c);
    if (++c->unsaid >= ROOM_EVERY && atomic_load(&c->status->awaited))
        child_report_room(c);
}

static void child_handle_frame(struct child *c, struct ipc_frame *f)
{
    if (tasks[f->type].run)
        tasks[f->type].run(c, &f->in);
    if (c->held.p)
        buf_fini(&c->held);
}

/* Decodes the next frame of the socket. Skips wake-up frames, which have served their purpose, and
 * results of calls, because no call is waiting. Result as child_next_frame. */
static int64_t child_decode_socket_frame(struct child *c, struct ipc_frame *f)
{
    int64_t n;
    while ((n = child_next_frame(c, c->read, f)) > 0 &&
           (f->type == IPC_WAKE_UP || f->type == IPC_CALL_RESULT))
        c->read += (size_t)n;
    return n;
}

/* Handles a frame that is too large for the ring buffer and is sent through the socket. False: it
 * is not complete yet. */
static bool child_handle_socket_frame(struct child *c, enum frame_type *type)
{
    struct ipc_frame f;
    const int64_t n = child_decode_socket_frame(c, &f);
    c->away = n == 0;
    if (c->away)
        return false;
    c->read += (size_t)n;
    child_handle_frame(c, &f);
    *type = f.type;
    return true;
}

/* False: no complete frame. */
static bool child_handle_next_frame(struct child *c)
{
    struct ipc_frame f;
    const int64_t n = ipc_frame_decode_next(shm_ring_peek(&c->ring), &f);
    if (n < 0)
        child_exit_corrupted();
    if (n == 0)
        return false;
    shm_ring_prefetch(f.in.end);
    if (f.type != IPC_ON_SOCKET)
        child_handle_frame(c, &f);
    else if (!child_handle_socket_frame(c, &f.type))
        return false;
    shm_ring_consume(&c->ring, (size_t)n);
    if (tasks[f.type].counts)
        child_finish_task(c);
    return true;
}

/* Handles all complete frames. False: there was none. */
static bool child_handle_all_frames(struct child *c)
{
    bool any = false;
    struct ipc_frame f;
    child_decode_socket_frame(c, &f); /* drops unneeded frames */
    status_page_begin_series(c->status);
    while (!c->stopping && !instance_is_paused(c->instance) && child_handle_next_frame(c))
        any = true;
    status_page_end_series(c->status);
    return any;
}

static int child_next_wait_ms(const struct child *c)
{
    const int64_t due = instance_next_wake_ms(c->instance);
    const int64_t left = due == INT64_MAX ? REST_MS : due - clock_mono_ms();
    return left <= 0 ? 0 : left < REST_MS ? (int)left : REST_MS;
}

/* After recent work, pauses before notifying the host, so that notifications and new events are
 * combined instead of causing a wake-up each. */
static int wait_ms(const struct child *c, bool busy)
{
    const int rest = child_next_wait_ms(c);
    return busy ? 0 : c->unsaid && rest > ROOM_MS ? ROOM_MS : rest;
}

/* False: no data within the time. */
static bool child_wait_for_frames(struct child *c, int ms)
{
    /* Whether the ring buffer is empty, or was already checked. */
    if (instance_is_paused(c->instance) || c->away) {
        child_poll(c, ms);
        return (c->heard && child_receive(c, 0)) || c->n_ready;
    }
    if (ms == 0 || !shm_ring_begin_sleep(&c->ring))
        return shm_ring_peek(&c->ring).len;
    child_poll(c, ms);
    const bool came = c->heard && child_receive(c, 0);
    shm_ring_end_sleep(&c->ring);
    return came || c->n_ready || shm_ring_peek(&c->ring).len;
}

/* Checks watched descriptors between rounds of tasks, so that a program need not wait until there
 * are none. */
static void child_check_watched(struct child *c)
{
    int watched[INSTANCE_WATCHED];
    if (instance_watched_fds(c->instance, watched) == 0)
        return;
    child_poll(c, 0);
    child_call_ready(c);
}

static void child_run_tasks(struct child *c)
{
    bool busy = false;
    while (!c->stopping) {
        if (child_handle_all_frames(c)) {
            busy = true;
            child_check_watched(c);
            continue;
        }
        child_call_ready(c);
        if (instance_call_on_wake(c->instance)) {
            busy = true;
            child_flush(c);
            child_receive(c, 0); /* reads the socket even if timers fire continuously */
            continue;
        }
        /* Either this process sees that the host waits, or the host sees the updated position. */
        atomic_store(&c->status->handled, child_count_done(c));
        if (atomic_load(&c->status->awaited) || clock_mono_ms() - c->told_ms >= ROOM_MS)
            child_report_room(c);
        child_flush(c);
        if (child_wait_for_frames(c, wait_ms(c, busy)))
            continue;
        if (busy)
            instance_call_on_idle(c->instance);
        busy = false;
    }
}

/* ---- start and end ---- */

static void child_set_up(const char *name)
{
    prctl(PR_SET_NAME, name);
    /* Ignores signals sent to the whole service, because the host ends its instances. SIGPIPE and
     * SIGXFSZ become errors of the write. */
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGTTOU, SIGXFSZ};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
}

static void read_setup(struct child *c)
{
    struct ipc_frame f;
    int64_t n;
    while ((n = child_next_frame(c, 0, &f)) == 0)
        child_receive(c, -1);
    /* Keeps the texts: the next frame gets a new buffer. */
    ipc_frame_unpack_setup(&f.in, &c->arena, &c->setup);
    if (f.type != IPC_SETUP || unpack_finish(&f.in) < 0)
        child_exit_corrupted();
    const struct buf first = c->in;
    c->in = (struct buf){0};
    buf_add(&c->in, first.p + n, first.len - (size_t)n);
}

/* NULL with err. */
static struct instance *make_instance(struct child *c, struct loaded_plugin *loaded,
                                      struct tc_err *err)
{
    const struct ipc_setup *const s = &c->setup;
    const struct conf conf = {.file = (char *)(uintptr_t)s->file};
    const struct conf_instance spec = {
        .name = (char *)(uintptr_t)s->name,
        .options = (struct conf_option *)(uintptr_t)s->options,
        .line = (int)s->line,
        .chat.language = s->language,
        .chaos = (struct conf_chaos *)(uintptr_t)s->chaos,
    };
    const struct channel_callbacks host = child_make_host(c);
    struct instance *const in = instance_new(&conf, &spec, loaded, &host, c->status, err);
    if (!in)
        return NULL;
    instance_reserve_request_ids(in, s->last_request);
    for (const struct stored_text *t = s->stored; t; t = t->next)
        instance_load_stored(in, t->key, t->text);
    return in;
}

void child_main(const char *name, pid_t host)
{
    struct child c = {0};
    struct tc_err err = {0};
    child_set_up(name);
    read_setup(&c);
    log_setup(LOG_JSON, c.setup.debug ? LOG_DEBUG : LOG_INFO, STDERR_FILENO);
    c.status = status_page_map(CHILD_STATUS_PAGE, &err);
    const bool mapped =
        c.status && shm_ring_map(&c.ring, CHILD_STATUS_PAGE, STATUS_SHARED, &err) == 0;
    struct loaded_plugin *const loaded = mapped ? child_load_plugin(&c.setup, host, &err) : NULL;
    c.instance = loaded ? make_instance(&c, loaded, &err) : NULL;
    if (!c.instance || instance_init(c.instance) < 0) {
        child_send_text(&c, IPC_REFUSED, c.instance ? "" : err_format(&err));
        child_flush(&c);
        _exit(1);
    }
    child_send_text(&c, IPC_STARTED, NULL);
    child_run_tasks(&c);
    instance_teardown(c.instance);
    child_flush(&c);
    _exit(0); /* exit frees everything */
}
