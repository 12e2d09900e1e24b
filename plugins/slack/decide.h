/* SPDX-License-Identifier: MIT
 * What people decide about a request: by its buttons, or by a reply in its thread. */
#ifndef SLACK_DECIDE_H
#define SLACK_DECIDE_H

#include <jansson.h>
#include <stdbool.h>

#include <turncast/plugin.h>

/* A button of a choice was pressed. False: no message of ours has such a button. */
bool decide_press(struct tc_turn *lobby, const json_t *payload, const json_t *action);
/* A message of a person, as inbound.h has it. True: it was a reply to a question, and no prompt.
 * Such a reply stands in the thread of a question and begins with "answer:" or "deny:". */
bool decide_reply(struct tc_turn *lobby, const json_t *message);
int decide_on_told(struct tc_turn *lobby, const struct tc_reply *r, struct tc_verdict *v);

#endif
