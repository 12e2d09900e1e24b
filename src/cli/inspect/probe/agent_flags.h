/* SPDX-License-Identifier: MIT
 * Detects arguments of known agents that make a turn hang or lose its answer: the program reads a
 * terminal, prints no stream, or ends without a result. */
#ifndef CLI_INSPECT_PROBE_AGENT_FLAGS_H
#define CLI_INSPECT_PROBE_AGENT_FLAGS_H

#include "base/sys/finding.h"
#include "conf/conf.h"

/* Adds a warning for each problem, with the place of the agent. Unknown programs are not
 * checked. */
void agent_flags_check(const struct conf *conf, const struct conf_agent *agent,
                       struct findings *findings);

#endif
