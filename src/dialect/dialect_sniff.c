/* SPDX-License-Identifier: MIT
 * Guesses the dialect. */
#include "dialect/dialect_sniff.h"

/* After this many lines, the most likely dialect is chosen. */
#define LINES_MAX 16
#define BYTES_MAX ((size_t)256 << 10)

static void dialect_sniff_retain_line(struct dialect_sniff *s, const char *line, size_t len,
                                      const char *event)
{
    buf_add(&s->held, event ? event : "", (event ? strlen(event) : 0) + 1);
    buf_add(&s->held, &len, sizeof len);
    buf_add(&s->held, line, len);
    s->lines++;
}

void dialect_sniff_score(struct dialect_sniff *s, const char *line, size_t len, const char *event)
{
    const struct dialect *d;
    for (size_t i = 0; (d = dialect_get(i)); i++) {
        const int score = d->sniff ? d->sniff((struct str){line, len}, event) : 0;
        if (score > s->score) {
            s->score = score;
            s->best = d;
        }
    }
}

const struct dialect *dialect_sniff_feed(struct dialect_sniff *s, const char *line, size_t len,
                                         const char *event)
{
    dialect_sniff_retain_line(s, line, len, event);
    dialect_sniff_score(s, line, len, event);
    if (s->score >= DIALECT_SCORE_LIKELY || s->lines >= LINES_MAX || s->held.len >= BYTES_MAX)
        return dialect_sniff_guess(s);
    return NULL;
}

const struct dialect *dialect_sniff_guess(const struct dialect_sniff *s)
{
    return s->best ? s->best : dialect_get(0);
}

void dialect_sniff_replay(const struct dialect_sniff *s,
                          void (*line)(void *ctx, const char *line, size_t len, const char *event),
                          void *ctx)
{
    const char *p = s->held.p;
    for (size_t i = 0; i < s->lines; i++) {
        const char *const event = p;
        size_t len;
        p += strlen(p) + 1;
        memcpy(&len, p, sizeof len);
        p += sizeof len;
        line(ctx, p, len, *event ? event : NULL);
        p += len;
    }
}

void dialect_sniff_fini(struct dialect_sniff *s)
{
    buf_fini(&s->held);
    *s = (struct dialect_sniff){0};
}
