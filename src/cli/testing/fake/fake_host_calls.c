/* SPDX-License-Identifier: MIT
 * Services of the fake host for the instance: people, routes, sockets, and the batches of its
 * callbacks. Results of people are those that the script promised. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/testing/fake/fake_host_internal.h"
#include "cli/testing/fake/script_match.h"
#include "plugin/host_call.h"

static void fake_host_on_batch(void *ctx, struct callback_batch *b)
{
    struct fake_host *const s = ctx;
    struct fake_batch **end = &s->batches;
    while (*end)
        end = &(*end)->next;
    *end = xmalloc(sizeof **end);
    **end = (struct fake_batch){NULL, b};
}

/* ---- people ---- */

static void fake_host_add_text(json_t *o, const char *key, const char *text)
{
    if (text)
        json_object_set_new(o, key, json_string(text));
}

static json_t *fake_host_names_json(const char *const *names, size_t n)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_string(names[i]));
    return list;
}

static json_t *fake_host_inbound_json(const struct tc_inbound *in)
{
    json_t *const o = json_object(), *const files = json_array();
    const char *const keys[] = {"id",   "also", "chat",  "thread", "user",
                                "name", "text", "quote", "kind"};
    const char *const values[] = {in->id,   in->also, in->chat,  in->thread, in->user,
                                  in->name, in->text, in->quote, in->kind};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        fake_host_add_text(o, keys[i], values[i]);
    if (in->route)
        json_object_set_new(o, "route", json_loads(in->route, JSON_DECODE_ANY, NULL));
    for (size_t i = 0; i < in->file_count; i++)
        json_array_append_new(files, json_pack("{s:s?, s:s?}", "path", in->files[i], "name",
                                               in->file_names ? in->file_names[i] : NULL));
    json_object_set_new(o, "files", files);
    if (in->direct)
        json_object_set_new(o, "direct", json_true());
    if (in->instance_count)
        json_object_set_new(o, "instances",
                            fake_host_names_json(in->instances, in->instance_count));
    return o;
}

static json_t *fake_host_decision_json(const struct tc_decision *d)
{
    json_t *const o = json_object();
    const char *const keys[] = {"ticket", "choice", "text", "user", "name", "chat", "thread"};
    const char *const values[] = {d->ticket, d->choice, d->text,  d->user,
                                  d->name,   d->chat,   d->thread};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        fake_host_add_text(o, keys[i], values[i]);
    if (d->answers)
        json_object_set_new(o, "answers", json_loads(d->answers, JSON_DECODE_ANY, NULL));
    return o;
}

/* The promised result of this call; takes ownership of `got`. */
static void fake_host_take_promise(struct fake_host *s, struct host_call *a, const char *call,
                                   json_t *got)
{
    const struct fake_promise *const p = s->promises;
    CLEANUP_BUF struct buf why = {0};
    CLEANUP_FREE char *text = json_dumps(got, JSON_COMPACT);
    if (s->lenient) {
        host_call_complete(a, TC_ACCEPTED, NULL, NULL);
    } else if (!p || strcmp(p->call, call) != 0) {
        fake_host_fault(s, "unexpected %s %s", call, text);
        host_call_complete(a, TC_NOT_KEPT, NULL, NULL);
    } else {
        if (!match_json(p->want, got, &why))
            fake_host_fault(s, "line %d: %s: %s", p->line, call, why.p);
        host_call_complete(a, p->result, p->turn, p->answer);
        fake_host_drop_promise(s);
    }
    json_decref(got);
}

static bool fake_host_is_known(const struct fake_host *s, const char *chat, const char *thread)
{
    const size_t n = strlen(chat);
    return s->known && strncmp(s->known, chat, n) == 0 && s->known[n] == ':' &&
           strcmp(s->known + n + 1, thread ? thread : "") == 0;
}

static void fake_host_complete(struct host_call *a, bool yes)
{
    host_call_complete(a, yes ? TC_ACCEPTED : TC_DENIED, NULL, NULL);
}

/* Answers at once, so that host_call_wait does not block. The ticket of request r is always
 * "ticket-r", so that scripts can name it. */
static void fake_host_on_ask(void *ctx, struct host_call *a)
{
    struct fake_host *const s = ctx;
    json_t *retried;
    CLEANUP_FREE char *ticket = xasprintf("ticket-%s", a->request ? a->request : "");
    switch (a->kind) {
    case HOST_CALL_SUBMIT:
        fake_host_take_promise(s, a, "submit", fake_host_inbound_json(a->inbound));
        return;
    case HOST_CALL_CANCEL:
        fake_host_take_promise(s, a, "cancel",
                               json_pack("{s:s, s:s}", "turn", a->turn, "user", a->user));
        return;
    case HOST_CALL_RESEND:
        fake_host_take_promise(
            s, a, "resend",
            json_pack("{s:s, s:s, s:s}", "turn", a->turn, "user", a->user, "chat", a->chat));
        return;
    case HOST_CALL_RETRY:
        retried = fake_host_inbound_json(a->inbound);
        json_object_set_new(retried, "turn", json_string(a->turn));
        fake_host_take_promise(s, a, "retry", retried);
        return;
    case HOST_CALL_ANSWER:
        fake_host_take_promise(s, a, "answer", fake_host_decision_json(a->decision));
        return;
    case HOST_CALL_CHECK_PERMISSION:
        fake_host_complete(a, !s->stranger || strcmp(s->stranger, a->user) != 0);
        return;
    case HOST_CALL_KNOWS_CHAT:
        fake_host_complete(a, fake_host_is_known(s, a->chat, a->thread));
        return;
    case HOST_CALL_TICKET:
        host_call_complete(a, TC_ACCEPTED, NULL, ticket);
        return;
    }
}

/* ---- routes and sockets ---- */

static void fake_host_on_route(void *ctx, const char *path)
{
    struct fake_host *const s = ctx;
    if (s->routes.count == sizeof s->routes.paths / sizeof *s->routes.paths)
        fake_host_fault(s, "it registers too many routes");
    else
        s->routes.paths[s->routes.count++] = arena_strdup(&s->config, path);
}

static void fake_host_on_socket_open(void *ctx, int64_t number, const struct tc_socket *spec)
{
    struct fake_host *const s = ctx;
    s->socket_count = s->socket_base + number;
    s->sockets = xrealloc(s->sockets, ((size_t)s->socket_count + 1) * sizeof *s->sockets);
    s->sockets[s->socket_count] = FAKE_SOCKET_OPENING;
    CLEANUP_BUF struct buf what = {0};
    buf_add_str(&what, spec->url);
    for (size_t i = 0; i < spec->header_count; i++)
        buf_printf(&what, " %s=%s", spec->headers[i].name, spec->headers[i].value);
    if (spec->close_status)
        buf_printf(&what, " close=%d", spec->close_status);
    fake_host_check_secrets(s, "a socket's URL or headers", what.p, what.len);
    fake_host_note(s, FAKE_WS_OPEN, 0, what.p);
}

static void fake_host_on_socket_send(void *ctx, int64_t number, struct str text, bool is_binary)
{
    struct fake_host *const s = ctx;
    (void)is_binary;
    CLEANUP_FREE char *frame = xstrndup(text.p, text.len);
    fake_host_note(s, FAKE_WS_SEND, (int)(s->socket_base + number), frame);
}

static void fake_host_on_socket_close(void *ctx, int64_t number)
{
    struct fake_host *const s = ctx;
    const int64_t socket = s->socket_base + number;
    if (s->sockets[socket] == FAKE_SOCKET_ENDED || s->sockets[socket] == FAKE_SOCKET_CLOSING)
        return;
    s->sockets[socket] = FAKE_SOCKET_CLOSING;
    fake_host_note(s, FAKE_WS_CLOSE, (int)socket, "");
}

static void fake_host_on_hit_answer(void *ctx, uint64_t hit, const struct tc_answer *answer)
{
    struct fake_host *const s = ctx;
    if (hit != s->hits.last_number)
        return;
    s->hits.is_answered = true;
    s->hits.answer = fake_host_copy_answer(s, answer);
}

static void fake_host_on_secret(void *ctx, const char *name, const char *value)
{
    struct fake_host *const s = ctx;
    CLEANUP_FREE char *what = xasprintf("%s %s", name, value ? value : "");
    runtime_secrets_set(&s->kept.secrets, name, value);
    fake_host_note(s, FAKE_SECRET, 0, what);
}

static void fake_host_on_store(void *ctx, const char *key, const char *text)
{
    struct fake_host *const s = ctx;
    if (!text) {
        stored_texts_remove(&s->kept.stored, key);
        return;
    }
    fake_host_check_secrets(s, "what is stored", text, strlen(text));
    stored_texts_set(&s->kept.stored, STORED_TEXTS_MAX, key, text);
}

struct channel_callbacks fake_host_make_callbacks(struct fake_host *s)
{
    return (struct channel_callbacks){.ctx = s,
                                      .batch = fake_host_on_batch,
                                      .ask = fake_host_on_ask,
                                      .has_process = true,
                                      .has_server = true,
                                      .route = fake_host_on_route,
                                      .socket_open = fake_host_on_socket_open,
                                      .socket_send = fake_host_on_socket_send,
                                      .socket_close = fake_host_on_socket_close,
                                      .hit_answer = fake_host_on_hit_answer,
                                      .secret = fake_host_on_secret,
                                      .store = fake_host_on_store};
}
