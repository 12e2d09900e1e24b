/* SPDX-License-Identifier: MIT
 * Owns the plugin and the host of these tests. */
#include "plugin/actor.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/sys/log.h"
#include "tap/tap.h"

/* ---- the log of this test ---- */

static char log_path[512];

void actor_begin_log(void)
{
    snprintf(log_path, sizeof log_path, "%s/log", tap_tmpdir());
    FILE *const f = fopen(log_path, "w");
    log_setup(LOG_TEXT, LOG_DEBUG, dup(fileno(f)));
    fclose(f);
}

/* Returns the log since the last call, valid until the next call. */
const char *actor_logged(void)
{
    static char text[8192];
    static size_t seen;
    size_t n;
    char *const all = tap_slurp(log_path, &n);
    snprintf(text, sizeof text, "%s", all + seen);
    seen = n;
    free(all);
    return text;
}

/* ---- the host ---- */

struct callback_batch *actor_batches[ACTOR_BATCHES];
size_t actor_n_batches;
struct buf actor_told;
bool actor_answers = true;
enum tc_accepted actor_accepts = TC_QUEUED;

static void take_batch(void *ctx, struct callback_batch *b)
{
    (void)ctx;
    if (actor_n_batches == ACTOR_BATCHES)
        bail("too many batches");
    actor_batches[actor_n_batches++] = b;
}

void actor_forget_batches(void)
{
    while (actor_n_batches)
        callback_batch_free(actor_batches[--actor_n_batches]);
}

static void take_ask(void *ctx, struct host_call *a)
{
    (void)ctx;
    const struct tc_inbound *const in = a->inbound;
    if (a->kind == HOST_CALL_SUBMIT) {
        buf_printf(&actor_told, "submit:%s:%s:%s:%s:%zu", a->instance, in->id, in->chat, in->text,
                   in->file_count);
        for (size_t i = 0; i < in->instance_count; i++)
            buf_printf(&actor_told, ":+%s", in->instances[i]);
        buf_add_char(&actor_told, ';');
    } else if (a->kind == HOST_CALL_ANSWER) {
        buf_printf(&actor_told, "answer:%s;", a->decision->ticket);
    } else {
        buf_printf(&actor_told, "cancel:%s:%s;", a->turn, a->user);
    }
    if (actor_answers)
        host_call_complete(a, actor_accepts, "t9", "wait a bit");
    else
        host_call_complete(a, TC_KNOWN, NULL, NULL);
}

static void take_route(void *ctx, const char *path)
{
    (void)ctx;
    buf_printf(&actor_told, "route:%s;", path);
}

static void take_open(void *ctx, int64_t socket, const struct tc_socket *spec)
{
    (void)ctx;
    buf_printf(&actor_told, "open:%d:%s:%d;", (int)socket, spec->url, (int)spec->ping_ms);
}

static void take_send(void *ctx, int64_t socket, struct str text, bool is_binary)
{
    (void)ctx;
    (void)is_binary;
    buf_printf(&actor_told, "send:%d:%zu;", (int)socket, text.len);
}

static void take_hit_answer(void *ctx, uint64_t hit, const struct tc_answer *answer)
{
    (void)ctx;
    buf_printf(&actor_told, "answer:%d:%d:%zu;", (int)hit, answer->status, answer->body_len);
}

static void take_secret(void *ctx, const char *name, const char *value)
{
    (void)ctx;
    buf_printf(&actor_told, "secret:%s:%s;", name, value ? value : "-");
}

static void take_store(void *ctx, const char *key, const char *text)
{
    (void)ctx;
    buf_printf(&actor_told, "store:%s:%s;", key, text ? text : "-");
}

static void take_close(void *ctx, int64_t socket)
{
    (void)ctx;
    buf_printf(&actor_told, "close:%d;", (int)socket);
}

const struct channel_callbacks actor_host = {
    .batch = take_batch,
    .ask = take_ask,
    .has_server = true,
    .route = take_route,
    .socket_open = take_open,
    .socket_send = take_send,
    .socket_close = take_close,
    .hit_answer = take_hit_answer,
    .secret = take_secret,
    .store = take_store,
};

/* ---- the plugin: each callback runs a function of the test ---- */

void (*actor_inside)(struct tc_turn *);
int actor_verdict;
struct tc_verdict actor_wish;
struct buf actor_woken;

static int act(struct tc_turn *t)
{
    if (actor_inside)
        actor_inside(t);
    return actor_verdict;
}

static int on_start(struct tc_turn *t, const struct tc_start *ev)
{
    (void)ev;
    return act(t);
}

static int on_final(struct tc_turn *t, const struct tc_final *ev)
{
    (void)ev;
    return act(t);
}

static int on_done(struct tc_turn *t, const struct tc_done *ev)
{
    (void)ev;
    return act(t);
}

static int on_reply(struct tc_turn *t, const struct tc_reply *r, struct tc_verdict *v)
{
    (void)r;
    if (actor_wish.reason)
        *v = actor_wish;
    return act(t);
}

static int on_wake(struct tc_turn *t)
{
    buf_printf(&actor_woken, "%s;", *t->id ? t->id : "lobby");
    return act(t);
}

static int on_hit(struct tc_turn *lobby, const struct tc_hit *hit, struct tc_answer *answer)
{
    answer->status = 202;
    answer->body = tc_sprint(lobby, "%s %s", hit->method, hit->path);
    return act(lobby);
}

static int on_frame(struct tc_turn *lobby, const struct tc_frame *f)
{
    buf_printf(&actor_told, "frame:%d:%d:%s;", (int)f->socket, (int)f->event, f->text);
    return act(lobby);
}

static int init(struct tc_instance *inst)
{
    return act(inst->lobby);
}

struct options {
    const char *token, *none;
    int64_t depth;
    bool loud;
    double rate;
};

static const struct tc_option options[] = {
    TC_OPTION(struct options, token, "tok", TC_SECRET, ""),
    TC_OPTION(struct options, none, NULL, 0, ""),
    TC_OPTION(struct options, depth, "3", 0, ""),
    TC_OPTION(struct options, loud, "true", 0, ""),
    TC_OPTION(struct options, rate, "0.1", 0, ""),
    {0},
};

struct loaded_plugin actor_loaded;
static const struct conf conf = {.file = (char[]){"my.conf"}};
static struct conf_option no_options[1];

struct instance *actor_make(const struct channel_callbacks *h)
{
    actor_loaded = (struct loaded_plugin){
        .plugin = {.name = "sample",
                   .minor = TURNCAST_API_LATEST,
                   .flags = TC_DELIVERS,
                   .options = options,
                   .conf_size = sizeof(struct options),
                   .init = init},
        .sink = {.on_start = on_start,
                 .on_final = on_final,
                 .on_done = on_done,
                 .on_reply = on_reply,
                 .on_wake = on_wake,
                 .on_hit = on_hit,
                 .on_frame = on_frame},
    };
    struct tc_err err;
    const struct conf_instance spec = {.name = (char[]){"one"}, .options = no_options};
    actor_inside = NULL;
    actor_verdict = 0;
    actor_wish = (struct tc_verdict){0};
    actor_forget_batches();
    buf_reset(&actor_told);
    buf_reset(&actor_woken);
    struct instance *const in = instance_new(&conf, &spec, &actor_loaded, h, NULL, &err);
    if (!in)
        bail("%s", err_format(&err));
    instance_init(in);
    actor_forget_batches();
    return in;
}

struct instance_turn *actor_open(struct instance *in, const char *id)
{
    return instance_turn_new(in, &(struct channel_turn){.id = id});
}

void actor_deliver(struct instance *in, struct instance_turn *t, enum tc_kind kind,
                   void (*fn)(struct tc_turn *))
{
    actor_inside = fn;
    struct shared_event *const shared = box_of(kind, 1);
    instance_deliver_event(in, t, shared);
    shared_event_unref(shared);
    actor_inside = NULL;
}

struct outbound_reply *actor_reply(uint64_t request, enum tc_outcome outcome, bool last)
{
    struct outbound_reply *const r = xcalloc(1, sizeof *r);
    r->request = request;
    r->last = last;
    r->reply = (struct tc_reply){.tag = "", .outcome = outcome, .body = "", .error = ""};
    r->verdict.next = outcome == TC_OK || last ? TC_NEXT_DONE : TC_NEXT_AGAIN;
    return r;
}

void actor_end(void)
{
    actor_forget_batches();
    buf_fini(&actor_told);
    buf_fini(&actor_woken);
    log_forget_secrets();
}
