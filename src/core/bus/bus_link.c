/* SPDX-License-Identifier: MIT
 * Encodes requests to JetStream. */
#include "core/bus/bus_link.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/sys/clock.h"

bool bus_link_is_lost(const struct bus_link *l, int64_t after_ms)
{
    return !l->is_active && (!l->inactive_ms || clock_mono_ms() - l->inactive_ms >= after_ms);
}

struct bus_origin bus_link_next_origin(struct bus_link *l)
{
    struct bus_origin from = {.n = ++l->n};
    snprintf(from.host, sizeof from.host, "%s", l->names.host);
    snprintf(from.boot, sizeof from.boot, "%s", l->boot);
    return from;
}

void bus_link_store(struct bus_link *l, const char *subject, struct str data, uint64_t expected,
                    nats_client_on_reply *on_reply, void *ctx)
{
    const struct nats_client_publication p = {
        .subject = subject, .data = data, .is_conditional = true, .expected = expected};
    nats_client_request(l->client, &p, BUS_STORE_MS, on_reply, ctx);
}

enum bus_link_stored bus_link_read_stored(enum nats_client_result result,
                                          const struct nats_client_message *m, struct bus_ack *ack)
{
    *ack = (struct bus_ack){0};
    switch (result) {
    case NATS_CLIENT_UNSENT:
        return BUS_LINK_UNSENT;
    case NATS_CLIENT_UNKNOWN:
        return BUS_LINK_LOST;
    case NATS_CLIENT_NOBODY:
        snprintf(ack->text, sizeof ack->text, "no JetStream stream has this subject");
        return BUS_LINK_REFUSED;
    case NATS_CLIENT_REPLIED:
        break;
    }
    bus_ack_read(m->data, ack);
    return ack->error == BUS_WRONG_SEQUENCE ? BUS_LINK_WRONG
           : ack->error || !ack->sequence   ? BUS_LINK_REFUSED
                                            : BUS_LINK_STORED;
}

static void bus_link_read(struct bus_link *l, enum bus_stream stream, const struct buf *question,
                          nats_client_on_reply *on_reply, void *ctx)
{
    CLEANUP_BUF struct buf subject = {0};
    buf_add_str(&subject, "$JS.API.DIRECT.GET.");
    bus_stream_name(&subject, &l->names, stream);
    const struct nats_client_publication p = {.subject = subject.p,
                                              .data = {question->p, question->len}};
    nats_client_request(l->client, &p, BUS_STORE_MS, on_reply, ctx);
}

void bus_link_read_last(struct bus_link *l, enum bus_stream stream, const char *subject,
                        nats_client_on_reply *on_reply, void *ctx)
{
    CLEANUP_BUF struct buf question = {0};
    buf_printf(&question, "{\"last_by_subj\":\"%s\"}", subject);
    bus_link_read(l, stream, &question, on_reply, ctx);
}

bool bus_link_is_answered(enum nats_client_result result, const struct nats_client_message *m)
{
    return result == NATS_CLIENT_REPLIED && (m->sequence || m->status == 404);
}

void bus_link_read_next(struct bus_link *l, enum bus_stream stream, const char *subject,
                        uint64_t sequence, nats_client_on_reply *on_reply, void *ctx)
{
    CLEANUP_BUF struct buf question = {0};
    buf_printf(&question, "{\"seq\":%" PRIu64 ",\"next_by_subj\":\"%s\"}", sequence, subject);
    bus_link_read(l, stream, &question, on_reply, ctx);
}
