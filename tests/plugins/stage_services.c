/* SPDX-License-Identifier: MIT
 * Owns what a plugin on the stage can call. Handles are checked, calls outside of callbacks are
 * faults. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "event/json/json_reader.h"
#include "event/json/json_redact.h"
#include "plugins/match.h"
#include "plugins/stage.h"
#include "text/markdown/markdown.h"
#include "text/render/render.h"
#include "text/render/split.h"

#define MEMORY_MAX 4096

static struct stage *stage_of(struct tc_instance *inst)
{
    return (struct stage *)(void *)inst;
}

/* The turn behind a handle, which a plugin must not have kept beyond its end. */
static struct stage_turn *turn_of(struct tc_turn *turn, const char *service)
{
    struct stage *const s = stage_of(turn->inst);
    if (s->callbacks == 0)
        stage_fault(s, "%s outside of a callback", service);
    if (turn == &s->lobby.turn)
        return &s->lobby;
    for (struct stage_turn *t = s->turns; t; t = t->next)
        if (turn == &t->turn)
            return t;
    stage_fault(s, "%s with a turn that is none", service);
    return NULL;
}

static void service_log(struct tc_instance *inst, enum tc_level level, const char *fmt, ...)
    TC_PRINTF(3, 4);
static void service_log(struct tc_instance *inst, enum tc_level level, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    CLEANUP_BUF struct buf text = {0};
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    stage_check_secrets(stage_of(inst), "the log", text.p, text.len);
    stage_note(stage_of(inst), STAGE_LOG, (int)level, text.p ? text.p : "");
}

static void *service_alloc(struct tc_turn *turn, size_t n)
{
    struct stage_turn *const t = turn_of(turn, "tc_alloc");
    return t ? arena_alloc(&t->arena, n) : NULL;
}

static char *service_keep(struct tc_turn *turn, const char *text)
{
    struct stage_turn *const t = turn_of(turn, "tc_keep");
    return t ? arena_strdup(&t->arena, text) : NULL;
}

static char *service_sprint(struct tc_turn *turn, const char *fmt, ...) TC_PRINTF(2, 3);
static char *service_sprint(struct tc_turn *turn, const char *fmt, ...)
{
    if (!turn_of(turn, "tc_sprint"))
        return NULL;
    va_list ap;
    va_start(ap, fmt);
    CLEANUP_BUF struct buf text = {0};
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    return stage_scope_text(stage_of(turn->inst), text.p ? text.p : "");
}

static char *service_json(struct tc_turn *turn, const char *fmt, ...)
{
    struct stage *const s = stage_of(turn->inst);
    if (!turn_of(turn, "tc_json"))
        return NULL;
    json_error_t error;
    va_list ap;
    va_start(ap, fmt);
    json_t *const value = json_vpack_ex(&error, 0, fmt, ap);
    va_end(ap);
    if (!value) {
        stage_fault(s, "tc_json(\"%s\"): %s", fmt, error.text);
        return NULL;
    }
    char *const text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    char *const kept = stage_scope_text(s, text);
    free(text);
    json_decref(value);
    return kept;
}

static char *service_json_get(struct tc_turn *turn, const char *json, const char *pointer)
{
    struct stage *const s = stage_of(turn->inst);
    if (!turn_of(turn, "tc_json_get") || !json)
        return NULL;
    const struct str value = json_reader_pointer((struct str){json, strlen(json)}, pointer);
    if (!value.p)
        return NULL;
    struct arena a = {0};
    struct json j;
    struct str raw;
    json_init(&j, value.p, value.len);
    char *const kept = stage_scope_text(s, json_reader_read_string(&j, &raw)
                                               ? json_reader_unescape(&a, raw, NULL)
                                               : json_reader_compact_dup(&a, value, NULL));
    arena_fini(&a);
    return kept;
}

static size_t service_redact(struct tc_instance *inst, const char *json, size_t len, char *out,
                             size_t cap)
{
    (void)inst;
    CLEANUP_BUF struct buf masked = {0};
    json_redact(&masked, (struct str){json, len});
    if (cap > 0)
        snprintf(out, cap, "%s", masked.p ? masked.p : "");
    return masked.len;
}

static bool service_has_format(struct tc_instance *inst, const char *name)
{
    (void)inst;
    (void)name;
    return false;
}

static void copy_request(struct stage_request *r, const struct tc_http *http)
{
    struct arena *const a = &r->arena;
    struct tc_http *const own = &r->http;
    *own = *http;
    own->method = arena_strdup(a, http->method ? http->method : "POST");
    own->url = arena_strdup(a, http->url);
    struct tc_header *const headers = arena_alloc(a, (http->header_count + 1) * sizeof *headers);
    for (size_t i = 0; i < http->header_count; i++)
        headers[i] = (struct tc_header){arena_strdup(a, http->headers[i].name),
                                        arena_strdup(a, http->headers[i].value)};
    own->headers = headers;
    own->content_type = arena_strdup(a, http->content_type);
    own->body_len = http->body && !http->body_len ? strlen(http->body) : http->body_len;
    own->body = http->body ? arena_strndup(a, http->body, own->body_len) : NULL;
    own->lane = arena_strdup(a, http->lane);
    own->key = arena_strdup(a, http->key);
    own->tag = arena_strdup(a, http->tag ? http->tag : "");
    const char *const query = strchr(own->url, '?');
    char *const path =
        query ? arena_strndup(a, own->url, (size_t)(query - own->url)) : arena_strdup(a, own->url);
    /* an option may end with the slash */
    const char *const slash = strrchr(path, '/'), *const brace = strrchr(path, '}');
    const char *const before = slash && (!brace || slash > brace) ? slash : brace;
    r->method = before ? before + 1 : path;
}

static void check_request(struct stage *s, const struct stage_request *r)
{
    const struct tc_http *const h = &r->http;
    uint32_t rates = 0;
    for (const struct tc_rate *rate = s->plugin->rates; rate && rate->count; rate++)
        rates = rates << 1 | 1;
    if (h->rates & ~rates)
        stage_fault(s, "%s counts on a rate that is not declared", r->method);
    if (h->body && !h->content_type) {
        json_t *const value = json_loadb(h->body, h->body_len, JSON_DECODE_ANY, NULL);
        if (!value)
            stage_fault(s, "%s: its body is no JSON: %s", r->method, h->body);
        json_decref(value);
    }
    stage_check_secrets(s, "a URL", h->url, strlen(h->url));
    stage_check_secrets(s, "a tag", h->tag, strlen(h->tag));
    stage_check_secrets(s, "a body", h->body, h->body_len);
    for (size_t i = 0; i < h->header_count; i++)
        stage_check_secrets(s, "a header", h->headers[i].value, strlen(h->headers[i].value));
}

static int service_http(struct tc_turn *turn, const struct tc_http *http)
{
    struct stage *const s = stage_of(turn->inst);
    struct stage_turn *const t = turn_of(turn, "tc_http");
    if (!t || !http || http->size != sizeof *http || !http->url) {
        stage_fault(s, "tc_http is not valid");
        return -1;
    }
    struct stage_request *const r = xcalloc(1, sizeof *r);
    r->turn = t;
    copy_request(r, http);
    r->born_ms = stage_now;
    r->due_ms = stage_now + http->delay_ms;
    r->seq = r->place = ++s->next_seq;
    check_request(s, r);
    t->under_way++;
    *s->batch_end = r;
    s->batch_end = &r->next;
    return 0;
}

static void service_wake(struct tc_turn *turn, int64_t ms)
{
    struct stage_turn *const t = turn_of(turn, "tc_wake");
    if (t)
        t->wake_at = ms < 0 ? 0 : stage_now + (ms > 0 ? ms : 1);
}

static int service_remember(struct tc_turn *turn, const char *text)
{
    struct stage_turn *const t = turn_of(turn, "tc_remember");
    if (!t || (text && strlen(text) > MEMORY_MAX))
        return -1;
    stage_check_secrets(stage_of(turn->inst), "what is remembered", text, text ? strlen(text) : 0);
    free(t->memory);
    t->memory = xstrdup(text);
    return 0;
}

static char *entities_json(struct stage *s, const struct render_output *r)
{
    json_t *const list = json_array();
    for (size_t i = 0; i < r->count; i++) {
        const struct render_entity *const e = &r->entities[i];
        json_t *const one =
            json_pack("{s:s, s:I, s:I}", "type", render_kind_name(e->kind), "offset",
                      (json_int_t)e->offset, "length", (json_int_t)e->length);
        if (e->value && *e->value)
            json_object_set_new(one, e->kind == RENDER_LINK ? "url" : "language",
                                json_string(e->value));
        json_array_append_new(list, one);
    }
    char *const text = json_dumps(list, JSON_COMPACT);
    char *const kept = stage_scope_text(s, text);
    free(text);
    json_decref(list);
    return kept;
}

static struct doc parse(struct arena *a, const struct tc_text *text)
{
    const struct str source = {text->markdown, text->len};
    if (text->flags & TC_VERBATIM)
        return markdown_make_plain(a, source);
    return text->flags & TC_FOLDED ? markdown_parse_folded(a, source) : markdown_parse(a, source);
}

static const struct tc_piece *service_pieces(struct tc_turn *turn, const struct tc_text *text,
                                             size_t *count)
{
    struct stage *const s = stage_of(turn->inst);
    *count = 0;
    if (!turn_of(turn, "tc_pieces") || text->size != sizeof *text)
        return NULL;
    struct arena a = {0};
    const struct doc doc = parse(&a, text);
    const struct render_target target = {(enum render_form)text->form,
                                         {text->units, text->bytes, text->entities}};
    const struct split split = split_doc(&a, &doc, &target);
    struct tc_piece *const pieces = stage_scope(s, (split.count + 1) * sizeof *pieces);
    struct render_output out = {0};
    for (size_t i = 0; i < split.count; i++) {
        render_doc(&out, &doc, split.pieces[i], &target);
        if (out.text.len == 0)
            continue;
        pieces[(*count)++] = (struct tc_piece){
            .text = stage_scope_text(s, out.text.p),
            .len = out.text.len,
            .entities = text->form == TC_TELEGRAM ? entities_json(s, &out) : NULL};
    }
    rendered_fini(&out);
    arena_fini(&a);
    return *count ? pieces : NULL;
}

static size_t service_settled(struct tc_turn *turn, const char *text, size_t len)
{
    return turn_of(turn, "tc_settled") ? markdown_stable_length((struct str){text, len}) : 0;
}

static void add_text(json_t *o, const char *key, const char *text)
{
    if (text)
        json_object_set_new(o, key, json_string(text));
}

static json_t *inbound_json(const struct tc_inbound *in)
{
    json_t *const o = json_object(), *const files = json_array();
    const char *const keys[] = {"id", "also", "chat", "thread", "user", "name", "text", "quote"};
    const char *const values[] = {in->id,   in->also, in->chat, in->thread,
                                  in->user, in->name, in->text, in->quote};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        add_text(o, keys[i], values[i]);
    if (in->route)
        json_object_set_new(o, "route", json_loads(in->route, JSON_DECODE_ANY, NULL));
    for (size_t i = 0; i < in->file_count; i++)
        json_array_append_new(
            files, json_pack("{s:s?, s:s?}", "path", in->files[i], "name", in->file_names[i]));
    json_object_set_new(o, "files", files);
    return o;
}

/* What the script promised for this call. */
static enum tc_accepted ask(struct stage *s, const char *call, json_t *got,
                            struct tc_receipt *receipt)
{
    struct stage_promise *const p = s->promises;
    CLEANUP_BUF struct buf why = {0};
    enum tc_accepted result = TC_NOT_KEPT;
    *receipt = (struct tc_receipt){0};
    char *const text = json_dumps(got, JSON_COMPACT);
    if (s->lenient) {
        result = TC_ACCEPTED;
    } else if (!p || strcmp(p->call, call) != 0) {
        stage_fault(s, "unexpected %s %s", call, text);
    } else {
        s->promises = p->next;
        if (!match_json(p->want, got, &why))
            stage_fault(s, "line %d: %s: %s", p->line, call, why.p);
        result = p->result;
        receipt->turn = p->turn ? stage_scope_text(s, p->turn) : NULL;
        receipt->answer = p->answer ? stage_scope_text(s, p->answer) : NULL;
        json_decref(p->want);
        free(p->turn);
        free(p->answer);
        free(p);
    }
    free(text);
    json_decref(got);
    return result;
}

static enum tc_accepted service_submit(struct tc_turn *lobby, const struct tc_inbound *in,
                                       struct tc_receipt *receipt)
{
    struct stage *const s = stage_of(lobby->inst);
    if (turn_of(lobby, "tc_submit") != &s->lobby || in->size != sizeof *in)
        stage_fault(s, "tc_submit is not valid");
    if (!in->id || !in->chat || !in->user || !in->text)
        stage_fault(s, "tc_submit without id, chat, user or text");
    return ask(s, "submit", inbound_json(in), receipt);
}

/* As the host: there is always a text for the person. */
static enum tc_accepted explained(enum tc_accepted result, struct tc_receipt *receipt,
                                  const char *known, const char *denied, const char *lost)
{
    if (!receipt->answer)
        receipt->answer = result == TC_COMMAND  ? "Done."
                          : result == TC_KNOWN  ? known
                          : result == TC_DENIED ? denied
                                                : lost;
    return result;
}

static enum tc_accepted service_cancel(struct tc_turn *lobby, const char *turn, const char *user,
                                       struct tc_receipt *receipt)
{
    struct stage *const s = stage_of(lobby->inst);
    if (turn_of(lobby, "tc_cancel") != &s->lobby)
        stage_fault(s, "tc_cancel is not valid");
    return explained(ask(s, "cancel", json_pack("{s:s, s:s}", "turn", turn, "user", user), receipt),
                     receipt, "This turn has already ended.",
                     "You are not allowed to stop this turn.",
                     "The turn could not be stopped. Please try again.");
}

/* As good as the host's: the same each time, and nobody can read out of it what it stands for but
 * this stage. */
static const char *service_ticket(struct tc_turn *turn, const char *request)
{
    struct stage *const s = stage_of(turn->inst);
    if (turn_of(turn, "tc_ticket") == &s->lobby || !request)
        stage_fault(s, "tc_ticket is not valid");
    char *const ticket = xasprintf("ticket-%s", request);
    const char *const kept = stage_scope_text(s, ticket);
    free(ticket);
    return kept;
}

static enum tc_accepted service_answer(struct tc_turn *lobby, const struct tc_decision *d,
                                       struct tc_receipt *receipt)
{
    struct stage *const s = stage_of(lobby->inst);
    if (turn_of(lobby, "tc_answer") != &s->lobby || d->size != sizeof *d)
        stage_fault(s, "tc_answer is not valid");
    if (!d->ticket || !d->choice || !d->user || !d->chat)
        stage_fault(s, "tc_answer without ticket, choice, user or chat");
    json_t *const o = json_object();
    const char *const keys[] = {"ticket", "choice", "text", "user", "name", "chat", "thread"};
    const char *const values[] = {d->ticket, d->choice, d->text,  d->user,
                                  d->name,   d->chat,   d->thread};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        add_text(o, keys[i], values[i]);
    if (d->answers)
        json_object_set_new(o, "answers", json_loads(d->answers, JSON_DECODE_ANY, NULL));
    return explained(ask(s, "answer", o, receipt), receipt, "This request is already closed.",
                     "You are not allowed to answer this request.",
                     "Your answer could not be saved. Please try again.");
}

static bool service_may_submit(struct tc_turn *lobby, const char *user, const char *chat)
{
    struct stage *const s = stage_of(lobby->inst);
    if (turn_of(lobby, "tc_may_submit") != &s->lobby || !user || !chat)
        stage_fault(s, "tc_may_submit is not valid");
    return !s->stranger || strcmp(s->stranger, user) != 0;
}

static bool service_knows(struct tc_turn *lobby, const char *chat, const char *thread)
{
    struct stage *const s = stage_of(lobby->inst);
    if (turn_of(lobby, "tc_knows") != &s->lobby || !chat)
        stage_fault(s, "tc_knows is not valid");
    const size_t n = strlen(chat);
    return s->known && strncmp(s->known, chat, n) == 0 && s->known[n] == ':' &&
           strcmp(s->known + n + 1, thread ? thread : "") == 0;
}

static int service_route(struct tc_instance *inst, const char *path)
{
    struct stage *const s = stage_of(inst);
    if (s->route_count == sizeof s->routes / sizeof *s->routes || path[0] != '/')
        return -1;
    s->routes[s->route_count++] = arena_strdup(&s->config, path);
    return 0;
}

static int64_t service_socket_open(struct tc_instance *inst, const struct tc_socket *socket)
{
    struct stage *const s = stage_of(inst);
    if (socket->size != sizeof *socket || s->socket_count + 1 == 16)
        return -1;
    stage_check_secrets(s, "a socket's URL", socket->url, strlen(socket->url));
    stage_note(s, STAGE_WS_OPEN, 0, socket->url);
    s->sockets[++s->socket_count] = 1;
    return s->socket_count;
}

static int service_socket_send(struct tc_instance *inst, int64_t socket, const char *text,
                               size_t len)
{
    struct stage *const s = stage_of(inst);
    if (socket < 1 || socket > s->socket_count || s->sockets[socket] != 2)
        return -1;
    char *const frame = xstrndup(text, len);
    stage_note(s, STAGE_WS_SEND, (int)socket, frame);
    free(frame);
    return 0;
}

static void service_socket_close(struct tc_instance *inst, int64_t socket)
{
    struct stage *const s = stage_of(inst);
    if (socket < 1 || socket > s->socket_count || s->sockets[socket] == 0)
        return;
    s->sockets[socket] = 0;
    stage_note(s, STAGE_WS_CLOSE, (int)socket, "");
}

const struct tc_host *stage_services(void)
{
    static const struct tc_host table = {.size = sizeof table,
                                         .major = TURNCAST_API_MAJOR,
                                         .minor = TURNCAST_API_LATEST,
                                         .log = service_log,
                                         .alloc = service_alloc,
                                         .sprint = service_sprint,
                                         .json = service_json,
                                         .json_get = service_json_get,
                                         .redact = service_redact,
                                         .has_format = service_has_format,
                                         .keep = service_keep,
                                         .http = service_http,
                                         .wake = service_wake,
                                         .remember = service_remember,
                                         .pieces = service_pieces,
                                         .settled = service_settled,
                                         .submit = service_submit,
                                         .cancel = service_cancel,
                                         .may_submit = service_may_submit,
                                         .knows = service_knows,
                                         .ticket = service_ticket,
                                         .answer = service_answer,
                                         .route = service_route,
                                         .socket_open = service_socket_open,
                                         .socket_send = service_socket_send,
                                         .socket_close = service_socket_close};
    return &table;
}
