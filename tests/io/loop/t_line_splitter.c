/* SPDX-License-Identifier: MIT
 * Lines come out the same however the stream was cut. */
#include "io/loop/line_splitter.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "tap/tap.h"

/* What came out, as text: "[line]" for a line, "{tail}" for the tail, "<n>" for one dropped. */
struct seen {
    struct buf text;
};

static void on_line(void *ctx, const char *p, size_t len, bool complete)
{
    struct seen *const s = ctx;
    buf_add_char(&s->text, complete ? '[' : '{');
    buf_add(&s->text, p, len);
    buf_add_char(&s->text, complete ? ']' : '}');
}

static void on_dropped(void *ctx, uint64_t bytes)
{
    struct seen *const s = ctx;
    buf_printf(&s->text, "<%llu>", (unsigned long long)bytes);
}

static struct line_splitter lines_over(struct seen *s, size_t cap)
{
    return (struct line_splitter){.line = on_line, .dropped = on_dropped, .ctx = s, .cap = cap};
}

/* Feeds `text` in pieces of `step` bytes, each copied out so that a read beyond it shows. */
static void feed_steps(struct line_splitter *l, const char *text, size_t n, size_t step)
{
    for (size_t at = 0; at < n; at += step) {
        const size_t len = n - at < step ? n - at : step;
        char *const piece = xmalloc(len);
        memcpy(piece, text + at, len);
        line_splitter_feed(l, piece, len);
        free(piece);
    }
    line_splitter_finish(l);
    line_splitter_fini(l);
}

struct sample {
    const char *name, *text;
    size_t len, cap;
    const char *wanted;
};

#define TEXT(s) s, sizeof(s) - 1

static const struct sample samples[] = {
    {"nothing", TEXT(""), 8, ""},
    {"one line", TEXT("abc\n"), 8, "[abc]"},
    {"empty lines", TEXT("\n\r\n\n"), 8, "[][][]"},
    {"carriage returns", TEXT("a\r\nb\rc\r\r\n"), 8, "[a][b\rc\r]"},
    {"a tail", TEXT("a\nbc"), 8, "[a]{bc}"},
    {"a tail with its carriage return", TEXT("a\nbc\r"), 8, "[a]{bc}"},
    {"exactly the cap", TEXT("12345678\n12345678"), 8, "[12345678]{12345678}"},
    {"one more than the cap", TEXT("123456789\nok\n"), 8, "<9>[ok]"},
    {"far more than the cap", TEXT("1234567890123456789012345\nok\n1234567890\nz"), 8,
     "<25>[ok]<10>{z}"},
    {"a tail above the cap", TEXT("ok\n1234567890"), 8, "[ok]<10>"},
    {"NUL bytes", TEXT("a\0b\n"), 8, NULL},
};

static void test_samples(void)
{
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const struct sample *const s = &samples[i];
        const char *const wanted = s->wanted ? s->wanted : "[a\0b]";
        const size_t wanted_len = s->wanted ? strlen(wanted) : 5;
        bool all = true;
        for (size_t step = 1; step <= s->len + 1; step++) {
            struct seen seen = {0};
            struct line_splitter l = lines_over(&seen, s->cap);
            feed_steps(&l, s->text, s->len, step);
            all &= seen.text.len == wanted_len &&
                   (!wanted_len || memcmp(seen.text.p, wanted, wanted_len) == 0);
            if (!all)
                diag("in steps of %zu: %s", step, seen.text.p ? seen.text.p : "");
            buf_fini(&seen.text);
        }
        ok(all, "%s, in pieces of every size", s->name);
    }
}

/* Every way to cut a stream in three. */
static void test_three_pieces(void)
{
    static const char text[] = "{\"a\":1}\r\n\n123456789012\nlast";
    const size_t n = sizeof text - 1;
    bool all = true;
    for (size_t a = 0; a <= n; a++)
        for (size_t b = a; b <= n; b++) {
            struct seen seen = {0};
            struct line_splitter l = lines_over(&seen, 10);
            line_splitter_feed(&l, text, a);
            line_splitter_feed(&l, text + a, b - a);
            line_splitter_feed(&l, text + b, n - b);
            line_splitter_finish(&l);
            all &= seen.text.p && strcmp(seen.text.p, "[{\"a\":1}][]<12>{last}") == 0;
            buf_fini(&seen.text);
        }
    ok(all, "every cut in three pieces");
}

static void count_line(void *ctx, const char *p, size_t len, bool complete)
{
    (void)p;
    (void)complete;
    *(size_t *)ctx += len;
}

static void count_dropped(void *ctx, uint64_t bytes)
{
    *(size_t *)ctx += bytes;
}

static double seconds_for_line(size_t len, size_t cap)
{
    size_t got = 0;
    struct line_splitter l = {
        .line = count_line, .dropped = count_dropped, .ctx = &got, .cap = cap};
    static char piece[4096];
    memset(piece, 'x', sizeof piece);
    const clock_t begin = clock();
    for (size_t at = 0; at < len; at += sizeof piece)
        line_splitter_feed(&l, piece, sizeof piece);
    line_splitter_feed(&l, "\n", 1);
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    line_splitter_fini(&l);
    is_int((long long)got, (long long)len, "a line of %zu MiB, cap %zu MiB", len >> 20, cap >> 20);
    return seconds;
}

static void test_long_lines(void)
{
    const double one = seconds_for_line((size_t)4 << 20, (size_t)64 << 20);
    const double eight = seconds_for_line((size_t)32 << 20, (size_t)64 << 20);
    ok(eight < 40 * one + 0.5, "eight times the line is not sixty-four times the work (%.3f, %.3f)",
       one, eight);
    struct seen seen = {0};
    struct line_splitter l = lines_over(&seen, (size_t)16 << 20);
    static char piece[1 << 16];
    size_t most = 0;
    for (int i = 0; i < 1024; i++) {
        memset(piece, 'x', sizeof piece);
        line_splitter_feed(&l, piece, sizeof piece);
        most = l.part.cap > most ? l.part.cap : most;
    }
    ok(most <= (size_t)32 << 20, "a line of 64 MiB holds no more than its cap (%zu MiB)",
       most >> 20);
    is_int((long long)l.part.cap, 0, "a skipped line holds no memory");
    line_splitter_feed(&l, "\nok\n", 4);
    is_str(seen.text.p, "<67108864>[ok]", "the stream continues after a skipped line");
    line_splitter_fini(&l);
    buf_fini(&seen.text);
}

/* What an idle turn holds, of which there may be thousands. */
static void test_idle(void)
{
    struct seen seen = {0};
    struct line_splitter l = lines_over(&seen, 0);
    static char piece[1 << 16];
    memset(piece, 'x', sizeof piece);
    line_splitter_feed(&l, piece, sizeof piece);
    line_splitter_feed(&l, "\nab", 3);
    ok(l.part.cap >= sizeof piece, "memory is kept for an incomplete line");
    line_splitter_feed(&l, "cd\n", 3);
    is_int((long long)l.part.cap, 0, "  the memory is freed after the end of the line");
    is_str(seen.text.p + seen.text.len - 6, "[abcd]", "  the line is complete");
    line_splitter_fini(&l);
    buf_fini(&seen.text);
}

static struct line_splitter *stopped;

static void stop_at_line(void *ctx, const char *p, size_t len, bool complete)
{
    on_line(ctx, p, len, complete);
    stopped->stop = true;
}

static void test_stop(void)
{
    struct seen s = {0};
    struct line_splitter l = lines_over(&s, 8);
    stopped = &l;
    l.line = stop_at_line;
    is_int(line_splitter_feed(&l, "ab\ncd\nef", 8), 3, "bytes after the stop are not consumed");
    is_str(s.text.p, "[ab]", "lines after the stop are not reported");
    is_int(line_splitter_feed(&l, "cd\nef", 5), 3, "the splitter stops at the next line again");
    is_int(line_splitter_feed(&l, "ef", 2), 2, "a piece of a line is consumed");
    CLEANUP_BUF struct buf rest = {0};
    line_splitter_return_rest(&l, &rest);
    is_str(rest.p, "ef", "the piece is returned");
    line_splitter_feed(&l, "gh\n", 3);
    is_str(s.text.p, "[ab][cd][gh]", "text after the returned piece is a separate line");
    line_splitter_feed(&l, "123456789", 9);
    line_splitter_return_rest(&l, &rest);
    is_str(rest.p, "ef", "no piece of a line that is too long is returned");
    line_splitter_feed(&l, "0\n", 2);
    is_str(s.text.p, "[ab][cd][gh][0]", "the rest of a line that is too long is a line");
    line_splitter_fini(&l);
    buf_fini(&s.text);
}

int main(void)
{
    plan_lazy();
    test_samples();
    test_three_pieces();
    test_long_lines();
    test_idle();
    test_stop();
    return 0;
}
