/* SPDX-License-Identifier: MIT
 * Owns the words, and draws from them. */
#include "bench/prose.h"

struct words {
    const char *const *of;
    uint32_t count;
};

#define WORDS(...)                                                                                 \
    {                                                                                              \
        .of = (const char *const[]){__VA_ARGS__},                                                  \
        .count = sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)                       \
    }

static const struct words plain =
    WORDS("the ", "disk ", "is ", "full ", "of ", "logs; ", "return ", "0; ", "static ", "const ",
          "struct ", "turn ", "in ", "src/main.c ", "error: ", "expected ", "and ", "a ", "reader ",
          "which ", "    ", "if (n > ", "len) ", "->next ", "== NULL ", "tests ", "passed, ",
          "warning ", "128 ", "2026-11-20 ", "drwxr-x ", "function(", "value) ", "should ", "be ",
          "now ", "that ", "there ", "was ", "no ", "room_left, ", "see ", "line ", "while ",
          "for ", "the_reader", ". ", "However, ", "this ");
static const struct words escapes =
    WORDS("\\n", "\\n", "\\n", "\\n    ", "\\n\\n", "\\t", "\\\"", "\\\"", "\\\\");
static const struct words rich_escapes = WORDS(
    "\\n", "\\t", "\\\"", "\\\\", "\\/", "\\u00e9", "\\u4e2d", "\\u20ac", "\\u001b[1m",
    "\\ud83d\\ude00", "\\r\\n", "\\u0041\\u00df", "\\b\\f", "\\\"quoted\\\" ", "\\ud834\\udd1e ");
static const struct words foreign = WORDS("— ", "é", "→ ", "✓ ", "ü", "…");
static const struct words rich_foreign =
    WORDS("Grüße ", "été ", "中文字符", "Привет ", "😀", "→ ", "日本語の", "𝄞", "señor ", "Ελλάδα ");

uint32_t prose_draw(struct prose *p, uint32_t below)
{
    p->random = p->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(p->random >> 33) % below;
}

static const struct words *choose(struct prose *p)
{
    const uint32_t draw = prose_draw(p, 1000);
    if (draw < p->escapes)
        return p->rich ? &rich_escapes : &escapes;
    if (draw < p->escapes + p->foreign)
        return p->rich ? &rich_foreign : &foreign;
    return &plain;
}

void prose_add(struct prose *p, struct buf *to, size_t bytes)
{
    const size_t end = to->len + bytes;
    while (to->len < end) {
        const struct words *const from = choose(p);
        buf_add_str(to, from->of[prose_draw(p, from->count)]);
    }
}
