/* SPDX-License-Identifier: MIT
 * Owns how what people and services say crosses: messages, hits, sockets, and the answers. */
#include "base/alloc.h"
#include "plugin/ipc/ipc_frame.h"
#include "plugin/validate.h"

#define FILES_MAX 64
#define HEADERS_MAX 1024

/* ---- asks ---- */

static void pack_inbound(struct buf *out, const struct tc_inbound *in)
{
    pack_text(out, in->id);
    pack_text(out, in->also);
    pack_text(out, in->chat);
    pack_text(out, in->thread);
    pack_text(out, in->user);
    pack_text(out, in->name);
    pack_text(out, in->text);
    pack_text(out, in->quote);
    pack_text(out, in->route);
    pack_number(out, (int64_t)in->file_count);
    for (size_t i = 0; i < in->file_count; i++) {
        pack_text(out, in->files[i]);
        pack_text(out, in->file_names ? in->file_names[i] : NULL);
    }
}

static void pack_decision(struct buf *out, const struct tc_decision *d)
{
    pack_text(out, d->ticket);
    pack_text(out, d->choice);
    pack_text(out, d->text);
    pack_text(out, d->answers);
    pack_text(out, d->user);
    pack_text(out, d->name);
    pack_text(out, d->chat);
    pack_text(out, d->thread);
}

void frame_pack_ask(struct buf *out, const struct ask *a)
{
    pack_number(out, (int64_t)a->kind);
    if (a->kind == ASK_SUBMIT) {
        pack_inbound(out, a->inbound);
        return;
    }
    if (a->kind == ASK_ANSWER) {
        pack_decision(out, a->decision);
        return;
    }
    pack_text(out, a->turn);
    pack_text(out, a->request);
    pack_text(out, a->user);
    pack_text(out, a->chat);
    pack_text(out, a->thread);
}

static struct ask *unpack_submit(struct unpack *u, const char *instance)
{
    const char *files[FILES_MAX], *names[FILES_MAX];
    struct tc_inbound in = {.size = sizeof in, .files = files, .file_names = names};
    in.id = unpack_text(u);
    in.also = unpack_text(u);
    in.chat = unpack_text(u);
    in.thread = unpack_text(u);
    in.user = unpack_text(u);
    in.name = unpack_text(u);
    in.text = unpack_required(u);
    in.quote = unpack_text(u);
    in.route = unpack_text(u);
    in.file_count = unpack_count(u, FILES_MAX);
    for (size_t i = 0; i < in.file_count; i++) {
        files[i] = unpack_text(u);
        names[i] = unpack_text(u);
    }
    return unpack_finish(u) == 0 && !claim_inbound(&in) ? ask_new_submit(instance, &in) : NULL;
}

static struct ask *unpack_decision(struct unpack *u, const char *instance)
{
    struct tc_decision d = {.size = sizeof d};
    d.ticket = unpack_text(u);
    d.choice = unpack_text(u);
    d.text = unpack_text(u);
    d.answers = unpack_text(u);
    d.user = unpack_text(u);
    d.name = unpack_text(u);
    d.chat = unpack_text(u);
    d.thread = unpack_text(u);
    return unpack_finish(u) == 0 && !claim_decision(&d) ? ask_new_answer(instance, &d) : NULL;
}

static struct ask *unpack_names(struct unpack *u, enum ask_kind kind, const char *instance)
{
    const char *const turn = unpack_text(u), *const request = unpack_text(u),
                      *const user = unpack_text(u), *const chat = unpack_text(u),
                      *const thread = unpack_text(u);
    if (unpack_finish(u) < 0)
        return NULL;
    if (kind == ASK_TICKET)
        return claim_is_id(turn) && claim_is_id(request) ? ask_new_ticket(instance, turn, request)
                                                         : NULL;
    if (kind == ASK_KNOWS)
        return claim_is_id(chat) && (!thread || claim_is_id(thread))
                   ? ask_new_knows(instance, chat, thread)
                   : NULL;
    if (!claim_is_id(user) || !claim_is_id(kind == ASK_MAY ? chat : turn))
        return NULL;
    return kind == ASK_MAY ? ask_new_may(instance, user, chat)
                           : ask_new_cancel(instance, turn, user);
}

struct ask *frame_unpack_ask(struct unpack *u, const char *instance)
{
    const enum ask_kind kind = (enum ask_kind)unpack_count(u, ASK_KNOWS);
    if (kind == ASK_SUBMIT)
        return unpack_submit(u, instance);
    if (kind == ASK_ANSWER)
        return unpack_decision(u, instance);
    return unpack_names(u, kind, instance);
}

void frame_pack_asked(struct buf *out, const struct frame_asked *a)
{
    pack_number(out, (int64_t)a->accepted);
    pack_text(out, a->turn);
    pack_text(out, a->text);
}

void frame_unpack_asked(struct unpack *u, struct frame_asked *a)
{
    a->accepted = (enum tc_accepted)unpack_count(u, TC_INTERRUPT);
    a->turn = unpack_text(u);
    a->text = unpack_text(u);
}

/* ---- hits ---- */

void frame_pack_hit(struct buf *out, const struct tc_hit *hit)
{
    pack_text(out, hit->method);
    pack_text(out, hit->path);
    pack_text(out, hit->query);
    pack_number(out, (int64_t)hit->header_count);
    for (size_t i = 0; i < hit->header_count; i++) {
        pack_text(out, hit->headers[i].name);
        pack_text(out, hit->headers[i].value);
    }
    pack_bytes(out, (struct str){hit->body, hit->body_len});
}

void frame_unpack_hit(struct unpack *u, struct arena *a, struct tc_hit *hit)
{
    hit->method = unpack_required(u);
    hit->path = unpack_required(u);
    hit->query = unpack_required(u);
    hit->header_count = unpack_count(u, HEADERS_MAX);
    struct tc_header *const headers = arena_alloc(a, (hit->header_count + 1) * sizeof *headers);
    for (size_t i = 0; i < hit->header_count; i++) {
        headers[i].name = unpack_required(u);
        headers[i].value = unpack_required(u);
    }
    hit->headers = headers;
    const struct str body = unpack_bytes(u);
    hit->body = body.p ? body.p : "";
    hit->body_len = body.len;
}

void frame_pack_answer(struct buf *out, const struct tc_answer *answer)
{
    pack_flag(out, answer != NULL);
    if (!answer)
        return;
    pack_number(out, answer->status);
    pack_text(out, answer->content_type);
    pack_bytes(out, (struct str){answer->body, answer->body_len});
}

const struct tc_answer *frame_unpack_answer(struct unpack *u, struct tc_answer *into)
{
    if (!unpack_flag(u))
        return NULL;
    into->status = (int)unpack_count(u, 999);
    into->content_type = unpack_text(u);
    const struct str body = unpack_bytes(u);
    into->body = body.p;
    into->body_len = body.len;
    u->bad = u->bad || claim_answer(into);
    return u->bad ? NULL : into;
}

/* ---- sockets ---- */

void frame_pack_socket(struct buf *out, const struct tc_frame *f)
{
    pack_number(out, f->socket);
    pack_number(out, (int64_t)f->event);
    pack_bytes(out, (struct str){f->text, f->len});
}

void frame_unpack_socket(struct unpack *u, struct tc_frame *f)
{
    f->socket = unpack_number(u);
    f->event = (enum tc_socket_event)unpack_count(u, TC_SOCKET_CLOSED);
    const struct str text = unpack_bytes(u);
    f->text = text.p ? text.p : "";
    f->len = text.len;
}

void frame_pack_socket_spec(struct buf *out, const struct tc_socket *s)
{
    pack_text(out, s->url);
    pack_number(out, s->ping_ms);
    pack_number(out, s->silent_ms);
}

void frame_unpack_socket_spec(struct unpack *u, struct tc_socket *s)
{
    s->size = sizeof *s;
    s->url = unpack_required(u);
    s->ping_ms = unpack_number(u);
    s->silent_ms = unpack_number(u);
    u->bad = u->bad || claim_socket(s);
}
