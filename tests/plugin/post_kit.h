/* SPDX-License-Identifier: MIT
 * An outbox between a scripted service and a plugin of the test, whose callbacks run from the loop,
 * a while after the reply, like those of a real instance. */
#ifndef TESTS_PLUGIN_POST_KIT_H
#define TESTS_PLUGIN_POST_KIT_H

#include "fake/httpd.h"
#include "io/journal/journal_async.h"
#include "plugin/outbox/outbox.h"

#define CANARY "canary-0123456789-token"

/* A call of on_reply: the requests that it sends with kit_reply_send, and its verdict, which is
 * initially that of the host. */
struct kit_call {
    const struct outbound_reply *reply;
    struct tc_verdict verdict;
    struct callback_batch *batch;
    bool is_held; /* the answer waits for kit_release */
};

struct kit {
    struct loop *loop;
    struct httpc *http;
    struct httpd *server;
    struct journal_async *journal; /* or NULL */
    struct outbox *outbox;
    struct channel channel; /* with the functions of the kit */
    const char *dir;
    char base[64]; /* the option base */
    const struct tc_rate *rates;
    const char *files;
    void (*on_reply)(struct kit_call *call); /* or NULL: the verdict of the host */
    struct buf told;                         /* a line per reply: tag outcome status attempts… */
    struct buf opened;                       /* a line per turn that the outbox has opened */
    bool refuses_turns;
    struct callback_batch *held; /* at most one */
    unsigned replies;
    void *handle;               /* the handle of the last reply */
    char error[512], path[512]; /* the error of the last reply; a path of the test */
};

/* Starts a server with these steps; if dir is set, opens a journal there, too. */
void kit_begin(struct kit *k, const struct httpd_step *steps, size_t count);
/* Kills the host: pending requests stay as they are. Then starts it again with another server. */
void kit_die(struct kit *k);
/* Restarts the connector while the host, its journal and its server keep running. */
void kit_restart(struct kit *k);
void kit_end(struct kit *k);

/* Sends one batch of the turn "t", or of another turn. */
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

/* Run the loop until this number of replies or requests has arrived, or nothing is pending; bail
 * out after a long time. */
void kit_run_replies(struct kit *k, unsigned replies);
void kit_run_requests(struct kit *k, unsigned requests);
void kit_run_idle(struct kit *k);
/* Whether a file of the journal contains these bytes. */
bool kit_disk_has(const struct kit *k, const char *bytes);
/* Lists the outbox and the dead letters, one per line; the journal must be closed. */
void kit_list(const struct kit *k, struct buf *out);

#define KIT_OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
#define KIT_STATUS(line, headers) "HTTP/1.1 " line "\r\n" headers "Content-Length: 0\r\n\r\n"

#endif
