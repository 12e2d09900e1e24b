/* SPDX-License-Identifier: MIT
 * Encodes and decodes a decision between hosts (verb "decide"), and requests a cancellation (verb
 * "cancel"). */
#include "core/inbound/inbound_remote.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/log.h"
#include "core/conversation/host_reply.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"
#include "text/sentence/texts.h"

#define DECIDE "decide"
#define CANCEL "cancel"

struct inbound_remote {
    struct bus *bus;
    const struct turnlog *turnlog;
    struct request_registry *requests;
};

/* Members of a decision that are texts. */
static const struct inbound_remote_member {
    const char *name;
    size_t offset;
    bool is_needed;
} members[] = {
    {"turn", offsetof(struct request_decision, turn), true},
    {"request", offsetof(struct request_decision, request), true},
    {"choice", offsetof(struct request_decision, choice), true},
    {"text", offsetof(struct request_decision, text), false},
    {"answers", offsetof(struct request_decision, answers), false},
    {"by", offsetof(struct request_decision, by), true},
    {"instance", offsetof(struct request_decision, instance), true},
    {"chat", offsetof(struct request_decision, chat), false},
    {"thread", offsetof(struct request_decision, thread), false},
    {"user", offsetof(struct request_decision, user), true},
};
#define MEMBERS (sizeof members / sizeof *members)

static const char **inbound_remote_at(struct request_decision *d, size_t i)
{
    return (const char **)(void *)((char *)d + members[i].offset);
}

bool inbound_remote_has(const struct inbound_remote *r, const char *turn)
{
    const struct turnlog_turn *const t = r ? turnlog_find_turn(r->turnlog, turn) : NULL;
    return t && t->spec.host && !turnlog_turn_is_finished(t);
}

struct inbound_remote_conversation {
    const char *instance, *key;
    const char *turn; /* that runs there; or NULL */
};

static bool inbound_remote_look_in(void *ctx, const struct turnlog_turn *t)
{
    struct inbound_remote_conversation *const c = ctx;
    const char *const source = t->spec.source, *const key = t->spec.conversation;
    if (t->spec.host && t->state == TURNLOG_RUNNING && source && key &&
        strcmp(source, c->instance) == 0 && strcmp(key, c->key) == 0)
        c->turn = t->spec.id;
    return !c->turn;
}

const char *inbound_remote_find_running(const struct inbound_remote *r, const char *instance,
                                        const char *conversation)
{
    struct inbound_remote_conversation c = {instance, conversation, NULL};
    if (r)
        turnlog_each_turn(r->turnlog, inbound_remote_look_in, &c);
    return c.turn;
}

/* ---- tickets ---- */

struct inbound_remote_search {
    struct arena *arena;
    struct request_decision *decision;
    const char *ticket;
};

static bool inbound_remote_compare(const struct inbound_remote_search *s, const char *turn,
                                   struct str request)
{
    struct request_decision *const d = s->decision;
    char ticket[REQUEST_TICKET_SIZE];
    const struct str raw = bus_message_text(request, "/id");
    const char *const id = json_reader_unescape(s->arena, raw, NULL);
    request_make_guest_ticket(ticket, d->instance, turn, id);
    if (strcmp(ticket, s->ticket) != 0)
        return false;
    d->turn = arena_strdup(s->arena, turn);
    d->request = id;
    return true;
}

/* False: found, so the search ends. */
static bool inbound_remote_match_turn(void *ctx, const struct turnlog_turn *t)
{
    const struct inbound_remote_search *const s = ctx;
    struct json j;
    if (!t->spec.host || !t->requests || turnlog_turn_is_finished(t))
        return true;
    json_reader_open_array(&j, (struct str){t->requests, strlen(t->requests)});
    for (struct str request; json_reader_next_value(&j, &request);)
        if (inbound_remote_compare(s, t->spec.id, request))
            return false;
    return true;
}

bool inbound_remote_find(const struct inbound_remote *r, struct arena *a,
                         struct request_decision *d, const char *ticket)
{
    struct inbound_remote_search s = {.arena = a, .decision = d, .ticket = ticket};
    if (r)
        turnlog_each_turn(r->turnlog, inbound_remote_match_turn, &s);
    return d->turn != NULL;
}

/* ---- sending ---- */

static const struct inbound_remote_word {
    const char *name;
    enum tc_accepted accepted;
} words[] = {{"taken", TC_COMMAND}, {"late", TC_KNOWN}, {"denied", TC_DENIED}};
#define WORDS (sizeof words / sizeof *words)

struct inbound_remote_wait {
    struct host_call *call;
    enum language language;
    char *turn, *host;
    size_t dropped; /* inbound_remote_cancel */
};

static struct inbound_remote_wait *inbound_remote_wait_new(const struct inbound_remote *r,
                                                           struct host_call *a, const char *turn)
{
    const struct turnlog_turn *const t = turnlog_find_turn(r->turnlog, turn);
    struct inbound_remote_wait *const w = xcalloc(1, sizeof *w);
    *w = (struct inbound_remote_wait){
        .call = a, .language = a->language, .turn = xstrdup(turn), .host = xstrdup(t->spec.host)};
    return w;
}

/* text: for the person; NULL: the usual one. */
static void inbound_remote_end(struct inbound_remote_wait *w, enum tc_accepted accepted,
                               const char *text)
{
    const char *const what = w->call->kind == HOST_CALL_ANSWER ? "an answer to" : "stopping";
    if (accepted != TC_COMMAND)
        log_write(LOG_INFO, "host", "instance %s: %s turn %s of host \"%s\" failed: %s",
                  w->call->instance, what, w->turn, w->host,
                  text ? text : texts_get(TEXT_STOP_OVER));
    host_call_complete(w->call, accepted, w->turn, text);
    free(w->turn);
    free(w->host);
    free(w);
}

static void inbound_remote_on_answer(void *ctx, enum nats_client_result result, struct str body)
{
    struct inbound_remote_wait *const w = ctx;
    TEXTS_IN(w->language);
    struct arena arena = {0};
    const struct str word = bus_message_text(body, "/came"), raw = bus_message_text(body, "/text");
    size_t i = 0;
    while (i < WORDS && !(result == NATS_CLIENT_REPLIED && str_is(word, words[i].name)))
        i++;
    if (i < WORDS)
        inbound_remote_end(w, words[i].accepted,
                           raw.len ? json_reader_unescape(&arena, raw, NULL) : "");
    else
        inbound_remote_end(w, TC_DENIED, texts_get(TEXT_REQUEST_UNREACHABLE));
    arena_fini(&arena);
}

void inbound_remote_decide(const struct inbound_remote *r, struct host_call *a,
                           const struct request_decision *d)
{
    struct inbound_remote_wait *const w = inbound_remote_wait_new(r, a, d->turn);
    CLEANUP_BUF struct buf body = {0};
    struct request_decision copy = *d;
    buf_add_char(&body, '{');
    for (size_t i = 0; i < MEMBERS; i++)
        jsonw_member_str(&body, members[i].name, *inbound_remote_at(&copy, i));
    jsonw_member_str(&body, "language", language_name(a->language));
    buf_add_char(&body, '}');
    bus_ask(r->bus, w->host, DECIDE, (struct str){body.p, body.len}, inbound_remote_on_answer, w);
}

/* The reply to a command is a text in any case. */
static void inbound_remote_reply(struct inbound_remote_wait *w, bool is_answered, bool is_cancelled)
{
    CLEANUP_BUF struct buf text = {0};
    if (is_answered)
        host_reply_stopped(&text, is_cancelled, false, w->dropped);
    else
        texts_append(&text, TEXT_REQUEST_UNREACHABLE, NULL);
    inbound_remote_end(w, TC_COMMAND, text.p);
}

static void inbound_remote_on_cancelled(void *ctx, enum nats_client_result result, struct str body)
{
    struct inbound_remote_wait *const w = ctx;
    TEXTS_IN(w->language);
    const struct str word = bus_message_value(body, "/cancelled");
    if (w->call->kind == HOST_CALL_SUBMIT)
        inbound_remote_reply(w, result == NATS_CLIENT_REPLIED, str_is(word, "true"));
    else if (result != NATS_CLIENT_REPLIED)
        inbound_remote_end(w, TC_DENIED, texts_get(TEXT_REQUEST_UNREACHABLE));
    else
        inbound_remote_end(w, str_is(word, "true") ? TC_COMMAND : TC_KNOWN, NULL);
}

void inbound_remote_cancel(const struct inbound_remote *r, struct host_call *a, const char *turn,
                           size_t dropped)
{
    struct inbound_remote_wait *const w = inbound_remote_wait_new(r, a, turn);
    CLEANUP_BUF struct buf body = {0};
    w->dropped = dropped;
    buf_add_char(&body, '{');
    jsonw_member_str(&body, "turn", w->turn);
    buf_add_char(&body, '}');
    bus_ask(r->bus, w->host, CANCEL, (struct str){body.p, body.len}, inbound_remote_on_cancelled,
            w);
}

/* ---- serving ---- */

static const char *inbound_remote_read(struct arena *a, struct str body, const char *name)
{
    const char *const pointer = arena_sprintf(a, "/%s", name);
    const struct str raw = bus_message_text(body, pointer);
    return raw.len ? json_reader_unescape(a, raw, NULL) : NULL;
}

static bool inbound_remote_read_decision(struct arena *a, struct str body,
                                         struct request_decision *d)
{
    bool is_whole = true;
    *d = (struct request_decision){0};
    for (size_t i = 0; i < MEMBERS; i++) {
        *inbound_remote_at(d, i) = inbound_remote_read(a, body, members[i].name);
        is_whole = is_whole && (*inbound_remote_at(d, i) || !members[i].is_needed);
    }
    return is_whole;
}

static void inbound_remote_serve(void *ctx, struct bus_call *call, struct str body)
{
    const struct inbound_remote *const r = ctx;
    struct arena arena = {0};
    CLEANUP_BUF struct buf text = {0}, out = {0};
    struct request_decision d;
    enum language language = LANGUAGE_EN;
    const char *const name = inbound_remote_read(&arena, body, "language");
    if (!name || !language_find(name, &language))
        language = LANGUAGE_EN;
    TEXTS_IN(language);
    enum tc_accepted accepted = TC_DENIED;
    if (inbound_remote_read_decision(&arena, body, &d))
        accepted = request_answer(r->requests, &d, &text);
    size_t i = 0;
    while (i < WORDS - 1 && words[i].accepted != accepted)
        i++;
    buf_add_char(&out, '{');
    jsonw_member_str(&out, "came", words[i].name);
    jsonw_member_str(&out, "text", text.p);
    buf_add_char(&out, '}');
    bus_call_answer(call, (struct str){out.p, out.len});
    arena_fini(&arena);
}

/* ---- its life ---- */

struct inbound_remote *inbound_remote_new(struct bus *bus, const struct turnlog *turnlog,
                                          struct request_registry *requests)
{
    struct inbound_remote *const r = xcalloc(1, sizeof *r);
    *r = (struct inbound_remote){.bus = bus, .turnlog = turnlog, .requests = requests};
    bus_serve(bus, DECIDE, inbound_remote_serve, r);
    return r;
}

void inbound_remote_free(struct inbound_remote *r)
{
    free(r);
}
