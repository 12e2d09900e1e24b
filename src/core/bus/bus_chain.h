/* SPDX-License-Identifier: MIT
 * Messages of one subject, published one behind the other so that no other publisher comes between
 * them: each publish names the sequence of the message before (a compare-and-set), and one is on
 * its way at a time. Decides what an answer means, also when there was none. Pure.
 *
 * A publish whose answer is lost may have been stored. Its repetition is then refused although
 * nobody else has published. So whenever a publish is refused or its answer is lost, the subject's
 * last message is read: is it the one that was sent, it is stored; is it the one before, nothing is
 * stored; else another publisher has taken the subject over, and this one is fenced: it may publish
 * nothing more, and what was refused must be shown to nobody. */
#ifndef CORE_BUS_BUS_CHAIN_H
#define CORE_BUS_BUS_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/bus/bus_message.h"

struct bus_chain {
    enum bus_chain_state {
        BUS_CHAIN_READY,   /* the next message can be sent */
        BUS_CHAIN_SENDING, /* one is on its way */
        BUS_CHAIN_UNSURE,  /* the subject's last message has to be read */
        BUS_CHAIN_READING, /* it is being read */
        BUS_CHAIN_FENCED,  /* for good */
    } state;
    uint64_t last; /* sequence of the subject's last message; 0: there is none, or not known */
    struct bus_origin sent; /* of the message that was sent last */
};

/* What follows from an answer. */
enum bus_chain_step {
    BUS_CHAIN_STORED,  /* the message that was sent is stored; the next one may be sent */
    BUS_CHAIN_AGAIN,   /* it is not: send it again, at once */
    BUS_CHAIN_LATER,   /* it is not: send it again after a while */
    BUS_CHAIN_READ,    /* read the subject's last message, after a while if it was read just now */
    BUS_CHAIN_ADOPTED, /* it is not stored: an earlier life of this host has published here. Send it
                          again behind that message */
    BUS_CHAIN_STOP,    /* fenced */
};

/* How a publish was answered. */
enum bus_chain_answer {
    BUS_CHAIN_ACK,
    BUS_CHAIN_WRONG,   /* refused: the sequence was another */
    BUS_CHAIN_REFUSED, /* for another reason, which may pass: no space, no leader */
    BUS_CHAIN_LOST,    /* no answer */
    BUS_CHAIN_UNSENT,
};

/* The state is READY; the message goes out. */
void bus_chain_send(struct bus_chain *c, const struct bus_origin *from);
/* sequence: of BUS_CHAIN_ACK. */
enum bus_chain_step bus_chain_on_answer(struct bus_chain *c, enum bus_chain_answer answer,
                                        uint64_t sequence);
/* The state is UNSURE; the subject's last message is asked for. */
void bus_chain_read(struct bus_chain *c);
/* It was read. last: NULL when the subject has no message. */
enum bus_chain_step bus_chain_on_read(struct bus_chain *c, const struct bus_origin *last,
                                      uint64_t sequence);
/* It could not be read; BUS_CHAIN_READ after a while. */
void bus_chain_on_read_failed(struct bus_chain *c);

#endif
