/* SPDX-License-Identifier: MIT
 * Owns the Stop buttons: a button contains a random token, and only this module knows its turn. The
 * host decides whether the person may stop it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "telegram.h"

struct button {
    struct button *next;
    char token[17], *turn;
};

static struct button *new_button(struct telegram *s, const char *turn)
{
    unsigned char bytes[8];
    struct button *const b = calloc(1, sizeof *b);
    if (!b || getrandom(bytes, sizeof bytes, 0) != sizeof bytes || !(b->turn = strdup(turn))) {
        free(b);
        return NULL;
    }
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(b->token + 2 * i, 3, "%02x", bytes[i]);
    b->next = s->buttons;
    return s->buttons = b;
}

json_t *button_stop(struct tc_turn *turn)
{
    struct telegram *const s = state_of(turn);
    struct button *b = s->buttons;
    while (b && strcmp(b->turn, turn->id) != 0)
        b = b->next;
    if (!b && !(b = new_button(s, turn->id)))
        return NULL;
    char data[32];
    snprintf(data, sizeof data, "s:%s", b->token);
    return json_pack("{s:[[{s:s, s:s}]]}", "inline_keyboard", "text", "⏹ Stop", "callback_data",
                     data);
}

void button_forget(struct telegram *s, const char *turn)
{
    for (struct button **at = &s->buttons; *at; at = &(*at)->next) {
        struct button *const b = *at;
        if (strcmp(b->turn, turn) != 0)
            continue;
        *at = b->next;
        free(b->turn);
        free(b);
        return;
    }
}

void button_free(struct telegram *s)
{
    while (s->buttons)
        button_forget(s, s->buttons->turn);
}

const char *button_pressed(struct tc_turn *lobby, const char *token, int64_t user)
{
    const struct button *b = state_of(lobby)->buttons;
    struct tc_receipt receipt = {0};
    while (b && strcmp(b->token, token) != 0)
        b = b->next;
    if (!b)
        return "This turn has already ended.";
    tc_cancel(lobby, b->turn, tc_sprint(lobby, "%" PRId64, user), &receipt);
    return receipt.answer;
}
