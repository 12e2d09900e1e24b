/* SPDX-License-Identifier: MIT
 * Commands of the host to a remote agent during a turn: lines of dialect/remote on standard input,
 * and signals. */
#ifndef REMOTE_REMOTE_COMMANDS_H
#define REMOTE_REMOTE_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

#include "io/loop/loop.h"

struct remote_commands;

/* A decision about a request; strings are borrowed. */
struct remote_answer {
    const char *id;
    enum { REMOTE_ALLOW, REMOTE_DENY, REMOTE_ANSWERED } decision;
    const char *reason;  /* or NULL */
    const char *args;    /* JSON object, or NULL */
    const char *answers; /* JSON object: question ID to a text, or to a list of texts; or NULL */
    bool question;       /* the request is a question, not an approval */
    bool remember, interrupt;
};

struct remote_commands_events {
    /* The message of the turn, at most once. `session` may be NULL: a new conversation. */
    void (*prompt)(void *ctx, const char *text, const char *session);
    void (*answer)(void *ctx, const struct remote_answer *answer); /* a decision, after the
                                                                    * message */
    void (*cancel)(void *ctx);
    /* A signal, or the host has exited: the turn must stop. May be called several times. */
    void (*leave)(void *ctx);
    void (*too_long)(void *ctx, uint64_t bytes);
};

/* Reads standard input while the loop runs. */
struct remote_commands *remote_commands_new(struct loop *loop,
                                            const struct remote_commands_events *events, void *ctx);
void remote_commands_free(struct remote_commands *c); /* NULL is allowed */

#endif
