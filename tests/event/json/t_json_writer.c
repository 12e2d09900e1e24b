/* SPDX-License-Identifier: MIT
 * Tests of event/json/json_writer.h. */
#include "event/json/json_writer.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "tap/tap.h"

static void test_string(void)
{
    static const struct {
        struct str text;
        const char *json;
    } rows[] = {
        {STR(""), "\"\""},
        {STR("plain text that is longer than sixteen bytes"),
         "\"plain text that is longer than sixteen bytes\""},
        {STR("\"\\/"), "\"\\\"\\\\/\""},
        {STR("\b\f\n\r\t"), "\"\\b\\f\\n\\r\\t\""},
        {STR("\0\x01\x1f\x7f"), "\"\\u0000\\u0001\\u001f\x7f\""},
        {STR("\xc3\xa4\xf0\x9f\x98\x80"), "\"\xc3\xa4\xf0\x9f\x98\x80\""},
        {STR("a\xe2\x80\xa8z\xe2\x80\xa9"), "\"a\\u2028z\\u2029\""},
        {STR("\xe2\x80\xa7\xe2\x80\xaa\xe2\x82\xa8"), "\"\xe2\x80\xa7\xe2\x80\xaa\xe2\x82\xa8\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEANUP_BUF struct buf b = {0};
        jsonw_string(&b, rows[i].text.p, rows[i].text.len);
        is_str(b.p, rows[i].json, "string %s", rows[i].json);
    }
}

static const struct {
    double v;
    const char *json;
} real_rows[] = {
    {0, "0"},
    {-0.0, "0"},
    {1, "1"},
    {-1.5, "-1.5"},
    {0.1, "0.1"},
    {0.30000000000000004, "0.30000000000000004"},
    {1.0 / 3, "0.3333333333333333"},
    {100, "100"},
    {123456.789, "123456.789"},
    {9007199254740991.0, "9007199254740991"},
    {9007199254740992.0, "9007199254740992"},
    {1152921504606846976.0, "1152921504606847000"},
    {9223372036854774784.0, "9223372036854775000"},
    {9223372036854775808.0, "9.223372036854776e+18"},
    {-9223372036854775808.0, "-9.223372036854776e+18"},
    {1e20, "1e+20"},
    {1e22, "1e+22"},
    {1.5e300, "1.5e+300"},
    {0.000001, "0.000001"},
    {0.0000001, "1e-7"},
    {1.25e-7, "1.25e-7"},
    {DBL_MAX, "1.7976931348623157e+308"},
    {DBL_MIN, "2.2250738585072014e-308"},
    {5e-324, "5e-324"},
    {0.0123, "0.0123"},
    {INFINITY, "null"},
    {NAN, "null"},
};

static void test_real(void)
{
    for (size_t i = 0; i < sizeof real_rows / sizeof real_rows[0]; i++) {
        CLEANUP_BUF struct buf b = {0};
        jsonw_real(&b, real_rows[i].v);
        is_str(b.p, real_rows[i].json, "real %s", real_rows[i].json);
    }
}

static void test_real_round_trip(void)
{
    CLEANUP_BUF struct buf b = {0};
    uint64_t bits = 88172645463325252u;
    bool same = true;
    for (int i = 0; i < 20000; i++) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        double v;
        memcpy(&v, &bits, sizeof v);
        if (!isfinite(v))
            continue;
        buf_reset(&b);
        jsonw_real(&b, v);
        same = same && strtod(b.p, NULL) == v;
    }
    ok(same, "random doubles are read back unchanged");
}

static void test_int(void)
{
    static const struct {
        int64_t v;
        const char *json;
    } rows[] = {
        {0, "0"},
        {-1, "-1"},
        {1234567890, "1234567890"},
        {INT64_MAX, "9223372036854775807"},
        {INT64_MIN, "-9223372036854775808"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        CLEANUP_BUF struct buf b = {0};
        jsonw_int(&b, rows[i].v);
        is_str(b.p, rows[i].json, "int %s", rows[i].json);
    }
}

static void test_members(void)
{
    CLEANUP_BUF struct buf b = {0};
    buf_add_char(&b, '{');
    jsonw_member_str(&b, "none", NULL);
    jsonw_member_str(&b, "s", "x");
    jsonw_member_json(&b, "none", NULL);
    jsonw_member_int(&b, "i", 5);
    jsonw_key(&b, "o");
    buf_add_char(&b, '{');
    jsonw_member_bool(&b, "t", true);
    jsonw_member_bool(&b, "f", false);
    buf_add_char(&b, '}');
    jsonw_member_real(&b, "r", 0.5);
    jsonw_member_json(&b, "j", "[1]");
    buf_add_char(&b, '}');
    is_str(b.p, "{\"s\":\"x\",\"i\":5,\"o\":{\"t\":true,\"f\":false},\"r\":0.5,\"j\":[1]}",
           "members are separated by commas");
}

int main(void)
{
    plan_lazy();
    test_string();
    test_real();
    test_real_round_trip();
    test_int();
    test_members();
}
