/* SPDX-License-Identifier: MIT
 * Tests of the audit connector and of the verifier of its log: records, hash chain, rotation,
 * restart, full disks, and every class of tampering. */
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

/* Sends a turn of ten events. */
static void send_turn(struct plugin_host *h)
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

/* Reads the lines of a file; the caller frees both. */
static size_t read_lines(const char *path, char **text, char **lines, size_t max)
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

static const char *get_member(const json_t *j, const char *key)
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
    is_str(get_member(j, "event_type"), type, "%s", type);
    is_str(text, detail, "%s: the detail", type);
    ok(in_order && i > 8, "%s: the keys of the reporter come first, in order", type);
    free(text);
    json_decref(j);
}

static void test_records(void)
{
    char *path = path_of("records.jsonl"), *text, *line[32];
    struct plugin_host *h = start(path, "sync", "always");
    send_turn(h);
    plugin_host_set_meta(h, NULL, 1);
    plugin_host_send(h, "thinking", "{\"text\":\"hm\"}");
    plugin_host_send(h, "error", "{\"message\":\"Provider timeout\"}");
    plugin_host_send(h, "done", "{\"reason\":\"error\"}");
    plugin_host_free(h);
    is_int((long long)read_lines(path, &text, line, 32), 14,
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
    is_str(get_member(j, "timestamp"), "2026-08-01T07:30:01.000250+00:00", "the time of a record");
    is_str(get_member(j, "session_id"), "sess-1", "the session of a record");
    is_str(get_member(j, "task_id"), "turn-1", "the turn of a record");
    is_str(get_member(json_object_get(json_object_get(j, "event"), "payload"), "text"),
           "Reading é中.", "the record has the complete canonical event");
    ok(json_is_false(json_object_get(j, "hidden")), "an event that was shown is marked so");
    ok(json_is_true(json_object_get(hidden, "hidden")), "an event that was hidden is marked so");
    is_str(get_member(open, "event_type"), "turncast.audit.open",
           "the opening record names the writer");
    is_int(json_integer_value(json_object_get(json_object_get(open, "detail"), "pid")), getpid(),
           "the opening record has the pid");
    is_int(json_integer_value(json_object_get(json_object_get(open, "detail"), "schema")), 1,
           "the opening record has the schema");
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
    send_turn(h);
    plugin_host_free(h);
    ok(verify(path, &r, &err) == 0, "R30: an unchanged log is verified");
    is_int((long long)r.records, 11, "the number of records");
    is_int((long long)r.last_seq, 11, "the last sequence number");
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
    ok(verify(path, &r, &err) == 0, "a second run continues the chain");
    is_int((long long)r.last_seq, 13, "a second run continues the sequence numbers");
    const int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    ok(write(fd, "{\"timestamp\":\"20", 16) == 16, "a writer is interrupted within a record");
    close(fd);
    ok(verify(path, &r, &err) && r.bad, "the verifier reports an incomplete record");
    is_int((long long)r.bad_seq, 14, "the report has the number of the incomplete record");
    h = start(path, "keep", "5");
    has_str(plugin_host_log(h), "incomplete last line",
            "the next start reports that it removes the incomplete record");
    send_turn(h);
    plugin_host_free(h);
    ok(verify(path, &r, &err) == 0, "the chain is valid after the next start");
    is_int((long long)r.last_seq, 24, "the chain continues with the next number");
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
    ok(rc == 0, "two writers of one log, over rotations, write one valid chain: %s",
       err_format(&err));
    ok(r.files == 6 && r.first_seq > 1, "the oldest files were deleted");
    ok(r.last_seq > 84, "no record is missing at the end");
    free(path);
}

static void test_rotation(void)
{
    char *path = path_of("rot.jsonl");
    struct audit_verify_report r = {0};
    struct tc_err err = {0};
    struct plugin_host *h = start(path, "max_bytes", "4000");
    for (int i = 0; i < 4; i++)
        send_turn(h);
    plugin_host_free(h);
    char *old = xasprintf("%s.1", path), *older = xasprintf("%s.2", path), *text, *line[64];
    struct stat st;
    ok(stat(old, &st) == 0 && st.st_size <= 4000, "R30: no file exceeds the maximum size");
    read_lines(path, &text, line, 64);
    json_t *j = parse(line[0]);
    is_str(get_member(json_object_get(j, "detail"), "why"), "rotate",
           "the opening record of a new file has the reason");
    ok(get_member(j, "prev") && strlen(get_member(j, "prev")) == 64,
       "a new file continues the hash chain");
    json_decref(j);
    ok(audit_verify_file(older, &r, &err) == 0 && audit_verify_file(old, &r, &err) == 0 &&
           audit_verify_file(path, &r, &err) == 0,
       "three files in order are one valid chain: %s", err_format(&err));
    is_int((long long)r.files, 3, "the number of files");
    r = (struct audit_verify_report){0};
    ok(audit_verify_file(older, &r, &err) == 0 && audit_verify_file(path, &r, &err) != 0 && r.bad,
       "a missing file is reported");
    /* logrotate moves the file while the host is running. */
    h = start(path, "max_bytes", "0");
    char *moved = xasprintf("%s.moved", path);
    ok(rename(path, moved) == 0, "the file is moved");
    send_turn(h);
    plugin_host_free(h);
    r = (struct audit_verify_report){0};
    ok(audit_verify_file(moved, &r, &err) == 0 && audit_verify_file(path, &r, &err) == 0,
       "later records are in a new file and in the same chain: %s", err_format(&err));
    free(text);
    free(old);
    free(older);
    free(moved);
    free(path);
}

/* Records are removed while the host is running. The host continues from its own position, not from
 * the file. */
static void test_truncated(void)
{
    char *path = path_of("shrunk.jsonl"), *text, *line[32];
    struct audit_verify_report r;
    struct tc_err err = {0};
    struct plugin_host *h = start(path, "sync", "never");
    send_turn(h);
    size_t len;
    text = tap_slurp(path, &len);
    const char *fifth = text;
    for (int i = 0; i < 5; i++)
        fifth = strchr(fifth, '\n') + 1;
    ok(truncate(path, fifth - text) == 0, "the end of the log is removed");
    plugin_host_send(h, "done", "{\"reason\":\"completed\"}");
    ok(verify(path, &r, &err) && r.bad_seq == 6, "later records reveal the gap: %s",
       err_format(&err));
    free(text);
    ok(truncate(path, 0) == 0, "the log is truncated in place, as by copytruncate of logrotate");
    plugin_host_send(h, "done", "{\"reason\":\"completed\"}");
    ok(verify(path, &r, &err) == 0 && r.first_seq == 14, "the log begins with the next number");
    read_lines(path, &text, line, 32);
    json_t *j = parse(line[0]);
    is_str(get_member(json_object_get(j, "detail"), "why"), "shrunk",
           "the opening record has the reason");
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
    is_int(plugin_host_init(h), 0, "keep = 0 is accepted");
    for (int i = 0; i < 3; i++)
        send_turn(h);
    plugin_host_free(h);
    ok(access(old, F_OK) != 0, "no old file is kept");
    ok(verify(path, &r, &err) == 0 && r.first_seq > 1, "the remaining file is a valid chain");
    free(old);
    free(path);
}

/* A log of 11 records for tampering, and the positions of its lines. */
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

static void check_detected(const struct sample *s, uint64_t seq, const char *what)
{
    struct audit_verify_report r;
    struct tc_err err = {0};
    const int rc = verify(s->path, &r, &err);
    ok(rc != 0 && r.bad, "%s: detected", what);
    is_int((long long)r.bad_seq, (long long)seq, "%s: the record is named (%s)", what,
           err_format(&err));
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
    is_int(missed, 0, "a change of any byte is detected, also in the last record");
    is_int(misnamed, 0, "the changed record is named");
    free(copy);
}

/* Writes the given lines (1…) of the sample; 0 ends the list. */
static void write_lines(const struct sample *s, const unsigned *order)
{
    CLEANUP_BUF struct buf b = {0};
    for (; *order; order++)
        buf_add(&b, s->text + s->at[*order - 1], s->at[*order] - s->at[*order - 1]);
    rewrite(s, b.p, b.len);
}

static void test_order(const struct sample *s)
{
    write_lines(s, (const unsigned[]){1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 0});
    check_detected(s, 5, "a record deleted");
    write_lines(s, (const unsigned[]){1, 2, 3, 4, 7, 8, 9, 10, 11, 0});
    check_detected(s, 5, "two records deleted");
    write_lines(s, (const unsigned[]){1, 2, 3, 4, 6, 5, 7, 8, 9, 10, 11, 0});
    check_detected(s, 5, "two records swapped");
    write_lines(s, (const unsigned[]){1, 2, 3, 4, 5, 3, 6, 7, 8, 9, 10, 11, 0});
    check_detected(s, 6, "a record copied in");
    struct audit_verify_report r;
    write_lines(s, (const unsigned[]){1, 2, 3, 4, 5, 6, 7, 8, 9, 0});
    ok(verify(s->path, &r, NULL) == 0 && r.last_seq == 9,
       "records that are removed at the end are not detected without an anchor, but the last "
       "number differs");
    write_lines(s, (const unsigned[]){3, 4, 5, 6, 7, 8, 9, 10, 11, 0});
    ok(verify(s->path, &r, NULL) == 0 && r.first_seq == 3,
       "records that are removed at the beginning change the first number");
    rewrite(s, s->text, s->at[7] - 20);
    check_detected(s, 7, "the file cut off inside a record");
}

/* Replaces a record by one with a matching hash, which the next record reveals. */
static void test_forgery(const struct sample *s)
{
    char *other = path_of("forger.jsonl");
    struct plugin_host *h = start(other, "keep", "5");
    send_turn(h);
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
    ok(verify(s->path, &r, NULL) && r.bad, "a record of another log is detected");
    ok(r.bad_seq == 4 || r.bad_seq == 5, "the position between the two chains is reported");
    rewrite(s, "{\"seq\":1}\n", 10);
    check_detected(s, 1, "a line without a hash");
    rewrite(s, "hello\n", 6);
    check_detected(s, 1, "an invalid line");
    free(text);
    free(other);
}

static void test_tampering(void)
{
    struct sample s = {.path = path_of("tamper.jsonl")};
    struct plugin_host *h = start(s.path, "keep", "5");
    send_turn(h);
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

/* A file with a size limit stands for a full disk: the write that crosses the limit is short. */
static void test_full_disk(void)
{
    char *path = path_of("full.jsonl");
    struct audit_verify_report r;
    struct tc_err err = {0};
    signal(SIGXFSZ, SIG_IGN);
    struct plugin_host *h = start(path, "max_bytes", "0");
    send_turn(h);
    struct stat st;
    stat(path, &st);
    set_file_limit((rlim_t)st.st_size + 100);
    is_int(plugin_host_send(h, "narration", "{\"text\":\"lost\"}"), -1,
           "R30: a full disk is reported");
    is_int(plugin_host_send(h, "narration", "{\"text\":\"lost\"}"), -1,
           "each lost event is reported to the host");
    ok(verify(path, &r, &err) == 0, "the incomplete record is removed, and the chain is valid");
    const char *first = strstr(plugin_host_log(h), "cannot write");
    ok(first && !strstr(first + 1, "cannot write"),
       "the full disk is reported once to the operator");
    set_file_limit(RLIM_INFINITY);
    is_int(plugin_host_send(h, "narration", "{\"text\":\"kept\"}"), 0,
           "an event is written when there is space again");
    has_str(plugin_host_log(h), "records lost: 2", "the number of lost records is logged");
    plugin_host_free(h);
    ok(verify(path, &r, &err) == 0, "the chain is valid after the gap: %s", err_format(&err));
    is_int((long long)r.lost, 2, "the log contains the number of lost records");
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
    read_lines(path, &text, line, 8);
    json_t *j = parse(line[1]);
    ok(json_is_null(json_object_get(j, "event")) && json_is_true(json_object_get(j, "truncated")),
       "a long event is truncated");
    ok(json_integer_value(json_object_get(j, "len")) > 6000, "a truncated event has its length");
    ok(strlen(get_member(j, "head")) <= 500 && strstr(get_member(j, "head"), "narration") &&
           strstr(get_member(j, "tail"), "\"src\":\"test\"}"),
       "a truncated event has its beginning and end");
    json_decref(j);
    ok(!strstr(line[2], "hunter2"), "R23 R30: a secret is masked however JSON escapes it");
    has_str(line[2], "\"error\":\"key *** refused\"", "the rest of the event is unchanged");
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
    is_int(refuse("sync", "sometimes", path, why, sizeof why), -1, "an invalid sync is refused");
    has_str(why, "valid values: never, terminal, always", "the error lists the valid values");
    is_int(refuse("sync", "never", tap_tmpdir(), why, sizeof why), -1, "a directory is refused");
    tap_spew(path, "{\"a\":1}\n", 8);
    is_int(refuse("sync", "never", path, why, sizeof why), -1,
           "a file that is not an audit log is refused");
    has_str(why, "not an intact audit record", "the error says that the file is not an audit log");
    is_int(refuse("sync", "never", "/dev/full", why, sizeof why), -1, "a device is refused");
    free(path);
}

int main(void)
{
    plan_lazy();
    test_records();
    test_chain();
    test_two_writers();
    test_rotation();
    test_truncated();
    test_keep_none();
    test_tampering();
    test_full_disk();
    test_caps_and_secrets();
    test_refusals();
    return 0;
}
