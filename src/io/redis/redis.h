/* SPDX-License-Identifier: MIT
 * Blocking Redis client connection with a deadline per call (200 ms) and fast failure
 * during outages. One thread at a time. */
#ifndef IO_REDIS_REDIS_H
#define IO_REDIS_REDIS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/sys/err.h"

/* Deadline of a call, including connection and all replies. */
#define REDIS_CALL_MS 200
#define REDIS_REPLY_MAX ((size_t)1 << 20) /* limit of the replies of a call */

struct redis_client;

struct redis_spec {
    const char *host, *path; /* one of them is NULL; path is that of a Unix socket */
    uint16_t port;
    const char *password; /* or NULL */
    int64_t database;
    int64_t call_ms;  /* 0: REDIS_CALL_MS */
    size_t reply_max; /* 0: REDIS_REPLY_MAX */
};

/* The words of a command; the list ends with NULL. */
struct redis_command {
    const char *const *words;
};

struct redis_reply {
    enum { REDIS_NOTHING, REDIS_TEXT, REDIS_NUMBER, REDIS_LIST, REDIS_WRONG_TYPE } type;
    struct str text; /* NUL-terminated */
    int64_t number;
    const struct redis_reply *items;
    size_t n;
};

/* Connects at the first call. Borrows the texts. Ignores SIGPIPE for the whole process. */
struct redis_client *redis_new(const struct redis_spec *spec);
void redis_free(struct redis_client *r); /* NULL is allowed */

/* Sends the commands at once, reads one reply for each into replies (all of it in the arena). -1
 * with err: the server is unreachable, too slow, sends invalid data, or refuses a command because
 * of its state (READONLY, LOADING, NOAUTH…); the connection is closed then, and the commands may
 * have been executed or not. WRONGTYPE is a normal reply. After a failure, calls fail at once until
 * redis_reconnect_delay_ms has passed. Start and end of an outage are logged. */
int redis_call_pipeline(struct redis_client *r, const struct redis_command *commands, size_t n,
                        struct arena *a, struct redis_reply *replies,
                        struct tc_err *err) MUST_CHECK;
/* Time until the next call would try to connect; 0: now, or connected. */
int64_t redis_reconnect_delay_ms(const struct redis_client *r);
/* Whether the last call failed. */
bool redis_is_down(const struct redis_client *r);

#endif
