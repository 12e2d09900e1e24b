/* SPDX-License-Identifier: MIT
 * The switches of agents in a small database of the state directory, which commands open beside a
 * running host. It is the store, or the copy of one elsewhere. Any thread. */
#ifndef CORE_SETTINGS_VISIBILITY_SQLITE_H
#define CORE_SETTINGS_VISIBILITY_SQLITE_H

#include "base/attr.h"
#include "base/sys/err.h"
#include "turn/visibility/visibility.h"

struct visibility_row {
    struct visibility shown; /* resolved */
    int64_t saved_ms;        /* Unix milliseconds */
    bool unsaved;            /* it is a copy, and the store elsewhere does not have it yet */
};

/* 1: read; 0: nothing is stored; -1: it cannot be read. Makes nothing. */
int visibility_sqlite_read(const char *dir, const char *agent, struct visibility_row *row,
                           struct tc_err *err) MUST_CHECK;
/* On disk when it returns 0. Makes what is missing (0700, 0600). A damaged file is kept beside
 * the new one as visibility.db.damaged. */
int visibility_sqlite_write(const char *dir, const char *agent, const struct visibility_row *row,
                            struct tc_err *err) MUST_CHECK;
/* Calls each with every agent whose row is unsaved. -1: it cannot be read. */
int visibility_sqlite_each_unsaved(const char *dir, void (*each)(void *ctx, const char *agent),
                                   void *ctx, struct tc_err *err) MUST_CHECK;

#endif
