/* SPDX-License-Identifier: MIT
 * Internal interface between the files of the fake host. */
#ifndef CLI_TESTING_FAKE_FAKE_HOST_INTERNAL_H
#define CLI_TESTING_FAKE_FAKE_HOST_INTERNAL_H

#include "cli/testing/fake/fake_host.h"

/* The output of one callback. */
struct fake_batch {
    struct fake_batch *next;
    struct callback_batch *batch;
};

void fake_host_fault(struct fake_host *s, const char *fmt, ...)
    __attribute__((__format__(__printf__, 2, 3)));
void fake_host_note(struct fake_host *s, enum fake_note note, int level, const char *what);
/* Finds secrets in output of the connector. NULL is allowed. */
void fake_host_check_secrets(struct fake_host *s, const char *where, const char *text, size_t len);
/* After each call of the instance: queues the sent requests, and stores memories in their turns. */
void fake_host_drain(struct fake_host *s);
/* After each step: reports the empty event queue, advances requests, removes ended turns. */
void fake_host_idle(struct fake_host *s);

/* fake_host_calls.c: the services. */
struct channel_callbacks fake_host_make_callbacks(struct fake_host *s);

/* fake_host_queue.c */
void fake_host_commit(struct fake_host *s, struct callback_batch *b);
struct tc_answer fake_host_copy_answer(struct fake_host *s, const struct tc_answer *from);
/* Completes requests that the connector has performed itself. */
void fake_host_take_results(struct fake_host *s, const struct callback_batch *b);
/* Sends the requests that are due. */
void fake_host_pump(struct fake_host *s);
/* Frees all requests, or only those that do not outlive the host. */
void fake_host_drop_requests(struct fake_host *s, bool all);
/* At a restart, before the new instance sends requests: marks those on the wire; fake_host_resume
 * later reports them to the instance as in doubt. */
void fake_host_mark_in_doubt(struct fake_host *s);
void fake_host_resume(struct fake_host *s);
/* The time at which the next request becomes due, at most `end`. */
int64_t fake_host_next_request_ms(const struct fake_host *s, int64_t end);

#endif
