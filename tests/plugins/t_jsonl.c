/* SPDX-License-Identifier: MIT
 * Tests of the connector jsonl: lines, buffering, a full disk. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "plugins/host.h"
#include "dialect/writer/writer.h"
#include "tap/tap.h"

static struct plugin_host *start(const char *path)
{
    const char *const options[] = {"path", path, NULL};
    struct plugin_host *h = plugin_host_new("jsonl", options);
    if (plugin_host_init(h))
        bail("jsonl does not start: %s", plugin_host_log(h));
    return h;
}

static void send_text(struct plugin_host *h, size_t n, int *rc)
{
    CLEANUP_BUF struct buf payload = {0};
    buf_add_str(&payload, "{\"text\":\"");
    memset(buf_reserve(&payload, n), 'x', n);
    payload.len += n;
    buf_add_str(&payload, "\"}");
    *rc = plugin_host_send(h, "narration", payload.p);
}

static long get_size(const char *path)
{
    struct stat st;
    return stat(path, &st) ? -1 : (long)st.st_size;
}

/* Returns the number of lines that are complete events; -1 if one is not. */
static int count_events(const char *path)
{
    size_t len;
    int n = 0;
    char *text = tap_slurp(path, &len);
    for (char *p = text; *p; n++) {
        char *end = strchr(p, '\n');
        if (!end || strncmp(p, "{\"type\":", 8) != 0 || end[-1] != '}') {
            n = -1;
            break;
        }
        p = end + 1;
    }
    free(text);
    return n;
}

static void test_lines(void)
{
    char *path = xasprintf("%s/out.jsonl", tap_tmpdir());
    int rc;
    struct plugin_host *h = start(path);
    send_text(h, 1, &rc);
    is_int(get_size(path), 0, "lines are buffered while more events arrive");
    is_int(plugin_host_idle(h), 0, "the buffer is written on idle");
    ok(get_size(path) > 0, "the file has the lines after idle");
    send_text(h, 70000, &rc);
    send_text(h, 65000, &rc);
    send_text(h, 200, &rc);
    plugin_host_send(h, "done", "{\"reason\":\"completed\"}");
    is_int(count_events(path), 5, "short and long lines are complete after done");
    plugin_host_free(h);
    h = start(path);
    send_text(h, 1, &rc);
    plugin_host_free(h);
    is_int(count_events(path), 6,
           "an existing file is appended to, and the buffer is written at the end");
    struct stat st;
    ok(stat(path, &st) == 0 && (st.st_mode & 07777) == 0600, "the file has mode 0600");
    free(path);
}

static void set_file_limit(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static void test_full_disk(void)
{
    char *path = xasprintf("%s/full.jsonl", tap_tmpdir());
    int rc;
    signal(SIGXFSZ, SIG_IGN);
    struct plugin_host *h = start(path);
    send_text(h, 10, &rc);
    plugin_host_idle(h);
    set_file_limit((rlim_t)get_size(path) + 50);
    send_text(h, 10, &rc);
    send_text(h, 10, &rc);
    is_int(plugin_host_idle(h), -1, "a short write is reported");
    send_text(h, 100000, &rc);
    is_int(rc, -1, "a short write of a long line is reported");
    const char *first = strstr(plugin_host_log(h), "cannot write");
    ok(first && !strstr(first + 1, "cannot write"),
       "a short write is reported once to the operator");
    set_file_limit(RLIM_INFINITY);
    send_text(h, 10, &rc);
    is_int(plugin_host_idle(h), 0, "the buffer is written when there is space again");
    has_str(plugin_host_log(h), "events lost: 3", "the number of lost events is logged");
    plugin_host_free(h);
    size_t len;
    char *text = tap_slurp(path, &len), *last = text + len - 2;
    while (last > text && last[-1] != '\n')
        last--;
    ok(strncmp(last, "{\"type\":\"narration\"", 19) == 0, "the next event is on its own line");
    free(text);
    free(path);
}

static void test_reader_gone(void)
{
    int ends[2], rc;
    const char *const options[] = {NULL};
    signal(SIGPIPE, SIG_IGN);
    if (pipe(ends))
        bail("no pipe");
    const int saved = dup(1);
    fflush(stdout);
    dup2(ends[1], 1);
    close(ends[1]);
    close(ends[0]);
    struct plugin_host *h = plugin_host_new("jsonl", options);
    plugin_host_init(h);
    send_text(h, 1, &rc);
    rc = plugin_host_idle(h);
    send_text(h, 1, &rc);
    rc |= plugin_host_idle(h);
    char *log = xstrdup(plugin_host_log(h));
    plugin_host_free(h);
    dup2(saved, 1);
    close(saved);
    is_int(rc, 0, "a closed pipe on stdout is not a failure");
    is_str(log, "6 standard output was closed by the reader\n",
           "a closed pipe is logged once at a low level");
    free(log);
}

static void test_refusal(void)
{
    const char *const options[] = {"path", "/nonexistent/x", NULL};
    struct plugin_host *h = plugin_host_new("jsonl", options);
    is_int(plugin_host_init(h), -1, "a path that cannot be opened is refused");
    has_str(plugin_host_log(h), "/nonexistent/x", "the error names the path");
    plugin_host_free(h);
}

/* A plugin cannot access tables of the host, so its list of formats is a copy. */
static void test_formats(void)
{
    for (size_t i = 0; writer_get(i); i++) {
        const char *const options[] = {"path", "/dev/null", "format", writer_get(i)->name, NULL};
        struct plugin_host *const h = plugin_host_new("jsonl", options);
        is_int(plugin_host_init(h), 0, "format %s", writer_get(i)->name);
        plugin_host_free(h);
    }
}

int main(void)
{
    plan_lazy();
    test_formats();
    test_lines();
    test_full_disk();
    test_reader_gone();
    test_refusal();
    return 0;
}
