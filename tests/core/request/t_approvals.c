/* SPDX-License-Identifier: MIT
 * What was allowed for longer: how far it reaches, what survives the host, what is forgotten, and
 * that no secret of it is on disk. */
#include "core/request/approvals.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sys/log.h"
#include "tap/tap.h"

#define SECRET "the-secret-of-this-test"

static char dir[600];
static struct loop *loop;
static struct journal_async *journal;
static struct approvals *all;

static void open_all(void)
{
    struct tc_err err = {0};
    journal = journal_async_open(loop, dir, NULL, NULL, &err);
    if (!journal)
        bail("%s", err_format(&err));
    all = approvals_new(journal);
}

static void close_all(void)
{
    approvals_free(all);
    journal_async_close(journal);
}

static void fresh(void)
{
    static int n;
    snprintf(dir, sizeof dir, "%s/a%d", tap_tmpdir(), n++);
    open_all();
}

/* A host that ends, and the next. */
static void begin_again(void)
{
    close_all();
    open_all();
}

/* Of agent a, by its words: "CONVERSATION TURN ARGUMENT". */
static bool has(const char *conversation, const char *turn, const char *argument)
{
    return approvals_match(all, "a", conversation, turn, "Bash", argument);
}

static bool keep(enum approvals_scope scope, const char *conversation, const char *turn,
                 const char *argument)
{
    approvals_remember(all, scope, "a", conversation, turn, "Bash", argument, "Ann (tg)");
    return has(conversation, turn, argument);
}

static void test_reach(void)
{
    fresh();
    ok(!has("c1", "t1", "ls"), "nothing is allowed");
    ok(keep(APPROVALS_TURN, "c1", "t1", "ls"), "for the turn");
    ok(has("c1", "t1", "ls"), "in the turn");
    ok(!has("c1", "t2", "ls"), "not in the next one");
    ok(keep(APPROVALS_SESSION, "c1", "t1", "pwd"), "for the session");
    ok(has("c1", "t2", "pwd"), "in another turn of the conversation");
    ok(!has("c2", "t1", "pwd"), "not in another conversation");
    ok(!has(NULL, "t1", "pwd"), "nor in none");
    ok(keep(APPROVALS_ALWAYS, "c1", "t1", "id"), "for good");
    ok(has("c2", "t2", "id") && has(NULL, "t3", "id"), "anywhere");
    ok(keep(APPROVALS_SESSION, NULL, "t4", "w"), "for a session that is none");
    ok(has(NULL, "t4", "w") && !has(NULL, "t5", "w"), "is for the turn");
    ok(keep(APPROVALS_SESSION, "", "t4", "x"), "so is one without a name");
    ok(!has("", "t5", "x") && !has("c1", "t5", "x"), "and nothing else");
    begin_again();
    ok(!has("", "t4", "x") && !has("c1", "t5", "x"), "after a restart neither");
    close_all();
}

static void test_exact(void)
{
    fresh();
    keep(APPROVALS_ALWAYS, "c1", "t1", "ls");
    ok(!has("c1", "t1", "ls ") && !has("c1", "t1", "l") && !has("c1", "t1", "LS"),
       "the argument as it is");
    ok(!approvals_match(all, "b", "c1", "t1", "Bash", "ls"), "of the agent alone");
    ok(!approvals_match(all, "a", "c1", "t1", "Bas", "hls"), "of the tool alone");
    ok(!approvals_match(all, "a", "c1", "t1", NULL, "ls"), "which is not none");
    ok(!has("c1", "t1", NULL), "no argument is none that was allowed");
    ok(!keep(APPROVALS_ALWAYS, "c1", "t1", NULL), "and cannot be remembered");
    close_all();
}

static void test_kept(void)
{
    fresh();
    keep(APPROVALS_TURN, "c1", "t1", "one");
    keep(APPROVALS_SESSION, "c1", "t1", "two");
    keep(APPROVALS_ALWAYS, "c1", "t1", "three");
    begin_again();
    ok(!has("c1", "t1", "one"), "after a restart: that of the turn is gone");
    ok(has("c1", "t9", "two") && !has("c2", "t9", "two"), "that of the session is there");
    ok(has("c2", "t9", "three"), "and that for good");
    approvals_end_session(all, "b", "c1");
    approvals_end_session(all, "a", "c2");
    ok(has("c1", "t9", "two"), "another session ends");
    approvals_end_session(all, "a", "c1");
    ok(!has("c1", "t9", "two") && has("c1", "t9", "three"), "the session ends");
    begin_again();
    ok(!has("c1", "t9", "two") && has("c1", "t9", "three"), "for good");
    close_all();
}

static void test_ends(void)
{
    fresh();
    keep(APPROVALS_TURN, "c1", "t1", "one");
    keep(APPROVALS_TURN, "c1", "t2", "one");
    keep(APPROVALS_ALWAYS, "c1", "t1", "two");
    approvals_end_turn(all, "t1");
    ok(!has("c1", "t1", "one") && has("c1", "t2", "one"), "a turn ends, another does not");
    ok(has("c1", "t1", "two"), "and what is for good stays");
    close_all();
}

/* What the ledger has: "id agent conv tool shown by|" each. */
static void add_row(void *ctx, const struct journal_approval *r)
{
    buf_printf(ctx, "%d %s %s %s %s %s|", (int)r->id, r->agent, r->conv, r->tool, r->shown, r->by);
}

static const char *rows(void)
{
    static char text[2000];
    struct buf out = {0};
    if (journal_async_list_open_list_approvals(journal, add_row, &out) != JOURNAL_DONE)
        bail("the ledger cannot be read");
    snprintf(text, sizeof text, "%s", out.p ? out.p : "");
    buf_fini(&out);
    return text;
}

static size_t forget(int64_t id, const char *agent)
{
    return approvals_revoke(all, &(struct journal_approval_filter){.id = id, .agent = agent}, NULL,
                            NULL);
}

static void on_forgotten(void *ctx, enum journal_status status, const char *text)
{
    (void)text;
    *(enum journal_status *)ctx = status;
}

static void test_forgotten(void)
{
    enum journal_status said = JOURNAL_FAILED;
    fresh();
    keep(APPROVALS_TURN, "c1", "t1", "one");
    keep(APPROVALS_SESSION, "c1", "t1", "two");
    keep(APPROVALS_ALWAYS, "c1", "t1", "three");
    keep(APPROVALS_ALWAYS, "c1", "t1", "three");
    approvals_remember(all, APPROVALS_ALWAYS, "b", "c1", "t1", "Read", "/four", "Bob");
    is_str(rows(), "2 a c1 Bash two Ann (tg)|3 a  Bash three Ann (tg)|4 b  Read /four Bob|",
           "each is on disk once");
    is_int((long long)forget(9, NULL), 0, "none of that number");
    is_int((long long)forget(2, NULL), 1, "one by its number");
    ok(!has("c1", "t1", "two"), "is forgotten");
    is_str(rows(), "3 a  Bash three Ann (tg)|4 b  Read /four Bob|", "on disk, too");
    is_int((long long)forget(0, "a"), 2, "all of an agent");
    is_str(rows(), "4 b  Read /four Bob|", "not of another");
    ok(approvals_match(all, "b", NULL, "t1", "Read", "/four"), "which is still known");
    is_int((long long)forget(0, NULL), 1, "all");
    is_str(rows(), "", "of them");
    approvals_revoke(all, &(struct journal_approval_filter){.id = 3}, on_forgotten, &said);
    loop_run(loop);
    is_int(said, JOURNAL_NO_CHANGE, "it is told when the disk knows");
    close_all();
}

/* In any file of the folder. */
static bool is_on_disk(const char *needle)
{
    static const char *const files[] = {"state.db", "state.db-wal"};
    bool found = false;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[700];
        size_t len = 0;
        snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        if (access(path, F_OK) < 0)
            continue;
        char *const text = tap_slurp(path, &len);
        found |= memmem(text, len, needle, strlen(needle)) != NULL;
        free(text);
    }
    return found;
}

static void test_secrets(void)
{
    fresh();
    log_add_secret(SECRET);
    keep(APPROVALS_ALWAYS, "c1", "t1", "curl -H " SECRET " x");
    keep(APPROVALS_ALWAYS, "c1", "t1",
         "{\"a\":\"x" SECRET "\",\"b\":\"the-secr\\u0065t-of-this-test\"}");
    has_str(rows(), "Bash curl -H *** x Ann", "a secret is masked");
    has_str(rows(), "{\"a\":\"x***\",\"b\":\"***\"}", "however it is written");
    ok(has("c1", "t1", "curl -H " SECRET " x"), "and yet compared");
    ok(!has("c1", "t1", "curl -H *** x"), "as it is");
    begin_again();
    ok(has("c1", "t1", "curl -H " SECRET " x"), "after a restart, too");
    ok(is_on_disk("curl -H") && !is_on_disk(SECRET) && !is_on_disk("secr\\u0065t"),
       "it is nowhere on disk");
    close_all();
}

static void test_long(void)
{
    struct buf text = {0};
    fresh();
    while (text.len < 100000)
        buf_add_str(&text, "\xc3\xa4");
    ok(keep(APPROVALS_ALWAYS, "c1", "t1", text.p) && has("c1", "t1", text.p), "100,000 bytes");
    ok(strlen(rows()) < 400 && strstr(rows(), "\xc3\xa4\xe2\x80\xa6 Ann"), "are shown cut");
    buf_add_char(&text, 'x');
    ok(!has("c1", "t1", text.p), "and compared whole");
    text.p[0] = '{';
    ok(keep(APPROVALS_ALWAYS, "c1", "t1", text.p) && has("c1", "t1", text.p), "so is JSON");
    has_str(rows(), "Bash  Ann", "which is not shown then");
    begin_again();
    ok(has("c1", "t1", text.p), "it is there after a restart");
    close_all();
    buf_fini(&text);
}

/* In memory alone, which is as quick as it has to be. */
static void test_many(void)
{
    char words[40];
    all = approvals_new(NULL);
    for (int i = 0; i < APPROVALS_MAX; i++) {
        snprintf(words, sizeof words, "ls %d", i);
        keep(APPROVALS_ALWAYS, "c1", "t1", words);
    }
    ok(has("c1", "t1", "ls 0") && has("c1", "t1", "ls 9999"), "10,000 are remembered");
    keep(APPROVALS_ALWAYS, "c1", "t1", "one more");
    ok(has("c1", "t1", "one more"), "one more, too");
    ok(!has("c1", "t1", "ls 0") && has("c1", "t1", "ls 1"), "the oldest is forgotten");
    is_int((long long)forget(0, NULL), APPROVALS_MAX, "so there are 10,000");
    approvals_free(all);
}

int main(void)
{
    plan_lazy();
    const int log = open("/dev/null", O_WRONLY | O_CLOEXEC);
    log_setup(LOG_TEXT, LOG_WARN, log);
    loop = loop_new();
    test_reach();
    test_exact();
    test_kept();
    test_ends();
    test_forgotten();
    test_secrets();
    test_long();
    test_many();
    loop_free(loop);
    log_forget_secrets();
    close(log);
    return 0;
}
