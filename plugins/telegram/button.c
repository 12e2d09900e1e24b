/* SPDX-License-Identifier: MIT
 * Owns the Stop buttons: what is in a button is a random word, which turn it stops is known here
 * only, and whether the person may stop it is the host's. */
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

static const struct button *find(const struct telegram *s, const char *data)
{
    if (!data || strncmp(data, "s:", 2) != 0)
        return NULL;
    const struct button *b = s->buttons;
    while (b && strcmp(b->token, data + 2) != 0)
        b = b->next;
    return b;
}

/* What the person reads. */
static const char *press(struct tc_turn *lobby, const json_t *query)
{
    const struct button *const b = find(state_of(lobby), call_str(query, "data"));
    struct tc_receipt receipt = {0};
    if (!b)
        return "This is over.";
    const char *const user =
        tc_sprint(lobby, "%" PRId64, call_int(json_object_get(query, "from"), "id"));
    const enum tc_accepted result = tc_cancel(lobby, b->turn, user, &receipt);
    if (result == TC_COMMAND)
        return receipt.answer ? receipt.answer : "Stopping.";
    return result == TC_KNOWN ? "This is over." : "You may not stop this.";
}

/* The person's client waits for the answer, whatever it is. */
void button_pressed(struct tc_turn *lobby, const json_t *query)
{
    const char *const id = call_str(query, "id");
    char text[200];
    if (!id)
        return;
    message_clip(text, sizeof text, press(lobby, query));
    call_send(lobby,
              &(struct call){.method = "answerCallbackQuery",
                             .body = json_pack("{s:s, s:s}", "callback_query_id", id, "text", text),
                             .tag = call_tag("pressed"),
                             .priority = TC_P_REQUEST,
                             .flags = TC_IDEMPOTENT,
                             .max_age_ms = 15000});
}
