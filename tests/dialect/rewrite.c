/* SPDX-License-Identifier: MIT
 * Reads a stream with one dialect and writes it with another. */
#include "dialect/rewrite.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "promise.h"
#include "tap/tap.h"
#include "turn/guard.h"
#include "turn/translator.h"

struct sink {
    struct writer_stream writing;
    struct promise promise;
    struct buf out;
};

static void see(void *ctx, struct event *ev)
{
    struct sink *const s = ctx;
    promise_see(&s->promise, ev);
    struct shared_event *const box = shared_event_new(ev); /* as a connector gets it */
    writer_stream_write(&s->writing, &s->out, shared_event_get(box));
    shared_event_unref(box);
}

static void to_guard(void *ctx, struct event *ev)
{
    guard_feed(ctx, ev);
}

static double no_time(void)
{
    return 0;
}

static void feed(struct translator *t, const char *p, size_t len)
{
    const char *const end = p + len;
    while (p < end) {
        const char *const newline = memchr(p, '\n', (size_t)(end - p));
        const char *const stop = newline ? newline : end;
        translator_feed_line(t, p, (size_t)(stop - p), newline != NULL);
        p = stop + 1;
    }
}

char *rewrite(const struct rewrite *r, const char *stream, size_t len)
{
    const struct dialect *const dialect = dialect_find(r->dialect);
    const struct writer *const writer = writer_find(r->writer);
    if (!dialect || !writer)
        bail("no dialect %s or no writer %s", r->dialect, r->writer);
    struct sink s = {0};
    struct guard guard;
    struct translator t;
    struct stream_end_info end = {.how = STREAM_EOF};
    writer_stream_init(&s.writing, writer, &r->conf);
    guard_init(&guard, r->dialect, r->turn ? r->turn : "turn", see, &s);
    guard.now = r->now ? r->now : no_time;
    translator_init(&t, dialect, to_guard, &guard);
    feed(&t, stream, len);
    translator_end(&t, &end);
    guard_end(&guard, &end);
    const char *const broken = promise_end(&s.promise);
    char *const got = broken ? xasprintf("broken promise: %s", broken) : buf_steal(&s.out);
    translator_fini(&t);
    guard_fini(&guard);
    promise_fini(&s.promise);
    writer_stream_fini(&s.writing);
    buf_fini(&s.out);
    return got;
}

char *rewrite_file(const struct rewrite *r, const char *relative)
{
    size_t len;
    char *const stream = tap_slurp(tap_source(relative), &len);
    char *const got = rewrite(r, stream, len);
    free(stream);
    return got;
}

void is_text(const char *got, const char *wanted, const char *what)
{
    if (ok(strcmp(got, wanted) == 0, "%s", what))
        return;
    for (;;) {
        const size_t a = strcspn(got, "\n"), b = strcspn(wanted, "\n");
        if (a != b || memcmp(got, wanted, a) != 0 || !*got)
            break;
        got += a + (got[a] == '\n');
        wanted += b + (wanted[b] == '\n');
    }
    diag("got    %.*s", (int)strcspn(got, "\n"), got);
    diag("wanted %.*s", (int)strcspn(wanted, "\n"), wanted);
}

void rewrite_is_same(const struct rewrite *r, const char *relative)
{
    size_t len;
    char *const wanted = tap_slurp(tap_source(relative), &len);
    char *const got = rewrite_file(r, relative);
    is_text(got, wanted, relative);
    free(got);
    free(wanted);
}
