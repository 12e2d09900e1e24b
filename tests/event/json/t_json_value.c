/* SPDX-License-Identifier: MIT
 * Tests of event/json/json_value.h. */
#include "event/json/json_value.h"

#include <stdlib.h>

#include "tap/tap.h"

static void test_text(void)
{
    static const struct {
        const char *json, *text, *what;
    } rows[] = {
        {"{\"cost\": 0.0125, \"more\": [0.1, -2.5e-9]}", "{\"cost\":0.0125,\"more\":[0.1,-2.5e-9]}",
         "the shortest digits of a number"},
        {"[0.30000000000000004, 1.0]", "[0.30000000000000004,1]",
         "a number has as many digits as it needs"},
        {"[9223372036854775807, -9223372036854775808, 0]",
         "[9223372036854775807,-9223372036854775808,0]", "integers of 64 bits"},
        {"{\"b\": true, \"a\": [false, null, {}, []]}", "{\"b\":true,\"a\":[false,null,{},[]]}",
         "members in their order, and empty values"},
        {"{\"a\\\"b\": \"c\\nd\\u0000e\"}", "{\"a\\\"b\":\"c\\nd\\u0000e\"}",
         "escapes in keys and strings"},
        {"\"x\"", "\"x\"", "a value that is not a container"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        json_t *const value = json_loads(rows[i].json, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        char *const text = json_value_text(value);
        is_str(text, rows[i].text, "%s", rows[i].what);
        free(text);
        json_decref(value);
    }
    ok(!json_value_text(NULL), "a missing value has no text");
}

int main(void)
{
    plan_lazy();
    test_text();
}
