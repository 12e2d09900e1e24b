/* SPDX-License-Identifier: MIT
 * Tests of the audit connector and of the verifier that reads what it wrote: records, chain,
 * rotation, restart, full disks, and every class of tampering. */
#include "cli/inspect/audit_verify.h"

#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/sys/log.h"
#include "plugins/host.h"
#include "tap/tap.h"

static char *path_of(const char *name)
{
    return xasprintf("%s/%s", tap_tmpdir(), name);
}

static struct plugin_host *start(const char *path, const char *key, const char *value)
{
    const char *const options[] = {"path", path, key, value, NULL};
    struct plugin_host *h = plugin_host_new("audit", options);
    if (plugin_host_init(h))
        bail("audit does not start: %s", plugin_host_log(h));
    return h;
}

/* A turn of ten events. */
static void play(struct plugin_host *h)
{
    plugin_host_send(h, "start", "{\"task\":\"Summarise README.md\"}");
    plugin_host_send(h, "step", "{\"state\":\"start\",\"index\":0,\"max\":10}");
    plugin_host_send(h, "narration", "{\"text\":\"Reading \\u00e9\\u4e2d.\"}");
    plugin_host_send(h, "tool_call",
                     "{\"name\":\"file_read\",\"args\":{\"path\":\"a\"},\"tool_use_id\":\"t1\"}");
    plugin_host_send(h, "progress", "{\"percent\":50,\"message\":\"half way\"}");
    plugin_host_send(
        h, "tool_result",
        "{\"tool_use_id\":\"t1\",\"content\":\"x\",\"is_error\":false,\"name\":\"file_read\"}");
    plugin_host_send(h, "final", "{\"text\":\"Done.\"}");
    plugin_host_send(h, "usage", "{\"scope\":\"turn\",\"input_tokens\":1,\"output_tokens\":2}");
    plugin_host_send(h, "notice", "{\"level\":\"info\",\"text\":\"n\"}");
    plugin_host_send(h, "done", "{\"reason\":\"completed\",\"turns\":2}");
}

/* Lines of a file, for free of both. */
static size_t lines_of(const char *path, char **text, char **lines, size_t max)
{
    size_t len, n = 0;
    *text = tap_slurp(path, &len);
    for (char *p = strtok(*text, "\n"); p && n < max; p = strtok(NULL, "\n"))
        lines[n++] = p;
    return n;
}

static json_t *parse(const char *line)
{
    json_t *j = json_loads(line, 0, NULL);
    if (!j)
        bail("not JSON: %s", line);
    return j;
}

static const char *member(const json_t *j, const char *key)
{
    return json_string_value(json_object_get(j, key));
}

static int verify(const char *path, struct audit_verify_report *r, struct tc_err *err)
{
    *r = (struct audit_verify_report){0};
    return audit_verify_file(path, r, err);
}

static void check_record(const char *line, const char *type, const char *detail)
{
    static const char *const keys[] = {"timestamp", "session_id", "task_id", "event_type",
                                       "category",  "result",     "detail",  "policy_rule"};
    json_t *j = parse(line);
    const char *key;
    json_t *value;
    size_t i = 0;
    bool in_order = true;
    json_object_foreach(j, key, value)
    {
        in_order = in_order && (i >= 8 || strcmp(key, keys[i]) == 0);
        i++;
    }
    char *text = json_dumps(json_object_get(j, "detail"), JSON_COMPACT);
    is_str(member(j, "event_type"), type, "%s", type);
    is_str(text, detail, "%s: its detail", type);
    ok(in_order && i > 8, "%s: the reporter's keys come first, in its order", type);
    free(text);
    json_decref(j);
}

static void test_records(void)
{
    char *path = path_of("records.jsonl"), *text, *line[32];
    struct plugin_host *h = start(path, "sync", "always");
    play(h);
    plugin_host_set_meta(h, NULL, 1);
    plugin_host_send(h, "thinking", "{\"text\":\"hm\"}");
    plugin_host_send(h, "error", "{\"message\":\"Provider timeout\"}");
    plugin_host_send(h, "done", "{\"reason\":\"error\"}");
    plugin_host_free(h);
    is_int((long long)lines_of(path, &text, line, 32), 14,
           "R30: the log has an opening record and one record per event");
    check_record(line[1], "agent.progress.start", "{\"task\":\"Summarise README.md\"}");
    check_record(line[2], "agent.progress.iteration", "{\"iteration\":0,\"max\":10}");
    check_record(line[3], "turncast.narration", "{}");
    check_record(line[4], "agent.progress.tool_start", "{\"tool\":\"file_read\"}");
    check_record(line[5], "agent.progress.update", "{\"pct\":50.0,\"label\":\"half way\"}");
    check_record(line[6], "agent.progress.tool_done",
                 "{\"tool\":\"file_read\",\"summary\":\"ok\"}");
    check_record(line[7], "turncast.final", "{}");
    check_record(line[10], "agent.progress.complete",
                 "{\"summary\":\"finished after 2 iteration(s)\"}");
    check_record(line[12], "agent.progress.error", "{\"error\":\"Provider timeout\"}");
    check_record(line[13], "turncast.done", "{}");
    json_t *j = parse(line[3]), *open = parse(line[0]), *hidden = parse(line[11]);
    is_str(member(j, "timestamp"), "2026-08-01T07:30:01.000250+00:00", "time");
    is_str(member(j, "session_id"), "sess-1", "session");
    is_str(member(j, "task_id"), "turn-1", "turn");
    is_str(member(json_object_get(json_object_get(j, "event"), "payload"), "text"), "Reading é中.",
           "the canonical event is there, whole");
    ok(json_is_false(json_object_get(j, "hidden")), "what was shown");
    ok(json_is_true(json_object_get(hidden, "hidden")), "and what was not");
    is_str(member(open, "event_type"), "turncast.audit.open", "the file says who wrote it");
    is_int(json_integer_value(json_object_get(json_object_get(open, "detail"), "pid")), getpid(),
           "its pid");
    is_int(json_integer_value(json_object_get(json_object_get(open, "detail"), "schema")), 1,
           "and the schema");
    struct stat st;
    ok(stat(path, &st) == 0 && (st.st_mode & 07777) == 0600, "R30: mode 0600");
    json_decref(j);
    json_decref(open);
    json_decref(hidden);
    free(text);
    free(path);
}

static void test_chain(void)
{
    char *path = path_of("chain.jsonl");
    struct audit_verify_report r;
    struct tc_err err;
    struct plugin_host *h = start(path, "keep", "5");
    play(h);
    plugin_host_free(h);
    ok(verify(path, &r, &err) == 0, "R30: an unchanged log is verified");
    is_int((long long)r.records, 11, "records");
    is_int((long long)r.last_seq, 11, "seq");
    char *command = xasprintf("tail -n 1 '%s' | tr -d '\\n' | sha256sum | cut -c1-64", path);
    FILE *p = popen(command, "r");
    char hex[65] = "";
    ok(p && fread(hex, 1, 64, p) == 64, "sha256sum runs");
    is_str(hex, r.head, "the head is the hash of the last line");
    if (p)
        pclose(p);
    h = start(path, "keep", "5");
    plugin_host_send(h, "done", "{\"reason\":\"completed\"}");
    plugin_host_free(h);
    ok(verify(path, &r, &err) == 0, "a second run goes on with the chain");
    is_int((long long)r.last_seq, 13, "and its numbers");
    const int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    ok(write(fd, "{\"timestamp\":\"20", 16) == 16, "a writer dies in the middle of a record");
    close(fd);
    ok(verify(path, &r, &err) && r.bad, "which is seen");
    is_int((long long)r.bad_seq, 14, "as the record that is not there");
    h = start(path, "keep", "5");
    has_str(plugin_host_log(h), "incomplete last line", "the next start says that it cuts it off");
    play(h);
    plugin_host_free(h);
    ok(verify(path, &r, &err) == 0, "and goes on");
    is_int((long long)r.last_seq, 24, "with the next number");
    free(command);
    free(path);
}

static void test_two_writers(void)
{
    char *path = path_of("two.jsonl");
    struct audit_verify_report r;
    struct tc_err err = {0};
    struct plugin_host *a = start(path, "max_bytes", "6000"), *b = start(path, "max_bytes", "6000");
    for (int i = 0; i < 40; i++) {
        plugin_host_send(a, "narration", "{\"text\":\"from a\"}");
        plugin_host_send(b, "narration", "{\"text\":\"from b\"}");
        if (i % 10 == 9)
            plugin_host_send(b, "narration", "{\"text\":\"from b again\"}");
    }
    plugin_host_free(a);
    plugin_host_free(b);
    r = (struct audit_verify_report){0};
    int rc = 0;
    for (int i = 5; i >= 0 && !rc; i--) {
        char *name = i ? xasprintf("%s.%d", path, i) : xstrdup(path);
        if (access(name, F_OK) == 0)
            rc = audit_verify_file(name, &r, &err);
        free(name);
    }
    ok(rc == 0, "two writers of one log, over rotations, make one chain: %s", err_format(&err));
    ok(r.files == 6 && r.first_seq > 1, "of which the oldest files are gone");
    ok(r.last_seq > 84, "and no record missing at the end");
    free(path);
}

static void test_rotation(void)
{
    char *path = path_of("rot.jsonl");
    struct audit_verify_report r = {0};
    struct tc_err err = {0};
    struct plugin_host *h = start(path, "max_bytes", "4000");
    for (int i = 0; i < 4; i++)
        play(h);
    plugin_host_free(h);
    char *old = xasprintf("%s.1", path), *older = xasprintf("%s.2", path), *text, *line[64];
    struct stat st;
    ok(stat(old, &st) == 0 && st.st_size <= 4000, "R30: no file exceeds the maximum size");
    lines_of(path, &text, line, 64);
    json_t *j = parse(line[0]);
    is_str(member(json_object_get(j, "detail"), "why"), "rotate", "a new file says why it begins");
    ok(member(j, "prev") && strlen(member(j, "prev")) == 64, "and carries the chain on");
    json_decref(j);
    ok(audit_verify_file(older, &r, &err) == 0 && audit_verify_file(old, &r, &err) == 0 &&
           audit_verify_file(path, &r, &err) == 0,
       "three files in their order are one chain: %s", err_format(&err));
    is_int((long long)r.files, 3, "files");
    r = (struct audit_verify_report){0};
    ok(audit_verify_file(older, &r, &err) == 0 && audit_verify_file(path, &r, &err) != 0 && r.bad,
       "a file left out is missed");
    /* logrotate moves the file away under a running host. */
    h = start(path, "max_bytes", "0");
    char *moved = xasprintf("%s.moved", path);
    ok(rename(path, moved) == 0, "the file is moved away");
    play(h);
    plugin_host_free(h);
    r = (struct audit_verify_report){0};
    ok(audit_verify_file(moved, &r, &err) == 0 && audit_verify_file(path, &r, &err) == 0,
       "what follows is in a new file and in the same chain: %s", err_format(&err));
    free(text);
    free(old);
    free(older);
    free(moved);
    free(path);
}

/* Records cut off under a running host: it knows better than the file, and goes on from there. */
static void test_shrunk(void)
{
    char *path = path_of("shrunk.jsonl"), *text, *line[32];
    struct audit_verify_report r;
    struct tc_err err = {0};
    struct plugin_host *h = start(path, "sync", "never");
    play(h);
    size_t len;
    text = tap_slurp(path, &len);
    const char *fifth = text;
    for (int i = 0; i < 5; i++)
        fifth = strchr(fifth, '\n') + 1;
    ok(truncate(path, fifth - text) == 0, "the end of the log is cut off");
    plugin_host_send(h, "done", "{\"reason\":\"completed\"}");
    ok(verify(path, &r, &err) && r.bad_seq == 6, "what follows shows it: %s", err_format(&err));
    free(text);
    ok(truncate(path, 0) == 0, "the log is emptied in place, as logrotate's copytruncate does");
    plugin_host_send(h, "done", "{\"reason\":\"completed\"}");
    ok(verify(path, &r, &err) == 0 && r.first_seq == 14, "it begins with the next number");
    lines_of(path, &text, line, 32);
    json_t *j = parse(line[0]);
    is_str(member(json_object_get(j, "detail"), "why"), "shrunk", "and says why");
    json_decref(j);
    plugin_host_free(h);
    free(text);
    free(path);
}

static void test_keep_none(void)
{
    char *path = path_of("none.jsonl"), *old = xasprintf("%s.1", path);
    const char *const options[] = {"path", path, "max_bytes", "3000", "keep", "0", NULL};
    struct audit_verify_report r;
    struct tc_err err = {0};
    struct plugin_host *h = plugin_host_new("audit", options);
    is_int(plugin_host_init(h), 0, "keep = 0");
    for (int i = 0; i < 3; i++)
        play(h);
    plugin_host_free(h);
    ok(access(old, F_OK) != 0, "keeps no old file");
    ok(verify(path, &r, &err) == 0 && r.first_seq > 1, "and the chain of the one there is");
    free(old);
    free(path);
}

/* A log of 11 records for tampering, and where its lines begin. */
struct sample {
    char *path;
    char *text;
    size_t len;
    size_t at[13];
};

static void rewrite(const struct sample *s, const char *p, size_t n)
{
    tap_spew(s->path, p, n);
}

static void expect_bad(const struct sample *s, uint64_t seq, const char *what)
{
    struct audit_verify_report r;
    struct tc_err err = {0};
    const int rc = verify(s->path, &r, &err);
    ok(rc != 0 && r.bad, "%s: seen", what);
    is_int((long long)r.bad_seq, (long long)seq, "%s: named (%s)", what, err_format(&err));
}

static void test_flips(const struct sample *s)
{
    char *copy = xmalloc(s->len);
    unsigned missed = 0, misnamed = 0;
    for (size_t i = 0; i < s->len; i += 3) {
        size_t record = 1;
        while (s->at[record] <= i)
            record++;
        memcpy(copy, s->text, s->len);
        copy[i] = copy[i] == 'a' ? 'b' : 'a';
        rewrite(s, copy, s->len);
        struct audit_verify_report r;
        missed += verify(s->path, &r, NULL) == 0;
        misnamed += r.bad_seq != record;
    }
    is_int(missed, 0, "a byte changed anywhere is seen, in the last record too");
    is_int(misnamed, 0, "and the record that it is in is named");
    free(copy);
}

/* Puts line `a` (1…) of the sample, then `b`…: 0 ends the list. */
static void arrange(const struct sample *s, const unsigned *order)
{
    CLEANUP_BUF struct buf b = {0};
    for (; *order; order++)
        buf_add(&b, s->text + s->at[*order - 1], s->at[*order] - s->at[*order - 1]);
    rewrite(s, b.p, b.len);
}

static void test_order(const struct sample *s)
{
    arrange(s, (const unsigned[]){1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 0});
    expect_bad(s, 5, "a record deleted");
    arrange(s, (const unsigned[]){1, 2, 3, 4, 7, 8, 9, 10, 11, 0});
    expect_bad(s, 5, "two records deleted");
    arrange(s, (const unsigned[]){1, 2, 3, 4, 6, 5, 7, 8, 9, 10, 11, 0});
    expect_bad(s, 5, "two records swapped");
    arrange(s, (const unsigned[]){1, 2, 3, 4, 5, 3, 6, 7, 8, 9, 10, 11, 0});
    expect_bad(s, 6, "a record copied in");
    struct audit_verify_report r;
    arrange(s, (const unsigned[]){1, 2, 3, 4, 5, 6, 7, 8, 9, 0});
    ok(verify(s->path, &r, NULL) == 0 && r.last_seq == 9,
       "records cut off at the end: not seen without an anchor, but the last seq tells");
    arrange(s, (const unsigned[]){3, 4, 5, 6, 7, 8, 9, 10, 11, 0});
    ok(verify(s->path, &r, NULL) == 0 && r.first_seq == 3, "cut off at the begin: the first tells");
    rewrite(s, s->text, s->at[7] - 20);
    expect_bad(s, 7, "the file cut off inside a record");
}

/* A record rewritten with a hash that fits it: its successor gives it away. */
static void test_forgery(const struct sample *s)
{
    char *other = path_of("forger.jsonl");
    struct plugin_host *h = start(other, "keep", "5");
    play(h);
    plugin_host_free(h);
    size_t len;
    char *text = tap_slurp(other, &len), *p = text;
    for (int i = 1; i < 5; i++)
        p = strchr(p, '\n') + 1;
    CLEANUP_BUF struct buf b = {0};
    buf_add(&b, s->text, s->at[4]);
    buf_add(&b, p, (size_t)(strchr(p, '\n') + 1 - p));
    buf_add(&b, s->text + s->at[5], s->len - s->at[5]);
    rewrite(s, b.p, b.len);
    struct audit_verify_report r;
    ok(verify(s->path, &r, NULL) && r.bad, "a record of another log in its place: seen");
    ok(r.bad_seq == 4 || r.bad_seq == 5, "and found where the two chains touch");
    rewrite(s, "{\"seq\":1}\n", 10);
    expect_bad(s, 1, "a line without a hash");
    rewrite(s, "hello\n", 6);
    expect_bad(s, 1, "a line that is no record");
    free(text);
    free(other);
}

static void test_tampering(void)
{
    struct sample s = {.path = path_of("tamper.jsonl")};
    struct plugin_host *h = start(s.path, "keep", "5");
    play(h);
    plugin_host_free(h);
    s.text = tap_slurp(s.path, &s.len);
    for (size_t i = 0, n = 1; i < s.len; i++)
        if (s.text[i] == '\n')
            s.at[n++] = i + 1;
    test_flips(&s);
    test_order(&s);
    test_forgery(&s);
    free(s.text);
    free(s.path);
}

static void set_file_limit(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* A file that may not grow stands for a full disk: the write that crosses the limit is short. */
static void test_full_disk(void)
{
    char *path = path_of("full.jsonl");
    struct audit_verify_report r;
    struct tc_err err = {0};
    signal(SIGXFSZ, SIG_IGN);
    struct plugin_host *h = start(path, "max_bytes", "0");
    play(h);
    struct stat st;
    stat(path, &st);
    set_file_limit((rlim_t)st.st_size + 100);
    is_int(plugin_host_send(h, "narration", "{\"text\":\"lost\"}"), -1,
           "R30: a full disk is reported");
    is_int(plugin_host_send(h, "narration", "{\"text\":\"lost\"}"), -1, "each time to the host");
    ok(verify(path, &r, &err) == 0, "what was begun is taken back: the chain holds");
    const char *first = strstr(plugin_host_log(h), "cannot write");
    ok(first && !strstr(first + 1, "cannot write"), "and once to the operator");
    set_file_limit(RLIM_INFINITY);
    is_int(plugin_host_send(h, "narration", "{\"text\":\"kept\"}"), 0,
           "it goes on when there is room");
    has_str(plugin_host_log(h), "records lost: 2", "and says what is missing");
    plugin_host_free(h);
    ok(verify(path, &r, &err) == 0, "the chain holds: %s", err_format(&err));
    is_int((long long)r.lost, 2, "and the log itself tells how many are missing");
    free(path);
}

static void test_caps_and_secrets(void)
{
    char *path = path_of("caps.jsonl"), *text, *line[8];
    log_add_secret("hunter2hunter2\"x");
    struct plugin_host *h = start(path, "max_event", "1000");
    CLEANUP_BUF struct buf payload = {0};
    buf_add_str(&payload, "{\"text\":\"");
    for (int i = 0; i < 3000; i++)
        buf_add_str(&payload, "é");
    buf_add_str(&payload, "\"}");
    plugin_host_send(h, "narration", payload.p);
    plugin_host_send(h, "error", "{\"message\":\"key hunter2hunter2\\\"x refused\"}");
    plugin_host_free(h);
    lines_of(path, &text, line, 8);
    json_t *j = parse(line[1]);
    ok(json_is_null(json_object_get(j, "event")) && json_is_true(json_object_get(j, "truncated")),
       "a long event is cut");
    ok(json_integer_value(json_object_get(j, "len")) > 6000, "its length is told");
    ok(strlen(member(j, "head")) <= 500 && strstr(member(j, "head"), "narration") &&
           strstr(member(j, "tail"), "\"src\":\"test\"}"),
       "and its begin and end");
    json_decref(j);
    ok(!strstr(line[2], "hunter2"), "R23 R30: a secret is masked however JSON escapes it");
    has_str(line[2], "\"error\":\"key *** refused\"", "the rest stays");
    json_decref(parse(line[2]));
    log_forget_secrets();
    free(text);
    free(path);
}

static int refuse(const char *key, const char *value, const char *path, char *why, size_t size)
{
    const char *const options[] = {"path", path, key, value, NULL};
    struct plugin_host *h = plugin_host_new("audit", options);
    const int rc = plugin_host_init(h);
    snprintf(why, size, "%s", plugin_host_log(h));
    plugin_host_free(h);
    return rc;
}

static void test_refusals(void)
{
    char why[1024], *path = path_of("foreign.jsonl");
    is_int(refuse("sync", "sometimes", path, why, sizeof why), -1, "a sync that is none");
    has_str(why, "valid values: never, terminal, always", "says what may be");
    is_int(refuse("sync", "never", tap_tmpdir(), why, sizeof why), -1, "a directory");
    tap_spew(path, "{\"a\":1}\n", 8);
    is_int(refuse("sync", "never", path, why, sizeof why), -1, "a file of somebody else");
    has_str(why, "not an intact audit record", "is not appended to");
    is_int(refuse("sync", "never", "/dev/full", why, sizeof why), -1, "a device");
    free(path);
}

int main(void)
{
    plan_lazy();
    test_records();
    test_chain();
    test_two_writers();
    test_rotation();
    test_shrunk();
    test_keep_none();
    test_tampering();
    test_full_disk();
    test_caps_and_secrets();
    test_refusals();
    return 0;
}
