/* SPDX-License-Identifier: MIT
 * Fuzz target of io/httpd_parse: however the bytes are cut they mean the same, and a request that
 * is taken has one Host and one length. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "io/http/server/httpd.h"
#include "io/http/server/httpd_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static unsigned count(const struct httpd_parse *p, const char *name)
{
    unsigned n = 0;
    for (size_t i = 0; i < p->header_count; i++)
        n += strcasecmp(httpd_parse_name(p, i), name) == 0;
    return n;
}

static void check_request(const struct httpd_parse *p)
{
    require(count(p, "Host") == 1);
    require(count(p, "Content-Length") + count(p, "Transfer-Encoding") <= 1);
    require(*httpd_parse_target(p) == '/' && strlen(httpd_parse_target(p)) <= HTTPD_MAX_TARGET);
    require(p->body.len <= HTTPD_MAX_BODY);
    for (size_t i = 0; i < p->header_count; i++)
        require(!strpbrk(httpd_parse_name(p, i), " \t\r\n:") &&
                !strpbrk(httpd_parse_value(p, i), "\r\n"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data;
    for (size_t left = size; left;) {
        struct httpd_parse whole = {0}, bytewise = {0};
        const size_t taken = httpd_parse_feed(&whole, at, left);
        size_t n = 0;
        while (n < left && httpd_parse_feed(&bytewise, at + n, 1) == 1)
            n++;
        require(n == taken && whole.state == bytewise.state && whole.status == bytewise.status);
        require(whole.body.len == bytewise.body.len && whole.header_count == bytewise.header_count);
        require((whole.state == HTTPD_PARSE_REFUSED) == (whole.status != 0));
        const bool is_ready = whole.state == HTTPD_PARSE_READY;
        if (is_ready)
            check_request(&whole);
        httpd_parse_fini(&whole);
        httpd_parse_fini(&bytewise);
        if (!is_ready)
            break;
        at += taken;
        left -= taken;
    }
    return 0;
}
