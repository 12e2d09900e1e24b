/* SPDX-License-Identifier: MIT
 * Durable store: state.db in a private directory. Migrates the schema, checks after an unclean
 * stop, sets a damaged file aside, runs transactions with a stated durability. One thread at a
 * time. */
#ifndef IO_STORE_STORE_H
#define IO_STORE_STORE_H

#include "io/store/sql.h"

struct store;

struct store_spec {
    const char *dir;
    /* Step i migrates version i to version i+1, including `pragma user_version`;
     * NULL-terminated. */
    const char *const *schema;
    /* Opens the database beside a process that owns it: without lock, creation, check, repair and
     * migration; the schema must be the newest. For few, small transactions. */
    bool beside;
    /* Or NULL: becomes true if another process has the directory. */
    bool *in_use;
    /* Tests only, or NULL: called at each named point, with the store open. */
    void (*point)(void *ctx, struct sql *db, const char *name);
    void *ctx;
};

enum store_commit {
    STORE_NORMAL,          /* survives the death of the process; the last transactions may be lost
                            * at a power failure */
    STORE_DURABLE,         /* on disk before the call returns */
    STORE_DURABLE_RESERVE, /* durable, and uses the reserve if the disk is full */
};

/* Locks the directory, checks the file after an unclean stop and before a migration, and makes a
 * backup before it migrates. A damaged file is moved to state.db.bad.TIME, and its readable rows
 * are copied into a new one (sqlite_salvage.h); the log says how many. Refuses a newer schema or
 * file format. Ignores SIGXFSZ from here on, so that a file size limit acts like a full disk and
 * does not kill the process. */
struct store *store_open(const struct store_spec *spec, struct tc_err *err);
/* Checks an unused database: its version, pages and tables. Changes nothing. */
int store_check_file_whole(const char *file, const char *const *schema,
                           struct tc_err *err) MUST_CHECK;
/* NULL is allowed. */
void store_close(struct store *s);

struct sql *store_get_sql(struct store *s);
/* Whether the last owner of the directory stopped without closing the store. */
bool store_was_unclean(const struct store *s);

/* Runs body in a transaction: committed when it returns 0, else as if it had never run. If a write
 * fails for lack of space, the transaction is repeated once, and for STORE_DURABLE_RESERVE once
 * more with the reserve; so body may run three times. -1 with the reason in store_failure; repeated
 * failures of the same kind are logged once. */
int store_transact(struct store *s, enum store_commit how, int (*body)(struct sql *db, void *ctx),
                   void *ctx) MUST_CHECK;
/* Why the last transaction failed. */
enum sql_failure store_failure(const struct store *s);
/* Records that the contents are inconsistent, so that the next start checks the file as after an
 * unclean stop. */
void store_mark_damaged(struct store *s);
/* Call it when idle: checkpoints the log, and recreates a used reserve. */
void store_checkpoint(struct store *s);
/* Passes a named point. */
void store_pass_test_point(struct store *s, const char *name);

#endif
