/* SPDX-License-Identifier: MIT
 * Collects what a callback produces (requests, memory) and hands it over as one batch when the
 * callback returns. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/invariant.h"
#include "plugin/instance/instance_internal.h"
#include "plugin/validate.h"

#define CALLBACK_REQUESTS ((size_t)256)
#define TURN_REQUESTS ((size_t)1024) /* limit of concurrent requests */
/* In addition, for requests of the instance context: a connector that cannot poll would receive
 * nothing, and could not retry. */
#define TURN_POLLS ((size_t)16)

static struct callback_batch *instance_batch_get_open(struct instance *in)
{
    if (!in->sending)
        in->sending = xcalloc(1, sizeof *in->sending);
    return in->sending;
}

static void instance_batch_append_request(struct callback_batch *b, struct outbound_request *l)
{
    if ((b->count & (b->count - 1)) == 0) /* full: it grows by doubling */
        b->requests = xrealloc(b->requests,
                               (b->count ? 2 * b->count : 1) * sizeof(struct outbound_request *));
    b->requests[b->count++] = l;
}

void instance_reserve_request_ids(struct instance *in, uint64_t last)
{
    in->last_request = (last + 1) / 2;
}

int instance_add_request(struct instance_turn *t, const struct tc_http *http, const char **why)
{
    struct instance *const in = t->in;
    *why = "too many requests in this callback";
    if (in->sending && in->sending->count >= CALLBACK_REQUESTS)
        return -1;
    *why = "too many requests of this turn in flight";
    if (t->requests >= TURN_REQUESTS + (http->flags & TC_LONG_POLL ? TURN_POLLS : 0))
        return -1;
    struct outbound_request *const l =
        outbound_request_new(2 * in->last_request + 1, t->handle.id, http, why);
    if (!l)
        return -1;
    in->last_request++;
    t->requests++;
    instance_batch_append_request(instance_batch_get_open(in), l);
    return 0;
}

struct callback_batch *instance_take_requests(const struct instance_turn *t)
{
    struct instance *const in = t->in;
    struct callback_batch *const all = in->sending;
    struct callback_batch *const taken = xcalloc(1, sizeof *taken);
    size_t kept = 0;
    for (size_t i = 0; all && i < all->count; i++)
        if (strcmp(all->requests[i]->turn, t->handle.id) == 0)
            instance_batch_append_request(taken, all->requests[i]);
        else
            all->requests[kept++] = all->requests[i];
    if (all)
        all->count = kept;
    if (all && !kept && !all->results) {
        callback_batch_free(all);
        in->sending = NULL;
    }
    return taken;
}

int instance_add_result(struct instance *in, uint64_t number,
                        const struct tc_completion *completion, const char **why)
{
    size_t count = 0;
    struct outbound_result **end = in->sending ? &in->sending->results : NULL;
    for (; end && *end; end = &(*end)->next)
        count++;
    *why = "too many completions in this callback";
    struct outbound_result *const r =
        count < CALLBACK_REQUESTS ? outbound_result_new(number, completion, why) : NULL;
    if (!r)
        return -1;
    *(end ? end : &instance_batch_get_open(in)->results) = r;
    return 0;
}

void instance_set_memory(struct instance_turn *t, const char *text)
{
    t->in->memory.remembering += t->memory == NULL;
    free(t->memory);
    t->memory = xstrdup(text ? text : "");
}

static char *instance_batch_steal_memory(struct instance_turn *t)
{
    char *const memory = t->memory;
    ASSERT(!memory || t->in->memory.remembering > 0);
    t->in->memory.remembering -= memory != NULL;
    t->memory = NULL;
    return memory;
}

static struct instance_turn *instance_batch_find_turn(struct instance *in, const char *id)
{
    struct instance_turn *t = in->turns;
    while (t && strcmp(t->handle.id, id) != 0)
        t = t->next;
    return t ? t : &in->context;
}

/* A failed callback sends nothing. */
static void instance_batch_discard_requests(struct instance *in)
{
    struct callback_batch *const b = in->sending;
    for (size_t i = 0; b && i < b->count; i++)
        instance_batch_find_turn(in, b->requests[i]->turn)->requests--;
    callback_batch_free(b);
    in->sending = NULL;
}

/* A callback may store memory for other turns: each needs a batch. */
static void instance_batch_commit_memories(struct instance *in)
{
    for (struct instance_turn *t = in->turns; t && in->memory.remembering; t = t->next) {
        if (!t->memory)
            continue;
        struct callback_batch *const b = xcalloc(1, sizeof *b);
        b->turn = xstrdup(t->handle.id);
        b->memory = instance_batch_steal_memory(t);
        in->host.batch(in->host.ctx, b);
    }
}

static char *copy_reason(const char *reason)
{
    if (!reason)
        return NULL;
    char text[VALIDATE_REASON_MAX];
    utf8_copy_truncated(text, sizeof text,
                        utf8_is_valid(reason, strlen(reason)) ? reason : "not UTF-8");
    return xstrdup(text);
}

/* Whether the batch is the last of its turn. True once per turn, with its last output. */
static bool instance_batch_ends_turn(const struct instance_turn *t)
{
    return t != &t->in->context && instance_turn_is_over(t);
}

/* After the batch: the stored text means that the rest of the callback was done. */
static void instance_batch_commit_stored(struct instance *in)
{
    for (const struct stored_text *s = in->memory.changed.first; s; s = s->next)
        in->host.store(in->host.ctx, s->key, s->text);
    stored_texts_fini(&in->memory.changed);
}

static void commit_requests(struct instance_turn *t, const struct callback_outcome *s)
{
    struct instance *const in = t->in;
    in->sockets.framed = 0;
    if (!in->host.batch)
        return;
    if (s->failed && s->what != BATCH_NOTHING)
        instance_batch_discard_requests(in);
    const bool over = instance_batch_ends_turn(t);
    if (s->what == BATCH_NOTHING && !in->sending && !in->memory.remembering && !over)
        return;
    char *const memory = instance_batch_steal_memory(t);
    instance_batch_commit_memories(in);
    if (s->what == BATCH_NOTHING && !in->sending && !memory && !over)
        return;
    struct callback_batch *const b = instance_batch_get_open(in);
    in->sending = NULL;
    b->settles = s->what;
    b->failed = s->failed;
    b->turn = xstrdup(t->handle.id);
    b->request = s->request;
    b->verdict = s->verdict;
    b->verdict.reason = copy_reason(s->verdict.reason);
    b->memory = memory;
    b->over = over;
    in->host.batch(in->host.ctx, b);
}

void instance_commit_batch(struct instance_turn *t, const struct callback_outcome *s)
{
    commit_requests(t, s);
    instance_batch_commit_stored(t->in);
}
