/* SPDX-License-Identifier: MIT
 * Tests of event/json/json_redact.h: what is masked, and that JSON stays JSON. */
#include "event/json/json_redact.h"

#include <jansson.h>
#include <string.h>

#include "base/sys/log.h"
#include "tap/tap.h"

static void masks(const char *json, const char *wanted, const char *what)
{
    CLEANUP_BUF struct buf out = {0};
    json_redact(&out, (struct str){json, strlen(json)});
    is_str(out.p, wanted, "%s", what);
    json_t *j = json_loads(out.p, JSON_DECODE_ANY, NULL);
    ok(j, "%s: still JSON", what);
    json_decref(j);
}

int main(void)
{
    plan_lazy();
    log_add_secret("s3cret/\"word\"");
    log_add_secret("12345678");
    masks("{\"a\":\"plain\",\"b\":[1,2.5,null,true,{}]}",
          "{\"a\":\"plain\",\"b\":[1,2.5,null,true,{}]}", "a line without a secret");
    masks("[\"x s3cret/\\\"word\\\" y\"]", "[\"x *** y\"]", "a secret that JSON escapes");
    masks("[\"x \\u0073\\u0033cret\\/\\\"word\\\" y\"]", "[\"x *** y\"]",
          "a secret with other escapes");
    masks("{\"s3cret/\\\"word\\\"\":1}", "{\"***\":1}", "a secret as a key");
    masks("{\"n\":12345678,\"s\":\"12345678\"}", "{\"n\":12345678,\"s\":\"***\"}",
          "a secret of digits does not change numbers");
    masks("{\"a\":\"Authorization: Basic abc\",\"b\":\"c\"}",
          "{\"a\":\"Authorization: ***\",\"b\":\"c\"}",
          "a header is masked up to the end of the string");
    masks("[\"\\\\\",\"\",\"\\n\\u00e9\"]", "[\"\\\\\",\"\",\"\\né\"]",
          "escapes and empty strings");
    masks("\"sk-abcdefghijklmnop\"", "\"***\"", "a token recognised by its form");
    return 0;
}
