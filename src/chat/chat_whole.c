/* SPDX-License-Identifier: MIT
 * The complete text of a request that does not fit into its card. It is sent before the card: as
 * messages, or as a file if there would be too many messages. These messages cannot be answered. */
#include <string.h>

#include "chat/chat_internal.h"
#include "chat/operation/chat_target.h"
#include "text/sentence/texts.h"

#define PARTS_MAX 5 /* maximum number of messages; a longer text is sent as a file */

static struct chat_record whole_record(struct chat *c, const struct chat_card *card, size_t place,
                                       size_t part, int64_t until_ms)
{
    return (struct chat_record){
        .op = TC_OP_POST,
        .role = TC_ROLE_CARD,
        .state = CHAT_POSTING,
        .slot =
            arena_sprintf(&c->scratch, CHAT_SLOT_WHOLE ":%zu:%zu:%s", place, part, card->request),
        .target = card->places[place].to,
        .silent = true,
        .since_ms = chat_unix_ms(),
        .until_ms = until_ms,
    };
}

static void send_messages(struct chat_turn *t, const struct chat_card *card,
                          const struct text_piece *pieces, size_t count, int64_t until_ms)
{
    for (size_t at = 0; at < card->place_count; at++)
        for (size_t i = 0; i < count; i++) {
            struct chat_record r = whole_record(t->chat, card, at, i, until_ms);
            r.text = pieces[i].text;
            r.entities = pieces[i].entities;
            r.plain = pieces[i].plain;
            chat_send(t->chat, t->turn, &r, NULL);
        }
}

static void chat_whole_send_file(struct chat_turn *t, const struct chat_card *card,
                                 const char *text, int64_t until_ms)
{
    const struct chat_send_extra extra = {.data = text, .len = strlen(text)};
    for (size_t at = 0; at < card->place_count; at++) {
        struct chat_record r = whole_record(t->chat, card, at, 0, until_ms);
        r.op = TC_OP_FILE;
        r.state = CHAT_FILING;
        r.text = r.plain = "";
        r.file.name = "request.txt";
        r.file.type = "text/plain; charset=utf-8";
        chat_send(t->chat, t->turn, &r, &extra);
    }
}

bool chat_whole_send(struct chat_turn *t, const struct chat_card *card, const struct tc_request *ev,
                     int64_t until_ms)
{
    struct chat *const c = t->chat;
    CLEANUP_BUF struct buf text = {0};
    size_t count;
    if (!ev->preview || !chat_json_int(card->about, "subject_cut"))
        return false;
    buf_printf(&text, "**%s**\n", texts_get(TEXT_CARD_WHOLE));
    chat_text_add_block(&text, ev->preview, strlen(ev->preview));
    const struct text_piece *const pieces =
        chat_text_render(&c->scratch, &c->table, TC_ROLE_CARD, text.p, text.len,
                         &(struct chat_text_options){0}, &count);
    if (pieces && count <= PARTS_MAX)
        send_messages(t, card, pieces, count, until_ms);
    else if (chat_can(c, TC_OP_FILE))
        chat_whole_send_file(t, card, ev->preview, until_ms);
    else
        return false;
    return true;
}
