/* SPDX-License-Identifier: MIT
 * Owns the calls of libnats and the queue from its threads to the loop. */
#include "io/nats/nats_connection.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "io/nats/libnats_dl.h"
#include "io/nats/nats_reason.h"

#define CONNECT_MS 2000
#define WRITE_MS 2000    /* a server that takes nothing does not stop the worker for longer */
#define RECONNECT_MS 250 /* plus up to as much at random */
#define PING_MS 5000     /* a server that answers none of two is gone */
#define CLOSE_MS 5000
#define COMPLETE_S 2
#define QUEUE_MAX 65536 /* messages that wait for the loop */
#define QUEUE_BYTES ((size_t)64 << 20)
#define SEQUENCE_DIGITS 24

STAILQ_HEAD(nats_incoming_list, nats_incoming);

/* What the library gives a message's callback. It belongs to the worker, which ends it, and to the
 * library, which completes it, also when the connection is closed; the last of both frees it. */
struct nats_interest {
    LIST_ENTRY(nats_interest) next;
    struct nats_connection *connection;
    uint64_t id;
    natsSubscription *subscription;
    unsigned owners; /* lock: connection->mu */
};

struct nats_connection {
    struct libnats nats;
    struct nats_client_spec spec;
    void (*arrived)(void *ctx);
    void *ctx;
    /* worker thread */
    natsOptions *options;
    natsConnection *connection;
    LIST_HEAD(, nats_interest) interests;
    bool is_in_use; /* threads of the library did not end in time, and may call back at any time */
    /* lock: mu */
    pthread_mutex_t mu;
    pthread_cond_t completed;
    struct nats_incoming_list queue;
    size_t n, bytes;
    size_t incomplete; /* interests of which the library may call something */
    uint64_t lost;
    bool posted;
    bool is_over; /* the loop takes nothing more */
};

/* ---- from the library's threads to the loop ---- */

static void nats_connection_on_posted(void *arg)
{
    struct nats_connection *const n = arg;
    pthread_mutex_lock(&n->mu);
    n->posted = false;
    pthread_mutex_unlock(&n->mu);
    n->arrived(n->ctx);
}

/* False: there is no room for a message. What tells of the connection is always taken. */
static bool nats_connection_has_room(struct nats_connection *n, const struct nats_incoming *in)
{
    if (in->kind != NATS_INCOMING_MESSAGE ||
        (n->n < QUEUE_MAX && n->bytes + in->message.data.len <= QUEUE_BYTES))
        return true;
    n->lost++;
    return false;
}

static void nats_connection_append(struct nats_connection *n, struct nats_incoming *in)
{
    STAILQ_INSERT_TAIL(&n->queue, in, next);
    n->n++;
    n->bytes += in->message.data.len;
    if (!n->posted)
        loop_post(n->spec.loop, nats_connection_on_posted, n);
    n->posted = true;
}

/* The loop is used under the lock: nats_connection_free says under it that the loop ends. */
static void nats_connection_queue(struct nats_connection *n, struct nats_incoming *in)
{
    pthread_mutex_lock(&n->mu);
    const bool is_taken = !n->is_over && nats_connection_has_room(n, in);
    if (is_taken)
        nats_connection_append(n, in);
    pthread_mutex_unlock(&n->mu);
    if (!is_taken)
        free(in);
}

static void nats_connection_report(struct nats_connection *n, enum nats_incoming_kind kind,
                                   const char *text)
{
    struct nats_incoming *const in = xcalloc(1, sizeof *in);
    in->kind = kind;
    snprintf(in->text, sizeof in->text, "%s", text ? text : "");
    nats_connection_queue(n, in);
}

void nats_connection_report_unsent(struct nats_connection *n, uint64_t request)
{
    struct nats_incoming *const in = xcalloc(1, sizeof *in);
    in->kind = NATS_INCOMING_UNSENT;
    in->id = request;
    nats_connection_queue(n, in);
}

struct nats_incoming *nats_connection_pop_message(struct nats_connection *n)
{
    pthread_mutex_lock(&n->mu);
    struct nats_incoming *const in = STAILQ_FIRST(&n->queue);
    if (in) {
        ASSERT(n->n > 0 && n->bytes >= in->message.data.len);
        STAILQ_REMOVE_HEAD(&n->queue, next);
        n->n--;
        n->bytes -= in->message.data.len;
    }
    pthread_mutex_unlock(&n->mu);
    return in;
}

uint64_t nats_connection_count_lost(struct nats_connection *n)
{
    pthread_mutex_lock(&n->mu);
    const uint64_t lost = n->lost;
    n->lost = 0;
    pthread_mutex_unlock(&n->mu);
    return lost;
}

/* ---- callbacks of the library; any thread ---- */

static const char *nats_connection_header(const struct nats_connection *n, natsMsg *m,
                                          const char *name)
{
    const char *value = NULL;
    return n->nats.natsMsgHeader_Get(m, name, &value) == NATS_OK ? value : NULL;
}

static size_t nats_connection_measure(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

/* Advances *at. */
static const char *nats_connection_copy_text(char **at, const char *text)
{
    const size_t size = nats_connection_measure(text);
    char *const copy = *at;
    if (!text)
        return NULL;
    *at = (char *)memcpy(copy, text, size) + size;
    return copy;
}

static struct nats_incoming *nats_connection_copy(const struct nats_connection *n, natsMsg *m)
{
    const struct libnats *const l = &n->nats;
    const char *const subject = l->natsMsg_GetSubject(m), *const reply = l->natsMsg_GetReply(m),
                      *const status = nats_connection_header(n, m, "Status"),
                      *const sequence = nats_connection_header(n, m, "Nats-Sequence"),
                      *const stored = nats_connection_header(n, m, "Nats-Subject");
    const size_t len = (size_t)l->natsMsg_GetDataLength(m);
    struct nats_incoming *const in =
        xcalloc(1, sizeof *in + nats_connection_measure(subject) + nats_connection_measure(reply) +
                       nats_connection_measure(stored) + len);
    char *at = (char *)(in + 1);
    in->kind = NATS_INCOMING_MESSAGE;
    in->message.subject = nats_connection_copy_text(&at, subject);
    in->message.reply = nats_connection_copy_text(&at, reply);
    in->message.stored = nats_connection_copy_text(&at, stored);
    in->message.data = (struct str){at, len};
    in->message.status = status ? atoi(status) : 0;
    in->message.sequence = sequence ? strtoull(sequence, NULL, 10) : 0;
    if (len)
        memcpy(at, l->natsMsg_GetData(m), len);
    return in;
}

/* The message ends here, not when the loop has handled it: the library must not be asked to free
 * one when it is closed. */
static void nats_connection_on_message(natsConnection *nc, natsSubscription *s, natsMsg *m,
                                       void *arg)
{
    const struct nats_interest *const interest = arg;
    struct nats_connection *const n = interest->connection;
    struct nats_incoming *const in = nats_connection_copy(n, m);
    (void)nc;
    (void)s;
    in->id = interest->id;
    n->nats.natsMsg_Destroy(m);
    nats_connection_queue(n, in);
}

/* libnats adds the user to the URL that it was given, so only what stands behind it is told. */
static void nats_connection_on_up(natsConnection *nc, void *arg)
{
    struct nats_connection *const n = arg;
    char url[200] = "";
    n->nats.natsConnection_GetConnectedUrl(nc, url, sizeof url);
    const char *const at = strrchr(url, '@');
    struct nats_incoming *const in = xcalloc(1, sizeof *in);
    in->kind = NATS_INCOMING_UP;
    in->max_payload = n->nats.natsConnection_GetMaxPayload(nc);
    snprintf(in->text, sizeof in->text, "%s", at ? at + 1 : url);
    nats_connection_queue(n, in);
}

static void nats_connection_on_down(natsConnection *nc, void *arg)
{
    (void)nc;
    nats_connection_report(arg, NATS_INCOMING_DOWN, "disconnected");
}

static void nats_connection_on_closed(natsConnection *nc, void *arg)
{
    (void)nc;
    nats_connection_report(arg, NATS_INCOMING_CLOSED, "the connection was closed");
}

/* A violation of permissions names the subject in its text. The library sets it for this thread. */
static void nats_connection_on_error(natsConnection *nc, natsSubscription *s, natsStatus status,
                                     void *arg)
{
    struct nats_connection *const n = arg;
    const char *const text = status == NATS_NOT_PERMITTED ? n->nats.nats_GetLastError(NULL) : NULL;
    (void)nc;
    (void)s;
    nats_connection_report(n, NATS_INCOMING_FAULT,
                           text && *text ? text : n->nats.natsStatus_GetText(status));
}

/* ---- connecting ---- */

static size_t nats_connection_count_urls(const char *const *urls)
{
    size_t count = 0;
    while (urls[count])
        count++;
    return count;
}

static natsStatus nats_connection_set_user(const struct nats_connection *n)
{
    const char *const text = n->spec.credentials;
    if (n->spec.creds_file)
        return n->nats.natsOptions_SetUserCredentialsFromFiles(n->options, n->spec.creds_file,
                                                               NULL);
    if (n->spec.token)
        return n->nats.natsOptions_SetToken(n->options, n->spec.token);
    if (!text)
        return NATS_OK;
    const char *const colon = strchr(text, ':');
    CLEANUP_FREE char *user = xstrndup(text, (size_t)(colon - text));
    return n->nats.natsOptions_SetUserInfo(n->options, user, colon + 1);
}

static natsStatus nats_connection_set_tls(const struct nats_connection *n)
{
    if (!n->spec.tls)
        return NATS_OK;
    natsStatus s = n->nats.natsOptions_SetSecure(n->options, true);
    if (s == NATS_OK && n->spec.ca)
        s = n->nats.natsOptions_LoadCATrustedCertificates(n->options, n->spec.ca);
    if (s == NATS_OK && n->spec.cert)
        s = n->nats.natsOptions_LoadCertificatesChain(n->options, n->spec.cert, n->spec.key);
    return s;
}

/* The library's buffer for what is published while there is no connection would hide that what it
 * keeps may be lost. Its smallest size is 1. */
static natsStatus nats_connection_set_times(const struct nats_connection *n)
{
    const struct libnats *const l = &n->nats;
    natsOptions *const o = n->options;
    natsStatus s = l->natsOptions_SetSendAsap(o, true);
    s = s ? s : l->natsOptions_SetTimeout(o, CONNECT_MS);
    s = s ? s : l->natsOptions_SetWriteDeadline(o, WRITE_MS);
    s = s ? s : l->natsOptions_SetPingInterval(o, PING_MS);
    s = s ? s : l->natsOptions_SetMaxPingsOut(o, 2);
    s = s ? s : l->natsOptions_SetAllowReconnect(o, true);
    s = s ? s : l->natsOptions_SetMaxReconnect(o, -1);
    s = s ? s : l->natsOptions_SetReconnectWait(o, RECONNECT_MS);
    s = s ? s : l->natsOptions_SetReconnectJitter(o, RECONNECT_MS, RECONNECT_MS);
    s = s ? s : l->natsOptions_SetReconnectBufSize(o, 1);
    return s ? s : l->natsOptions_UseGlobalMessageDelivery(o, true);
}

static natsStatus nats_connection_set_callbacks(struct nats_connection *n)
{
    const struct libnats *const l = &n->nats;
    natsOptions *const o = n->options;
    natsStatus s = l->natsOptions_SetReconnectedCB(o, nats_connection_on_up, n);
    s = s ? s : l->natsOptions_SetDisconnectedCB(o, nats_connection_on_down, n);
    s = s ? s : l->natsOptions_SetClosedCB(o, nats_connection_on_closed, n);
    return s ? s : l->natsOptions_SetErrorHandler(o, nats_connection_on_error, n);
}

static natsStatus nats_connection_set_options(struct nats_connection *n)
{
    const struct libnats *const l = &n->nats;
    const char *urls[17] = {NULL};
    const size_t count = nats_connection_count_urls(n->spec.urls);
    ASSERT(count > 0 && count < sizeof urls / sizeof *urls);
    memcpy(urls, n->spec.urls, count * sizeof *urls);
    natsStatus s = l->natsOptions_SetServers(n->options, urls, (int)count);
    s = s ? s : l->natsOptions_SetName(n->options, n->spec.name);
    s = s ? s : nats_connection_set_times(n);
    s = s ? s : nats_connection_set_callbacks(n);
    s = s ? s : nats_connection_set_user(n);
    return s ? s : nats_connection_set_tls(n);
}

/* The library tells why it could not connect only if it does not go on trying. So it goes on only
 * if no server was there. */
static natsStatus nats_connection_connect(struct nats_connection *n)
{
    const struct libnats *const l = &n->nats;
    natsStatus s = l->nats_SetMessageDeliveryPoolSize(1);
    s = s ? s : l->natsOptions_Create(&n->options);
    s = s ? s : nats_connection_set_options(n);
    s = s ? s : l->natsConnection_Connect(&n->connection, n->options);
    if (s != NATS_NO_SERVER && s != NATS_TIMEOUT)
        return s;
    s = l->natsOptions_SetRetryOnFailedConnect(n->options, true, nats_connection_on_up, n);
    return s ? s : l->natsConnection_Connect(&n->connection, n->options);
}

static void nats_connection_report_failure(struct nats_connection *n, natsStatus status)
{
    const struct nats_reason_spec spec = {.tls = n->spec.tls,
                                          .has_cert = n->spec.cert,
                                          .proof = n->spec.creds_file    ? NATS_PROOF_FILE
                                                   : n->spec.token       ? NATS_PROOF_TOKEN
                                                   : n->spec.credentials ? NATS_PROOF_PASSWORD
                                                                         : NATS_PROOF_NONE};
    char text[sizeof((struct nats_incoming *)NULL)->text];
    nats_reason_describe(text, sizeof text, &n->nats, status, n->nats.nats_GetLastError(NULL),
                         &spec);
    nats_connection_report(n, NATS_INCOMING_CLOSED, text);
}

bool nats_connection_open(struct nats_connection *n)
{
    ASSERT(!n->connection && !n->options);
    const natsStatus s = nats_connection_connect(n);
    if (s == NATS_OK)
        nats_connection_on_up(n->connection, n);
    else if (s == NATS_NOT_YET_CONNECTED)
        nats_connection_report(n, NATS_INCOMING_DOWN, "no server can be reached");
    else
        nats_connection_report_failure(n, s);
    return s == NATS_OK || s == NATS_NOT_YET_CONNECTED;
}

/* ---- subscriptions ---- */

static void nats_connection_release_interest(struct nats_interest *interest)
{
    pthread_mutex_t *const mu = &interest->connection->mu;
    pthread_mutex_lock(mu);
    ASSERT(interest->owners > 0);
    const bool is_last = --interest->owners == 0;
    if (is_last) {
        interest->connection->incomplete--;
        pthread_cond_signal(&interest->connection->completed);
    }
    pthread_mutex_unlock(mu);
    if (is_last)
        free(interest);
}

/* The library calls no callback of the subscription any more; any thread. */
static void nats_connection_on_complete(void *arg)
{
    nats_connection_release_interest(arg);
}

static natsStatus nats_connection_add_interest(struct nats_connection *n,
                                               struct nats_interest *interest, const char *subject,
                                               const char *queue)
{
    natsSubscription **const s = &interest->subscription;
    const natsStatus status =
        queue ? n->nats.natsConnection_QueueSubscribe(s, n->connection, subject, queue,
                                                      nats_connection_on_message, interest)
              : n->nats.natsConnection_Subscribe(s, n->connection, subject,
                                                 nats_connection_on_message, interest);
    if (status != NATS_OK)
        return status;
    LIST_INSERT_HEAD(&n->interests, interest, next);
    interest->owners = 2;
    pthread_mutex_lock(&n->mu);
    n->incomplete++;
    pthread_mutex_unlock(&n->mu);
    const natsStatus set =
        n->nats.natsSubscription_SetOnCompleteCB(*s, nats_connection_on_complete, interest);
    if (set != NATS_OK) /* it is closed already: nothing more comes */
        nats_connection_release_interest(interest);
    return set;
}

void nats_connection_subscribe(struct nats_connection *n, uint64_t id, const char *subject,
                               const char *queue)
{
    if (!n->connection)
        return;
    struct nats_interest *const interest = xcalloc(1, sizeof *interest);
    interest->connection = n;
    interest->id = id;
    const natsStatus status = nats_connection_add_interest(n, interest, subject, queue);
    if (status == NATS_OK || interest->subscription) /* or the connection was closed just then */
        return;
    if (status != NATS_CONNECTION_CLOSED)
        nats_connection_report(n, NATS_INCOMING_FAULT, n->nats.natsStatus_GetText(status));
    free(interest);
}

static void nats_connection_end_interest(const struct nats_connection *n,
                                         struct nats_interest *interest)
{
    LIST_REMOVE(interest, next);
    n->nats.natsSubscription_Destroy(interest->subscription);
    nats_connection_release_interest(interest);
}

void nats_connection_unsubscribe(struct nats_connection *n, uint64_t id)
{
    struct nats_interest *interest;
    LIST_FOREACH (interest, &n->interests, next)
        if (interest->id == id) {
            nats_connection_end_interest(n, interest);
            return;
        }
}

/* ---- publishing ---- */

static natsStatus nats_connection_set_headers(const struct nats_connection *n, natsMsg *m,
                                              const struct nats_outgoing *out)
{
    char sequence[SEQUENCE_DIGITS];
    natsStatus s = NATS_OK;
    snprintf(sequence, sizeof sequence, "%lld", (long long)out->expected);
    if (out->expected >= 0)
        s = n->nats.natsMsgHeader_Set(m, "Nats-Expected-Last-Subject-Sequence", sequence);
    if (s == NATS_OK && out->operation)
        s = n->nats.natsMsgHeader_Set(m, "KV-Operation", out->operation);
    if (s == NATS_OK && out->host)
        s = n->nats.natsMsgHeader_Set(m, "Turncast-Host", out->host);
    return s;
}

bool nats_connection_publish(struct nats_connection *n, const struct nats_outgoing *out)
{
    natsMsg *m = NULL;
    if (!n->connection ||
        n->nats.natsConnection_Status(n->connection) != NATS_CONN_STATUS_CONNECTED)
        return false;
    natsStatus s =
        n->nats.natsMsg_Create(&m, out->subject, out->reply, out->data.p, (int)out->data.len);
    s = s ? s : nats_connection_set_headers(n, m, out);
    s = s ? s : n->nats.natsConnection_PublishMsg(n->connection, m);
    n->nats.natsMsg_Destroy(m);
    return s == NATS_OK;
}

/* ---- begin and end ---- */

/* The library drops messages that it has not delivered before it completes a subscription. Were it
 * closed sooner, they would leak. False: it has not completed all of them in time. */
static bool nats_connection_await_completion(struct nats_connection *n)
{
    struct timespec until;
    int rc = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += COMPLETE_S;
    pthread_mutex_lock(&n->mu);
    while (n->incomplete && rc == 0)
        rc = pthread_cond_timedwait(&n->completed, &n->mu, &until);
    const bool is_complete = !n->incomplete;
    pthread_mutex_unlock(&n->mu);
    return is_complete;
}

/* False: its threads have not ended in time. */
static bool nats_connection_end_library(const struct nats_connection *n)
{
    const natsStatus s = n->nats.nats_CloseAndWait(CLOSE_MS);
    return s == NATS_OK || s == NATS_NOT_INITIALIZED;
}

void nats_connection_close(struct nats_connection *n)
{
    struct nats_interest *interest;
    while ((interest = LIST_FIRST(&n->interests)))
        nats_connection_end_interest(n, interest);
    const bool is_complete = nats_connection_await_completion(n);
    if (n->connection)
        n->nats.natsConnection_Destroy(n->connection);
    n->connection = NULL;
    if (n->options)
        n->nats.natsOptions_Destroy(n->options);
    n->options = NULL;
    n->is_in_use = !nats_connection_end_library(n) || !is_complete;
}

struct nats_connection *nats_connection_new(const struct nats_client_spec *spec,
                                            void (*arrived)(void *ctx), void *ctx,
                                            struct tc_err *err)
{
    struct nats_connection *const n = xcalloc(1, sizeof *n);
    n->spec = *spec;
    n->arrived = arrived;
    n->ctx = ctx;
    LIST_INIT(&n->interests);
    STAILQ_INIT(&n->queue);
    pthread_mutex_init(&n->mu, NULL);
    pthread_cond_init(&n->completed, NULL);
    if (libnats_load(&n->nats, err) == 0)
        return n;
    nats_connection_free(n);
    return NULL;
}

void nats_connection_free(struct nats_connection *n)
{
    struct nats_incoming *in;
    if (!n)
        return;
    ASSERT(!n->connection);
    pthread_mutex_lock(&n->mu);
    n->is_over = true;
    pthread_mutex_unlock(&n->mu);
    loop_cancel_posted(n->spec.loop, nats_connection_on_posted, n);
    while ((in = nats_connection_pop_message(n)))
        free(in);
    if (n->is_in_use)
        return;
    pthread_cond_destroy(&n->completed);
    pthread_mutex_destroy(&n->mu);
    free(n);
}
