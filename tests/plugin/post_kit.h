/* SPDX-License-Identifier: MIT
 * A post between a scripted service and a plugin that the test plays: its callbacks come from the
 * loop, a while after the reply, as those of a real instance do. */
#ifndef TESTS_PLUGIN_POST_KIT_H
#define TESTS_PLUGIN_POST_KIT_H

#include "fake/httpd.h"
#include "io/journal/journal_async.h"
#include "plugin/outbox/outbox.h"

#define CANARY "canary-0123456789-token"

/* on_reply as the test plays it: what it sends with kit_reply_send, and the verdict, which is as
 * the host would decide. */
struct kit_call {
    const struct outbound_reply *reply;
    struct tc_verdict verdict;
    struct callback_batch *batch;
    bool is_held; /* the answer is kept for kit_release */
};

struct kit {
    struct loop *loop;
    struct httpc *http;
    struct httpd *server;
    struct journal_async *journal; /* or NULL */
    struct outbox *outbox;
    struct channel channel; /* its ops are the kit's */
    const char *dir;
    char base[64]; /* the option base */
    const struct tc_rate *rates;
    const char *files;
    void (*on_reply)(struct kit_call *call); /* or NULL: as the host would */
    struct buf told;                         /* a line per reply: tag outcome status attempts… */
    struct buf opened;                       /* a line per turn that the post opened */
    bool refuses_turns;
    struct callback_batch *held; /* one at most */
    unsigned replies;
    void *handle;               /* of the last reply */
    char error[512], path[512]; /* of the last reply; of the test */
};

/* A server with these steps; with dir a ledger there, too. */
void kit_begin(struct kit *k, const struct httpd_step *steps, size_t count);
/* The host dies: what is under way stays as it is; then it comes back with another server. */
void kit_die(struct kit *k);
/* The connector is restarted by a host that lives on, with the same ledger and server. */
void kit_restart(struct kit *k);
void kit_end(struct kit *k);

/* One batch of the turn "t", or of another. */
void kit_send(struct kit *k, enum batch_settlement settles, const struct tc_http *const *http,
              size_t count);
void kit_send_of(struct kit *k, const char *turn, enum batch_settlement settles,
                 const struct tc_http *const *http, size_t count);
#define KIT_SEND(k, settles, ...)                                                                  \
    kit_send((k), (settles), (const struct tc_http *[]){__VA_ARGS__},                              \
             sizeof((const struct tc_http *[]){__VA_ARGS__}) / sizeof(struct tc_http *))
void kit_batch(struct kit *k, struct callback_batch *b); /* any other */
void kit_add(struct callback_batch *b, const char *turn, const struct tc_http *http);
void kit_reply_send(struct kit_call *call, const struct tc_http *http);
void kit_release(struct kit *k);

/* Runs the loop until so many replies came, or requests arrived, or nothing is busy; bails when
 * that takes too long. */
void kit_run_replies(struct kit *k, unsigned replies);
void kit_run_requests(struct kit *k, unsigned requests);
void kit_run_idle(struct kit *k);
/* Whether a file of the ledger has these bytes in it. */
bool kit_disk_has(const struct kit *k, const char *bytes);
/* What the outbox and the dead letters hold, a line each; the ledger must be closed. */
void kit_list(const struct kit *k, struct buf *out);

#define KIT_OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
#define KIT_STATUS(line, headers) "HTTP/1.1 " line "\r\n" headers "Content-Length: 0\r\n\r\n"

#endif
