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
          "{\"a\":\"plain\",\"b\":[1,2.5,null,true,{}]}", "nothing to mask");
    masks("[\"x s3cret/\\\"word\\\" y\"]", "[\"x *** y\"]", "a secret that JSON escapes");
    masks("[\"x \\u0073\\u0033cret\\/\\\"word\\\" y\"]", "[\"x *** y\"]", "in another spelling");
    masks("{\"s3cret/\\\"word\\\"\":1}", "{\"***\":1}", "as a key");
    masks("{\"n\":12345678,\"s\":\"12345678\"}", "{\"n\":12345678,\"s\":\"***\"}",
          "a secret of digits leaves numbers alone");
    masks("{\"a\":\"Authorization: Basic abc\",\"b\":\"c\"}",
          "{\"a\":\"Authorization: ***\",\"b\":\"c\"}", "a header does not reach over the quote");
    masks("[\"\\\\\",\"\",\"\\n\\u00e9\"]", "[\"\\\\\",\"\",\"\\né\"]",
          "escapes and empty strings");
    masks("\"sk-abcdefghijklmnop\"", "\"***\"", "a token by its looks");
    return 0;
}
