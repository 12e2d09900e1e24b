/* SPDX-License-Identifier: MIT
 * Owns what of a request does not fit into its message: the whole text goes ahead of the buttons,
 * as messages or, when those are too many, as a file. Requires no answer: the text is also in
 * the host's other surfaces. */
#include <stdlib.h>
#include <string.h>

#include "telegram.h"

#define UNITS 3900
#define PARTS_MAX 5 /* above: a file */

static struct telegram_call whole_call(const struct target *to, const char *method, json_t *body,
                                       int64_t max_age_ms)
{
    return (struct telegram_call){.method = method,
                                  .body = body,
                                  .tag = call_tag("whole"),
                                  .to = to,
                                  .paced = true,
                                  .priority = TC_P_REQUEST,
                                  .flags = TC_DURABLE,
                                  .max_age_ms = max_age_ms};
}

static void send_part(struct tc_turn *turn, const struct target *to, const struct tc_piece *piece,
                      const char *head, int64_t max_age_ms)
{
    json_t *const body = final_body(turn, to, 1);
    struct message m;
    message_init(&m, turn);
    message_mark(&m, "bold", head);
    message_add(&m, "\n");
    message_mark(&m, "pre", tc_sprint(turn, "%.*s", (int)piece->len, piece->text));
    message_put(&m, body, false);
    message_fini(&m);
    const struct telegram_call c = whole_call(to, "sendMessage", body, max_age_ms);
    call_send(turn, &c);
}

static void send_file(struct tc_turn *turn, const struct target *to, const char *text,
                      int64_t max_age_ms)
{
    json_t *const body = final_body(turn, to, 1);
    json_object_del(body, "link_preview_options");
    struct telegram_call c = whole_call(to, "sendDocument", body, max_age_ms);
    c.timeout_ms = 120000;
    c.filename = "request.txt";
    call_send_document(turn, &c, text, strlen(text));
}

void whole_send(struct tc_turn *turn, const struct target *to, const char *text, int64_t max_age_ms)
{
    size_t count = 0;
    const struct tc_piece *const pieces =
        tc_pieces(turn,
                  TC_TEXT(.markdown = text, .len = strlen(text), .form = TC_PLAIN,
                          .flags = TC_VERBATIM, .units = UNITS),
                  &count);
    if (!pieces || count > PARTS_MAX) {
        send_file(turn, to, text, max_age_ms);
        return;
    }
    for (size_t i = 0; i < count; i++)
        send_part(turn, to, &pieces[i],
                  tc_sprint(turn, "Complete request, part %zu of %zu", i + 1, count), max_age_ms);
}
