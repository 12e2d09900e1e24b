/* SPDX-License-Identifier: MIT
 * JSON-RPC as the client of an agent speaks it: its lines read, ours written, and what the agent
 * asked and still waits for. Pure. */
#ifndef DIALECT_PROTOCOL_JSONRPC_H
#define DIALECT_PROTOCOL_JSONRPC_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/bytes/buf.h"
#include "base/str.h"

/* Ids of our own requests are strings that begin like this, so that the translator knows what an
 * answer is an answer to. */
#define RPC_OURS "turncast-"

#define RPC_ASKED 64 /* requests of the agent that are open at once */
#define RPC_TEXTS 4

/* A request of the agent that waits for an answer. */
struct rpc_asked {
    char *name;            /* owned; as the request is told. NULL: an empty slot */
    char *id;              /* owned; its id as JSON, verbatim */
    char *text[RPC_TEXTS]; /* owned, or NULL: what the dialect needs for the answer */
    unsigned kind;         /* the dialect's */
};

struct rpc {
    const char *head; /* what a line begins with: "{" and, where it is said, the version */
    struct rpc_asked asked[RPC_ASKED];
};

/* A line as values; p NULL where it says nothing. */
struct rpc_line {
    struct str id, method, params, result, error;
    struct buf mended; /* owned: the line, if it had to be mended */
};

void rpc_fini(struct rpc *rpc);

/* Borrows the line. -1: it is no JSON object, mended or not. */
int rpc_read(struct rpc_line *l, const char *line, size_t len) MUST_CHECK;
void rpc_line_fini(struct rpc_line *l);
#define CLEANUP_RPC_LINE __attribute__((__cleanup__(rpc_line_fini)))

/* Whether an id is that of our request `name`. */
bool rpc_is_ours(struct str id, const char *name);
bool rpc_is_request(const struct rpc_line *l);
/* Whether it answers our request `name`. */
bool rpc_answers(const struct rpc_line *l, const char *name);

/* A line is begun, gets its parameters or its result as members, and is ended by rpc_end. */
void rpc_call(const struct rpc *rpc, struct buf *out, const char *name, const char *method);
void rpc_notify(const struct rpc *rpc, struct buf *out, const char *method);
void rpc_reply(const struct rpc *rpc, struct buf *out, const char *id);
void rpc_end(struct buf *out);
/* To a request that nobody here can answer. */
void rpc_refuse(const struct rpc *rpc, struct buf *out, const struct rpc_line *l);

/* Keeps the request open. NULL: nothing is to be kept; it was refused, or is open already. */
struct rpc_asked *rpc_open(struct rpc *rpc, struct buf *out, const struct rpc_line *l);
/* NULL: the agent does not wait for that. */
struct rpc_asked *rpc_find(struct rpc *rpc, const char *name);
/* The agent takes back the request of that id. */
void rpc_forget(struct rpc *rpc, struct str id);
void rpc_close(struct rpc_asked *asked);
/* Every one that is open, in turn; it may be closed then. */
void rpc_each(struct rpc *rpc, void (*each)(void *ctx, struct rpc_asked *asked), void *ctx);

#endif
