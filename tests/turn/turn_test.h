/* SPDX-License-Identifier: MIT
 * A turn under test: short words to feed the guard, and what it told, as words. */
#ifndef TESTS_TURN_TURN_TEST_H
#define TESTS_TURN_TURN_TEST_H

#include "promise.h"
#include "turn/guard.h"

/* A turn under test and what was told of it: "start, final hi, done completed". */
struct turn_test {
    struct guard guard;
    struct promise promise;
    struct buf told;
    double last_ts;
    char session[64];
};

/* FEED(t, kind, KIND, assignments to p and ev) */
#define FEED(t, lower, UPPER, ...)                                                                 \
    do {                                                                                           \
        struct event ev;                                                                           \
        event_init(&ev, TC_##UPPER);                                                               \
        struct tc_##lower *const p = &ev.u.lower;                                                  \
        __VA_ARGS__;                                                                               \
        (void)p;                                                                                   \
        guard_feed(&(t)->guard, &ev);                                                              \
    } while (0)

void begin(struct turn_test *t);
/* Ends the stream, and the test: what was told, and that it keeps the promises. */
void finish(struct turn_test *t, enum stream_end how, const char *wanted, const char *name);

/* What the agent may tell, with nothing said but what the test is about. */
void say(struct turn_test *t, const char *text);
void start(struct turn_test *t);
void call(struct turn_test *t, const char *id);
void result(struct turn_test *t, const char *id);
void progress(struct turn_test *t, const char *id);
void request(struct turn_test *t, const char *id, const char *state);
void step(struct turn_test *t, const char *state, const char *name);
void agent_step(struct turn_test *t, const char *state, const char *name, const char *agent);
void final(struct turn_test *t, const char *text);
void error(struct turn_test *t, const char *code);
void done(struct turn_test *t, const char *reason);
void usage(struct turn_test *t, const char *scope);
void notice(struct turn_test *t, const char *code);

#endif
