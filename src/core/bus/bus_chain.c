/* SPDX-License-Identifier: MIT
 * State machine of one chain of messages. */
#include "core/bus/bus_chain.h"

#include <string.h>

#include "base/invariant.h"

void bus_chain_send(struct bus_chain *c, const struct bus_origin *from)
{
    ASSERT(c->state == BUS_CHAIN_READY);
    c->state = BUS_CHAIN_SENDING;
    c->sent = *from;
}

enum bus_chain_step bus_chain_on_answer(struct bus_chain *c, enum bus_chain_answer answer,
                                        uint64_t sequence)
{
    ASSERT(c->state == BUS_CHAIN_SENDING);
    c->state = BUS_CHAIN_READY;
    switch (answer) {
    case BUS_CHAIN_ACK:
        c->last = sequence;
        return BUS_CHAIN_STORED;
    case BUS_CHAIN_WRONG:
    case BUS_CHAIN_LOST:
        c->state = BUS_CHAIN_UNSURE;
        return BUS_CHAIN_READ;
    case BUS_CHAIN_REFUSED:
    case BUS_CHAIN_UNSENT:
        break;
    }
    return BUS_CHAIN_LATER;
}

void bus_chain_read(struct bus_chain *c)
{
    ASSERT(c->state == BUS_CHAIN_UNSURE);
    c->state = BUS_CHAIN_READING;
}

/* The subject is empty, because the servers lost their data or nothing was stored: the chain starts
 * anew. */
static enum bus_chain_step bus_chain_begin(struct bus_chain *c)
{
    c->last = 0;
    return BUS_CHAIN_AGAIN;
}

enum bus_chain_step bus_chain_on_read(struct bus_chain *c, const struct bus_origin *last,
                                      uint64_t sequence)
{
    ASSERT(c->state == BUS_CHAIN_READING);
    const bool is_first = c->last == 0;
    c->state = BUS_CHAIN_READY;
    if (!last)
        return bus_chain_begin(c);
    if (bus_origin_equal(last, &c->sent)) {
        c->last = sequence;
        return BUS_CHAIN_STORED;
    }
    if (sequence == c->last)
        return BUS_CHAIN_AGAIN;
    if (sequence < c->last) { /* the reply is from a replica that lags behind */
        c->state = BUS_CHAIN_UNSURE;
        return BUS_CHAIN_READ;
    }
    if (is_first && strcmp(last->host, c->sent.host) == 0) {
        c->last = sequence;
        return BUS_CHAIN_ADOPTED;
    }
    c->state = BUS_CHAIN_FENCED;
    return BUS_CHAIN_STOP;
}

void bus_chain_on_read_failed(struct bus_chain *c)
{
    ASSERT(c->state == BUS_CHAIN_READING);
    c->state = BUS_CHAIN_UNSURE;
}
