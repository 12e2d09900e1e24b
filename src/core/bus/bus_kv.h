/* SPDX-License-Identifier: MIT
 * Buckets of keys and values on the NATS servers: reads an entry, writes or deletes it if it still
 * has the revision that the caller knows (compare and set), and goes through entries. Each call is
 * one request, whose reply the caller's function reads with bus_kv_read_…; nats_client_forget with
 * the same ctx cancels it. A bucket is a stream with a row in bus_stream.c. Loop thread only.
 *
 * Keys are tokens joined by dots, see bus_stream_is_token. Values are not empty. */
#ifndef CORE_BUS_BUS_KV_H
#define CORE_BUS_BUS_KV_H

#include "core/bus/bus_link.h"

enum bus_kv_result {
    BUS_KV_DONE,     /* the entry was read; or was written or deleted */
    BUS_KV_NONE,     /* there is no entry: never written, deleted, or expired */
    BUS_KV_CONFLICT, /* the entry has another revision; nothing was written */
    BUS_KV_REFUSED,  /* by the servers; nothing was written */
    BUS_KV_UNKNOWN,  /* no answer in BUS_STORE_MS; it may have been written: read and compare */
    BUS_KV_UNSENT,   /* not connected; nothing was written */
};

struct bus_kv_entry {
    enum bus_kv_result result;
    /* DONE: of the entry; NONE: of the mark that a deletion has left, or 0. What bus_kv_put takes
     * to write the next value. */
    uint64_t revision;
    const char *key;  /* of a read: behind the name of the bucket, or "" */
    struct str value; /* of a read, if DONE */
    char why[160];    /* REFUSED: what the servers say */
};

/* Asks for the entry of a key. */
void bus_kv_get(struct bus_link *l, enum bus_stream bucket, const char *key,
                nats_client_on_reply *on_reply, void *ctx);
/* Asks for the entry with the lowest revision above `revision` whose key matches, with wildcards
 * as in subjects. A key is found at each revision that the bucket still has, a deletion as NONE
 * with its revision. NONE with the revision 0: there are no more. */
void bus_kv_next(struct bus_link *l, enum bus_stream bucket, const char *keys, uint64_t revision,
                 nats_client_on_reply *on_reply, void *ctx);
/* Fills what the reply to one of both says; borrowed from m. */
void bus_kv_read_entry(const struct bus_link *l, enum bus_stream bucket,
                       enum nats_client_result result, const struct nats_client_message *m,
                       struct bus_kv_entry *entry);

/* Writes, if the last revision of the key is this one; 0: it was never written. To create an entry,
 * use 0; if that is a CONFLICT, read: NONE gives the revision with which it can be created. */
void bus_kv_put(struct bus_link *l, enum bus_stream bucket, const char *key, struct str value,
                uint64_t revision, nats_client_on_reply *on_reply, void *ctx);
/* Deletes on the same condition. A mark with a revision remains in the place of the entry. */
void bus_kv_delete(struct bus_link *l, enum bus_stream bucket, const char *key, uint64_t revision,
                   nats_client_on_reply *on_reply, void *ctx);
/* Fills what the reply to one of both says. DONE has the new revision. */
void bus_kv_read_written(enum nats_client_result result, const struct nats_client_message *m,
                         struct bus_kv_entry *entry);

#endif
