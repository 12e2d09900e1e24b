/* SPDX-License-Identifier: MIT
 * Tests of response bodies that are saved to files: a complete body is kept, and every other one
 * leaves no file behind. */
#include "io/http/client/download.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/sys/clock.h"
#include "fake/httpd.h"
#include "io/http/client/httpc.h"
#include "tap/tap.h"

static char dir[256];

static unsigned count_files(void)
{
    unsigned n = 0;
    DIR *const d = opendir(dir);
    for (const struct dirent *e; (e = readdir(d));)
        n += *e->d_name != '.';
    closedir(d);
    return n;
}

static void test_file(void)
{
    struct download d, other;
    struct stat st = {0};
    is_int(download_open(&d, "/nowhere/at/all"), -1, "a missing folder is an error");
    is_int(download_open(&d, dir), 0, "a file is created");
    is_int(download_open(&other, dir), 0, "a second file is created");
    ok(strcmp(d.path, other.path) != 0, "the second file has another name");
    is_int(download_write(&d, "abc", 3), 0, "bytes are written");
    char *const path = xstrdup(d.path);
    stat(path, &st);
    is_int(st.st_mode & 07777, 0600, "only the owner may access the file");
    download_finish(&other, false);
    is_int(count_files(), 1, "a file that is not kept is removed");
    char *const big = calloc(1, DOWNLOAD_MAX_BYTES);
    is_int(download_write(&d, big, DOWNLOAD_MAX_BYTES - 2), -1,
           "one byte above the limit is refused");
    is_int(download_write(&d, big, DOWNLOAD_MAX_BYTES - 3), 0, "exactly the limit is accepted");
    free(big);
    download_finish(&d, true);
    stat(path, &st);
    is_int(st.st_size, DOWNLOAD_MAX_BYTES, "the kept file has its size");
    download_finish(&d, false);
    free(path);
}

static void test_sweep(void)
{
    char other[300];
    snprintf(other, sizeof other, "%s/file-of-somebody", dir);
    tap_spew(other, "x", 1);
    is_int((long long)download_remove_old(dir, 3600), 0, "new files are not removed");
    clock_fake(0, clock_wall_s() + 7200);
    is_int((long long)download_remove_old(dir, 3600), 1, "an old file is removed");
    clock_fake_end();
    is_int(access(other, F_OK), 0, "files of other programs are not removed");
    unlink(other);
    is_int((long long)download_remove_old("/nowhere/at/all", 1), 0,
           "in a missing folder no file is removed");
}

struct got {
    unsigned calls;
    enum httpc_outcome outcome;
    char path[512], error[256];
    size_t body_len;
};

static void on_reply(void *arg, const struct httpc_reply *r)
{
    struct got *const g = arg;
    g->calls++;
    g->outcome = r->outcome;
    g->body_len = r->body.len;
    snprintf(g->path, sizeof g->path, "%s", r->path ? r->path : "");
    snprintf(g->error, sizeof g->error, "%s", r->error);
}

static struct got fetch(struct loop *loop, struct httpc *http, const struct httpd_step *step,
                        const char *to)
{
    struct httpd *const server = httpd_start(step, 1);
    struct got g = {0};
    char url[64];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/f", httpd_port(server));
    httpc_start(http,
                &(struct httpc_request){
                    .method = "GET", .url = url, .save_dir = to, .flags = HTTPC_LOOPBACK},
                on_reply, &g);
    while (!g.calls)
        loop_run_once(loop, 1000);
    is_str(httpd_faults(server), "", "the request is valid");
    httpd_stop(server);
    return g;
}

#define HEAD "HTTP/1.1 200 OK\r\n"

static void test_fetch(void)
{
    static const struct httpd_step text = {HTTPD_REPLY, HEAD "Content-Length: 3\r\n\r\nabc"};
    static const struct httpd_step empty = {HTTPD_REPLY, HEAD "Content-Length: 0\r\n\r\n"};
    static const struct httpd_step no = {HTTPD_REPLY,
                                         "HTTP/1.1 404 No\r\nContent-Length: 4\r\n\r\ngone"};
    static const struct httpd_step cut = {HTTPD_REPLY_CLOSE, HEAD "Content-Length: 40\r\n\r\nabc"};
    static const struct httpd_step nine = {HTTPD_FLOOD, HEAD "Content-Length: 9437184\r\n\r\n"};
    static const struct httpd_step huge = {HTTPD_REPLY, HEAD "Content-Length: 20971521\r\n\r\nabc"};
    struct loop *const loop = loop_new();
    struct httpc *const http = httpc_new(loop, NULL);
    struct got g = fetch(loop, http, &text, dir);
    ok(g.outcome == HTTPC_OK && *g.path && g.body_len == 0,
       "a successful response is saved to a file");
    size_t len = 0;
    char *const bytes = tap_slurp(g.path, &len);
    is_mem(bytes, len, "abc", 3, "the file has the complete body");
    free(bytes);
    unlink(g.path);
    g = fetch(loop, http, &empty, dir);
    ok(g.outcome == HTTPC_OK && !*g.path, "an empty response creates no file");
    g = fetch(loop, http, &no, dir);
    ok(g.outcome == HTTPC_REJECTED && !*g.path && g.body_len == 4,
       "the body of a refusal stays in memory");
    g = fetch(loop, http, &cut, dir);
    ok(g.outcome == HTTPC_AMBIGUOUS && !*g.path, "a truncated response leaves no file");
    g = fetch(loop, http, &huge, dir);
    ok(!*g.path && strstr(g.error, "exceeds 20971520"),
       "a response above the limit leaves no file: %s", g.error);
    g = fetch(loop, http, &text, "/nowhere/at/all");
    ok(!*g.path && strstr(g.error, "cannot save the response"), "the folder is missing: %s",
       g.error);
    is_int(count_files(), 0, "no file is left");
    g = fetch(loop, http, &nine, dir);
    struct stat st = {0};
    stat(g.path, &st);
    ok(g.outcome == HTTPC_OK && st.st_size == 9437184,
       "a response that is larger than the memory limit is saved to a file");
    httpc_free(http);
    loop_free(loop);
}

int main(void)
{
    plan_lazy();
    snprintf(dir, sizeof dir, "%s/files", tap_tmpdir());
    mkdir(dir, 0700);
    test_file();
    test_sweep();
    test_fetch();
    return 0;
}
