/* SPDX-License-Identifier: MIT
 * Tests of turn/translator.h, with a dialect that takes JSON objects and tells each as a notice. */
#include "turn/translator.h"

#include <string.h>

#include "event/json/json_reader.h"
#include "tap/tap.h"

struct seen {
    struct buf all; /* text and detail of every notice, one a line */
};

static void see(void *ctx, struct event *ev)
{
    struct seen *const s = ctx;
    buf_printf(&s->all, "%s %s|%s\n", ev->u.notice.code, ev->u.notice.text,
               ev->u.notice.detail ? ev->u.notice.detail : "");
}

static int fake_line(void *state, const struct dialect_sink *out, const char *line, size_t len)
{
    struct json j;
    json_init(&j, line, len);
    if (!json_reader_enter_object(&j))
        return -1;
    for (struct str key; json_reader_next_key(&j, &key);)
        json_reader_skip(&j, NULL);
    if (json_reader_finish(&j) < 0)
        return -1;
    ++*(int *)state;
    struct event ev;
    event_init_notice(&ev, "info", "told", arena_strndup(out->scratch, line, len));
    dialect_emit_draft(out, &ev);
    return 0;
}

static void fake_end(void *state, const struct dialect_sink *out, const struct stream_end_info *end)
{
    struct event ev;
    event_init_notice(
        &ev, "info", "end",
        arena_sprintf(out->scratch, "%d, truncated %d", *(int *)state, end->truncated));
    dialect_emit_draft(out, &ev);
}

static int closed;

static void fake_close(void *state)
{
    closed += *(int *)state;
}

static const struct dialect fake = {
    .name = "fake",
    .state_size = sizeof(int),
    .line = fake_line,
    .end = fake_end,
    .close = fake_close,
};

static void feed(struct translator *t, const char *line)
{
    translator_feed_line(t, line, strlen(line), true);
}

static void test_lines(void)
{
    struct seen s = {0};
    struct translator t;
    translator_init(&t, &fake, see, &s);
    feed(&t, "{\"a\":1}");
    feed(&t, "");
    feed(&t, " \t\r");
    feed(&t, "{\"a\":NaN,\"b\":\"\t\"}");
    feed(&t, "no\x01\xff json");
    translator_feed_line(&t, "{\"z\":2}", 7, false);
    struct stream_end_info end = {0};
    translator_end(&t, &end);
    is_str(
        s.all.p,
        "told {\"a\":1}|\n"
        "told {\"a\":null,\"b\":\"\\t\"}|\n"
        "unparsable_line ignored a malformed line in the agent's output|no\\x01\xef\xbf\xbd json\n"
        "told {\"z\":2}|\n"
        "end 3, truncated 0|\n",
        "read, mended, told as noise; blank ones ignored; the last one counts without newline");
    is_int((long long)t.stats.lines, 4, "lines");
    is_int((long long)t.stats.repaired, 1, "repaired");
    is_int((long long)t.stats.unparsable, 1, "unparsable");
    translator_fini(&t);
    is_int(closed, 3, "the dialect is closed");
    buf_fini(&s.all);
}

static void test_truncated(void)
{
    struct seen s = {0};
    struct translator t;
    translator_init(&t, &fake, see, &s);
    feed(&t, "{}");
    translator_feed_line(&t, "{\"cut", 5, false);
    struct stream_end_info end = {0};
    translator_end(&t, &end);
    ok(end.truncated, "a last line without newline that is not valid: truncated");
    is_str(s.all.p, "told {}|\nend 1, truncated 1|\n", "no notice about it");
    translator_fini(&t);
    buf_fini(&s.all);
}

static void test_noise(void)
{
    struct seen s = {0};
    struct translator t;
    translator_init(&t, &fake, see, &s);
    feed(&t, "early");
    ok(!s.all.p, "noise before the first event waits");
    feed(&t, "{}");
    is_str(s.all.p,
           "told {}|\nunparsable_line ignored a malformed line in the agent's output|early\n",
           "for it");
    char longer[1000];
    memset(longer, 'x', sizeof(longer));
    buf_reset(&s.all);
    translator_feed_line(&t, longer, sizeof(longer), true);
    is_int((long long)s.all.len,
           200 + (long long)strlen(
                     "unparsable_line ignored a malformed line in the agent's output|\n"),
           "a long one is cut");
    for (int i = 0; i < 1000; i++)
        feed(&t, "x");
    buf_reset(&s.all);
    struct stream_end_info end = {0};
    translator_end(&t, &end);
    is_str(s.all.p, "end 1, truncated 0|\nunparsable_line 994 more lines were not valid|\n",
           "many are summed up");
    translator_fini(&t);
    buf_fini(&s.all);
}

static void test_only_noise(void)
{
    struct seen s = {0};
    struct translator t;
    static const struct dialect quiet = {.name = "quiet", .line = fake_line, .state_size = 4};
    translator_init(&t, &quiet, see, &s);
    feed(&t, "usage: claude");
    struct stream_end_info end = {0};
    translator_end(&t, &end);
    has_str(s.all.p, "|usage: claude\n", "noise alone is told at the end");
    translator_skip_line(&t, 99);
    has_str(s.all.p, "line_dropped a line of 99 bytes was too long and left out|", "dropped lines");
    is_int((long long)t.stats.dropped, 1, "are counted");
    translator_fini(&t);
    buf_fini(&s.all);
}

int main(void)
{
    plan_lazy();
    test_lines();
    test_truncated();
    test_noise();
    test_only_noise();
    return 0;
}
