/* SPDX-License-Identifier: MIT
 * Transport nats: a turn of an agent of tirea, or of another turncast host, which runs it on
 * request over NATS. Commands come from standard input (dialect/remote); each event of a run is one
 * line of output. If a run asks people and ends, the run with the decisions belongs to the same
 * turn. A run is never requested twice: when the connection is lost, events may be missing, so the
 * turn fails. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/uuid.h"
#include "dialect/reader/value.h"
#include "dialect/remote/remote_line.h"
#include "event/json/json_writer.h"
#include "io/nats/nats_client.h"
#include "remote/nats/nats_requests.h"
#include "remote/remote.h"
#include "remote/remote_commands.h"

#define URLS_MAX 16
#define WAIT_MS 1000
#define LEAVE_MS 2000 /* time limit for the last decisions of a cancelled turn */
#define PROBE_MS 3000
#define NOBODY "nobody takes runs at the subject "
#define CONNECT_MS "10000" /* time limit for the first connection */
#define THREAD_MAX 128

struct nats_run {
    const struct remote_arguments *arguments;
    struct loop *loop;
    struct nats_client *client;
    struct nats_client_subscription *replies;
    struct remote_commands *commands; /* NULL: a probe */
    struct loop_timer *connecting, *leaving;
    const char *subject;
    char thread[THREAD_MAX + 1];
    char run[37];     /* number of the newest run */
    struct buf input; /* members of the next run's input */
    struct nats_requests requests;
    char inbox[64];
    char why[200]; /* the last error of the connection */
    enum {
        NATS_RUN_NEW,       /* no run was requested */
        NATS_RUN_GOES_ON,   /* receiving events */
        NATS_RUN_SUSPENDED, /* waiting for decisions */
        NATS_RUN_LEAVING,   /* waiting only for confirmation that the last decisions arrived */
        NATS_RUN_OVER,
    } state;
    bool probes;
    struct tc_err *err; /* message of a probe */
};

/* ---- the output ---- */

static void nats_run_write(struct nats_run *n, const struct buf *lines)
{
    if (fwrite(lines->p, 1, lines->len, stdout) != lines->len || fflush(stdout))
        n->state = NATS_RUN_OVER; /* the host no longer reads */
}

/* Writes nothing after the end. */
static void nats_run_fail(struct nats_run *n, const char *code, const char *fmt, ...)
    __attribute__((__format__(__printf__, 3, 4)));
static void nats_run_fail(struct nats_run *n, const char *code, const char *fmt, ...)
{
    CLEANUP_BUF struct buf text = {0}, line = {0};
    va_list ap;
    if (n->state == NATS_RUN_OVER)
        return;
    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    n->state = NATS_RUN_OVER;
    if (n->probes) {
        err_set(n->err, NULL, "%s", text.p);
        return;
    }
    remote_line_add_error(&line, code, text.p);
    nats_run_write(n, &line);
}

/* ---- events ---- */

static void nats_run_write_requests(struct nats_run *n)
{
    CLEANUP_BUF struct buf lines = {0};
    for (size_t i = 0; i < n->requests.n; i++) {
        const struct nats_asked *const q = &n->requests.all[i];
        remote_line_add_request(&lines, q->id, !q->approval, q->edits);
    }
    remote_line_add_suspended(&lines);
    nats_run_write(n, &lines);
}

static void nats_run_handle_event(struct nats_run *n, struct str event)
{
    CLEANUP_BUF struct buf shown = {0}, line = {0};
    const enum nats_event what = nats_requests_handle_event(&n->requests, event, &shown);
    if (what == NATS_EVENT_KEPT)
        return;
    if (what == NATS_EVENT_SUSPENDED) {
        n->state = NATS_RUN_SUSPENDED;
        nats_run_write_requests(n);
    }
    remote_line_add_data(&line, shown.len ? shown.p : event.p, shown.len ? shown.len : event.len);
    nats_run_write(n, &line);
    if (what == NATS_EVENT_LAST)
        n->state = NATS_RUN_OVER;
}

static void nats_run_on_message(void *ctx, const struct nats_client_message *m)
{
    struct nats_run *const n = ctx;
    if (n->state == NATS_RUN_LEAVING)
        n->state = NATS_RUN_OVER;
    else if (n->state == NATS_RUN_GOES_ON && m->status == 503)
        nats_run_fail(n, "remote_unreachable", NOBODY "%s", n->subject);
    else if (n->state == NATS_RUN_GOES_ON && nats_client_count_lost(n->client))
        nats_run_fail(n, "remote_lost",
                      "events came faster than they could be written, and were lost");
    else if (n->state == NATS_RUN_GOES_ON)
        nats_run_handle_event(n, m->data);
}

/* ---- requests for runs ---- */

static void nats_run_on_sent(void *ctx, bool sent)
{
    struct nats_run *const n = ctx;
    const size_t max = nats_client_max_payload(n->client);
    if (!sent && max && n->input.len > max)
        nats_run_fail(n, "remote_refused",
                      "the message is too large: the request has more than %zu bytes; the NATS "
                      "server takes %zu (max_payload)",
                      n->input.len, max);
    else if (!sent)
        nats_run_fail(n, "remote_lost", "cannot send the request: the connection to NATS was lost");
}

/* The thread is the session of the conversation. */
static void nats_run_send_request(struct nats_run *n)
{
    CLEANUP_BUF struct buf request = {0};
    buf_add_char(&request, '{');
    jsonw_member_str(&request, "agentId", remote_setting(n->arguments, "agent", NULL));
    jsonw_key(&request, "request");
    buf_add_char(&request, '{');
    jsonw_member_str(&request, "threadId", n->thread);
    jsonw_member_str(&request, "parentRunId", *n->run ? n->run : NULL);
    uuid_make(n->run);
    jsonw_member_str(&request, "runId", n->run);
    buf_add(&request, n->input.p, n->input.len);
    buf_add_str(&request, ",\"state\":{},\"tools\":[],\"context\":[],\"forwardedProps\":{}}}");
    nats_client_send(n->client,
                     &(struct nats_client_publication){.subject = n->subject,
                                                       .data = {request.p, request.len},
                                                       .reply = n->inbox},
                     nats_run_on_sent, n);
}

static void nats_run_begin(struct nats_run *n)
{
    loop_timer_set(n->connecting, -1);
    n->state = NATS_RUN_GOES_ON;
    nats_run_send_request(n);
}

static void nats_run_resume(struct nats_run *n)
{
    n->state = NATS_RUN_GOES_ON;
    buf_reset(&n->input);
    nats_requests_append_input(&n->requests, &n->input);
    nats_requests_clear(&n->requests);
    nats_run_send_request(n);
}

/* Decisions made while the connection is lost are sent after it is restored. */
static void nats_run_resume_if_decided(struct nats_run *n)
{
    if (nats_client_is_connected(n->client) && nats_requests_are_decided(&n->requests))
        nats_run_resume(n);
}

/* ---- commands ---- */

static void nats_run_on_prompt(void *ctx, const char *text, const char *session)
{
    struct nats_run *const n = ctx;
    CLEANUP_BUF struct buf line = {0};
    char id[37];
    uuid_make(id);
    if (session && strlen(session) <= THREAD_MAX)
        memcpy(n->thread, session, strlen(session) + 1);
    else
        uuid_make(n->thread);
    buf_add_str(&n->input, ",\"messages\":[{");
    buf_printf(&n->input, "\"id\":\"%s\"", id);
    jsonw_member_str(&n->input, "role", "user");
    jsonw_member_str(&n->input, "content", text);
    buf_add_str(&n->input, "}]");
    remote_line_add_open(&line, "ag-ui", n->thread);
    nats_run_write(n, &line);
    if (nats_client_is_connected(n->client) && n->state == NATS_RUN_NEW)
        nats_run_begin(n);
}

static void nats_run_on_leaving(void *arg)
{
    struct nats_run *const n = arg;
    n->state = NATS_RUN_OVER;
}

/* A host of turncast cancels a run when nobody listens to its events. A run that waits for
 * decisions has no listener now, so it first gets the decisions. */
static void nats_run_on_cancel(void *ctx)
{
    struct nats_run *const n = ctx;
    if (n->state == NATS_RUN_SUSPENDED) {
        nats_requests_dismiss(&n->requests);
        nats_run_resume(n);
        n->state = NATS_RUN_LEAVING;
        loop_timer_set(n->leaving, LEAVE_MS);
    } else if (n->state != NATS_RUN_LEAVING) {
        n->state = NATS_RUN_OVER;
    }
}

/* The host did not ask for the end of the turn, so the reason is written. */
static void nats_run_stop(struct nats_run *n)
{
    static const char end[] = "{\"type\":\"RUN_FINISHED\",\"outcome\":{\"type\":\"cancelled\"}}";
    CLEANUP_BUF struct buf line = {0};
    remote_line_add_data(&line, end, sizeof end - 1);
    nats_run_write(n, &line);
    nats_run_on_cancel(n);
}

static void nats_run_on_answer(void *ctx, const struct remote_answer *answer)
{
    struct nats_run *const n = ctx;
    if (n->state != NATS_RUN_SUSPENDED || !nats_requests_decide(&n->requests, answer))
        return;
    if (answer->interrupt)
        nats_run_stop(n);
    else
        nats_run_resume_if_decided(n);
}

static void nats_run_on_long_command(void *ctx, uint64_t bytes)
{
    nats_run_fail(ctx, "remote_invalid", "a message of %llu bytes is too long",
                  (unsigned long long)bytes);
}

static const struct remote_commands_events commands = {nats_run_on_prompt, nats_run_on_answer,
                                                       nats_run_on_cancel, nats_run_on_cancel,
                                                       nats_run_on_long_command};

/* ---- the connection ---- */

/* An invalid run input: a gateway answers with an error, or not at all. */
static void nats_run_on_probed(void *ctx, enum nats_client_result result,
                               const struct nats_client_message *m)
{
    struct nats_run *const n = ctx;
    (void)m;
    if (result == NATS_CLIENT_NOBODY)
        nats_run_fail(n, "", NOBODY "%s", n->subject);
    n->state = NATS_RUN_OVER;
}

static void nats_run_probe(struct nats_run *n)
{
    loop_timer_set(n->connecting, -1);
    n->state = NATS_RUN_GOES_ON;
    nats_client_request(n->client,
                        &(struct nats_client_publication){.subject = n->subject, .data = STR("{}")},
                        PROBE_MS, nats_run_on_probed, n);
}

static void nats_run_on_late(void *arg)
{
    struct nats_run *const n = arg;
    nats_run_fail(n, "remote_unreachable", "cannot connect to the NATS servers: %s",
                  *n->why ? n->why : "no answer");
}

/* Connecting goes on, but a probe, which is asked for the reason, ends with the first one. */
static void nats_run_record_failure(struct nats_run *n, const char *why)
{
    snprintf(n->why, sizeof n->why, "%s", why);
    if (n->probes)
        nats_run_on_late(n);
}

static void nats_run_on_changed(void *ctx, bool connected, const char *text)
{
    struct nats_run *const n = ctx;
    if (!connected && n->state != NATS_RUN_NEW && n->state != NATS_RUN_SUSPENDED)
        nats_run_fail(n, "remote_lost", "the connection to NATS was lost during the run: %s", text);
    else if (!connected)
        nats_run_record_failure(n, text);
    else if (n->state == NATS_RUN_NEW && n->probes)
        nats_run_probe(n);
    else if (n->state == NATS_RUN_NEW && n->input.len)
        nats_run_begin(n);
    else if (n->state == NATS_RUN_SUSPENDED)
        nats_run_resume_if_decided(n);
}

/* Converts "A,B" to a list. */
static void nats_run_split(char *text, const char *urls[URLS_MAX + 1])
{
    size_t n = 0;
    char *rest = NULL;
    for (char *url = strtok_r(text, ",", &rest); url && n < URLS_MAX;
         url = strtok_r(NULL, ",", &rest))
        urls[n++] = url;
    urls[n] = NULL;
}

static int nats_run_connect(struct nats_run *n, struct tc_err *err)
{
    const struct remote_arguments *const a = n->arguments;
    const char *urls[URLS_MAX + 1];
    const bool has_token = remote_setting(a, "proof", NULL);
    CLEANUP_FREE char *text = xstrdup(remote_setting(a, "url", "nats://127.0.0.1:4222"));
    nats_run_split(text, urls);
    n->client = nats_client_new(
        &(struct nats_client_spec){.loop = n->loop,
                                   .urls = urls,
                                   .name = "turncast-remote",
                                   .credentials = has_token ? NULL : a->secret,
                                   .token = has_token ? a->secret : NULL,
                                   .creds_file = remote_setting(a, "credentials_file", NULL),
                                   .ca = remote_setting(a, "ca", NULL),
                                   .cert = remote_setting(a, "cert", NULL),
                                   .key = remote_setting(a, "key", NULL),
                                   .tls = remote_setting(a, "tls", NULL),
                                   .changed = nats_run_on_changed,
                                   .ctx = n},
        err);
    if (!n->client)
        return -1;
    n->replies = nats_client_subscribe(n->client, n->inbox, nats_run_on_message, n);
    loop_timer_set(n->connecting, strtoll(remote_setting(a, "connect_ms", CONNECT_MS), NULL, 10));
    if (!n->probes)
        n->commands = remote_commands_new(n->loop, &commands, n);
    return 0;
}

int remote_nats_follow(const struct remote_arguments *a, struct tc_err *err)
{
    char id[37];
    struct tc_err why = {0};
    struct nats_run n = {.arguments = a, .loop = loop_new(), .err = &why};
    n.subject = remote_setting(a, "subject", "agentos.ag-ui.runs");
    n.connecting = loop_timer_new(n.loop, nats_run_on_late, &n);
    n.leaving = loop_timer_new(n.loop, nats_run_on_leaving, &n);
    uuid_make(id);
    snprintf(n.inbox, sizeof n.inbox, "_INBOX.%s", id);
    n.probes = remote_setting(a, "probe", NULL);
    const int status = nats_run_connect(&n, err);
    while (status == 0 && n.state != NATS_RUN_OVER) /* exits although threads of libnats still
                                                     * run */
        loop_run_once(n.loop, WAIT_MS);
    if (n.probes && status == 0)
        puts(*why.text ? why.text : "ok");
    nats_client_unsubscribe(n.replies);
    nats_client_free(n.client);
    remote_commands_free(n.commands);
    loop_timer_free(n.connecting);
    loop_timer_free(n.leaving);
    loop_free(n.loop);
    nats_requests_clear(&n.requests);
    buf_fini(&n.input);
    return status;
}
