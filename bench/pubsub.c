/* SPDX-License-Identifier: MIT
 * pubsub PORT RATE SECONDS: the floor under events between hosts. One connection to a NATS server
 * publishes messages of 300 bytes at a pace, another one is subscribed to them: the time from
 * before the write until the message has been read. */
#include <arpa/inet.h>
#include <err.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/meter.h"
#include "bench/pace.h"
#include "bench/percentile.h"

#define PAYLOAD 300

struct pubsub {
    FILE *to;
    uint64_t rate, rounds;
};

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
    const struct pubsub *const p = arg;
    const int64_t began = pace_now();
    char body[PAYLOAD + 1];
    for (uint64_t i = 0; i < p->rounds; i++) {
        pace_sleep_until(began + (int64_t)i * PACE_SECOND / (int64_t)p->rate);
        snprintf(body, sizeof body, "%-*" PRId64, PAYLOAD, pace_now());
        fprintf(p->to, "PUB bench %d\r\n%s\r\n", PAYLOAD, body);
        fflush(p->to);
    }
    return NULL;
}

static void read_all(FILE *from, uint64_t rounds, uint64_t *times)
{
    char line[1000];
    for (uint64_t i = 0; i < rounds && fgets(line, sizeof line, from);) {
        if (strncmp(line, "PING", 4) == 0 && write(fileno(from), "PONG\r\n", 6) != 6)
            err(2, "write");
        if (*line < '0' || *line > '9')
            continue;
        times[meter_bucket((uint64_t)pace_now() - strtoull(line, NULL, 10))]++;
        i++;
    }
}

int main(int argc, char **argv)
{
    static uint64_t times[METER_BUCKETS];
    struct pubsub p = {0};
    pthread_t thread;
    if (argc != 4)
        errx(2, "pubsub PORT RATE SECONDS");
    const unsigned port = (unsigned)strtoul(argv[1], NULL, 10);
    p.rate = strtoull(argv[2], NULL, 10);
    p.rounds = p.rate * strtoull(argv[3], NULL, 10);
    p.to = dial(port);
    FILE *const from = dial(port);
    say(from, "SUB bench 1\r\n");
    say(p.to, "");
    fseek(p.to, 0, SEEK_CUR);
    if (!p.rate || pthread_create(&thread, NULL, publish, &p) != 0)
        errx(2, "pubsub PORT RATE SECONDS");
    read_all(from, p.rounds, times);
    pthread_join(thread, NULL);
    percentile_print("pubsub", times);
    return 0;
}
