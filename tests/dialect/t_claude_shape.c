/* SPDX-License-Identifier: MIT
 * Tests of dialect/claude_shape.h: what it says of a line is what a reading of the line says. */
#include "dialect/claude_shape.h"

#include <glob.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "tap/tap.h"

static unsigned compared, passed_over, different;

static bool same_strings(const struct claude_line *a, const struct claude_line *b)
{
#define SAME(m) str_equal(a->m, b->m)
    return SAME(self) && SAME(type) && SAME(subtype) && SAME(session_id) && SAME(uuid) &&
           SAME(parent) && SAME(agent_id) && SAME(event) && SAME(delta) && SAME(piece) &&
           SAME(stop_reason) && SAME(message_id) && SAME(model) && SAME(block.type) &&
           SAME(block.text) && SAME(block.thinking) && SAME(block.id) && SAME(block.content) &&
           SAME(blocks) && SAME(text) && SAME(error) && SAME(supersedes) && SAME(tool_use_result);
#undef SAME
}

static bool is_same(const struct claude_line *a, const struct claude_line *b)
{
    return same_strings(a, b) && a->index == b->index && a->usage.output == b->usage.output &&
           a->abandoned_from == b->abandoned_from && a->aborted == b->aborted &&
           a->replay == b->replay && !a->piece.p == !b->piece.p && !a->parent.p == !b->parent.p;
}

static void compare(struct claude_shape *s, const char *line, size_t len)
{
    struct claude_line plain;
    const struct claude_line *const l = claude_shape_read(s, line, len);
    const bool valid = claude_line_read(&plain, line, len) == 0;
    const bool same = valid ? l && is_same(l, &plain) : !l;
    compared++;
    passed_over += l && s->is_known && l->self.p == line;
    if (!same && different++ < 3)
        diag("%.*s", (int)len, line);
}

static void compare_file(struct claude_shape *s, const char *path)
{
    size_t len;
    CLEANUP_FREE char *text = tap_slurp(path, &len);
    const char *const end = text + len;
    for (const char *p = text, *newline; p < end; p = newline + 1) {
        newline = memchr(p, '\n', (size_t)(end - p));
        newline = newline ? newline : end;
        compare(s, p, (size_t)(newline - p));
    }
}

static void test_recordings(void)
{
    glob_t found;
    struct claude_shape s = {0};
    glob(tap_source("dialects/claude/*.jsonl"), 0, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; i++)
        compare_file(&s, found.gl_pathv[i]);
    globfree(&found);
    claude_shape_fini(&s);
    ok(compared > 1000, "%u lines of recordings", compared);
    ok(passed_over > 200, "%u of them were the delta before but for two strings", passed_over);
    is_int(different, 0, "and all are what a reading says");
}

#define HEAD "{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\",\"index\":1,"
#define TAIL "}},\"session_id\":\"s\",\"parent_tool_use_id\":null,\"uuid\":\"u-1\"}"
#define DELTA(text) HEAD "\"delta\":{\"type\":\"text_delta\",\"text\":\"" text "\"" TAIL

#define UUID_FIRST                                                                                 \
    "{\"uuid\":\"u-2\",\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\","     \
    "\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"x\"}}}"

/* A delta, then one with a byte changed, left out or put in, anywhere. */
static void test_changed(void)
{
    static const char first[] = DELTA("Hello"), bytes[] = "\"\\{}[]:,x0 \n\x01\xc3\xa4u";
    struct claude_shape s = {0};
    different = 0;
    for (size_t at = 0; at < sizeof first - 1; at++)
        for (size_t i = 0; i < sizeof bytes - 1; i++) {
            CLEANUP_BUF struct buf changed = {0};
            buf_add(&changed, first, at);
            buf_add_char(&changed, bytes[i]);
            buf_add(&changed, first + at + i % 2, sizeof first - 1 - at - i % 2);
            compare(&s, first, sizeof first - 1);
            compare(&s, changed.p, changed.len);
            compare(&s, changed.p, at);
        }
    is_int(different, 0, "what is changed is not taken for the same");
    claude_shape_fini(&s);
}

static void test_odd(void)
{
    static const char *const lines[] = {
        DELTA(""),
        DELTA("\\n \\u00e4 and ä"),
        DELTA("\xff"),
        DELTA("a \\\" quote"),
        DELTA("one") " ",
        DELTA("one") "}",
        HEAD "\"delta\":{\"type\":\"text_delta\",\"text\":\"a\",\"text\":\"b\"" TAIL,
        HEAD "\"delta\":{\"type\":\"text_delta\",\"text\":\"c\",\"text\":\"d\"" TAIL,
        HEAD "\"delta\":{\"type\":\"text_delta\",\"text\":7" TAIL,
        UUID_FIRST,
        "[]",
        "",
    };
    struct claude_shape s = {0};
    different = 0;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
            compare(&s, lines[i], strlen(lines[i]));
            compare(&s, lines[k], strlen(lines[k]));
        }
    is_int(different, 0, "nor what is odd, behind whatever it comes");
    claude_shape_fini(&s);
}

int main(void)
{
    plan_lazy();
    test_recordings();
    test_changed();
    test_odd();
}
