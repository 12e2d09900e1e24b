/* SPDX-License-Identifier: MIT
 * JSON-RPC 2.0 client side: parses the agent's messages, writes ours, tracks the agent's pending
 * requests. Pure. */
#ifndef DIALECT_PROTOCOL_JSONRPC_H
#define DIALECT_PROTOCOL_JSONRPC_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/bytes/buf.h"
#include "base/str.h"

/* Ids of our own requests are strings that begin like this, so that the translator knows what an
 * answer is an answer to. */
#define JSONRPC_ID_PREFIX "turncast-"

#define RPC_ASKED 64 /* requests of the agent that are open at once */
#define RPC_TEXTS 4

/* A request of the agent that waits for an answer. */
struct jsonrpc_pending {
    char *name;            /* owned; as the request is told. NULL: an empty slot */
    char *id;              /* owned; its id as JSON, verbatim */
    char *text[RPC_TEXTS]; /* owned, or NULL: what the dialect needs for the answer */
    unsigned kind;         /* the dialect's */
};

struct jsonrpc {
    const char *head; /* what a line begins with: "{" and, where it is said, the version */
    struct jsonrpc_pending asked[RPC_ASKED];
};

/* A line as values; p NULL where it says nothing. */
struct jsonrpc_message {
    struct str id, method, params, result, error;
    struct buf mended; /* owned: the line, if it had to be mended */
};

void jsonrpc_fini(struct jsonrpc *rpc);

/* Borrows the line. -1: it is no JSON object, mended or not. */
int jsonrpc_parse(struct jsonrpc_message *l, const char *line, size_t len) MUST_CHECK;
void jsonrpc_line_fini(struct jsonrpc_message *l);
#define CLEANUP_RPC_LINE __attribute__((__cleanup__(jsonrpc_line_fini)))

/* Whether an id is that of our request `name`. */
bool jsonrpc_is_own_id(struct str id, const char *name);
bool jsonrpc_is_request(const struct jsonrpc_message *l);
/* Whether it answers our request `name`. */
bool jsonrpc_is_response_to(const struct jsonrpc_message *l, const char *name);

/* A line is begun, gets its parameters or its result as members, and is ended by jsonrpc_end. */
void jsonrpc_begin_request(const struct jsonrpc *rpc, struct buf *out, const char *name,
                           const char *method);
void jsonrpc_begin_notification(const struct jsonrpc *rpc, struct buf *out, const char *method);
void jsonrpc_begin_response(const struct jsonrpc *rpc, struct buf *out, const char *id);
void jsonrpc_end(struct buf *out);
/* A member: an array of one part, the text. */
void jsonrpc_add_prompt(struct buf *out, const char *key, const struct buf *text);
/* Appends the text as JSON, mended where it is not UTF-8. */
void jsonrpc_add_text(struct buf *to, const char *text);
/* To a request that nobody here can answer. */
void jsonrpc_reject(const struct jsonrpc *rpc, struct buf *out, const struct jsonrpc_message *l);

/* Keeps the request open. NULL: nothing is to be kept; it was refused, or is open already. */
struct jsonrpc_pending *jsonrpc_add_pending(struct jsonrpc *rpc, struct buf *out,
                                            const struct jsonrpc_message *l);
/* NULL: the agent does not wait for that. */
struct jsonrpc_pending *jsonrpc_find_pending(struct jsonrpc *rpc, const char *name);
/* dialect_input.waits of a state that begins with a struct jsonrpc. */
bool jsonrpc_waits(void *state, const char *request_id);
/* The agent takes back the request of that id. */
void jsonrpc_remove_pending(struct jsonrpc *rpc, struct str id);
void jsonrpc_pending_fini(struct jsonrpc_pending *asked);
/* Every one that is open, in turn; it may be closed then. */
void jsonrpc_each_pending(struct jsonrpc *rpc,
                          void (*each)(void *ctx, struct jsonrpc_pending *asked), void *ctx);

#endif
