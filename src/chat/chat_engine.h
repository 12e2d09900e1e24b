/* SPDX-License-Identifier: MIT
 * Chat engine: shows the turns of one instance in a chat service that the table of its connector
 * describes (turncast/chat.h). Runs in the process of the plugin, on the thread of the instance,
 * and uses the services that plugins use: everything that it sends is an ordinary request of the
 * instance, so that the outbox provides order, rate limits, durability and recovery. Guarantees:
 * delivery as in operation/chat_delivery.h; no progress is shown after the outcome has been sent;
 * the host decides about presses and messages of people. */
#ifndef CHAT_CHAT_ENGINE_H
#define CHAT_CHAT_ENGINE_H

#include <turncast/plugin.h>

#include "chat/chat_options.h"
#include "event/event.h"

struct chat;
struct chat_turn;

/* Functions of the instance that the engine calls. */
struct chat_hooks {
    void *ctx;
    /* Calls chat_turn_wake after ms milliseconds; a new call replaces the timer; negative: never.
     */
    void (*wake)(void *ctx, struct tc_turn *turn, int64_t ms);
    /* Value of an option of the plugin, valid until the callback returns; NULL: none, 0 or
     * false. */
    const char *(*option)(void *ctx, const char *key);
    /* Sends the undelivered messages of the turn to that chat once more, if the person may write
     * there. The receipt has a text for the person. */
    enum tc_accepted (*resend)(void *ctx, const char *turn, const char *user, const char *chat,
                               struct tc_receipt *receipt);
    /* Passes the prompt of the turn to the agent again, in a new turn with the route of `inbound`.
     * The prompt must be the newest one of its conversation, and the person must be allowed to
     * write there. The receipt has a text for the person. */
    enum tc_accepted (*retry)(void *ctx, const struct tc_inbound *inbound, const char *turn,
                              struct tc_receipt *receipt);
};

/* `extended` is the plugin with the common options. Borrows everything but table and hooks. */
struct chat *chat_new(struct tc_instance *inst, const struct tc_plugin *extended,
                      const struct tc_chat *table, const struct chat_hooks *hooks);
/* Sets another table, and identifies the bot at the service again. */
void chat_replace_table(struct chat *c, const struct tc_chat *table);
void chat_free(struct chat *c); /* NULL is fine */
/* Called when the plugin's init has succeeded: identifies the bot at the service. */
void chat_begin(struct chat *c);
/* Begins a turn, or continues it after a restart. */
struct chat_turn *chat_turn_new(struct chat *c, struct tc_turn *turn);
void chat_turn_free(struct chat_turn *t); /* NULL is fine */

/* Each call is followed by chat_end_callback. Returns 0, or -1 if a message for the event could not
 * be sent. */
int chat_turn_handle_event(struct chat_turn *t, const struct event *ev);
void chat_turn_wake(struct chat_turn *t);
/* Called when the timer of the lobby has expired. */
void chat_wake(struct chat *c);
/* Handles a reply; t NULL: the request belongs to the lobby. False: the request was sent by the
 * plugin itself. */
bool chat_handle_reply(struct chat *c, struct chat_turn *t, const struct tc_reply *reply,
                       struct tc_verdict *v);
/* Frees the memory that the engine allocated for this callback. */
void chat_end_callback(struct chat *c);

/* tc_chat_receive, tc_chat_act and tc_chat_form. */
enum tc_accepted chat_handle_message(struct chat *c, const struct tc_chat_message *message);
int chat_handle_action(struct chat *c, const struct tc_chat_action *action);
const struct tc_field *chat_open_form(struct chat *c, const struct tc_chat_action *action,
                                      size_t *count);

/* ---- the feed; see tc_feed ---- */

bool chat_has_feed(const struct chat *c);
/* False: the event was not stored, and waiting events were dropped. */
bool chat_feed_add(struct chat *c, const char *event, const char *position);
void chat_feed_go(struct chat *c);
const char *chat_feed_position(struct chat *c);
void chat_feed_ready(struct chat *c, bool gap);
void chat_gap_handle_page(struct chat *c, const char *key, const struct tc_reply *reply,
                          const char *events, const char *next);

#endif
