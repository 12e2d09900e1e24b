/* SPDX-License-Identifier: MIT
 * Tests of unescaping, comparing, pointers, compacting and repair in event/json/json_reader.h. */
#include "event/json/json_reader.h"
#include "event/json/json_scan.h"

#include "tap/tap.h"

#define R "\xef\xbf\xbd"
#define SMILE "\xf0\x9f\x98\x80"

static const struct {
    const char *raw, *text;
} unescape_rows[] = {
    {"", ""},
    {"plain", "plain"},
    {"\xc3\xa4" SMILE, "\xc3\xa4" SMILE},
    {"\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t"},
    {"a\\nb", "a\nb"},
    {"\\u0041\\u00e4\\u20AC", "A\xc3\xa4\xe2\x82\xac"},
    {"\\ud83d\\ude00", SMILE},
    {"x\\uD83D\\uDE00y", "x" SMILE "y"},
    {"\\u0000", R},
    {"\\ud83d", R},
    {"\\ude00", R},
    {"\\ud83dx", R "x"},
    {"\\ud83d\\n", R "\n"},
    {"\\ud83d\\u0041", R "A"},
    {"\\ud83d\\ud83d\\ude00", R SMILE},
    {"\\ude00\\ud83d", R R},
    {"\\ud83d\\ude00\\ude00", SMILE R},
    {"\\\\u0041", "\\u0041"},
    {"\\udbff\\udfff", "\xf4\x8f\xbf\xbf"},
};

static void test_unescape(void)
{
    struct arena a = {0};
    for (size_t i = 0; i < sizeof unescape_rows / sizeof unescape_rows[0]; i++) {
        const char *const raw = unescape_rows[i].raw;
        size_t len = 99;
        const char *const text = json_reader_unescape(&a, (struct str){raw, strlen(raw)}, &len);
        is_str(text, unescape_rows[i].text, "unescaped: %s", raw);
        is_int((long long)len, (long long)strlen(text), "the length of the unescaped string");
    }
    ok(json_reader_unescape(&a, (struct str){0}, NULL) == NULL, "a missing slice gives NULL");
    arena_fini(&a);
}

static void add_piece(struct buf *text, struct arena *a, struct str raw, uint16_t *pending)
{
    size_t len;
    const char *const piece = json_reader_unescape_piece(a, raw, pending, &len);
    buf_add(text, piece, len);
}

/* Cut between its characters and escapes, text comes out the same. */
static void test_pieces(void)
{
    static const struct str halves[][2] = {
        {STR("a\\ud83d"), STR("\\ude00b")}, {STR("a\\ud83d"), STR("b")},
        {STR("a\\ud83d"), STR("\\n")},      {STR("a\\ud83d"), STR("\\ud83d\\ude00")},
        {STR("a"), STR("\\ude00b")},        {STR("\\ud83d"), STR("\\ude00")},
        {STR("a\\ud83d\\ude00"), STR("b")}, {STR(""), STR("x")},
    };
    struct arena a = {0};
    for (size_t i = 0; i < sizeof halves / sizeof halves[0]; i++) {
        CLEANUP_BUF struct buf text = {0}, both = {0};
        uint16_t pending = 0;
        add_piece(&text, &a, halves[i][0], &pending);
        add_piece(&text, &a, STR(""), &pending);
        add_piece(&text, &a, halves[i][1], &pending);
        buf_add(&both, halves[i][0].p, halves[i][0].len);
        buf_add(&both, halves[i][1].p, halves[i][1].len);
        is_str(text.p, json_reader_unescape(&a, (struct str){both.p, both.len}, NULL),
               "pieces of %s", both.p);
        is_int(pending, 0, "no surrogate is pending");
    }
    uint16_t pending = 0;
    is_str(json_reader_unescape_piece(&a, STR("x\\ud83d"), &pending, NULL), "x",
           "a high surrogate is kept");
    is_int(pending, 0xd83d, "the low surrogate completes the character");
    ok(json_reader_unescape_piece(&a, (struct str){0}, &pending, NULL) == NULL,
       "a missing slice gives NULL");
    is_int(pending, 0xd83d, "an unexpected character does not change the result");
    arena_fini(&a);
}

static void test_memo(void)
{
    static const char *const bad[] = {"a\"b", "a\\",  "a\\x",  "a\nb",
                                      "\xff", "\xc3", "\\u12", "\\u12g4"};
    static const struct str good = STR("a text \\n of \\u00e4 and ä, more than one part");
    static const struct str plain = STR("a plain text of more than one part");
    struct json_memo m = {0};
    ok(json_reader_memo_text(&m, good) == NULL, "before the check the memo is empty");
    ok(json_memo_decode(&m, good) == json_simd_can_unescape(),
       "the checked string is in the memo, if the machine supports it");
    ok(!json_simd_can_unescape() || strcmp(json_reader_memo_text(&m, good)->p,
                                           "a text \n of ä and ä, more than one part") == 0,
       "the string of the memo is unescaped");
    ok(json_memo_decode(&m, plain) == json_simd_can_unescape(), "another string is checked");
    ok(!json_reader_memo_text(&m, good), "the first string is forgotten");
    ok(!json_reader_memo_text(&m, (struct str){plain.p, plain.len - 1}),
       "another slice is not in the memo");
    ok(!json_reader_memo_text(&m, (struct str){0}), "a missing slice is not in the memo");
    json_reader_memo_reset(&m);
    ok(!json_reader_memo_text(&m, plain), "forgotten");
    ok(json_memo_decode(&m, STR("")) == json_simd_can_unescape() && m.text.len == 0,
       "an empty string");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ok(!json_memo_decode(&m, (struct str){bad[i], strlen(bad[i])}) && !m.raw.p,
           "not valid: %zu", i);
    ok(!json_memo_decode(&m, STR("\\ud83d")), "an incomplete character at the end may continue");
    buf_fini(&m.text);
}

/* Read by a cursor with a memo and by one without; returns whether they say the same. */
static bool reads_alike(const struct buf *line, struct json_memo *m, struct str *string)
{
    struct json with, without;
    struct str other = {0};
    json_reader_memo_reset(m);
    json_init(&with, line->p, line->len);
    json_init(&without, line->p, line->len);
    with.memo = m;
    const bool good = json_reader_enter_array(&with) && json_reader_next_element(&with) &&
                      json_reader_read_string(&with, string) && !json_reader_next_element(&with);
    const bool same = json_reader_enter_array(&without) && json_reader_next_element(&without) &&
                      json_reader_read_string(&without, &other) &&
                      !json_reader_next_element(&without);
    return good == same && json_reader_finish(&with) == json_reader_finish(&without) &&
           str_equal(*string, other);
}

#define LONG "a text that is longer than one block of sixty-four bytes, and has no quote in it "

static void test_memo_reading(void)
{
    static const struct {
        const char *text;
        bool valid, known;
    } rows[] = {
        {LONG, true, true},
        {LONG "\\n\\\\\\\"" LONG, true, true},
        {LONG "ä\\u00e4" LONG "\\ud83d\\ude00", true, true},
        {"\\u00e4" LONG, true, true},
        {LONG "\\ud83d" LONG, true, false},
        {LONG "\\u0000" LONG, true, false},
        {LONG "\\x", false, false},
        {LONG "\xff", false, false},
        {LONG "\n", false, false},
        {LONG "\\", false, false},
    };
    struct json_memo m = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP_BUF struct buf line = {0};
        struct str string = {0};
        buf_printf(&line, "[\"%s\"]", rows[i].text);
        ok(reads_alike(&line, &m, &string), "the memo does not change the results: %zu", i);
        is_int(string.p != NULL, rows[i].valid, "valid and invalid strings occurred");
        is_int(json_reader_memo_text(&m, string) != NULL, rows[i].known && json_simd_can_unescape(),
               "known and unknown strings occurred");
    }
    buf_fini(&m.text);
}

static void test_string_is(void)
{
    ok(json_reader_string_is(STR("text"), "text"), "equal strings");
    ok(json_reader_string_is(STR("\\u0074e\\u0078t"), "text"),
       "equal strings, one of them escaped");
    ok(json_reader_string_is(STR("a\\/b\\n"), "a/b\n"), "equal strings with short escapes");
    ok(json_reader_string_is(STR(""), ""), "two empty strings");
    ok(!json_reader_string_is(STR("texts"), "text"), "longer");
    ok(!json_reader_string_is(STR("tex"), "text"), "shorter");
    ok(!json_reader_string_is(STR("\\u0174ext"), "text"), "strings with different characters");
    ok(!json_reader_string_is((struct str){0}, ""),
       "a missing string is not equal to an empty one");
}

static void test_pointer(void)
{
    static const char doc[] = " {\"a\":{\"b\":[10,[20],{\"c\":null}]},\"\":1,\"a/b\":2,\"m~n\":3,"
                              "\"\\u00e4\":4,\"d\":5,\"d\":6,\"0\":7,\"\\u0078\":8} ";
    static const struct {
        const char *pointer, *value;
    } rows[] = {
        {"/a/b/0", "10"},
        {"/a/b/1", "[20]"},
        {"/a/b/1/0", "20"},
        {"/a/b/2/c", "null"},
        {"/a/b/2", "{\"c\":null}"},
        {"/", "1"},
        {"/a~1b", "2"},
        {"/m~0n", "3"},
        {"/\xc3\xa4", "4"},
        {"/d", "6"},
        {"/0", "7"},
        {"/x", "8"},
        {"/a/b/3", NULL},
        {"/a/b/-", NULL},
        {"/a/b/00", NULL},
        {"/a/b/1x", NULL},
        {"/a/b/", NULL},
        {"/a/b/99999999999999999999", NULL},
        {"/a/b/0/x", NULL},
        {"/nope", NULL},
        {"a", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct str got = json_reader_pointer(STR(doc), rows[i].pointer);
        const char *const wanted = rows[i].value;
        is_mem(got.p, got.len, wanted, wanted ? strlen(wanted) : 0, "pointer %s", rows[i].pointer);
        ok(!got.p == !wanted, "existing and missing values");
    }
    is_int((long long)json_reader_pointer(STR("[1]"), "").len, 3,
           "the empty pointer is the document");
}

static const struct {
    const char *value, *compact;
} compact_rows[] = {
    {"{ \"a\" : [ 1 ,\t2 ] ,\r\n\"b c\" : \" x \" }", "{\"a\":[1,2],\"b c\":\" x \"}"},
    {"[true, false ,null]", "[true,false,null]"},
    {"\"\\ud83d\"", "\"\\ufffd\""},
    {"\"\\ude00 \\ud83d\\ude00 \\ud83d\\ud83d\\ude00\"",
     "\"\\ufffd \\ud83d\\ude00 \\ufffd\\ud83d\\ude00\""},
    {"\"\\u0000\\\\u0000\\u0001\"", "\"\\ufffd\\\\u0000\\u0001\""},
    {"{\"\\ud83d\\u0000\":1}", "{\"\\ufffd\\ufffd\":1}"},
    {"\"a \\\" b\"", "\"a \\\" b\""},
    {"\"\xc3\xa4 \xe2\x82\xac\"", "\"\xc3\xa4 \xe2\x82\xac\""},
    {"[1e400,-1e400,1E400]", "[null,null,null]"},
    {"[1e-400,1.50,-0,1e2]", "[1e-400,1.50,-0,1e2]"},
    {"9223372036854775807", "9223372036854775807"},
    {"-9223372036854775808", "-9223372036854775808"},
    {"9223372036854775808", "9.223372036854776e+18"},
    {"-9223372036854775809", "-9.223372036854776e+18"},
    {"123456789012345678901234567890", "1.2345678901234568e+29"},
};

static void test_compact(void)
{
    struct arena a = {0};
    for (size_t i = 0; i < sizeof compact_rows / sizeof compact_rows[0]; i++) {
        const char *const value = compact_rows[i].value;
        size_t len;
        const char *const text =
            json_reader_compact_dup(&a, (struct str){value, strlen(value)}, &len);
        is_mem(text, len, compact_rows[i].compact, strlen(compact_rows[i].compact), "compact %s",
               value);
    }
    CLEANUP_BUF struct buf huge = {0};
    for (int i = 0; i < 400; i++)
        buf_add_char(&huge, '9');
    is_str(json_reader_compact_dup(&a, (struct str){huge.p, huge.len}, NULL), "null", "400 digits");
    ok(json_reader_compact_dup(&a, (struct str){0}, NULL) == NULL, "a missing slice gives NULL");
    arena_fini(&a);
}

static const struct {
    struct str line;
    const char *mended; /* NULL: nothing could be mended */
    unsigned repairs;
} repair_rows[] = {
    {STR("{\"a\":1}"), NULL, 0},
    {STR("{\"a\":x}"), NULL, 0},
    {STR(""), NULL, 0},
    {STR("\xef\xbb\xbf{}"), "{}", 1},
    {STR("{\"a\":NaN,\"b\":[Infinity,-Infinity]}"), "{\"a\":null,\"b\":[null,null]}", 3},
    {STR("[\"NaN\",\"-Infinity\"]"), NULL, 0},
    {STR("[NaNs,xNaN,Infinity1]"), NULL, 0},
    {STR("\"a\tb\nc\x01\""), "\"a\\tb\\nc\\u0001\"", 3},
    {STR("\"a\0b\""), "\"a\\u0000b\"", 1},
    {STR("{\"a\"\0:1}\0"), "{\"a\":1}", 2},
    {STR("\"a\xff\xc3\xa4\xe2\x82\""), "\"a" R "\xc3\xa4" R "\"", 2},
    {STR("\"\\\"\xff\\\\\""), "\"\\\"" R "\\\\\"", 1},
    {STR("\"\\\n\""), "\"\\\\\\n\"", 1},
    {STR("\"cut\xff"), "\"cut" R, 1},
    {STR("\"cut\xff\\"), "\"cut" R "\\", 1},
    {STR("NaN"), "null", 1},
};

static void test_repair(void)
{
    for (size_t i = 0; i < sizeof repair_rows / sizeof repair_rows[0]; i++) {
        CLEANUP_BUF struct buf out = {0};
        buf_add_str(&out, "kept");
        const struct str line = repair_rows[i].line;
        const char *const mended = repair_rows[i].mended;
        is_int((long long)json_reader_repair(&out, line.p, line.len), repair_rows[i].repairs,
               "repairs of %s", line.p);
        is_str(out.p + 4, mended ? mended : "", "repairs of the line");
    }
}

static void test_values(void)
{
    struct json j, inner;
    struct str key, v;
    ok(json_reader_open_array(&j, STR(" [1, {\"a\" : [2]}] ")) && json_reader_next_value(&j, &v) &&
           str_is(v, "1"),
       "the slice of an element");
    ok(json_reader_next_value(&j, &v) && json_reader_open_object(&inner, v) &&
           json_reader_next_member(&inner, &key, &v) && str_is(key, "a") && str_is(v, "[2]"),
       "the slice of a member");
    ok(!json_reader_next_member(&inner, &key, &v) && !v.p && json_reader_finish(&inner) == 0,
       "there is no other member");
    ok(!json_reader_next_value(&j, &v) && !v.p && json_reader_finish(&j) == 0,
       "there is no element in an object");
    ok(!json_reader_open_array(&j, (struct str){0}) && !json_reader_next_value(&j, &v) && !v.p,
       "a missing value has no elements");
    ok(!json_reader_open_array(&j, STR("{\"a\":1}")) && !json_reader_next_value(&j, &v) &&
           !json_reader_open_object(&j, STR("[1]")) && !json_reader_next_member(&j, &key, &v),
       "a value of another type has no elements");
    json_reader_open_array(&j, STR("[1,tru]"));
    ok(json_reader_next_value(&j, &v) && json_reader_next_value(&j, &v) && !v.p &&
           !json_reader_next_value(&j, &v) && j.error,
       "an error ends the iteration");
}

int main(void)
{
    plan_lazy();
    test_values();
    test_unescape();
    test_pieces();
    test_memo();
    test_memo_reading();
    test_string_is();
    test_pointer();
    test_compact();
    test_repair();
}
