/* SPDX-License-Identifier: MIT
 * Messages that hosts exchange over the bus: a batch of events of a turn, what is known of a turn,
 * and the servers' answers to a publish. Formats and parses; unknown members are ignored. Pure. */
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
#define BUS_HOST_MAX 32 /* characters of a host's name */
#define BUS_BOOT_MAX 16

/* Who published a message. A host that is not sure whether its publish was stored recognises it by
 * all three. */
struct bus_origin {
    char host[BUS_HOST_MAX + 1];
    char boot[BUS_BOOT_MAX + 1]; /* random, of one life of the host */
    int64_t n;                   /* counts its messages */
};

bool bus_origin_equal(const struct bus_origin *a, const struct bus_origin *b);
/* Appends "v" and "from" to the object that is being written. */
void bus_origin_write(struct buf *out, const struct bus_origin *from);
/* Of any message: it stands in the object that the first line is. -1: there is none, or it is of a
 * later version. */
int bus_origin_read(struct str message, struct bus_origin *from) MUST_CHECK;

/* The first line of a batch; the events' canonical lines follow, each with its newline. */
struct bus_batch {
    struct bus_origin from;
    uint64_t after; /* seq of the last event of the batch before; 0: it is the first */
    uint64_t last;  /* of its own last event */
    bool more;      /* of a reply to "feed": ask again behind `last` */
};

void bus_batch_write(struct buf *out, const struct bus_batch *b, struct str lines);
/* lines: borrowed from the message. -1: it is no batch. */
int bus_batch_read(struct str message, struct bus_batch *b, struct str *lines) MUST_CHECK;
/* The next line, without its newline. False: that was all. */
bool bus_batch_next_line(struct str *lines, struct str *line);

/* What a host says of its turn. requests: a JSON array, or NULL. */
void bus_state_write(struct buf *out, const struct bus_origin *from, const struct turnlog_turn *t,
                     const char *requests);
/* Its texts are the arena's, its spec.host the origin's. -1: it is none. */
int bus_state_read(struct str message, struct arena *a, struct turnlog_turn *t) MUST_CHECK;

/* The JSON value at a JSON pointer of a message that is one JSON value; p NULL: there is none. */
struct str bus_message_value(struct str message, const char *pointer);
/* The text (still escaped) or number at a JSON pointer of a message that is one JSON value; "" or
 * 0: there is none. */
struct str bus_message_text(struct str message, const char *pointer);
int64_t bus_message_number(struct str message, const char *pointer);

#define BUS_WRONG_SEQUENCE 10071

/* The servers' reply to a publish, or to a request of their API. */
struct bus_ack {
    uint64_t sequence; /* of the stored message; 0: it was not stored */
    int64_t error;     /* JetStream's err_code; 0: none */
    char text[160];    /* of the error */
};
void bus_ack_read(struct str reply, struct bus_ack *ack);

#endif
