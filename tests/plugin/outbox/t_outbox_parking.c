/* SPDX-License-Identifier: MIT
 * Tests of requests with secrets that a connector sets at run time. */
#include <stdio.h>
#include <string.h>

#include "base/sys/log.h"
#include "plugin/post_kit.h"
#include "tap/tap.h"

#define URL "{option:base}/m"

static struct kit k;

static const char *results(void)
{
    return k.told.len ? k.told.p : "";
}

static const char *request(unsigned i)
{
    return httpd_request(k.server, i);
}

#define TOKEN_URL "{option:base}/{secret:id}"

static void test_secrets(void)
{
    static const struct httpd_step steps[] = {
        {HTTPD_REPLY, KIT_OK}, {HTTPD_REPLY, KIT_OK}, {HTTPD_REPLY, KIT_OK}, {HTTPD_REPLY, KIT_OK}};
    static const struct tc_header headers[] = {{"Authorization", "Bearer {secret:token}"}};
    kit_begin(&k, steps, 4);
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = TOKEN_URL, .body = "{1}{secret:token}", .lane = "a", .tag = "1",
                     .headers = headers, .header_count = 1),
             TC_HTTP(.url = TOKEN_URL, .lane = "a", .tag = "2", .flags = TC_FILL_BODY,
                     .body = "{\"t\":\"{secret:token}\",\"o\":\"{option:token}\"}"),
             TC_HTTP(.url = TOKEN_URL, .lane = "a", .tag = "3", .flags = TC_FILL_BODY,
                     .content_type = "application/x-www-form-urlencoded",
                     .body = "t={secret:token}&u=1"),
             TC_HTTP(.url = URL, .lane = "a", .tag = "free"));
    kit_run_replies(&k, 1);
    is_str(results(), "free ok 200 1\n",
           "a request without a secret is sent, although others of its lane wait");
    outbox_set_secret(k.outbox, "id", "secret-identity");
    is_int((long long)outbox_read_stats(k.outbox).waiting, 3, "three requests wait for a secret");
    outbox_set_secret(k.outbox, "token", "to\"ken+value");
    kit_run_idle(&k);
    is_str(results(), "free ok 200 1\n1 ok 200 1\n2 ok 200 1\n3 ok 200 1\n",
           "the waiting requests are sent in order when all secrets are set");
    has_str(request(1), "POST /secret-identity ", "a secret is inserted into a URL");
    has_str(request(1), "Authorization: Bearer to\"ken+value\r\n",
            "a secret is inserted into a header");
    has_str(request(1), "{1}{secret:token}", "a placeholder in a body is not replaced");
    has_str(request(2), "{\"t\":\"to\\\"ken+value\",\"o\":\"" CANARY "\"}",
            "a placeholder in a JSON body is replaced on request");
    has_str(request(3), "t=to%22ken%2Bvalue&u=1", "a placeholder in a form is replaced on request");
    CLEANUP_BUF struct buf line = {0};
    log_redact(&line, (struct str){"x secret-identity", 17});
    is_str(line.p, "x ***", "the secret is masked in the log");
    kit_end(&k);
    buf_reset(&line);
    log_redact(&line, (struct str){"x secret-identity", 17});
    is_str(line.p, "x secret-identity", "the secret is not masked after the end of the instance");
}

static void test_secret_parts(void)
{
    static const struct httpd_step steps[] = {{HTTPD_REPLY, KIT_OK}};
    static const struct tc_part parts[] = {
        {.name = "token", .data = "<{secret:t}>"},
        {.name = "file", .file_name = "a", .data = "<{secret:t}>"},
    };
    kit_begin(&k, steps, 1);
    outbox_set_secret(k.outbox, "t", "first-value");
    outbox_set_secret(k.outbox, "t", "second-value");
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = URL, .parts = parts, .part_count = 2, .flags = TC_FILL_BODY));
    kit_run_idle(&k);
    has_str(request(0), "\r\n\r\n<second-value>\r\n", "a field has the newest value of the secret");
    has_str(request(0), "\r\n\r\n<{secret:t}>\r\n", "a placeholder in a file is not replaced");
    kit_end(&k);
}

static void test_secret_never_set(void)
{
    kit_begin(&k, NULL, 0);
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = TOKEN_URL, .lane = "a", .tag = "late", .max_age_ms = 30),
             TC_HTTP(.url = TOKEN_URL, .lane = "a", .tag = "e1", .priority = TC_P_LIVE, .key = "m"),
             TC_HTTP(.url = TOKEN_URL, .lane = "a", .tag = "e2", .priority = TC_P_LIVE, .key = "m"),
             TC_HTTP(.url = TOKEN_URL, .lane = "b", .tag = "e3", .priority = TC_P_LIVE, .key = "m"),
             TC_HTTP(.url = TOKEN_URL, .lane = "a", .tag = "final", .max_age_ms = 60));
    kit_run_replies(&k, 4);
    is_str(results(),
           "e1 dropped 0 0 last\ne2 dropped 0 0 last\nlate dropped 0 0 last\n"
           "final dropped 0 0 last\n",
           "waiting edits are replaced as in a queue, and other requests expire");
    has_str(k.error, "time limit; the secret id was not set", "the error names the missing secret");
    outbox_set_secret(k.outbox, "id", "comes-too-late");
    outbox_set_secret(k.outbox, "id", NULL);
    kit_end(&k);
}

static void test_secret_forgotten(void)
{
    static const struct httpd_step steps[] = {{HTTPD_REPLY, KIT_OK}};
    kit_begin(&k, steps, 1);
    outbox_set_secret(k.outbox, "id", "secret-identity");
    KIT_SEND(&k, BATCH_NOTHING, TC_HTTP(.url = TOKEN_URL, .tag = "1"));
    outbox_set_secret(k.outbox, "id", NULL);
    loop_run_once(k.loop, 10);
    is_str(results(), "", "a request waits if its secret is removed before it is sent");
    outbox_set_secret(k.outbox, "id", "another-identity");
    kit_run_idle(&k);
    has_str(request(0), "/another-identity ", "the request is sent with the next value");
    outbox_set_secret(k.outbox, "url", "http://127.0.0.1:1/");
    KIT_SEND(&k, BATCH_NOTHING, TC_HTTP(.url = "{secret:url}", .tag = "2"));
    kit_run_idle(&k);
    has_str(results(), "2 rejected 0", "a URL from a secret must not lead to this machine");
    kit_end(&k);
}

/* A secret is kept in memory only: stored requests wait for it, and contain only its placeholder.
 * */
static void test_secret(void)
{
    static const struct httpd_step steps[] = {{HTTPD_REPLY, KIT_OK}},
                                   refuses[] = {{HTTPD_REPLY, KIT_STATUS("400 No", "")}};
    static char dir[600];
    snprintf(dir, sizeof dir, "%s/d", tap_tmpdir());
    k.dir = dir;
    kit_begin(&k, refuses, 1);
    outbox_set_secret(k.outbox, "id", CANARY "-id");
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = "{option:base}/{secret:id}", .tag = "1", .flags = TC_DURABLE));
    kit_run_idle(&k);
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = "{option:base}/{secret:id}", .tag = "2", .delay_ms = 60000,
                     .flags = TC_DURABLE));
    while (outbox_read_stats(k.outbox).waiting < 1)
        loop_run_once(k.loop, 10);
    kit_die(&k);
    ok(!kit_disk_has(&k, CANARY), "a stored request and a dead letter do not contain the secret");
    CLEANUP_BUF struct buf list = {0};
    kit_list(&k, &list);
    is_str(list.p, "request t  queued 0 0\ndead request t HTTP 400\n",
           "the request and the dead letter are stored");
    kit_begin(&k, steps, 1);
    loop_run_once(k.loop, 10);
    is_int((long long)outbox_read_stats(k.outbox).waiting, 1,
           "after a restart the request waits for its secret");
    outbox_set_secret(k.outbox, "id", CANARY "-id");
    kit_end(&k);
    k.dir = NULL;
}

int main(void)
{
    plan_lazy();
    log_add_secret(CANARY);
    test_secrets();
    test_secret_parts();
    test_secret_never_set();
    test_secret_forgotten();
    test_secret();
    return 0;
}
