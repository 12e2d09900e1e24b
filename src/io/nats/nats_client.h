/* SPDX-License-Identifier: MIT
 * Asynchronous client of NATS: publish, subscribe, requests with a deadline, and publishing to
 * JetStream with an expected sequence. Wraps libnats, whose blocking calls are made by a worker
 * thread of the client. Connects, and connects again, by itself. Nothing is kept for later while it
 * is not connected. One client per process at a time. Loop thread only. */
#ifndef IO_NATS_NATS_CLIENT_H
#define IO_NATS_NATS_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/str.h"
#include "base/sys/err.h"
#include "io/loop/loop.h"

struct nats_client;

struct nats_client_spec {
    struct loop *loop;
    const char *const *urls; /* ends with NULL */
    const char *name;        /* of this client, for the server's lists */
    const char *credentials; /* "USER:PASSWORD", or NULL */
    const char *token;       /* or NULL */
    const char *creds_file;  /* path of a NATS credentials file, or NULL */
    const char *ca;          /* path of certificates; NULL: those of the system */
    const char *cert, *key;  /* paths of this client's certificate and its key; or both NULL */
    bool tls;
    /* The connection was made or lost. text: the URL of the server, or the reason. */
    void (*changed)(void *ctx, bool connected, const char *text);
    /* What a server or the library complains of, a subject that is not permitted for example. NULL:
     * it is logged. */
    void (*fault)(void *ctx, const char *text);
    void *ctx;
};

/* Copies spec. Connects while the loop runs. NULL with err: libnats is missing. */
struct nats_client *nats_client_new(const struct nats_client_spec *spec, struct tc_err *err);
/* Waits for what is being sent, for at most a few seconds. Requests that are open end as
 * NATS_CLIENT_UNKNOWN; those that a callback makes then are dropped. NULL is fine. Not from a
 * callback of the client. */
void nats_client_free(struct nats_client *c);
bool nats_client_is_connected(const struct nats_client *c);
/* Bytes of the largest message that the server takes; 0: it has not been connected yet. */
size_t nats_client_max_payload(const struct nats_client *c);
/* Messages that were dropped because the loop did not keep up, since the last call. */
uint64_t nats_client_count_lost(struct nats_client *c);

/* Borrowed until the callback returns. */
struct nats_client_message {
    const char *subject;
    const char *reply; /* or NULL */
    struct str data;
    int status;         /* of a server's status message: 404, 503…; 0: none */
    uint64_t sequence;  /* of a message that JetStream has stored; 0: none */
    const char *stored; /* the subject by which it did; or NULL */
};

typedef void nats_client_on_message(void *ctx, const struct nats_client_message *m);

/* The subject may have wildcards. Survives reconnects. Freed by nats_client_unsubscribe. */
struct nats_client_subscription *nats_client_subscribe(struct nats_client *c, const char *subject,
                                                       nats_client_on_message *on_message,
                                                       void *ctx);
/* The same; of all clients that subscribe to the subject with this name of a queue group, one gets
 * each message. */
struct nats_client_subscription *nats_client_subscribe_queue(struct nats_client *c,
                                                             const char *subject, const char *queue,
                                                             nats_client_on_message *on_message,
                                                             void *ctx);
/* on_message is not called any more. NULL is fine. */
void nats_client_unsubscribe(struct nats_client_subscription *s);

struct nats_client_publication {
    const char *subject;
    /* Where an answer is to go, and where the server says that nobody listens to the subject
     * (status 503); or NULL. A request has its own. */
    const char *reply;
    struct str data;
    const char *host;      /* header Turncast-Host, or NULL */
    const char *operation; /* of a bucket of keys and values: KV-Operation, or NULL */
    bool is_conditional;   /* stored only if `expected` is right */
    uint64_t expected;     /* sequence of the subject's last message; 0: there is none */
};

/* Without an answer, and lost when the client is not connected. */
void nats_client_publish(struct nats_client *c, const struct nats_client_publication *p);
/* The same, and on_sent is called once, never before this returns: it was given to the connection,
 * or it was not (not connected, or larger than the server takes). */
void nats_client_send(struct nats_client *c, const struct nats_client_publication *p,
                      void (*on_sent)(void *ctx, bool sent), void *ctx);

enum nats_client_result {
    NATS_CLIENT_REPLIED,
    NATS_CLIENT_NOBODY,  /* nobody listens to the subject */
    NATS_CLIENT_UNKNOWN, /* sent, but no reply in time or before the connection ended */
    NATS_CLIENT_UNSENT,  /* not connected, or larger than the server takes */
};

/* m: NULL but for NATS_CLIENT_REPLIED. */
typedef void nats_client_on_reply(void *ctx, enum nats_client_result result,
                                  const struct nats_client_message *m);

/* on_reply is called once, never before this returns. Copies. */
void nats_client_request(struct nats_client *c, const struct nats_client_publication *p,
                         int64_t timeout_ms, nats_client_on_reply *on_reply, void *ctx);
/* on_reply of the open requests with this ctx is not called any more. */
void nats_client_forget(struct nats_client *c, const void *ctx);

#endif
