/* SPDX-License-Identifier: MIT
 * Tests of text/link_url.h. */
#include "text/link_url.h"

#include "tap/tap.h"

static const struct {
    const char *url;
    bool telegram, slack;
} urls[] = {
    {"https://example.com", true, true},
    {"HTTP://Example.COM/a?b=c#d", true, true},
    {"http://1.2.3.4:8080/x", true, true},
    {"http://[::1]:80/", true, true},
    {"http://[2001:db8::1]", true, true},
    {"https://bücher.example/", true, true},
    {"http://localhost:3000", false, true},
    {"http://host", false, true},
    {"http://", false, false},
    {"https://.com", false, true},
    {"https://a..b", false, true},
    {"https://a.b:port/", false, true},
    {"https://a.b:123456/", false, true},
    {"https://user@a.b/", false, true},
    {"http://[::1", false, true},
    {"http://[]/", false, true},
    {"http://[zz]/", false, true},
    {"tg://resolve?domain=x", true, false},
    {"tg://user?id=123", false, false},
    {"tg://", false, false},
    {"ton://transfer/x", true, false},
    {"mailto:a@b.c", false, true},
    {"ftp://a.b/c", false, false},
    {"file:///etc/passwd", false, false},
    {"javascript:alert(1)", false, false},
    {"#anchor", false, false},
    {"docs/page.md", false, false},
    {"", false, false},
};

static void check_clean(const char *raw, const char *wanted)
{
    CLEANUP_BUF struct buf out = {0};
    link_url_append_clean(&out, (struct str){raw, strlen(raw)});
    is_str(out.p, wanted, "clean: %s", wanted);
}

int main(void)
{
    plan_lazy();
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        is_int(link_url_is_telegram_safe(urls[i].url), urls[i].telegram, "telegram: %s",
               urls[i].url);
        is_int(link_url_is_web_or_mail(urls[i].url), urls[i].slack, "slack: %s", urls[i].url);
    }
    check_clean("http://a.b/c(d)?e=%20&f#g", "http://a.b/c(d)?e=%20&f#g");
    check_clean("http://a.b/ c|d<e>\"f\n", "http://a.b/%20c%7Cd%3Ce%3E%22f%0A");
    ok(link_url_equals_label("https://a.b/c", STR("https://a.b/c")), "a label that is the address");
    ok(link_url_equals_label("https://a.b/c", STR("a.b/c")),
       "a label that is the address without its scheme");
    ok(link_url_equals_label("mailto:a@b.c", STR("a@b.c")),
       "a label that is the address without mailto");
    ok(!link_url_equals_label("https://evil.example", STR("a.b")),
       "a label that is another address");
    ok(!link_url_equals_label("https://a.b/c", STR("")), "an empty label");
    return 0;
}
