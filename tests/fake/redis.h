/* SPDX-License-Identifier: MIT
 * For tests: a real redis-server on a socket of this test, and one that is played. */
#ifndef TESTS_FAKE_REDIS_H
#define TESTS_FAKE_REDIS_H

#include <stdbool.h>
#include <stddef.h>

/* ---- the real one: redis-server, which keeps what it is told across its death */

/* False: it is not installed. Skips or bails on its own account are the caller's. */
bool redis_is_installed(void);
/* Its socket; static. The server may be there or not. */
const char *redis_socket(void);
/* Starts it and waits until it answers. `option` and `value`: one more of its options, or NULL. */
void redis_start(const char *option, const char *value);
/* Kills it, by its process id. */
void redis_kill(void);
/* What redis-cli prints for this command line of the shell, without the last newline; static. */
const char *redis_cli(const char *format, ...) __attribute__((__format__(__printf__, 1, 2)));

/* ---- the played one: a thread that says the same to whatever it is sent */

struct played {
    const char *bytes; /* what it says; the size 0: nothing */
    size_t size;
    bool drips;  /* a byte each 20 ms */
    bool closes; /* behind them */
};

/* Its socket; static. Once. */
const char *redis_play(void);
void redis_plays(struct played what);
/* So many connections there were. */
unsigned redis_play_count(void);
void redis_play_end(void);

#endif
