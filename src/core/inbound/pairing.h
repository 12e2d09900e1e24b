/* SPDX-License-Identifier: MIT
 * People who may write beside those of `allow`: a stranger gets a code in a direct chat, the
 * operator enters it. Codes are random, valid for an hour, one of a person at a time; their number
 * and that of wrong attempts is limited. Kept in the journal. Loop thread only. */
#ifndef CORE_INBOUND_PAIRING_H
#define CORE_INBOUND_PAIRING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/shared/shared_settings.h"
#include "io/journal/journal_async.h"

#define PAIRING_CODE_LEN 8
#define PAIRING_CODE_MS ((int64_t)3600 * 1000)  /* a code is valid */
#define PAIRING_CODES_MAX 20                    /* of an instance that are valid at once */
#define PAIRING_PEOPLE_MAX 1000                 /* of all instances */
#define PAIRING_TRIES 10                        /* wrong codes for an instance… */
#define PAIRING_TRIES_MS ((int64_t)3600 * 1000) /* …in this time */

struct pairing;

/* A person who was added. Borrowed for the call. */
struct pairing_person {
    const char *instance, *user;
    const char *name; /* or "" */
    int64_t since_ms; /* Unix */
};

enum pairing_result {
    PAIRING_DONE,
    PAIRING_WRONG,   /* the code is unknown or has expired */
    PAIRING_LIMITED, /* too many wrong codes: no code is taken for a while */
    PAIRING_FULL,    /* too many people */
};

/* Reads what is kept, so at the start. Borrows the journal. */
struct pairing *pairing_new(struct journal_async *journal);
void pairing_free(struct pairing *p); /* NULL is fine */

/* The people, not the codes, are those of all hosts from now on. While the host starts. */
void pairing_join(struct pairing *p, struct shared_settings *shared);

bool pairing_has(const struct pairing *p, const char *instance, const char *user);
/* A code for a person (name or NULL) who is not listed; borrowed until the next call. NULL: a code
 * of this hour is there already, or too many are. */
const char *pairing_offer(struct pairing *p, const char *instance, const char *user,
                          const char *name);
/* Adds the person with that code, of whom `person` is filled; when the addition is on disk, `done`
 * is called. Only with PAIRING_DONE. */
enum pairing_result pairing_accept(struct pairing *p, const char *instance, const char *code,
                                   struct pairing_person *person, journal_done_fn *done, void *ctx);
/* False: the person was not added. `done` as above. */
bool pairing_revoke(struct pairing *p, const char *instance, const char *user,
                    journal_done_fn *done, void *ctx);
void pairing_each(const struct pairing *p,
                  void (*each)(void *ctx, const struct pairing_person *person), void *ctx);
/* Codes that are valid, of all instances. */
size_t pairing_count_codes(struct pairing *p);

#endif
