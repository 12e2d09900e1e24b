/* SPDX-License-Identifier: MIT
 * Calls that wait for an answer, in both directions: of the connector to the host, and HTTP
 * requests of the host to the connector. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "plugin/process/connector_process.h"

#define HOST_CALL_MS 30000

static void connector_calls_send_result(struct connector_process *g, uint64_t number,
                                        enum tc_accepted accepted, const char *turn,
                                        const char *text)
{
    const size_t begun = ipc_frame_begin(&g->writer.out, IPC_CALL_RESULT);
    pack_int64(&g->writer.out, (int64_t)number);
    ipc_frame_pack_call_result(&g->writer.out, &(struct ipc_call_result){accepted, turn, text});
    ipc_frame_end(&g->writer.out, begun);
    connector_writer_flush_soon(g);
}

/* Freed when the host answers. */
static void connector_calls_unlink(struct pending_call *q)
{
    ASSERT(q->process->calls.pending == q);
    q->process->calls.pending = NULL;
    q->process = NULL;
}

static void connector_calls_on_result(void *ctx, enum tc_accepted accepted, const char *turn,
                                      const char *text)
{
    struct pending_call *const q = ctx;
    struct connector_process *const g = q->process;
    if (g) {
        connector_calls_unlink(q);
        connector_supervisor_record_progress(g);
        connector_calls_send_result(g, q->number, accepted, turn, text);
    }
    free(q);
}

void connector_calls_drop(struct connector_process *g)
{
    if (g->calls.pending)
        connector_calls_unlink(g->calls.pending);
}

static void connector_calls_refuse(struct pending_call *q)
{
    struct connector_process *const g = q->process;
    connector_calls_unlink(q);
    connector_calls_send_result(g, q->number, TC_NOT_KEPT, NULL, NULL);
}

void connector_calls_refuse_expired(struct connector_process *g)
{
    if (g->calls.pending && clock_mono_ms() - g->calls.pending->since_ms > HOST_CALL_MS)
        connector_calls_refuse(g->calls.pending);
}

const char *connector_calls_handle_call(struct connector_process *g, struct unpacker *u)
{
    const uint64_t number = (uint64_t)unpack_number(u);
    if (g->calls.pending)
        return "call before the previous one was answered";
    struct host_call *const a = ipc_frame_unpack_call(u, g->conf.name);
    if (!a)
        return "malformed call";
    if (!g->host.ask || g->closing || g->sup.state != CONNECTOR_RUNNING) {
        host_call_discard(a);
        connector_calls_send_result(g, number, TC_NOT_KEPT, NULL, NULL);
        return NULL;
    }
    struct pending_call *const q = xmalloc(sizeof *q);
    *q = (struct pending_call){g, number, clock_mono_ms()};
    g->calls.pending = q;
    host_call_set_callback(a, connector_calls_on_result, q);
    g->host.ask(g->host.ctx, a);
    return NULL;
}

uint64_t connector_calls_expect_answer(struct connector_process *g, const struct channel_hit *h)
{
    struct pending_hit *const hit = xmalloc(sizeof *hit);
    *hit = (struct pending_hit){g->calls.hits, ++g->calls.last_hit, h->answered, h->arg, false};
    g->calls.hits = hit;
    return hit->number;
}

static struct pending_hit **connector_calls_find_hit(struct connector_process *g, uint64_t number)
{
    struct pending_hit **at = &g->calls.hits;
    while (*at && (*at)->number != number)
        at = &(*at)->next;
    return at;
}

static void connector_calls_end_hit(struct pending_hit **at, const struct tc_answer *answer)
{
    struct pending_hit *const hit = *at;
    *at = hit->next;
    hit->answered(hit->arg, answer);
    free(hit);
}

void connector_calls_finish_task(struct connector_process *g, uint64_t number)
{
    struct pending_hit **const at = connector_calls_find_hit(g, number);
    if (*at && !(*at)->is_later)
        connector_calls_end_hit(at, NULL);
}

void connector_calls_end_later_hits(struct connector_process *g)
{
    for (struct pending_hit **at = &g->calls.hits; *at;)
        if ((*at)->is_later)
            connector_calls_end_hit(at, NULL);
        else
            at = &(*at)->next;
}

/* Ignores an answer that is late or repeated. */
const char *connector_calls_handle_answer(struct connector_process *g, struct unpacker *u)
{
    struct tc_answer into = {0};
    const uint64_t number = (uint64_t)unpack_number(u);
    const struct tc_answer *const answer = ipc_frame_unpack_answer(u, &into);
    if (unpack_finish(u) < 0)
        return "malformed response";
    if (number > g->calls.last_hit)
        return "unexpected response";
    struct pending_hit **const at = connector_calls_find_hit(g, number);
    if (*at && answer && answer->later) {
        (*at)->is_later = true;
        (*at)->answered((*at)->arg, answer);
    } else if (*at) {
        connector_calls_end_hit(at, answer);
    }
    return NULL;
}

void connector_calls_refuse_all(struct connector_process *g)
{
    if (g->calls.pending)
        connector_calls_refuse(g->calls.pending);
}

void connector_calls_fini(struct connector_process *g)
{
    connector_calls_drop(g);
    while (g->calls.hits)
        connector_calls_end_hit(&g->calls.hits, NULL);
}
