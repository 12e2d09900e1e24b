/* SPDX-License-Identifier: MIT
 * Tests of the look at 64 bytes, each way in which it is done, against what it means byte by byte;
 * of the recordings, too; and of strings of all lengths, which it cuts at every place. */
#include "event/json/json_simd.c" /* all ways, whatever this machine has */

#include <glob.h>
#include <stdlib.h>

#include "base/bytes/utf8.h"
#include "event/json/json_reader.h"
#include "tap/tap.h"

/* A processor with vectors looks at sixteen bytes by those: what it loads them into is known. */
#if defined(WITHOUT_VECTORS)
#define PARTS "plain C"
#if defined(__SSE2__) || defined(__ARM_NEON)
#error "to be compiled without vectors"
#endif
#elif defined(__x86_64__)
#define PARTS "SSE2"
#define PART_VECTOR __m128i
#elif defined(__aarch64__)
#define PARTS "NEON"
#define PART_VECTOR uint8x16_t
#else
#define PARTS "plain C"
#endif
#ifdef PART_VECTOR
_Static_assert(__builtin_types_compatible_p(__typeof__(json_simd16_load("")), PART_VECTOR),
               "this processor has " PARTS);
#endif

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* The n bytes are the beginning of a character. */
static bool is_begun(const char *p, size_t n)
{
    static const char *const ends[] = {"\x80",     "\x80\x80",     "\x80\x80\x80",
                                       "\xa0\x80", "\x90\x80\x80", "\xa0\x80\x80"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends && n < 4; i++) {
        char text[8];
        memcpy(text, p, n);
        memcpy(text + n, ends[i], strlen(ends[i]));
        if (utf8_multibyte_prefix(text, n + strlen(ends[i])) == n + strlen(ends[i]))
            return true;
    }
    return false;
}

/* Bytes of characters, if there are only such, and one that is cut. */
static uint64_t characters_meant(const char *p)
{
    const size_t valid = utf8_valid_prefix(p, JSON_BLOCK);
    uint64_t characters = 0;
    if (valid < JSON_BLOCK && !is_begun(p + valid, JSON_BLOCK - valid))
        return 0;
    for (size_t i = 0; i < valid; i++)
        characters |= (uint64_t)((signed char)p[i] < 0) << i;
    return characters;
}

/* Bytes of the escape at p; 0: it is none that is whole. */
static unsigned escape_meant(const char *p, unsigned n)
{
    if (*p != '\\' || n < 2 || !p[1])
        return 0;
    if (strchr("\"\\/bfnrt", p[1]))
        return 2;
    return p[1] == 'u' && n >= 6 && strspn(p + 2, "0123456789abcdefABCDEF") >= 4 ? 6 : 0;
}

/* The meaning: what is plain is passed, and so is an escape, and a character. */
static uint64_t stops_meant(const char *p)
{
    uint64_t stops = 0;
    for (unsigned i = 0; i < JSON_BLOCK; i++) {
        const unsigned escape = escape_meant(p + i, JSON_BLOCK - i);
        if (escape) {
            i += escape - 1;
            continue;
        }
        stops |= (uint64_t)!json_is_plain(p[i]) << i;
    }
    return stops & ~characters_meant(p);
}

static void fill(char *block, uint32_t *random)
{
    static const char bytes[] = "\\\\\\\\\"\"nbrtfuxRB/ a{}:,\x1f\x01\xc3\xa4\xff~\x7f";
    const uint32_t rare = 1 + next_random(random) % 20;
    for (unsigned i = 0; i < JSON_BLOCK; i++)
        block[i] =
            next_random(random) % rare ? 'a' : bytes[next_random(random) % (sizeof bytes - 1)];
}

/* Characters of all lengths, among them such as only look like one, cut by the end. */
static void fill_characters(char *block, uint32_t *random)
{
    static const char *const pieces[] = {
        "a",
        "\\n",
        "\xc2\x80",
        "\xdf\xbf",
        "\xe0\xa0\x80",
        "\xed\x9f\xbf",
        "中",
        "\xef\xbf\xbf",
        "\xf0\x90\x80\x80",
        "\xf4\x8f\xbf\xbf",
        "😀",
        "bb",
        "\xe0\x9f\x80",
        "\xed\xa0\x80",
        "\xf0\x8f\x80\x80",
        "\xf4\x90\x80\x80",
        "\xc0\x80",
        "\xc1\xbf",
        "\xf5\x80\x80\x80",
        "\x80",
        "\xc3",
        "\xe4\xb8",
        "\xf0\x9f\x98",
        "\xff",
    };
    const uint32_t good = 12, all = sizeof pieces / sizeof *pieces;
    const bool only_good = next_random(random) % 4;
    for (size_t n = 0, len; n < JSON_BLOCK; n += len) {
        const bool bad = !only_good && next_random(random) % 16 == 0;
        const char *const piece = pieces[next_random(random) % (bad ? all : good)];
        len = strlen(piece);
        len = len < JSON_BLOCK - n ? len : JSON_BLOCK - n;
        memcpy(block + n, piece, len);
    }
}

/* A way of looking; stops may be NULL: it only searches. */
struct look {
    const char *name;
    bool is_there;
    uint64_t (*stops)(const char *p);
    const char *(*find)(const char *p, const char *end, uint64_t *stops);
};

/* Of one block. */
static uint64_t stops_found(const struct look *look, const char *block)
{
    uint64_t stops;
    look->find(block, block + JSON_BLOCK, &stops);
    return stops;
}

static void compare(const struct look *look, void (*fill_block)(char *block, uint32_t *random),
                    const char *what)
{
    uint32_t random = 1;
    unsigned wrong = 0;
    for (unsigned round = 0; round < 100000; round++) {
        char block[JSON_BLOCK + 1] = {0};
        fill_block(block, &random);
        const uint64_t meant = stops_meant(block);
        wrong += stops_found(look, block) != meant;
        wrong += look->stops && look->stops(block) != meant;
    }
    is_int(wrong, 0, "%s: stops, by %s", what, look->name);
}

static void test_find(const struct look *look)
{
    char text[8 * JSON_BLOCK];
    unsigned wrong = 0;
    for (unsigned at = 0; at < sizeof text; at++) {
        memset(text, 'a', sizeof text);
        text[at] = '"';
        uint64_t stops;
        const char *const found = look->find(text, text + sizeof text - 7, &stops);
        const bool whole = at / JSON_BLOCK < 7; /* the last one is not */
        wrong += found != text + (whole ? at / JSON_BLOCK * JSON_BLOCK : 7 * JSON_BLOCK);
        wrong += stops != (whole ? UINT64_C(1) << at % JSON_BLOCK : 0);
    }
    is_int(wrong, 0, "the first block with a stop byte, and no incomplete block, by %s",
           look->name);
}

/* Blocks that differ from what they mean, of a file, at places of any alignment. */
static unsigned file_differs(const struct look *look, const char *path, unsigned *blocks)
{
    size_t len;
    unsigned wrong = 0;
    char *const text = tap_slurp(path, &len);
    for (size_t at = 0; at + JSON_BLOCK <= len; at += JSON_BLOCK - 3, ++*blocks)
        wrong += stops_found(look, text + at) != stops_meant(text + at);
    free(text);
    return wrong;
}

static void test_recordings(const struct look *look)
{
    static const char *const folders[] = {"dialects/*/*.*", "turns/*/*.*"};
    unsigned wrong = 0, blocks = 0;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        glob_t files;
        if (glob(tap_source(folders[i]), 0, NULL, &files) != 0)
            bail("no recordings");
        for (size_t k = 0; k < files.gl_pathc; k++)
            wrong += file_differs(look, files.gl_pathv[k], &blocks);
        globfree(&files);
    }
    is_int(wrong, 0, "every recording: stop bytes, by %s", look->name);
    ok(blocks > 10000, "of %u blocks", blocks);
}

static void test_look(const struct look *look)
{
    if (!look->is_there) {
        skip(5, "this machine has no %s", look->name);
        return;
    }
    compare(look, fill, "escapes");
    compare(look, fill_characters, "characters");
    test_find(look);
    test_recordings(look);
}

/* What a part tells of its byte i, which is the only one that is not a space, against c. */
static bool part_tells(const char *part, unsigned i, char c)
{
    const char at = part[i];
    const unsigned bit = 1U << i, others = 0xffff & ~bit;
    char copy[JSON_PART];
    bool good = json_simd16_stops(part) == (json_is_plain(at) ? 0 : bit);
    good &= json_simd16_shorts(part) == (json_is_short_escape(at) ? bit : 0);
    good &= json_simd16_equal(part, c) == ((at == c ? bit : 0) | (c == ' ' ? others : 0));
    good &= json_simd16_above(part, c) ==
            (((signed char)at > (signed char)c ? bit : 0) | (' ' > (signed char)c ? others : 0));
    good &= json_simd16_copy(copy, part) == (at == '\\' ? bit : 0);
    return good && memcmp(copy, part, sizeof copy) == 0;
}

static void test_parts(void)
{
    static const int against[] = {' ', '"', '\\', 'u', '9', 0, 0x7f, 0x80, 0xbf, 0xf4, 0xff};
    unsigned wrong = 0;
    for (unsigned i = 0; i < JSON_PART; i++) {
        for (int byte = 0; byte < 256; byte++) {
            char part[JSON_PART];
            memset(part, ' ', sizeof part);
            part[i] = (char)byte;
            for (size_t k = 0; k < sizeof against / sizeof *against; k++)
                wrong += !part_tells(part, i, (char)against[k]);
        }
    }
    is_int(wrong, 0, "every byte value at every position of sixteen, by " PARTS);
}

static void add_random(uint32_t *random, struct buf *raw, struct buf *text)
{
    static const struct {
        const char *raw, *text;
    } pieces[] = {
        {"a", "a"},
        {"plain text ", "plain text "},
        {"\\n", "\n"},
        {"\\\"", "\""},
        {"\\\\", "\\"},
        {"\\/", "/"},
        {"\\u0041", "A"},
        {"\\ud83d\\ude00", "😀"},
        {"\\ud83d", "\xef\xbf\xbd"},
        {"ä", "ä"},
        {"中", "中"},
        {"😀", "😀"},
        {"xxxxxxxxxxxxxxxxxxxxxxxxx", "xxxxxxxxxxxxxxxxxxxxxxxxx"},
    };
    const uint32_t kinds = sizeof pieces / sizeof *pieces, i = next_random(random) % kinds;
    buf_add_str(raw, pieces[i].raw);
    buf_add_str(text, pieces[i].text);
    /* Not joined with a low half that would follow. */
    if (strcmp(pieces[i].raw, "\\ud83d") == 0) {
        buf_add_str(raw, ".");
        buf_add_str(text, ".");
    }
}

static unsigned in_memo;

/* A string somewhere in a line: read, unescaped, with what is behind it found. */
static bool reads(uint32_t *random, struct json_memo *memo)
{
    CLEANUP_BUF struct buf line = {0}, raw = {0}, text = {0};
    for (uint32_t n = next_random(random) % 40; n > 0; n--)
        add_random(random, &raw, &text);
    buf_printf(&line, "%*s{\"k\"%s:\"", (int)(next_random(random) % 70), "",
               next_random(random) % 4 ? "" : " \t");
    buf_add(&line, raw.p, raw.len);
    buf_add_str(&line, "\",\"behind\":[\"it\",7]}");
    struct arena arena = {0};
    struct json j;
    struct str key, value = {0};
    json_init(&j, line.p, line.len);
    j.memo = next_random(random) % 2 ? memo : NULL;
    bool good = json_reader_enter_object(&j) && json_reader_next_key(&j, &key) &&
                json_reader_read_string(&j, &value);
    good &= str_equal(value, (struct str){raw.p, raw.len});
    size_t len = 0;
    const char *const got = json_reader_unescape(&arena, value, &len);
    good &= str_equal((struct str){got, len}, (struct str){text.p, text.len});
    const struct buf *const known = json_reader_memo_text(memo, value);
    good &= !known || str_equal((struct str){known->p, known->len}, (struct str){text.p, text.len});
    in_memo += known != NULL;
    json_reader_memo_reset(memo);
    good &= json_reader_next_key(&j, &key) && str_is(key, "behind");
    json_reader_skip(&j, &value);
    good &= str_is(value, "[\"it\",7]") && !json_reader_next_key(&j, &key) &&
            json_reader_finish(&j) == 0;
    arena_fini(&arena);
    if (!good)
        diag("%s", line.p);
    return good;
}

static void test_strings(void)
{
    struct json_memo memo = {0};
    uint32_t random = 7;
    unsigned good = 0;
    for (unsigned i = 0; i < 20000; i++)
        good += reads(&random, &memo);
    is_int(good, 20000, "strings of all kinds at all positions");
    is_int(in_memo > 500, json_simd_can_unescape(),
           "%u strings were unescaped while they were checked", in_memo);
    buf_fini(&memo.text);
}

/* What is written stays in the room that the text has as it is, and it stops at a \u alone. */
static bool undoes(size_t len, size_t escape_at, const char *escape)
{
    char text[3 * JSON_BLOCK], out[3 * JSON_BLOCK + 1], *to = out;
    memset(text, 'a', sizeof text);
    memset(out, '#', sizeof out);
    memcpy(text + escape_at, escape, strlen(escape));
    const char *const stop = json_simd_unescape(&to, text, text + len);
    const bool unit = escape[1] == 'u', none = stop == text && to == out;
    const bool done = unit ? stop == text + escape_at && to == out + escape_at
                           : stop == text + len && to == out + len - 1;
    for (size_t i = len; i < sizeof out; i++)
        if (out[i] != '#')
            return false;
    return done || none;
}

static void test_room(void)
{
    static const char *const escapes[] = {"\\n", "\\\\", "\\u00e4"};
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++)
        for (size_t len = strlen(escapes[i]); len <= 3 * JSON_BLOCK; len++)
            for (size_t at = 0; at + strlen(escapes[i]) <= len; at++)
                wrong += !undoes(len, at, escapes[i]);
    is_int(wrong, 0, "nothing is written beyond the buffer, for any length");
}

/* Text of random length, mostly valid; returns whether it is, as what stands between quotes. */
static bool fill_text(struct buf *text, uint32_t *random)
{
    char block[JSON_BLOCK];
    void (*const kind)(char *, uint32_t *) = next_random(random) % 2 ? fill : fill_characters;
    buf_reset(text);
    for (uint32_t left = next_random(random) % (4 * JSON_BLOCK), n; left > 0; left -= n) {
        n = left < JSON_BLOCK ? left : JSON_BLOCK;
        if (next_random(random) % 2)
            memset(block, 'b', sizeof block);
        else
            kind(block, random);
        buf_add(text, block, n);
    }
    buf_add_char(text, '"');
    const char *const quote = text->p + --text->len;
    return json_reader_string_end(text->p, quote + 1) == quote;
}

/* What it takes for valid is, and becomes what it stands for; what is valid it stops in only at
 * a \u. */
static bool checks(const struct buf *text, bool valid)
{
    struct arena arena = {0};
    size_t len;
    char out[4 * JSON_BLOCK + 1], *end = out;
    const char *const stop = json_simd_unescape_checked(&end, text->p, text->p + text->len);
    const char *const meant = json_reader_unescape(&arena, (struct str){text->p, text->len}, &len);
    const bool whole = stop == text->p + text->len;
    const bool same = whole && valid && (size_t)(end - out) == len && memcmp(out, meant, len) == 0;
    const bool may_stop = !valid || strncmp(stop, "\\u", 2) == 0;
    arena_fini(&arena);
    return whole ? same : may_stop;
}

static void test_check(void)
{
    CLEANUP_BUF struct buf text = {0};
    uint32_t random = 3;
    unsigned good = 0, valid = 0;
    if (!json_simd_can_unescape()) {
        skip(2, "this machine cannot check and unescape at once");
        return;
    }
    for (unsigned i = 0; i < 20000; i++) {
        const bool is_valid = fill_text(&text, &random);
        valid += is_valid;
        good += checks(&text, is_valid);
    }
    is_int(good, 20000, "text is checked and unescaped at once");
    ok(valid > 2000 && valid < 18000, "some of the texts are valid");
}

/* Of a line that is cut anywhere nothing is taken for valid. */
static void test_cut(void)
{
    static const char line[] =
        "{\"type\":\"stream_event\",\"text\":\"a \\\\\\\" quote, and a text that is much longer "
        "than "
        "one block of sixty-four bytes, \\n\\u00e4 and ä\",\"n\":12,\"list\":[null,true,{}]}";
    unsigned valid = 0;
    for (size_t n = 0; n < sizeof line - 1; n++) {
        struct json j;
        json_init(&j, line, n);
        json_reader_skip(&j, NULL);
        valid += json_reader_finish(&j) == 0;
    }
    is_int(valid, 0, "a line that is cut at any position is invalid");
}

int main(void)
{
    const struct look looks[] = {
        {"parts of sixteen bytes, by " PARTS, true, parts_stops, parts_find},
#ifdef __x86_64__
        {"AVX2", JSON_HAS_AVX2, json_avx2_stop_mask, json_avx2_find},
        {"AVX-512", JSON_HAS_AVX512, NULL, json_avx512_find},
#endif
    };
    plan_lazy();
    test_parts();
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++)
        test_look(&looks[i]);
    test_check();
    test_strings();
    test_room();
    test_cut();
}
