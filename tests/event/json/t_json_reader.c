/* SPDX-License-Identifier: MIT
 * Tests of event/json/json_reader.h: the walk. What is valid is told by tables here and by the
 * oracles in t_json_oracle. */
#include "event/json/json_reader.h"

#include "base/cleanup.h"
#include "tap/tap.h"

static bool valid(const char *text, size_t len)
{
    struct json j;
    json_init(&j, text, len);
    json_reader_skip(&j, NULL);
    return json_reader_finish(&j) == 0;
}

static const char *const valid_texts[] = {
    "{}",
    "[]",
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1",
    "-1",
    "10",
    "1.5",
    "-1.5e10",
    "1E5",
    "1e+5",
    "1e-5",
    "0.0",
    "0e0",
    "1e400",
    "-1e-400",
    "123456789012345678901234567890",
    "\"\"",
    "\"a\"",
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
    "\"\\u0000\"",
    "\"\\uD83D\"",
    "\"\\uDE00\"",
    "\"\\ud83d\\ude00\"",
    "\"\\uABCD\\uabcd\"",
    "\"\x7f\"",
    "\"/\"",
    "\"\xc3\xa4\"",
    "\"\xe2\x80\xa8\"",
    "\"\xf0\x9f\x98\x80\"",
    "\"\xef\xbf\xbf\"",
    "\"\xf4\x8f\xbf\xbf\"",
    " 1 ",
    "\t\r\n1\n\r\t",
    "[1]",
    "[1,2]",
    "[ 1 , 2 ]",
    "[[],[[]],{}]",
    "{\"\":0}",
    "{\"a\":1,\"a\":2}",
    "{ \"a\" : [ ] , \"b\" : { } }",
    "[null,true,false]",
    "[\"]\",\"}\",\"{\",\"[\",\",\",\":\"]",
    "{\"a\":{\"b\":[{\"c\":[[1]]}]}}",
    "[0,-0.5e-3]",
    "\"sixteen bytes and more of plain text\"",
    "\"sixteen bytes and m\\u00e4re: \xe2\x82\xac\"",
};

static void test_valid(void)
{
    for (size_t i = 0; i < sizeof valid_texts / sizeof valid_texts[0]; i++)
        ok(valid(valid_texts[i], strlen(valid_texts[i])), "accepted: %s", valid_texts[i]);
}

static const char *const invalid_texts[] = {
    "",
    " ",
    "\n",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\"a",
    "\"\\",
    "\"\\\"",
    "nul",
    "nullx",
    "tru",
    "fals",
    "True",
    "NULL",
    "NaN",
    "Infinity",
    "-Infinity",
    "undefined",
    "-",
    "+1",
    "01",
    "-01",
    "1.",
    ".5",
    "1.e5",
    "1e",
    "1e+",
    "1e-",
    "1.5.5",
    "0x10",
    "1a",
    "--1",
    "1 2",
    "1,2",
    "[1,]",
    "[,1]",
    "[,]",
    "[1,,2]",
    "[1 2]",
    "[1;2]",
    "[1",
    "[1,",
    "[}",
    "{]",
    "[1}",
    "{\"a\":1]",
    "{\"a\"}",
    "{\"a\":}",
    "{\"a\":1,}",
    "{,\"a\":1}",
    "{,}",
    "{\"a\" 1}",
    "{\"a\":1 \"b\":2}",
    "{\"a\":1,,\"b\":2}",
    "{a:1}",
    "{1:1}",
    "{'a':1}",
    "{null:1}",
    "{\"a\":1",
    "{\"a\":",
    "{\"a",
    "{\"a\":1}}",
    "[]]",
    "[][]",
    "{}{}",
    "{} x",
    "\"a\" \"b\"",
    "'a'",
    "\"\t\"",
    "\"\n\"",
    "\"\x1f\"",
    "\"\\x\"",
    "\"\\a\"",
    "\"\\u\"",
    "\"\\u12\"",
    "\"\\u123\"",
    "\"\\u123g\"",
    "\"\\U1234\"",
    "\"\\\t\"",
    "\"\\u00",
    "\"\x80\"",
    "\"\xff\"",
    "\"\xc0\xaf\"",
    "\"\xc3\"",
    "\"\xe2\x82\"",
    "\"\xed\xa0\x80\"",
    "\"\xf4\x90\x80\x80\"",
    "\"\xf0\x9f\x98\"",
    "\"\xe0\x80\x80\"",
    "\"\xf8\x88\x80\x80\x80\"",
    "\xef\xbb\xbf{}",
    "\v1",
    "\f1",
    "\xc2\xa0{}",
    "[1]//x",
    "/**/1",
    "[\"a\":1]",
    "{\"a\":\"b\":1}",
    "{[1]:1}",
    "{{}:1}",
    "[1:2]",
    "{\"a\",1}",
    "{\"\\x\":1}",
    "{\"\xff\":1}",
    "[\"\\ud83d\\u\"]",
};

static void test_invalid(void)
{
    for (size_t i = 0; i < sizeof invalid_texts / sizeof invalid_texts[0]; i++)
        ok(!valid(invalid_texts[i], strlen(invalid_texts[i])), "refused: %s", invalid_texts[i]);
    ok(!valid("1\0", 2) && !valid("\"\0\"", 3) && !valid("[\0]", 3), "refused: raw NUL");
}

static bool nested_is_valid(unsigned depth, bool object)
{
    CLEANUP_BUF struct buf b = {0};
    for (unsigned i = 0; i < depth; i++)
        buf_add_str(&b, object ? "{\"k\":" : "[");
    if (object)
        buf_add_str(&b, "0");
    for (unsigned i = 0; i < depth; i++)
        buf_add_str(&b, object ? "}" : "]");
    return valid(b.p, b.len);
}

/* The same by entering, which is the caller's depth. */
static int walk_nested(unsigned depth)
{
    CLEANUP_BUF struct buf b = {0};
    for (unsigned i = 0; i < depth; i++)
        buf_add_str(&b, "[");
    for (unsigned i = 0; i < depth; i++)
        buf_add_str(&b, "]");
    struct json j;
    json_init(&j, b.p, b.len);
    unsigned open = 0;
    if (json_reader_enter_array(&j))
        for (open = 1; json_reader_next_element(&j) && json_reader_enter_array(&j);)
            open++;
    for (; open > 1; open--)
        json_reader_next_element(&j);
    return json_reader_finish(&j);
}

static void test_depth(void)
{
    ok(nested_is_valid(JSON_MAX_DEPTH, false), "arrays nested to the maximum depth");
    ok(nested_is_valid(JSON_MAX_DEPTH, true), "objects nested to the maximum depth");
    ok(!nested_is_valid(JSON_MAX_DEPTH + 1, false), "arrays nested one level deeper");
    ok(!nested_is_valid(JSON_MAX_DEPTH + 1, true), "objects nested one level deeper");
    ok(!nested_is_valid(1000000, false), "arrays nested a million levels deep");
    is_int(walk_nested(JSON_MAX_DEPTH), 0, "a reader enters arrays to the maximum depth");
    is_int(walk_nested(JSON_MAX_DEPTH + 1), -1, "a reader does not enter one level deeper");
}

static void test_walk(void)
{
    static const char line[] = " {\"n\" : -12 , \"s\":\"a\\nb\",\"o\":{\"x\":[1,[2],{}]},\"r\":2.5,"
                               "\"t\":true,\"z\":null,\"e\":{},\"l\":[\"p\",\"q\"]} \r\n";
    struct json j;
    struct str key, s = {0}, o = {0}, last = {0};
    int64_t n = 0;
    double r = 0;
    bool t = false;
    unsigned keys = 0, elements = 0;
    json_init(&j, line, sizeof line - 1);
    ok(json_reader_enter_object(&j), "an object");
    for (; json_reader_next_key(&j, &key); keys++) {
        if (str_is(key, "n"))
            json_reader_read_int(&j, &n);
        else if (str_is(key, "s"))
            json_reader_read_string(&j, &s);
        else if (str_is(key, "o"))
            json_reader_skip(&j, &o);
        else if (str_is(key, "r"))
            json_reader_read_real(&j, &r);
        else if (str_is(key, "t"))
            json_reader_read_bool(&j, &t);
        else if (str_is(key, "e"))
            ok(json_reader_enter_object(&j) && !json_reader_next_key(&j, &key),
               "an empty object ends at once");
        else if (str_is(key, "l") && json_reader_enter_array(&j))
            for (; json_reader_next_element(&j); elements++)
                json_reader_read_string(&j, &last);
        else
            json_reader_skip(&j, NULL);
    }
    is_int(json_reader_finish(&j), 0, "the complete line was read");
    is_int(keys, 8, "every key was seen");
    is_int(n, -12, "integer");
    is_mem(s.p, s.len, "a\\nb", 4, "the string is still escaped");
    is_mem(o.p, o.len, "{\"x\":[1,[2],{}]}", 16, "the slice of a skipped value");
    is_real(r, 2.5, "real");
    ok(t, "true");
    is_int(elements, 2, "elements");
    is_mem(last.p, last.len, "q", 1, "the last value is read");
}

static void test_types(void)
{
    static const struct {
        const char *text;
        enum json_type type;
    } rows[] = {
        {"null", JSON_AT_NULL},  {"true", JSON_AT_TRUE}, {"false", JSON_AT_FALSE},
        {"-1", JSON_AT_NUMBER},  {"7", JSON_AT_NUMBER},  {"\"\"", JSON_AT_STRING},
        {" [1]", JSON_AT_ARRAY}, {"{}", JSON_AT_OBJECT}, {"x", JSON_AT_END},
        {"", JSON_AT_END},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct json j;
        json_init(&j, rows[i].text, strlen(rows[i].text));
        is_int((int)json_reader_peek(&j), (int)rows[i].type, "type of %s", rows[i].text);
    }
}

static bool read_string(struct json *j)
{
    struct str s = STR("kept");
    const bool read = json_reader_read_string(j, &s);
    return read || !str_is(s, "kept");
}

static bool read_int(struct json *j)
{
    int64_t n = 77;
    const bool read = json_reader_read_int(j, &n);
    return read || n != 77;
}

static bool read_real(struct json *j)
{
    double v = 77;
    const bool read = json_reader_read_real(j, &v);
    return read || v != 77;
}

static bool read_bool(struct json *j)
{
    bool kept = true;
    const bool read = json_reader_read_bool(j, &kept);
    return read || !kept;
}

/* What is of another type reads as false, leaves the target alone and is consumed. */
static void test_mismatch(void)
{
    static bool (*const readers[])(struct json *) = {
        read_string,
        read_int,
        read_real,
        read_bool,
        json_reader_enter_object,
        json_reader_enter_array,
    };
    static const struct {
        const char *value;
        int own[2]; /* the readers that take it */
    } rows[] = {
        {"null", {-1, -1}}, {"\"s\"", {0, -1}},       {"-5", {1, 2}},       {"false", {3, -1}},
        {"x", {-1, -1}},    {"{\"a\":[1]}", {4, -1}}, {"[1,[2]]", {5, -1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int k = 0; k < 6; k++) {
            if (k == rows[i].own[0] || k == rows[i].own[1])
                continue;
            CLEANUP_BUF struct buf line = {0};
            buf_printf(&line, "[%s,7]", rows[i].value);
            const bool broken = *rows[i].value == 'x';
            struct json j;
            int64_t next = 0;
            json_init(&j, line.p, line.len);
            json_reader_enter_array(&j);
            json_reader_next_element(&j);
            ok(!readers[k](&j), "%s is refused by reader %d", rows[i].value, k);
            ok((json_reader_next_element(&j) && json_reader_read_int(&j, &next)) == !broken,
               "the array is consumed");
            ok(!json_reader_next_element(&j) && json_reader_finish(&j) == (broken ? -1 : 0),
               "the line is read to the end");
        }
}

static void test_numbers(void)
{
    static const struct {
        const char *text;
        bool fits;
        int64_t value;
    } ints[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"1.0", true, 1},
        {"1.5", false, 0},
        {"12e2", true, 1200},
        {"1200e-2", true, 12},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"1e19", false, 0},
        {"1e400", false, 0},
        {"-9.223372036854775808e18", true, INT64_MIN},
    };
    for (size_t i = 0; i < sizeof ints / sizeof ints[0]; i++) {
        struct json j;
        int64_t v = 0;
        json_init(&j, ints[i].text, strlen(ints[i].text));
        const bool fits = json_reader_read_int(&j, &v);
        ok(fits == ints[i].fits && v == ints[i].value && json_reader_finish(&j) == 0, "int of %s",
           ints[i].text);
    }
    struct json j;
    double r = 0;
    json_init(&j, "-0.1e1", 6);
    ok(json_reader_read_real(&j, &r) && r == -1.0, "real");
    json_init(&j, "1e400", 5);
    ok(!json_reader_read_real(&j, &r) && r == -1.0 && json_reader_finish(&j) == 0,
       "a number beyond a double is not read");
    CLEANUP_BUF struct buf digits = {0};
    for (int i = 0; i < 300; i++)
        buf_add_char(&digits, '1');
    json_init(&j, digits.p, digits.len);
    ok(json_reader_read_real(&j, &r) && r > 1.1e299 && r < 1.2e299, "300 digits");
}

static void test_errors_stick(void)
{
    struct json j;
    struct str key, s = {0};
    int64_t n = 0;
    bool t;
    double r;
    json_init(&j, "{\"a\":x,\"b\":1}", 13);
    json_reader_enter_object(&j);
    json_reader_next_key(&j, &key);
    json_reader_skip(&j, &s);
    ok(j.error && !s.p, "only json_finish reports the error");
    is_str(j.error, "expected a value", "the error has the reason");
    is_int((long long)json_reader_offset(&j), 5, "the error has its position");
    ok(!json_reader_next_key(&j, &key) && !json_reader_next_element(&j) &&
           !json_reader_enter_object(&j) && !json_reader_enter_array(&j) &&
           !json_reader_read_int(&j, &n) && !json_reader_read_string(&j, &s) &&
           !json_reader_read_bool(&j, &t) && !json_reader_read_real(&j, &r) &&
           json_reader_peek(&j) == JSON_AT_END,
       "after an error nothing is read");
    is_str(j.error, "expected a value", "the first error is kept");
    is_int((long long)json_reader_offset(&j), 5, "the position of the first error is kept");
    is_int(json_reader_finish(&j), -1, "not JSON");
}

/* Reads everything, entering whatever can be entered; stops at the first error. */
static void walk(struct json *j, unsigned depth)
{
    struct str key, s;
    if (depth < 8 && json_reader_peek(j) == JSON_AT_OBJECT && json_reader_enter_object(j)) {
        while (json_reader_next_key(j, &key))
            walk(j, depth + 1);
    } else if (depth < 8 && json_reader_peek(j) == JSON_AT_ARRAY && json_reader_enter_array(j)) {
        while (json_reader_next_element(j))
            walk(j, depth + 1);
    } else if (!json_reader_read_string(j, &s)) {
        json_reader_skip(j, NULL);
    }
}

static bool read_key(struct json *j)
{
    struct str key = STR("kept");
    const bool found = json_reader_next_key(j, &key);
    return found || !str_is(key, "kept");
}

static bool skip_value(struct json *j)
{
    struct str slice = STR("kept");
    json_reader_skip(j, &slice);
    return !str_is(slice, "kept");
}

static bool peek_value(struct json *j)
{
    return json_reader_peek(j) != JSON_AT_END;
}

/* -1: the cursor has no error; else 1 if a reader still reads something or moves, 0 if none does.
 */
static int reads_after_error(const struct json *j)
{
    static bool (*const readers[])(struct json *) = {
        read_string,
        read_int,
        read_real,
        read_bool,
        json_reader_enter_object,
        json_reader_enter_array,
        read_key,
        skip_value,
        peek_value,
        json_reader_next_element,
    };
    if (!j->error)
        return -1;
    bool read = false;
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
        struct json copy = *j;
        read |= readers[i](&copy) || copy.p != j->p || copy.end != j->end;
        read |= copy.error != j->error || json_reader_finish(&copy) != -1;
    }
    return read;
}

/* Each byte of a line of many strings is replaced in turn: most of that makes an error, with
 * quotes right behind it. */
static void test_nothing_after_an_error(void)
{
    static const char line[] = "{\"k\":[1,\"secret\",\"more\"],\"a\":\"b\",\"c\":{\"d\":\"e\"},"
                               "\"f\":[\"g\",\"h\"],\"i\":\"j\"}";
    static const char by[] = " \"x,:\\\n\xff";
    int errors = 0, read = 0;
    for (size_t at = 0; at < sizeof line - 1; at++)
        for (const char *c = by; *c; c++) {
            char text[sizeof line];
            memcpy(text, line, sizeof line);
            text[at] = *c;
            struct json j;
            json_init(&j, text, sizeof line - 1);
            walk(&j, 0);
            const int result = reads_after_error(&j);
            errors += result >= 0;
            read += result > 0;
            if (result > 0)
                diag("%s: %s", j.error, text);
        }
    ok(errors > 300, "%d lines have an error", errors);
    is_int(read, 0, "nothing is read after the error");
}

static void test_incomplete_walks(void)
{
    struct json j;
    struct str key;
    json_init(&j, "{\"a\":1}", 7);
    json_reader_enter_object(&j);
    is_int(json_reader_finish(&j), -1, "left inside an object");
    json_init(&j, "[1]", 3);
    ok(!json_reader_enter_object(&j) && !json_reader_next_key(&j, &key),
       "a value that is not an object has no members");
    is_int(json_reader_finish(&j), 0, "the line is valid");
    json_init(&j, "1 ", 2);
    is_int(json_reader_finish(&j), -1, "a missing number is not read");
}

/* The members from the first value on, as if what is in front of it had been read. */
static void test_inside(void)
{
    static const char rest[] = "7,\"b\":[8]}";
    struct json j;
    struct str key = {0};
    int64_t n = 0;
    json_init_inside(&j, rest, sizeof rest - 1);
    ok(json_reader_read_int(&j, &n) && n == 7, "the first value is read");
    ok(json_reader_next_key(&j, &key) && str_is(key, "b"), "the members after it are read");
    json_reader_skip(&j, NULL);
    ok(!json_reader_next_key(&j, &key), "reading stops at the end of the enclosing value");
    is_int(json_reader_finish(&j), 0, "after the enclosing value the line ends");
}

/* Whether the string at the front of the text ends where its first bar is. */
static bool ends_at_bar(const char *text)
{
    CLEANUP_BUF struct buf s = {0};
    const char *const bar = strchr(text, '|');
    const size_t close = bar ? (size_t)(bar - text) : 0;
    buf_add_str(&s, text);
    if (bar)
        s.p[close] = '"';
    const char *const end = json_reader_string_end(s.p, s.p + s.len);
    return bar ? end == s.p + close : !end;
}

/* A value that a text does not have: a pointer that is null, no bytes. */
static void test_absent_value(void)
{
    struct json j;
    struct str k, value, none = {0};
    ok(!json_reader_open_object(&j, none) && !json_reader_next_member(&j, &k, &value), "no object");
    ok(!json_reader_open_array(&j, none) && !json_reader_next_value(&j, &value), "no array");
    json_init(&j, NULL, 0);
    ok(!json_reader_read_string(&j, &value), "a missing text is not a string");
}

static void test_string_end(void)
{
    ok(ends_at_bar("|"), "an empty string");
    ok(ends_at_bar("  a \\\" \\u00e4 ä| \" and more"), "escapes do not end the string");
    ok(ends_at_bar("a\\\\|, behind it"), "an escaped backslash does not escape the end");
    ok(ends_at_bar("sixty-four bytes and more of text that is plain, until here it ends|"), "long");
    ok(ends_at_bar("no end") && ends_at_bar(""), "none");
    ok(ends_at_bar("a\n\"") && ends_at_bar("\\x\"") && ends_at_bar("\xff\""), "not valid");
}

int main(void)
{
    plan_lazy();
    test_valid();
    test_invalid();
    test_depth();
    test_walk();
    test_types();
    test_mismatch();
    test_numbers();
    test_errors_stick();
    test_nothing_after_an_error();
    test_incomplete_walks();
    test_inside();
    test_absent_value();
    test_string_end();
}
