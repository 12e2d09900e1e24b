/* SPDX-License-Identifier: MIT
 * Owns the requests of the plugin on stage: what waits, what is on the wire, what came of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "plugins/stage.h"
#include "plugins/stage_parts.h"
#include "tap/tap.h"

#define DAY_MS (24 * 3600 * 1000)
#define MINUTE_MS (60 * 1000)

static bool same_lane(const struct stage_request *a, const struct stage_request *b)
{
    return a->http.lane && b->http.lane && strcmp(a->http.lane, b->http.lane) == 0;
}

static bool is_live(const struct stage_request *r)
{
    return r->http.priority == TC_P_LIVE;
}

void stage_free_request(struct stage_request *r)
{
    arena_fini(&r->arena);
    free(r->label);
    free(r);
}

static void unlink_request(struct stage *s, struct stage_request *r)
{
    struct stage_request **at = &s->requests;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    r->turn->under_way--;
    stage_free_request(r);
}

static const struct tc_http *scoped_http(struct stage *s, const struct tc_http *http)
{
    struct tc_http *const h = stage_scope(s, sizeof *h);
    *h = *http;
    h->url = stage_scope_text(s, http->url);
    h->tag = stage_scope_text(s, http->tag);
    h->lane = http->lane ? stage_scope_text(s, http->lane) : NULL;
    h->key = http->key ? stage_scope_text(s, http->key) : NULL;
    h->method = stage_scope_text(s, http->method);
    if (http->body) {
        char *const body = stage_scope(s, http->body_len + 1);
        h->body = memcpy(body, http->body, http->body_len);
    }
    return h;
}

static struct tc_verdict call_on_reply(struct stage *s, struct stage_request *r,
                                       struct tc_reply reply, struct tc_verdict verdict)
{
    stage_enter(s);
    reply.tag = stage_scope_text(s, r->http.tag);
    reply.http = scoped_http(s, &r->http);
    reply.body = stage_scope_text(s, reply.body);
    reply.error = stage_scope_text(s, reply.error);
    reply.path = reply.path ? stage_scope_text(s, reply.path) : NULL;
    reply.attempts = r->attempts;
    reply.in_doubt = r->doubts > 0;
    if (s->plugin->sink->on_reply && s->plugin->sink->on_reply(&r->turn->turn, &reply, &verdict))
        stage_fault(s, "on_reply of %s returned -1", r->method);
    static char reason[512];
    snprintf(reason, sizeof reason, "%s", verdict.reason ? verdict.reason : "");
    verdict.reason = verdict.reason ? reason : NULL;
    return verdict;
}

static bool replaced_durably(const struct stage *s)
{
    for (const struct stage_request *r = s->batch; r; r = r->next)
        if (r->http.flags & TC_DURABLE)
            return true;
    return false;
}

/* The request has ended: its row goes, what on_reply sent durable takes its place. */
static void settle(struct stage *s, struct stage_request *r, bool failed, const char *reason)
{
    const uint64_t place = r->place;
    if (failed && (r->http.flags & TC_DURABLE) && !replaced_durably(s)) {
        char what[600];
        snprintf(what, sizeof what, "%s %s", r->method, reason ? reason : "");
        stage_note(s, STAGE_DEAD, 0, what);
    }
    stage_leave(s, place);
    unlink_request(s, r);
}

static void drop(struct stage *s, struct stage_request *r)
{
    r->state = STAGE_NAMED; /* what on_reply sends does not replace it once more */
    const struct tc_verdict v = call_on_reply(
        s, r, (struct tc_reply){.outcome = TC_DROPPED, .body = "", .error = "dropped"},
        (struct tc_verdict){.next = TC_NEXT_FAIL});
    settle(s, r, true, v.reason);
}

/* A waiting edit that r makes pointless, or NULL. */
static struct stage_request *pointless(struct stage *s, const struct stage_request *r)
{
    for (struct stage_request *o = s->requests; o; o = o->next) {
        if (o == r || o->state != STAGE_WAITS || !is_live(o) || !same_lane(o, r) || o->seq > r->seq)
            continue;
        if ((r->http.priority == TC_P_FINAL && r->turn != &s->lobby) ||
            (is_live(r) && r->http.key && o->http.key && strcmp(r->http.key, o->http.key) == 0))
            return o;
    }
    return NULL;
}

void stage_commit(struct stage *s, uint64_t place)
{
    struct stage_request *r = s->batch;
    s->batch = NULL;
    s->batch_end = &s->batch;
    for (struct stage_request *next; r; r = next) {
        next = r->next;
        r->next = NULL;
        if (place && (r->http.flags & TC_DURABLE))
            r->place = place;
        struct stage_request **end = &s->requests;
        while (*end)
            end = &(*end)->next;
        *end = r;
        for (struct stage_request *o; (o = pointless(s, r));)
            drop(s, o);
    }
}

static int64_t deadline(const struct stage_request *r)
{
    const int64_t age = r->http.max_age_ms              ? r->http.max_age_ms
                        : r->http.flags & TC_DURABLE    ? DAY_MS
                        : r->http.priority == TC_P_LIVE ? MINUTE_MS
                                                        : 0;
    return age ? r->born_ms + age : INT64_MAX;
}

static int64_t lane_held(const struct stage *s, const struct stage_request *r)
{
    for (const struct stage_lane *l = s->held; l && r->http.lane; l = l->next)
        if (strcmp(l->name, r->http.lane) == 0)
            return l->until;
    return 0;
}

/* When it may go, its lane allowing. */
static int64_t ready_at(const struct stage *s, const struct stage_request *r)
{
    const int64_t lane = lane_held(s, r);
    int64_t at = r->due_ms > s->hold_until ? r->due_ms : s->hold_until;
    return at > lane ? at : lane;
}

static bool goes_before(const struct stage_request *a, const struct stage_request *b)
{
    if (a->http.priority != b->http.priority)
        return a->http.priority < b->http.priority;
    return a->place != b->place ? a->place < b->place : a->seq < b->seq;
}

static bool may_go(const struct stage *s, const struct stage_request *r)
{
    if (r->state != STAGE_WAITS || ready_at(s, r) > stage_now)
        return false;
    for (const struct stage_request *o = s->requests; o; o = o->next)
        if (o != r && same_lane(o, r) &&
            (o->state != STAGE_WAITS || (goes_before(o, r) && ready_at(s, o) <= stage_now) ||
             (goes_before(o, r) && o->attempts > 0)))
            return false;
    return true;
}

static const struct stage_auto *auto_of(const struct stage *s, const struct stage_request *r)
{
    for (const struct stage_auto *a = s->autos; a; a = a->next)
        if (strcmp(a->method, r->method) == 0)
            return a;
    return NULL;
}

/* One request; true when there may be more. */
static bool pump_one(struct stage *s)
{
    for (struct stage_request *r = s->requests; r; r = r->next) {
        if (r->state == STAGE_WAITS && deadline(r) < stage_now) {
            drop(s, r);
            return true;
        }
        if (!may_go(s, r))
            continue;
        const struct stage_auto *const a = auto_of(s, r);
        r->state = a ? STAGE_NAMED : STAGE_ON_WIRE;
        r->sent = ++s->next_sent;
        if (a) {
            free(r->label);
            r->label = xstrdup(r->method);
        }
        if (a && a->body)
            stage_reply(s, r, TC_OK, a->status, a->body, 0);
        return true;
    }
    return false;
}

void stage_pump(struct stage *s)
{
    for (unsigned i = 0; pump_one(s); i++)
        if (i > 10000) {
            stage_fault(s, "it sends for ever");
            return;
        }
}

struct stage_request *stage_unnamed(struct stage *s, const char *method)
{
    struct stage_request *first = NULL;
    for (struct stage_request *r = s->requests; r; r = r->next)
        if (r->state == STAGE_ON_WIRE && (!method || strcmp(r->method, method) == 0) &&
            (!first || r->sent < first->sent))
            first = r;
    return first;
}

static struct tc_verdict host_verdict(const struct stage_request *r, enum tc_outcome outcome,
                                      int status, int64_t after_ms)
{
    const bool idempotent = r->http.flags & TC_IDEMPOTENT, durable = r->http.flags & TC_DURABLE;
    enum tc_next next = TC_NEXT_FAIL;
    if (outcome == TC_OK)
        next = TC_NEXT_DONE;
    else if (outcome == TC_NOT_SENT || (outcome == TC_REJECTED && status == 429))
        next = TC_NEXT_AGAIN;
    else if (outcome == TC_AMBIGUOUS && (idempotent || (durable && r->doubts < 2)))
        next = TC_NEXT_AGAIN;
    return (struct tc_verdict){.next = next, .hold_ms = after_ms, .scope = TC_HOLD_LANE};
}

static void hold_lane(struct stage *s, const char *lane, int64_t until)
{
    for (struct stage_lane *l = s->held; l; l = l->next)
        if (strcmp(l->name, lane) == 0) {
            l->until = until;
            return;
        }
    struct stage_lane *const l = xmalloc(sizeof *l);
    *l = (struct stage_lane){s->held, xstrdup(lane), until};
    s->held = l;
}

static void again(struct stage *s, struct stage_request *r, const struct tc_verdict *v)
{
    const int64_t until = stage_now + (v->hold_ms ? v->hold_ms : STAGE_BACKOFF_MS);
    if (v->hold_ms && v->scope != TC_HOLD_LANE)
        s->hold_until = until;
    else if (v->hold_ms && r->http.lane)
        hold_lane(s, r->http.lane, until);
    r->due_ms = until;
    stage_leave(s, r->place);
    r->state = STAGE_WAITS;
    for (struct stage_request *o = s->requests; is_live(r) && o; o = o->next)
        if (o != r && o->state == STAGE_WAITS && same_lane(o, r) &&
            (o->http.priority == TC_P_FINAL ||
             (is_live(o) && o->http.key && r->http.key && strcmp(o->http.key, r->http.key) == 0))) {
            drop(s, r);
            return;
        }
}

/* The body of a good answer as a file. */
static const char *saved(struct stage *s, const char *body)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/saved-%u", tap_tmpdir(), ++s->files);
    tap_spew(path, body, strlen(body));
    return arena_strdup(&s->config, path);
}

struct tc_verdict stage_reply(struct stage *s, struct stage_request *r, enum tc_outcome outcome,
                              int status, const char *body, int64_t after_ms)
{
    const bool save = outcome == TC_OK && r->http.flags & TC_SAVE;
    r->attempts++;
    r->doubts += outcome == TC_AMBIGUOUS;
    const struct tc_reply reply = {.outcome = outcome,
                                   .status = status,
                                   .body = save ? "" : body,
                                   .body_len = save ? 0 : strlen(body),
                                   .path = save ? saved(s, body) : NULL,
                                   .error = outcome == TC_OK ? "" : "the attempt failed"};
    struct tc_verdict v = host_verdict(r, outcome, status, after_ms);
    if (outcome == TC_NOT_SENT) /* it goes again: there is nothing to say */
        stage_enter(s);
    else
        v = call_on_reply(s, r, reply, v);
    if (v.next == TC_NEXT_AGAIN)
        again(s, r, &v);
    else
        settle(s, r, v.next == TC_NEXT_FAIL, v.reason);
    return v;
}

/* ---- time ---- */

static int64_t next_time(const struct stage *s, int64_t end)
{
    int64_t at = end;
    for (const struct stage_turn *t = s->turns; t; t = t->next)
        at = t->wake_at && t->wake_at < at ? t->wake_at : at;
    at = s->lobby.wake_at && s->lobby.wake_at < at ? s->lobby.wake_at : at;
    for (const struct stage_request *r = s->requests; r; r = r->next) {
        const int64_t ready = ready_at(s, r);
        if (r->state == STAGE_WAITS && ready > stage_now && ready < at)
            at = ready;
        if (r->state == STAGE_WAITS && deadline(r) >= stage_now && deadline(r) < at - 1)
            at = deadline(r) + 1;
    }
    return at > stage_now ? at : stage_now;
}

static struct stage_turn *due_turn(struct stage *s)
{
    for (struct stage_turn *t = s->turns; t; t = t->next)
        if (t->wake_at && t->wake_at <= stage_now)
            return t;
    return s->lobby.wake_at && s->lobby.wake_at <= stage_now ? &s->lobby : NULL;
}

void stage_advance(struct stage *s, int64_t ms)
{
    const int64_t end = stage_now + ms;
    for (int64_t wakes = 0;;) {
        stage_now = next_time(s, end);
        for (struct stage_turn *t; (t = due_turn(s));) {
            t->wake_at = 0;
            stage_enter(s);
            if (s->plugin->sink->on_wake && s->plugin->sink->on_wake(&t->turn))
                stage_fault(s, "on_wake returned -1");
            stage_leave(s, 0);
            wakes++;
        }
        stage_idle(s);
        if (wakes > 50 + ms / 20) {
            stage_fault(s, "it wakes all the time");
            return;
        }
        if (stage_now >= end)
            return;
    }
}

/* ---- the host dies ---- */

static void remove_requests(struct stage *s, bool all)
{
    for (struct stage_request *r = s->requests, *next; r; r = next) {
        next = r->next;
        if (all || !(r->http.flags & TC_DURABLE))
            unlink_request(s, r);
    }
    while (s->held) {
        struct stage_lane *const l = s->held;
        s->held = l->next;
        free(l->name);
        free(l);
    }
    s->hold_until = 0;
}

void stage_drop_volatile(struct stage *s)
{
    remove_requests(s, false);
}

void stage_drop_all(struct stage *s)
{
    remove_requests(s, true);
}

/* One that the plugin has not been asked about yet; or NULL. */
static struct stage_request *find_marked(const struct stage *s)
{
    struct stage_request *r = s->requests;
    while (r && r->born_ms >= 0)
        r = r->next;
    return r;
}

void stage_resume(struct stage *s)
{
    for (struct stage_request *r = s->requests; r; r = r->next)
        r->born_ms = r->state == STAGE_WAITS ? r->born_ms : -r->born_ms; /* marks it */
    for (struct stage_request *r; (r = find_marked(s));) {
        r->born_ms = -r->born_ms;
        stage_reply(s, r, TC_AMBIGUOUS, 0, "", 0);
    }
    stage_idle(s);
}
