/* SPDX-License-Identifier: MIT
 * Life cycle of one entry: attempts, replies to the plugin, end. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "base/sys/crash_point.h"
#include "base/sys/log.h"
#include "io/http/client/response_headers.h"
#include "plugin/outbox/outbox_expand.h"
#include "plugin/outbox/outbox_internal.h"

/* Limit of requests that are not durable; the journal limits durable ones. */
#define MAX_LOOSE 4096
#define MAX_LOOSE_BYTES ((size_t)128 << 20)

#define DAY_MS ((int64_t)24 * 3600 * 1000)
#define LIVE_MS ((int64_t)60 * 1000)

/* An attempt being recorded in the journal. */
struct outbox_recording {
    struct outbox_entry *item; /* NULL: the request is gone */
};

static bool outbox_entry_is_durable(const struct outbox_entry *item)
{
    return item->request->http.flags & TC_DURABLE;
}

static bool outbox_entry_is_long_poll(const struct outbox_entry *item)
{
    return item->request->http.flags & TC_LONG_POLL;
}

static int64_t max_age_ms(const struct tc_http *http)
{
    if (http->max_age_ms)
        return http->max_age_ms;
    if (http->flags & TC_DURABLE)
        return DAY_MS;
    return http->priority == TC_P_LIVE ? LIVE_MS : 0;
}

/* ---- creation and end */

struct outbox_entry *outbox_entry_add(struct outbox *p, struct outbox_turn *turn,
                                      struct outbound_request *l)
{
    struct outbox_entry *const item = xcalloc(1, sizeof *item);
    *item = (struct outbox_entry){
        .outbox = p,
        .request = l,
        .turn = turn,
        .since_ms = clock_mono_ms(),
        .left_ms = max_age_ms(&l->http),
        .delay_ms = l->http.delay_ms,
    };
    LIST_INSERT_HEAD(&p->items, item, next);
    p->item_count++;
    p->poll_count += outbox_entry_is_long_poll(item);
    if (!outbox_entry_is_durable(item)) {
        p->loose_count++;
        p->loose_bytes += outbound_content_size(l);
        item->is_excess = p->loose_count > MAX_LOOSE || p->loose_bytes > MAX_LOOSE_BYTES;
    }
    if (turn)
        turn->items++;
    return item;
}

void outbox_entry_move(struct outbox_entry *item, enum outbox_state_event event)
{
    item->state = outbox_state_next(item->state, event);
}

void outbox_entry_free(struct outbox_entry *item)
{
    struct outbox *const p = item->outbox;
    if (item->state != OUTBOX_ENDED)
        outbox_entry_move(item, OUTBOX_ON_CLOSE);
    ASSERT(*item->next.le_prev == item && p->item_count > 0);
    LIST_REMOVE(item, next);
    p->item_count--;
    p->poll_count -= outbox_entry_is_long_poll(item);
    if (!outbox_entry_is_durable(item)) {
        p->loose_count--;
        p->loose_bytes -= outbound_content_size(item->request);
    }
    if (item->recording)
        item->recording->item = NULL;
    outbox_perform_end(item);
    if (item->turn) {
        ASSERT(item->turn->items > 0);
        item->turn->items--;
        outbox_release_turn(p, item->turn);
    }
    outbound_request_unref(item->request);
    free(item->error);
    free(item);
}

/* ---- results */

/* Applies the batch that the plugin would have sent, without calling it. */
static void outbox_entry_apply_verdict(struct outbox_entry *item, const struct tc_verdict *verdict)
{
    struct callback_batch *const b = xcalloc(1, sizeof *b);
    *b = (struct callback_batch){.settles = BATCH_REQUEST,
                                 .turn = xstrdup(item->request->turn),
                                 .request = item->request->id,
                                 .verdict = *verdict};
    b->verdict.reason = NULL;
    outbox_commit_batch(item->outbox, b);
}

struct outbound_reply *outbox_entry_new_reply(const struct outbox_entry *item,
                                              const struct tc_reply *what)
{
    struct outbound_reply *const r = xcalloc(1, sizeof *r);
    *r = (struct outbound_reply){
        .request = item->request->id, .about = outbound_request_ref(item->request), .reply = *what};
    r->reply.body = arena_memdup(&r->arena, what->body, what->body_len);
    r->reply.path = arena_strdup(&r->arena, what->path);
    r->reply.error = arena_strdup(&r->arena, what->error);
    r->reply.headers = outbound_copy_headers(&r->arena, what->headers, what->header_count);
    r->reply.tag = item->request->http.tag;
    r->reply.http = &item->request->http;
    r->reply.attempts = item->attempts;
    r->reply.in_doubt = item->in_doubt;
    r->reply.number = item->request->id;
    return r;
}

/* Calls on_reply for a decision. `last`: only informs the plugin of the end. */
static void outbox_entry_send_reply(struct outbox_entry *item, const struct tc_reply *what,
                                    enum tc_next next, bool last, int64_t hold_ms)
{
    struct outbox *const p = item->outbox;
    const struct tc_verdict verdict = {.next = next, .hold_ms = hold_ms, .scope = TC_HOLD_LANE};
    free(item->error);
    item->error = *what->error ? xstrdup(what->error) : NULL;
    /* Certainly not executed and repeated by default: on_reply need not be called. */
    const bool is_silent = what->outcome == TC_NOT_SENT && next == TC_NEXT_AGAIN;
    if (is_silent)
        log_write(LOG_DEBUG, p->spec.instance, "attempt %u of an outbound request failed: %s",
                  item->attempts, what->error);
    if (is_silent || !item->turn || !p->channel) {
        outbox_entry_apply_verdict(item, &verdict);
        return;
    }
    struct outbound_reply *const r = outbox_entry_new_reply(item, what);
    r->last = last;
    r->verdict = verdict;
    r->verdict.reason = next == TC_NEXT_FAIL ? r->reply.error : NULL;
    p->channel->ops->reply(p->channel, item->turn->handle, r);
}

void outbox_entry_drop(struct outbox_entry *item, const char *why)
{
    const struct tc_reply reply = {.outcome = TC_DROPPED, .body = "", .error = why};
    outbox_entry_move(item, OUTBOX_ON_DROP);
    outbox_entry_send_reply(item, &reply, TC_NEXT_FAIL, true, 0);
}

/* An ambiguous attempt of a durable request is repeated once, but not twice. */
void outbox_entry_report_reply(struct outbox_entry *item, const struct httpc_reply *got)
{
    static const enum tc_outcome outcomes[] = {
        [HTTPC_OK] = TC_OK,
        [HTTPC_REJECTED] = TC_REJECTED,
        [HTTPC_NOT_SENT] = TC_NOT_SENT,
        [HTTPC_AMBIGUOUS] = TC_AMBIGUOUS,
    };
    outbox_entry_move(item, OUTBOX_ON_ASK);
    outbox_perform_end(item);
    item->outbox->attempts[got->outcome] += !outbox_entry_is_long_poll(item);
    item->was_ambiguous = got->outcome == HTTPC_AMBIGUOUS;
    item->in_doubt |= item->was_ambiguous;
    item->doubts += item->was_ambiguous;
    const bool may_repeat = item->request->http.flags & TC_IDEMPOTENT ||
                            (outbox_entry_is_durable(item) && item->doubts <= 1);
    const struct retry_decision v = retry_policy_decide(got, may_repeat);
    const enum tc_next next = got->outcome == HTTPC_OK ? TC_NEXT_DONE
                              : v.again                ? TC_NEXT_AGAIN
                                                       : TC_NEXT_FAIL;
    struct tc_header headers[RESPONSE_HEADERS_MAX];
    ASSERT(got->header_count <= RESPONSE_HEADERS_MAX);
    for (size_t i = 0; i < got->header_count; i++)
        headers[i] = (struct tc_header){got->headers[i].name, got->headers[i].value};
    const struct tc_reply reply = {
        .outcome = outcomes[got->outcome],
        .status = got->status,
        .body = got->body.p,
        .body_len = got->body.len,
        .path = got->path,
        .error = got->error,
        .headers = headers,
        .header_count = got->header_count,
    };
    outbox_entry_send_reply(item, &reply, next, false, v.hold_ms);
}

void outbox_entry_report_unsent(struct outbox_entry *item, enum httpc_outcome outcome,
                                const char *error)
{
    const struct httpc_reply reply = {
        .outcome = outcome, .body = {"", 0}, .retry_after_ms = -1, .error = error};
    outbox_entry_report_reply(item, &reply);
}

/* ---- attempts */

static void outbox_entry_submit_allowed(struct outbox_entry *item)
{
    const struct outbox *const p = item->outbox;
    if (p->spec.may_send && !p->spec.may_send(p->spec.ctx))
        return;
    if (outbox_is_performed(item)) {
        outbox_perform_offer(item);
        return;
    }
    struct expanded_request filled;
    const char *const wrong =
        outbox_expand_request(&filled, item->request, p->files,
                              &(struct expand_source){p->spec.option, p->spec.ctx, &p->secrets});
    if (wrong) {
        outbox_entry_report_unsent(item, HTTPC_REJECTED, wrong);
    } else {
        outbox_entry_move(item, OUTBOX_ON_SEND);
        item->attempts++;
        sender_start_attempt(item->send_item, &filled.http);
    }
    outbox_expand_fini(&filled);
}

static void on_recorded(void *ctx, enum journal_status status, const char *text)
{
    (void)text;
    struct outbox_recording *const r = ctx;
    struct outbox_entry *const item = r->item;
    free(r);
    if (!item)
        return;
    ASSERT(item->state == OUTBOX_RECORDING && item->recording == r);
    item->recording = NULL;
    if (status == JOURNAL_NO_CHANGE)
        outbox_entry_drop(item, "already moved to dead letters");
    else
        outbox_entry_submit_allowed(item);
}

void outbox_entry_on_start(void *ctx, struct send_item *send_item, void *arg)
{
    const struct outbox *const p = ctx;
    struct outbox_entry *const item = arg;
    ASSERT(item->state == OUTBOX_QUEUED && !item->send_item);
    size_t len;
    if (!item->asks_first && outbox_find_missing(item, &len)) { /* the entry was freed meanwhile */
        outbox_parking_add(item);
        sender_settle(send_item, &(struct retry_decision){.again = false});
        return;
    }
    item->send_item = send_item;
    if (item->asks_first) {
        item->asks_first = false;
        outbox_entry_report_unsent(item, HTTPC_AMBIGUOUS,
                                   "in flight when turncast or the connector stopped");
        return;
    }
    if (!item->seq || item->is_on_record) {
        outbox_entry_submit_allowed(item);
        return;
    }
    outbox_entry_move(item, OUTBOX_ON_RECORD);
    item->recording = xmalloc(sizeof *item->recording);
    *item->recording = (struct outbox_recording){.item = item};
    journal_async_start_attempt(p->spec.journal, item->seq, on_recorded, item->recording);
}

void outbox_entry_on_reply(void *ctx, struct send_item *send_item, void *arg,
                           const struct httpc_reply *reply)
{
    (void)send_item;
    struct outbox_entry *const item = arg;
    if (outbox_entry_is_durable(item) && reply->outcome == HTTPC_OK)
        CRASH_POINT("after-send-before-record");
    outbox_record_reachability(ctx, reply);
    item->was_good = reply->outcome == HTTPC_OK;
    item->was_limited = reply->status == 429;
    outbox_entry_report_reply(item, reply);
}

/* Its time limit has passed: reports the result of the last attempt, if there was one. */
static void drop_expired(struct outbox_entry *item)
{
    CLEANUP_BUF struct buf why = {0};
    buf_add_str(&why, "not delivered within its time limit");
    if (item->error)
        buf_printf(&why, "; last attempt: %s", item->error);
    outbox_entry_drop(item, why.p);
}

void outbox_entry_on_end(void *ctx, void *arg, enum send_result end)
{
    (void)ctx;
    struct outbox_entry *const item = arg;
    item->send_item = NULL;
    switch (end) {
    case SEND_DECIDED:
        if (item->state == OUTBOX_PARKED)
            return;
        ASSERT(item->state == OUTBOX_ENDED);
        outbox_entry_free(item);
        return;
    case SEND_CLOSED:
        outbox_entry_free(item);
        return;
    case SEND_REPLACED:
        outbox_entry_drop(item, "superseded by a newer update or by the answer");
        return;
    case SEND_EXPIRED:
        drop_expired(item);
        return;
    }
}

/* ---- queueing */

/* Remaining part of a time limit that started with the item; 0 stays 0. */
static int64_t outbox_entry_remaining_ms(const struct outbox_entry *item, int64_t of_ms,
                                         int64_t least)
{
    const int64_t left = of_ms - (clock_mono_ms() - item->since_ms);
    return of_ms == 0 ? 0 : left > least ? left : least;
}

void outbox_entry_submit(struct outbox_entry *item, bool is_ahead)
{
    static const enum send_priority priorities[] = {
        [TC_P_FINAL] = PRIORITY_FINAL,
        [TC_P_REQUEST] = PRIORITY_REQUEST,
        [TC_P_NOTICE] = PRIORITY_NOTICE,
        [TC_P_LIVE] = PRIORITY_LIVE,
    };
    const struct outbox *const p = item->outbox;
    const struct tc_http *const http = &item->request->http;
    if (item->is_excess) {
        outbox_entry_drop(item, "too many outbound requests in flight");
        return;
    }
    size_t len;
    if (item->state == OUTBOX_NEW)
        outbox_parking_drop_superseded(item);
    if (!item->asks_first && outbox_find_missing(item, &len)) {
        outbox_parking_add(item);
        return;
    }
    const struct send_spec request = {
        .lane = http->lane,
        .priority = priorities[http->priority],
        .key = http->priority == TC_P_LIVE ? http->key : NULL,
        .rates = http->rates,
        .max_age_ms = outbox_entry_remaining_ms(item, item->left_ms, 1),
        .delay_ms = outbox_entry_remaining_ms(item, item->delay_ms, 0),
        .is_ahead = is_ahead,
        .spares_live = !*item->request->turn, /* requests of the instance context */
        .arg = item,
    };
    outbox_entry_move(item, OUTBOX_ON_SUBMIT);
    sender_submit(p->sender, &request);
}

/* Logs a hold once, regardless of the number of requests that demand it. */
static void outbox_entry_log_pause(struct outbox_entry *item, int64_t hold_ms)
{
    struct outbox *const p = item->outbox;
    const int64_t now = clock_mono_ms();
    if (!item->was_limited || hold_ms <= 0 || now < p->pause_ends_ms)
        return;
    p->pause_ends_ms = now + hold_ms;
    log_write(LOG_WARN, p->instance, "rate-limited by the service (429); sending resumes in %.1f s",
              (double)hold_ms / 1000);
}

void outbox_entry_settle(struct outbox_entry *item, const struct tc_verdict *verdict)
{
    static const enum retry_scope scopes[] = {
        [TC_HOLD_LANE] = RETRY_CONVERSATION,
        [TC_HOLD_RATES] = RETRY_RATES,
        [TC_HOLD_INSTANCE] = RETRY_INSTANCE,
    };
    const bool again = verdict->next == TC_NEXT_AGAIN;
    outbox_entry_move(item, again ? OUTBOX_ON_AGAIN : OUTBOX_ON_END);
    ASSERT(item->send_item || !again);
    if (!item->send_item) {
        outbox_entry_free(item);
        return;
    }
    struct send_item *const send_item = item->send_item;
    item->send_item = NULL;
    const struct retry_decision v = {
        .again = again, .hold_ms = verdict->hold_ms, .scope = scopes[verdict->scope]};
    if (v.again)
        outbox_entry_log_pause(item, v.hold_ms);
    sender_settle(send_item, &v);
}
