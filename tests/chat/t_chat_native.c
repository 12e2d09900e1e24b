/* SPDX-License-Identifier: MIT
 * Tests of chat/chat_engine.h with native streams, for what a script of turncast-test(7) cannot do:
 * streamed-answer 96 KiB guard and earlier-process guard. The service has no limits, and the host
 * is a table of functions that notes the newest operation. */
#include "chat/chat_engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sys/clock.h"
#include "tap/tap.h"

#define GUARD ((size_t)96 << 10)
#define STREAMS                                                                                    \
    (TC_CAN(TC_OP_STREAM_BEGIN) | TC_CAN(TC_OP_STREAM_APPEND) | TC_CAN(TC_OP_STREAM_END))

/* The newest operation but typing. */
static struct {
    enum tc_op_kind kind;
    enum tc_role role;
    char message[64], tag[4096];
} newest;

/* ---- the host ---- */

static int take_request(struct tc_turn *turn, const struct tc_http *http)
{
    (void)turn;
    if (!strstr(http->url, "typing"))
        snprintf(newest.tag, sizeof newest.tag, "%s", http->tag);
    return 0;
}

static int remember(struct tc_turn *turn, const char *text)
{
    (void)turn;
    (void)text;
    return 0;
}

/* The name of the chat is all that is kept here. */
static char *keep(struct tc_turn *turn, const char *text)
{
    static char kept[8];
    (void)turn;
    snprintf(kept, sizeof kept, "%s", text);
    return kept;
}

static void set_timer(void *ctx, struct tc_turn *turn, int64_t ms)
{
    (void)ctx;
    (void)turn;
    (void)ms;
}

static const char *read_option(void *ctx, const char *key)
{
    (void)ctx;
    return strcmp(key, "room") == 0 ? "c1" : NULL;
}

/* ---- the connector ---- */

static int make_request(struct tc_turn *turn, const struct tc_op *op, struct tc_http *http)
{
    (void)turn;
    http->url = op->kind == TC_OP_TYPING ? "https://chat.invalid/typing" : "https://chat.invalid/";
    if (op->kind == TC_OP_TYPING)
        return 0;
    newest.kind = op->kind;
    newest.role = op->role;
    snprintf(newest.message, sizeof newest.message, "%s", op->message ? op->message : "");
    return 0;
}

static const struct tc_chat table = {.size = sizeof table,
                                     .can = TC_CAN(TC_OP_IDENTIFY) | TC_CAN(TC_OP_POST) |
                                            TC_CAN(TC_OP_TYPING) | STREAMS,
                                     .chat_option = "room",
                                     .reply = {.message = "/id"},
                                     .request = make_request};

/* ---- a process ---- */

static const struct tc_host host = {
    .size = sizeof host, .http = take_request, .remember = remember, .keep = keep};

/* An instance with one turn that has begun. */
struct process {
    struct arena arena;
    struct tc_plugin plugin;
    struct tc_instance inst;
    struct tc_turn lobby, turn;
    struct chat *chat;
    struct chat_turn *t;
};

/* progress = true is all that the options say; `conf` has them behind each other. */
static void *make_conf(const struct tc_plugin *extended)
{
    char *const conf = xcalloc(1, extended->conf_size);
    for (const struct tc_option *o = extended->options; o->key; o++)
        if (strcmp(o->key, "progress") == 0)
            conf[o->offset] = true;
        else if (strcmp(o->key, "max_parts") == 0)
            memcpy(conf + o->offset, &(int64_t){50}, sizeof(int64_t));
    return conf;
}

static void take(struct process *p, struct event *ev)
{
    ev->u.meta = &ev->meta;
    chat_turn_handle_event(p->t, ev);
    chat_end_callback(p->chat);
}

static void say(struct process *p, const char *text)
{
    struct event ev;
    event_init_text(&ev, TC_NARRATION, text, strlen(text), "m1");
    take(p, &ev);
}

static void begin(struct process *p, const char *memory)
{
    const struct tc_plugin plain = {.flags = TC_DELIVERS, .chat = &table};
    const struct chat_hooks hooks = {.wake = set_timer, .option = read_option};
    struct event start;
    memset(p, 0, sizeof *p);
    p->plugin = chat_options_extend(&plain, &p->arena);
    p->inst = (struct tc_instance){
        .host = &host, .name = "i", .conf = make_conf(&p->plugin), .lobby = &p->lobby};
    p->lobby = (struct tc_turn){.inst = &p->inst, .id = ""};
    p->turn = (struct tc_turn){.inst = &p->inst, .id = "t", .memory = memory};
    p->chat = chat_new(&p->inst, &p->plugin, &table, &hooks);
    p->t = chat_turn_new(p->chat, &p->turn);
    event_init(&start, TC_START);
    take(p, &start);
}

static void end(struct process *p)
{
    chat_turn_free(p->t);
    chat_free(p->chat);
    free((void *)(uintptr_t)p->inst.conf);
    arena_fini(&p->arena);
}

/* The service names the message. */
static void reply(struct process *p, const char *tag, const char *id)
{
    char body[64];
    snprintf(body, sizeof body, "{\"id\":\"%s\"}", id);
    const struct tc_http http = {.size = sizeof http, .body = ""};
    const struct tc_reply r = {.tag = tag,
                               .outcome = TC_OK,
                               .status = 200,
                               .body = body,
                               .body_len = strlen(body),
                               .error = "",
                               .http = &http};
    struct tc_verdict v = {0};
    ok(chat_handle_reply(p->chat, p->t, &r, &v), "a reply names %s", id);
    chat_end_callback(p->chat);
}

/* The turn shows a stream with the id. */
static void stream(struct process *p, const char *id)
{
    say(p, "A.\n\nB");
    clock_fake_advance(1500);
    chat_turn_wake(p->t);
    is_int((int)newest.kind, TC_OP_STREAM_BEGIN, "a stream begins");
    reply(p, newest.tag, id);
}

/* ---- tests ---- */

/* What the turn does with an answer of so many bytes that begins as the stream does. */
static void answer(size_t len, bool streamed)
{
    struct process p;
    struct event final;
    char *const text = xcalloc(1, len + 1);
    memset(text, 'x', len);
    memcpy(text, "A.\n\nB", 5);
    event_init(&final, TC_FINAL);
    final.u.final.text = text;
    final.u.final.text_len = len;
    begin(&p, NULL);
    stream(&p, "s1");
    newest.role = TC_ROLE_LIVE;
    take(&p, &final);
    is_int((int)newest.kind, TC_OP_STREAM_END, "an answer of %zu bytes: the stream is ended", len);
    is_int((int)newest.role, streamed ? TC_ROLE_ANSWER : TC_ROLE_LIVE, "  the end %s the answer",
           streamed ? "with" : "without");
    end(&p);
    free(text);
}

/* A reply to the begin of an earlier process names a stream that is not this turn's. */
static void test_earlier_process(void)
{
    struct process p;
    char tag[sizeof newest.tag];
    begin(&p, NULL);
    stream(&p, "s1");
    end(&p);
    memcpy(tag, newest.tag, sizeof tag);
    clock_fake_advance(1000);
    begin(&p, "{\"stream\":\"s1\"}");
    is_str(newest.message, "s1", "the stream of the earlier process is ended");
    say(&p, "A.\n\nB");
    clock_fake_advance(1500);
    chat_turn_wake(p.t);
    is_int((int)newest.kind, TC_OP_STREAM_BEGIN, "the turn has a new stream");
    ok(strcmp(tag, newest.tag) != 0, "the begin of the new stream is a separate request");
    char own[sizeof newest.tag];
    memcpy(own, newest.tag, sizeof own);
    reply(&p, tag, "old");
    say(&p, ".\n\nC");
    clock_fake_advance(1500);
    chat_turn_wake(p.t);
    is_int((int)newest.kind, TC_OP_STREAM_BEGIN,
           "nothing is appended before the begin is confirmed");
    reply(&p, own, "new");
    clock_fake_advance(1500);
    chat_turn_wake(p.t);
    is_int((int)newest.kind, TC_OP_STREAM_APPEND, "text is appended after the begin");
    is_str(newest.message, "new", "  the text is appended to the new stream");
    end(&p);
}

int main(void)
{
    clock_fake(0, 1700000000);
    plan_lazy();
    answer(GUARD, true);
    answer(GUARD + 1, false);
    test_earlier_process();
    clock_fake_end();
    return 0;
}
