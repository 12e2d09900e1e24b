/* SPDX-License-Identifier: MIT
 * Names of subjects and streams on the NATS servers, and the configuration of the streams: what a
 * host creates, and whether what it finds can be used. Pure. */
#ifndef CORE_BUS_BUS_STREAM_H
#define CORE_BUS_BUS_STREAM_H

#include <stdint.h>

#include "base/bytes/buf.h"
#include "base/str.h"

/* Streams: events of turns; what is known of turns; turns that another host is to run, and their
 * outcomes; the work queue, whose messages only wake up the hosts that take them. Buckets: leases
 * of hosts by their names; leases of instances by theirs, whose holder alone runs the instance;
 * what hosts share and keep; which host runs a turn, by turn; the host of each conversation; which
 * host runs a turn of a conversation. */
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
    const char *host; /* of this one */
};

#define BUS_MESSAGE_LEAST ((size_t)1 << 20)              /* that servers must take */
#define BUS_LEASE_S(replicas) ((replicas) > 1 ? 45 : 15) /* longer than an election of servers */

/* Appends its name: TC_EV, TC_STATE, KV_tc_host. */
void bus_stream_name(struct buf *out, const struct bus_names *names, enum bus_stream stream);
/* Appends the subject by which a message is published: tc.ev.HOST.TURN, tc.state.HOST.TURN; of
 * BUS_TURNS and BUS_WORK, `host` is the kind: tc.turn.new.INSTANCE.TURN, tc.work.host.HOST; for a
 * bucket, `host` is the key, and `turn` is ignored: $KV.tc_host.KEY. "*" means any. */
void bus_stream_subject(struct buf *out, const struct bus_names *names, enum bus_stream stream,
                        const char *host, const char *turn);
/* Appends the subject by which JetStream republishes what it has stored: tc.live.HOST.TURN,
 * tc.known.HOST.TURN, tc.conf.KEY. Only that may be listened to: the other one also carries
 * messages that JetStream refuses. */
void bus_stream_stored_subject(struct buf *out, const struct bus_names *names,
                               enum bus_stream stream, const char *host, const char *turn);
/* Appends the subject of a request to a host: tc.h.HOST.VERB. */
void bus_stream_request_subject(struct buf *out, const struct bus_names *names, const char *host,
                                const char *verb);
/* An id that can be part of a subject as it is. */
bool bus_stream_is_token(const char *id);
/* Appends a token that is another one for each text. */
void bus_stream_add_token(struct buf *out, const char *text);

/* Appends the configuration as JSON. */
void bus_stream_config(struct buf *out, const struct bus_names *names, enum bus_stream stream,
                       int64_t replicas);

enum bus_stream_fit {
    BUS_STREAM_SAME,
    BUS_STREAM_OTHER_LIMITS, /* it works */
    BUS_STREAM_USELESS,      /* with it, events would be lost or shown though refused */
};
/* Compares with what STREAM.INFO answers. why: appended, what differs. */
enum bus_stream_fit bus_stream_compare(struct str info, const struct bus_names *names,
                                       enum bus_stream stream, int64_t replicas, struct buf *why);
/* For how many milliseconds the stream keeps a message, by what STREAM.INFO or STREAM.CREATE
 * answers. Of a bucket of leases: how long one lasts, for all hosts. */
int64_t bus_stream_read_max_age(struct str info);

#endif
