/* SPDX-License-Identifier: MIT
 * Checkers of the output formats, one per format, written from the documentation of the system that
 * reads it and not from our writers. jansson reads the lines. */
#ifndef TESTS_DIALECT_CONFORM_H
#define TESTS_DIALECT_CONFORM_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Properties of the turn, from its canonical events. */
struct conform_turn {
    char *final;      /* NULL if the turn ended with an error */
    bool by_host;     /* the host has put the final into words; formats of others leave it out */
    double cost_usd;  /* cost of the turn; negative: unknown */
    bool failed;      /* the turn ended with an error */
    bool retracts;    /* the turn retracts text of the agent */
    bool resumes;     /* the turn has the result of a call of an earlier turn */
    bool has_orphans; /* a sub-agent belongs to no call of the turn */
    char reason[16];  /* of done */
};

struct conform {
    const struct conform_turn *turn;
    json_t *lines; /* array of objects */
    char why[400]; /* the first violation, or "" */
};

/* Notes a violation in line i (counted from 0); only the first is kept. */
void conform_fail(struct conform *c, size_t i, const char *fmt, ...)
    __attribute__((__format__(__printf__, 3, 4)));
/* Members of a line; a member that is missing or of another type is a violation. "" and NULL then.
 */
const char *conform_text(struct conform *c, size_t i, const json_t *object, const char *key);
double conform_number(struct conform *c, size_t i, const json_t *object, const char *key);
json_int_t conform_count(struct conform *c, size_t i, const json_t *object, const char *key);
bool conform_bool(struct conform *c, size_t i, const json_t *object, const char *key);
json_t *conform_object(struct conform *c, size_t i, const json_t *object, const char *key);
/* An optional member: if it is there, it is a string. NULL: it is not there. */
const char *conform_maybe_text(struct conform *c, size_t i, const json_t *object, const char *key);
bool conform_is_one_of(const char *text, const char *const *known);
/* Appends to a text that is free()d by the caller. */
void conform_append(char **text, const char *more);
/* The costs of the usage lines add up to that of the turn. */
void conform_sum(struct conform *c, double sum);

struct conform_format {
    const char *writer;
    bool is_answer; /* the response to a client of the API */
    void (*check)(struct conform *c);
};
/* One per file conform_NAME.c. */
void conform_agenticore(struct conform *c);
void conform_ag_ui(struct conform *c);
void conform_reasonix(struct conform *c);
void conform_ethos(struct conform *c);
void conform_awaken(struct conform *c);
void conform_missy_json(struct conform *c);
void conform_missy_audit(struct conform *c);
void conform_otlp(struct conform *c);

#endif
