/* SPDX-License-Identifier: MIT
 * Tests of dialect/reader/value.c: picking, what values mean, what is left. */
#include "dialect/reader/value.h"

#include "tap/tap.h"

static struct arena arena;

static struct str lit(const char *text)
{
    return (struct str){text, strlen(text)};
}

static void test_line(void)
{
    struct str a = {0}, b = {0}, none = {0};
    const struct value_row rows[] = {{"a", &a}, {"b", &b}, {"none", &none}};
    const char line[] = "{\"b\": [1, 2],\"a\":1,\"none\":null,\"\\u0061\":\"x\"}";
    is_int(value_parse_line(line, strlen(line), VALUE_ROWS(rows)), 0, "a line of one object");
    ok(value_equals(a, "x"), "the last of several members wins, escaped keys count");
    is_mem(b.p, b.len, "[1, 2]", 6, "a value is its slice");
    ok(!none.p, "null is absent");
    is_int(value_parse_line("{\"a\":1", 6, VALUE_ROWS(rows)), -1, "a cut line is refused");
    is_int(value_parse_line("{\"a\":1} x", 9, VALUE_ROWS(rows)), -1,
           "so is what follows an object");
    is_int(value_parse_line("[1]", 3, VALUE_ROWS(rows)), -1, "so is an array");
}

static void test_meanings(void)
{
    size_t len;
    is_str(value_text(&arena, lit("\"a\\nb\""), &len), "a\nb", "text of a string");
    ok(!value_text(&arena, lit("7"), NULL), "a number has none");
    is_int(value_int(lit("7.0"), -1), 7, "an integral number");
    is_int(value_int(lit("\"7\""), -1), -1, "a string is no number");
    is_int(value_int((struct str){0}, -1), -1, "nor is what is absent");
    is_real(value_real(lit("0.25"), -1), 0.25, "a real one");
    ok(value_is_true(lit("true")) && !value_is_true(lit("false")), "true and false");
    is_str(value_json(&arena, lit("{ \"a\" : [ ] }"), NULL), "{\"a\":[]}", "compact JSON");
    is_str(value_text_or_json(&arena, lit("\"x\""), NULL), "x", "a string is shown as its text");
    is_str(value_text_or_json(&arena, lit("[ 1 ]"), NULL), "[1]", "anything else as JSON");
}

static void test_time(void)
{
    is_real(value_time(lit("\"2026-07-24T09:15:05.820045+00:00\"")), 1784884505.820045,
            "RFC 3339 with microseconds");
    is_real(value_time(lit("\"2026-07-24T11:15:05+02:00\"")), 1784884505, "an offset");
    is_real(value_time(lit("\"2026-07-24T09:15:05.5Z\"")), 1784884505.5, "Z");
    is_real(value_time(lit("1784884500001")), 1784884500.001, "milliseconds");
    is_real(value_time(lit("\"yesterday\"")), -1, "no time");
    is_real(value_time((struct str){0}), -1, "absent");
}

static void test_rest(void)
{
    static const char *const known[] = {"type", NULL};
    is_str(value_extra_except(&arena, lit("{\"type\":1,\"n\":null,\"a\":{ },\"b\":\"x\"}"), known),
           "{\"a\":{},\"b\":\"x\"}", "what is not known and not null");
    ok(!value_extra_except(&arena, lit("{\"type\":1}"), known), "nothing left is NULL");
    ok(!value_extra_except(&arena, lit("[1]"), known), "so is what is no object");
}

int main(void)
{
    plan_lazy();
    test_line();
    test_meanings();
    test_time();
    test_rest();
    arena_fini(&arena);
    return 0;
}
