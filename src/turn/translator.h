/* SPDX-License-Identifier: MIT
 * Drives one dialect over one stream: detects the dialect and the framing, repairs broken lines
 * once, reports what stays unparsable, and emits draft events. Pure. */
#ifndef TURN_TRANSLATOR_H
#define TURN_TRANSLATOR_H

#include <stdint.h>

#include "dialect/dialect.h"
#include "dialect/dialect_sniff.h"
#include "dialect/protocol/sse.h"

struct translator_stats {
    uint64_t lines, repaired, unparsable, dropped;
};

enum translate_framing { TRANSLATE_UNKNOWN, TRANSLATE_LINES, TRANSLATE_FRAMES };

struct translator {
    const struct dialect *dialect; /* NULL until it is known */
    struct dialect_sniff sniff;
    enum translate_framing framing; /* determined by the first line */
    struct sse_parser sse;
    void *state;
    struct arena scratch;
    struct buf mended;
    struct dialect_sink out; /* to forward(), in translator.c */
    void (*emit)(void *ctx, struct event *ev);
    void *ctx;
    void (*split)(void *ctx); /* see translator_split; NULL: the stream is one turn */
    struct translator_stats stats;
    struct buf early; /* lines that are no JSON, from before the first event (the start) */
    uint64_t noisy;   /* lines that are no JSON: the first ones are told, the rest is counted */
    bool unmatched;   /* the dialect is a guess: no line was recognised */
    bool spoken;      /* the dialect has told something */
    bool last_bad;    /* the newest line was not valid */
    bool cut_off;     /* it had no newline either */
    bool ending;      /* the stream is over: a frame that is told now was not terminated */
};

/* Borrows the dialect; NULL: it is found from the first lines. Drafts go to emit(ctx, …). */
void translator_init(struct translator *t, const struct dialect *dialect,
                     void (*emit)(void *ctx, struct event *ev), void *ctx);
void translator_fini(struct translator *t);
/* After translator_end: another turn of the same stream begins, where the dialect can tell turns
 * apart. `by_agent`: without a message of a user. */
void translator_next(struct translator *t, bool by_agent);
/* A line between two turns. True: with it the agent begins a turn by itself; it is to be read after
 * translator_next. */
bool translator_between(struct translator *t, const char *line, size_t len);
/* The stream is read as several turns: split(ctx) is called between two of them, when all of the
 * one that ends has been emitted and nothing of the one that begins. */
void translator_split(struct translator *t, void (*split)(void *ctx));
/* One line without newline. Lines of server-sent events are joined to frames, whose data is
 * then handled like a line; otherwise blank lines are ignored. A line that the dialect refuses even
 * after repair becomes one notice{warn, unparsable_line} (its first 200 bytes, escaped, in
 * detail), up to a limit: translator_end tells how many more there were; `complete` is false for a
 * last line that had no newline: then it may be a truncated one, and no notice is made. */
void translator_feed_line(struct translator *t, const char *line, size_t len, bool complete);
/* A line over the cap was skipped: notice{warn, line_dropped} with its size. */
void translator_skip_line(struct translator *t, uint64_t bytes);
void translator_end(struct translator *t, struct stream_end_info *end);
/* Whether the agent still works after an answer, which is held. */
enum dialect_work translator_work(const struct translator *t);
/* Tells the outcome that the dialect holds. */
void translator_settle(struct translator *t);
/* No dialect has recognised a line so far, and none was named. */
bool translator_is_unmatched(const struct translator *t);

#endif
