/* SPDX-License-Identifier: MIT
 * Pairing: admits people who are not in `allow`: an unknown person gets a code in a direct chat,
 * and the operator enters it. Codes are random and valid for an hour; each person has one at a
 * time; the numbers of codes and wrong attempts are limited. Stored in the journal. Loop thread
 * only. */
#ifndef CORE_INBOUND_PAIRING_H
#define CORE_INBOUND_PAIRING_H

#include <stdbool.h>
#include <stdint.h>

#include "core/shared/shared_settings.h"
#include "io/journal/journal_async.h"

#define PAIRING_CODE_LEN 8
#define PAIRING_CODE_MS ((int64_t)3600 * 1000)  /* validity of a code */
#define PAIRING_CODES_MAX 20                    /* limit of valid codes of an instance */
#define PAIRING_PEOPLE_MAX 1000                 /* limit of paired people of all instances */
#define PAIRING_TRIES 10                        /* limit of wrong codes for an instance… */
#define PAIRING_TRIES_MS ((int64_t)3600 * 1000) /* …within this time */

struct pairing;

/* A paired person. Borrowed for the call. */
struct pairing_person {
    const char *instance, *user;
    const char *name; /* or "" */
    int64_t since_ms; /* Unix time */
};

enum pairing_result {
    PAIRING_DONE,
    PAIRING_WRONG,   /* the code is unknown or has expired */
    PAIRING_LIMITED, /* too many wrong codes: codes are refused for a while */
    PAIRING_FULL,    /* too many paired people */
};

/* Reads stored people; call it at the start. Borrows the journal. */
struct pairing *pairing_new(struct journal_async *journal);
void pairing_free(struct pairing *p); /* NULL is allowed */

/* Shares the people, but not the codes, with all hosts. Call it while the host starts. */
void pairing_join(struct pairing *p, struct shared_settings *shared);

bool pairing_has(const struct pairing *p, const char *instance, const char *user);
/* A code for a person (name or NULL) who is not listed; borrowed until the next call. NULL: a valid
 * code exists already, or there are too many. */
const char *pairing_offer(struct pairing *p, const char *instance, const char *user,
                          const char *name);
/* Pairs the person with that code, who is returned in `person`; `done` is called when the change is
 * on disk; only with PAIRING_DONE. */
enum pairing_result pairing_accept(struct pairing *p, const char *instance, const char *code,
                                   struct pairing_person *person, journal_done_fn *done, void *ctx);
/* Revokes. False: the person was not paired. `done` as above. */
bool pairing_revoke(struct pairing *p, const char *instance, const char *user,
                    journal_done_fn *done, void *ctx);
void pairing_each(const struct pairing *p,
                  void (*each)(void *ctx, const struct pairing_person *person), void *ctx);
/* Number of valid codes of all instances. */
size_t pairing_count_codes(struct pairing *p);

#endif
