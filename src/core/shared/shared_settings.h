/* SPDX-License-Identifier: MIT
 * Settings that all hosts on the bus share: a copy in the journal of each host, and the versions on
 * the servers, in the bucket of settings. What one host puts is told to the others. What is put
 * while there is no connection is in the journal, and is stored when there is one; what the servers
 * have lost comes from the hosts again. shared_entry.h says which of two versions counts. Loop
 * thread only.
 *
 * Each user has the keys of one prefix, and what they stand for in a store of its own. */
#ifndef CORE_SHARED_SHARED_SETTINGS_H
#define CORE_SHARED_SHARED_SETTINGS_H

#include "core/bus/bus.h"
#include "io/journal/journal_async.h"

#define SHARED_SETTINGS_MAX 30000 /* keys that are known, deleted ones among them */

struct shared_settings;
struct shared_user;

struct shared_user_spec {
    const char *prefix; /* such as "pair."; no other user's prefix begins with it; borrowed */
    /* Another host has put this JSON value, or, NULL, deleted the key. Not for shared_put. */
    void (*changed)(void *ctx, const char *key, const char *host, const char *value);
    /* All versions of the servers have been told; or NULL. Before that of the owner. */
    void (*known)(void *ctx);
    void *ctx;
};

/* Reads the copy: waits for the disk. Borrows both. `known` is called each time when all versions
 * of the servers have been told. */
struct shared_settings *shared_settings_new(struct bus *b, struct journal_async *journal,
                                            void (*known)(void *ctx), void *ctx);
void shared_settings_free(struct shared_settings *s); /* before the bus. NULL is fine */
/* All versions of the servers have been told since the connection began. */
bool shared_settings_is_known(const struct shared_settings *s);

/* While the host starts, before the loop runs. Then the user compares: what it has and the copy has
 * not, and the other way round, was changed while there was no bus, and is put. */
struct shared_user *shared_user_join(struct shared_settings *s,
                                     const struct shared_user_spec *spec);
/* The value; NULL: there is none. Borrowed until it changes. */
const char *shared_get(const struct shared_user *u, const char *key);
/* A change on this host: another JSON value, or NULL: none. Nothing if that is what there is. The
 * key is made of tokens (bus_kv.h). */
void shared_put(struct shared_user *u, const char *key, const char *value);
/* Each key that has a value; it may be changed in the call. */
void shared_each(struct shared_user *u, void (*each)(void *ctx, const char *key, const char *value),
                 void *ctx);
/* The text of a member of a value, which is to be freed; NULL: there is none. */
char *shared_read_text(const char *value, const char *pointer);

#endif
