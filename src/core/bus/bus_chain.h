/* SPDX-License-Identifier: MIT
 * Chain of messages of one subject, published so that no other publisher can store a message in
 * between: each publish names the sequence of the previous message (compare-and-set), and one is in
 * flight at a time. Interprets replies and missing replies. Pure.
 *
 * A message whose reply is lost may have been stored. Its repetition is then refused although
 * nobody else has published. So after a refusal or a lost reply, the last message of the subject is
 * read: if it is the sent message, that is stored; if it is the previous message, nothing was
 * stored; otherwise another publisher has taken over the subject, and this one is fenced: it may
 * publish nothing more, and its refused messages must be shown to nobody. */
#ifndef CORE_BUS_BUS_CHAIN_H
#define CORE_BUS_BUS_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/bus/bus_message.h"

struct bus_chain {
    enum bus_chain_state {
        BUS_CHAIN_READY,   /* the next message can be sent */
        BUS_CHAIN_SENDING, /* a message is in flight */
        BUS_CHAIN_UNSURE,  /* the last message of the subject must be read */
        BUS_CHAIN_READING, /* the last message is being read */
        BUS_CHAIN_FENCED,  /* final */
    } state;
    uint64_t last;          /* sequence of the subject's last message; 0: none, or unknown */
    struct bus_origin sent; /* origin of the last sent message */
};

/* Action after a reply. */
enum bus_chain_step {
    BUS_CHAIN_STORED,  /* the sent message is stored; the next one may be sent */
    BUS_CHAIN_AGAIN,   /* not stored: send again at once */
    BUS_CHAIN_LATER,   /* not stored: send again after a pause */
    BUS_CHAIN_READ,    /* read the subject's last message, after a pause if it was read just now */
    BUS_CHAIN_ADOPTED, /* not stored: this host has published here before its restart. Send again
                        * behind that message */
    BUS_CHAIN_STOP,    /* fenced */
};

/* Result of a publish. */
enum bus_chain_answer {
    BUS_CHAIN_ACK,
    BUS_CHAIN_WRONG,   /* refused: wrong expected sequence */
    BUS_CHAIN_REFUSED, /* refused for a possibly temporary reason: no space, no leader */
    BUS_CHAIN_LOST,    /* no reply */
    BUS_CHAIN_UNSENT,
};

/* Requires READY; the message is sent. */
void bus_chain_send(struct bus_chain *c, const struct bus_origin *from);
/* sequence: with BUS_CHAIN_ACK. */
enum bus_chain_step bus_chain_on_answer(struct bus_chain *c, enum bus_chain_answer answer,
                                        uint64_t sequence);
/* Requires UNSURE; the subject's last message is requested. */
void bus_chain_read(struct bus_chain *c);
/* The last message was read. last: NULL if the subject has none. */
enum bus_chain_step bus_chain_on_read(struct bus_chain *c, const struct bus_origin *last,
                                      uint64_t sequence);
/* The last message could not be read: BUS_CHAIN_READ after a pause. */
void bus_chain_on_read_failed(struct bus_chain *c);

#endif
