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
/* Sound files of one prompt; further ones stay files. */
#define TRANSCRIPTION_FILES 10

struct transcription;

/* Borrowed for the call, except the agent. */
struct transcription_spec {
    char *const *command;           /* command of the instance; the path of the file is appended */
    const struct conf_agent *agent; /* must live until transcription_free */
    const char *dir;                /* only files below this directory, because a person can write
                                     * any path */
    const char *turn;               /* id of the turn */
    struct str prompt;
};

/* Whether the prompt has a sound file. */
bool transcription_is_wanted(const char *dir, struct str prompt);
/* `done` is called once, from the loop and not from within this call; the text is borrowed. Then
 * call transcription_free. */
struct transcription *transcription_start(struct loop *l, const struct transcription_spec *spec,
                                          void (*done)(void *ctx, struct str prompt), void *ctx);
/* Stops: remaining files stay files; `done` follows soon. */
void transcription_cancel(struct transcription *t);
/* Ends the running program; `done` is not called any more. NULL is allowed. */
void transcription_free(struct transcription *t);

#endif
