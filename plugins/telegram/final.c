/* SPDX-License-Identifier: MIT
 * Owns the outcome of a turn on its way to the person: its messages, each with the whole route, and
 * what becomes of the progress message when they have arrived. A tag holds all that the next step
 * needs, so it can be taken after a restart too. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "telegram.h"

#define UNITS 4000
#define BYTES 32000
#define ENTITIES 95
#define RICH_MAX 32000
#define DOCUMENT_MAX ((size_t)14 << 20) /* what is durable may be a little longer */
#define LOSS_AGE_MS ((int64_t)24 * 3600 * 1000)
#define SILENCE "The agent finished without an answer."

static json_t *reply_to(const struct target *to)
{
    return json_pack("{s:I, s:b}", "message_id", (json_int_t)to->message,
                     "allow_sending_without_reply", 1);
}

/* A part of the outcome: the first answers the question and is heard, the last clears up. */
static json_t *final_tag(struct tc_turn *turn, size_t i, bool last)
{
    const struct live *const l = turn->state;
    char summary[80];
    json_t *const tag = call_tag("final");
    chips_summary(l, summary, sizeof summary);
    json_object_set_new(tag, "i", json_integer((json_int_t)i));
    json_object_set_new(tag, "p", json_integer(live_message(turn, NULL)));
    if (last)
        json_object_set_new(tag, "sum", json_string(summary));
    return tag;
}

json_t *final_body(struct tc_turn *turn, const struct target *to, size_t i)
{
    json_t *const body = call_body(turn, to);
    json_object_set_new(body, "link_preview_options", json_pack("{s:b}", "is_disabled", 1));
    if (i > 0)
        json_object_set_new(body, "disable_notification", json_true());
    else if (to->message)
        json_object_set_new(body, "reply_parameters", reply_to(to));
    return body;
}

static int final_call(struct tc_turn *turn, const struct target *to, const char *method,
                      json_t *body, json_t *tag)
{
    const bool edits = strcmp(method, "editMessageText") == 0;
    return call_send(turn,
                     &(struct telegram_call){.method = method,
                                             .body = body,
                                             .tag = tag,
                                             .to = to,
                                             .paced = true,
                                             .priority = TC_P_FINAL,
                                             .flags = TC_DURABLE | (edits ? TC_IDEMPOTENT : 0)});
}

/* The body of a message as that of an edit of the progress message. */
void final_make_edit(json_t *body, int64_t message)
{
    json_object_set_new(body, "message_id", json_integer(message));
    json_object_del(body, "message_thread_id");
    json_object_del(body, "reply_parameters");
    json_object_del(body, "disable_notification");
}

static int send_piece(struct tc_turn *turn, const struct target *to, const struct tc_piece *p,
                      size_t i, bool last)
{
    const int64_t progress = live_message(turn, NULL);
    json_t *const body = final_body(turn, to, i);
    struct message m;
    message_init(&m, turn);
    message_piece(&m, p);
    message_put(&m, body, false);
    message_fini(&m);
    const bool edits = i == 0 && progress && strcmp(conf_of(turn)->finalize, "edit") == 0;
    if (edits)
        final_make_edit(body, progress);
    return final_call(turn, to, edits ? "editMessageText" : "sendMessage", body,
                      final_tag(turn, i, last));
}

int final_document(struct tc_turn *turn, const struct target *to, json_t *tag, const char *text,
                   size_t len)
{
    json_t *const body = final_body(turn, to, (size_t)call_int(tag, "i"));
    json_object_del(body, "link_preview_options");
    if (len > DOCUMENT_MAX) {
        json_object_set_new(
            body, "caption",
            json_string("The file is truncated: the answer exceeds the size limit."));
        for (len = DOCUMENT_MAX; ((unsigned char)text[len] & 0xc0) == 0x80;)
            len--;
    }
    return call_send_document(turn,
                              &(struct telegram_call){.method = "sendDocument",
                                                      .body = body,
                                                      .tag = tag,
                                                      .to = to,
                                                      .paced = true,
                                                      .priority = TC_P_FINAL,
                                                      .flags = TC_DURABLE,
                                                      .timeout_ms = 120000},
                              text, len);
}

int final_parts(struct tc_turn *turn, const char *text, size_t len, bool verbatim)
{
    const struct telegram_conf *const conf = conf_of(turn);
    const struct target to = route_read(turn);
    const bool file = strcmp(conf->overflow, "file") == 0,
               trim = strcmp(conf->overflow, "trim") == 0;
    size_t count, most = file ? 1 : (size_t)conf->max_parts;
    const struct tc_piece *const pieces =
        tc_pieces(turn,
                  TC_TEXT(.markdown = text, .len = len, .form = TC_TELEGRAM,
                          .flags = verbatim ? TC_VERBATIM : 0, .units = UNITS, .bytes = BYTES,
                          .entities = ENTITIES),
                  &count);
    if (!pieces)
        return strcmp(text, SILENCE) == 0 ? -1 : final_parts(turn, SILENCE, strlen(SILENCE), true);
    const bool over = count > most;
    const size_t shown = !over ? count : trim ? most : 1;
    int rc = 0;
    for (size_t i = 0; i < shown; i++)
        rc |= send_piece(turn, &to, &pieces[i], i, i + 1 == shown && (!over || trim));
    if (over && !trim)
        rc |= final_document(turn, &to, final_tag(turn, 1, true), text, len);
    return rc;
}

/* ---- rich messages ---- */

/* Outside of code a dollar sign would begin mathematics. */
static char *without_math(struct tc_turn *turn, const char *text, size_t len)
{
    char *const out = tc_alloc(turn, 2 * len + 1), *to = out;
    bool code = false;
    for (size_t i = 0; out && i < len; i++) {
        if (text[i] == '`' && (i == 0 || text[i - 1] != '`'))
            code = !code;
        if (text[i] == '$' && !code)
            *to++ = '\\';
        *to++ = text[i];
    }
    return out;
}

static int send_rich(struct tc_turn *turn, const char *text, size_t len)
{
    const struct target to = route_read(turn);
    json_t *const body = final_body(turn, &to, 0), *const tag = final_tag(turn, 0, true);
    json_object_del(body, "link_preview_options");
    json_object_set_new(body, "rich_message",
                        json_pack("{s:s?}", "markdown", without_math(turn, text, len)));
    json_object_set_new(tag, "text", json_stringn(text, len));
    return final_call(turn, &to, "sendRichMessage", body, tag);
}

int final_send(struct tc_turn *turn, const char *text, size_t len, bool verbatim)
{
    live_end(turn);
    if (route_read(turn).chat == 0)
        return 0;
    if (conf_of(turn)->rich && !state_of(turn)->no_rich && !verbatim && len > 0 && len < RICH_MAX)
        return send_rich(turn, text, len);
    return final_parts(turn, text, len, verbatim);
}

/* ---- it has arrived ---- */

static void clear(struct tc_turn *turn, const char *method, json_t *more, int64_t message)
{
    const struct target to = route_read(turn);
    json_t *const body = call_body(turn, &to);
    json_object_del(body, "message_thread_id");
    json_object_set_new(body, "message_id", json_integer(message));
    json_object_update(body, more);
    json_decref(more);
    call_send(turn, &(struct telegram_call){.method = method,
                                            .body = body,
                                            .tag = call_tag("clear"),
                                            .to = &to,
                                            .paced = true,
                                            .priority = TC_P_NOTICE,
                                            .flags = TC_DURABLE | TC_IDEMPOTENT});
}

static json_t *summary_text(struct tc_turn *turn, const json_t *tag)
{
    const struct live *const l = turn->state;
    const char *const sum = call_str(tag, "sum");
    const char *text = sum;
    if (l->tokens >= 1000)
        text = tc_sprint(turn, "%s · %" PRId64 "k tokens", sum, (l->tokens + 500) / 1000);
    else if (l->tokens > 0)
        text = tc_sprint(turn, "%s · %" PRId64 " tokens", sum, l->tokens);
    return json_pack("{s:s}", "text", text);
}

/* The progress message goes when the outcome is there, not before. */
static void clear_up(struct tc_turn *turn, const json_t *tag)
{
    const char *const after = conf_of(turn)->after;
    const int64_t message = live_message(turn, tag);
    if (!message)
        return;
    if (strcmp(after, "delete") == 0)
        clear(turn, "deleteMessage", NULL, message);
    else if (strcmp(after, "summary") == 0)
        clear(turn, "editMessageText", summary_text(turn, tag), message);
    else
        clear(turn, "editMessageReplyMarkup", NULL, message);
    live_use(turn);
}

/* A live edit whose reply was lost may reach the message up to LATE_MS later, and would replace
 * what it says for good. The same edit once more, behind that, does no harm: in a lane of its own,
 * as nothing has to wait for it. */
static void confirm_edit(struct tc_turn *turn, const struct tc_reply *reply)
{
    if (!live_may_come_late(turn))
        return;
    call_send(turn, &(struct telegram_call){
                        .method = strrchr(reply->http->url, '/') + 1,
                        .body = json_loadb(reply->http->body, reply->http->body_len, 0, NULL),
                        .tag = call_tag("confirm"),
                        .priority = TC_P_NOTICE,
                        .flags = TC_DURABLE | TC_IDEMPOTENT,
                        .delay_ms = LATE_MS});
}

static void arrived(struct tc_turn *turn, const struct tc_reply *reply, const json_t *tag)
{
    if (strstr(reply->http->url, "/editMessageText")) {
        live_use(turn); /* it is the answer now */
        confirm_edit(turn, reply);
    }
    if (call_str(tag, "sum"))
        clear_up(turn, tag);
}

/* ---- it never will ---- */

/* The person who asked is told, once per turn. Not durable: beside a durable request that takes its
 * place the answer would be no dead letter. */
static void tell_loss(struct tc_turn *turn, const char *reason)
{
    struct live *const l = turn->state;
    const struct target to = route_read(turn);
    if (l->told_loss || to.chat == 0)
        return;
    l->told_loss = true;
    json_t *const body = final_body(turn, &to, 0);
    json_object_set_new(
        body, "text",
        json_string(tc_sprint(turn,
                              "⚠ An answer could not be delivered here: %s. "
                              "It is stored as a dead letter; run: turncast dead list",
                              reason)));
    call_send(turn, &(struct telegram_call){.method = "sendMessage",
                                            .body = body,
                                            .tag = call_tag("loss"),
                                            .to = &to,
                                            .paced = true,
                                            .priority = TC_P_NOTICE,
                                            .flags = TC_IDEMPOTENT,
                                            .max_age_ms = LOSS_AGE_MS});
}

/* Where nothing can be said, that cannot be said either. */
static bool is_loss_told(const struct answer *a)
{
    return a->refusal != REFUSED_CHAT && a->refusal != REFUSED_TOKEN;
}

int final_on_reply(struct tc_turn *turn, const struct tc_reply *reply, const json_t *tag,
                   struct tc_verdict *v)
{
    struct answer a = answer_read(reply);
    bool lost = false;
    if (a.done || a.refusal == REFUSED_SAME) {
        v->next = TC_NEXT_DONE;
        arrived(turn, reply, tag);
    } else if (reply->outcome == TC_DROPPED) {
        v->reason = reply->error;
        lost = true;
    } else if (reply->outcome == TC_REJECTED || a.in_doubt) {
        lost = !ladder_step(turn, reply, tag, &a, v);
    }
    if (lost && is_loss_told(&a))
        tell_loss(turn, v->reason);
    answer_free(&a);
    return 0;
}

int final_on_cleared(struct tc_turn *turn, const struct tc_reply *reply, const json_t *tag,
                     struct tc_verdict *v)
{
    (void)tag;
    struct answer a = answer_read(reply);
    if (a.in_doubt)
        v->next = TC_NEXT_AGAIN; /* it can be repeated */
    else if (reply->outcome == TC_REJECTED && !answer_rule(turn, &a, v))
        v->next = TC_NEXT_DONE; /* nobody misses it */
    else if (a.done && !strstr(reply->http->url, "/deleteMessage"))
        confirm_edit(turn, reply);
    answer_free(&a);
    return 0;
}
