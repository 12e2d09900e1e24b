/* SPDX-License-Identifier: MIT
 * The commands /agent, /model and /cwd: list what a conversation may choose, and choose it. Loop
 * thread only. */
#ifndef CORE_INBOUND_CHAT_CHOICE_H
#define CORE_INBOUND_CHAT_CHOICE_H

#include "core/inbound/inbound.h"

/* Lists the choices, if nothing is named, or chooses what is named; completes the call. */
void chat_choice_run(struct inbound *r, struct host_call *a, const struct conf_instance *inst,
                     enum bindings_kind kind, const char *name);
/* A line of /status: what runs in the conversation, where something can be chosen or is. */
void chat_choice_append_status(struct buf *out, const struct conf_instance *inst,
                               const struct conf_agent *agent);

#endif
