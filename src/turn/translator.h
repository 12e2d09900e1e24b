/* SPDX-License-Identifier: MIT
 * Translates one stream with one dialect: detects the dialect and the framing, repairs broken lines
 * once, reports unparsable lines, and emits draft events. Pure. */
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
    const struct dialect *dialect; /* NULL until detected */
    struct dialect_sniff sniff;
    enum translate_framing framing; /* determined by the first line */
    struct sse_parser sse;
    void *state;
    struct arena scratch;
    struct buf mended;
    struct dialect_sink out; /* passed to forward(), in translator.c */
    void (*emit)(void *ctx, struct event *ev);
    void *ctx;
    void (*split)(void *ctx); /* see translator_split; NULL: the stream is one turn */
    struct translator_stats stats;
    struct buf early; /* lines that are not JSON before the first event (start) */
    uint64_t noisy;   /* number of lines that are not JSON: the first ones are reported, the others
                       * counted */
    bool unmatched;   /* the dialect is a guess: it recognised no line */
    bool spoken;      /* the dialect has emitted an event */
    bool last_bad;    /* the newest line was invalid */
    bool cut_off;     /* and had no newline */
    bool ending;      /* the stream has ended: a frame that is completed now was not terminated */
};

/* Borrows the dialect; NULL: detected from the first lines. Drafts go to emit(ctx, …). */
void translator_init(struct translator *t, const struct dialect *dialect,
                     void (*emit)(void *ctx, struct event *ev), void *ctx);
void translator_fini(struct translator *t);
/* Call it after translator_end: another turn of the same stream begins, if the dialect can separate
 * turns. `by_agent`: without a message of a user. */
void translator_next(struct translator *t, bool by_agent);
/* A line between two turns. True: the agent starts a turn by itself with this line, which must be
 * passed on after translator_next. */
bool translator_between(struct translator *t, const char *line, size_t len);
/* Reads the stream as several turns: calls split(ctx) between two turns, when all events of the
 * first one were emitted and none of the second. */
void translator_split(struct translator *t, void (*split)(void *ctx));
/* One line without newline. Lines of server-sent events are joined to frames, whose data is then
 * handled like a line; otherwise blank lines are ignored. A line that the dialect refuses even
 * after repair becomes one notice{warn, unparsable_line} (its first 200 bytes, escaped, in detail),
 * up to a limit: translator_end reports the number of the others. `complete` is false for a last
 * line without a newline, which may be truncated and causes no notice. */
void translator_feed_line(struct translator *t, const char *line, size_t len, bool complete);
/* A line over the limit was skipped: emits notice{warn, line_dropped} with its size. */
void translator_skip_line(struct translator *t, uint64_t bytes);
void translator_end(struct translator *t, struct stream_end_info *end);
/* Whether the agent continues to work after an answer, which is held. */
enum dialect_work translator_work(const struct translator *t);
/* Emits the outcome that the dialect holds. */
void translator_settle(struct translator *t);
/* Whether no dialect has recognised a line, and none was named. */
bool translator_is_unmatched(const struct translator *t);

#endif
