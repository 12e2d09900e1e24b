/* SPDX-License-Identifier: MIT
 * Implements buckets as streams: a key is the end of a subject, a revision is a sequence number of
 * the stream, and an empty message marks a deletion. */
#include "core/bus/bus_kv.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/invariant.h"

/* ---- reading ---- */

void bus_kv_get(struct bus_link *l, enum bus_stream bucket, const char *key,
                nats_client_on_reply *on_reply, void *ctx)
{
    CLEANUP_BUF struct buf subject = {0};
    bus_stream_subject(&subject, &l->names, bucket, key, NULL);
    bus_link_read_last(l, bucket, subject.p, on_reply, ctx);
}

void bus_kv_next(struct bus_link *l, enum bus_stream bucket, const char *keys, uint64_t revision,
                 nats_client_on_reply *on_reply, void *ctx)
{
    CLEANUP_BUF struct buf subject = {0};
    bus_stream_subject(&subject, &l->names, bucket, keys, NULL);
    bus_link_read_next(l, bucket, subject.p, revision + 1, on_reply, ctx);
}

/* The end of the subject under which the key is stored. */
static const char *bus_kv_find_key(const struct bus_link *l, enum bus_stream bucket,
                                   const struct nats_client_message *m)
{
    CLEANUP_BUF struct buf root = {0};
    bus_stream_subject(&root, &l->names, bucket, "", NULL);
    return m->stored && strncmp(m->stored, root.p, root.len) == 0 ? m->stored + root.len : "";
}

static enum bus_kv_result bus_kv_judge_sent(enum nats_client_result result)
{
    switch (result) {
    case NATS_CLIENT_UNSENT:
        return BUS_KV_UNSENT;
    case NATS_CLIENT_NOBODY:
        return BUS_KV_REFUSED;
    case NATS_CLIENT_UNKNOWN:
    case NATS_CLIENT_REPLIED:
        break;
    }
    return BUS_KV_UNKNOWN;
}

void bus_kv_read_entry(const struct bus_link *l, enum bus_stream bucket,
                       enum nats_client_result result, const struct nats_client_message *m,
                       struct bus_kv_entry *entry)
{
    *entry = (struct bus_kv_entry){.result = bus_kv_judge_sent(result), .key = ""};
    if (result != NATS_CLIENT_REPLIED)
        return;
    if (m->sequence) {
        entry->result = m->data.len ? BUS_KV_DONE : BUS_KV_NONE;
        entry->revision = m->sequence;
        entry->key = bus_kv_find_key(l, bucket, m);
        entry->value = m->data;
    } else if (m->status == 404) {
        entry->result = BUS_KV_NONE;
    } else {
        entry->result = BUS_KV_REFUSED;
        snprintf(entry->why, sizeof entry->why, "status %d", m->status);
    }
}

/* ---- writing ---- */

static void bus_kv_write(struct bus_link *l, enum bus_stream bucket, const char *key,
                         struct nats_client_publication *p, nats_client_on_reply *on_reply,
                         void *ctx)
{
    CLEANUP_BUF struct buf subject = {0};
    bus_stream_subject(&subject, &l->names, bucket, key, NULL);
    p->subject = subject.p;
    p->is_conditional = true;
    nats_client_request(l->client, p, BUS_STORE_MS, on_reply, ctx);
}

void bus_kv_put(struct bus_link *l, enum bus_stream bucket, const char *key, struct str value,
                uint64_t revision, nats_client_on_reply *on_reply, void *ctx)
{
    ASSERT(value.len);
    struct nats_client_publication p = {.data = value, .expected = revision};
    bus_kv_write(l, bucket, key, &p, on_reply, ctx);
}

void bus_kv_put_origin(struct bus_link *l, enum bus_stream bucket, const char *key,
                       const struct bus_origin *from, uint64_t revision,
                       nats_client_on_reply *on_reply, void *ctx)
{
    CLEANUP_BUF struct buf value = {0};
    buf_add_char(&value, '{');
    bus_origin_write(&value, from);
    buf_add_char(&value, '}');
    bus_kv_put(l, bucket, key, (struct str){value.p, value.len}, revision, on_reply, ctx);
}

void bus_kv_delete(struct bus_link *l, enum bus_stream bucket, const char *key, uint64_t revision,
                   nats_client_on_reply *on_reply, void *ctx)
{
    struct nats_client_publication p = {.data = STR(""), .operation = "DEL", .expected = revision};
    bus_kv_write(l, bucket, key, &p, on_reply, ctx);
}

void bus_kv_read_written(enum nats_client_result result, const struct nats_client_message *m,
                         struct bus_kv_entry *entry)
{
    struct bus_ack ack;
    static const enum bus_kv_result results[] = {
        [BUS_LINK_STORED] = BUS_KV_DONE,     [BUS_LINK_WRONG] = BUS_KV_CONFLICT,
        [BUS_LINK_REFUSED] = BUS_KV_REFUSED, [BUS_LINK_LOST] = BUS_KV_UNKNOWN,
        [BUS_LINK_UNSENT] = BUS_KV_UNSENT,
    };
    *entry = (struct bus_kv_entry){.key = ""};
    entry->result = results[bus_link_read_stored(result, m, &ack)];
    entry->revision = ack.sequence;
    snprintf(entry->why, sizeof entry->why, "%s", ack.text);
}
