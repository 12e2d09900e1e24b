/* SPDX-License-Identifier: MIT
 * Commands about earlier turns: /sessions, /resume, /retry, /usage. Each completes the call, at
 * once or later. Loop thread only. */
#ifndef CORE_INBOUND_CHAT_HISTORY_H
#define CORE_INBOUND_CHAT_HISTORY_H

#include "core/inbound/inbound.h"

/* Lists the sessions of the conversation's agent and directory, or (name: a number of the list, or
 * an id) resumes one with the next message. */
void chat_history_sessions(struct inbound *r, struct host_call *a, const struct conf_instance *inst,
                           const char *name);
/* Submits the last prompt of the conversation again, after its turn has ended. */
void chat_history_retry(struct inbound *r, struct host_call *a, const struct conf_instance *inst);
void chat_history_usage(struct inbound *r, struct host_call *a, const struct conf_instance *inst);

#endif
