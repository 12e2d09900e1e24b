/* SPDX-License-Identifier: MIT
 * Collects the text of one message. */
#include "turn/kept_text.h"

#include <string.h>

#include "base/bytes/utf8.h"
#include "base/invariant.h"

static void kept_text_clear(struct kept *k)
{
    buf_reset(&k->text);
    buf_reset(&k->message_id);
}

void kept_text_fini(struct kept *k)
{
    buf_fini(&k->text);
    buf_fini(&k->message_id);
}

static bool is_other_message(const struct kept *k, const char *id)
{
    return strcmp(k->message_id.len ? k->message_id.p : "", id ? id : "") != 0;
}

static void see_narration(struct kept *k, const struct tc_narration *narration)
{
    const char *const id = narration->message_id;
    if (is_other_message(k, id)) {
        kept_text_clear(k);
        buf_add_str(&k->message_id, id ? id : "");
    }
    ASSERT(k->text.len <= KEPT_MAX);
    const size_t room = KEPT_MAX - k->text.len;
    buf_add(&k->text, narration->text,
            utf8_truncated_len(narration->text, narration->text_len, room));
}

/* Messages of the agent were counted as narration already. A message of a person ends the collected
 * text. */
static void see_message(struct kept *k, const struct tc_message *message)
{
    if (strcmp(message->role, "assistant") != 0)
        kept_text_clear(k);
}

static void see_notice(struct kept *k, const struct tc_notice *notice)
{
    const bool retracts = notice->code && strcmp(notice->code, "retracted") == 0;
    if (retracts && !(notice->message_id && is_other_message(k, notice->message_id)))
        kept_text_clear(k);
}

void kept_text_see(struct kept *k, const struct event *ev)
{
    if (ev->kind == TC_NARRATION)
        see_narration(k, &ev->u.narration);
    else if (ev->kind == TC_MESSAGE)
        see_message(k, &ev->u.message);
    else if (ev->kind == TC_TOOL_CALL)
        kept_text_clear(k);
    else if (ev->kind == TC_NOTICE)
        see_notice(k, &ev->u.notice);
}

void kept_text_fill(const struct kept *k, struct tc_final *final)
{
    if (!k->text.len)
        return;
    final->text = k->text.p;
    final->text_len = k->text.len;
    final->message_id = k->message_id.len ? k->message_id.p : NULL;
}
