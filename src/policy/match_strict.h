/* SPDX-License-Identifier: MIT
 * Matching for allow rules: true only when every shell, file system and HTTP client reads the
 * argument the same way. Pure. */
#ifndef POLICY_MATCH_STRICT_H
#define POLICY_MATCH_STRICT_H

#include "conf/conf.h"
#include "policy/tool_argument.h"

/* Whether the rule, which has a pattern, matches this text. */
bool match_strict_argument(const struct conf_rule *rule, enum tool_argument_kind kind,
                           struct str text);
/* Whether the rule names the tool; `strict`: a glob matches plain names only. */
bool match_strict_tool(const char *pattern, const char *tool, bool strict);

#endif
