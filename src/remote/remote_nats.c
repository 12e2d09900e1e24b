/* SPDX-License-Identifier: MIT
 * Transport nats: a run of an agent of tirea, or of another host of turncast, that is asked for
 * through NATS. The message of the turn is read from standard input; each event of the run is one
 * line of output. No part of a run is asked for twice: when the connection is lost, events may be
 * missing, and the run has failed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/cleanup.h"
#include "base/sys/uuid.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"
#include "io/nats/nats_client.h"
#include "remote/remote.h"

#define URLS_MAX 16
#define WAIT_MS 1000
#define PROBE_MS 3000
#define NOBODY "nobody takes runs at the subject "
#define MESSAGE_MAX ((size_t)16 << 20)
#define CONNECT_MS "10000" /* for the first connection */

struct remote_nats {
    struct loop *loop;
    struct nats_client *client;
    struct nats_client_subscription *replies;
    struct loop_timer *connecting;
    const char *subject;
    struct buf request;
    char inbox[64];
    char why[200]; /* the last reason why there is no connection */
    bool asked, is_over, probes;
    struct tc_err *err;
    int status;
};

static void remote_nats_end(struct remote_nats *n, int status)
{
    n->status = status;
    n->is_over = true;
}

/* Not after the end. */
static void remote_nats_fail(struct remote_nats *n, const char *why, const char *detail)
{
    if (n->is_over)
        return;
    err_set(n->err, NULL, "%s%s", why, detail);
    remote_nats_end(n, -1);
}

/* ---- events ---- */

/* Of AG-UI, of tirea and of its successor awaken. */
static bool remote_nats_is_last(struct str event)
{
    static const char *const last[] = {"\"RUN_FINISHED\"", "\"RUN_ERROR\"", "\"run_finish\""};
    if (!json_reader_is_valid(event))
        return false;
    struct str type = json_reader_pointer(event, "/type");
    if (!type.p)
        type = json_reader_pointer(event, "/event_type");
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        if (type.p && type.len == strlen(last[i]) && memcmp(type.p, last[i], type.len) == 0)
            return true;
    return false;
}

/* A line break in JSON is a blank between values. */
static int remote_nats_write(struct str event)
{
    CLEANUP_BUF struct buf line = {0};
    buf_add(&line, event.p, event.len);
    for (size_t i = 0; i < line.len; i++)
        if (line.p[i] == '\n' || line.p[i] == '\r')
            line.p[i] = ' ';
    buf_add_char(&line, '\n');
    return fwrite(line.p, 1, line.len, stdout) == line.len && fflush(stdout) == 0 ? 0 : -1;
}

static void remote_nats_on_message(void *ctx, const struct nats_client_message *m)
{
    struct remote_nats *const n = ctx;
    if (n->is_over)
        return;
    if (m->status == 503)
        remote_nats_fail(n, NOBODY, n->subject);
    else if (nats_client_count_lost(n->client))
        remote_nats_fail(n, "events came faster than they could be written, and were lost", "");
    else if (remote_nats_write(m->data) < 0)
        remote_nats_fail(n, "cannot write to standard output: ", strerror(errno));
    else if (remote_nats_is_last(m->data))
        remote_nats_end(n, 0);
}

/* ---- the request ---- */

/* The message of the turn is its standard input. */
static int remote_nats_read_message(struct buf *out, struct tc_err *err)
{
    char chunk[8192];
    size_t got;
    while ((got = fread(chunk, 1, sizeof chunk, stdin)) > 0 && out->len <= MESSAGE_MAX)
        buf_add(out, chunk, got);
    if (out->len > MESSAGE_MAX)
        return err_set(err, NULL, "the message is larger than %zu bytes", MESSAGE_MAX);
    return 0;
}

static void remote_nats_add(struct buf *out, const char *before, const char *text, size_t len)
{
    buf_add_str(out, before);
    jsonw_string(out, text, len);
}

/* The thread is the session of the turn, a new one if there is none yet. */
static int remote_nats_make_request(struct remote_nats *n, const struct remote_arguments *a)
{
    CLEANUP_BUF struct buf read = {0}, text = {0};
    char id[37], fresh[37];
    const char *const agent = remote_setting(a, "agent", NULL);
    if (remote_nats_read_message(&read, n->err) < 0)
        return -1;
    utf8_repair(&text, read.p ? read.p : "", read.len);
    uuid_make(id);
    uuid_make(fresh);
    const char *const thread = remote_setting(a, "thread", fresh);
    struct buf *const out = &n->request;
    buf_add_char(out, '{');
    if (agent)
        remote_nats_add(out, "\"agentId\":", agent, strlen(agent));
    remote_nats_add(out,
                    agent ? ",\"request\":{\"threadId\":" : "\"request\":{\"threadId\":", thread,
                    strlen(thread));
    remote_nats_add(out, ",\"runId\":", id, strlen(id));
    remote_nats_add(out, ",\"state\":{},\"messages\":[{\"id\":", id, strlen(id));
    remote_nats_add(out, ",\"role\":\"user\",\"content\":", text.p ? text.p : "", text.len);
    buf_add_str(out, "}],\"tools\":[],\"context\":[],\"forwardedProps\":{}}}");
    return 0;
}

static void remote_nats_on_sent(void *ctx, bool sent)
{
    struct remote_nats *const n = ctx;
    const size_t max = nats_client_max_payload(n->client);
    char size[100];
    snprintf(size, sizeof size, "%zu bytes; the NATS server takes %zu (max_payload)",
             n->request.len, max);
    if (!sent && max && n->request.len > max)
        remote_nats_fail(n, "the message is too large: the request has ", size);
    else if (!sent)
        remote_nats_fail(n, "cannot send the request: the connection to NATS was lost", "");
}

/* ---- the connection ---- */

/* An input that no run can have: whoever takes it answers with an error, or not at all. */
static void remote_nats_on_probed(void *ctx, enum nats_client_result result,
                                  const struct nats_client_message *m)
{
    struct remote_nats *const n = ctx;
    (void)m;
    if (result == NATS_CLIENT_NOBODY)
        remote_nats_fail(n, NOBODY, n->subject);
    else
        remote_nats_end(n, 0);
}

static void remote_nats_ask(struct remote_nats *n)
{
    n->asked = true;
    loop_timer_set(n->connecting, -1);
    if (n->probes)
        nats_client_request(
            n->client, &(struct nats_client_publication){.subject = n->subject, .data = STR("{}")},
            PROBE_MS, remote_nats_on_probed, n);
    else
        nats_client_send(n->client,
                         &(struct nats_client_publication){.subject = n->subject,
                                                           .data = {n->request.p, n->request.len},
                                                           .reply = n->inbox},
                         remote_nats_on_sent, n);
}

static void remote_nats_on_changed(void *ctx, bool connected, const char *text)
{
    struct remote_nats *const n = ctx;
    if (!connected && n->asked) {
        remote_nats_fail(n, "the connection to NATS was lost during the run: ", text);
    } else if (!connected) {
        snprintf(n->why, sizeof n->why, "%s", text);
    } else if (!n->asked) {
        remote_nats_ask(n);
    }
}

static void remote_nats_on_late(void *arg)
{
    struct remote_nats *const n = arg;
    remote_nats_fail(n, "cannot connect to the NATS servers: ", *n->why ? n->why : "no answer");
}

/* "A,B" becomes a list. */
static void remote_nats_split(char *text, const char *urls[URLS_MAX + 1])
{
    size_t n = 0;
    char *rest = NULL;
    for (char *url = strtok_r(text, ",", &rest); url && n < URLS_MAX;
         url = strtok_r(NULL, ",", &rest))
        urls[n++] = url;
    urls[n] = NULL;
}

static int remote_nats_run(struct remote_nats *n, const struct remote_arguments *a)
{
    const char *urls[URLS_MAX + 1];
    CLEANUP_FREE char *text = xstrdup(remote_setting(a, "url", "nats://127.0.0.1:4222"));
    remote_nats_split(text, urls);
    n->client = nats_client_new(
        &(struct nats_client_spec){.loop = n->loop,
                                   .urls = urls,
                                   .name = "turncast-remote",
                                   .credentials = a->secret,
                                   .creds_file = remote_setting(a, "credentials_file", NULL),
                                   .ca = remote_setting(a, "ca", NULL),
                                   .cert = remote_setting(a, "cert", NULL),
                                   .key = remote_setting(a, "key", NULL),
                                   .tls = remote_setting(a, "tls", NULL),
                                   .changed = remote_nats_on_changed,
                                   .ctx = n},
        n->err);
    if (!n->client)
        return -1;
    n->replies = nats_client_subscribe(n->client, n->inbox, remote_nats_on_message, n);
    loop_timer_set(n->connecting, strtoll(remote_setting(a, "connect_ms", CONNECT_MS), NULL, 10));
    while (!n->is_over) /* the threads of libnats do not keep the loop running */
        loop_run_once(n->loop, WAIT_MS);
    nats_client_unsubscribe(n->replies);
    return n->status;
}

int remote_nats_follow(const struct remote_arguments *a, struct tc_err *err)
{
    char id[37];
    struct remote_nats n = {.loop = loop_new(), .err = err};
    n.subject = remote_setting(a, "subject", "agentos.ag-ui.runs");
    n.connecting = loop_timer_new(n.loop, remote_nats_on_late, &n);
    uuid_make(id);
    snprintf(n.inbox, sizeof n.inbox, "_INBOX.%s", id);
    n.probes = remote_setting(a, "probe", NULL);
    int status = n.probes ? 0 : remote_nats_make_request(&n, a);
    if (status == 0)
        status = remote_nats_run(&n, a);
    if (n.probes) {
        puts(status < 0 ? err->text : "ok");
        status = 0;
    }
    nats_client_free(n.client);
    loop_timer_free(n.connecting);
    loop_free(n.loop);
    buf_fini(&n.request);
    return status;
}
