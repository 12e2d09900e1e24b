/* SPDX-License-Identifier: MIT
 * Fuzz target: any bytes as what crosses between the host and the process of an instance. Even
 * first byte: what the host reads, to the end of the channel; odd: what the process reads, by its
 * readers, and what they take packs to the same bytes.
 *
 * There is no process: these spawn_* stand in front of those of the library. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/sys/log.h"
#include "event/event.h"
#include "plugin/channel.h"
#include "plugin/events.h"
#include "plugin/ipc/ipc_frame.h"
#include "plugin/process/spawn/connector_spawn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
    if (!good)
        abort();
}

/* ---- a process that is none */

static int far_end = -1;
static struct status_page *page;

int connector_spawn_start(struct connector_child *s, const char *name, int gauge_fd, int plugin_fd,
                          bool prints, struct tc_err *err)
{
    int sockets[2], ends[2];
    (void)name;
    (void)plugin_fd;
    (void)prints;
    page = status_page_map(gauge_fd, err);
    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets) == 0 &&
         pipe2(ends, O_NONBLOCK) == 0);
    close(ends[1]);
    *s = (struct connector_child){.pid = 1, .socket = sockets[0], .output = ends[0], .printed = -1};
    far_end = sockets[1];
    return 0;
}

void connector_spawn_kill(struct connector_child *s)
{
    close(s->socket);
    close(s->output);
}

bool connector_spawn_reap(struct connector_child *s, struct connector_exit_info *end)
{
    (void)s;
    *end = (struct connector_exit_info){0};
    return true;
}

bool connector_spawn_has_exited(const struct connector_child *s)
{
    (void)s;
    return false;
}

int64_t connector_spawn_rss_bytes(const struct connector_child *s)
{
    (void)s;
    return 0;
}

int64_t connector_spawn_peak_bytes(const struct connector_child *s)
{
    (void)s;
    return 0;
}

/* ---- the host, which believes that all it is told has been checked */

static struct host_call *asked;
static uint64_t last_request;

static bool is_known(const char *turn)
{
    return !*turn || strcmp(turn, "t1") == 0 || strcmp(turn, "t2") == 0;
}

static void on_batch(void *ctx, struct callback_batch *b)
{
    (void)ctx;
    must(is_known(b->turn));
    must(!b->over || strcmp(b->turn, "t2") == 0);
    for (size_t i = 0; i < b->count; i++) {
        must(b->requests[i]->id % 2 == 1 && b->requests[i]->id > last_request);
        must(is_known(b->requests[i]->turn));
        last_request = b->requests[i]->id;
    }
    callback_batch_free(b);
}

static void on_ask(void *ctx, struct host_call *a)
{
    (void)ctx;
    must(!asked);
    asked = a;
}

static void on_route(void *ctx, const char *path)
{
    (void)ctx;
    must(path[0] == '/' && !strchr(path, '.'));
}

static void on_open(void *ctx, int64_t socket, const struct tc_socket *s)
{
    (void)ctx;
    must(socket > 0 && strncmp(s->url, "ws", 2) == 0);
}

static void on_send(void *ctx, int64_t socket, struct str text, bool is_binary)
{
    (void)ctx;
    (void)is_binary;
    must(socket > 0 && strlen(text.p) <= text.len);
}

static void on_close(void *ctx, int64_t socket)
{
    (void)ctx;
    must(socket > 0);
}

static void on_answered(void *arg, const struct tc_answer *answer)
{
    (void)arg;
    must(!answer || (answer->status >= 200 && answer->status < 600));
}

static void tell(const void *p, size_t len)
{
    (void)!send(far_end, p, len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void tell_started(void)
{
    CLEANUP_BUF struct buf out = {0};
    const size_t begun = ipc_frame_begin(&out, IPC_STARTED);
    pack_string(&out, NULL);
    ipc_frame_end(&out, begun);
    tell(out.p, out.len);
}

static void cast(struct channel *c, void *turn, enum tc_kind kind)
{
    c->ops->send(c, turn, box_of(kind, 1));
}

/* One turn that runs, one that has ended with a reply to come, a hit. */
static void give_work(struct channel *c)
{
    const char *why;
    void *const t1 = c->ops->open(c, &(struct channel_turn){.id = "t1", .agent = "a"});
    void *const t2 =
        c->ops->open(c, &(struct channel_turn){.id = "t2", .agent = "a", .requests = 1});
    cast(c, t1, TC_START);
    cast(c, t2, TC_FINAL);
    cast(c, t2, TC_DONE);
    struct outbound_reply *const r = xcalloc(1, sizeof *r);
    r->about = outbound_request_new(8, "t2", TC_HTTP(.url = "https://a/"), &why);
    r->request = 8;
    r->last = true;
    r->reply = (struct tc_reply){.tag = "", .body = "", .error = "", .http = &r->about->http};
    c->ops->reply(c, t2, r);
    struct channel_hit *const h = xcalloc(1, sizeof *h);
    h->hit = (struct tc_hit){.method = "GET", .path = "/", .query = "", .body = ""};
    h->answered = on_answered;
    c->ops->hit(c, h);
}

static struct loaded_plugin *make_loaded(void)
{
    struct loaded_plugin *const l = xcalloc(1, sizeof *l);
    l->path = xstrdup("/p.so");
    l->plugin = (struct tc_plugin){.name = "p", .version = "1", .flags = TC_DELIVERS};
    return l;
}

static void fuzz_host(struct loop *loop, const char *p, size_t n)
{
    static struct conf_option none[1];
    const struct conf conf = {.file = (char[]){"f"}};
    const struct conf_instance spec = {
        .name = (char[]){"one"}, .queue_events = 100, .queue_bytes = 1 << 20, .options = none};
    const struct channel_callbacks host = {.loop = loop,
                                           .batch = on_batch,
                                           .ask = on_ask,
                                           .has_server = true,
                                           .route = on_route,
                                           .socket_open = on_open,
                                           .socket_send = on_send,
                                           .socket_close = on_close};
    struct tc_err err = {0};
    char drained[65536];
    last_request = 0;
    struct channel *const c = channel_process_new(&conf, &spec, make_loaded(), &host, NULL, &err);
    must(c != NULL);
    c->ops->launch(c);
    tell_started();
    must(c->ops->wait_started(c, &err) == 0);
    give_work(c);
    loop_run_once(loop, 0);
    while (recv(far_end, drained, sizeof drained, 0) > 0)
        ;
    if (n && p[0] & 1 && n > sizeof *page) {
        memcpy(page, p + 1, sizeof *page);
        p += sizeof *page;
        n -= sizeof *page;
    }
    const size_t half = n && p[0] & 2 ? n / 2 : n;
    tell(p, half);
    loop_run_once(loop, 0);
    tell(p + half, n - half);
    loop_run_once(loop, 0);
    loop_run_once(loop, 0);
    if (asked)
        host_call_complete(asked, TC_ACCEPTED, "t3", NULL);
    asked = NULL;
    if (n && p[n - 1] & 1)
        close(far_end);
    loop_run_once(loop, 0);
    c->ops->join(c, 0);
    if (!(n && p[n - 1] & 1))
        close(far_end);
    if (asked)
        host_call_complete(asked, TC_ACCEPTED, "t3", NULL);
    asked = NULL;
    status_page_unmap(page);
}

/* ---- what the process reads */

static void same(const struct buf *again, const char *p, size_t n)
{
    must(again->len == n && memcmp(again->p, p, n) == 0);
}

static void fuzz_readers(const char *p, size_t n)
{
    CLEANUP_BUF struct buf again = {0};
    struct arena arena = {0};
    struct unpacker u;
    CLEANUP_BUF struct buf place = {0};
    struct shared_event *box;
    struct ipc_setup setup;
    struct channel_turn turn;
    struct outbound_reply *reply;
    struct tc_hit hit = {0};
    struct tc_frame frame;
    struct ipc_call_result asked_;
    if (!n)
        return;
    unpack_init(&u, (struct str){p + 1, n - 1});
    switch ((unsigned char)p[0] % 6) {
    case 0:
        buf_add(&again, u.p, n - 1); /* aligned */
        box = shared_event_attach(&place, again.p, n - 1);
        if (box) {
            shared_event_unref(shared_event_new(shared_event_get(box)));
            shared_event_json_line(box, NULL);
        }
        shared_event_unref(box);
        again.len = 0;
        break;
    case 1:
        ipc_frame_unpack_setup(&u, &arena, &setup);
        if (unpack_finish(&u) == 0)
            ipc_frame_pack_setup(&again, &setup);
        break;
    case 2:
        ipc_frame_unpack_turn(&u, &turn);
        if (unpack_finish(&u) == 0)
            ipc_frame_pack_turn(&again, &turn);
        break;
    case 3:
        reply = ipc_frame_unpack_reply(&u);
        if (reply && unpack_finish(&u) == 0)
            ipc_frame_pack_reply(&again, reply);
        again.len = 0; /* a letter may say the same in several ways */
        outbound_reply_free(reply);
        break;
    case 4:
        ipc_frame_unpack_hit(&u, &arena, &hit);
        if (unpack_finish(&u) == 0)
            ipc_frame_pack_hit(&again, &hit);
        if (hit.body_len == 0)
            again.len = 0; /* no body is an empty one */
        break;
    case 5:
        ipc_frame_unpack_socket(&u, &frame);
        if (frame.len == 0)
            u.bad = true; /* the same */
        if (unpack_finish(&u) == 0) {
            ipc_frame_pack_socket_text(&again, &frame);
            break;
        }
        unpack_init(&u, (struct str){p + 1, n - 1});
        ipc_frame_unpack_call_result(&u, &asked_);
        if (unpack_finish(&u) == 0)
            ipc_frame_pack_call_result(&again, &asked_);
        break;
    }
    if (again.len)
        same(&again, p + 1, n - 1);
    arena_fini(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct loop *loop;
    if (!loop) {
        loop = loop_new();
        log_setup(LOG_TEXT, LOG_ERR, open("/dev/null", O_WRONLY | O_CLOEXEC));
    }
    if (!size)
        return 0;
    /* Behind bytes of their own size, so that what is read beyond them is found. */
    char *const copy = memcpy(xmalloc(size), data, size);
    if (copy[0] & 1)
        fuzz_readers(copy + 1, size - 1);
    else
        fuzz_host(loop, copy + 1, size - 1);
    free(copy);
    return 0;
}
