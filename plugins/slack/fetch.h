/* SPDX-License-Identifier: MIT
 * The files of a message, fetched before it is handed over: it is acknowledged when both are on
 * disk. */
#ifndef SLACK_FETCH_H
#define SLACK_FETCH_H

#include <jansson.h>
#include <stdint.h>

#include <turncast/plugin.h>

#include "event.h"

#define FETCH_MAX 8     /* messages at once; a further one has to come again */
#define FETCH_FILES 10  /* of a message; more are not fetched */
#define FETCH_SOURCES 4 /* times it has come meanwhile */
#define RECENT_MAX 64

struct fetch {
    json_t *message; /* owned; NULL: free */
    size_t next;     /* of its files */
    struct {
        int64_t socket;
        char envelope[80];
    } sources[FETCH_SOURCES];
    size_t count;
};

/* Events that were taken: messages with files, and stops. What Slack delivers again is known. */
struct recent {
    char keys[RECENT_MAX][128];
    unsigned next;
};

enum event_taken fetch_begin(struct tc_turn *lobby, json_t *message,
                             const struct event_source *source);
/* Whether that event was here before; it is noted if not. */
bool fetch_seen(struct tc_turn *lobby, const char *key);
int fetch_on_file(struct tc_turn *lobby, const struct tc_reply *r, struct tc_verdict *v);
/* Frees what waits. */
void fetch_end(struct fetch fetches[FETCH_MAX]);

#endif
