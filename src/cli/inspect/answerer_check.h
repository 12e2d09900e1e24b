/* SPDX-License-Identifier: MIT
 * Checks whether requests of an agent would reach a person who may answer, by the configuration.
 * For turncast check and turncast doctor. Pure. */
#ifndef CLI_INSPECT_ANSWERER_CHECK_H
#define CLI_INSPECT_ANSWERER_CHECK_H

#include "conf/conf.h"

/* Whether the agent can ask for approvals, or ask questions, that the host can answer. */
bool answerer_check_agent_asks(const struct conf_agent *agent);
/* Whether an instance or an API key may answer. */
bool answerer_check_exist(const struct conf *conf);
/* The first instance in `to` of the rule without the grant to answer; NULL: none. */
const char *answerer_check_missing(const struct conf *conf, const struct conf_rule *rule);

#endif
