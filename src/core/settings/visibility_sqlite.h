/* SPDX-License-Identifier: MIT
 * Visibility of agents in a small database in the state directory, which commands also open while a
 * host runs. Either the store, or a copy of a store elsewhere. Any thread. */
#ifndef CORE_SETTINGS_VISIBILITY_SQLITE_H
#define CORE_SETTINGS_VISIBILITY_SQLITE_H

#include "base/attr.h"
#include "base/sys/err.h"
#include "turn/visibility/visibility.h"

struct visibility_row {
    struct visibility shown; /* resolved */
    int64_t saved_ms;        /* Unix milliseconds */
    bool unsaved;            /* a copy that the store elsewhere does not have yet */
};

/* 1: read; 0: nothing is stored; -1: unreadable. Creates no file. */
int visibility_sqlite_read(const char *dir, const char *agent, struct visibility_row *row,
                           struct tc_err *err) MUST_CHECK;
/* The data is on disk when it returns 0. Creates missing files (0700, 0600). Keeps a damaged file
 * as visibility.db.damaged beside the new one. */
int visibility_sqlite_write(const char *dir, const char *agent, const struct visibility_row *row,
                            struct tc_err *err) MUST_CHECK;
/* Calls `each` for every agent whose row is unsaved. -1: unreadable. */
int visibility_sqlite_each_unsaved(const char *dir, void (*each)(void *ctx, const char *agent),
                                   void *ctx, struct tc_err *err) MUST_CHECK;

#endif
