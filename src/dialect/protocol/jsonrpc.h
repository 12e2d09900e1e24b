/* SPDX-License-Identifier: MIT
 * JSON-RPC 2.0 client side: parses the agent's messages, writes ours, tracks the agent's pending
 * requests. Pure. */
#ifndef DIALECT_PROTOCOL_JSONRPC_H
#define DIALECT_PROTOCOL_JSONRPC_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/bytes/buf.h"
#include "base/str.h"

/* Prefix of the ids of our requests, by which the translator recognises responses to them. */
#define JSONRPC_ID_PREFIX "turncast-"

#define RPC_ASKED 64 /* limit of open requests of the agent */
#define RPC_TEXTS 4

/* A request of the agent that waits for an answer. */
struct jsonrpc_pending {
    char *name;            /* owned; id of the emitted request. NULL: an empty slot */
    char *id;              /* owned; its id as JSON, verbatim */
    char *text[RPC_TEXTS]; /* owned, or NULL: data of the dialect for the answer */
    unsigned kind;         /* for use by the dialect */
};

struct jsonrpc {
    const char *head; /* start of a line: "{" and the version, if used */
    struct jsonrpc_pending asked[RPC_ASKED];
};

/* Members of a line; p NULL: absent. */
struct jsonrpc_message {
    struct str id, method, params, result, error;
    struct buf mended; /* owned: the line, if it was repaired */
};

void jsonrpc_fini(struct jsonrpc *rpc);

/* Borrows the line. -1: not a JSON object, even after repair. */
int jsonrpc_parse(struct jsonrpc_message *l, const char *line, size_t len) MUST_CHECK;
void jsonrpc_line_fini(struct jsonrpc_message *l);
#define CLEANUP_RPC_LINE __attribute__((__cleanup__(jsonrpc_line_fini)))

/* Whether an id is that of our request `name`. */
bool jsonrpc_is_own_id(struct str id, const char *name);
bool jsonrpc_is_request(const struct jsonrpc_message *l);
/* Whether the line is the response to our request `name`. */
bool jsonrpc_is_response_to(const struct jsonrpc_message *l, const char *name);

/* Begins a line; add parameters or result as members, then call jsonrpc_end. */
void jsonrpc_begin_request(const struct jsonrpc *rpc, struct buf *out, const char *name,
                           const char *method);
void jsonrpc_begin_notification(const struct jsonrpc *rpc, struct buf *out, const char *method);
void jsonrpc_begin_response(const struct jsonrpc *rpc, struct buf *out, const char *id);
void jsonrpc_end(struct buf *out);
/* Adds a member: an array with one text part. */
void jsonrpc_add_prompt(struct buf *out, const char *key, const struct buf *text);
/* Appends the text as JSON, repaired to valid UTF-8. */
void jsonrpc_add_text(struct buf *to, const char *text);
/* Replies to a request that cannot be answered. */
void jsonrpc_reject(const struct jsonrpc *rpc, struct buf *out, const struct jsonrpc_message *l);

/* Stores the open request. NULL: not stored, because it was refused, or is open already. */
struct jsonrpc_pending *jsonrpc_add_pending(struct jsonrpc *rpc, struct buf *out,
                                            const struct jsonrpc_message *l);
/* NULL: the agent does not wait for that. */
struct jsonrpc_pending *jsonrpc_find_pending(struct jsonrpc *rpc, const char *name);
/* dialect_input.waits for a state that begins with a struct jsonrpc. */
bool jsonrpc_waits(void *state, const char *request_id);
/* The agent withdraws the request of that id. */
void jsonrpc_remove_pending(struct jsonrpc *rpc, struct str id);
void jsonrpc_pending_fini(struct jsonrpc_pending *asked);
/* Calls `each` for every open request, which it may close. */
void jsonrpc_each_pending(struct jsonrpc *rpc,
                          void (*each)(void *ctx, struct jsonrpc_pending *asked), void *ctx);

#endif
