/* SPDX-License-Identifier: MIT
 * Input of people: messages, commands, presses, reactions. The host decides, and the engine shows
 * the result to the person. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/versioned.h"
#include "chat/chat_internal.h"
#include "chat/operation/chat_target.h"
#include "text/sentence/texts.h"

#define PRESS_TEXT_MAX 190 /* bytes */

/* ---- what the person sees ---- */

/* Each reply and each reaction needs a key of its own; therefore the slot contains the message of
 * the person. */
static const char *chat_inbound_slot_for(struct chat *c, const char *slot,
                                         const struct tc_target *target, const char *what)
{
    return arena_sprintf(&c->scratch, "%s:%s:%s:%s", slot, target->chat,
                         target->message ? target->message : "", what);
}

void chat_reply(struct chat *c, struct tc_turn *turn, const struct tc_target *target,
                const char *text)
{
    struct chat_record r = {
        .op = TC_OP_POST, .role = TC_ROLE_REPLY, .target = *target, .silent = true};
    r.slot = chat_inbound_slot_for(c, CHAT_SLOT_REPLY, target, text);
    if (chat_render_one(c, &r, text, TC_VERBATIM))
        chat_send(c, turn, &r, NULL);
}

void chat_react(struct chat *c, struct tc_turn *turn, const struct tc_target *target,
                enum tc_reaction reaction, const char *instead)
{
    const char what[] = {(char)('0' + reaction), '\0'};
    const struct chat_record r = {.op = TC_OP_REACT,
                                  .slot = chat_inbound_slot_for(c, CHAT_SLOT_SIGN, target, what),
                                  .target = *target,
                                  .message = target->message,
                                  .summary = instead,
                                  .reaction = reaction};
    if (chat_can(c, TC_OP_REACT) && target->message && chat_send(c, turn, &r, NULL) == 0)
        return;
    if (reaction == TC_REACTION_GIVEN || reaction == TC_REACTION_INTERRUPT)
        chat_react(c, turn, target, TC_REACTION_TAKEN, instead);
    else if (instead)
        chat_reply(c, turn, target, instead);
}

/* Replies to a command. If the option `thinking` is off, "Shown: thinking" would be wrong. */
static void reply_to_command(struct chat *c, const struct tc_chat_message *m, const char *answer)
{
    const char *const text = m->text ? m->text : "";
    const bool wants = strstr(text, "show-thinking") || strstr(text, "show-all");
    if (wants && !c->options.thinking)
        answer = arena_sprintf(&c->scratch, "%s %s", answer, texts_get(TEXT_CHAT_NO_THINKING));
    chat_reply(c, c->inst->lobby, &m->target, answer);
}

/* Whether the answer is only "Stopping the running turn.", which the outcome says, too. */
static bool chat_inbound_only_stops(const struct chat_turn *t, const char *answer)
{
    return t && !t->over && strcmp(answer, texts_get(TEXT_STOPPING)) == 0;
}

static void chat_inbound_show_command_result(struct chat *c, const struct tc_chat_message *m,
                                             const struct tc_receipt *receipt)
{
    struct chat_turn *const t = receipt->turn ? chat_find_turn(c, receipt->turn) : NULL;
    if (!receipt->answer)
        return;
    if (chat_inbound_only_stops(t, receipt->answer))
        chat_live_record_stop(t, &m->target);
    else
        reply_to_command(c, m, receipt->answer);
}

static void chat_inbound_show_acceptance(struct chat *c, const struct tc_chat_message *m,
                                         enum tc_accepted how, const struct tc_receipt *receipt)
{
    const struct tc_target *const target = &m->target;
    switch (how) {
    case TC_ACCEPTED:
        chat_react(c, c->inst->lobby, target, TC_REACTION_SEEN, NULL);
        break;
    case TC_QUEUED:
        chat_react(c, c->inst->lobby, target, TC_REACTION_QUEUED, receipt->answer);
        break;
    case TC_GIVEN:
        chat_react(c, c->inst->lobby, target, TC_REACTION_GIVEN, receipt->answer);
        break;
    case TC_INTERRUPT:
        chat_react(c, c->inst->lobby, target, TC_REACTION_INTERRUPT, receipt->answer);
        break;
    case TC_COMMAND:
    case TC_FULL:
        chat_inbound_show_command_result(c, m, receipt);
        break;
    case TC_KNOWN:
    case TC_DENIED:
    case TC_INVALID:
    case TC_NOT_KEPT:
        break;
    }
}

/* ---- messages ---- */

enum tc_accepted chat_submit(struct chat *c, const struct tc_chat_message *m,
                             const char *const *paths, const char *const *names, size_t count)
{
    json_t *const target = chat_target_to_json(&m->target);
    char *const route = alloc_check(json_dumps(target, JSON_COMPACT), 1);
    struct tc_receipt receipt = {0};
    const enum tc_accepted how = tc_submit(
        c->inst->lobby,
        TC_INBOUND(.id = m->id, .also = m->also, .chat = m->target.chat, .thread = m->topic,
                   .user = m->user, .name = m->name, .text = m->text ? m->text : "",
                   .quote = m->quote, .route = route, .files = paths, .file_names = names,
                   .file_count = count, .direct = !m->target.group, .kind = m->kind),
        &receipt);
    chat_inbound_show_acceptance(c, m, how, &receipt);
    json_decref(target);
    free(route);
    return how;
}

static bool chat_inbound_is_addressed(struct chat *c, const struct tc_chat_message *m)
{
    return m->addressed == TC_ADDRESSED_YES || (m->addressed == TC_ADDRESSED_THREAD &&
                                                tc_knows(c->inst->lobby, m->target.chat, m->topic));
}

static enum tc_accepted chat_inbound_accept(struct chat *c, const struct tc_chat_message *m)
{
    const bool addressed = chat_inbound_is_addressed(c, m);
    const bool is_empty = !*m->text && !m->file_count && !m->kind;
    if ((!addressed && !m->group) || is_empty)
        return TC_KNOWN;
    return chat_files_wait(c, m) ? chat_files_accept(c, m, addressed)
                                 : chat_submit(c, m, NULL, NULL, 0);
}

enum tc_accepted chat_handle_message(struct chat *c, const struct tc_chat_message *given)
{
    struct tc_chat_message m;
    struct tc_chat_file files[CHAT_ATTACHMENTS_MAX];
    enum tc_accepted how = TC_INVALID;
    versioned_copy(&m, sizeof m, given);
    if (m.chat_was && m.target.chat)
        chat_record_move(c, m.chat_was, m.target.chat);
    if (m.chat_was && !m.id)
        return TC_KNOWN;
    m.user = m.user ? m.user : m.target.user;
    if (m.mentioned)
        m.mentions = chat_mentions_read(c, m.mentioned, &m.mention_count);
    m.text = chat_menu_read(
        c, chat_mentions_replace(c, m.text ? m.text : "", m.mentions, m.mention_count));
    if (m.attachments) {
        m.file_count = chat_attachments_read(c, &m, files);
        m.files = files;
    }
    if (*m.text && !m.file_count)
        m.kind = NULL; /* the message is written text */
    if (!m.target.chat || !m.id || !m.user)
        tc_log(c->inst, TC_ERR, "tc_chat_receive: the message has no id, chat or user");
    else if (!chat_cards_handle_reply(c, &m, &how))
        how = chat_inbound_accept(c, &m);
    c->receiving.not_kept |= how == TC_NOT_KEPT;
    const bool is_to_bot = m.addressed == TC_ADDRESSED_YES || how != TC_KNOWN;
    if (how != TC_NOT_KEPT && how != TC_INVALID && is_to_bot)
        chat_gap_record_message(c, &m);
    return how;
}

/* ---- presses and reactions ---- */

static void chat_inbound_confirm_press(struct chat *c, const struct tc_chat_action *a,
                                       const char *given, bool alert)
{
    const char *const slot = arena_sprintf(&c->scratch, CHAT_SLOT_PRESS ":%s", a->id ? a->id : "");
    const size_t len = given ? utf8_truncated_len(given, strlen(given), PRESS_TEXT_MAX) : 0;
    const char *const text = given ? arena_strndup(&c->scratch, given, len) : "";
    const struct chat_record r = {.op = TC_OP_PRIVATE,
                                  .role = TC_ROLE_REPLY,
                                  .slot = slot,
                                  .target = a->target,
                                  .action = a->id,
                                  .silent = !alert,
                                  .text = text,
                                  .plain = text};
    if (a->id && chat_can(c, TC_OP_PRIVATE))
        chat_send(c, c->inst->lobby, &r, NULL);
}

static const char *chat_inbound_stop(struct chat *c, const struct tc_chat_action *a,
                                     const char *turn, enum tc_accepted *how)
{
    struct tc_receipt receipt = {0};
    struct chat_turn *const t = chat_find_turn(c, turn);
    if (!t || t->over)
        return texts_get(TEXT_STOP_OVER);
    *how = tc_cancel(c->inst->lobby, turn, a->user, &receipt);
    if (*how == TC_COMMAND) {
        t->view.phase = TC_PHASE_STOPPING;
        chat_live_update(t, true);
    }
    return receipt.answer;
}

/* Finds the turn that runs in a chat or thread. The first message of a thread may be the message
 * that started the turn. */
static struct chat_turn *chat_inbound_find_running(struct chat *c, const struct tc_target *at)
{
    struct chat_turn *t;
    LIST_FOREACH (t, &c->turns, entry) {
        const char *const root = t->target.thread ? t->target.thread : t->target.message;
        const bool is_root = root && at->thread && strcmp(root, at->thread) == 0;
        if (!t->over && t->target.chat && strcmp(t->target.chat, at->chat) == 0 &&
            (is_root || (!t->target.thread && !at->thread)))
            break;
    }
    return t;
}

/* Stops the turn that runs in a chat or thread. If there is none, the person gets no text. */
static const char *chat_inbound_stop_in_place(struct chat *c, const struct tc_chat_action *a,
                                              enum tc_accepted *how)
{
    const struct chat_turn *const t = chat_inbound_find_running(c, &a->target);
    return t ? chat_inbound_stop(c, a, t->turn->id, how) : NULL;
}

static void chat_inbound_log_forged(struct chat *c, const struct tc_chat_action *a)
{
    if (!c->forged)
        tc_log(c->inst, TC_WARN,
               "ignored a button press from user %s: the button was not created by this instance; "
               "further ones are not logged",
               a->user);
    c->forged = true;
}

static const char *chat_inbound_resend(struct chat *c, const struct tc_chat_action *a,
                                       const char *turn, enum tc_accepted *how)
{
    struct tc_receipt receipt = {0};
    *how = c->hooks.resend(c->hooks.ctx, turn, a->user, a->target.chat, &receipt);
    return receipt.answer;
}

/* The new turn is shown in the place of the button. A press whose message has already been stored
 * is recognised by its id, also in another process. */
static const char *chat_inbound_retry(struct chat *c, const struct tc_chat_action *a,
                                      const char *turn, enum tc_accepted *how)
{
    const uint64_t which = chat_recent_hash(CHAT_PRESS_RETRY, turn);
    struct tc_receipt receipt = {0};
    struct tc_target target = a->target;
    *how = TC_KNOWN;
    if (chat_recent_has(&c->taken, which, 0))
        return texts_get(TEXT_RETRY_KNOWN);
    target.user = a->user;
    json_t *const route = chat_target_to_json(&target);
    char *const text = alloc_check(json_dumps(route, JSON_COMPACT), 1);
    *how = c->hooks.retry(c->hooks.ctx,
                          TC_INBOUND(.id = arena_sprintf(&c->scratch, "retry:%s", turn),
                                     .chat = target.chat, .thread = a->topic, .user = a->user,
                                     .name = a->name, .text = "retry", .route = text,
                                     .direct = !target.group),
                          turn, &receipt);
    if (*how == TC_ACCEPTED || *how == TC_QUEUED)
        chat_recent_add(&c->taken, which, 0);
    json_decref(route);
    free(text);
    return receipt.answer;
}

/* ---- buttons about a turn ---- */

json_t *chat_turn_button(const struct chat_turn *t, const char *press, enum text_id label)
{
    if (!chat_card_has_buttons(t->chat->table.input) ||
        strlen(press) + strlen(t->turn->id) > CHAT_BUTTON_DATA)
        return NULL;
    return json_pack("[[s+, s, i]]", press, t->turn->id, texts_get(label), (int)TC_STYLE_PLAIN);
}

/* Buttons about a turn. */
struct turn_press {
    const char *data; /* prefix of the data of the button; the id of the turn follows */
    /* Returns a text for the person, or NULL. */
    const char *(*act)(struct chat *c, const struct tc_chat_action *a, const char *turn,
                       enum tc_accepted *how);
    bool begins_turn;
};
static const struct turn_press turn_presses[] = {
    {CHAT_PRESS_STOP, chat_inbound_stop, false},
    {CHAT_PRESS_RESEND, chat_inbound_resend, false},
    {CHAT_PRESS_RETRY, chat_inbound_retry, true},
};

/* NULL: the button is not about a turn. */
static const struct turn_press *chat_inbound_find_turn_press(const char *data)
{
    for (size_t i = 0; data && i < sizeof turn_presses / sizeof *turn_presses; i++)
        if (strncmp(data, turn_presses[i].data, strlen(turn_presses[i].data)) == 0)
            return &turn_presses[i];
    return NULL;
}

static bool chat_inbound_had_effect(const struct turn_press *press, enum tc_accepted how)
{
    return press && press->begins_turn ? how == TC_ACCEPTED || how == TC_QUEUED : how == TC_COMMAND;
}

/* Handles an action. If a press had no effect, the person must confirm the explanation. A reaction
 * to anything but an open approval is ignored. */
static enum tc_accepted chat_inbound_handle_action(struct chat *c, const struct tc_chat_action *a)
{
    const struct turn_press *const press = chat_inbound_find_turn_press(a->data);
    enum tc_accepted how = TC_DENIED;
    const char *text = NULL;
    bool alert = false;
    if (a->stop || press) {
        text = a->stop ? chat_inbound_stop_in_place(c, a, &how)
                       : press->act(c, a, a->data + strlen(press->data), &how);
        alert = !chat_inbound_had_effect(press, how);
    } else if (!chat_cards_handle_action(c, a, &how, &text, &alert) && a->data) {
        chat_inbound_log_forged(c, a);
        text = texts_get(TEXT_CHAT_BUTTON_OVER);
        alert = true;
    }
    if (text || a->data)
        chat_inbound_confirm_press(c, a, text, alert);
    return how;
}

/* An action that is delivered twice is carried out once: a second stop would kill the turn, and a
 * second choice would undo the first one. An action without effect may be repeated. */
int chat_handle_action(struct chat *c, const struct tc_chat_action *given)
{
    struct tc_chat_action a;
    versioned_copy(&a, sizeof a, given);
    a.user = a.user ? a.user : a.target.user;
    if (a.filled)
        a.answers = chat_cards_read_filled(c, &a);
    if (!a.target.chat || !a.user) {
        tc_log(c->inst, TC_ERR, "tc_chat_act: the action has no chat or user");
        return 0;
    }
    if (a.menu) {
        chat_menu_open(c, &a);
        return 0;
    }
    const uint64_t which = a.id ? chat_recent_hash(a.id, a.data) : 0;
    if (which && chat_recent_has(&c->taken, which, 0))
        return 0;
    const enum tc_accepted how = chat_inbound_handle_action(c, &a);
    c->receiving.not_kept |= how == TC_NOT_KEPT;
    if (how == TC_NOT_KEPT)
        return -1;
    if (which && how == TC_COMMAND)
        chat_recent_add(&c->taken, which, 0);
    return 0;
}
