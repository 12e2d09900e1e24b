/* SPDX-License-Identifier: MIT
 * What must hold after a host was killed again and again, as questions to its state and to the
 * files outside of it. */
#ifndef TESTS_IO_KILL_CHECK_H
#define TESTS_IO_KILL_CHECK_H

#include "io/store/sql.h"

struct question {
    const char *name, *sql; /* sql gives a number */
};

/* An answer above zero is a broken promise; ends with a row of NULL. */
extern const struct question kill_wrong[];
enum { WRONG_PIECES = 4, WRONG_REPEATS = 8 }; /* rows of it */
/* What happened; the first counts the messages. */
extern const struct question kill_counts[];

/* The state in dir, with the service's file as the table told and that of the source as acked. */
struct sql *kill_load(const char *dir, const char *service, const char *acks, int kills);
int64_t kill_ask(struct sql *db, const char *text);
bool kill_is_sound(struct sql *db);

#endif
