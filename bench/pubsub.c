/* SPDX-License-Identifier: MIT
 * pubsub PORT RATE SECONDS [BYTES [SUBSCRIBERS]]: what plain messages through a NATS server take,
 * for comparison with events between hosts, which the server also stores. One connection of libnats
 * publishes messages at a constant rate, others are subscribed to them: the time from before a
 * message is published until the subscriber's callback has it. Ends earlier at SIGTERM. */
#include <err.h>
#include <inttypes.h>
#include <nats/nats.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/meter.h"
#include "bench/pace.h"
#include "bench/percentile.h"

#define SUBJECT "bench"
#define BYTES_MIN 21 /* digits of a time, and a space */
#define BYTES_MAX 65536
#define SUBSCRIBERS_MAX 16
#define FLUSH_MS 60000

struct publisher {
    natsConnection *connection;
    uint64_t rate, rounds;
    int bytes;
};

/* Its callback runs on a thread of its own. */
struct subscriber {
    natsConnection *connection;
    natsSubscription *subscription;
    sem_t has_all;
    uint64_t times[METER_BUCKETS];
};

static volatile sig_atomic_t is_over;

static void end(int signal)
{
    (void)signal;
    is_over = 1;
}

static void check(natsStatus status)
{
    if (status != NATS_OK)
        errx(2, "NATS: %s", natsStatus_GetText(status));
}

/* Like turncast, the connection does not collect messages before it sends them. */
static natsConnection *dial(unsigned port)
{
    natsConnection *connection = NULL;
    natsOptions *options = NULL;
    char url[50];
    snprintf(url, sizeof url, "nats://127.0.0.1:%u", port);
    check(natsOptions_Create(&options));
    check(natsOptions_SetURL(options, url));
    check(natsOptions_SetSendAsap(options, true));
    check(natsConnection_Connect(&connection, options));
    natsOptions_Destroy(options);
    return connection;
}

static void publish(const struct publisher *p)
{
    static char body[BYTES_MAX + 1];
    const int64_t began = pace_now();
    for (uint64_t i = 0; i < p->rounds && !is_over; i++) {
        pace_sleep_until(began + (int64_t)i * PACE_SECOND / (int64_t)p->rate);
        snprintf(body, sizeof body, "%-*" PRId64, p->bytes, pace_now());
        check(natsConnection_Publish(p->connection, SUBJECT, body, p->bytes));
    }
    check(natsConnection_PublishString(p->connection, SUBJECT, "end"));
    check(natsConnection_FlushTimeout(p->connection, FLUSH_MS));
}

static void on_message(natsConnection *connection, natsSubscription *subscription, natsMsg *message,
                       void *arg)
{
    struct subscriber *const s = arg;
    const int64_t now = pace_now();
    (void)connection;
    (void)subscription;
    if (strcmp(natsMsg_GetData(message), "end") == 0)
        sem_post(&s->has_all);
    else
        s->times[meter_bucket((uint64_t)now - strtoull(natsMsg_GetData(message), NULL, 10))]++;
    natsMsg_Destroy(message);
}

static void subscribe(struct subscriber *s, unsigned port)
{
    sem_init(&s->has_all, 0, 0);
    s->connection = dial(port);
    check(natsConnection_Subscribe(&s->subscription, s->connection, SUBJECT, on_message, s));
    check(natsConnection_FlushTimeout(s->connection, FLUSH_MS));
}

static unsigned long number(const char *word, unsigned long least, unsigned long most)
{
    const unsigned long n = strtoul(word, NULL, 10);
    if (n < least || n > most)
        errx(2, "%s is not between %lu and %lu", word, least, most);
    return n;
}

static void measure(unsigned port, struct publisher *p, unsigned count)
{
    static struct subscriber subscribers[SUBSCRIBERS_MAX];
    static uint64_t times[METER_BUCKETS];
    p->connection = dial(port);
    for (unsigned i = 0; i < count; i++)
        subscribe(&subscribers[i], port);
    puts("publishing"); /* SIGTERM ends it well from here on */
    fflush(stdout);
    publish(p);
    for (unsigned i = 0; i < count; i++) {
        sem_wait(&subscribers[i].has_all);
        for (unsigned k = 0; k < METER_BUCKETS; k++)
            times[k] += subscribers[i].times[k];
        natsSubscription_Destroy(subscribers[i].subscription);
        natsConnection_Destroy(subscribers[i].connection);
    }
    natsConnection_Destroy(p->connection);
    percentile_print("pubsub", times);
}

int main(int argc, char **argv)
{
    struct publisher p = {.bytes = 300};
    if (argc < 4 || argc > 6)
        errx(2, "pubsub PORT RATE SECONDS [BYTES [SUBSCRIBERS]]");
    signal(SIGTERM, end);
    p.rate = number(argv[2], 1, 1000000);
    p.rounds = p.rate * number(argv[3], 1, 1000000);
    if (argc > 4)
        p.bytes = (int)number(argv[4], BYTES_MIN, BYTES_MAX);
    measure((unsigned)number(argv[1], 1, 65535), &p,
            argc > 5 ? (unsigned)number(argv[5], 1, SUBSCRIBERS_MAX) : 1);
    return 0;
}
