/* SPDX-License-Identifier: MIT
 * Owns every violation of the protocol that a connector process can make. */
#include "plugin/liar.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "plugin/child/child.h"
#include "plugin/ipc/ipc_frame.h"
#include "plugin/ipc/shm_ring.h"
#include "plugin/status_page.h"

#define PLENTY 5000

static struct buf out;
static struct status_page *page;
static struct shm_ring ring;
static uint64_t next_id = 1;

static void flush(void)
{
    for (size_t at = 0; at < out.len;) {
        const ssize_t n = send(CHILD_SOCKET, out.p + at, out.len - at, MSG_NOSIGNAL);
        if (n <= 0)
            _exit(0);
        at += (size_t)n;
    }
    buf_reset(&out);
}

static void head(uint32_t type, uint32_t len)
{
    const uint32_t words[] = {type, len};
    buf_add(&out, words, sizeof words);
}

static void number(enum frame_type type, int64_t n)
{
    const size_t begun = ipc_frame_begin(&out, type);
    pack_int64(&out, n);
    ipc_frame_end(&out, begun);
}

static void text(enum frame_type type, const char *s)
{
    const size_t begun = ipc_frame_begin(&out, type);
    pack_string(&out, s);
    ipc_frame_end(&out, begun);
}

static void bytes(enum frame_type type, const char *p, size_t len)
{
    const size_t begun = ipc_frame_begin(&out, type);
    buf_add(&out, p, len);
    ipc_frame_end(&out, begun);
}

static void request_of(uint64_t id, const char *turn, const char *body, size_t len)
{
    const char *why;
    struct outbound_request *const l = outbound_request_new(
        id, turn, TC_HTTP(.url = "https://a/", .body = body, .body_len = len), &why);
    const size_t begun = ipc_frame_begin(&out, IPC_REQUEST);
    ipc_frame_pack_request(&out, l);
    ipc_frame_end(&out, begun);
    outbound_request_unref(l);
}

static void request(uint64_t id, const char *turn)
{
    request_of(id, turn, NULL, 0);
}

static void batch(const struct callback_batch *b)
{
    const size_t begun = ipc_frame_begin(&out, IPC_BATCH);
    ipc_frame_pack_batch(&out, b);
    ipc_frame_end(&out, begun);
}

static void settle(enum batch_settlement what, const char *turn)
{
    batch(&(struct callback_batch){.settles = what, .turn = (char *)(uintptr_t)turn, .request = 7});
}

static void ask(int64_t n, const char *user)
{
    struct host_call *const a = host_call_new_cancel("x", "t1", user);
    const size_t begun = ipc_frame_begin(&out, IPC_CALL);
    pack_int64(&out, n);
    ipc_frame_pack_call(&out, a);
    ipc_frame_end(&out, begun);
    host_call_discard(a);
}

static void open_socket(int64_t n, const char *url)
{
    const size_t begun = ipc_frame_begin(&out, IPC_SOCKET_OPEN);
    pack_int64(&out, n);
    ipc_frame_pack_socket_spec(&out, TC_SOCKET(.url = url));
    ipc_frame_end(&out, begun);
}

static void send_socket(int64_t n, const char *p, size_t len)
{
    const size_t begun = ipc_frame_begin(&out, IPC_SOCKET_SEND);
    pack_int64(&out, n);
    pack_bytes(&out, (struct str){p, len});
    ipc_frame_end(&out, begun);
}

static void answer(int status)
{
    const size_t begun = ipc_frame_begin(&out, IPC_ANSWER);
    pack_int64(&out, 1);
    ipc_frame_pack_answer(&out, &(struct tc_answer){status, NULL, "x", 1, false});
    ipc_frame_end(&out, begun);
}

/* ---- the violations */

static void type_0(void)
{
    head(0, 0);
}
static void type_99(void)
{
    head(99, 8);
}
static void length(void)
{
    head(IPC_ROOM, IPC_MAX + 1);
}
static void noise(void)
{
    for (uint64_t i = 1, x = 88172645463325252u; i < 4096; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        buf_add(&out, &x, sizeof x);
    }
}
static void hosts_event(void)
{
    number(IPC_EVENT, 1);
}
static void hosts_setup(void)
{
    number(IPC_SETUP, 1);
}
static void request_noise(void)
{
    bytes(IPC_REQUEST, "noise that is none", 18);
}
static void request_empty(void)
{
    bytes(IPC_REQUEST, "", 0);
}
static void request_tail(void)
{
    const size_t at = out.len;
    request(next_id, "t1");
    buf_add_char(&out, 'x');
    const uint32_t len = (uint32_t)(out.len - at - 8);
    memcpy(out.p + at + 4, &len, sizeof len);
}
static void request_even(void)
{
    request(2, "t1");
}
static void request_back(void)
{
    request(9, "t1"), request(7, "t1");
}
static void request_twice(void)
{
    request(9, "t1"), request(9, "t1");
}
static void request_stray(void)
{
    request(1, "t2");
}
static void requests_many(void)
{
    for (int i = 0; i < PLENTY; i++, next_id += 2)
        request(next_id, "t1");
}
static void requests_of_turn(void)
{
    for (int i = 0; i < PLENTY; i++, next_id += 2) {
        request(next_id, "t1");
        settle(BATCH_NOTHING, "t1");
    }
}
static void requests_huge(void)
{
    const size_t size = (size_t)32 << 20;
    char *const body = xcalloc(1, size);
    for (int i = 0; i < 32; i++, next_id += 2) {
        request_of(next_id, "", body, size);
        settle(BATCH_NOTHING, "");
        flush();
    }
}
static void batch_noise(void)
{
    bytes(IPC_BATCH, "\377\377\377\377\377\377\377\377\1", 9);
}
static void batch_stray(void)
{
    settle(BATCH_NOTHING, "t2");
}
static void batch_outcome(void)
{
    settle(BATCH_OUTCOME, "t1");
}
static void batch_outcome_twice(void)
{
    batch_outcome(), batch_outcome();
}
static void batch_reply(void)
{
    settle(BATCH_REQUEST, "t1");
}
static void batch_reason(void)
{
    batch(&(struct callback_batch){.turn = (char[]){"t1"}, .verdict.reason = "\377"});
}
static void batch_memory(void)
{
    char memory[5000];
    memset(memory, 'x', sizeof memory - 1);
    memory[sizeof memory - 1] = '\0';
    batch(&(struct callback_batch){.turn = (char[]){"t1"}, .memory = memory});
}
static void batch_over(void)
{
    batch(&(struct callback_batch){.turn = (char[]){"t1"}, .over = true});
}
static void batch_over_lobby(void)
{
    batch(&(struct callback_batch){.turn = (char[]){""}, .over = true});
}
static void batch_over_requests(void)
{
    request(next_id, "t1");
    batch_over();
}
static void batch_over_twice(void)
{
    batch_over(), batch_over();
}
static void batch_behind(void)
{
    batch_over();
    settle(BATCH_NOTHING, "t1");
}
static void batch_failed(void)
{
    request(next_id, "t1");
    batch(
        &(struct callback_batch){.settles = BATCH_OUTCOME, .turn = (char[]){"t1"}, .failed = true});
}
static void over(void)
{
    number(IPC_TURN_OVER, 1);
}
static void over_stray(void)
{
    number(IPC_TURN_OVER, 77);
}
static void ask_noise(void)
{
    bytes(IPC_CALL, "\1\0\0\0\0\0\0\0\2", 9);
}
static void ask_nobody(void)
{
    ask(1, NULL);
}
static void ask_twice(void)
{
    ask(1, "u"), ask(2, "u");
}
static void route_up(void)
{
    text(IPC_ROUTE, "/a/../b");
}
static void route_query(void)
{
    text(IPC_ROUTE, "/a?b");
}
static void route_none(void)
{
    text(IPC_ROUTE, NULL);
}
static void routes(void)
{
    char path[32];
    for (int i = 0; i < PLENTY; i++) {
        snprintf(path, sizeof path, "/r%d", i);
        text(IPC_ROUTE, path);
    }
}
static void socket_future(void)
{
    open_socket(2, "wss://a/");
}
static void socket_url(void)
{
    open_socket(1, "http://a/");
}
static void sockets(void)
{
    for (int i = 1; i < PLENTY; i++)
        open_socket(i, "wss://a/");
}
static void store(const char *key, const char *text)
{
    const size_t begun = ipc_frame_begin(&out, IPC_STORE);
    pack_string(&out, key);
    pack_string(&out, text);
    ipc_frame_end(&out, begun);
}
static void store_noise(void)
{
    store("a\nb", "x");
}
static void store_binary(void)
{
    store("a", "\377");
}
static void store_many(void)
{
    char key[16];
    for (int i = 0; i < 65; i++) {
        snprintf(key, sizeof key, "k%d", i);
        store(key, "x");
    }
}
static void send_none(void)
{
    send_socket(1, "x", 1);
}
static void send_negative(void)
{
    send_socket(-1, "x", 1);
}
static void send_noise(void)
{
    open_socket(1, "wss://a/"), send_socket(1, "\377", 1);
}
static void close_none(void)
{
    number(IPC_SOCKET_CLOSE, 1);
}
static void answer_unasked(void)
{
    answer(200);
}
static void answer_status(void)
{
    answer(99);
}
static void room_more(void)
{
    number(IPC_ROOM, 1000);
}
static void room_none(void)
{
    number(IPC_ROOM, 0);
}
static void room_negative(void)
{
    number(IPC_ROOM, -1);
}
static void start_again(void)
{
    text(IPC_STARTED, NULL);
}
static void refusal(void)
{
    text(IPC_REFUSED, "no");
}

static void gauge_noise(void)
{
    memset(page, 0xff, sizeof *page);
}
static void gauge_back(void)
{
    number(IPC_ROOM, 1);
    flush();
    page->handled = 0;
}
static void gauge_later(void)
{
    page->running = INT32_MAX;
    page->since_ms = INT64_MAX;
}
static void gauge_before(void)
{
    page->running = 1;
    page->since_ms = INT64_MIN;
    memset(page->turn, 'x', sizeof page->turn);
}
static void ring_ahead(void)
{
    ring.page->read = ring.page->written + 8;
}
static void ring_askew(void)
{
    ring.page->read -= 1;
}
static void nothing(void)
{
}
static void half(void)
{
    head(IPC_ROOM, 100);
    flush();
    _exit(0);
}
/* Not a violation: the process exits before it reports that it has handled the event. */
static void end_and_die(void)
{
    settle(BATCH_OUTCOME, "t1");
    batch_over();
    flush();
    _exit(0);
}
static void shut(void)
{
    close(CHILD_SOCKET);
}
static void babble(void)
{
    static const char line[] =
        "{\"level\":\"error\",\"text\":\"\\u001b[2J babble \\ud800\"}\n\377\n";
    for (int i = 0; i < PLENTY; i++)
        (void)!write(STDERR_FILENO, line, sizeof line - 1);
    _exit(3);
}

const struct lie lies[] = {
    {"type-0", type_0, 1, "malformed frame"},
    {"type-99", type_99, 1, "malformed frame"},
    {"length", length, 1, "malformed frame"},
    {"noise", noise, 1, "malformed frame"},
    {"hosts-event", hosts_event, 1, "unexpected frame type"},
    {"hosts-setup", hosts_setup, 1, "unexpected frame type"},
    {"letter-noise", request_noise, 1, "malformed outbound request"},
    {"letter-empty", request_empty, 1, "malformed outbound request"},
    {"letter-tail", request_tail, 1, "malformed outbound request"},
    {"letter-even", request_even, 1, "outbound request out of sequence"},
    {"letter-back", request_back, 1, "outbound request out of sequence"},
    {"letter-twice", request_twice, 1, "outbound request out of sequence"},
    {"letter-stray", request_stray, 1, "request for an unknown turn"},
    {"letters-many", requests_many, 1, "too many outbound requests in one callback"},
    {"letters-of-turn", requests_of_turn, 1, "too many outbound requests of one turn"},
    {"letters-huge", requests_huge, 1, "too many outbound requests"},
    {"batch-noise", batch_noise, 1, "malformed batch"},
    {"batch-stray", batch_stray, 1, "batch for an unknown turn"},
    {"batch-outcome", batch_outcome, 1, "unexpected response"},
    {"batch-outcome-twice", batch_outcome_twice, 2, "unexpected response"},
    {"batch-reply", batch_reply, 1, "unexpected response"},
    {"batch-reason", batch_reason, 1, "malformed batch"},
    {"batch-memory", batch_memory, 1, "malformed batch"},
    {"batch-over", batch_over, 2, "end of a turn that has not ended"},
    {"batch-over-lobby", batch_over_lobby, 1, "end of a turn that has not ended"},
    {"batch-over-letters", batch_over_requests, 3, "end of a turn that has not ended"},
    {"batch-over-twice", batch_over_twice, 3, "batch for an unknown turn"},
    {"batch-behind", batch_behind, 3, "batch for an unknown turn"},
    {"batch-failed", batch_failed, 2, "outbound requests of a failed callback"},
    {"over", over, 1, "end of a turn that has not ended"},
    {"over-first", over, 3, "end of a turn that has not ended"},
    {"over-stray", over_stray, 1, "end of a turn that has not ended"},
    {"ask-noise", ask_noise, 1, "malformed call"},
    {"ask-nobody", ask_nobody, 1, "malformed call"},
    {"ask-twice", ask_twice, 1, "call before the previous one was answered"},
    {"route-up", route_up, 1, "invalid route"},
    {"route-query", route_query, 1, "invalid route"},
    {"route-none", route_none, 1, "invalid route"},
    {"routes", routes, 1, "too many routes"},
    {"socket-future", socket_future, 1, "invalid socket"},
    {"socket-url", socket_url, 1, "invalid socket"},
    {"sockets", sockets, 1, "too many open sockets"},
    {"store-noise", store_noise, 1, "invalid text to store"},
    {"store-binary", store_binary, 1, "invalid text to store"},
    {"store-many", store_many, 1, "too many texts to store"},
    {"send-none", send_none, 1, "frame for an unknown socket"},
    {"send-negative", send_negative, 1, "frame for an unknown socket"},
    {"send-noise", send_noise, 1, "frame for an unknown socket"},
    {"close-none", close_none, 1, "end of an unknown socket"},
    {"answer-unasked", answer_unasked, 1, "unexpected response"},
    {"answer-status", answer_status, 1, "malformed response"},
    {"room-more", room_more, 1, "count exceeds the delivered events"},
    {"room-none", room_none, 1, "malformed count"},
    {"room-negative", room_negative, 1, "malformed count"},
    {"start-again", start_again, 1, "unexpected report of a start"},
    {"refusal", refusal, 1, "unexpected report of a failed start"},
    {"gauge-noise", gauge_noise, 1, "invalid counters in the status page"},
    {"gauge-back", gauge_back, 1, "invalid counters in the status page"},
    {"gauge-later", gauge_later, 1, "killed after a hang in a callback"},
    {"gauge-before", gauge_before, 1, "killed after a hang in on_"},
    {"ring-ahead", ring_ahead, 1, "invalid read position in the ring buffer"},
    {"ring-askew", ring_askew, 1, "invalid read position in the ring buffer"},
    {"nothing", nothing, 1, "killed after a hang while idle"},
    {"half", half, 1, "exited with status 0"},
    {"end-and-die", end_and_die, 3, "exited with status 0"},
    {"shut", shut, 1, "closed its connection"},
    {"babble", babble, 1, "exited with status 3"},
};
const size_t n_lies = sizeof lies / sizeof *lies;

/* Reads until this number of events has arrived. */
static void wait_events(unsigned events)
{
    struct ipc_frame f;
    char bells[64];
    while (events) {
        const int64_t n = ipc_frame_decode_next(shm_ring_peek(&ring), &f);
        if (n > 0) {
            shm_ring_consume(&ring, (size_t)n);
            events -= f.type == IPC_EVENT;
        } else if (shm_ring_begin_sleep(&ring) && recv(CHILD_SOCKET, bells, sizeof bells, 0) <= 0) {
            _exit(0);
        }
    }
}

void liar_main(const char *name)
{
    struct tc_err err;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* do not outlive a test that is killed */
    page = status_page_map(CHILD_STATUS_PAGE, &err);
    if (!page || shm_ring_map(&ring, CHILD_STATUS_PAGE, STATUS_SHARED, &err) < 0)
        _exit(1);
    if (strcmp(name, "early") == 0)
        number(IPC_ROOM, 1);
    else
        text(IPC_STARTED, NULL);
    flush();
    for (size_t i = 0; i < n_lies; i++)
        if (strcmp(lies[i].name, name) == 0) {
            wait_events(lies[i].events);
            lies[i].tell();
        }
    flush();
    for (;;)
        pause();
}
