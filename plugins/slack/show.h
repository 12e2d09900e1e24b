/* SPDX-License-Identifier: MIT
 * A turn as Slack shows it: which event becomes what. */
#ifndef SLACK_SHOW_H
#define SLACK_SHOW_H

#include <turncast/plugin.h>

int show_start(struct tc_turn *turn, const struct tc_start *ev);
int show_narration(struct tc_turn *turn, const struct tc_narration *ev);
int show_thinking(struct tc_turn *turn, const struct tc_thinking *ev);
int show_tool_call(struct tc_turn *turn, const struct tc_tool_call *ev);
int show_tool_result(struct tc_turn *turn, const struct tc_tool_result *ev);
int show_request(struct tc_turn *turn, const struct tc_request *ev);
int show_notice(struct tc_turn *turn, const struct tc_notice *ev);
int show_final(struct tc_turn *turn, const struct tc_final *ev);
int show_error(struct tc_turn *turn, const struct tc_error *ev);
int show_done(struct tc_turn *turn, const struct tc_done *ev);
int show_wake(struct tc_turn *turn);

#endif
