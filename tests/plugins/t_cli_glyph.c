/* SPDX-License-Identifier: MIT
 * Tests of plugins/cli/terminal/safe_char.c and terminal.c: the text of an agent on a terminal. */
#include <stdlib.h>
#include <string.h>

#include "plugins/cli/terminal/safe_char.h"
#include "plugins/cli/terminal/terminal.h"
#include "plugins/sequences.h"
#include "tap/tap.h"

static size_t show(char *out, const char *p, size_t n, bool ascii)
{
    size_t len = 0;
    while (n > 0) {
        const struct glyph g = glyph_next(p, n, ascii);
        memcpy(out + len, g.text, g.len);
        len += g.len;
        p += g.used;
        n -= g.used;
    }
    out[len] = '\0';
    return len;
}

static bool continues(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Whether the result is the same for each way to split the text in two. */
static bool same_in_pieces(const struct sequence *s)
{
    char out[512];
    const size_t n = strlen(s->raw);
    for (size_t cut = 1; cut < n; cut++) {
        if (continues(s->raw[cut]))
            continue;
        show(out, s->raw, cut, false);
        show(out + strlen(out), s->raw + cut, n - cut, false);
        if (strcmp(out, s->shown) != 0)
            return false;
    }
    return true;
}

static void test_sequences(void)
{
    char out[512];
    for (size_t i = 0; i < SEQUENCES; i++) {
        const struct sequence *s = &sequences[i];
        show(out, s->raw, strlen(s->raw), false);
        is_str(out, s->shown, "%s", s->what);
        ok(same_in_pieces(s), "%s, in two pieces", s->what);
    }
    is_int((long long)SEQUENCES, 60, "there are sixty sequences");
}

static void test_plain(void)
{
    static const char *const same[] = {
        "plain text, punctuation <U+0041> ^[",
        "tab\tand\nnewline",
        "Grüße, 中文, العربية, עברית",
        "👩‍👩‍👧 👍🏽 🇩🇪 e\u0301",
        "",
    };
    char out[512];
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        show(out, same[i], strlen(same[i]), false);
        is_str(out, same[i], "harmless text is unchanged: %s", same[i]);
    }
    show(out, "a\r\nb", 4, false);
    is_str(out, "a\nb", "CRLF becomes a newline");
    show(out, "\xff\xc0\xaf\xed\xa0\x80\xe2\x80", 8, false);
    is_str(out, "<FF><C0><AF><ED><A0><80><E2><80>", "bytes that are not UTF-8");
    show(out, "é中\033", strlen("é中\033"), true);
    is_str(out, "?\?^[", "a terminal that shows ASCII only");
}

static size_t encode(char *out, unsigned cp)
{
    const size_t n = cp < 0x80 ? 1 : cp < 0x800 ? 2 : 3;
    for (size_t i = n - 1; i > 0; i--, cp >>= 6)
        out[i] = (char)(0x80 | (cp & 0x3f));
    static const unsigned lead[] = {0, 0, 0xc0, 0xe0};
    out[0] = (char)(lead[n] | cp);
    return n;
}

static void test_every_character(void)
{
    unsigned bad = 0;
    for (unsigned cp = 1; cp < 0x3000; cp++) {
        char raw[4], out[64];
        const size_t n = encode(raw, cp);
        const size_t len = show(out, raw, n, false);
        for (size_t i = 0; i < len; i++) {
            const unsigned char c = (unsigned char)out[i];
            const bool c1 = c == 0xc2 && (unsigned char)out[i + 1] < 0xa0;
            bad += (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f || c1;
        }
    }
    is_int(bad, 0, "no character becomes a control character");
}

static void check_phrase(struct term *t, const char *text, unsigned limit, const char *wanted)
{
    t->len = 0;
    t->column = 0;
    term_phrase(t, text, strlen(text), limit);
    t->buf[t->len] = '\0';
    is_str(t->buf, wanted, "\"%s\" in %u columns", text, limit);
    ok(limit == 0 || t->column <= limit, "the text does not exceed the columns");
}

static void test_phrases(void)
{
    static struct term t = {.fd = -1};
    check_phrase(&t, "one\ntwo\tthree", 0, "one two three");
    check_phrase(&t, "abcdef", 6, "abcdef");
    check_phrase(&t, "abcdefg", 6, "abcde…");
    check_phrase(&t, "中中中中", 7, "中中中…");
    check_phrase(&t, "中中中中", 6, "中中…");
    check_phrase(&t, "e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301");
    check_phrase(&t, "ab\033[31mcd", 6, "ab^[[…");
    check_phrase(&t, "x\033\033", 3, "x…");
    t.ascii = true;
    check_phrase(&t, "abcdefg", 6, "abc...");
}

int main(void)
{
    plan_lazy();
    test_sequences();
    test_plain();
    test_every_character();
    test_phrases();
    return 0;
}
