/* SPDX-License-Identifier: MIT
 * Owns what is tried when an outcome did not get through as it was: the same without what was
 * refused, smaller, as a file, elsewhere; and what may have got through although nobody said so.
 * Each step is made once, the tag remembers which; only what is in doubt is repeated until it is
 * too old. */
#include <stdlib.h>
#include <string.h>

#include "telegram.h"

#define SMALL_UNITS 2000
#define SMALL_BYTES 8000
#define RESENT "(resent)"

/* The request that did not get through, taken apart. */
struct step {
    struct tc_turn *turn;
    const struct answer *answer;
    struct target to;
    json_t *body, *tag; /* taken over by what is sent */
    const char *method, *content;
    size_t len; /* of content, a document's */
    enum tc_priority priority;
    int64_t max_age_ms;
};

static bool open_step(struct step *s, struct tc_turn *turn, const struct tc_reply *reply,
                      const json_t *tag, const struct answer *a)
{
    const char *const slash = strrchr(reply->http->url, '/');
    *s = (struct step){.turn = turn,
                       .answer = a,
                       .to = route_read(turn),
                       .method = slash ? slash + 1 : "",
                       .priority = reply->http->priority,
                       .max_age_ms = reply->http->max_age_ms};
    s->body = strcmp(s->method, "sendDocument") == 0
                  ? call_read_document(reply->http, &s->content, &s->len)
                  : json_loadb(reply->http->body, reply->http->body_len, 0, NULL);
    if (!s->body)
        return false;
    s->tag = json_deep_copy(tag);
    s->to.chat = call_int(s->body, "chat_id");
    s->to.thread = call_int(s->body, "message_thread_id");
    return true;
}

static bool was_tried(const struct step *s, const char *what)
{
    return json_is_true(json_object_get(s->tag, what));
}

static void note(struct step *s, const char *what)
{
    json_object_set_new(s->tag, what, json_true());
}

/* Sends what became of it in its place. */
static bool resend(struct step *s)
{
    const bool edits = strcmp(s->method, "editMessageText") == 0;
    const struct telegram_call c = {.method = s->method,
                                    .body = json_incref(s->body),
                                    .tag = json_incref(s->tag),
                                    .to = &s->to,
                                    .paced = true,
                                    .priority = s->priority,
                                    .max_age_ms = s->max_age_ms,
                                    .flags = TC_DURABLE | (edits ? TC_IDEMPOTENT : 0)};
    return (s->content ? call_send_document(s->turn, &c, s->content, s->len)
                       : call_send(s->turn, &c)) == 0;
}

/* ---- refused ---- */

static bool try_plain(struct step *s)
{
    if (json_object_del(s->body, "entities"))
        return false;
    return resend(s);
}

/* Formatting is not worth a second refusal: smaller pieces are plain. */
static bool try_smaller(struct step *s)
{
    const char *const text = call_str(s->body, "text");
    json_t *const tag = s->tag, *const sum = json_incref(json_object_get(tag, "sum"));
    size_t count = 0;
    const struct tc_piece *const pieces =
        text && !was_tried(s, "small")
            ? tc_pieces(s->turn,
                        TC_TEXT(.markdown = text, .len = strlen(text), .form = TC_TELEGRAM,
                                .flags = TC_VERBATIM, .units = SMALL_UNITS, .bytes = SMALL_BYTES),
                        &count)
            : NULL;
    bool sent = count > 0;
    note(s, "small");
    json_object_del(tag, "sum");
    json_object_del(s->body, "entities");
    for (size_t i = 0; i < count; i++) {
        json_object_set_new(s->body, "text", json_string(pieces[i].text));
        if (sum && i + 1 == count)
            json_object_set(tag, "sum", sum);
        sent &= resend(s);
        if (i > 0)
            continue;
        s->method = "sendMessage";
        json_object_del(s->body, "message_id");
        json_object_del(s->body, "reply_parameters");
        json_object_set_new(s->body, "disable_notification", json_true());
        if (s->to.thread)
            json_object_set_new(s->body, "message_thread_id", json_integer(s->to.thread));
    }
    if (!pieces && text) {
        if (sum)
            json_object_set(tag, "sum", sum);
        sent = final_document(s->turn, &s->to, json_incref(tag), text, strlen(text)) == 0;
    }
    json_decref(sum);
    return sent;
}

static bool try_something(struct step *s)
{
    if (was_tried(s, "filled"))
        return false;
    note(s, "filled");
    json_object_del(s->body, "entities");
    json_object_set_new(s->body, "text", json_string("The agent's answer is empty."));
    return resend(s);
}

static bool try_without_thread(struct step *s)
{
    if (json_object_del(s->body, "message_thread_id"))
        return false;
    s->to.thread = 0;
    return resend(s);
}

static bool try_without_reply(struct step *s)
{
    return json_object_del(s->body, "reply_parameters") == 0 && resend(s);
}

static bool try_new_chat(struct step *s)
{
    const int64_t to = s->answer->moved_to;
    if (!to || was_tried(s, "moved"))
        return false;
    note(s, "moved");
    route_moved(state_of(s->turn), s->to.chat, to);
    s->to.chat = to;
    json_object_set_new(s->body, "chat_id", json_integer(to));
    json_object_del(s->body, "message_thread_id");
    json_object_del(s->body, "reply_parameters");
    if (json_object_del(s->body, "message_id") == 0)
        s->method = "sendMessage";
    return resend(s);
}

/* The message to edit is no more. */
static bool try_fresh(struct step *s)
{
    if (json_object_del(s->body, "message_id"))
        return false;
    const struct target to = route_read(s->turn);
    live_use(s->turn);
    s->method = "sendMessage";
    if (to.thread && s->to.chat == to.chat)
        json_object_set_new(s->body, "message_thread_id", json_integer(to.thread));
    if (to.message && s->to.chat == to.chat)
        json_object_set_new(s->body, "reply_parameters",
                            json_pack("{s:I, s:b}", "message_id", (json_int_t)to.message,
                                      "allow_sending_without_reply", 1));
    return resend(s);
}

/* What has no row here is given up. */
static bool (*const steps[])(struct step *) = {
    [REFUSED] = try_plain,
    [REFUSED_ENTITIES] = try_plain,
    [REFUSED_LONG] = try_smaller,
    [REFUSED_EMPTY] = try_something,
    [REFUSED_THREAD] = try_without_thread,
    [REFUSED_REPLY] = try_without_reply,
    [REFUSED_MOVED] = try_new_chat,
    [REFUSED_MESSAGE] = try_fresh,
    [REFUSED_METHOD] = NULL,
};

/* A rich message that is refused for what it is: as any other message; for good where the server
 * does not know it. */
static bool try_unrich(struct step *s)
{
    const char *const text = call_str(s->tag, "text");
    if (s->answer->refusal == REFUSED_METHOD)
        state_of(s->turn)->no_rich = true;
    return text && final_parts(s->turn, text, strlen(text), false) == 0;
}

static bool is_about_rich(const struct step *s)
{
    const enum refusal r = s->answer->refusal;
    return strcmp(s->method, "sendRichMessage") == 0 && r != REFUSED_THREAD && r != REFUSED_REPLY &&
           r != REFUSED_MOVED && r != REFUSED_CHAT;
}

static bool ladder_take(struct step *s)
{
    const enum refusal r = s->answer->refusal;
    if (is_about_rich(s))
        return try_unrich(s);
    return r < sizeof steps / sizeof *steps && steps[r] && steps[r](s);
}

/* ---- in doubt ---- */

/* Who may see it twice is told so. */
static void mark(struct step *s)
{
    json_t *const rich = json_object_get(s->body, "rich_message");
    json_t *const holder = rich ? rich : s->body;
    const char *const key = rich ? "markdown" : "text", *const text = call_str(holder, key);
    note(s, "resent");
    if (text)
        json_object_set_new(holder, key, json_string(tc_sprint(s->turn, "%s\n\n" RESENT, text)));
    else if (s->content)
        json_object_set_new(s->body, "caption", json_string(RESENT));
}

/* An edit can be made twice: the progress message becomes the outcome. */
static bool try_edit(struct step *s)
{
    const int64_t progress = live_message(s->turn, s->tag);
    if (!progress || call_int(s->tag, "i") > 0 || !call_str(s->body, "text") ||
        strcmp(s->method, "sendMessage") != 0 || s->priority != TC_P_FINAL)
        return false;
    mark(s);
    final_make_edit(s->body, progress);
    s->method = "editMessageText";
    return resend(s);
}

static bool try_marked(struct step *s)
{
    if (strcmp(conf_of(s->turn)->ambiguous, "drop") == 0)
        return false;
    mark(s);
    return resend(s);
}

/* What is marked already says that it may be there twice: it goes again as it is, after a back-off,
 * until it is too old. */
static bool take_doubt(struct step *s, struct tc_verdict *v)
{
    if (!was_tried(s, "resent"))
        return try_edit(s) || try_marked(s);
    if (strcmp(conf_of(s->turn)->ambiguous, "drop") == 0)
        return false;
    v->next = TC_NEXT_AGAIN;
    return true;
}

bool ladder_step(struct tc_turn *turn, const struct tc_reply *reply, const json_t *tag,
                 const struct answer *a, struct tc_verdict *v)
{
    struct step s;
    if (a->in_doubt && reply->http->flags & TC_IDEMPOTENT) {
        v->next = TC_NEXT_AGAIN;
        return true;
    }
    if (a->refusal != REFUSED_METHOD && answer_rule(turn, a, v))
        return v->next == TC_NEXT_AGAIN;
    v->next = TC_NEXT_FAIL;
    v->reason = NULL;
    if (!open_step(&s, turn, reply, tag, a)) {
        v->reason = "the connector cannot read its own request";
        return false;
    }
    const bool goes_on = a->in_doubt ? take_doubt(&s, v) : ladder_take(&s);
    if (!goes_on)
        v->reason = a->in_doubt ? "delivery is uncertain: no response from Telegram"
                                : tc_sprint(turn, "Telegram: %s", a->description);
    json_decref(s.body);
    json_decref(s.tag);
    return goes_on;
}
