/* SPDX-License-Identifier: MIT
 * What the answers to publishes of one subject mean: a table of histories, and a simulated server
 * with lost answers and a second publisher. */
#include "core/bus/bus_chain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap/tap.h"

static struct bus_origin origin(const char *host, const char *boot, int64_t n)
{
    struct bus_origin from = {.n = n};
    snprintf(from.host, sizeof from.host, "%s", host);
    snprintf(from.boot, sizeof from.boot, "%s", boot);
    return from;
}

static void test_answers(void)
{
    struct bus_chain c = {0};
    const struct bus_origin one = origin("h1", "b1", 1), two = origin("h1", "b1", 2);
    bus_chain_send(&c, &one);
    ok(bus_chain_on_answer(&c, BUS_CHAIN_ACK, 7) == BUS_CHAIN_STORED && c.last == 7,
       "a stored message becomes the last message");
    bus_chain_send(&c, &two);
    ok(bus_chain_on_answer(&c, BUS_CHAIN_UNSENT, 0) == BUS_CHAIN_LATER &&
           c.state == BUS_CHAIN_READY && c.last == 7,
       "a message that was not sent is sent later");
    bus_chain_send(&c, &two);
    ok(bus_chain_on_answer(&c, BUS_CHAIN_REFUSED, 0) == BUS_CHAIN_LATER && c.last == 7,
       "a message for which the server has no room is sent later");
    bus_chain_send(&c, &two);
    ok(bus_chain_on_answer(&c, BUS_CHAIN_LOST, 0) == BUS_CHAIN_READ && c.state == BUS_CHAIN_UNSURE,
       "after a lost answer the last message is read");
    bus_chain_read(&c);
    bus_chain_on_read_failed(&c);
    ok(c.state == BUS_CHAIN_UNSURE, "a failed read leaves the state unsure");
    bus_chain_read(&c);
    ok(bus_chain_on_read(&c, &one, 7) == BUS_CHAIN_AGAIN,
       "when the last message is the previous one, the message is sent again");
    bus_chain_send(&c, &two);
    ok(bus_chain_on_answer(&c, BUS_CHAIN_WRONG, 0) == BUS_CHAIN_READ,
       "after a wrong sequence the last message is read");
    bus_chain_read(&c);
    ok(bus_chain_on_read(&c, &two, 9) == BUS_CHAIN_STORED && c.last == 9,
       "when the last message is the sent one, it counts as stored");
}

/* A chain that has sent a message behind `last`, and reads another's. */
static enum bus_chain_step meet(struct bus_chain *c, uint64_t last, const struct bus_origin *other,
                                uint64_t sequence)
{
    const struct bus_origin own = origin("h1", "b2", 5);
    *c = (struct bus_chain){.last = last};
    bus_chain_send(c, &own);
    bus_chain_on_answer(c, BUS_CHAIN_WRONG, 0);
    bus_chain_read(c);
    return bus_chain_on_read(c, other, sequence);
}

static void test_others(void)
{
    struct bus_chain c;
    const struct bus_origin other = origin("h2", "b9", 1), before = origin("h1", "b1", 80),
                            same_boot = origin("h1", "b2", 4);
    ok(meet(&c, 3, &other, 4) == BUS_CHAIN_STOP && c.state == BUS_CHAIN_FENCED,
       "a message of another host fences the chain");
    ok(meet(&c, 0, &other, 4) == BUS_CHAIN_STOP,
       "a message of another host before the first own message fences the chain");
    ok(meet(&c, 3, &before, 4) == BUS_CHAIN_STOP,
       "a message of an earlier boot after the last own message fences the chain");
    ok(meet(&c, 3, &same_boot, 4) == BUS_CHAIN_STOP,
       "a message of a copy of this host fences the chain");
    ok(meet(&c, 0, &before, 4) == BUS_CHAIN_ADOPTED && c.last == 4 && c.state == BUS_CHAIN_READY,
       "a message of an earlier boot before the first own message is adopted");
    ok(meet(&c, 3, NULL, 0) == BUS_CHAIN_AGAIN && c.last == 0,
       "after the servers lost the subject, publishing starts again");
    ok(meet(&c, 30, &before, 4) == BUS_CHAIN_READ && c.state == BUS_CHAIN_UNSURE && c.last == 30,
       "a message older than the last one makes the chain read again");
}

/* ---- a server that stores, and forgets to answer ---- */

struct server {
    struct bus_origin log[400];
    uint64_t n; /* the sequence of the last message */
    unsigned seed;
};

static unsigned chance(struct server *s)
{
    s->seed = s->seed * 1103515245u + 12345u;
    return s->seed >> 16 & 0xff;
}

/* Publishes behind `expected`; true: stored. */
static bool server_store(struct server *s, const struct bus_origin *from, uint64_t expected)
{
    if (expected != s->n)
        return false;
    s->log[s->n++] = *from;
    return true;
}

/* One publish with its answer, which may be lost before or behind the server. */
static enum bus_chain_answer server_answer(struct server *s, const struct bus_chain *c)
{
    const unsigned luck = chance(s);
    if (luck < 40)
        return BUS_CHAIN_LOST; /* the request was lost */
    const bool stored = server_store(s, &c->sent, c->last);
    if (luck < 80)
        return BUS_CHAIN_LOST;
    return stored ? BUS_CHAIN_ACK : BUS_CHAIN_WRONG;
}

/* Until the message is stored, or the chain is fenced. */
static bool publish(struct server *s, struct bus_chain *c, const struct bus_origin *from)
{
    enum bus_chain_step step = BUS_CHAIN_AGAIN;
    while (step != BUS_CHAIN_STORED && step != BUS_CHAIN_STOP) {
        if (c->state == BUS_CHAIN_READY) {
            bus_chain_send(c, from);
            const enum bus_chain_answer answer = server_answer(s, c);
            step = bus_chain_on_answer(c, answer, answer == BUS_CHAIN_ACK ? s->n : 0);
        } else {
            bus_chain_read(c);
            step = bus_chain_on_read(c, s->n ? &s->log[s->n - 1] : NULL, s->n);
        }
    }
    return step == BUS_CHAIN_STORED;
}

static void test_simulated(void)
{
    unsigned missing = 0, doubled = 0, unfenced = 0, lies = 0;
    for (unsigned seed = 1; seed <= 500; seed++) {
        struct server s = {.seed = seed};
        struct bus_chain c = {0};
        const int taken = 20 + (int)(seed % 60);
        int told = 0;
        for (int n = 1; n <= 100; n++) {
            const struct bus_origin own = origin("h1", "b1", n), other = origin("h2", "b1", 1);
            if (n == taken)
                s.log[s.n++] = other;
            if (!publish(&s, &c, &own))
                break;
            told = n;
        }
        unfenced += c.state != BUS_CHAIN_FENCED;
        lies += told != taken - 1;
        for (uint64_t i = 0; i + 1 < s.n; i++)
            missing += s.log[i].n != (int64_t)i + 1;
        for (uint64_t i = 1; i < s.n; i++)
            doubled += bus_origin_equal(&s.log[i], &s.log[i - 1]);
    }
    is_int(missing, 0, "in 500 histories no message is missing or in the wrong order");
    is_int(doubled, 0, "no message is stored twice");
    is_int(unfenced, 0, "another publisher always fences the chain");
    is_int(lies, 0, "the messages reported as stored are those stored before the fence");
}

int main(void)
{
    plan_lazy();
    test_answers();
    test_others();
    test_simulated();
    return 0;
}
