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
    /* Step i brings version i to version i+1, `pragma user_version` included; NULL-terminated. */
    const char *const *schema;
    /* Beside a process that has it: nothing is locked, made, checked, mended or migrated, and the
     * schema has to be the newest. For few, small transactions. */
    bool beside;
    /* Or NULL: becomes true when it cannot be opened because another process has the folder. */
    bool *in_use;
    /* Tests only, or NULL: told each named point that is passed, with the store open. */
    void (*point)(void *ctx, struct sql *db, const char *name);
    void *ctx;
};

enum store_commit {
    STORE_NORMAL,          /* survives the death of the process, the last ones not a power loss */
    STORE_DURABLE,         /* on disk before it returns */
    STORE_DURABLE_RESERVE, /* durable, and spends the reserve when the disk is full */
};

/* Takes the folder's lock, checks the file after an unclean stop and before a migration, and
 * migrates after a backup. A damaged file is moved to state.db.bad.TIME, and its readable rows are
 * copied into a new one (sqlite_salvage.h); the log says how many. Refuses a newer schema or file
 * format. SIGXFSZ is ignored from here on: a file size limit is a full disk, not a death. */
struct store *store_open(const struct store_spec *spec, struct tc_err *err);
/* Checks a database that nobody uses: its version, pages and tables. Changes nothing. */
int store_check_file_whole(const char *file, const char *const *schema,
                           struct tc_err *err) MUST_CHECK;
/* NULL is fine. */
void store_close(struct store *s);

struct sql *store_get_sql(struct store *s);
/* The last owner of the folder stopped without closing. */
bool store_was_unclean(const struct store *s);

/* Runs body in a transaction: committed when it returns 0, else as if it had never run. When a
 * write fails for lack of space, the transaction is repeated once, and for STORE_DURABLE_RESERVE
 * once more with the reserve; so body can run three times. -1 with the reason in store_failure;
 * repeated failures of the same kind are logged once. */
int store_transact(struct store *s, enum store_commit how, int (*body)(struct sql *db, void *ctx),
                   void *ctx) MUST_CHECK;
/* Why the last transaction failed. */
enum sql_failure store_failure(const struct store *s);
/* Records that the contents are inconsistent, so that the next start checks the file as after an
 * unclean stop. */
void store_mark_suspect(struct store *s);
/* When nothing else is to do: brings the log into the file, and lays a spent reserve up again. */
void store_checkpoint(struct store *s);
/* Passes a named point. */
void store_pass_test_point(struct store *s, const char *name);

#endif
