/* SPDX-License-Identifier: MIT
 * Tests of durable requests with parts, sent and kept, over a restart of the host. */
#include <stdio.h>
#include <string.h>

#include "base/sys/log.h"
#include "plugin/post_kit.h"
#include "tap/tap.h"

#define URL "{option:base}/m"

static struct kit k;
static char dir[600];

static const char *results(void)
{
    return k.told.len ? k.told.p : "";
}

static void begin(void)
{
    static int n;
    snprintf(dir, sizeof dir, "%s/d%d", tap_tmpdir(), n++);
    k.dir = dir;
    kit_begin(&k, NULL, 0);
}

static void end(void)
{
    CLEANUP_BUF struct buf list = {0};
    kit_die(&k);
    kit_list(&k, &list);
    is_str(list.p, "", "the sent requests are deleted");
    k.dir = NULL;
    kit_begin(&k, NULL, 0);
    kit_end(&k);
}

/* A file with bytes of any kind, and names that others have chosen. */
static void test_parts(void)
{
    static const struct httpd_step steps[] = {{HTTPD_REPLY, KIT_OK}};
    static const struct tc_part parts[] = {
        {.name = "chat", .data = "7"},
        {.name = "doc",
         .file_name = "a\"; x=\\\r\nX-Evil: 1\r\n\r\n\xc3\xa9",
         .type = "text/plain",
         .data = "zero \1 end",
         .len = 10},
    };
    begin();
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = URL, .lane = "a", .tag = "1", .flags = TC_DURABLE, .parts = parts,
                     .part_count = 2, .delay_ms = 30));
    while (outbox_read_stats(k.outbox).waiting < 1)
        loop_run_once(k.loop, 10);
    kit_die(&k);
    kit_begin(&k, steps, 1);
    kit_run_idle(&k);
    is_str(results(), "1 ok 200 1\n", "a request with parts is sent after a restart");
    const char *const request = httpd_request(k.server, 0);
    const char *const type = "\r\nContent-Type: multipart/form-data; boundary=";
    const char *const from = strstr(request, type);
    char boundary[64] = "", wanted[1000];
    if (!from || sscanf(from + strlen(type), "%63[^\r]", boundary) != 1)
        bail("no boundary: %s", request);
    snprintf(wanted, sizeof wanted,
             "\r\n\r\n--%s\r\nContent-Disposition: form-data; name=\"chat\"\r\n\r\n7\r\n--%s\r\n"
             "Content-Disposition: form-data; name=\"doc\"; "
             "filename=\"a%%22; x=%%5C%%0D%%0AX-Evil: 1%%0D%%0A%%0D%%0A\xc3\xa9\"\r\n"
             "Content-Type: text/plain\r\n\r\nzero \1 end\r\n--%s--\r\n",
             boundary, boundary, boundary);
    has_str(request, wanted,
            "the request is multipart/form-data, and a name with quotes is escaped");
    end();
}

/* The next request sends the kept part as its body. */
static void send_kept_part(struct kit_call *call)
{
    const struct tc_http *const http = call->reply->reply.http;
    if (http->part_count)
        kit_reply_send(call, TC_HTTP(.url = URL, .lane = "a", .tag = "2", .flags = TC_DURABLE,
                                     .content_type = http->parts[0].type,
                                     .body = http->parts[0].data, .body_len = http->parts[0].len));
}

/* The body and the kept part are not changed; placeholders in the part are not replaced. */
static void test_kept_parts(void)
{
    static const struct httpd_step steps[] = {{HTTPD_REPLY, KIT_OK}, {HTTPD_REPLY, KIT_OK}};
    static const struct tc_part parts[] = {{.type = "text/plain", .data = "{option:token} {1}"}};
    begin();
    KIT_SEND(&k, BATCH_NOTHING,
             TC_HTTP(.url = URL, .lane = "a", .tag = "1", .flags = TC_DURABLE | TC_FILL_BODY,
                     .body = "first", .parts = parts, .part_count = 1, .delay_ms = 30));
    while (outbox_read_stats(k.outbox).waiting < 1)
        loop_run_once(k.loop, 10);
    kit_die(&k);
    k.on_reply = send_kept_part;
    kit_begin(&k, steps, 2);
    kit_run_idle(&k);
    k.on_reply = NULL;
    is_str(results(), "1 ok 200 1\n2 ok 200 1\n",
           "after a restart the next request has the kept part");
    has_str(httpd_request(k.server, 0), "Content-Length: 5\r\n\r\nfirst",
            "the first request has only its body");
    has_str(httpd_request(k.server, 1), "\r\n\r\n{option:token} {1}",
            "the second request has the kept part");
    end();
}

int main(void)
{
    plan_lazy();
    log_add_secret(CANARY);
    test_parts();
    test_kept_parts();
    return 0;
}
