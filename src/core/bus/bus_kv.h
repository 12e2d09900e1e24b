/* SPDX-License-Identifier: MIT
 * Key-value buckets on the NATS servers: reads an entry, writes or deletes it if it still has the
 * revision that the caller knows (compare-and-set), and iterates over entries. Each call sends one
 * request; the caller's function decodes the reply with bus_kv_read_…; nats_client_forget with the
 * same ctx cancels the request. A bucket is a stream with a row in bus_stream.c. Loop thread only.
 *
 * Keys are tokens joined by dots, see bus_stream_is_token. Values are not empty. */
#ifndef CORE_BUS_BUS_KV_H
#define CORE_BUS_BUS_KV_H

#include "core/bus/bus_link.h"

enum bus_kv_result {
    BUS_KV_DONE,     /* the entry was read, written or deleted */
    BUS_KV_NONE,     /* no entry: never written, deleted, or expired */
    BUS_KV_CONFLICT, /* the entry has another revision; nothing was written */
    BUS_KV_REFUSED,  /* refused by the servers; nothing was written */
    BUS_KV_UNKNOWN,  /* no reply within BUS_STORE_MS; it may have been written: read and compare */
    BUS_KV_UNSENT,   /* not connected; nothing was written */
};

struct bus_kv_entry {
    enum bus_kv_result result;
    /* DONE: of the entry; NONE: of the mark of a deletion, or 0. Pass it to bus_kv_put to write the
     * next value. */
    uint64_t revision;
    const char *key;  /* of a read: the part behind the name of the bucket, or "" */
    struct str value; /* of a read with DONE */
    char why[160];    /* REFUSED: the servers' error text */
};

/* Requests the entry of a key. */
void bus_kv_get(struct bus_link *l, enum bus_stream bucket, const char *key,
                nats_client_on_reply *on_reply, void *ctx);
/* Requests the entry with the lowest revision above `revision` whose key matches (wildcards as in
 * subjects). A key is found at each revision that the bucket still has; a deletion is NONE with its
 * revision. NONE with revision 0: no more entries. */
void bus_kv_next(struct bus_link *l, enum bus_stream bucket, const char *keys, uint64_t revision,
                 nats_client_on_reply *on_reply, void *ctx);
/* Decodes the reply to either request; borrowed from m. */
void bus_kv_read_entry(const struct bus_link *l, enum bus_stream bucket,
                       enum nats_client_result result, const struct nats_client_message *m,
                       struct bus_kv_entry *entry);

/* Writes if this is the last revision of the key; 0: never written. To create an entry, use 0;
 * after a CONFLICT, read: NONE has the revision with which the entry can be created. */
void bus_kv_put(struct bus_link *l, enum bus_stream bucket, const char *key, struct str value,
                uint64_t revision, nats_client_on_reply *on_reply, void *ctx);
/* The same; the value is this origin and nothing else, as of claims and homes. */
void bus_kv_put_origin(struct bus_link *l, enum bus_stream bucket, const char *key,
                       const struct bus_origin *from, uint64_t revision,
                       nats_client_on_reply *on_reply, void *ctx);
/* Deletes under the same condition. A mark with a revision replaces the entry. */
void bus_kv_delete(struct bus_link *l, enum bus_stream bucket, const char *key, uint64_t revision,
                   nats_client_on_reply *on_reply, void *ctx);
/* Decodes the reply to either. DONE has the new revision. */
void bus_kv_read_written(enum nats_client_result result, const struct nats_client_message *m,
                         struct bus_kv_entry *entry);

#endif
