/* SPDX-License-Identifier: MIT
 * Settings that all hosts on the bus share: a copy in the journal of each host, and the versions on
 * the servers, in the bucket of settings. A change of one host is sent to all others. A change
 * without a connection is kept in the journal, and stored on the servers later; hosts restore
 * values that the servers have lost. shared_entry.h says which of two versions counts. Loop thread
 * only.
 *
 * Each user of this module owns the keys of one prefix, and keeps their values in its own store. */
#ifndef CORE_SHARED_SHARED_SETTINGS_H
#define CORE_SHARED_SHARED_SETTINGS_H

#include "core/bus/bus.h"
#include "io/journal/journal_async.h"

#define SHARED_SETTINGS_MAX 30000 /* limit of known keys, deleted ones included */

struct shared_settings;
struct shared_user;

struct shared_user_spec {
    const char *prefix; /* such as "pair."; no other user's prefix begins with it; borrowed */
    /* Another host has set this JSON value, or, NULL, deleted the key. Must not call shared_put. */
    void (*changed)(void *ctx, const char *key, const char *host, const char *value);
    /* All versions of the servers were reported; or NULL. Called before the callback of the
     * owner. */
    void (*known)(void *ctx);
    void *ctx;
};

/* Reads the copy: waits for the disk. Borrows both. `known` is called whenever all versions of the
 * servers were reported. */
struct shared_settings *shared_settings_new(struct bus *b, struct journal_async *journal,
                                            void (*known)(void *ctx), void *ctx);
void shared_settings_free(struct shared_settings *s); /* call it before the bus is freed. NULL is
                                                       * allowed */
/* Whether all versions of the servers were reported since the connection began. */
bool shared_settings_is_known(const struct shared_settings *s);

/* Call it while the host starts, before the loop runs. The user must then compare its store with
 * the copy, and put every value that differs, because it was changed while there was no bus. */
struct shared_user *shared_user_join(struct shared_settings *s,
                                     const struct shared_user_spec *spec);
/* The value; NULL: none. Borrowed until it changes. */
const char *shared_get(const struct shared_user *u, const char *key);
/* Sets another JSON value, or deletes it (NULL). No effect if the value is unchanged. The key
 * consists of tokens (bus_kv.h). */
void shared_put(struct shared_user *u, const char *key, const char *value);
/* Calls `each` for each key with a value; the value may be changed in the call. */
void shared_each(struct shared_user *u, void (*each)(void *ctx, const char *key, const char *value),
                 void *ctx);
/* The text of a member of a value, to be freed; NULL: absent. */
char *shared_read_text(const char *value, const char *pointer);

#endif
