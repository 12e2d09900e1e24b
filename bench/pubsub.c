/* SPDX-License-Identifier: MIT
 * pubsub PORT RATE SECONDS [BYTES [SUBSCRIBERS]]: the floor under events between hosts. One
 * connection to a NATS server publishes messages at a pace, others are subscribed to them: the time
 * from before the write until a subscriber has read the message. Ends earlier at SIGTERM. */
#include <arpa/inet.h>
#include <err.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/meter.h"
#include "bench/pace.h"
#include "bench/percentile.h"

#define BYTES_MIN 21 /* digits of a time, and a space */
#define BYTES_MAX 65536
#define SUBSCRIBERS_MAX 16

struct publisher {
    FILE *to;
    uint64_t rate, rounds;
    int bytes;
};

struct subscriber {
    FILE *from;
    pthread_t thread;
    uint64_t times[METER_BUCKETS];
};

static volatile sig_atomic_t is_over;

static void end(int signal)
{
    (void)signal;
    is_over = 1;
}

static FILE *dial(unsigned port)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr = {htonl(INADDR_LOOPBACK)}};
    if (fd < 0 || connect(fd, (const struct sockaddr *)&to, sizeof to) < 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0)
        err(2, "port %u", port);
    FILE *const f = fdopen(fd, "r+");
    char line[8192];
    if (!f || !fgets(line, sizeof line, f) || strncmp(line, "INFO ", 5) != 0)
        errx(2, "port %u: no NATS server", port);
    return f;
}

/* Until the server has answered: what was sent before is done. */
static void say(FILE *f, const char *text)
{
    char line[1000];
    fseek(f, 0, SEEK_CUR);
    fprintf(f, "CONNECT {\"verbose\":false}\r\n%sPING\r\n", text);
    fflush(f);
    fseek(f, 0, SEEK_CUR);
    while (fgets(line, sizeof line, f))
        if (strncmp(line, "PONG", 4) == 0)
            return;
    errx(2, "the NATS server does not answer");
}

static void *publish(void *arg)
{
    const struct publisher *const p = arg;
    const int64_t began = pace_now();
    static char body[BYTES_MAX + 1];
    for (uint64_t i = 0; i < p->rounds && !is_over; i++) {
        pace_sleep_until(began + (int64_t)i * PACE_SECOND / (int64_t)p->rate);
        snprintf(body, sizeof body, "%-*" PRId64, p->bytes, pace_now());
        fprintf(p->to, "PUB bench %d\r\n%s\r\n", p->bytes, body);
        fflush(p->to);
    }
    fputs("PUB bench 3\r\nend\r\n", p->to);
    fflush(p->to);
    return NULL;
}

static void *read_all(void *arg)
{
    struct subscriber *const s = arg;
    char line[BYTES_MAX + 100];
    while (fgets(line, sizeof line, s->from) && strncmp(line, "end", 3) != 0) {
        if (strncmp(line, "PING", 4) == 0 && write(fileno(s->from), "PONG\r\n", 6) != 6)
            err(2, "write");
        if (*line >= '0' && *line <= '9')
            s->times[meter_bucket((uint64_t)pace_now() - strtoull(line, NULL, 10))]++;
    }
    return NULL;
}

static void start(pthread_t *thread, void *(*run)(void *), void *arg)
{
    if (pthread_create(thread, NULL, run, arg) != 0)
        errx(2, "no thread");
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
    pthread_t thread;
    p->to = dial(port);
    say(p->to, "");
    fseek(p->to, 0, SEEK_CUR);
    for (unsigned i = 0; i < count; i++) {
        subscribers[i].from = dial(port);
        say(subscribers[i].from, "SUB bench 1\r\n");
        start(&subscribers[i].thread, read_all, &subscribers[i]);
    }
    puts("publishing"); /* SIGTERM ends it well from here on */
    fflush(stdout);
    start(&thread, publish, p);
    pthread_join(thread, NULL);
    for (unsigned i = 0; i < count; i++) {
        pthread_join(subscribers[i].thread, NULL);
        for (unsigned k = 0; k < METER_BUCKETS; k++)
            times[k] += subscribers[i].times[k];
    }
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
