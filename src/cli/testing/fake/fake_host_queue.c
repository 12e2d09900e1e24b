/* SPDX-License-Identifier: MIT
 * The outbound requests of the instance on the fake host: queued, on the wire, completed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "cli/testing/fake/fake_host_internal.h"
#include "plugin/outbox/outbox_expand.h"

#define DAY_MS (24 * 3600 * 1000)
#define MINUTE_MS (60 * 1000)
#define PERFORM_MS 30000

static bool fake_request_shares_lane(const struct fake_request *a, const struct fake_request *b)
{
    return a->http.lane && b->http.lane && strcmp(a->http.lane, b->http.lane) == 0;
}

static bool fake_request_is_live(const struct fake_request *r)
{
    return r->http.priority == TC_P_LIVE;
}

static void fake_request_free(struct fake_request *r)
{
    outbound_request_unref(r->outbound);
    arena_fini(&r->arena);
    free(r->label);
    free(r);
}

static void fake_request_unlink(struct fake_host *s, struct fake_request *r)
{
    struct fake_request **at = &s->requests;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    r->turn->under_way--;
    fake_request_free(r);
}

/* Checks and queues a new request. */

static const char *fake_request_method(struct fake_request *r)
{
    const char *const url = r->http.url, *const query = strchr(url, '?');
    char *const path =
        query ? arena_strndup(&r->arena, url, (size_t)(query - url)) : arena_strdup(&r->arena, url);
    /* the name of an option stands for its value if the value ends with the slash, or is the whole
     * path */
    const char *const slash = strrchr(path, '/'), *const brace = strrchr(path, '}');
    const char *const colon = brace && !brace[1] ? strrchr(path, ':') : NULL;
    const char *const before = slash && (!brace || slash > brace) ? slash : brace;
    if (colon)
        return arena_strndup(&r->arena, colon + 1, (size_t)(brace - colon) - 1);
    return before ? before + 1 : path;
}

static void fake_host_check_request(struct fake_host *s, const struct fake_request *r)
{
    const struct tc_http *const h = &r->http;
    uint32_t rates = 0;
    for (const struct tc_rate *rate = s->loaded->plugin.rates; rate && rate->count; rate++)
        rates = rates << 1 | 1;
    if (h->rates & ~rates)
        fake_host_fault(s, "%s counts on a rate that is not declared", r->method);
    if (h->body && !h->content_type) {
        json_t *const value = json_loadb(h->body, h->body_len, JSON_DECODE_ANY, NULL);
        if (!value)
            fake_host_fault(s, "%s: its body is no JSON: %.*s", r->method, (int)h->body_len,
                            (const char *)h->body);
        json_decref(value);
    }
    fake_host_check_secrets(s, "a URL", h->url, strlen(h->url));
    fake_host_check_secrets(s, "a tag", h->tag, strlen(h->tag));
    fake_host_check_secrets(s, "a body", h->body, h->body_len);
    for (size_t i = 0; i < h->part_count; i++)
        fake_host_check_secrets(s, "a part", h->parts[i].data, h->parts[i].len);
    for (size_t i = 0; i < h->header_count; i++)
        fake_host_check_secrets(s, "a header", h->headers[i].value, strlen(h->headers[i].value));
}

static struct fake_request *fake_request_new(struct fake_host *s, struct outbound_request *outbound)
{
    struct fake_request *const r = xcalloc(1, sizeof *r);
    struct fake_turn *const t = fake_host_find(s, outbound->turn);
    r->turn = t ? t : &s->lobby;
    r->outbound = outbound_request_ref(outbound);
    r->http = outbound->http;
    r->method = fake_request_method(r);
    r->born_ms = clock_mono_ms();
    r->due_ms = r->born_ms + r->http.delay_ms;
    r->seq = r->place = ++s->next_seq;
    r->turn->under_way++;
    fake_host_check_request(s, r);
    return r;
}

/* ---- on_reply ---- */

/* The argument of the callback. It is freed after the call, so that AddressSanitizer detects a
 * plugin that keeps a pointer to it. */
static struct outbound_reply *fake_host_make_reply(const struct fake_request *r,
                                                   const struct tc_reply *what,
                                                   const struct tc_verdict *verdict)
{
    struct outbound_reply *const o = xcalloc(1, sizeof *o);
    const char *why;
    o->request = r->outbound->id;
    o->last = what->outcome == TC_DROPPED;
    o->about = outbound_request_new(r->outbound->id, r->outbound->turn, &r->http, &why);
    o->verdict = *verdict;
    o->reply = *what;
    o->reply.http = &o->about->http;
    o->reply.tag = o->about->http.tag;
    o->reply.body = arena_strndup(&o->arena, what->body, what->body_len);
    o->reply.error = arena_strdup(&o->arena, what->error);
    o->reply.path = arena_strdup(&o->arena, what->path);
    o->reply.headers = outbound_copy_headers(&o->arena, what->headers, what->header_count);
    o->reply.number = r->outbound->id;
    o->reply.attempts = r->attempts;
    o->reply.in_doubt = r->doubts > 0;
    return o;
}

static const struct callback_batch *fake_host_find_settlement(const struct fake_host *s,
                                                              uint64_t request)
{
    for (const struct fake_batch *b = s->batches; b; b = b->next)
        if (b->batch->settles == BATCH_REQUEST && b->batch->request == request)
            return b->batch;
    return NULL;
}

/* Drains the batch later; the reason is valid until then. */
static struct tc_verdict fake_host_call_on_reply(struct fake_host *s, struct fake_request *r,
                                                 const struct tc_reply *what,
                                                 struct tc_verdict verdict)
{
    if (instance_call_on_reply(s->instance, r->turn->live, fake_host_make_reply(r, what, &verdict)))
        fake_host_fault(s, "on_reply of %s returned -1", r->method);
    const struct callback_batch *const b = fake_host_find_settlement(s, r->outbound->id);
    ASSERT(b);
    return b->verdict;
}

static bool fake_batch_is_durable(const struct callback_batch *b)
{
    for (size_t i = 0; i < b->count; i++)
        if (b->requests[i]->http.flags & TC_DURABLE)
            return true;
    return false;
}

/* The request has ended: removes it; durable requests that on_reply sent take its place. */
static void fake_host_end_request(struct fake_host *s, struct fake_request *r, bool failed,
                                  const char *reason)
{
    const struct callback_batch *const b = fake_host_find_settlement(s, r->outbound->id);
    if (failed && (r->http.flags & TC_DURABLE) && !fake_batch_is_durable(b)) {
        CLEANUP_FREE char *what = xasprintf("%s %s", r->method, reason ? reason : "");
        fake_host_note(s, FAKE_DEAD, 0, what);
    }
    fake_host_drain(s);
    fake_request_unlink(s, r);
}

static void fake_host_drop(struct fake_host *s, struct fake_request *r)
{
    r->state = FAKE_NAMED; /* requests sent by on_reply must not replace it again */
    const struct tc_verdict v = fake_host_call_on_reply(
        s, r, &(struct tc_reply){.outcome = TC_DROPPED, .body = "", .error = "dropped"},
        (struct tc_verdict){.next = TC_NEXT_FAIL});
    fake_host_end_request(s, r, true, v.reason);
}

/* A queued edit that r supersedes, or NULL. */
static struct fake_request *fake_host_find_pointless(struct fake_host *s,
                                                     const struct fake_request *r)
{
    for (struct fake_request *o = s->requests; o; o = o->next) {
        if (o == r || o->state != FAKE_WAITS || !fake_request_is_live(o) ||
            !fake_request_shares_lane(o, r) || o->seq > r->seq)
            continue;
        if ((r->http.priority == TC_P_FINAL && r->turn != &s->lobby) ||
            (fake_request_is_live(r) && r->http.key && o->http.key &&
             strcmp(r->http.key, o->http.key) == 0))
            return o;
    }
    return NULL;
}

static uint64_t fake_host_place_of(const struct fake_host *s, const struct callback_batch *b)
{
    for (const struct fake_request *r = s->requests; r; r = r->next)
        if (b->settles == BATCH_REQUEST && r->outbound->id == b->request)
            return r->place;
    return 0;
}

/* An outcome that a program has rejected; a failing callback is an error of the connector. */
static void fake_host_note_rejected(struct fake_host *s, const struct callback_batch *b)
{
    if (b->settles != BATCH_OUTCOME || !b->failed || !b->verdict.reason)
        return;
    CLEANUP_FREE char *what = xasprintf("outcome %s", b->verdict.reason);
    fake_host_note(s, FAKE_DEAD, 0, what);
}

void fake_host_commit(struct fake_host *s, struct callback_batch *b)
{
    fake_host_note_rejected(s, b);
    const uint64_t place = fake_host_place_of(s, b);
    for (size_t i = 0; i < b->count; i++) {
        struct fake_request *const r = fake_request_new(s, b->requests[i]);
        if (place && (r->http.flags & TC_DURABLE))
            r->place = place;
        struct fake_request **end = &s->requests;
        while (*end)
            end = &(*end)->next;
        *end = r;
        for (struct fake_request *o; (o = fake_host_find_pointless(s, r));)
            fake_host_drop(s, o);
    }
}

static int64_t fake_request_deadline_ms(const struct fake_request *r)
{
    const int64_t age = r->http.max_age_ms              ? r->http.max_age_ms
                        : r->http.flags & TC_DURABLE    ? DAY_MS
                        : r->http.priority == TC_P_LIVE ? MINUTE_MS
                                                        : 0;
    return age ? r->born_ms + age : INT64_MAX;
}

static int64_t fake_host_lane_held(const struct fake_host *s, const struct fake_request *r)
{
    for (const struct fake_lane *l = s->held; l && r->http.lane; l = l->next)
        if (strcmp(l->name, r->http.lane) == 0)
            return l->until;
    return 0;
}

/* Time at which the request may be sent, if its lane permits. */
static int64_t fake_request_ready_ms(const struct fake_host *s, const struct fake_request *r)
{
    const int64_t lane = fake_host_lane_held(s, r);
    int64_t at = r->due_ms > s->hold_until ? r->due_ms : s->hold_until;
    return at > lane ? at : lane;
}

static bool fake_request_precedes(const struct fake_request *a, const struct fake_request *b)
{
    if (a->http.priority != b->http.priority)
        return a->http.priority < b->http.priority;
    return a->place != b->place ? a->place < b->place : a->seq < b->seq;
}

/* Whether it waits for a secret; it does not block its lane then. */
static bool fake_request_is_parked(const struct fake_host *s, const struct fake_request *r)
{
    size_t len;
    return outbox_expand_find_missing(&r->http, &s->kept.secrets, &len);
}

static bool fake_request_is_ready(const struct fake_host *s, const struct fake_request *r)
{
    if (r->state != FAKE_WAITS || fake_request_ready_ms(s, r) > clock_mono_ms() ||
        fake_request_is_parked(s, r))
        return false;
    for (const struct fake_request *o = s->requests; o; o = o->next)
        if (o != r && !(o->state == FAKE_WAITS && fake_request_is_parked(s, o)) &&
            fake_request_shares_lane(o, r) &&
            (o->state != FAKE_WAITS ||
             (fake_request_precedes(o, r) && fake_request_ready_ms(s, o) <= clock_mono_ms()) ||
             (fake_request_precedes(o, r) && o->attempts > 0)))
            return false;
    return true;
}

static void fake_host_retry(struct fake_host *s, struct fake_request *r,
                            const struct tc_verdict *v);

/* Offers the request to the connector, which performs it. */
static void fake_host_offer(struct fake_host *s, struct fake_request *r)
{
    const struct tc_reply reply = {.outcome = TC_YOUR_TURN, .body = "", .error = ""};
    r->state = FAKE_OFFERED;
    r->due_ms = clock_mono_ms() + (r->http.timeout_ms ? r->http.timeout_ms : PERFORM_MS);
    r->attempts++;
    const struct tc_verdict v =
        fake_host_call_on_reply(s, r, &reply, (struct tc_verdict){.next = TC_NEXT_LATER});
    if (v.next == TC_NEXT_LATER)
        fake_host_drain(s);
    else if (v.next == TC_NEXT_AGAIN)
        fake_host_retry(s, r, &v);
    else
        fake_host_end_request(s, r, v.next == TC_NEXT_FAIL, v.reason);
}

void fake_host_take_results(struct fake_host *s, const struct callback_batch *b)
{
    for (const struct outbound_result *result = b->results; result; result = result->next)
        for (struct fake_request *r = s->requests; r; r = r->next)
            if (r->state == FAKE_OFFERED && r->outbound->id == result->request) {
                CLEANUP_FREE char *body = xstrndup(result->body.p, result->body.len);
                r->attempts--; /* counted when the reply arrives */
                fake_host_reply(s, r, result->outcome, result->status, body, result->hold_ms);
                break;
            }
}

static const struct fake_auto *fake_host_find_auto(const struct fake_host *s,
                                                   const struct fake_request *r)
{
    for (const struct fake_auto *a = s->autos; a; a = a->next)
        if (strcmp(a->method, r->method) == 0)
            return a;
    return NULL;
}

/* Sends one request; true if more may be due. */
static bool fake_host_pump_one(struct fake_host *s)
{
    for (struct fake_request *r = s->requests; r; r = r->next) {
        if (r->state == FAKE_WAITS && fake_request_deadline_ms(r) < clock_mono_ms()) {
            fake_host_drop(s, r);
            return true;
        }
        if (r->state == FAKE_OFFERED && r->due_ms <= clock_mono_ms()) {
            r->attempts--; /* counted when the reply arrives */
            fake_host_reply(s, r, TC_AMBIGUOUS, 0, "", 0);
            return true;
        }
        if (!fake_request_is_ready(s, r))
            continue;
        if (strcmp(r->http.url, "self:") == 0) {
            fake_host_offer(s, r);
            return true;
        }
        const struct fake_auto *const a = fake_host_find_auto(s, r);
        r->state = a ? FAKE_NAMED : FAKE_ON_WIRE;
        r->sent = ++s->next_sent;
        if (a) {
            free(r->label);
            r->label = xstrdup(r->method);
        }
        if (a && a->body)
            fake_host_reply(s, r, TC_OK, a->status, a->body, 0);
        return true;
    }
    return false;
}

void fake_host_pump(struct fake_host *s)
{
    for (unsigned i = 0; fake_host_pump_one(s); i++)
        if (i > 10000) {
            fake_host_fault(s, "it sends requests without end");
            return;
        }
}

struct fake_request *fake_host_find_unnamed(struct fake_host *s, const char *method)
{
    struct fake_request *first = NULL;
    for (struct fake_request *r = s->requests; r; r = r->next)
        if (r->state == FAKE_ON_WIRE && (!method || strcmp(r->method, method) == 0) &&
            (!first || r->sent < first->sent))
            first = r;
    return first;
}

bool fake_request_is_mail(const struct fake_request *r)
{
    for (size_t i = 0; i < r->http.header_count; i++)
        if (strcmp(r->http.headers[i].name, "X-SMTP-To") == 0)
            return true;
    return false;
}

/* Whether a refusal with this status is temporary. */
static bool fake_is_passing(const struct fake_request *r, int status)
{
    return fake_request_is_mail(r) ? status < 500 : status == 429;
}

static struct tc_verdict fake_host_decide(const struct fake_request *r, enum tc_outcome outcome,
                                          int status, int64_t after_ms)
{
    const bool idempotent = r->http.flags & TC_IDEMPOTENT, durable = r->http.flags & TC_DURABLE;
    enum tc_next next = TC_NEXT_FAIL;
    if (outcome == TC_OK)
        next = TC_NEXT_DONE;
    else if (outcome == TC_NOT_SENT || (outcome == TC_REJECTED && fake_is_passing(r, status)))
        next = TC_NEXT_AGAIN;
    else if (outcome == TC_AMBIGUOUS && (idempotent || (durable && r->doubts < 2)))
        next = TC_NEXT_AGAIN;
    return (struct tc_verdict){.next = next, .hold_ms = after_ms, .scope = TC_HOLD_LANE};
}

static void fake_host_hold_lane(struct fake_host *s, const char *lane, int64_t until)
{
    for (struct fake_lane *l = s->held; l; l = l->next)
        if (strcmp(l->name, lane) == 0) {
            l->until = until;
            return;
        }
    struct fake_lane *const l = xmalloc(sizeof *l);
    *l = (struct fake_lane){s->held, xstrdup(lane), until};
    s->held = l;
}

static void fake_host_hold(struct fake_host *s, const struct fake_request *r,
                           const struct tc_verdict *v)
{
    const int64_t until = clock_mono_ms() + v->hold_ms;
    if (v->hold_ms && v->scope != TC_HOLD_LANE)
        s->hold_until = until;
    else if (v->hold_ms && r->http.lane)
        fake_host_hold_lane(s, r->http.lane, until);
}

/* Whether another queued request makes a retry of this one pointless. */
static bool fake_host_is_replaced(const struct fake_host *s, const struct fake_request *r)
{
    for (const struct fake_request *o = s->requests; fake_request_is_live(r) && o; o = o->next)
        if (o != r && o->state == FAKE_WAITS && fake_request_shares_lane(o, r) &&
            (o->http.priority == TC_P_FINAL ||
             (fake_request_is_live(o) && o->http.key && r->http.key &&
              strcmp(o->http.key, r->http.key) == 0)))
            return true;
    return false;
}

static void fake_host_retry(struct fake_host *s, struct fake_request *r, const struct tc_verdict *v)
{
    r->due_ms = clock_mono_ms() + (v->hold_ms ? v->hold_ms : FAKE_BACKOFF_MS);
    fake_host_drain(s);
    r->state = FAKE_WAITS;
    if (fake_host_is_replaced(s, r))
        fake_host_drop(s, r);
}

/* Saves the body of a successful response as a file. */
static const char *fake_host_save_body(struct fake_host *s, const char *body)
{
    const char *const tmp = getenv("TMPDIR");
    if (!s->files.folder)
        s->files.folder = mkdtemp(xasprintf("%s/turncast-test.XXXXXX", tmp ? tmp : "/tmp"));
    char *const path = arena_sprintf(&s->config, "%s/saved-%u",
                                     s->files.folder ? s->files.folder : "", ++s->files.count);
    FILE *const f = fopen(path, "we");
    if (!f || fputs(body, f) < 0)
        fake_host_fault(s, "cannot write %s", path);
    if (f)
        fclose(f);
    return path;
}

/* Applies the decision of the connector about an attempt. */
static struct tc_verdict fake_host_ask_verdict(struct fake_host *s, struct fake_request *r,
                                               enum tc_outcome outcome, int status,
                                               const char *body, int64_t after_ms)
{
    const bool save = outcome == TC_OK && r->http.flags & TC_SAVE;
    const struct tc_reply reply = {.outcome = outcome,
                                   .status = status,
                                   .body = save ? "" : body,
                                   .body_len = save ? 0 : strlen(body),
                                   .path = save ? fake_host_save_body(s, body) : NULL,
                                   .error = outcome == TC_OK ? "" : "the attempt failed",
                                   .headers = r->answered,
                                   .header_count = r->answered_count};
    return fake_host_call_on_reply(s, r, &reply, fake_host_decide(r, outcome, status, after_ms));
}

struct tc_verdict fake_host_reply(struct fake_host *s, struct fake_request *r,
                                  enum tc_outcome outcome, int status, const char *body,
                                  int64_t after_ms)
{
    r->attempts++;
    r->doubts += outcome == TC_AMBIGUOUS;
    /* a request that was not sent is retried without asking the plugin */
    struct tc_verdict v = outcome == TC_NOT_SENT
                              ? fake_host_decide(r, outcome, status, after_ms)
                              : fake_host_ask_verdict(s, r, outcome, status, body, after_ms);
    v.reason = arena_strdup(&s->config, v.reason);
    fake_host_hold(s, r, &v);
    r->answered = NULL;
    r->answered_count = 0;
    if (v.next == TC_NEXT_AGAIN)
        fake_host_retry(s, r, &v);
    else
        fake_host_end_request(s, r, v.next == TC_NEXT_FAIL, v.reason);
    return v;
}

int64_t fake_host_next_request_ms(const struct fake_host *s, int64_t end)
{
    const int64_t now = clock_mono_ms();
    int64_t at = end;
    for (const struct fake_request *r = s->requests; r; r = r->next) {
        const int64_t ready = fake_request_ready_ms(s, r), last = fake_request_deadline_ms(r);
        if (r->state == FAKE_OFFERED && r->due_ms > now && r->due_ms < at)
            at = r->due_ms;
        if (r->state == FAKE_WAITS && ready > now && ready < at)
            at = ready;
        if (r->state == FAKE_WAITS && last >= now && last < at - 1)
            at = last + 1;
    }
    return at;
}

/* ---- restart ---- */

void fake_host_drop_requests(struct fake_host *s, bool all)
{
    for (struct fake_request *r = s->requests, *next; r; r = next) {
        next = r->next;
        if (all || !(r->http.flags & TC_DURABLE))
            fake_request_unlink(s, r);
    }
    while (s->held) {
        struct fake_lane *const l = s->held;
        s->held = l->next;
        free(l->name);
        free(l);
    }
    s->hold_until = 0;
}

/* Returns a request for which on_reply has not been called yet; or NULL. */
static struct fake_request *fake_host_find_marked(const struct fake_host *s)
{
    struct fake_request *r = s->requests;
    while (r && !r->is_unasked)
        r = r->next;
    return r;
}

void fake_host_mark_in_doubt(struct fake_host *s)
{
    for (struct fake_request *r = s->requests; r; r = r->next)
        r->is_unasked = r->state != FAKE_WAITS;
}

void fake_host_resume(struct fake_host *s)
{
    for (struct fake_request *r; (r = fake_host_find_marked(s));) {
        r->is_unasked = false;
        fake_host_reply(s, r, TC_AMBIGUOUS, 0, "", 0);
    }
    fake_host_idle(s);
}
