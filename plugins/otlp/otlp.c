/* SPDX-License-Identifier: MIT
 * Connector otlp: its options, the queue of spans, and the requests that send them. The host makes
 * the spans (its format "otlp"). One request is in flight at a time; spans that arrive meanwhile
 * are sent with the next request. No spans are stored on disk: those that cannot be sent are
 * counted and lost. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <turncast/plugin.h>

#define QUEUE ((size_t)2048)            /* spans that wait; more are dropped and counted */
#define QUEUE_BYTES ((size_t)16 << 20)  /* limit of the bytes of all waiting spans */
#define BATCH ((size_t)512)             /* spans of one request */
#define BATCH_BYTES ((size_t)4 << 20)   /* of one request */
#define WAIT_MS 2000                    /* maximum delay of the first span of a batch */
#define AGE_MS ((int64_t)5 * 60 * 1000) /* maximum age of a request, after which it is dropped */
#define SPANS "\"spans\":["

struct otlp_conf {
    const char *endpoint, *service;
    const char *const *headers, *const *resource;
    bool content, input_includes_cache;
};

struct otlp {
    const char *resource; /* JSON array of NAME=VALUE */
    const char *head;     /* the JSON in front of the spans of a request; NULL: no span so far */
    char *spans[QUEUE];   /* JSON texts, malloc(3) */
    size_t n, bytes;      /* bytes of waiting spans */
    size_t in_flight;     /* spans of the request that has not ended */
    uint64_t lost;        /* spans since the last success */
    struct tc_header *headers;
    size_t header_count;
};

static const struct tc_option options[] = {
    TC_OPTION(struct otlp_conf, endpoint, NULL, TC_REQUIRED,
              "base URL of the receiver; spans go to ENDPOINT/v1/traces"),
    TC_OPTION(struct otlp_conf, headers, NULL, TC_SECRET,
              "headers of each request: NAME=VALUE, NAME=env:VARIABLE or NAME=file:PATH"),
    TC_OPTION(struct otlp_conf, service, "turncast", 0, "resource attribute service.name"),
    TC_OPTION(struct otlp_conf, resource, NULL, 0, "further resource attributes: NAME=VALUE"),
    TC_OPTION(struct otlp_conf, content, "false", 0,
              "also send prompts, answers, and arguments and results of tools"),
    TC_OPTION(struct otlp_conf, input_includes_cache, "true", 0,
              "count tokens from a cache as input tokens, too"),
    {0},
};

static const struct tc_rule rules[] = {
    {.key = "endpoint", .kind = TC_RULE_URL, .text = "https http"},
    {0},
};

/* ---- the queue ---- */

static void report_lost(struct tc_instance *inst, size_t n, const char *why)
{
    struct otlp *const s = inst->state;
    if (s->lost == 0)
        tc_log(inst, TC_ERR, "spans are being lost: %s", why);
    s->lost += n;
}

/* Without secrets, malloc(3); or NULL. */
static char *mask(struct tc_instance *inst, const char *json)
{
    const size_t len = strlen(json);
    size_t cap = len + 64;
    char *masked = malloc(cap);
    for (size_t need; masked && (need = tc_redact(inst, json, len, masked, cap)) >= cap;) {
        free(masked);
        cap = need + 1;
        masked = malloc(cap);
    }
    return masked;
}

static void put_span(struct tc_instance *inst, const char *span)
{
    struct otlp *const s = inst->state;
    if (s->n == QUEUE || s->bytes > QUEUE_BYTES) {
        report_lost(inst, 1, "the queue is full");
        return;
    }
    char *const masked = mask(inst, span);
    if (!masked) {
        report_lost(inst, 1, "out of memory");
        return;
    }
    if (s->n == 0)
        tc_wake(inst->lobby, WAIT_MS);
    s->spans[s->n++] = masked;
    s->bytes += strlen(masked);
}

/* Moves the first spans to the body of a request, malloc(3) or NULL; *n is their number. */
static char *otlp_build_body(struct otlp *s, size_t *n, size_t *len)
{
    char *body = NULL;
    size_t bytes = 0;
    FILE *const out = open_memstream(&body, len);
    if (out)
        fputs(s->head, out);
    for (*n = 0; *n < s->n && *n < BATCH && bytes < BATCH_BYTES; (*n)++) {
        bytes += strlen(s->spans[*n]);
        if (out)
            fprintf(out, "%s%s", *n ? "," : "", s->spans[*n]);
        free(s->spans[*n]);
    }
    s->bytes -= bytes;
    s->n -= *n;
    memmove(s->spans, s->spans + *n, s->n * sizeof *s->spans);
    if (out)
        fputs("]}]}]}", out);
    if (out && fclose(out) == 0)
        return body;
    free(body);
    return NULL;
}

/* Sends the waiting spans, unless a request is in flight. */
static void send_spans(struct tc_instance *inst)
{
    struct otlp *const s = inst->state;
    size_t n, len;
    if (s->in_flight || s->n == 0)
        return;
    char *const body = otlp_build_body(s, &n, &len);
    /* A span that is sent again has the same ids, so that the receiver can recognise it. */
    if (body &&
        tc_http(inst->lobby,
                TC_HTTP(.url = "{option:endpoint}/v1/traces", .headers = s->headers,
                        .header_count = s->header_count, .content_type = "application/json",
                        .body = body, .body_len = len, .lane = "traces", .priority = TC_P_NOTICE,
                        .flags = TC_IDEMPOTENT, .timeout_ms = 10000, .max_age_ms = AGE_MS)) == 0)
        s->in_flight = n;
    else
        report_lost(inst, n, "the request could not be queued");
    free(body);
}

/* ---- responses ---- */

static void report_success(struct tc_turn *lobby, const struct tc_reply *reply)
{
    struct otlp *const s = lobby->inst->state;
    const bool is_json = reply->body[strspn(reply->body, " \t\r\n")] == '{';
    const char *const partial = is_json ? tc_json_get(lobby, reply->body, "/partialSuccess") : NULL;
    const char *const n = partial ? tc_json_get(lobby, partial, "/rejectedSpans") : NULL;
    const char *const why = partial ? tc_json_get(lobby, partial, "/errorMessage") : NULL;
    if ((n && strcmp(n, "0") != 0) || (why && *why))
        tc_log(lobby->inst, TC_WARN, "the receiver rejected %.20s of %zu spans: %.200s",
               n ? n : "0", s->in_flight, why ? why : "");
    if (s->lost > 0)
        tc_log(lobby->inst, TC_WARN, "spans are sent again; spans lost: %" PRIu64, s->lost);
    s->lost = 0;
}

/* According to the protocol all other statuses are final. Without a status the host decides. */
static bool is_temporary(int status)
{
    return status == 429 || (status >= 502 && status <= 504);
}

static int on_reply(struct tc_turn *lobby, const struct tc_reply *reply, struct tc_verdict *v)
{
    struct otlp *const s = lobby->inst->state;
    if (reply->outcome != TC_OK && reply->status > 0)
        v->next = is_temporary(reply->status) ? TC_NEXT_AGAIN : TC_NEXT_FAIL;
    if (v->next == TC_NEXT_AGAIN)
        return 0;
    if (reply->outcome == TC_OK)
        report_success(lobby, reply);
    else
        report_lost(lobby->inst, s->in_flight, reply->error);
    s->in_flight = 0;
    send_spans(lobby->inst);
    return 0;
}

/* ---- events ---- */

/* For the first event of a turn. A turn that an earlier process began has its start in memory. */
static const char *make_settings(struct tc_turn *turn)
{
    const struct otlp_conf *const conf = turn->inst->conf;
    const struct otlp *const s = turn->inst->state;
    return tc_json(turn, "{s:j, s:b, s:b, s:j}", "resource", s->resource, "content", conf->content,
                   "input_excludes_cache", !conf->input_includes_cache, "started",
                   turn->memory ? turn->memory : "null");
}

/* The spans of a message of the host, each alone. */
static void otlp_add_spans(struct tc_turn *turn, const char *message)
{
    struct otlp *const s = turn->inst->state;
    const char *span;
    if (!s->head) {
        const size_t len = (size_t)(strstr(message, SPANS) - message) + strlen(SPANS);
        s->head = tc_keep(turn->inst->lobby, tc_sprint(turn, "%.*s", (int)len, message));
    }
    for (unsigned i = 0;
         (span = tc_json_get(turn, message,
                             tc_sprint(turn, "/resourceSpans/0/scopeSpans/0/spans/%u", i)));
         i++)
        put_span(turn->inst, span);
    if (s->n >= BATCH)
        send_spans(turn->inst);
}

static int on_event(struct tc_turn *turn, const struct tc_event *ev)
{
    size_t len;
    const char *const settings = ev->kind == TC_START ? make_settings(turn) : NULL;
    const char *const message =
        tc_encode(turn, TC_FORMAT(.name = "otlp", .settings = settings), &len);
    if (ev->kind == TC_START && !turn->memory)
        tc_remember(turn, tc_sprint(turn, "%.17g", ev->meta->ts));
    if (!message)
        return -1;
    if (len > 0)
        otlp_add_spans(turn, message);
    if (ev->kind == TC_DONE)
        send_spans(turn->inst);
    return 0;
}

static int on_wake(struct tc_turn *lobby)
{
    send_spans(lobby->inst);
    return 0;
}

/* ---- begin and end ---- */

/* Whether each element is NAME=VALUE, with a NAME of letters, digits and these. */
static bool check_pairs(struct tc_instance *inst, const char *key, const char *const *list,
                        const char *others)
{
    for (; list && *list; list++) {
        const char *end = *list;
        while (*end && (isalnum((unsigned char)*end) || strchr(others, *end)))
            end++;
        if (end == *list || *end != '=') {
            tc_log(inst, TC_ERR, "option %s: an element is not NAME=VALUE", key);
            return false;
        }
    }
    return true;
}

/* The host puts the values in as it sends a request. */
static void add_header(struct tc_instance *inst, const char *pair)
{
    struct otlp *const s = inst->state;
    const char *const name = tc_sprint(inst->lobby, "%.*s", (int)strcspn(pair, "="), pair);
    s->headers[s->header_count++] = (struct tc_header){
        tc_keep(inst->lobby, name),
        tc_keep(inst->lobby, tc_sprint(inst->lobby, "{option:headers.%s}", name))};
}

/* Attributes of the resource, NAME=VALUE. */
static const char *make_resource(struct tc_instance *inst)
{
    const struct otlp_conf *const conf = inst->conf;
    struct tc_turn *const lobby = inst->lobby;
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    const char *list = tc_json(lobby, "[s, s]", tc_sprint(lobby, "service.name=%s", conf->service),
                               tc_sprint(lobby, "service.instance.id=%s", host));
    for (const char *const *r = conf->resource; r && *r; r++)
        list = tc_json(lobby, "[j*, s]", list, *r);
    return list;
}

static int init(struct tc_instance *inst)
{
    const struct otlp_conf *const conf = inst->conf;
    struct otlp *const s = inst->state;
    size_t n = 0;
    if (!check_pairs(inst, "headers", conf->headers, "-_") ||
        !check_pairs(inst, "resource", conf->resource, "-_./"))
        return -1;
    while (conf->headers && conf->headers[n])
        n++;
    s->headers = tc_alloc(inst->lobby, (n + 1) * sizeof *s->headers);
    for (size_t i = 0; s->headers && i < n; i++)
        add_header(inst, conf->headers[i]);
    s->resource = tc_keep(inst->lobby, make_resource(inst));
    return s->resource && s->headers ? 0 : -1;
}

static void teardown(struct tc_instance *inst)
{
    struct otlp *const s = inst->state;
    const uint64_t lost = s->n + s->in_flight + s->lost;
    if (lost > 0)
        tc_log(inst, TC_ERR, "spans lost: %" PRIu64, lost);
    for (size_t i = 0; i < s->n; i++)
        free(s->spans[i]);
}

TURNCAST_PLUGIN(.name = "otlp", .version = "1.0",
                .summary = "traces of turns for OpenTelemetry, by OTLP over HTTP",
                .flags = TC_SEES_ALL, .conf_size = sizeof(struct otlp_conf),
                .state_size = sizeof(struct otlp), .options = options, .rules = rules,
                .probe = TC_PROBE(.method = "POST", .url = "{option:endpoint}/v1/traces",
                                  .body = "{\"resourceSpans\":[]}", .header_list = "headers",
                                  .reason = "/message"),
                .init = init, .teardown = teardown,
                .sink = TC_SINK(.on_event = on_event, .on_wake = on_wake, .on_reply = on_reply));
