/* SPDX-License-Identifier: MIT
 * For tests: a real redis-server on a socket of the test, and a fake one. */
#ifndef TESTS_FAKE_REDIS_H
#define TESTS_FAKE_REDIS_H

#include <stdbool.h>
#include <stddef.h>

/* ---- the real server: redis-server, whose data survive a kill */

/* Returns false if it is not installed. The caller skips or bails out. */
bool redis_is_installed(void);
/* Returns the path of its socket, valid for ever. The server need not be running. */
const char *redis_socket(void);
/* Starts the server and waits until it answers. `option` and `value`: an additional option, or
 * NULL. */
void redis_start(const char *option, const char *value);
/* Kills the server by its process id. */
void redis_kill(void);
/* Returns the output of redis-cli for this shell command line, without the last newline, valid
 * until the next call. */
const char *redis_cli(const char *format, ...) __attribute__((__format__(__printf__, 1, 2)));

/* ---- the fake server: a thread that sends the same response to all requests */

struct played {
    const char *bytes; /* the response; size 0: none */
    size_t size;
    bool drips;  /* a byte every 20 ms */
    bool closes; /* closes the connection after the response */
};

/* Starts the server once. Returns the path of its socket. */
const char *redis_play(void);
void redis_plays(struct played what);
/* Returns the number of connections. */
unsigned redis_play_count(void);
void redis_play_end(void);

#endif
