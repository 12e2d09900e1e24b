/* SPDX-License-Identifier: MIT
 * The commands /agent, /model and /cwd: list the choices of a conversation, and choose. Loop thread
 * only. */
#ifndef CORE_INBOUND_CHAT_CHOICE_H
#define CORE_INBOUND_CHAT_CHOICE_H

#include "core/inbound/inbound.h"

/* Lists the choices, or chooses if a name is given; completes the call. */
void chat_choice_run(struct inbound *r, struct host_call *a, const struct conf_instance *inst,
                     enum bindings_kind kind, const char *name);
/* A line of /status: agent, model and directory of the conversation, if there are choices. */
void chat_choice_append_status(struct buf *out, const struct conf_instance *inst,
                               const struct conf_agent *agent);

#endif
