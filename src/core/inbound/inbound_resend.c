/* SPDX-License-Identifier: MIT
 * Resends dead letters at the request of a person in the chat where they are missing. The person
 * must be permitted to write in that chat, and the letter must be for that chat. Loop thread only.
 * ⏎ */
#include <stdlib.h>

#include "base/alloc.h"
#include "core/dispatch/dispatch.h"
#include "core/inbound/inbound_internal.h"
#include "io/journal/journal_async.h"

struct resending {
    struct dispatch *dispatch;
    struct host_call *call;
    int64_t first;
};

static void inbound_on_resent(void *ctx, enum journal_status status, const char *count)
{
    struct resending *const s = ctx;
    const int64_t n = status == JOURNAL_DONE ? strtoll(count, NULL, 10) : 0;
    for (int64_t i = 0; i < n; i++)
        dispatch_deliver_row(s->dispatch, s->call->instance, s->first + i);
    host_call_complete(s->call,
                       status == JOURNAL_DONE        ? TC_COMMAND
                       : status == JOURNAL_NO_CHANGE ? TC_KNOWN
                                                     : TC_NOT_KEPT,
                       NULL, NULL);
    free(s);
}

void inbound_resend(struct inbound *r, struct host_call *a, const struct conf_instance *inst)
{
    if (!access_control_allows(&r->access, inst, CONF_SUBMIT, a->user, a->chat)) {
        host_call_complete(a, TC_DENIED, NULL, NULL);
        return;
    }
    struct resending *const s = xmalloc(sizeof *s);
    *s = (struct resending){.dispatch = r->spec.dispatch, .call = a};
    s->first = journal_async_retry_turn(r->spec.journal, inst->name, a->turn, a->chat,
                                        inbound_on_resent, s);
}
