/* SPDX-License-Identifier: MIT
 * Recorded dialogs of agents (tests/dialogs/) through the executor: the fake agent speaks the
 * recorded side and checks ours, which makes the decisions of the recording the moment a request
 * opens. What our host does otherwise than the program that was recorded is in each row, in words
 * of the fake (tests/fake/dialog.py). */
#ifndef TESTS_CORE_DIALOGS_H
#define TESTS_CORE_DIALOGS_H

#include "core/stage.h"

#define DIALOG_WORDS 8
#define DIALOG_ASKS 4

struct dialog_row {
    const char *name;
    const char *outcome;  /* as the cast log has it */
    const char *requests; /* "?Tool" opened, "=decision" resolved; NULL: none */
    struct request_decision decisions[DIALOG_ASKS]; /* of the first ones */
    const char *words[DIALOG_WORDS];
    const char *message;    /* NULL: that of the set */
    const char *mode;       /* or NULL */
    const char *session_id; /* that is resumed, or NULL */
    const char *cancel_at; /* once the log has that, and all is decided, it is cancelled; or NULL */
    const char *also;      /* the log has that, too; or NULL */
    bool backwards;        /* decided once all have opened, the last one first */
    bool other_end;        /* it ends otherwise than in the recording */
};

struct dialog_set {
    const char *dialect; /* and folder */
    const char *message;
    const char *words[DIALOG_WORDS]; /* for all of them */
    bool own_ids;                    /* the ids of our requests are in what is told as raw */
    const struct dialog_row *rows;
    size_t count;
};

/* One row after the other, and whether each recording has one. */
void dialogs_play(const struct dialog_set *set);

#define ALLOW                                                                                      \
    {                                                                                              \
        .choice = "allow"                                                                          \
    }
#define DENY(why)                                                                                  \
    {                                                                                              \
        .choice = "deny", .text = why                                                              \
    }
#define STOP(why)                                                                                  \
    {                                                                                              \
        .choice = "deny_stop", .text = why                                                         \
    }

#endif
