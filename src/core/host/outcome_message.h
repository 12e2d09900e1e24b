/* SPDX-License-Identifier: MIT
 * The request by which a host gives an outcome to the host that leads an instance. Formats and
 * parses; unknown members are ignored. Pure. */
#ifndef CORE_HOST_OUTCOME_MESSAGE_H
#define CORE_HOST_OUTCOME_MESSAGE_H

#include "base/arena.h"
#include "base/attr.h"
#include "base/bytes/buf.h"
#include "base/str.h"

struct outcome_message {
    const char *instance;     /* that is to be told */
    const char *turn, *agent; /* its id; its agent */
    const char *conversation; /* its key, or "" */
    const char *source;       /* where it came from */
    const char *route;        /* of the message that began it, or NULL */
    const char *memory;       /* what the instance remembered of the turn, or NULL */
    const char *line;         /* the canonical line of `final` or `error` */
};

void outcome_message_write(struct buf *out, const struct outcome_message *m);
/* Its texts are the arena's. -1: it is none. */
int outcome_message_read(struct str body, struct arena *a, struct outcome_message *m) MUST_CHECK;

#endif
