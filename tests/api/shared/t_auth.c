/* SPDX-License-Identifier: MIT
 * Who asks: what time and another configuration do to keys and cookies, and what is logged. */
#include "api/shared/auth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "io/httpd_client.h"
#include "tap/tap.h"

#define HOST "Host: localhost\r\n"
#define ANN "0123456789abcdef-ann"
#define BOB "0123456789abcdef-bob"
#define NEW "0123456789abcdef-new"
#define MINUTE_MS 60000
#define HOUR_MS ((int64_t)60 * MINUTE_MS)

static struct loop *loop;
static struct httpd *server;
static struct auth *auth;
static char who[32]; /* that asked last; "": nobody */

static struct conf_http http_of(struct conf_http_key *keys, size_t n)
{
    return (struct conf_http){.keys = keys, .n_keys = n};
}

static struct conf_http_key key(const char *name, const char *secret, unsigned grants)
{
    return (struct conf_http_key){
        .name = (char *)(uintptr_t)name, .secret = secret, .grants = grants};
}

/* ---- asking ---- */

static void on_ask(void *arg, struct httpd_request *r)
{
    (void)arg;
    const struct auth_principal *const p = auth_require_grant(auth, r, CONF_SUBMIT);
    snprintf(who, sizeof who, "%s", p ? p->name : "");
    if (p)
        httpd_answer(r, 200, NULL, STR("yes\n"));
}

static void on_login(void *arg, struct httpd_request *r)
{
    (void)arg;
    auth_handle_login(auth, r);
}

static void on_logout(void *arg, struct httpd_request *r)
{
    (void)arg;
    auth_handle_logout(auth, r);
}

/* The whole answer to one request; static. */
static const char *say(const char *request)
{
    static char answer[8192];
    struct client c = client_connect(loop, server);
    client_send(&c, request, strlen(request));
    client_await(&c, 1);
    snprintf(answer, sizeof answer, "%s", c.in.p ? c.in.p : "");
    client_hang_up(&c);
    return answer;
}

static int ask(const char *header)
{
    char request[1024];
    snprintf(request, sizeof request, "GET /ask HTTP/1.1\r\n" HOST "%s\r\n\r\n", header);
    *who = 0;
    return atoi(say(request) + strlen("HTTP/1.1 "));
}

static int ask_key(const char *secret)
{
    char header[200];
    snprintf(header, sizeof header, "Authorization: Bearer %s", secret);
    return ask(header);
}

/* The header that shows its cookie; static, in turn. */
static const char *login(const char *secret)
{
    static char headers[4][200];
    static unsigned turn;
    char request[1024], body[200];
    char *const header = headers[turn++ % 4];
    snprintf(body, sizeof body, "{\"key\":\"%s\"}", secret);
    snprintf(request, sizeof request,
             "POST /login HTTP/1.1\r\n" HOST
             "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
             strlen(body), body);
    const char *cookie = strstr(say(request), "Set-Cookie: ");
    if (!cookie)
        return NULL;
    cookie += strlen("Set-Cookie: ");
    snprintf(header, sizeof headers[0], "Cookie: %.*s", (int)strcspn(cookie, ";"), cookie);
    return header;
}

static void logout(const char *header)
{
    char request[1024];
    snprintf(request, sizeof request,
             "POST /logout HTTP/1.1\r\n" HOST "Content-Length: 0\r\n%s\r\n\r\n", header);
    has_str(say(request), "Max-Age=0", "logout");
}

/* ---- tests ---- */

static void test_keys(void)
{
    is_int(ask_key(ANN), 200, "a key");
    is_str(who, "ann", "of that name");
    is_int(ask_key(BOB), 403, "without the grant");
    is_int(ask_key(NEW), 401, "one that is none");
    is_int(ask("X: y"), 401, "none at all");
    is_str(who, "", "nobody");
}

static void test_time(void)
{
    const int64_t begin = clock_mono_ms();
    clock_fake(begin, 0);
    const char *const cookie = login(ANN);
    is_int(ask(cookie), 200, "a cookie");
    is_str(who, "ann", "is its key's");
    clock_fake(begin + 12 * HOUR_MS - 1, 0);
    is_int(ask(cookie), 200, "for twelve hours");
    clock_fake(begin + 12 * HOUR_MS, 0);
    is_int(ask(cookie), 401, "and no longer");
    const char *const later = login(ANN);
    is_int(ask(later), 200, "the next one opens again");
    logout(later);
    is_int(ask(later), 401, "until logout");
    clock_fake_end();
}

static void test_other_keys(void)
{
    const char *const cookie = login(ANN), *const others = login(BOB);
    const uint64_t before = auth_get_key_version(auth, "ann"),
                   bobs = auth_get_key_version(auth, "bob");
    struct conf_http_key keys[] = {key("ann", NEW, CONF_SUBMIT), key("bob", BOB, CONF_SUBMIT)};
    struct conf_http http = http_of(keys, 2);
    auth_set_keys(auth, &http);
    is_int(ask_key(ANN), 401, "a key that was replaced");
    is_int(ask(cookie), 401, "and its cookie");
    is_int(ask_key(NEW), 200, "the new one");
    is_int(ask(others), 200, "another's cookie has the grants of now");
    ok(auth_get_key_version(auth, "ann") != before, "what goes on sees that a key is another");
    ok(auth_get_key_version(auth, "bob") != bobs, "or its grants");
    ok(auth_get_key_version(auth, "bob") == auth_get_key_version(auth, "bob"), "else not");
    const uint64_t last = auth_get_key_version(auth, "ann");
    http = http_of(keys + 1, 1);
    auth_set_keys(auth, &http);
    is_int(ask_key(NEW), 401, "one that is gone");
    ok(auth_get_key_version(auth, "ann") != last, "is seen, too");
    http = http_of(keys, 0);
    auth_set_keys(auth, &http);
    is_int(ask("X: y"), 200, "without keys: whoever reaches it");
    const uint64_t open = auth_get_key_version(auth, "local");
    http = http_of(keys, 1);
    auth_set_keys(auth, &http);
    ok(auth_get_key_version(auth, "local") != open, "until there are some");
    is_int(ask("X: y"), 401, "who then has to have one");
}

static unsigned lines(const char *path)
{
    size_t n;
    unsigned found = 0;
    char *const all = tap_slurp(path, &n);
    for (const char *at = all;
         (at = strstr(at, "GET /ask from 127.0.0.1 rejected: missing or invalid")); at++)
        found++;
    ok(!strstr(all, "0123456789abcdef"), "no key is logged");
    free(all);
    return found;
}

static void test_log(void)
{
    char path[512];
    snprintf(path, sizeof path, "%s/log", tap_tmpdir());
    FILE *const f = fopen(path, "w");
    log_setup(LOG_TEXT, LOG_WARN, dup(fileno(f)));
    fclose(f);
    const int64_t begin = clock_mono_ms() + 24 * HOUR_MS;
    clock_fake(begin, 0);
    for (int i = 0; i < 50; i++)
        ask_key(BOB);
    is_int(lines(path), 10, "of 50 failures in a minute ten are logged");
    clock_fake(begin + MINUTE_MS + 1, 0);
    ask_key(BOB);
    is_int(lines(path), 11, "and the next minute's");
    clock_fake_end();
}

int main(void)
{
    plan_lazy();
    log_setup(LOG_TEXT, LOG_ERR, STDERR_FILENO);
    struct tc_err err = {0};
    struct conf_http_key keys[] = {key("ann", ANN, CONF_SUBMIT), key("bob", BOB, CONF_WATCH)};
    const struct conf_http http = http_of(keys, 2);
    loop = loop_new();
    server = httpd_new(loop, &(struct httpd_options){0}, &err);
    if (!server)
        bail("no server: %s", err_format(&err));
    auth = auth_new(&http);
    httpd_route(server, "/ask", HTTPD_GET, on_ask, NULL);
    httpd_route(server, "/login", HTTPD_POST, on_login, NULL);
    httpd_route(server, "/logout", HTTPD_POST, on_logout, NULL);
    test_keys();
    test_time();
    test_other_keys();
    test_log();
    httpd_free(server);
    auth_free(auth);
    auth_free(NULL);
    loop_free(loop);
    return 0;
}
