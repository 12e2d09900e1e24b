/* SPDX-License-Identifier: MIT
 * Reachability of an instance's service, for `turncast status` and /readyz: a reason that the
 * plugin gave for all of its requests, an unreachable service, and times of the last success and
 * failure. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "plugin/outbox/outbox_internal.h"

/* The URL without the query, which differs between requests. */
static size_t path_length(const char *url)
{
    return strcspn(url, "?#");
}

static bool is_same_path(const char *a, const char *b)
{
    const size_t n = path_length(a);
    return n == path_length(b) && strncmp(a, b, n) == 0;
}

static void clear_trouble(struct outbox *p)
{
    free(p->trouble);
    free(p->trouble_url);
    p->trouble = p->trouble_url = NULL;
}

static void set_trouble(struct outbox *p, const char *reason, const char *url)
{
    if (!p->trouble)
        p->trouble_since_ms = clock_mono_ms();
    clear_trouble(p);
    p->trouble = xstrdup(reason);
    p->trouble_url = xstrdup(url);
}

static void outbox_reach_record_failure(struct outbox_reach *reach, const char *reason)
{
    CLEANUP_BUF struct buf masked = {0};
    log_redact(&masked, (struct str){reason, strlen(reason)});
    free(reach->failure);
    reach->failure = xstrdup(masked.p ? masked.p : "");
    reach->failure_ms = clock_mono_ms();
}

void outbox_record_verdict(const struct outbox_entry *item, const struct tc_verdict *v)
{
    struct outbox *const p = item->outbox;
    const char *const url = item->request->http.url;
    if (item->was_good && v->next == TC_NEXT_DONE)
        p->reach.success_ms = clock_mono_ms();
    else if (v->scope == TC_HOLD_INSTANCE && v->reason && *v->reason)
        outbox_reach_record_failure(&p->reach, v->reason);
    if (v->scope == TC_HOLD_INSTANCE && v->reason && *v->reason && v->next != TC_NEXT_DONE)
        set_trouble(p, v->reason, v->next == TC_NEXT_FAIL ? url : NULL);
    else if (p->trouble && item->was_good && v->next == TC_NEXT_DONE &&
             (!p->trouble_url || is_same_path(p->trouble_url, url)))
        clear_trouble(p);
}

/* Automatic retries are otherwise invisible, so they are recorded here. */
void outbox_record_reachability(struct outbox *p, const struct httpc_reply *reply)
{
    const bool is_away = reply->outcome == HTTPC_NOT_SENT;
    if (is_away || reply->outcome == HTTPC_AMBIGUOUS)
        outbox_reach_record_failure(&p->reach, reply->error);
    if (is_away == p->reach.is_away || reply->outcome == HTTPC_AMBIGUOUS)
        return;
    p->reach.is_away = is_away;
    p->reach.away_since_ms = clock_mono_ms();
    if (is_away)
        log_write(LOG_WARN, p->instance, "cannot reach the service: %s; retrying", reply->error);
    else
        log_write(LOG_INFO, p->instance, "service reachable again");
}

void outbox_add_trouble(const struct outbox *p, struct outbox_stats *stats)
{
    const int64_t now = clock_mono_ms();
    stats->trouble = p->trouble;
    stats->trouble_ms = p->trouble ? now - p->trouble_since_ms : 0;
    const struct outbox_reach *const reach = &p->reach;
    stats->is_away = reach->is_away;
    stats->away_ms = reach->is_away ? now - reach->away_since_ms : 0;
    stats->success_ms = reach->success_ms ? now - reach->success_ms : -1;
    stats->failure_ms = reach->failure_ms ? now - reach->failure_ms : -1;
    stats->failure = reach->failure;
}

void outbox_free_trouble(struct outbox *p)
{
    free(p->reach.failure);
    clear_trouble(p);
}
