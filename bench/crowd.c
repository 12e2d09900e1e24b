/* SPDX-License-Identifier: MIT
 * Owns the connections of the clients, and what was said to them. */
#include "bench/crowd.h"

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* What the agents are asked for, bench/ticker. */
#define TICK_BODY "{\"prompt\":\"tick\"}"
#define QUIET_BODY "{\"prompt\":\"tick quiet\"}"
#define READY_MAX 256

enum role { IDLE, WATCHER, ASKER };

struct client {
    struct client *next;
    enum role role;
    int fd;
    bool begun; /* the head of the stream has come */
    size_t len;
    char *text; /* of an asker or watcher: what has not been looked at yet */
};

struct crowd {
    unsigned port;
    int epoll;
    struct client *clients;
    unsigned left; /* turns that are still to be asked for */
    bool quiet;
    struct crowd_count count;
};

#define TEXT_MAX ((size_t)256 << 10)

/* ---- requests ---- */

static int connect_to(unsigned port)
{
    const struct sockaddr_in to = {
        .sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const void *)&to, sizeof to) < 0)
        err(2, "connect");
    return fd;
}

/* HTTP/1.0 when the connection ends with the answer: then it comes without chunks. */
static void send_request(int fd, const char *method, const char *path, const char *body, bool stays)
{
    char text[600];
    const int n = snprintf(text, sizeof text,
                           "%s %s HTTP/1.%d\r\nHost: 127.0.0.1\r\n"
                           "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                           method, path, stays, strlen(body), body);
    if (send(fd, text, (size_t)n, MSG_NOSIGNAL) != n)
        err(2, "send");
}

void crowd_ask_once(const struct crowd *c, const char *method, const char *path, const char *body,
                    char *out, size_t size)
{
    const int fd = connect_to(c->port);
    size_t len = 0;
    ssize_t n;
    send_request(fd, method, path, body, false);
    while (len + 1 < size && (n = read(fd, out + len, size - 1 - len)) > 0)
        len += (size_t)n;
    out[len] = 0;
    close(fd);
}

static struct client *add(struct crowd *c, enum role role)
{
    struct client *const new = calloc(1, sizeof *new);
    if (!new || (role != IDLE && !(new->text = malloc(TEXT_MAX))))
        err(2, "client");
    new->role = role;
    new->fd = connect_to(c->port);
    new->next = c->clients;
    c->clients = new;
    struct epoll_event ready = {.events = EPOLLIN, .data.ptr = new};
    if (epoll_ctl(c->epoll, EPOLL_CTL_ADD, new->fd, &ready) < 0)
        err(2, "epoll_ctl");
    return new;
}

void crowd_add_idle(struct crowd *c, const char *turn)
{
    char path[200];
    snprintf(path, sizeof path, "/turns/%s/events", turn);
    send_request(add(c, IDLE)->fd, "GET", path, "", false);
}

void crowd_add_watcher(struct crowd *c)
{
    send_request(add(c, WATCHER)->fd, "GET", "/turns/events", "", false);
}

static void ask_next(struct crowd *c, const struct client *asker)
{
    if (!c->left)
        return;
    c->left--;
    send_request(asker->fd, "POST", "/turns", c->quiet ? QUIET_BODY : TICK_BODY, true);
}

void crowd_add_turns(struct crowd *c, unsigned turns, unsigned connections, bool quiet)
{
    c->quiet = quiet;
    c->left = turns;
    for (unsigned i = 0; i < connections && c->left; i++)
        ask_next(c, add(c, ASKER));
}

/* ---- answers ---- */

static void leave(struct crowd *c, struct client *client)
{
    c->count.gone += client->begun;
    c->count.refused += !client->begun && client->role != ASKER;
    close(client->fd);
    client->fd = -1;
}

static void begin_stream(struct crowd *c, struct client *client, const char *text, size_t len)
{
    static const char good[] = "HTTP/1.1 200 ";
    if (client->begun)
        return;
    if (len >= sizeof good - 1 && memcmp(text, good, sizeof good - 1) == 0) {
        client->begun = true;
        c->count.open++;
    }
}

static void forget(struct client *client, size_t n)
{
    client->len -= n;
    memmove(client->text, client->text + n, client->len);
    client->text[client->len] = 0;
}

static void note_turn(struct crowd *c, const char *line)
{
    if (!strstr(line, "\"task\":\"tick"))
        return;
    c->count.running += strstr(line, "\"state\":\"running\"") != NULL;
    c->count.final += strstr(line, "\"state\":\"final\"") != NULL;
    c->count.error += strstr(line, "\"state\":\"error\"") != NULL;
}

static void read_list(struct crowd *c, struct client *client)
{
    char *line = client->text;
    for (char *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        note_turn(c, line);
    }
    forget(client, (size_t)(line - client->text));
}

/* An answer is head and body; the length of the body is known. */
static void read_answers(struct crowd *c, struct client *client)
{
    for (const char *body; (body = strstr(client->text, "\r\n\r\n"));) {
        static const char field[] = "Content-Length: ";
        const char *const at = strcasestr(client->text, field);
        const size_t head = (size_t)(body + 4 - client->text);
        const size_t n = at && at < body ? strtoul(at + sizeof field - 1, NULL, 10) : 0;
        if (client->len < head + n)
            return;
        ++*(strncmp(client->text, "HTTP/1.1 202 ", 13) == 0 ? &c->count.accepted
                                                            : &c->count.refused);
        forget(client, head + n);
        ask_next(c, client);
    }
}

static void hear(struct crowd *c, struct client *client)
{
    char scratch[4096];
    char *const to = client->text ? client->text + client->len : scratch;
    const size_t room = client->text ? TEXT_MAX - 1 - client->len : sizeof scratch;
    const ssize_t n = read(client->fd, to, room);
    if (n <= 0) {
        leave(c, client);
        return;
    }
    if (client->role != ASKER)
        begin_stream(c, client, to, (size_t)n);
    if (!client->text)
        return;
    client->len += (size_t)n;
    client->text[client->len] = 0;
    (client->role == ASKER ? read_answers : read_list)(c, client);
}

void crowd_step(struct crowd *c, int ms)
{
    struct epoll_event ready[READY_MAX];
    const int n = epoll_wait(c->epoll, ready, READY_MAX, ms);
    if (n < 0 && errno != EINTR)
        err(2, "epoll_wait");
    for (int i = 0; i < n; i++)
        hear(c, ready[i].data.ptr);
}

const struct crowd_count *crowd_look(const struct crowd *c)
{
    return &c->count;
}

/* ---- beginning and end ---- */

struct crowd *crowd_new(unsigned port)
{
    struct crowd *const c = calloc(1, sizeof *c);
    if (!c || (c->epoll = epoll_create1(EPOLL_CLOEXEC)) < 0)
        err(2, "crowd");
    c->port = port;
    return c;
}

void crowd_free(struct crowd *c)
{
    while (c->clients) {
        struct client *const client = c->clients;
        c->clients = client->next;
        if (client->fd >= 0)
            close(client->fd);
        free(client->text);
        free(client);
    }
    close(c->epoll);
    free(c);
}
