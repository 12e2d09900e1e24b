/* SPDX-License-Identifier: MIT
 * When each line of a recording is due. The times come from FILE's sibling .meta.json (line_ms, as
 * recorded), else from the lines' own ts or timestamp, else there are 20 lines a second. */
#ifndef CLI_RUN_REPLAY_CLOCK_H
#define CLI_RUN_REPLAY_CLOCK_H

#include <stddef.h>
#include <stdint.h>

struct replay_clock {
    double factor;    /* 2: twice as fast */
    double *recorded; /* owned: milliseconds of each line, from the first; NULL: not known */
    size_t n_recorded;
    size_t line; /* of the next line, from 0 */
    double due;  /* of the line before, in unscaled milliseconds */
    double
        offset; /* wall clock milliseconds of due 0 in the lines' own times; negative: none yet */
};

/* NAME.meta.json beside NAME.jsonl. Owned. */
char *replay_clock_meta_path(const char *recording);
/* A missing or unusable .meta.json is none. */
void replay_clock_init(struct replay_clock *p, double factor, const char *recording);
void replay_clock_fini(struct replay_clock *p);
/* Milliseconds from the first line to this one, scaled; never less than for the line before. */
int64_t replay_clock_next_ms(struct replay_clock *p, const char *line, size_t len);

#endif
