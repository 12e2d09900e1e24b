/* SPDX-License-Identifier: MIT
 * Differential test of event/json/json_reader.h: handwritten, mutated, cut and random texts,
 * jansson the judge. */
#include "event/json_oracle.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes/buf.h"
#include "base/cleanup.h"
#include "event/json/json_reader.h"
#include "tap/tap.h"

static const char *const lines[] = {
    ("{\"type\":\"stream_event\",\"event\":{\"type\":\"content_block_delta\",\"index\":0,\"delta\":"
     "{\"type\":\"text_delta\",\"text\":\"Hello, \\\"w\\u00f6rld\\\" \xf0\x9f\x98\x80\\n\"}},"
     "\"parent_tool_use_id\":null}"),
    ("{\"type\":\"result\",\"is_error\":false,\"total_cost_usd\":0.0123,\"num_turns\":3,"
     "\"usage\":{\"input_tokens\":12,\"cache\":[1e3,-0.5E-2]},\"result\":\"\\ud83d\"}"),
    ("[null,true,false,\"\",{},[],-0,0.0,1e400,123456789012345678901234567890,\"\\u0000\"]"),
    (" { \"k\" : [ 1 , [ 2 , { \"\\ud83d\\ude00\" : \"\xc3\xa4\xe2\x82\xac\" } ] ] }\r\n"),
    ("{\"a\":{\"b\":{\"c\":[{\"d\":\"sixteen bytes of text and then \\u2028 some\"}]}},\"a\":0}"),
};

enum { LINES = sizeof lines / sizeof lines[0] };

/* Quiet while all is well; the first failure tells its text. */
static bool holds(const char *text, size_t len)
{
    const char *const broken = json_oracle_check(text, len);
    if (!broken)
        return true;
    diag("%s:", broken);
    diag("%.*s", (int)(len < 500 ? len : 500), text);
    return false;
}

/* A copy without room behind it, so that a read too far is seen by the sanitizer. */
static bool holds_exactly(const char *text, size_t len)
{
    char *const copy = malloc(len ? len : 1);
    if (len)
        memcpy(copy, text, len);
    const bool good = holds(copy, len);
    free(copy);
    return good;
}

static void test_prefixes(void)
{
    for (size_t i = 0; i < LINES; i++) {
        bool good = true;
        for (size_t len = 0; good && len <= strlen(lines[i]); len++)
            good = holds_exactly(lines[i], len);
        ok(good, "every prefix of line %zu", i);
    }
}

static void test_mutations(void)
{
    static const unsigned char bytes[] = "\"\\{}[]:,. \t\n0159-+eEutnf/ax\x01\x1f\x7f\x80\xbf"
                                         "\xc0\xc3\xe0\xed\xf0\xf4\xff";
    for (size_t i = 0; i < LINES; i++) {
        CLEANUP_BUF struct buf line = {0};
        buf_add_str(&line, lines[i]);
        bool good = true;
        for (size_t at = 0; good && at < line.len; at++) {
            for (size_t k = 0; good && k < sizeof bytes; k++) { /* NUL among them */
                line.p[at] = (char)bytes[k];
                good = holds(line.p, line.len);
            }
            line.p[at] = lines[i][at];
        }
        ok(good, "every byte of line %zu changed", i);
    }
}

static void test_bytes(void)
{
    static const char *const texts[] = {"[\"ab\",1.5]", "{\"\\n\":tru}", "\"\\ud83d\"", "-12e3"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        CLEANUP_BUF struct buf line = {0};
        buf_add_str(&line, texts[i]);
        bool good = true;
        for (size_t at = 0; good && at < line.len; at++) {
            for (int byte = 0; good && byte < 256; byte++) {
                line.p[at] = (char)byte;
                good = holds(line.p, line.len);
            }
            line.p[at] = texts[i][at];
        }
        ok(good, "every byte of %s changed to every other", texts[i]);
    }
}

static uint32_t dice(uint32_t sides)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32) % sides;
}

static void add_one_of(struct buf *b, const char *const *words, uint32_t count)
{
    buf_add_str(b, words[dice(count)]);
}

static void add_space(struct buf *b)
{
    static const char *const spaces[] = {"", "", "", "", " ", "\t", "\r\n", "  "};
    add_one_of(b, spaces, 8);
}

static void add_string(struct buf *b)
{
    static const char *const pieces[] = {
        "a",
        "plain text, more than sixteen bytes of it",
        "\\n",
        "\\\\",
        "\\\"",
        "\\/",
        "\\u0041",
        "\\u00e4",
        "\\ud83d",
        "\\ude00",
        "\\ud83d\\ude00",
        "\\u0000",
        "\\uFFFF",
        "\\u2028",
        "\xc3\xa4",
        "\xe2\x82\xac",
        "\xe2\x80\xa8",
        "\xf0\x9f\x98\x80",
        "\xef\xbf\xbf",
        "\x7f",
        "{",
    };
    buf_add_char(b, '"');
    for (uint32_t n = dice(8); n; n--)
        add_one_of(b, pieces, sizeof pieces / sizeof pieces[0]);
    buf_add_char(b, '"');
}

static void add_number(struct buf *b)
{
    static const char *const fractions[] = {"", "", ".0", ".5", ".125", ".000000000000000000001"};
    static const char *const exponents[] = {"", "", "", "e0", "E+2", "e-7", "e22", "e308", "e-320"};
    if (dice(3) == 0)
        buf_add_char(b, '-');
    const uint32_t digits = dice(24);
    buf_add_char(b, digits ? (char)('1' + dice(9)) : '0');
    for (uint32_t i = 1; i < digits; i++)
        buf_add_char(b, (char)('0' + dice(10)));
    add_one_of(b, fractions, 6);
    add_one_of(b, exponents, 9);
}

static void add_value(struct buf *b, unsigned depth);

static void add_container(struct buf *b, unsigned depth, bool object)
{
    buf_add_char(b, object ? '{' : '[');
    add_space(b);
    for (uint32_t n = dice(5), i = 0; i < n; i++) {
        if (i)
            buf_add_char(b, ',');
        add_space(b);
        if (object) {
            add_string(b);
            add_space(b);
            buf_add_char(b, ':');
        }
        add_value(b, depth + 1);
    }
    buf_add_char(b, object ? '}' : ']');
}

static void add_value(struct buf *b, unsigned depth)
{
    static const char *const literals[] = {"null", "true", "false"};
    add_space(b);
    const uint32_t kind = dice(depth < 6 ? 8 : 4);
    if (kind == 0)
        add_one_of(b, literals, 3);
    else if (kind == 1)
        add_number(b);
    else if (kind < 4)
        add_string(b);
    else
        add_container(b, depth, kind < 6);
    add_space(b);
}

static void mutate(struct buf *b)
{
    static const char bytes[] = "\"\\{}[]:,. 0-eu\x01\x80\xff";
    const size_t at = dice((uint32_t)b->len);
    if (dice(3) == 0)
        memmove(b->p + at, b->p + at + 1, b->len-- - at);
    else
        b->p[at] = bytes[dice(sizeof bytes)];
}

static void test_random(void)
{
    bool valid = true, mutated = true;
    for (int i = 0; valid && mutated && i < 2500; i++) {
        CLEANUP_BUF struct buf b = {0};
        add_value(&b, 0);
        valid = holds_exactly(b.p, b.len);
        for (int k = 0; mutated && k < 4 && b.len; k++) {
            mutate(&b);
            mutated = holds_exactly(b.p, b.len);
        }
    }
    ok(valid, "random values");
    ok(mutated, "random values, damaged");
}

static void test_deep(void)
{
    static const unsigned depths[] = {511, 512, 513, 2047, 5000};
    for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++) {
        CLEANUP_BUF struct buf b = {0};
        for (unsigned k = 0; k < depths[i]; k++)
            buf_add_char(&b, '[');
        for (unsigned k = 0; k < depths[i]; k++)
            buf_add_char(&b, ']');
        ok(holds(b.p, b.len), "arrays %u deep", depths[i]);
    }
}

static size_t from_hex(char *line)
{
    size_t n = 0;
    unsigned byte;
    for (const char *p = line; sscanf(p, "%2x", &byte) == 1; p += 2)
        line[n++] = (char)byte;
    return n;
}

/* For json_node.t: of each text (a line of hex) "-" when it is refused, else its value, compact. */
static void print_verdicts(void)
{
    CLEANUP_FREE char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        CLEANUP_BUF struct buf compact = {0};
        struct json j;
        struct str value = {0};
        json_init(&j, line, from_hex(line));
        json_reader_skip(&j, &value);
        if (json_reader_finish(&j) == 0)
            json_reader_compact(&compact, value);
        puts(compact.len ? compact.p : "-");
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--verdicts") == 0) {
        print_verdicts();
        return 0;
    }
    plan_lazy();
    test_prefixes();
    test_bytes();
    test_mutations();
    test_random();
    test_deep();
}
