/* SPDX-License-Identifier: MIT
 * Tests of dialect/style*.c: what CPython 3.11 and Node 20 printed for the same documents, and
 * what encoding/json and serde_json are known to print. */
#include "dialect/writer/json_style.h"

#include <math.h>

#include "event/json/json_reader.h"
#include "tap/tap.h"

/* Columns two and three were printed by json.dumps(json.loads(x)) and
 * JSON.stringify(JSON.parse(x)). */
static const struct {
    const char *json, *python, *js;
} printed[] = {
    {"{\"b\":1,\"a\":[1.0,2.5,true,null],\"10\":\"x\",\"2\":\"y\"}",
     "{\"b\": 1, \"a\": [1.0, 2.5, true, null], \"10\": \"x\", \"2\": \"y\"}",
     "{\"2\":\"y\",\"10\":\"x\",\"b\":1,\"a\":[1,2.5,true,null]}"},
    {"{\"a\":1,\"b\":2,\"a\":3}", "{\"a\": 3, \"b\": 2}", "{\"a\":3,\"b\":2}"},
    {"\"caf\\u00e9 \\ud83d\\ude00 <&> \\u2028 \\u007f \\u0001 \\b\\f\\n\\r\\t \\\" \\\\ /\"",
     "\"caf\\u00e9 \\ud83d\\ude00 <&> \\u2028 \\u007f \\u0001 \\b\\f\\n\\r\\t \\\" \\\\ /\"",
     "\"caf\303\251 \360\237\230\200 <&> \342\200\250 \177 \\u0001 \\b\\f\\n\\r\\t \\\" \\\\ /\""},
    {"1e-7", "1e-07", "1e-7"},
    {"1e22", "1e+22", "1e+22"},
    {"1e16", "1e+16", "10000000000000000"},
    {"1e15", "1000000000000000.0", "1000000000000000"},
    {"123456789012345680000", "123456789012345680000", "123456789012345680000"},
    {"1e21", "1e+21", "1e+21"},
    {"1e-5", "1e-05", "0.00001"},
    {"0.0001", "0.0001", "0.0001"},
    {"0.00001", "1e-05", "0.00001"},
    {"0.1", "0.1", "0.1"},
    {"0.30000000000000004", "0.30000000000000004", "0.30000000000000004"},
    {"1.0", "1.0", "1"},
    {"-0.0", "-0.0", "0"},
    {"5e-324", "5e-324", "5e-324"},
    {"1.7976931348623157e308", "1.7976931348623157e+308", "1.7976931348623157e+308"},
    {"100", "100", "100"},
    {"-12.5", "-12.5", "-12.5"},
    {"3.0e2", "300.0", "300"},
    {"[]", "[]", "[]"},
    {"{}", "{}", "{}"},
    {"[[],{\"x\":{}}]", "[[], {\"x\": {}}]", "[[],{\"x\":{}}]"},
    {"1784884501.25", "1784884501.25", "1784884501.25"},
    {"0.000001", "1e-06", "0.000001"},
    {"9007199254740993", "9007199254740993", "9007199254740992"},
    {"[1,\"a\",{\"k\":[{}]}]", "[1, \"a\", {\"k\": [{}]}]", "[1,\"a\",{\"k\":[{}]}]"},
};

static const struct {
    enum json_style style;
    const char *json, *wanted;
} known[] = {
    {STYLE_GO, "{\"b\": \"<a&b>\", \"a\": 1.0}", "{\"b\":\"\\u003ca\\u0026b\\u003e\",\"a\":1.0}"},
    {STYLE_GO, "\"\\u00e9 \342\200\250 \\\" \\\\\"", "\"\\u00e9 \\u2028 \\\" \\\\\""},
    {STYLE_GO, "{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":2}"},
    {STYLE_SERDE, "{\"b\":1,\"a\":{\"d\":2,\"c\":3}}", "{\"a\":{\"c\":3,\"d\":2},\"b\":1}"},
    {STYLE_SERDE, "[1.0,1e-7,1e22,1e16,1e15,0.00001,0.000001]",
     "[1.0,1e-7,1e22,1e16,1000000000000000.0,0.00001,1e-6]"},
    {STYLE_SERDE, "\"caf\303\251 <&> \342\200\250 \\u0001\"",
     "\"caf\303\251 <&> \342\200\250 \\u0001\""},
};

static void check(enum json_style style, const char *json, const char *wanted, const char *who)
{
    struct buf out = {0};
    json_style_append_value(&out, style, json, strlen(json));
    is_str(out.p, wanted, "%s: %s", who, json);
    buf_fini(&out);
}

static void test_reals(void)
{
    struct buf out = {0};
    json_style_append_real(&out, STYLE_GO, 1e-7);
    buf_add_char(&out, ' ');
    json_style_append_real(&out, STYLE_GO, 3);
    buf_add_char(&out, ' ');
    json_style_append_real(&out, STYLE_PYTHON, 50);
    buf_add_char(&out, ' ');
    json_style_append_real(&out, STYLE_PYTHON, NAN);
    is_str(out.p, "1e-7 3 50.0 null", "doubles of Go and Python, and what is not finite");
    buf_fini(&out);
}

static void test_members(void)
{
    struct buf out = {0};
    buf_add_char(&out, '{');
    json_style_member_str(&out, STYLE_PYTHON, "s", "\303\251{");
    json_style_member_int(&out, STYLE_PYTHON, "i", -3);
    json_style_member_real(&out, STYLE_PYTHON, "r", 0.5);
    json_style_member_bool(&out, STYLE_PYTHON, "b", true);
    json_style_member_null(&out, STYLE_PYTHON, "n");
    json_style_member_json(&out, STYLE_PYTHON, "j", "{\"a\":[1,2]}");
    buf_add_char(&out, '}');
    is_str(out.p,
           "{\"s\": \"\\u00e9{\", \"i\": -3, \"r\": 0.5, \"b\": true, \"n\": null, "
           "\"j\": {\"a\": [1, 2]}}",
           "members and their separators");
    buf_fini(&out);
}

/* As deep as the reader allows: recursion holds, and nothing is lost. */
static void test_depth(void)
{
    struct buf in = {0}, out = {0};
    for (int i = 0; i < JSON_MAX_DEPTH; i++)
        buf_add_char(&in, '[');
    for (int i = 0; i < JSON_MAX_DEPTH; i++)
        buf_add_char(&in, ']');
    json_style_append_value(&out, STYLE_JS, in.p, in.len);
    is_str(out.p, in.p, "a value as deep as the reader allows");
    buf_fini(&in);
    buf_fini(&out);
}

int main(void)
{
    plan_lazy();
    for (size_t i = 0; i < sizeof(printed) / sizeof(printed[0]); i++) {
        check(STYLE_PYTHON, printed[i].json, printed[i].python, "python");
        check(STYLE_JS, printed[i].json, printed[i].js, "js");
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        check(known[i].style, known[i].json, known[i].wanted, "known");
    test_reals();
    test_members();
    test_depth();
    return 0;
}
