/* SPDX-License-Identifier: MIT
 * The connector webhook: its options, and events as signed requests to an endpoint.
 *
 * Each event is a durable request with the URL "self:", stored until the endpoint has accepted it.
 * Each attempt is a separate request, because its timestamp and signature are new; the id is
 * unchanged. */
#include "webhook.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SELF "self:"
#define ATTEMPT_MS 20000
#define CONNECT_MS 5000 /* how long the host tries to connect with the same signature */
#define OFFER_MS 60000  /* longer than an attempt takes */
#define HOST_MAX 65

static const struct tc_option options[] = {
    TC_OPTION(struct webhook_conf, url, NULL, TC_SECRET, "endpoint to which events are posted"),
    TC_OPTION(
        struct webhook_conf, secret, NULL, TC_SECRET,
        "signing key, whsec_... or whsk_...; several, separated by spaces, during a rotation"),
    TC_OPTION(struct webhook_conf, token, NULL, TC_SECRET,
              "bearer token that the endpoint requires besides the signature"),
    TC_OPTION(struct webhook_conf, types, "start request final error", 0, "events to post"),
    TC_OPTION(struct webhook_conf, format, NULL, 0,
              "cloudevents, or an output format of another system (default: a body of its own)"),
    TC_OPTION(struct webhook_conf, retry_s, "3 d", 0, "time after which an event is given up"),
    TC_OPTION(struct webhook_conf, receive, "false", 0,
              "accept signed messages at /hooks/INSTANCE of the HTTP server"),
    TC_OPTION(struct webhook_conf, inbound_secret, NULL, TC_SECRET,
              "keys of received messages, whsec_... or whpk_... (default: those in secret)"),
    {0},
};

static const struct tc_rule rules[] = {
    {.key = "url", .kind = TC_RULE_URL, .text = "https http"},
    {.key = "url", .kind = TC_RULE_AT_LEAST_ONE, .text = "receive"},
    {.key = "url", .kind = TC_RULE_NEEDS, .text = "secret"},
    {.key = "receive", .kind = TC_RULE_NEEDS, .text = "secret inbound_secret"},
    {.key = "token", .kind = TC_RULE_NEEDS, .text = "url"},
    {.key = "types",
     .kind = TC_RULE_ONE_OF,
     .text = "start request final error done usage message tool_call tool_result step notice state "
             "narration thinking progress raw"},
    {.key = "format",
     .kind = TC_RULE_ONE_OF,
     .text = "cloudevents turncast ag-ui agenticore-openai ai-sdk awaken ethos missy-audit "
             "missy-json otlp "
             "reasonix"},
    {.key = "retry_s", .kind = TC_RULE_DURATION, .text = "s"},
    {.key = "retry_s", .kind = TC_RULE_RANGE, .min = 60, .max = 7 * 86400},
    {.key = "receive", .kind = TC_RULE_SERVER},
    {.key = "receive", .kind = TC_RULE_GRANTS, .text = "submit cancel answer"},
    {.key = "inbound_secret", .kind = TC_RULE_NEEDS, .text = "receive"},
    {0},
};

static const struct tc_rate rates[] = {{.count = 50, .burst = 50, .interval_ms = 1000}, {0}};

/* ---- bodies ---- */

static bool type_is_wanted(const struct webhook_conf *conf, const char *name)
{
    for (const char *const *type = conf->types; type && *type; type++)
        if (strcmp(*type, name) == 0)
            return true;
    return false;
}

/* RFC 3339, in UTC. */
static const char *time_text(struct tc_turn *turn, double seconds)
{
    char text[32];
    struct tm tm;
    const time_t whole = (time_t)seconds;
    gmtime_r(&whole, &tm);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
    return tc_sprint(turn, "%s.%03dZ", text, (int)((seconds - (double)whole) * 1000));
}

/* An open request that can be answered has a ticket for the answer. */
static const char *event_ticket(struct tc_turn *turn, const struct tc_event *ev)
{
    const struct tc_request *const request = ev->payload;
    return ev->kind == TC_REQUEST && strcmp(request->state, "open") == 0 && request->choices
               ? tc_ticket(turn, request->request_id)
               : NULL;
}

/* A CloudEvent, or the form that Standard Webhooks recommends; in both, `data` is the canonical
 * event. */
static const char *body_write(struct tc_turn *turn, const struct tc_event *ev, const char *id,
                              bool cloud)
{
    const struct webhook *const s = turn->inst->state;
    const char *const object =
        tc_json(turn, "{s:s*, s:s*, s:s*, s:s*, s:s, s:s, s:s, s:s*, s:s, s:s*, s:s*}",
                "specversion", cloud ? "1.0" : NULL, "id", cloud ? id : NULL, "source",
                cloud ? s->source : NULL, "datacontenttype", cloud ? "application/json" : NULL,
                "type", tc_sprint(turn, "%sturn.%s", cloud ? "dev.turncast." : "", ev->name),
                cloud ? "time" : "timestamp", time_text(turn, ev->meta->ts),
                cloud ? "subject" : "turn", turn->id, "conversation", turn->conversation, "agent",
                turn->agent, "route", turn->route, "ticket", event_ticket(turn, ev));
    return object ? tc_sprint(turn, "%.*s,\"data\":%s}", (int)strlen(object) - 1, object, ev->line)
                  : NULL;
}

/* In a format of another system: one message is a JSON document, several are lines. "": the format
 * has no message for this event. */
static const char *body_encode(struct tc_turn *turn, const char *format, const char **type)
{
    size_t len = 0;
    const char *const text = tc_encode(turn, TC_FORMAT(.name = format), &len);
    if (!text)
        return NULL;
    len -= len > 0 && text[len - 1] == '\n';
    *type = memchr(text, '\n', len) ? "application/x-ndjson" : "application/json";
    return tc_sprint(turn, "%.*s", (int)len, text);
}

/* ---- events ---- */

/* Streamed text is not durable, because the final event contains all of it. */
static uint32_t event_flags(enum tc_kind kind)
{
    const bool streams = kind == TC_NARRATION || kind == TC_THINKING || kind == TC_PROGRESS;
    return TC_IDEMPOTENT | (streams ? 0u : TC_DURABLE);
}

/* Encodes every event, because a format may depend on earlier ones. */
static int on_event(struct tc_turn *turn, const struct tc_event *ev)
{
    const struct webhook_conf *const conf = turn->inst->conf;
    const bool cloud = conf->format && strcmp(conf->format, "cloudevents") == 0;
    const bool encodes = conf->url && conf->format && !cloud;
    const char *type = cloud ? "application/cloudevents+json; charset=utf-8" : NULL;
    const char *body = encodes ? body_encode(turn, conf->format, &type) : NULL;
    if (!conf->url || !type_is_wanted(conf, ev->name) || (body && !*body))
        return 0;
    /* Unchanged for each attempt and after a restart. If several instances post to one endpoint,
     * each has its own id. */
    const char *const id =
        tc_sprint(turn, "%s_%" PRIu64 "_%s", turn->id, ev->meta->seq, turn->inst->name);
    body = encodes ? body : body_write(turn, ev, id, cloud);
    if (!id || !body)
        return -1;
    return tc_http(turn,
                   TC_HTTP(.url = SELF, .content_type = type, .body = body,
                           .lane = turn->conversation ? turn->conversation : turn->id,
                           .priority = TC_P_NOTICE, .rates = 1, .flags = event_flags(ev->kind),
                           .timeout_ms = OFFER_MS, .max_age_ms = conf->retry_s * 1000, .tag = id));
}

/* ---- attempts ---- */

/* Delay after attempt n, in seconds; the last one repeats. Each is up to a fifth longer, so that
 * many events are not retried at the same time. */
static int64_t retry_delay_ms(struct tc_turn *turn, uint32_t attempts)
{
    static const int64_t seconds[] = {5, 30, 120, 300, 900, 1800, 3600, 7200, 14400};
    const size_t last = sizeof seconds / sizeof *seconds - 1;
    const int64_t ms = seconds[attempts > last ? last : attempts > 0 ? attempts - 1 : 0] * 1000;
    return tc_random(turn, ms, ms + ms / 5);
}

static int attempt_send(struct tc_turn *turn, const struct tc_reply *r, const char *timestamp)
{
    const struct webhook_conf *const conf = turn->inst->conf;
    const char *const signatures =
        tc_webhook_sign(turn, conf->secret, r->tag, timestamp, r->http->body, r->http->body_len);
    if (!signatures)
        return -1;
    const struct tc_header headers[] = {{"webhook-id", r->tag},
                                        {"webhook-timestamp", timestamp},
                                        {"webhook-signature", signatures},
                                        {"Authorization", "Bearer {option:token}"}};
    return tc_http(turn, TC_HTTP(.url = "{option:url}", .headers = headers,
                                 .header_count = sizeof headers / sizeof *headers,
                                 .content_type = r->http->content_type, .body = r->http->body,
                                 .body_len = r->http->body_len, .priority = TC_P_NOTICE,
                                 .flags = TC_IDEMPOTENT, .timeout_ms = ATTEMPT_MS,
                                 .max_age_ms = CONNECT_MS,
                                 .tag = tc_sprint(turn, "%" PRIu64, r->number)));
}

/* An event is due. */
static int attempt_begin(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v)
{
    const struct webhook *const s = turn->inst->state;
    if (s->is_gone) {
        v->next = TC_NEXT_FAIL;
        v->reason = "the endpoint has answered 410 Gone";
        return 0;
    }
    if (attempt_send(turn, r, tc_sprint(turn, "%lld", (long long)time(NULL))) == 0)
        return 0;
    return tc_complete(turn, r->number,
                       TC_COMPLETION(.outcome = TC_NOT_SENT, .error = "cannot sign the request"));
}

/* The attempt has ended: passes the result to the event. v->hold_ms is the delay requested by the
 * endpoint. */
static int attempt_end(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v)
{
    const int64_t hold_ms = v->hold_ms;
    *v = (struct tc_verdict){.next = TC_NEXT_DONE};
    return tc_complete(turn, strtoull(r->tag, NULL, 10),
                       TC_COMPLETION(.outcome = r->outcome == TC_DROPPED ? TC_NOT_SENT : r->outcome,
                                     .status = r->status, .error = r->error, .hold_ms = hold_ms));
}

/* ---- result of an event ---- */

static void endpoint_disable(struct tc_instance *inst, struct tc_verdict *v)
{
    struct webhook *const s = inst->state;
    s->is_gone = true;
    tc_log(inst, TC_ERR,
           "the endpoint has answered 410 Gone: nothing is posted any more; when the endpoint is "
           "back, "
           "run: turncast restart %s",
           inst->name);
    *v = (struct tc_verdict){.next = TC_NEXT_FAIL,
                             .scope = TC_HOLD_INSTANCE,
                             .reason = "the endpoint has answered 410 Gone"};
}

/* Statuses that affect all events: a wrong address or key, or a requested pause. */
static bool status_is_general(int status, int64_t asked_ms)
{
    return asked_ms > 0 || status == 401 || status == 403 || status == 404 || status == 405 ||
           (status >= 300 && status < 400);
}

static void event_retry(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v)
{
    struct webhook *const s = turn->inst->state;
    const int64_t asked_ms = v->hold_ms;
    const bool general = status_is_general(r->status, asked_ms);
    const char *const what = r->status ? tc_sprint(turn, "status %d", r->status) : r->error;
    if (!s->is_failing)
        tc_log(turn->inst, TC_WARN, "the endpoint has not accepted an event (%s); retrying",
               what ? what : "");
    s->is_failing = true;
    *v = (struct tc_verdict){.next = TC_NEXT_AGAIN,
                             .hold_ms = asked_ms > 0 ? asked_ms : retry_delay_ms(turn, r->attempts),
                             .scope = general ? TC_HOLD_INSTANCE : TC_HOLD_LANE,
                             .reason = general && asked_ms == 0 ? what : NULL};
}

static int on_reply(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v)
{
    struct webhook *const s = turn->inst->state;
    if (strcmp(r->http->url, SELF) != 0)
        return attempt_end(turn, r, v);
    if (r->outcome == TC_YOUR_TURN)
        return attempt_begin(turn, r, v);
    if (r->outcome == TC_OK && s->is_failing) {
        s->is_failing = false;
        tc_log(turn->inst, TC_INFO, "the endpoint accepts events again");
    } else if (r->outcome == TC_REJECTED && r->status == 410) {
        endpoint_disable(turn->inst, v);
    } else if (r->outcome == TC_AMBIGUOUS || (r->outcome == TC_REJECTED && r->status != 0)) {
        event_retry(turn, r, v);
    }
    return 0;
}

/* ---- init ---- */

static int init(struct tc_instance *inst)
{
    struct webhook *const s = inst->state;
    const struct webhook_conf *const conf = inst->conf;
    char host[HOST_MAX] = "";
    gethostname(host, sizeof host - 1);
    s->source = tc_sprint(inst->lobby, "/turncast/%s/%s", host, inst->name);
    s->source = s->source ? tc_keep(inst->lobby, s->source) : NULL;
    if (!s->source ||
        (conf->secret && tc_webhook_keys(inst, "secret", conf->secret, conf->url != NULL) < 0) ||
        (conf->inbound_secret &&
         tc_webhook_keys(inst, "inbound_secret", conf->inbound_secret, false) < 0))
        return -1;
    return conf->receive ? tc_route(inst, "") : 0;
}

TURNCAST_PLUGIN(.name = "webhook", .version = "0.1.0",
                .summary = "events to and messages from other programs, as signed webhooks",
                .flags = TC_DELIVERS, .conf_size = sizeof(struct webhook_conf),
                .state_size = sizeof(struct webhook), .options = options, .rules = rules,
                .probe = TC_PROBE(.url = "{option:url}", .address = true), .init = init,
                .rates = rates,
                .sink = TC_SINK(.on_event = on_event, .on_reply = on_reply,
                                .on_hit = webhook_inbound_handle));
