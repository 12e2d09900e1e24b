/* SPDX-License-Identifier: MIT
 * Tokens and cost that agents reported: of the last turn and of all turns of a conversation, and of
 * a day of an instance (local time). Stored in the journal. Loop thread only. */
#ifndef CORE_SETTINGS_USAGE_LOG_H
#define CORE_SETTINGS_USAGE_LOG_H

#include <stdbool.h>

#include "base/str.h"
#include "io/journal/journal_async.h"

struct usage_log;

struct usage_sum {
    int64_t turns;         /* number of ended turns */
    int64_t counted;       /* turns whose agent reported tokens */
    int64_t input, output; /* tokens; input includes cache reads and writes */
    int64_t priced;        /* turns whose agent reported a cost */
    int64_t micros;        /* cost in millionths of a US dollar */
};

/* Valid for the call. */
struct usage_report {
    struct usage_sum last, conversation, today;
};

/* Reads the sums of instances; call it at the start. Borrows the journal. */
struct usage_log *usage_log_new(struct journal_async *journal);
/* Call it after the journal was closed. NULL is allowed. */
void usage_log_free(struct usage_log *u);

/* The sum of one turn from turn_result.usage (or empty). */
struct usage_sum usage_log_read_turn(struct str usage);
/* A turn of a conversation of that instance has ended. */
void usage_log_add(struct usage_log *u, const char *instance, const char *conversation,
                   const struct usage_sum *turn);
/* `done` is called once, from the loop. */
void usage_log_report(struct usage_log *u, const char *instance, const char *conversation,
                      void (*done)(void *ctx, const struct usage_report *report), void *ctx);

#endif
