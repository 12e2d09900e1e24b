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
       "a message that is stored becomes the last one");
    bus_chain_send(&c, &two);
    ok(bus_chain_on_answer(&c, BUS_CHAIN_UNSENT, 0) == BUS_CHAIN_LATER &&
           c.state == BUS_CHAIN_READY && c.last == 7,
       "one that was not sent is sent later");
    bus_chain_send(&c, &two);
    ok(bus_chain_on_answer(&c, BUS_CHAIN_REFUSED, 0) == BUS_CHAIN_LATER && c.last == 7,
       "so is one that has no room");
    bus_chain_send(&c, &two);
    ok(bus_chain_on_answer(&c, BUS_CHAIN_LOST, 0) == BUS_CHAIN_READ && c.state == BUS_CHAIN_UNSURE,
       "without an answer the last message is read");
    bus_chain_read(&c);
    bus_chain_on_read_failed(&c);
    ok(c.state == BUS_CHAIN_UNSURE, "until it can be read");
    bus_chain_read(&c);
    ok(bus_chain_on_read(&c, &one, 7) == BUS_CHAIN_AGAIN, "it is the one before: send it again");
    bus_chain_send(&c, &two);
    ok(bus_chain_on_answer(&c, BUS_CHAIN_WRONG, 0) == BUS_CHAIN_READ, "refused: look who it was");
    bus_chain_read(&c);
    ok(bus_chain_on_read(&c, &two, 9) == BUS_CHAIN_STORED && c.last == 9,
       "it was this one, whose answer was lost");
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
       "another host has published: fenced");
    ok(meet(&c, 0, &other, 4) == BUS_CHAIN_STOP, "also before the first message");
    ok(meet(&c, 3, &before, 4) == BUS_CHAIN_STOP,
       "an earlier life that comes between is another publisher");
    ok(meet(&c, 3, &same_boot, 4) == BUS_CHAIN_STOP, "so is a copy of this one");
    ok(meet(&c, 0, &before, 4) == BUS_CHAIN_ADOPTED && c.last == 4 && c.state == BUS_CHAIN_READY,
       "an earlier life that came before is gone on with");
    ok(meet(&c, 3, NULL, 0) == BUS_CHAIN_AGAIN && c.last == 0,
       "servers that have lost the subject are told from the beginning");
    ok(meet(&c, 30, &before, 4) == BUS_CHAIN_READ && c.state == BUS_CHAIN_UNSURE && c.last == 30,
       "an older message than the last one comes from a replica that is behind");
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
    is_int(missing, 0, "500 histories: messages that are missing or in the wrong order");
    is_int(doubled, 0, "messages that are stored twice");
    is_int(unfenced, 0, "another publisher always fences");
    is_int(lies, 0, "and what is told to be stored is what was stored before that");
}

int main(void)
{
    plan_lazy();
    test_answers();
    test_others();
    test_simulated();
    return 0;
}
