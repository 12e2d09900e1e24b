/* SPDX-License-Identifier: MIT
 * The text of running totals: the session's id and its counts, each behind a blank. */
#include "core/turn/usage_delta.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define SPENT_COUNTS 5

static void list_counts(struct tc_usage *u, int64_t *counts[SPENT_COUNTS])
{
    counts[0] = &u->input_tokens;
    counts[1] = &u->output_tokens;
    counts[2] = &u->cache_read_tokens;
    counts[3] = &u->cache_write_tokens;
    counts[4] = &u->reasoning_tokens;
}

/* False: the text is none, or of another session. */
static bool parse_text(const char *text, const char *session, int64_t counts[SPENT_COUNTS])
{
    const size_t len = strlen(session);
    if (!text || strncmp(text, session, len) != 0 || text[len] != ' ')
        return false;
    const char *p = text + len;
    for (size_t i = 0; i < SPENT_COUNTS; i++) {
        char *end = NULL;
        counts[i] = strtoll(p, &end, 10);
        if (end == p)
            return false;
        p = end;
    }
    return !*p;
}

static void subtract(int64_t *const now[SPENT_COUNTS], const int64_t before[SPENT_COUNTS])
{
    for (size_t i = 0; i < SPENT_COUNTS; i++)
        if (before[i] > *now[i])
            return; /* not the totals that went on */
    for (size_t i = 0; i < SPENT_COUNTS; i++)
        if (before[i] > 0)
            *now[i] -= before[i];
}

void usage_delta_count(struct spent *s, struct tc_usage *u, const char *session)
{
    int64_t *now[SPENT_COUNTS], before[SPENT_COUNTS];
    list_counts(u, now);
    free(s->total);
    s->total = xasprintf("%s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64, session,
                         *now[0], *now[1], *now[2], *now[3], *now[4]);
    if (parse_text(s->before, session, before))
        subtract(now, before);
}

void usage_delta_fini(struct spent *s)
{
    free(s->before);
    free(s->total);
    *s = (struct spent){0};
}
