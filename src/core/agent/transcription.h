/* SPDX-License-Identifier: MIT
 * Turns voice and audio files of a prompt into text: a configured program gets each file and prints
 * what is said in it, which takes the place of the file's line. It runs as the agent would: same
 * user, limits and environment, below a shim of its own, with a deadline and a cap on its output. A
 * file that cannot be transcribed stays a file, with a note. Loop thread only. */
#ifndef CORE_AGENT_TRANSCRIPTION_H
#define CORE_AGENT_TRANSCRIPTION_H

#include "base/str.h"
#include "conf/conf.h"
#include "io/loop/loop.h"

#define TRANSCRIPTION_MS 120000                /* of one file */
#define TRANSCRIPTION_BYTES ((size_t)64 << 10) /* of one text */
#define TRANSCRIPTION_FILES 10                 /* of one prompt; others stay files */

struct transcription;

/* Borrowed for the call, but the agent. */
struct transcription_spec {
    char *const *command;           /* of the instance; the path of the file is added */
    const struct conf_agent *agent; /* lives until transcription_free */
    const char *dir;                /* only files below it: a person can write any path */
    const char *turn;               /* id */
    struct str prompt;
};

/* Whether the prompt has such a file. */
bool transcription_is_wanted(const char *dir, struct str prompt);
/* `done` is called once, from the loop and not from within this call; the text is borrowed. Then
 * transcription_free. */
struct transcription *transcription_start(struct loop *l, const struct transcription_spec *spec,
                                          void (*done)(void *ctx, struct str prompt), void *ctx);
/* The files that are left stay files; `done` comes soon. */
void transcription_cancel(struct transcription *t);
/* Ends what runs; `done` is not called any more. NULL is fine. */
void transcription_free(struct transcription *t);

#endif
