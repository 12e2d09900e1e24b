/* SPDX-License-Identifier: MIT
 * Names of subjects and streams on the NATS servers, and the configuration of the streams: how a
 * host creates them, and whether existing ones are usable. Pure. */
#ifndef CORE_BUS_BUS_STREAM_H
#define CORE_BUS_BUS_STREAM_H

#include <stdint.h>

#include "base/bytes/buf.h"
#include "base/str.h"

/* Streams: events of turns; states of turns; turns for other hosts, and their outcomes; the work
 * queue, whose messages only wake hosts. Buckets: leases of host names; leases of instances, whose
 * holder runs the instance; shared settings; the host of each run, by turn; the home host of each
 * conversation; locks of conversations. */
enum bus_stream {
    BUS_EVENTS,
    BUS_STATES,
    BUS_HOSTS,
    BUS_LEADERS,
    BUS_CONF,
    BUS_TURNS,
    BUS_WORK,
    BUS_RUNS,
    BUS_HOMES,
    BUS_LOCKS,
};
#define BUS_STREAMS 10

/* Both are borrowed. */
struct bus_names {
    const char *prefix;
    const char *host; /* name of this host */
};

/* Smallest message size that servers must accept. */
#define BUS_MESSAGE_LEAST ((size_t)1 << 20)
/* Longer than an election of the servers takes. */
#define BUS_LEASE_S(replicas) ((replicas) > 1 ? 45 : 15)

/* Appends the stream's name: TC_EV, TC_STATE, KV_tc_host. */
void bus_stream_name(struct buf *out, const struct bus_names *names, enum bus_stream stream);
/* Appends the subject of a message: tc.ev.HOST.TURN, tc.state.HOST.TURN; for BUS_TURNS and
 * BUS_WORK, `host` is the kind: tc.turn.new.INSTANCE.TURN, tc.work.host.HOST; for a bucket, `host`
 * is the key, and `turn` is ignored: $KV.tc_host.KEY. "*" matches any token. */
void bus_stream_subject(struct buf *out, const struct bus_names *names, enum bus_stream stream,
                        const char *host, const char *turn);
/* Appends the subject on which JetStream republishes stored messages: tc.live.HOST.TURN,
 * tc.known.HOST.TURN, tc.conf.KEY. Subscribe only to this one: the other subject also carries
 * messages that JetStream refuses. */
void bus_stream_stored_subject(struct buf *out, const struct bus_names *names,
                               enum bus_stream stream, const char *host, const char *turn);
/* Appends the subject of a request to a host: tc.h.HOST.VERB. */
void bus_stream_request_subject(struct buf *out, const struct bus_names *names, const char *host,
                                const char *verb);
/* Whether an id can be used unchanged as a token of a subject. */
bool bus_stream_is_token(const char *id);
/* Appends a token that is unique for each text. */
void bus_stream_add_token(struct buf *out, const char *text);

/* Appends the configuration as JSON. */
void bus_stream_config(struct buf *out, const struct bus_names *names, enum bus_stream stream,
                       int64_t replicas);

enum bus_stream_fit {
    BUS_STREAM_SAME,
    BUS_STREAM_OTHER_LIMITS, /* usable */
    BUS_STREAM_USELESS,      /* unusable: events would be lost, or shown although refused */
};
/* Compares with the reply to STREAM.INFO; appends differences to `why`. */
enum bus_stream_fit bus_stream_compare(struct str info, const struct bus_names *names,
                                       enum bus_stream stream, int64_t replicas, struct buf *why);
/* Milliseconds for which the stream keeps a message, from the reply to STREAM.INFO or
 * STREAM.CREATE. For a bucket of leases: the lease time of all hosts. */
int64_t bus_stream_read_max_age(struct str info);

#endif
