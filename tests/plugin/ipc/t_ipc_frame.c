/* SPDX-License-Identifier: MIT
 * Tests of plugin/ipc/ipc_frame.h: each packed message is unpacked unchanged, and a message that is
 * truncated or has additional bytes is refused. */
#include "plugin/ipc/ipc_frame.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "event/event.h"
#include "event/specimen.h"
#include "tap/tap.h"

static struct buf packed;
static unsigned char flattened;

/* ---- readers of each message, for all prefixes of the packed bytes: true if accepted */

typedef bool reader(struct unpacker *u);

static bool is_whole(const struct unpacker *u)
{
    return unpack_finish(u) == 0;
}

static bool reads_event(struct unpacker *u)
{
    struct buf place = {0};
    struct shared_event *const shared = shared_event_attach(&place, u->p, (size_t)(u->end - u->p));
    shared_event_unref(shared);
    buf_fini(&place);
    return shared;
}

static bool reads_setup(struct unpacker *u)
{
    struct arena a = {0};
    struct ipc_setup s;
    ipc_frame_unpack_setup(u, &a, &s);
    const bool whole = is_whole(u);
    arena_fini(&a);
    return whole;
}

static bool reads_turn(struct unpacker *u)
{
    struct channel_turn t;
    ipc_frame_unpack_turn(u, &t);
    return is_whole(u);
}

static bool reads_reply(struct unpacker *u)
{
    struct outbound_reply *const r = ipc_frame_unpack_reply(u);
    outbound_reply_free(r);
    return r && is_whole(u);
}

static bool reads_request(struct unpacker *u)
{
    struct outbound_request *const l = ipc_frame_unpack_request(u);
    outbound_request_unref(l);
    return l && is_whole(u);
}

static bool reads_batch(struct unpacker *u)
{
    struct callback_batch *const b = ipc_frame_unpack_batch(u);
    callback_batch_free(b);
    return b && is_whole(u);
}

static bool reads_hit(struct unpacker *u)
{
    struct arena a = {0};
    struct tc_hit hit = {0};
    ipc_frame_unpack_hit(u, &a, &hit);
    const bool whole = is_whole(u);
    arena_fini(&a);
    return whole;
}

static bool reads_answer(struct unpacker *u)
{
    struct tc_answer into = {0};
    ipc_frame_unpack_answer(u, &into);
    return is_whole(u);
}

static bool reads_socket(struct unpacker *u)
{
    struct tc_frame f;
    ipc_frame_unpack_socket(u, &f);
    return is_whole(u);
}

static bool reads_spec(struct unpacker *u)
{
    struct tc_socket s;
    struct arena a = {0};
    ipc_frame_unpack_socket_spec(u, &a, &s);
    arena_fini(&a);
    return is_whole(u);
}

static bool reads_ask(struct unpacker *u)
{
    struct host_call *const a = ipc_frame_unpack_call(u, "one");
    if (a)
        host_call_discard(a);
    return a;
}

static bool reads_asked(struct unpacker *u)
{
    struct ipc_call_result a;
    ipc_frame_unpack_call_result(u, &a);
    return is_whole(u);
}

static bool reads(reader *fn, const char *p, size_t len)
{
    /* Copies the bytes into memory of their size, so that a sanitizer detects reads beyond the end.
     * */
    char *const copy = memcpy(xmalloc(len + 1), p, len);
    struct unpacker u;
    unpack_init(&u, (struct str){copy, len});
    const bool taken = fn(&u);
    free(copy);
    return taken;
}

/* The packed bytes are accepted, and no prefix or extension of them. */
static void check_exact_length(reader *fn, const char *what)
{
    size_t wrong = 0;
    ok(reads(fn, packed.p, packed.len), "%s: the packed bytes are accepted", what);
    for (size_t len = 0; len < packed.len; len++)
        wrong += reads(fn, packed.p, len);
    buf_add_char(&packed, 0);
    wrong += reads(fn, packed.p, packed.len);
    is_int((long long)wrong, 0, "%s: other lengths are refused", what);
    buf_reset(&packed);
}

static struct unpacker unpacked(void)
{
    struct unpacker u;
    unpack_init(&u, (struct str){packed.p, packed.len});
    return u;
}

/* Fills memory that has other contents. */
static void flatten(struct buf *to, const struct shared_event *shared, struct str line)
{
    const size_t len = shared_event_serialized_size(shared, line);
    buf_reset(to);
    memset(buf_reserve(to, len), ++flattened, len);
    shared_event_serialize(to->p, shared, line);
    to->len = len;
}

/* ---- tests */

static void test_events(void)
{
    struct arena a = {0};
    CLEANUP_BUF struct buf place = {0};
    for (unsigned kind = 0; kind < TC_KINDS; kind++)
        for (int full = 0; full < 2; full++) {
            struct event ev;
            if (full)
                specimen_fill(&ev, (enum tc_kind)kind, &a);
            else
                specimen_bare(&ev, (enum tc_kind)kind);
            struct shared_event *const shared = shared_event_new(&ev);
            struct str line = {0};
            if (full)
                line.p = shared_event_json_line(shared, &line.len);
            flatten(&packed, shared, line);
            struct shared_event *const back = shared_event_attach(&place, packed.p, packed.len);
            is_str(back ? specimen_differ(&ev, shared_event_get(back)) : "no event", NULL, "%s, %s",
                   kind_name((enum tc_kind)kind), full ? "full" : "bare");
            is_str(shared_event_json_line(back, NULL), shared_event_json_line(shared, NULL),
                   "the JSON line of the event");
            shared_event_unref(back);
            shared_event_unref(shared);
            check_exact_length(reads_event, "  it");
        }
    arena_fini(&a);
}

/* Addresses of this process must not be sent. */
static void test_no_addresses(void)
{
    struct arena a = {0};
    bool same = true;
    for (unsigned kind = 0; kind < TC_KINDS; kind++) {
        CLEANUP_BUF struct buf first = {0};
        struct event ev;
        specimen_fill(&ev, (enum tc_kind)kind, &a);
        struct shared_event *const one = shared_event_new(&ev), *const other =
                                                                    shared_event_new(&ev);
        flatten(&first, one, (struct str){0});
        flatten(&packed, other, (struct str){0});
        same = same && first.len == packed.len && memcmp(first.p, packed.p, first.len) == 0;
        shared_event_unref(one);
        shared_event_unref(other);
    }
    ok(same, "two copies of one event are packed as the same bytes");
    buf_reset(&packed);
    arena_fini(&a);
}

/* A text with NUL bytes, an empty one, and one of 1 MiB. */
static void test_texts(void)
{
    CLEANUP_BUF struct buf place = {0};
    char *const big = xcalloc(1, (1 << 20) + 1);
    memset(big, 'x', 1 << 20);
    const struct str texts[] = {{"a\0b", 3}, {"", 0}, {big, 1 << 20}};
    for (size_t i = 0; i < 3; i++) {
        struct event ev;
        specimen_bare(&ev, TC_TOOL_RESULT);
        ev.u.tool_result.content = texts[i].p;
        ev.u.tool_result.content_len = texts[i].len;
        struct shared_event *const shared = shared_event_new(&ev);
        flatten(&packed, shared, (struct str){0});
        struct shared_event *const back = shared_event_attach(&place, packed.p, packed.len);
        ok(back != NULL, "a text of %zu bytes is unpacked", texts[i].len);
        const struct tc_tool_result *const result = &shared_event_get(back)->u.tool_result;
        ok(result->content_len == texts[i].len &&
               memcmp(result->content, texts[i].p, texts[i].len + 1) == 0,
           "the text is unchanged and terminated");
        shared_event_unref(back);
        shared_event_unref(shared);
        buf_reset(&packed);
    }
    pack_bytes(&packed, (struct str){"a\0b", 3});
    struct unpacker u = unpacked();
    ok(!unpack_text(&u) && u.bad, "a string with a NUL byte is refused");
    buf_reset(&packed);
    free(big);
}

static void test_setup(void)
{
    struct conf_option pairs[] = {{(char[]){"k"}, (char[]){"v"}, NULL, 3, NULL, false},
                                  {(char[]){"l"}, (char[]){""}, NULL, 4, NULL, false},
                                  {0}};
    const struct conf_chaos chaos[] = {{CHAOS_DELAY, "on_final", "text", NULL, 3, 0.5, 7, 8, 9},
                                       {0}};
    struct stored_texts stored = {0};
    stored_texts_set(&stored, 9, "cursor", "7");
    stored_texts_set(&stored, 9, "other", "");
    const struct ipc_setup s = {
        .file = "f",
        .stored = stored.first,
        .line = 5,
        .path = "/p",
        .name = "n",
        .options = pairs,
        .has_ask = true,
        .has_sockets = true,
        .last_request = 99,
        .debug = true,
        .dir = NULL,
        .write_paths = (const char *const[]){"/a", "/b", NULL},
        .ports = (const int64_t[]){80, 443, 0},
        .memory = 1 << 30,
        .language = LANGUAGE_DE,
        .chaos = chaos,
    };
    struct arena a = {0};
    struct ipc_setup b;
    ipc_frame_pack_setup(&packed, &s);
    struct unpacker u = unpacked();
    ipc_frame_unpack_setup(&u, &a, &b);
    is_int(unpack_finish(&u), 0, "a setup message is unpacked");
    ok(b.line == 5 && !b.has_batch && b.has_ask && !b.has_server && b.has_sockets && b.debug &&
           b.last_request == 99 && b.memory == 1 << 30 && !b.dir && b.language == LANGUAGE_DE,
       "the numbers and flags of a setup message");
    is_str(b.options[1].key, "l", "the options of a setup message");
    ok(b.options[0].resolved && b.options[0].line == 3 && !b.options[2].key,
       "the lines of the options");
    ok(b.stored && b.stored->next && !b.stored->next->next, "the stored texts of a setup message");
    is_str(b.stored->next->text, "7", "the keys of the stored texts");
    is_str(b.write_paths[1], "/b", "the paths of a setup message");
    ok(b.ports[1] == 443 && !b.ports[2] && !b.write_paths[2], "the ports of a setup message");
    ok(b.chaos[0].what == CHAOS_DELAY && b.chaos[0].every == 3 && b.chaos[0].bytes == 9 &&
           !b.chaos[0].trigger && !b.chaos[1].what,
       "  chaos");
    check_exact_length(reads_setup, "  it");
    struct ipc_setup unknown = s;
    unknown.language = LANGUAGE_COUNT;
    ipc_frame_pack_setup(&packed, &unknown);
    ok(!reads(reads_setup, packed.p, packed.len),
       "a setup message with an unknown language is refused");
    buf_reset(&packed);
    stored_texts_fini(&stored);
    arena_fini(&a);
}

static void test_turn(void)
{
    const struct channel_turn t = {"id", "a", NULL, "{}", "m", 7, true};
    struct channel_turn b;
    ipc_frame_pack_turn(&packed, &t);
    struct unpacker u = unpacked();
    ipc_frame_unpack_turn(&u, &b);
    ok(strcmp(b.id, "id") == 0 && strcmp(b.agent, "a") == 0 && !b.conversation &&
           strcmp(b.route, "{}") == 0 && strcmp(b.memory, "m") == 0 && b.requests == 7 && b.over,
       "a turn");
    check_exact_length(reads_turn, "  it");
}

static struct outbound_request *make_request(void)
{
    static const struct tc_header headers[] = {{"A", "b"}};
    const char *why;
    return outbound_request_new(7, "t1",
                                TC_HTTP(.url = "https://a/", .headers = headers, .header_count = 1,
                                        .body = "a\0b", .body_len = 3, .tag = "tag",
                                        .flags = TC_DURABLE),
                                &why);
}

static void test_request(void)
{
    struct outbound_request *const l = make_request();
    ipc_frame_pack_request(&packed, l);
    struct unpacker u = unpacked();
    struct outbound_request *const b = ipc_frame_unpack_request(&u);
    if (!ok(b != NULL, "a request"))
        return;
    ok(b->id == 7 && strcmp(b->turn, "t1") == 0 && b->http.body_len == 3 &&
           memcmp(b->http.body, "a\0b", 4) == 0 && b->http.flags == TC_DURABLE &&
           b->http.header_count == 1,
       "the request is unchanged");
    outbound_request_unref(b);
    outbound_request_unref(l);
    check_exact_length(reads_request, "  it");
}

static void test_reply(void)
{
    static const struct tc_header headers[] = {{"x-left", "0"}, {"x-reset", ""}};
    struct outbound_request *const l = make_request();
    const struct outbound_reply r = {
        .request = 7,
        .last = true,
        .reply = {.headers = headers,
                  .header_count = 2,
                  .tag = "tag",
                  .outcome = TC_AMBIGUOUS,
                  .status = 429,
                  .body = "x\0y",
                  .body_len = 3,
                  .error = "e",
                  .attempts = 4,
                  .in_doubt = 1},
        .about = l,
        .verdict = {TC_NEXT_FAIL, 5, TC_HOLD_INSTANCE, "why"},
    };
    ipc_frame_pack_reply(&packed, &r);
    struct unpacker u = unpacked();
    struct outbound_reply *const b = ipc_frame_unpack_reply(&u);
    if (!ok(b != NULL, "a reply"))
        return;
    ok(b->request == 7 && b->last && b->reply.outcome == TC_AMBIGUOUS && b->reply.status == 429 &&
           b->reply.body_len == 3 && memcmp(b->reply.body, "x\0y", 4) == 0 && !b->reply.path &&
           b->reply.attempts == 4 && b->reply.in_doubt && b->verdict.next == TC_NEXT_FAIL &&
           b->verdict.hold_ms == 5 && b->verdict.scope == TC_HOLD_INSTANCE,
       "the reply is unchanged");
    is_str(b->verdict.reason, "why", "the reason of the reply");
    is_str(b->reply.http->url, "https://a/", "the request of the reply");
    ok(b->reply.header_count == 2 && strcmp(b->reply.headers[0].name, "x-left") == 0 &&
           strcmp(b->reply.headers[0].value, "0") == 0 &&
           strcmp(b->reply.headers[1].name, "x-reset") == 0 && !*b->reply.headers[1].value,
       "the headers of the response");
    outbound_reply_free(b);
    outbound_request_unref(l);
    check_exact_length(reads_reply, "  it");
}

static void test_batch(void)
{
    const struct callback_batch b = {
        .settles = BATCH_REQUEST,
        .failed = true,
        .turn = (char[]){"t1"},
        .request = 9,
        .verdict = {TC_NEXT_AGAIN, 6, TC_HOLD_RATES, "r"},
        .memory = (char[]){""},
        .over = true,
    };
    ipc_frame_pack_batch(&packed, &b);
    struct unpacker u = unpacked();
    struct callback_batch *const c = ipc_frame_unpack_batch(&u);
    if (!ok(c != NULL, "a batch"))
        return;
    ok(c->settles == BATCH_REQUEST && c->failed && c->request == 9 && c->over &&
           strcmp(c->turn, "t1") == 0 && strcmp(c->memory, "") == 0 &&
           c->verdict.next == TC_NEXT_AGAIN && c->verdict.scope == TC_HOLD_RATES && !c->count,
       "the batch is unchanged");
    callback_batch_free(c);
    check_exact_length(reads_batch, "  it");
}

static void test_hit(void)
{
    const struct tc_header headers[] = {{"A", "1"}, {"B", ""}};
    const struct tc_hit hit = {"POST", "/p", "q=1", headers, 2, "a\0b", 3, 0, NULL, NULL};
    struct arena a = {0};
    struct tc_hit b = {0};
    ipc_frame_pack_hit(&packed, &hit);
    struct unpacker u = unpacked();
    ipc_frame_unpack_hit(&u, &a, &b);
    ok(strcmp(b.method, "POST") == 0 && strcmp(b.path, "/p") == 0 && strcmp(b.query, "q=1") == 0 &&
           b.header_count == 2 && strcmp(b.headers[1].name, "B") == 0 && b.body_len == 3 &&
           memcmp(b.body, "a\0b", 4) == 0,
       "a hit");
    arena_fini(&a);
    check_exact_length(reads_hit, "  it");
    const struct tc_answer answer = {201, "a/b", "body", 4, true};
    struct tc_answer into = {0};
    ipc_frame_pack_answer(&packed, &answer);
    u = unpacked();
    ok(ipc_frame_unpack_answer(&u, &into) && into.status == 201 && into.body_len == 4 &&
           strcmp(into.content_type, "a/b") == 0 && into.later,
       "a response to a hit is unchanged");
    check_exact_length(reads_answer, "  it");
    ipc_frame_pack_answer(&packed, NULL);
    u = unpacked();
    ok(!ipc_frame_unpack_answer(&u, &into) && unpack_finish(&u) == 0,
       "a missing response to a hit");
    check_exact_length(reads_answer, "  it");
}

static void test_socket(void)
{
    struct tc_frame b;
    ipc_frame_pack_socket_text(&packed, &(struct tc_frame){3, TC_SOCKET_TEXT, "a\0b", 3});
    struct unpacker u = unpacked();
    ipc_frame_unpack_socket(&u, &b);
    ok(b.socket == 3 && b.event == TC_SOCKET_TEXT && b.len == 3 && memcmp(b.text, "a\0b", 4) == 0,
       "a frame of a socket is unchanged");
    check_exact_length(reads_socket, "  it");
    struct tc_socket s;
    struct arena a = {0};
    const struct tc_header header = {"X-A", "b"};
    ipc_frame_pack_socket_spec(&packed, TC_SOCKET(.url = "wss://a/", .ping_ms = 1, .silent_ms = 2,
                                                  .headers = &header, .header_count = 1,
                                                  .binary = true, .close_status = 4000));
    u = unpacked();
    ipc_frame_unpack_socket_spec(&u, &a, &s);
    ok(strcmp(s.url, "wss://a/") == 0 && s.ping_ms == 1 && s.silent_ms == 2,
       "the specification of a socket is unchanged");
    ok(s.header_count == 1 && strcmp(s.headers[0].value, "b") == 0 && s.binary,
       "the headers of a socket, and its flag for binary messages");
    is_int(s.close_status, 4000, "the close status of a socket");
    arena_fini(&a);
    check_exact_length(reads_spec, "  it");
}

static void test_ask(void)
{
    const char *const files[] = {"/f"}, *const names[] = {"n"}, *const instances[] = {"log", "tg"};
    struct host_call *asks[] = {
        host_call_new_submit("one",
                             TC_INBOUND(.id = "i", .chat = "c", .user = "u", .text = "t",
                                        .route = "{}", .files = files, .file_names = names,
                                        .file_count = 1, .instances = instances,
                                        .instance_count = 2, .direct = true, .kind = "voice")),
        host_call_new_cancel("one", "t1", "u"),
        host_call_new_check_permission("one", "u", "c"),
        host_call_new_resend("one", "t1", "u", "c"),
        host_call_new_retry("one", TC_INBOUND(.id = "i", .chat = "c", .user = "u", .text = "t"),
                            "t1"),
    };
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++) {
        ipc_frame_pack_call(&packed, asks[i]);
        struct unpacker u = unpacked();
        struct host_call *const b = ipc_frame_unpack_call(&u, "one");
        if (ok(b && b->kind == asks[i]->kind, "a call of kind %zu is unpacked", i) && i == 0)
            ok(strcmp(b->inbound->files[0], "/f") == 0 &&
                   strcmp(b->inbound->file_names[0], "n") == 0 &&
                   strcmp(b->inbound->text, "t") == 0 && !b->inbound->quote &&
                   b->inbound->instance_count == 2 && strcmp(b->inbound->instances[1], "tg") == 0 &&
                   b->inbound->direct && strcmp(b->inbound->kind, "voice") == 0,
               "the message of the call is unchanged");
        if (b && b->kind == HOST_CALL_RESEND)
            ok(strcmp(b->turn, "t1") == 0 && strcmp(b->user, "u") == 0 && strcmp(b->chat, "c") == 0,
               "the texts of the call are unchanged");
        if (b && b->kind == HOST_CALL_RETRY)
            ok(strcmp(b->turn, "t1") == 0 && strcmp(b->inbound->user, "u") == 0,
               "the turn and user of the call are unchanged");
        if (b)
            host_call_discard(b);
        host_call_discard(asks[i]);
        check_exact_length(reads_ask, "  it");
    }
    struct ipc_call_result b;
    ipc_frame_pack_call_result(&packed, &(struct ipc_call_result){TC_DENIED, "t", NULL});
    struct unpacker u = unpacked();
    ipc_frame_unpack_call_result(&u, &b);
    ok(b.accepted == TC_DENIED && strcmp(b.turn, "t") == 0 && !b.text,
       "the result of a call is unchanged");
    check_exact_length(reads_asked, "  it");
    ipc_frame_pack_call_result(&packed, &(struct ipc_call_result){TC_INVALID, "t", NULL});
    u = unpacked();
    ipc_frame_unpack_call_result(&u, &b);
    is_int(b.accepted, TC_INVALID, "the last result is accepted");
    buf_reset(&packed);
}

/* Frames in sequence, in pieces of any size. */
static void test_stream(void)
{
    for (unsigned type = IPC_SETUP; type < IPC_TYPES; type++) {
        const size_t begun = ipc_frame_begin(&packed, (enum frame_type)type);
        pack_int64(&packed, type);
        ipc_frame_end(&packed, begun);
    }
    struct ipc_frame f;
    unsigned type = IPC_SETUP, early = 0;
    for (size_t at = 0, len = 0; at < packed.len;) {
        const int64_t n = ipc_frame_decode_next((struct str){packed.p + at, len - at}, &f);
        if (n == 0) {
            len++;
            continue;
        }
        early += at + (size_t)n != len;
        ok(f.type == type && unpack_number(&f.in) == type && unpack_finish(&f.in) == 0,
           "a frame of type %u is decoded", type);
        at += (size_t)n;
        type++;
    }
    is_int((long long)type, IPC_TYPES, "all types of frames are decoded");
    is_int((long long)early, 0, "no frame is decoded before it is complete");
    const uint32_t lies[][2] = {
        {0, 0}, {IPC_TYPES, 0}, {UINT32_MAX, 0}, {IPC_ROOM, IPC_MAX + 1}, {IPC_ROOM, UINT32_MAX}};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
        is_int(ipc_frame_decode_next((struct str){(const char *)lies[i], sizeof lies[i]}, &f), -1,
               "a frame of type %u with %u bytes is refused", lies[i][0], lies[i][1]);
    buf_reset(&packed);
}

int main(void)
{
    plan_lazy();
    test_events();
    test_no_addresses();
    test_texts();
    test_setup();
    test_turn();
    test_request();
    test_reply();
    test_batch();
    test_hit();
    test_socket();
    test_ask();
    test_stream();
    buf_fini(&packed);
}
