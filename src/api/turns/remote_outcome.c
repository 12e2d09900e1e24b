/* SPDX-License-Identifier: MIT
 * Answers with the outcome of a turn of another host, after fetching its events. */
#include <stdlib.h>

#include "api/shared/api_internal.h"
#include "api/turns/remote_turns.h"
#include "api/turns/turn_api.h"
#include "base/alloc.h"

#define FETCH_MS 5000 /* how long a client waits for the events */

struct remote_outcome {
    const struct api_context *api;
    struct httpd_request *request; /* NULL: already answered */
    struct event_stream *stream;
    struct loop_timer *patience;
    char *name, *turn; /* grants of the principal */
    unsigned grants;
};

static void remote_outcome_answer(void *ctx, struct buf *out)
{
    struct remote_outcome *const f = ctx;
    const struct auth_principal p = {.name = f->name, .grants = f->grants};
    const struct turnlog_turn *const t = turnlog_find_turn(f->api->host.turnlog, f->turn);
    (void)out;
    if (t)
        turn_api_answer(f->api, f->request, 200, t, &p);
    else
        turn_api_answer_past(f->request, NULL);
    f->request = NULL;
}

static void remote_outcome_on_closed(void *ctx, bool left)
{
    struct remote_outcome *const f = ctx;
    (void)left;
    if (f->request)
        api_http_error(f->request, 503, "ended", "turncast is shutting down.");
    loop_timer_free(f->patience);
    free(f->name);
    free(f->turn);
    free(f);
}

/* Answers without the outcome, which has not arrived within FETCH_MS. */
static void remote_outcome_on_wait_end(void *arg)
{
    const struct remote_outcome *const f = arg;
    event_stream_finish(f->stream);
}

void remote_turns_fetch(struct api_context *a, struct httpd_request *r,
                        const struct turnlog_turn *t, const struct auth_principal *p)
{
    static const struct event_stream_ops ops = {.over = remote_outcome_answer,
                                                .closed = remote_outcome_on_closed};
    struct remote_outcome *const f = xcalloc(1, sizeof *f);
    f->api = a;
    f->request = r;
    f->name = xstrdup(p->name);
    f->grants = p->grants;
    f->turn = xstrdup(t->spec.id);
    f->patience = loop_timer_new(a->host.loop, remote_outcome_on_wait_end, f);
    loop_timer_set(f->patience, FETCH_MS);
    f->stream = event_stream_start_deferred(
        a,
        &(struct event_stream_spec){
            .ops = &ops, .ctx = f, .turn = t->spec.id, .principal = p->name, .sees_all = true},
        r);
}
