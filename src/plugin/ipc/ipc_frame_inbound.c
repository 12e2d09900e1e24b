/* SPDX-License-Identifier: MIT
 * Encoding of inbound messages, HTTP requests, socket messages and their answers. */
#include "plugin/ipc/ipc_frame.h"
#include "plugin/validate.h"

#define FILES_MAX 64

/* ---- calls ---- */

static void pack_inbound(struct buf *out, const struct tc_inbound *in)
{
    pack_string(out, in->id);
    pack_string(out, in->also);
    pack_string(out, in->chat);
    pack_string(out, in->thread);
    pack_string(out, in->user);
    pack_string(out, in->name);
    pack_string(out, in->text);
    pack_string(out, in->quote);
    pack_string(out, in->route);
    pack_int64(out, (int64_t)in->file_count);
    for (size_t i = 0; i < in->file_count; i++) {
        pack_string(out, in->files[i]);
        pack_string(out, in->file_names ? in->file_names[i] : NULL);
    }
    pack_int64(out, (int64_t)in->instance_count);
    for (size_t i = 0; i < in->instance_count; i++)
        pack_string(out, in->instances[i]);
    pack_int64(out, in->direct);
    pack_string(out, in->kind);
}

static void pack_decision(struct buf *out, const struct tc_decision *d)
{
    pack_string(out, d->ticket);
    pack_string(out, d->choice);
    pack_string(out, d->text);
    pack_string(out, d->answers);
    pack_string(out, d->user);
    pack_string(out, d->name);
    pack_string(out, d->chat);
    pack_string(out, d->thread);
}

void ipc_frame_pack_call(struct buf *out, const struct host_call *a)
{
    pack_int64(out, (int64_t)a->kind);
    if (a->kind == HOST_CALL_SUBMIT || a->kind == HOST_CALL_RETRY) {
        pack_inbound(out, a->inbound);
        pack_string(out, a->turn);
        return;
    }
    if (a->kind == HOST_CALL_ANSWER) {
        pack_decision(out, a->decision);
        return;
    }
    pack_string(out, a->turn);
    pack_string(out, a->request);
    pack_string(out, a->user);
    pack_string(out, a->chat);
    pack_string(out, a->thread);
}

static struct host_call *unpack_submit(struct unpacker *u, const char *instance, bool retries)
{
    const char *files[FILES_MAX], *names[FILES_MAX], *instances[VALIDATE_INSTANCES_MAX];
    struct tc_inbound in = {
        .size = sizeof in, .files = files, .file_names = names, .instances = instances};
    in.id = unpack_text(u);
    in.also = unpack_text(u);
    in.chat = unpack_text(u);
    in.thread = unpack_text(u);
    in.user = unpack_text(u);
    in.name = unpack_text(u);
    in.text = unpack_required_string(u);
    in.quote = unpack_text(u);
    in.route = unpack_text(u);
    in.file_count = unpack_count(u, FILES_MAX);
    for (size_t i = 0; i < in.file_count; i++) {
        files[i] = unpack_text(u);
        names[i] = unpack_text(u);
    }
    in.instance_count = unpack_count(u, VALIDATE_INSTANCES_MAX);
    for (size_t i = 0; i < in.instance_count; i++)
        instances[i] = unpack_text(u);
    in.direct = unpack_count(u, 1);
    in.kind = unpack_text(u);
    const char *const turn = unpack_text(u);
    if (unpack_finish(u) < 0 || validate_inbound(&in) || (retries && !validate_id(turn)))
        return NULL;
    return retries ? host_call_new_retry(instance, &in, turn) : host_call_new_submit(instance, &in);
}

static struct host_call *unpack_decision(struct unpacker *u, const char *instance)
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
    return unpack_finish(u) == 0 && !validate_decision(&d) ? host_call_new_answer(instance, &d)
                                                           : NULL;
}

static struct host_call *unpack_names(struct unpacker *u, enum host_call_kind kind,
                                      const char *instance)
{
    const char *const turn = unpack_text(u), *const request = unpack_text(u),
                      *const user = unpack_text(u), *const chat = unpack_text(u),
                      *const thread = unpack_text(u);
    if (unpack_finish(u) < 0)
        return NULL;
    if (kind == HOST_CALL_TICKET)
        return validate_id(turn) && validate_id(request)
                   ? host_call_new_ticket(instance, turn, request)
                   : NULL;
    if (kind == HOST_CALL_KNOWS_CHAT)
        return validate_id(chat) && (!thread || validate_id(thread))
                   ? host_call_new_knows_chat(instance, chat, thread)
                   : NULL;
    if (kind == HOST_CALL_RESEND)
        return validate_id(turn) && validate_id(user) && validate_id(chat)
                   ? host_call_new_resend(instance, turn, user, chat)
                   : NULL;
    if (!validate_id(user) || !validate_id(kind == HOST_CALL_CHECK_PERMISSION ? chat : turn))
        return NULL;
    return kind == HOST_CALL_CHECK_PERMISSION ? host_call_new_check_permission(instance, user, chat)
                                              : host_call_new_cancel(instance, turn, user);
}

struct host_call *ipc_frame_unpack_call(struct unpacker *u, const char *instance)
{
    const enum host_call_kind kind = (enum host_call_kind)unpack_count(u, HOST_CALL_RETRY);
    if (kind == HOST_CALL_SUBMIT || kind == HOST_CALL_RETRY)
        return unpack_submit(u, instance, kind == HOST_CALL_RETRY);
    if (kind == HOST_CALL_ANSWER)
        return unpack_decision(u, instance);
    return unpack_names(u, kind, instance);
}

void ipc_frame_pack_call_result(struct buf *out, const struct ipc_call_result *a)
{
    pack_int64(out, (int64_t)a->accepted);
    pack_string(out, a->turn);
    pack_string(out, a->text);
}

void ipc_frame_unpack_call_result(struct unpacker *u, struct ipc_call_result *a)
{
    a->accepted = (enum tc_accepted)unpack_count(u, TC_INVALID);
    a->turn = unpack_text(u);
    a->text = unpack_text(u);
}

/* ---- HTTP requests ---- */

void ipc_frame_pack_hit(struct buf *out, const struct tc_hit *hit)
{
    pack_string(out, hit->method);
    pack_string(out, hit->path);
    pack_string(out, hit->query);
    ipc_frame_pack_headers(out, hit->headers, hit->header_count);
    pack_bytes(out, (struct str){hit->body, hit->body_len});
}

void ipc_frame_unpack_hit(struct unpacker *u, struct arena *a, struct tc_hit *hit)
{
    hit->method = unpack_required_string(u);
    hit->path = unpack_required_string(u);
    hit->query = unpack_required_string(u);
    hit->headers = ipc_frame_unpack_headers(u, a, &hit->header_count);
    const struct str body = unpack_bytes(u);
    hit->body = body.p ? body.p : "";
    hit->body_len = body.len;
}

void ipc_frame_pack_answer(struct buf *out, const struct tc_answer *answer)
{
    pack_bool(out, answer != NULL);
    if (!answer)
        return;
    pack_int64(out, answer->status);
    pack_string(out, answer->content_type);
    pack_bytes(out, (struct str){answer->body, answer->body_len});
    pack_bool(out, answer->later);
}

const struct tc_answer *ipc_frame_unpack_answer(struct unpacker *u, struct tc_answer *into)
{
    if (!unpack_flag(u))
        return NULL;
    into->status = (int)unpack_count(u, 999);
    into->content_type = unpack_text(u);
    const struct str body = unpack_bytes(u);
    into->body = body.p;
    into->body_len = body.len;
    into->later = unpack_flag(u);
    u->bad = u->bad || validate_answer(into);
    return u->bad ? NULL : into;
}

/* ---- sockets ---- */

void ipc_frame_pack_socket_text(struct buf *out, const struct tc_frame *f)
{
    pack_int64(out, f->socket);
    pack_int64(out, (int64_t)f->event);
    pack_bytes(out, (struct str){f->text, f->len});
}

void ipc_frame_unpack_socket(struct unpacker *u, struct tc_frame *f)
{
    f->socket = unpack_number(u);
    f->event = (enum tc_socket_event)unpack_count(u, TC_SOCKET_BINARY);
    const struct str text = unpack_bytes(u);
    f->text = text.p ? text.p : "";
    f->len = text.len;
}

void ipc_frame_pack_socket_spec(struct buf *out, const struct tc_socket *s)
{
    pack_string(out, s->url);
    pack_int64(out, s->ping_ms);
    pack_int64(out, s->silent_ms);
    ipc_frame_pack_headers(out, s->headers, s->header_count);
    pack_bool(out, s->binary);
    pack_int64(out, s->close_status);
}

void ipc_frame_unpack_socket_spec(struct unpacker *u, struct arena *a, struct tc_socket *s)
{
    s->size = sizeof *s;
    s->url = unpack_required_string(u);
    s->ping_ms = unpack_number(u);
    s->silent_ms = unpack_number(u);
    s->headers = ipc_frame_unpack_headers(u, a, &s->header_count);
    s->binary = unpack_flag(u);
    s->close_status = (int)unpack_count(u, 4999);
    u->bad = u->bad || validate_socket(s);
}
