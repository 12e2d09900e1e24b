/* SPDX-License-Identifier: MIT
 * Drives one dialect over one stream: bytes are split into lines elsewhere; here every line is
 * read, mended if it must be, or told as unparsable. Pure. */
#ifndef TURN_TRANSLATOR_H
#define TURN_TRANSLATOR_H

#include <stdint.h>

#include "dialect/dialect.h"
#include "dialect/dialect_sniff.h"
#include "dialect/protocol/sse.h"

struct translate_stats {
    uint64_t lines, repaired, unparsable, dropped;
};

enum translate_framing { TRANSLATE_UNKNOWN, TRANSLATE_LINES, TRANSLATE_FRAMES };

struct translate {
    const struct dialect *dialect; /* NULL until it is known */
    struct sniff sniff;
    enum translate_framing framing; /* the first line tells */
    struct sse sse;
    void *state;
    struct arena scratch;
    struct buf mended;
    struct dialect_out out; /* to forward(), in translator.c */
    void (*emit)(void *ctx, struct event *ev);
    void *ctx;
    void (*split)(void *ctx); /* see translate_split; NULL: the stream is one turn */
    struct translate_stats stats;
    struct buf early; /* lines that are no JSON, from before the first event (the start) */
    uint64_t noisy;   /* lines that are no JSON: the first ones are told, the rest is counted */
    bool unmatched;   /* the dialect is a guess: no line was recognised */
    bool spoken;      /* the dialect has told something */
    bool last_bad;    /* the newest line was not valid */
    bool cut_off;     /* it had no newline either */
    bool ending;      /* the stream is over: a frame that is told now was not terminated */
};

/* Borrows the dialect; NULL: it is found from the first lines. Drafts go to emit(ctx, …). */
void translate_init(struct translate *t, const struct dialect *dialect,
                    void (*emit)(void *ctx, struct event *ev), void *ctx);
void translate_fini(struct translate *t);
/* After translate_end: another turn of the same stream begins, where the dialect can tell turns
 * apart. `by_agent`: without a message of a user. */
void translate_next(struct translate *t, bool by_agent);
/* A line between two turns. True: with it the agent begins a turn by itself; it is to be read after
 * translate_next. */
bool translate_between(struct translate *t, const char *line, size_t len);
/* The stream is read as several turns: split(ctx) is called between two of them, when all of the
 * one that ends has been emitted and nothing of the one that begins. */
void translate_split(struct translate *t, void (*split)(void *ctx));
/* One line without newline. Lines of server-sent events are put together to frames, whose data
 * is then what a line is elsewhere; else blank ones are ignored. A line that the dialect refuses
 * even when mended becomes one notice{warn, unparsable_line} (its first 200 bytes, escaped, in
 * detail), up to a limit: translate_end tells how many more there were; `complete` is false for a
 * last line that had no newline: then it may be a truncated one, and no notice is made. */
void translate_line(struct translate *t, const char *line, size_t len, bool complete);
/* A line over the cap was skipped: notice{warn, line_dropped} with its size. */
void translate_dropped(struct translate *t, uint64_t bytes);
void translate_end(struct translate *t, struct stream_end_info *end);
/* Whether the agent works on behind an answer, which is held. */
enum dialect_work translate_work(const struct translate *t);
/* What is held is told. */
void translate_settle(struct translate *t);
/* No dialect has recognised a line so far, and none was named. */
bool translate_is_unmatched(const struct translate *t);

#endif
