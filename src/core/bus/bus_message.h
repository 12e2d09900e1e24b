/* SPDX-License-Identifier: MIT
 * Encodes and decodes messages between hosts: a batch of events, the state of a turn, and the
 * servers' replies to a publish. Ignores unknown members. Pure. */
#ifndef CORE_BUS_BUS_MESSAGE_H
#define CORE_BUS_BUS_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/bytes/buf.h"
#include "base/str.h"
#include "core/turnlog/turnlog.h"

#define BUS_VERSION 1
#define BUS_HOST_MAX 32 /* longest name of a host */
#define BUS_BOOT_MAX 16

/* Publisher of a message. A host that does not know whether its message was stored recognises it by
 * all three members. */
struct bus_origin {
    char host[BUS_HOST_MAX + 1];
    char boot[BUS_BOOT_MAX + 1]; /* random, new at each start of the host */
    int64_t n;                   /* number of the message */
};

bool bus_origin_equal(const struct bus_origin *a, const struct bus_origin *b);
/* Appends "v" and "from" to an open JSON object. */
void bus_origin_write(struct buf *out, const struct bus_origin *from);
/* Reads the origin from the object in the first line of any message. -1: none, or of a later
 * version. */
int bus_origin_read(struct str message, struct bus_origin *from) MUST_CHECK;

/* First line of a batch; the events' canonical lines follow, each with a newline. */
struct bus_batch {
    struct bus_origin from;
    uint64_t after; /* seq of the last event of the previous batch; 0: first batch */
    uint64_t last;  /* seq of its own last event */
    int64_t at_us;  /* Unix time in microseconds when its first event was on the turn's host; 0: not
                     * known */
    struct str then_us; /* JSON array: how many microseconds later each further event was there;
                         * borrowed */
    bool more;          /* of a reply to "feed": request more behind `last` */
};

void bus_batch_write(struct buf *out, const struct bus_batch *b, struct str lines);
/* lines: borrowed from the message. -1: not a batch. */
int bus_batch_read(struct str message, struct bus_batch *b, struct str *lines) MUST_CHECK;
/* The next line, without its newline. False: no more lines. */
bool bus_batch_next_line(struct str *lines, struct str *line);

/* State of a turn for other hosts. requests: a JSON array, or NULL. */
void bus_state_write(struct buf *out, const struct bus_origin *from, const struct turnlog_turn *t,
                     const char *requests);
/* Its texts are in the arena; its spec.host is the origin's name. -1: invalid. */
int bus_state_read(struct str message, struct arena *a, struct turnlog_turn *t) MUST_CHECK;

/* The value at a JSON pointer of a message that is one JSON value; p NULL: absent. */
struct str bus_message_value(struct str message, const char *pointer);
/* The text (still escaped) or number at a JSON pointer of a message that is one JSON value; "" or
 * 0: absent. */
struct str bus_message_text(struct str message, const char *pointer);
int64_t bus_message_number(struct str message, const char *pointer);

#define BUS_WRONG_SEQUENCE 10071
#define BUS_TOO_MANY_MESSAGES 10077 /* the stream has as many as it may */

/* The servers' reply to a publish, or to a request of their API. */
struct bus_ack {
    uint64_t sequence; /* of the stored message; 0: not stored */
    int64_t error;     /* JetStream's err_code; 0: none */
    char text[160];    /* error text */
};
void bus_ack_read(struct str reply, struct bus_ack *ack);

#endif
