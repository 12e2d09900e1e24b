/* SPDX-License-Identifier: MIT
 * Stands in for dispatch (by the linker): writes down, in short, what a turn casts. */
#ifndef TESTS_CORE_CAST_LOG_H
#define TESTS_CORE_CAST_LOG_H

#include "base/bytes/buf.h"
#include "core/dispatch/dispatch.h"

/* One word per event, blank between them: start(task) n(text) t(tool) r(tool) final(text)
 * error(code: message) usage(input tokens) notice(code) done(reason); other kinds by name.
 * A row that is to be delivered: instance(number). */
struct dispatch {
    const struct conf *conf; /* whose instances messages may name; or NULL */
    const char *shown_at;    /* the instance that receives all turns, or NULL: dispatch_shows */
    struct buf text;
    struct buf outcome; /* of it final, error and done only */
    struct buf notices; /* texts of notices, a line each */
    uint64_t last_seq;
    bool disorder;  /* seq did not rise */
    double final_s; /* wall clock of the outcome, and of done */
    double done_s;
    unsigned turns_open;
    void (*watch)(void *ctx, struct event *ev); /* sees each event; or NULL */
    void *watch_ctx;
};

void cast_log_fini(struct dispatch *d);
/* "" while nothing was cast. */
const char *cast_log_text(const struct dispatch *d);

#endif
