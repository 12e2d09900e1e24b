/* SPDX-License-Identifier: MIT
 * The conditions that hold after a host was killed again and again, as queries of its state and of
 * files outside of it. */
#ifndef TESTS_IO_KILL_CHECK_H
#define TESTS_IO_KILL_CHECK_H

#include "io/store/sql.h"

struct question {
    const char *name, *sql; /* sql yields a number */
};

/* A result above zero is an error; the last row has NULL. */
extern const struct question kill_wrong[];
enum { WRONG_PIECES = 4, WRONG_REPEATS = 8 }; /* indices of rows */
/* The number of events; the first row counts the messages. */
extern const struct question kill_counts[];

/* Loads the state in dir, the file of the service as the table told, and the file of the source as
 * the table acked. */
struct sql *kill_load(const char *dir, const char *service, const char *acks, int kills);
int64_t kill_ask(struct sql *db, const char *text);
bool kill_is_sound(struct sql *db);

#endif
