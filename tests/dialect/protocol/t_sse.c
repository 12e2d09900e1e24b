/* SPDX-License-Identifier: MIT
 * Tests of dialect/protocol/sse.c: fields, joins, line ends, caps, unterminated frames. */
#include "dialect/protocol/sse.h"

#include "tap/tap.h"

struct log {
    struct buf text;
};

static void on_frame(void *ctx, const struct sse_event *f)
{
    struct log *const log = ctx;
    buf_printf(&log->text, "[%s|%s|%.*s]", f->event ? f->event : "", f->id ? f->id : "",
               (int)f->len, f->data);
}

static void on_dropped(void *ctx, uint64_t bytes)
{
    struct log *const log = ctx;
    buf_printf(&log->text, "<%llu>", (unsigned long long)bytes);
}

static void check(const char *what, const char *stream, size_t cap, const char *wanted)
{
    struct log log = {0};
    struct sse_parser sse = {.frame = on_frame, .dropped = on_dropped, .ctx = &log, .cap = cap};
    const char *p = stream;
    for (const char *nl; (nl = strchr(p, '\n')); p = nl + 1)
        sse_feed_line(&sse, p, (size_t)(nl - p));
    if (*p)
        sse_feed_line(&sse, p, strlen(p));
    sse_flush(&sse);
    is_str(log.text.p ? log.text.p : "", wanted, "%s", what);
    sse_fini(&sse);
    buf_fini(&log.text);
}

static const struct {
    const char *what, *stream, *wanted;
} cases[] = {
    {"one frame", "data: {\"a\":1}\n\n", "[||{\"a\":1}]"},
    {"one leading space is stripped, not two", "data:  x\n\n", "[|| x]"},
    {"no space is needed", "data:x\n\n", "[||x]"},
    {"data lines are joined by a newline", "data: a\ndata: b\n\n", "[||a\nb]"},
    {"an empty data line counts", "data\ndata: b\n\n", "[||\nb]"},
    {"CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", "[||a][||b]"},
    {"CR alone ends lines", "data: a\r\rdata: b\r\r", "[||a][||b]"},
    {"id after data", "data: a\nid: 7\n\n", "[|7|a]"},
    {"id before data, and it lasts", "id: 7\ndata: a\n\ndata: b\n\n", "[|7|a][|7|b]"},
    {"event names last one frame", "event: run.start\ndata: {}\n\ndata: b\n\n",
     "[run.start||{}][||b]"},
    {"an event name is made valid UTF-8", "event: a\xFF\ndata: b\n\n", "[a\xEF\xBF\xBD||b]"},
    {"comments are nothing", ": connected\n\n: ping\n\ndata: a\n\n", "[||a]"},
    {"a frame without data is nothing", "event: x\nid: 3\n\n", ""},
    {"unknown fields and retry are nothing", "retry: 10\nfoo: bar\ndata: a\n\n", "[||a]"},
    {"a BOM at the start",
     "\xEF\xBB\xBF"
     "data: a\n\n",
     "[||a]"},
    {"the unterminated frame at the end counts", "data: a\n\ndata: b", "[||a][||b]"},
    {"blank lines between frames", "\n\ndata: a\n\n\n\ndata: b\n\n", "[||a][||b]"},
    {"colons in data", "data: a:b: c\n\n", "[||a:b: c]"},
    {"a frame over the cap is dropped, the next one not", "data: 0123456789abcdefgh\n\ndata: b\n\n",
     "<19>[||b]"},
    {"the cap counts joined lines", "data: 0123456\ndata: 89abcdefgh\ndata: x\n\ndata: b\n\n",
     "<20>[||b]"},
};

static void test_sniff(void)
{
    ok(sse_is_first_line("data: {}", 8), "data: is a stream of events");
    ok(sse_is_first_line(": connected", 11), "so is a comment");
    ok(sse_is_first_line("id: 1", 5) && sse_is_first_line("event: x", 8), "so are id and event");
    ok(!sse_is_first_line("{\"data\":1}", 10), "JSON is not");
    ok(!sse_is_first_line("", 0), "nothing is not");
}

int main(void)
{
    plan_lazy();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check(cases[i].what, cases[i].stream, 16, cases[i].wanted);
    test_sniff();
    return 0;
}
