/* SPDX-License-Identifier: MIT
 * Computes when each line of a recording is due. The times come from the .meta.json beside FILE
 * (line_ms, as recorded), otherwise from ts or timestamp in the lines, otherwise 20 lines per
 * second are assumed. */
#ifndef CLI_RUN_REPLAY_CLOCK_H
#define CLI_RUN_REPLAY_CLOCK_H

#include <stddef.h>
#include <stdint.h>

struct replay_clock {
    double factor;    /* 2: twice as fast */
    double *recorded; /* owned: milliseconds of each line since the first; NULL: unknown */
    size_t n_recorded;
    size_t line;   /* index of the next line, from 0 */
    double due;    /* time of the previous line, in unscaled milliseconds */
    double offset; /* wall clock milliseconds at due time 0, from times in the lines; negative:
                    * unknown yet */
};

/* NAME.meta.json for NAME.jsonl. Owned. */
char *replay_clock_meta_path(const char *recording);
/* A missing or invalid .meta.json is ignored. */
void replay_clock_init(struct replay_clock *p, double factor, const char *recording);
void replay_clock_fini(struct replay_clock *p);
/* Milliseconds from the first line to this one, scaled; never less than for the previous line. */
int64_t replay_clock_next_ms(struct replay_clock *p, const char *line, size_t len);

#endif
