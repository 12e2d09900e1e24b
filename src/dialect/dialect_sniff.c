/* SPDX-License-Identifier: MIT
 * Owns the guess of a dialect. */
#include "dialect/dialect_sniff.h"

/* A stream that has not given itself away by then is what it most looks like. */
#define LINES_MAX 16
#define BYTES_MAX ((size_t)256 << 10)

static void hold(struct sniff *s, const char *line, size_t len, const char *event)
{
    buf_add(&s->held, event ? event : "", (event ? strlen(event) : 0) + 1);
    buf_add(&s->held, &len, sizeof len);
    buf_add(&s->held, line, len);
    s->lines++;
}

void sniff_look(struct sniff *s, const char *line, size_t len, const char *event)
{
    const struct dialect *d;
    for (size_t i = 0; (d = dialect_at(i)); i++) {
        const int score = d->sniff ? d->sniff((struct str){line, len}, event) : 0;
        if (score > s->score) {
            s->score = score;
            s->best = d;
        }
    }
}

const struct dialect *sniff_line(struct sniff *s, const char *line, size_t len, const char *event)
{
    hold(s, line, len, event);
    sniff_look(s, line, len, event);
    if (s->score >= DIALECT_LIKELY || s->lines >= LINES_MAX || s->held.len >= BYTES_MAX)
        return sniff_end(s);
    return NULL;
}

const struct dialect *sniff_end(const struct sniff *s)
{
    return s->best ? s->best : dialect_at(0);
}

void sniff_replay(const struct sniff *s,
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

void sniff_fini(struct sniff *s)
{
    buf_fini(&s->held);
    *s = (struct sniff){0};
}
