/* SPDX-License-Identifier: MIT
 * Fuzz target of io/lines and dialect/sse: however the bytes come, the lines and the frames in
 * them are the same, none is longer than its cap, and no byte of a line is lost. */
#include <stdint.h>
#include <stdlib.h>

#include "dialect/protocol/sse.h"
#include "io/loop/line_splitter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LINE_CAP 64
#define IPC_CAP 96

struct reader {
    struct line_splitter lines;
    struct sse_parser sse;
    struct buf told; /* every line and frame, with its length */
};

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void take_frame(void *ctx, const struct sse_event *frame)
{
    struct reader *const r = ctx;
    require(frame->len <= IPC_CAP && frame->data[frame->len] == '\0');
    buf_printf(&r->told, "frame %zu %d %d ", frame->len, frame->event != NULL, frame->id != NULL);
    buf_add(&r->told, frame->data, frame->len);
}

static void drop_frame(void *ctx, uint64_t bytes)
{
    struct reader *const r = ctx;
    require(bytes > 0);
    buf_printf(&r->told, "frame dropped %llu ", (unsigned long long)bytes);
}

static void take_line(void *ctx, const char *p, size_t len, bool complete)
{
    struct reader *const r = ctx;
    require(len <= LINE_CAP && !memchr(p, '\n', len));
    buf_printf(&r->told, "line %zu %d ", len, complete);
    buf_add(&r->told, p, len);
    sse_is_first_line(p, len);
    sse_feed_line(&r->sse, p, len);
}

static void drop_line(void *ctx, uint64_t bytes)
{
    struct reader *const r = ctx;
    require(bytes > LINE_CAP);
    buf_printf(&r->told, "line dropped %llu ", (unsigned long long)bytes);
}

/* Pieces of `step` bytes; 0: all at once. What was told is the caller's. */
static struct buf read_in(const char *p, size_t n, size_t step)
{
    struct reader r = {0};
    r.lines =
        (struct line_splitter){.line = take_line, .dropped = drop_line, .ctx = &r, .cap = LINE_CAP};
    r.sse =
        (struct sse_parser){.frame = take_frame, .dropped = drop_frame, .ctx = &r, .cap = IPC_CAP};
    for (size_t i = 0, piece; i < n; i += piece) {
        piece = step && step < n - i ? step : n - i;
        line_splitter_feed(&r.lines, p + i, piece);
    }
    line_splitter_finish(&r.lines);
    sse_flush(&r.sse);
    line_splitter_fini(&r.lines);
    sse_fini(&r.sse);
    return r.told;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *const text = (const char *)data;
    static const size_t steps[] = {1, 2, 7, 63, 64, 65};
    struct buf whole = read_in(text, size, 0);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct buf pieces = read_in(text, size, steps[i]);
        require(pieces.len == whole.len &&
                (whole.len == 0 || memcmp(pieces.p, whole.p, whole.len) == 0));
        buf_fini(&pieces);
    }
    buf_fini(&whole);
    return 0;
}
