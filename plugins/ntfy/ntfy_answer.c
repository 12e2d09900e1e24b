/* SPDX-License-Identifier: MIT
 * Presses of buttons: phones send them to the HTTP server of the host, or publish them to a topic
 * that is read through a websocket. The host does not learn who pressed a button: a valid ticket
 * is enough to decide, and the decision counts as that of the person named in the options. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ntfy.h"

#define CURSOR "cursor"
#define TOLD_S 5 /* between two notices about late presses, which anybody could cause */

/* ---- decisions ---- */

/* {"t": ticket, "c": choice, "x": text of an answer} */
static enum tc_accepted ntfy_answer_handle_press(struct tc_turn *lobby, const char *text,
                                                 size_t len, struct tc_receipt *receipt)
{
    const struct ntfy_conf *const conf = lobby->inst->conf;
    struct ntfy *const s = lobby->inst->state;
    json_t *const press = json_loadb(text, len, 0, NULL);
    const char *const ticket = tc_member_text(press, "t"), *const choice =
                                                               tc_member_text(press, "c");
    const int64_t now_s = (int64_t)time(NULL);
    enum tc_accepted how = TC_INVALID;
    if (ticket && choice)
        how = tc_answer(lobby,
                        TC_DECISION(.ticket = ticket, .choice = choice,
                                    .text = tc_member_text(press, "x"), .user = conf->person,
                                    .chat = conf->person),
                        receipt);
    json_decref(press);
    if (how == TC_KNOWN && receipt->answer && now_s - s->told_s >= TOLD_S) {
        s->told_s = now_s;
        ntfy_publish_notice(lobby, receipt->answer);
    }
    return how;
}

int ntfy_answer_on_hit(struct tc_turn *lobby, const struct tc_hit *hit, struct tc_answer *answer)
{
    struct tc_receipt receipt = {0};
    if (strcmp(hit->method, "POST") != 0) {
        answer->status = 405;
        return 0;
    }
    const enum tc_accepted how =
        ntfy_answer_handle_press(lobby, hit->body, hit->body_len, &receipt);
    answer->status = how == TC_COMMAND    ? 200
                     : how == TC_KNOWN    ? 409
                     : how == TC_DENIED   ? 403
                     : how == TC_NOT_KEPT ? 503
                                          : 400;
    answer->content_type = "application/json";
    answer->body = tc_json(lobby, "{s:s}", "text",
                           receipt.answer ? receipt.answer
                                          : tc_say(lobby, "This button is no longer valid.", NULL));
    return 0;
}

/* ---- the topic with answers ---- */

static int topic_connect(struct tc_turn *lobby, int status, unsigned unopened)
{
    const struct ntfy_conf *const conf = lobby->inst->conf;
    const bool tls = strncmp(conf->server, "https:", 6) == 0;
    const char *const host = strstr(conf->server, "://") + 3;
    const char *const cursor = tc_load(lobby->inst, CURSOR);
    (void)status;
    (void)unopened;
    return tc_link_open(lobby,
                        TC_SOCKET(.url = tc_sprint(lobby, "%s://%.*s/{option:answers}/ws?since=%s",
                                                   tls ? "wss" : "ws", (int)strcspn(host, "/?#"),
                                                   host, cursor ? tc_quote(lobby, cursor) : "all"),
                                  .headers = ntfy_headers, .header_count = NTFY_HEADERS));
}

/* The cursor moves when the decision is on disk. If a decision could not be stored, the message is
 * delivered again with the next connection. */
static void ntfy_answer_handle_message(struct tc_turn *lobby, const json_t *message)
{
    struct tc_receipt receipt = {0};
    const char *const id = tc_member_text(message, "id"), *const text =
                                                              tc_member_text(message, "message");
    const char *const event = tc_member_text(message, "event");
    if (!id || !event || strcmp(event, "message") != 0)
        return;
    if (text && ntfy_answer_handle_press(lobby, text, strlen(text), &receipt) == TC_NOT_KEPT)
        tc_link_renew(lobby, -1);
    else
        tc_store(lobby->inst, CURSOR, id);
}

int ntfy_answer_on_frame(struct tc_turn *lobby, const struct tc_frame *frame)
{
    json_t *const message = json_loadb(frame->text, frame->len, 0, NULL);
    ntfy_answer_handle_message(lobby, message);
    json_decref(message);
    return 0;
}

/* Messages that were published before the first start are not answers to this instance. */
int ntfy_answer_init(struct tc_instance *inst)
{
    const struct ntfy_conf *const conf = inst->conf;
    char now[24];
    if (!conf->answers)
        return conf->public_url ? tc_route(inst, "/answer") : 0;
    snprintf(now, sizeof now, "%lld", (long long)time(NULL));
    if (!tc_load(inst, CURSOR) && tc_store(inst, CURSOR, now) < 0)
        return -1;
    return tc_link_keep(inst, TC_LINK(.service = "the topic with answers", .hello_ms = -1,
                                      .connect = topic_connect, .backoff_ms = 3000,
                                      .backoff_max_ms = 96000));
}
