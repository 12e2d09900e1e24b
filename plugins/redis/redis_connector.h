/* SPDX-License-Identifier: MIT
 * The connector redis: options, and the connection to the Redis server. One thread per instance. */
#ifndef REDIS_CONNECTOR_H
#define REDIS_CONNECTOR_H

#include <turncast/plugin.h>

struct redis_conf {
    const char *address, *password, *prefix;
    int64_t database, max_entries, expire_s;
};

struct redis_state {
    void *link; /* a redisContext; NULL: not connected */
};

/* An entry of a stream, with the five fields of agenticore. */
struct stream_entry {
    const char *key, *id; /* key of the stream; ID of the entry */
    const char *type, *content, *ts, *session_id, *correlation_id;
};

/* Adds the entry (XADD), shortens the stream and sets its expiry. The server refuses an ID that is
 * not above the last one of the stream, so that a repeat cannot add the entry twice; with `repeat`,
 * such a refusal counts as success. Blocks for up to 2 seconds to connect and 2 seconds per call.
 * Returns TC_OK; TC_NOT_SENT: no connection; TC_AMBIGUOUS: the reply was lost; TC_REJECTED: the
 * server refused the entry. The last three with a text in *why, valid until the callback
 * returns. ⏎ */
enum tc_outcome redis_server_add(struct tc_turn *turn, const struct stream_entry *entry,
                                 bool repeat, const char **why);
void redis_server_close(struct tc_instance *inst);

#endif
