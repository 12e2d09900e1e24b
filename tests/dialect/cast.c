/* SPDX-License-Identifier: MIT
 * Owns casting a test's stream. */
#include "dialect/cast.h"

#include <stdio.h>
#include <string.h>

#include "event/codec.h"

static void see(void *ctx, struct event *ev)
{
    struct cast *const c = ctx;
    promise_see(&c->promise, ev);
    if (!c->seq)
        c->first = ev->kind;
    c->last = ev->kind;
    c->falls |= ev->meta.seq <= c->seq;
    c->seq = ev->meta.seq;
    c->counts[ev->kind]++;
    if (!c->keep)
        return;
    codec_encode(&c->told, ev);
    buf_add_char(&c->told, '\n');
}

static void to_guard(void *ctx, struct event *ev)
{
    guard_feed(&((struct cast *)ctx)->guard, ev);
}

static double no_time(void)
{
    return 0;
}

void cast_init(struct cast *c, const struct dialect *dialect, bool keep)
{
    *c = (struct cast){.keep = keep};
    guard_init(&c->guard, dialect->name, "turn", see, c);
    c->guard.now = no_time;
    translator_init(&c->translate, dialect, to_guard, c);
    buf_add_str(&c->told, "");
}

static void end_turn(struct cast *c, const struct stream_end_info *end)
{
    guard_end(&c->guard, end);
    const char *const broken = promise_end(&c->promise);
    if (broken && !c->broken[0])
        snprintf(c->broken, sizeof(c->broken), "turn %zu: %s", c->turns + 1, broken);
    c->turns++;
}

static void next_turn(void *ctx)
{
    struct cast *const c = ctx;
    end_turn(c, NULL);
    guard_fini(&c->guard);
    promise_fini(&c->promise);
    c->seq = 0;
    guard_init(&c->guard, c->translate.dialect->name, "turn", see, c);
    c->guard.now = no_time;
    guard_may_resume(&c->guard);
}

void cast_split(struct cast *c)
{
    guard_may_resume(&c->guard);
    translator_split(&c->translate, next_turn);
}

void cast_fini(struct cast *c)
{
    translator_fini(&c->translate);
    guard_fini(&c->guard);
    promise_fini(&c->promise);
    buf_fini(&c->line);
    buf_fini(&c->told);
}

void cast_feed(struct cast *c, const char *p, size_t n)
{
    const char *const end = p + n;
    while (p < end) {
        const char *const newline = memchr(p, '\n', (size_t)(end - p));
        if (!newline) {
            buf_add(&c->line, p, (size_t)(end - p));
            return;
        }
        if (c->line.len) {
            buf_add(&c->line, p, (size_t)(newline - p));
            translator_feed_line(&c->translate, c->line.p, c->line.len, true);
            buf_reset(&c->line);
        } else {
            translator_feed_line(&c->translate, p, (size_t)(newline - p), true);
        }
        p = newline + 1;
    }
}

const char *cast_end(struct cast *c)
{
    struct stream_end_info end = {.how = STREAM_EOF};
    if (c->line.len)
        translator_feed_line(&c->translate, c->line.p, c->line.len, false);
    translator_end(&c->translate, &end);
    end_turn(c, &end);
    return c->broken[0] ? c->broken : NULL;
}

bool cast_keeps(const struct dialect *dialect, const char *p, size_t n, bool split,
                char broken[256])
{
    struct cast c;
    cast_init(&c, dialect, false);
    if (split)
        cast_split(&c);
    cast_feed(&c, p, n);
    const char *const said = cast_end(&c);
    snprintf(broken, 256, "%s", said ? said : "");
    cast_fini(&c);
    return !said;
}

uint32_t cast_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}
