/* SPDX-License-Identifier: MIT
 * Tests of the addresses and sockets that the HTTP server listens on, and of its limits on
 * connections. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "io/httpd_client.h"
#include "tap/tap.h"

#define ASK "GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n"

static struct loop *loop;
static struct httpd *server;

static void on_ask(void *arg, struct httpd_request *r)
{
    (void)arg;
    CLEANUP_BUF struct buf body = {0};
    buf_printf(&body, "for %s\n", r->peer);
    httpd_answer(r, 200, NULL, (struct str){body.p, body.len});
}

static void begin(const struct httpd_options *options)
{
    struct tc_err err = {0};
    server = httpd_new(loop, options, &err);
    if (!server)
        bail("no server: %s", err_format(&err));
    httpd_route(server, "/a", HTTPD_GET, on_ask, NULL);
}

static void end(void)
{
    httpd_free(server);
    server = NULL;
}

/* Sends a request. Returns whether the response contains the text. */
static bool has_response(struct client *c, const char *bytes, const char *wanted)
{
    client_send(c, bytes, strlen(bytes));
    client_await(c, client_count_answers(c) + 1);
    return c->in.p && strstr(c->in.p, wanted);
}

static void is_refused(const struct httpd_options *options, const char *why)
{
    struct tc_err err = {0};
    struct httpd *const h = httpd_new(loop, options, &err);
    ok(!h, "the server does not start");
    has_str(err_format(&err), why, "%s", why);
    httpd_free(h);
}

/* ---- addresses ---- */

static void test_addresses(void)
{
    is_refused(
        &(struct httpd_options){.address = "0.0.0.0"},
        "0.0.0.0: is reachable from other machines; set http.allow_remote = true to permit this");
    is_refused(&(struct httpd_options){.address = "localhost"},
               "localhost: is not a numeric IP address");
    begin(&(struct httpd_options){0});
    is_refused(&(struct httpd_options){.port = httpd_bound_port(server)}, "cannot listen: ");
    end();
    begin(&(struct httpd_options){.address = "0.0.0.0", .allow_remote = true});
    struct client c = client_connect(loop, server);
    ok(has_response(&c, ASK, "for 127.0.0.1\n"),
       "a permitted address that is reachable from other machines");
    client_hang_up(&c);
    end();
}

/* ---- a path ---- */

static void leave_stale(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(fd, (const struct sockaddr *)(const void *)&at, sizeof at) < 0 || listen(fd, 1) < 0)
        bail("no socket");
    close(fd);
}

static void test_path(const char *folder)
{
    CLEANUP_FREE char *path = xasprintf("%s/control", folder);
    struct stat st = {0};
    begin(&(struct httpd_options){.unix_path = path});
    ok(lstat(path, &st) == 0 && S_ISSOCK(st.st_mode), "the server creates a socket");
    is_int(st.st_mode & 07777, 0600, "only the user may access the socket");
    is_int(httpd_bound_port(server), 0, "the server has no port");
    struct client c = client_connect_path(loop, path);
    ok(has_response(&c, ASK, "for local\n"), "the server answers on the socket");
    ok(has_response(&c, "GET /a HTTP/1.1\r\nHost: any.thing\r\nOrigin: x\r\n\r\n", "for local\n") &&
           client_count_answers(&c) == 2 && !strstr(c.in.p, " 421 "),
       "Host and Origin are ignored on the socket");
    ok(has_response(&c, "GET /a HTTP/1.1\r\n\r\n", " 400 Bad Request"),
       "the parser is equally strict on the socket");
    client_hang_up(&c);
    is_refused(&(struct httpd_options){.unix_path = path},
               "another process is listening on this socket");
    c = client_connect_path(loop, path);
    ok(has_response(&c, ASK, "for local\n"), "the first server goes on listening");
    client_hang_up(&c);
    end();
    ok(lstat(path, &st) < 0 && errno == ENOENT, "the server removes its socket at its end");

    leave_stale(path);
    begin(&(struct httpd_options){.unix_path = path});
    c = client_connect_path(loop, path);
    ok(has_response(&c, ASK, "for local\n"), "a stale socket is replaced");
    client_hang_up(&c);
    unlink(path);
    leave_stale(path);
    end();
    ok(lstat(path, &st) == 0, "a socket of another process is not removed");
    unlink(path);

    FILE *const file = fopen(path, "w");
    if (!file || fclose(file) != 0)
        bail("no file");
    is_refused(&(struct httpd_options){.unix_path = path}, "exists and is not a socket; remove it");
    ok(lstat(path, &st) == 0 && S_ISREG(st.st_mode), "a file is not removed");
    unlink(path);
    CLEANUP_FREE char *far = xasprintf("%s/%0120d", folder, 0);
    is_refused(&(struct httpd_options){.unix_path = far}, "is too long");
    CLEANUP_FREE char *nowhere = xasprintf("%s/none/control", folder);
    is_refused(&(struct httpd_options){.unix_path = nowhere}, "cannot listen: No such file");
}

/* ---- limits on connections ---- */

static void test_crowd(void)
{
    begin(&(struct httpd_options){.max_connections = 3, .max_per_address = 2});
    struct client c[3];
    for (int i = 0; i < 3; i++) {
        c[i] = client_connect(loop, server);
        loop_run_once(loop, 10);
    }
    client_await_end(&c[2]);
    has_str(c[2].in.p, "HTTP/1.1 503 ", "the third connection of an address is refused");
    ok(c[2].closed, "the refused connection is closed");
    ok(has_response(&c[0], ASK, " 200 OK"), "the other connections work");
    client_hang_up(&c[1]);
    c[1] = client_connect(loop, server);
    ok(has_response(&c[1], ASK, " 200 OK"), "a closed connection permits another one");
    for (int i = 0; i < 3; i++)
        client_hang_up(&c[i]);
    end();

    begin(&(struct httpd_options){.max_connections = 100});
    struct client many[101];
    for (int i = 0; i < 101; i++) {
        many[i] = client_connect(loop, server);
        loop_run_once(loop, 10);
    }
    ok(has_response(&many[99], ASK, " 200 OK"),
       "the limit per address does not apply to loopback, from which a proxy connects");
    client_await_end(&many[100]);
    has_str(many[100].in.p, "HTTP/1.1 503 ", "the limit on all connections applies to loopback");
    for (int i = 0; i < 101; i++)
        client_hang_up(&many[i]);
    end();
}

static void set_limit(rlim_t files)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = files;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        bail("cannot set the limit");
}

static void test_descriptors(void)
{
    struct rlimit before;
    getrlimit(RLIMIT_NOFILE, &before);
    begin(&(struct httpd_options){0});
    struct client first = client_connect(loop, server);
    ok(has_response(&first, ASK, " 200 OK"), "with free descriptors a request is answered");
    struct client c[3];
    for (int i = 0; i < 3; i++)
        c[i] = client_connect(loop, server);
    const int next = dup(0);
    close(next);
    set_limit((rlim_t)next);
    for (int i = 0; i < 3; i++) {
        client_await_end(&c[i]);
        ok(c[i].closed && strstr(c[i].in.p, "HTTP/1.1 503 "),
           "without a free descriptor a client gets 503");
        client_read(&first);
    }
    ok(has_response(&first, ASK, " 200 OK"), "the existing connection works");
    set_limit(before.rlim_cur);
    for (int i = 0; i < 3; i++)
        client_hang_up(&c[i]);
    c[0] = client_connect(loop, server);
    ok(has_response(&c[0], ASK, " 200 OK"),
       "a new connection works when descriptors are free again");
    client_hang_up(&c[0]);
    client_hang_up(&first);
    end();

    if (before.rlim_max < 400) {
        skip(1, "the hard limit on descriptors is too low");
        return;
    }
    set_limit(100);
    begin(&(struct httpd_options){.max_connections = 100});
    struct rlimit raised;
    getrlimit(RLIMIT_NOFILE, &raised);
    ok(raised.rlim_cur > 300, "the server raises the soft limit to the number that it needs");
    end();
    set_limit(before.rlim_cur);
}

int main(void)
{
    plan_lazy();
    loop = loop_new();
    char folder[] = "/tmp/t_httpd_listen.XXXXXX";
    if (!mkdtemp(folder))
        bail("no folder");
    test_addresses();
    test_path(folder);
    test_crowd();
    test_descriptors();
    rmdir(folder);
    loop_free(loop);
    return 0;
}
