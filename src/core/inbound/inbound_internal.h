/* SPDX-License-Identifier: MIT
 * State of core/inbound between its files. */
#ifndef CORE_INBOUND_INBOUND_INTERNAL_H
#define CORE_INBOUND_INBOUND_INTERNAL_H

#include "core/inbound/access_control.h"
#include "core/inbound/answered_messages.h"
#include "core/inbound/inbound.h"

#define UNPROCESSED_MAX 64
#define UNPROCESSED_AGAIN_MS ((int64_t)3600 * 1000)

/* A chat that was told that a message cannot be processed. */
struct unprocessed {
    uint64_t where; /* hash of the chat; 0: empty */
    int64_t at_ms;
};

struct inbound {
    struct inbound_spec spec;
    struct access_control access;
    struct answered_messages *answered;
    struct inbound_remote *remote; /* NULL: no other hosts */
    struct unprocessed unprocessed[UNPROCESSED_MAX];
};

/* inbound.c */
/* Key of the conversation: "INSTANCE:CHAT[:THREAD]". Owned. */
char *inbound_make_key(const char *instance, const char *chat, const char *thread);
/* Agent of that conversation; thread may be NULL. NULL: no longer configured. */
const struct conf_agent *inbound_agent_of(const struct inbound *r, const struct conf_instance *inst,
                                          const char *chat, const char *thread);
/* Submits a prompt for the message of the call, which is completed then. */
void inbound_submit_prompt(struct inbound *r, struct host_call *a, const struct conf_instance *inst,
                           struct str prompt);

/* inbound_resend.c */
/* HOST_CALL_RESEND, completed when the messages are queued. */
void inbound_resend(struct inbound *r, struct host_call *a, const struct conf_instance *inst);

#endif
