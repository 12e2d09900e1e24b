/* SPDX-License-Identifier: MIT
 * Tests of dialect/claude/claude_line_cache.h: what it says of a line is what a reading of the line
 * says. */
#include "dialect/claude/claude_line_cache.h"

#include <glob.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "event/json/json_simd.h"
#include "tap/tap.h"

static unsigned compared, known, passed_over, undone, different;

static bool is_delta(const struct claude_shape *s, const struct claude_line *l)
{
    for (unsigned i = 0; i < CLAUDE_DELTAS; i++)
        if (l && l == s->deltas[i].line)
            return true;
    return false;
}

#define SAME(m) str_equal(a->m, b->m)
static bool same_content(const struct claude_content *a, const struct claude_content *b)
{
    return SAME(type) && SAME(text) && SAME(thinking) && SAME(signature) && SAME(id) &&
           SAME(name) && SAME(tool_use_id) && SAME(input) && SAME(content) && SAME(self) &&
           a->is_error == b->is_error;
}

static bool same_body(const struct claude_body *a, const struct claude_body *b)
{
    return SAME(event) && SAME(delta) && SAME(piece) && SAME(stop_reason) && SAME(message_id) &&
           SAME(model) && SAME(blocks) && SAME(text) && same_content(&a->block, &b->block) &&
           a->is_event == b->is_event && a->index == b->index && !a->self.p == !b->self.p &&
           a->usage.input == b->usage.input && a->usage.output == b->usage.output &&
           !a->piece.p == !b->piece.p;
}

static bool is_same(const struct claude_line *a, const struct claude_line *b)
{
    return SAME(self) && SAME(type) && SAME(subtype) && SAME(session_id) && SAME(uuid) &&
           SAME(parent) && SAME(agent_id) && SAME(error) && SAME(supersedes) &&
           SAME(tool_use_result) && same_body(&a->body, &b->body) &&
           a->abandoned_from == b->abandoned_from && a->aborted == b->aborted &&
           a->replay == b->replay && !a->parent.p == !b->parent.p;
}
#undef SAME

static bool lies_in(struct str part, const char *line, size_t len)
{
    return part.p >= line && part.p < line + len;
}

/* What is in the memo is a string of the line, and what unescaping would make of it. */
static bool is_undone(const struct json_memo *m, const char *line, size_t len)
{
    struct arena arena = {0};
    size_t text_len;
    const char *const text = json_reader_unescape(&arena, m->raw, &text_len);
    const bool same = !m->raw.p || (lies_in(m->raw, line, len) &&
                                    str_equal((struct str){text, text_len},
                                              (struct str){m->text.p, m->text.len}));
    undone += m->raw.p != NULL;
    arena_fini(&arena);
    return same;
}

static void compare(struct claude_shape *s, const char *line, size_t len)
{
    struct claude_line plain;
    const struct claude_line *const l = claude_line_cache_parse(s, line, len);
    const bool valid = claude_line_parse(&plain, line, len, NULL) == 0;
    const bool same = valid ? l && is_same(l, &plain) && is_undone(&s->memo, line, len) : !l;
    compared++;
    known += l && l != &s->line;
    passed_over += is_delta(s, l) && lies_in(l->body.piece, line, len);
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
    claude_line_cache_fini(&s);
    ok(compared > 1000, "%u lines of recordings", compared);
    ok(known > compared / 2, "%u of them had around the body what one before had", known);
    ok(passed_over > 200, "%u of them were a delta before but for two strings", passed_over);
    is_int(undone > passed_over / 2, json_simd_can_unescape(), "%u strings were undone in passing",
           undone);
    is_int(different, 0, "and all are what a reading says");
}

#define HEAD "{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\",\"index\":1,"
#define TAIL "}},\"session_id\":\"s\",\"parent_tool_use_id\":null,\"uuid\":\"u-1\"}"
#define DELTA(text) HEAD "\"delta\":{\"type\":\"text_delta\",\"text\":\"" text "\"" TAIL

#define STOP(uuid)                                                                                 \
    "{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_stop\",\"index\":1},"          \
    "\"session_id\":\"s\",\"parent_tool_use_id\":null,\"uuid\":\"" uuid "\"}"
#define SAID(body)                                                                                 \
    "{\"type\":\"assistant\",\"message\":" body ",\"session_id\":\"s\",\"uuid\":\"u-1\"}"
#define BOTH                                                                                       \
    "{\"type\":\"stream_event\",\"event\":{\"type\":\"a\",\"index\":3},\"message\":{\"id\":\"m\"}" \
    ","                                                                                            \
    "\"uuid\":\"u-1\"}"

#define UUID_FIRST                                                                                 \
    "{\"uuid\":\"u-2\",\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\","     \
    "\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"x\"}}}"

/* A line, then one with a byte changed, left out or put in, anywhere. */
static void compare_changed(const char *first)
{
    static const char bytes[] = "\"\\{}[]:,x0 \n\x01\xc3\xa4u";
    const size_t len = strlen(first);
    struct claude_shape s = {0};
    for (size_t at = 0; at < len; at++)
        for (size_t i = 0; i < sizeof bytes - 1; i++) {
            CLEANUP_BUF struct buf changed = {0};
            buf_add(&changed, first, at);
            buf_add_char(&changed, bytes[i]);
            buf_add(&changed, first + at + i % 2, len - at - i % 2);
            compare(&s, first, len);
            compare(&s, changed.p, changed.len);
            compare(&s, changed.p, at);
        }
    claude_line_cache_fini(&s);
}

static void test_changed(void)
{
    different = 0;
    compare_changed(DELTA("Hello"));
    compare_changed(STOP("u-1"));
    compare_changed(SAID("{\"id\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"y\"}]}"));
    is_int(different, 0, "what is changed is not taken for the same");
}

/* As many containers as may be, and one more, inside a body and around it. */
static void test_depth(void)
{
    struct claude_shape s = {0};
    different = 0;
    for (unsigned depth = JSON_MAX_DEPTH - 3; depth < JSON_MAX_DEPTH + 2; depth++) {
        CLEANUP_BUF struct buf line = {0};
        buf_printf(&line, "{\"type\":\"assistant\",\"message\":{\"x\":");
        for (unsigned i = 0; i < depth; i++)
            buf_add_char(&line, '[');
        for (unsigned i = 0; i < depth; i++)
            buf_add_char(&line, ']');
        buf_printf(&line, "},\"session_id\":\"s\",\"uuid\":\"u-1\"}");
        static const char plain[] = SAID("{}");
        compare(&s, plain, sizeof plain - 1);
        compare(&s, line.p, line.len);
        compare(&s, line.p, line.len);
    }
    is_int(different, 0, "a body is as deep as it is in its line");
    claude_line_cache_fini(&s);
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
        STOP("u-1"),
        STOP("u-\\n"),
        STOP("u\xc3\xa4"),
        STOP("u\"1"),
        STOP(""),
        SAID("{\"id\":\"m\",\"content\":\"x\"}"),
        SAID("{\"id\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"y\"}]}"),
        SAID(" {}"),
        SAID("{} "),
        SAID("null"),
        SAID("{},\"error\":\"e\""),
        SAID("{},\"message\":{\"id\":\"n\"}"),
        SAID("{"),
        SAID("1 2"),
        SAID(""),
        BOTH,
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
    claude_line_cache_fini(&s);
}

#define OF_KIND(kind, text)                                                                        \
    HEAD "\"delta\":{\"type\":\"" kind "_delta\",\"" kind "\":\"" text "\"" TAIL

static void test_kinds(void)
{
    static const char *const lines[] = {
        OF_KIND("thinking", "a"),
        OF_KIND("text", "longer"),
        STOP("u-1"),
        OF_KIND("partial_json", "{\\\"a\\\":1}"),
    };
    struct claude_shape s = {0};
    different = known = passed_over = 0;
    for (unsigned i = 0; i < 40; i++)
        compare(&s, lines[i % 4], strlen(lines[i % 4]));
    is_int(different, 0, "kinds of deltas take turns");
    is_int(passed_over, 30 - 3, "each is known from its second one on");
    claude_line_cache_fini(&s);
}

int main(void)
{
    plan_lazy();
    test_recordings();
    test_changed();
    test_depth();
    test_odd();
    test_kinds();
}
