/* SPDX-License-Identifier: MIT
 * Arguments of known agents with which a turn hangs or its answer is lost: the program reads a
 * terminal, prints no stream, or ends without a result. */
#ifndef CLI_INSPECT_PROBE_AGENT_FLAGS_H
#define CLI_INSPECT_PROBE_AGENT_FLAGS_H

#include "base/sys/finding.h"
#include "conf/conf.h"

/* Adds a warning for each, with the place of the agent. Other programs are not looked at. */
void agent_flags_check(const struct conf *conf, const struct conf_agent *agent,
                       struct findings *findings);

#endif
