/* SPDX-License-Identifier: MIT
 * Tests of base/bytes/utf8.h. */
#include "base/bytes/utf8.h"

#include "tap/tap.h"

/* Direct implementation of Unicode 15 table 3-7, for comparison. */
static bool oracle_is_char(const unsigned char *s, size_t n)
{
    uint32_t cp = n == 1 ? s[0] : n == 2 ? s[0] & 0x1f : n == 3 ? s[0] & 0x0f : s[0] & 0x07;
    const unsigned char lead_mask[] = {0x80, 0xe0, 0xf0, 0xf8}, lead[] = {0, 0xc0, 0xe0, 0xf0};
    const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    if ((s[0] & lead_mask[n - 1]) != lead[n - 1])
        return false;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return false;
        cp = cp << 6 | (s[i] & 0x3f);
    }
    return cp >= least[n - 1] && cp <= 0x10ffff && (cp < 0xd800 || cp > 0xdfff);
}

static bool agrees(const unsigned char *s, size_t n)
{
    return utf8_is_valid((const char *)s, n) == oracle_is_char(s, n);
}

static void test_valid_exhaustive(void)
{
    bool two = true, three = true, four = true;
    for (unsigned a = 0x80; a < 256; a++)
        for (unsigned b = 0x80; b < 256; b++) {
            const unsigned char s[] = {(unsigned char)a, (unsigned char)b};
            two = two && agrees(s, 2);
        }
    for (unsigned a = 0xe0; a < 256; a++)
        for (unsigned b = 0; b < 256; b++)
            for (unsigned c = 0; c < 256; c++) {
                const unsigned char s[] = {(unsigned char)a, (unsigned char)b, (unsigned char)c};
                if (a < 0xf0)
                    three = three && agrees(s, 3);
                const unsigned char t[] = {s[0], s[1], s[2], 0x80}, u[] = {s[0], s[1], s[2], 0x7f};
                if (a >= 0xf0)
                    four = four && agrees(t, 4) && agrees(u, 4);
            }
    ok(two && three && four,
       "all sequences of two, three and four bytes are judged as in the standard");
}

static void test_valid_long(void)
{
    char text[64];
    bool prefix = true;
    for (size_t at = 0; at < sizeof text; at++) {
        memset(text, 'a', sizeof text);
        text[at] = (char)0xff;
        prefix = prefix && utf8_valid_prefix(text, sizeof text) == at;
    }
    ok(prefix, "the valid prefix ends at an invalid byte at any position");
    ok(utf8_is_valid("", 0) && utf8_is_valid(NULL, 0), "an empty text is valid");
    ok(utf8_is_valid("a\0b", 3), "NUL is a character");
    is_int((long long)utf8_valid_prefix("ab\xe2\x82", 4), 2, "an incomplete character is left out");
}

static void test_repair(void)
{
#define R "\xef\xbf\xbd"
    static const struct {
        const char *in, *out;
        size_t count;
    } rows[] = {
        {"plain", "plain", 0},
        {"\xc3\xa4\xf0\x9f\x98\x80", "\xc3\xa4\xf0\x9f\x98\x80", 0},
        /* Unicode 15, tables 3-8 to 3-11 */
        {"\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41", R R R R R R R R "A", 8},
        {"\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41", R R R R R R R R "A", 8},
        {"\xf4\x91\x92\x93\xff\x41\x80\xbf\x42", R R R R R "A" R R "B", 7},
        {"\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41", R R R R "A", 4},
        {"end\xf0\x9f\x98", "end" R, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEANUP_BUF struct buf out = {0};
        is_int((long long)utf8_repair(&out, rows[i].in, strlen(rows[i].in)),
               (long long)rows[i].count, "repairs of row %zu", i);
        is_str(out.p, rows[i].out, "text of row %zu", i);
    }
#undef R
}

static void test_encode(void)
{
    bool same = true;
    for (uint32_t cp = 0; cp < 0x110000; cp++) {
        if (cp >= 0xd800 && cp <= 0xdfff)
            continue;
        char s[4];
        size_t len;
        const size_t n = utf8_encode(s, cp);
        same = same && utf8_is_valid(s, n) && utf8_decode(s, n, &len) == cp && len == n;
    }
    ok(same, "every character is encoded, valid and decoded");
    char s[4];
    is_mem(s, utf8_encode(s, 0xd83d), "\xef\xbf\xbd", 3, "a surrogate becomes U+FFFD");
    is_mem(s, utf8_encode(s, 0x110000), "\xef\xbf\xbd", 3, "a number out of range becomes U+FFFD");
}

static void test_cut(void)
{
#define WOMAN "\xf0\x9f\x91\xa9"
#define JOINER "\xe2\x80\x8d"
#define FLAG_D "\xf0\x9f\x87\xa9"
#define FLAG_E "\xf0\x9f\x87\xaa"
    static const struct {
        const char *text;
        size_t max, cut;
        const char *what;
    } rows[] = {
        {"hello", 5, 5, "the text fits exactly"},
        {"hello", 9, 5, "room to spare"},
        {"hello", 3, 3, "ascii"},
        {"hello", 0, 0, "no room"},
        {"a\xc3\xa4z", 2, 1, "not inside a character"},
        {"xe\xcc\x81z", 2, 1, "not before a combining accent"},
        {"xe\xcc\x81z", 4, 4, "after a combining accent"},
        {"x\r\ny", 2, 1, "not between CR and LF"},
        {"x\n\ny", 2, 2, "between two LF"},
        {"x" WOMAN JOINER WOMAN "y", 5, 1, "not before a joiner"},
        {"x" WOMAN JOINER WOMAN "y", 8, 1, "not behind a joiner"},
        {"x" WOMAN JOINER WOMAN "y", 12, 12, "behind the joined emoji"},
        {"x\xe2\x9d\xa4\xef\xb8\x8fy", 4, 1, "not before a variation selector"},
        {"x" WOMAN "\xf0\x9f\x8f\xbdy", 5, 1, "not before a skin tone"},
        {FLAG_D FLAG_E FLAG_D FLAG_E, 12, 8, "not inside the second flag"},
        {FLAG_D FLAG_E FLAG_D FLAG_E, 8, 8, "between two flags"},
        {"x" FLAG_D FLAG_E FLAG_D FLAG_E, 5, 1, "not inside the first flag"},
        {"e\xcc\x81\xcc\x81\xcc\x81", 4, 3, "one grapheme longer than max: between characters"},
        {WOMAN, 3, 0, "not even a character fits"},
        {"\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab", 6, 6, "all of it is one syllable: cut in it"},
        {"x\xe1\x84\x92\xe1\x85\xa1", 4, 1, "not inside a Hangul syllable"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        is_int((long long)utf8_truncated_len(rows[i].text, strlen(rows[i].text), rows[i].max),
               (long long)rows[i].cut, "cut: %s", rows[i].what);
}

static void test_cut_advances(void)
{
    static const char text[] = "a\xcc\x81" FLAG_D FLAG_E WOMAN JOINER WOMAN "\r\n\xc3\xa4" WOMAN;
    const size_t n = sizeof text - 1;
    bool good = true;
    for (size_t max = 4; max <= n; max++)
        for (size_t at = 0; at < n;) {
            const size_t cut = utf8_truncated_len(text + at, n - at, max);
            good = good && cut > 0 && cut <= max && utf8_is_valid(text + at, cut);
            at += cut ? cut : n;
        }
    ok(good, "repeated cutting ends, with valid pieces of at most max bytes");
}

static void test_next_start(void)
{
    is_int((long long)utf8_next_start("a\xc3\xa4"
                                      "b",
                                      4, 2),
           3, "from a position within a character");
    is_int((long long)utf8_next_start("a\xc3\xa4"
                                      "b",
                                      4, 1),
           1, "from the beginning of a character");
    is_int((long long)utf8_next_start("a\xc3\xa4", 3, 2), 3,
           "from within the last character: the end");
}

static void test_copy(void)
{
    char to[6];
    utf8_copy_truncated(to, sizeof to, "abc\xc3\xa4\xc3\xa4");
    is_str(to, "abc\xc3\xa4", "a copy is cut between characters");
    utf8_copy_truncated(to, sizeof to, NULL);
    is_str(to, "", "a copy of NULL is an empty text");
}

static void test_count(void)
{
    is_int((long long)utf8_count("", 0), 0, "no character");
    is_int((long long)utf8_count("ab", 2), 2, "two characters of one byte");
    is_int((long long)utf8_count("ä中😀.ä中😀.ä中😀.", 30), 12,
           "twelve characters of up to four bytes");
}

int main(void)
{
    plan_lazy();
    test_valid_exhaustive();
    test_valid_long();
    test_count();
    test_repair();
    test_encode();
    test_cut();
    test_cut_advances();
    test_next_start();
    test_copy();
}
