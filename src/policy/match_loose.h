/* SPDX-License-Identifier: MIT
 * What a rule that denies or asks takes: whatever may well be meant by an argument. It sees through
 * blanks, quotes, several commands in a line and other ways to write a path or a URL, not through
 * everything a shell can do: it is a hint to a model, no sandbox. Pure. */
#ifndef POLICY_MATCH_LOOSE_H
#define POLICY_MATCH_LOOSE_H

#include "conf/conf.h"
#include "policy/tool_argument.h"

enum match_result { MATCH_NO, MATCH_YES, MATCH_UNCERTAIN };

/* Whether the rule, which has a pattern, may be about this text. What is longer than anything that
 * can be run or opened is taken for it. */
enum match_result match_loose_argument(struct arena *a, const struct conf_rule *rule,
                                       enum tool_argument_kind kind, struct str text);

#endif
