/* SPDX-License-Identifier: MIT
 * Whether what an agent asks would reach somebody who may answer, as far as the configuration
 * says. For turncast check and turncast doctor. Pure. */
#ifndef CLI_INSPECT_ANSWERER_CHECK_H
#define CLI_INSPECT_ANSWERER_CHECK_H

#include "conf/conf.h"

/* Whether the agent can ask for approval, or put questions, that the host can answer. */
bool answerer_check_agent_asks(const struct conf_agent *agent);
/* Whether an instance or a key of the HTTP server may answer. */
bool answerer_check_exist(const struct conf *conf);
/* The first instance in `to` of the rule that lacks the grant to answer; NULL: none. */
const char *answerer_check_missing(const struct conf *conf, const struct conf_rule *rule);

#endif
