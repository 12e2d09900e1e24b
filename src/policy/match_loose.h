/* SPDX-License-Identifier: MIT
 * Matching for deny and ask rules: matches every argument that might mean the pattern. Sees through
 * blanks, quotes, several commands in a line and other spellings of a path or a URL, but not
 * through everything that a shell can do: the result is a hint to a model, not a sandbox. Pure. */
#ifndef POLICY_MATCH_LOOSE_H
#define POLICY_MATCH_LOOSE_H

#include "conf/conf.h"
#include "policy/tool_argument.h"

enum match_result { MATCH_NO, MATCH_YES, MATCH_UNCERTAIN };

/* Whether the rule, which has a pattern, may match this text. Text longer than any command or path
 * always matches. */
enum match_result match_loose_argument(struct arena *a, const struct conf_rule *rule,
                                       enum tool_argument_kind kind, struct str text);

#endif
