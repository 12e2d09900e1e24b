/* SPDX-License-Identifier: MIT
 * One turn: translator, guard, result and dispatch joined. Whoever has bytes of an agent's
 * stream (executor, replay) feeds it. Loop thread only. */
#ifndef CORE_TURN_H
#define CORE_TURN_H

#include "conf/conf.h"
#include "core/dispatch.h"
#include "core/result.h"
#include "dialect/dialect.h"

struct turn;

struct turn_spec {
    const struct dialect *dialect;
    const char *agent;        /* name, or NULL */
    const char *conversation; /* or NULL */
    const char *id;           /* correlation id, or NULL: a new random one */
    const char *task; /* the user's message, for start.task when the stream has none; or NULL */
    struct visibility visibility;
    int64_t max_line;
};

struct turn *turn_new(struct dispatch *d, const struct turn_spec *spec);
/* Bytes of the stream, in any pieces. */
void turn_feed(struct turn *t, const char *p, size_t n);
/* The stream of this attempt is over. With `retry` the turn goes on: its error (held back) is
 * forgotten, a notice{retry} is told, and a fresh translator reads the next attempt's stream. */
void turn_end_attempt(struct turn *t, struct stream_end_info *end, bool retry);
/* Tells the host's own notice (still working…). */
void turn_notice(struct turn *t, const char *level, const char *code, const char *text);
/* The outcome of the attempt has been read (final told, or its error held back). */
bool turn_has_outcome(const struct turn *t);
/* Text of the error held back, or NULL: what the retry rules look at. Borrowed. */
const char *turn_held_error(const struct turn *t);
const char *turn_session_id(const struct turn *t);
const char *turn_id(const struct turn *t);
const struct result *turn_result(const struct turn *t);
int64_t turn_elapsed_ms(const struct turn *t);
void turn_free(struct turn *t);

#endif
