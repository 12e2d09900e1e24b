/* SPDX-License-Identifier: MIT
 * Stands in for the ledger (by the linker): keeps turns and values in memory, answers through the
 * loop, and fails when it is told to. */
#ifndef TESTS_CORE_FAKE_LEDGER_H
#define TESTS_CORE_FAKE_LEDGER_H

#include "io/journal/journal_async.h"

#define FAKE_TURNS 200
#define FAKE_PAIRS 100

struct fake_turn {
    char id[40], conv[100], source[40], msg_id[40], also[40];
    char state[12]; /* waiting running ended merged cancelled removed */
    char error[40]; /* its code when it has ended so */
    char seen[40];
    char *prompt, *route, *instances;
    int64_t pid, start;
    unsigned targets; /* rows laid with its outcome */
};

struct fake_pair {
    char *key, *value;
};

struct journal_async {
    struct loop *loop;
    size_t pending; /* answers that are on their way */
    struct fake_turn turns[FAKE_TURNS];
    size_t n;
    char key[100], value[100];          /* of the session that was kept last */
    struct fake_pair pairs[FAKE_PAIRS]; /* all others */
    int waiting;                        /* processes that are noted as waiting */
    enum journal_status admits, ends;   /* JOURNAL_DONE: as it should be */
    unsigned letters;                   /* that a turn has */
    char resent[100];                   /* of which they were sent again: "conn turn lane" */
    bool holds;                         /* end_turn answers when it is let go */
    journal_done_fn *held;
    void *held_ctx;
};

void fake_ledger_fini(struct journal_async *l);
/* Lets the outcome go that is held. */
void fake_ledger_release(struct journal_async *l);
/* The states of all turns in their order, a blank between them; static. */
const char *fake_ledger_states(const struct journal_async *l);

#endif
