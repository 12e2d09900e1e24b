/* SPDX-License-Identifier: MIT
 * Requests with the URL "self:": the plugin performs them, with the order, rate limits, records and
 * doubts of other requests. The plugin gets an offer when a request is due, answers it with a batch
 * like a reply, and reports the result later. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/sys/log.h"
#include "plugin/outbox/outbox_internal.h"

#define PERFORM_MS 30000

bool outbox_is_performed(const struct outbox_entry *item)
{
    return strcmp(item->request->http.url, "self:") == 0;
}

void outbox_perform_end(struct outbox_entry *item)
{
    loop_timer_free(item->perform_timer);
    item->perform_timer = NULL;
}

static void outbox_perform_on_timer(void *arg)
{
    outbox_entry_report_unsent(arg, HTTPC_AMBIGUOUS, "no result within its time limit");
}

void outbox_perform_offer(struct outbox_entry *item)
{
    const struct outbox *const p = item->outbox;
    const struct tc_http *const http = &item->request->http;
    if (!item->turn || !p->channel) {
        outbox_entry_report_unsent(item, HTTPC_REJECTED, "the connector does not know its turn");
        return;
    }
    outbox_entry_move(item, OUTBOX_ON_SEND);
    item->attempts++;
    item->is_offered = true;
    sender_record_attempt(item->send_item);
    item->perform_timer = loop_timer_new(p->spec.loop, outbox_perform_on_timer, item);
    loop_timer_set(item->perform_timer, http->timeout_ms ? http->timeout_ms : PERFORM_MS);
    const struct tc_reply reply = {.outcome = TC_YOUR_TURN, .body = "", .error = ""};
    struct outbound_reply *const r = outbox_entry_new_reply(item, &reply);
    r->verdict = (struct tc_verdict){.next = TC_NEXT_LATER, .scope = TC_HOLD_LANE};
    p->channel->ops->reply(p->channel, item->turn->handle, r);
}

static struct outbox_entry *find_performed(const struct outbox *p, uint64_t request)
{
    struct outbox_entry *item;
    LIST_FOREACH (item, &p->items, next)
        if (item->request->id == request && outbox_is_performed(item))
            return item;
    return NULL;
}

/* The plugin may decide at once; if the time limit has passed, on_reply is called for a
 * decision. */
bool outbox_perform_handle_verdict(struct outbox *p, const struct callback_batch *b,
                                   struct outbox_entry **answered)
{
    struct outbox_entry *const item =
        b->settles == BATCH_REQUEST ? find_performed(p, b->request) : NULL;
    if (!item || !item->is_offered)
        return false;
    item->is_offered = false;
    *answered = NULL;
    if (b->verdict.next == TC_NEXT_LATER || item->state != OUTBOX_SENDING)
        return true;
    outbox_entry_move(item, OUTBOX_ON_ASK);
    outbox_perform_end(item);
    item->was_ambiguous = item->was_limited = false;
    item->was_good = b->verdict.next == TC_NEXT_DONE;
    *answered = item;
    return true;
}

void outbox_perform_complete(struct outbox *p, const struct outbound_result *r)
{
    static const enum httpc_outcome performed[] = {
        [TC_OK] = HTTPC_OK,
        [TC_REJECTED] = HTTPC_REJECTED,
        [TC_NOT_SENT] = HTTPC_NOT_SENT,
        [TC_AMBIGUOUS] = HTTPC_AMBIGUOUS,
    };
    struct outbox_entry *const item = find_performed(p, r->request);
    if (!item || item->state != OUTBOX_SENDING)
        return;
    CLEANUP_BUF struct buf error = {0};
    const char *const said = r->error ? r->error : r->outcome == TC_OK ? "" : "not performed";
    log_redact(&error, (struct str){said, strlen(said)});
    const struct httpc_reply reply = {
        .outcome = performed[r->outcome],
        .status = r->status,
        .body = {r->body.p ? r->body.p : "", r->body.len},
        .retry_after_ms = r->hold_ms ? r->hold_ms : -1,
        .error = error.p ? error.p : "",
    };
    item->was_good = reply.outcome == HTTPC_OK;
    item->was_limited = false;
    outbox_entry_report_reply(item, &reply);
}
