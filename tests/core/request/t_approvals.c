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
    ok(!has("c1", "t1", "ls"), "without an approval nothing is allowed");
    ok(keep(APPROVALS_TURN, "c1", "t1", "ls"), "an approval for the turn is stored");
    ok(has("c1", "t1", "ls"), "an approval for the turn applies to the turn");
    ok(!has("c1", "t2", "ls"), "an approval for the turn does not apply to the next turn");
    ok(keep(APPROVALS_SESSION, "c1", "t1", "pwd"), "an approval for the session is stored");
    ok(has("c1", "t2", "pwd"),
       "an approval for the session applies to another turn of the conversation");
    ok(!has("c2", "t1", "pwd"),
       "an approval for the session does not apply to another conversation");
    ok(!has(NULL, "t1", "pwd"),
       "an approval for the session does not apply without a conversation");
    ok(keep(APPROVALS_ALWAYS, "c1", "t1", "id"), "a permanent approval is stored");
    ok(has("c2", "t2", "id") && has(NULL, "t3", "id"),
       "a permanent approval applies to all conversations");
    ok(keep(APPROVALS_SESSION, NULL, "t4", "w"), "an approval for a missing session is stored");
    ok(has(NULL, "t4", "w") && !has(NULL, "t5", "w"),
       "an approval for a missing session applies to the turn only");
    ok(keep(APPROVALS_SESSION, "", "t4", "x"),
       "an approval for a session without a name is stored");
    ok(!has("", "t5", "x") && !has("c1", "t5", "x"),
       "an approval for a session without a name applies to nothing else");
    begin_again();
    ok(!has("", "t4", "x") && !has("c1", "t5", "x"),
       "an approval for a session without a name does not survive a restart");
    close_all();
}

static void test_exact(void)
{
    fresh();
    keep(APPROVALS_ALWAYS, "c1", "t1", "ls");
    ok(!has("c1", "t1", "ls ") && !has("c1", "t1", "l") && !has("c1", "t1", "LS"),
       "the argument must match exactly");
    ok(!approvals_match(all, "b", "c1", "t1", "Bash", "ls"), "the agent must match");
    ok(!approvals_match(all, "a", "c1", "t1", "Bas", "hls"), "the tool must match");
    ok(!approvals_match(all, "a", "c1", "t1", NULL, "ls"), "a call without a tool does not match");
    ok(!has("c1", "t1", NULL), "a call without an argument does not match");
    ok(!keep(APPROVALS_ALWAYS, "c1", "t1", NULL), "an approval without an argument is not stored");
    close_all();
}

static void test_kept(void)
{
    fresh();
    keep(APPROVALS_TURN, "c1", "t1", "one");
    keep(APPROVALS_SESSION, "c1", "t1", "two");
    keep(APPROVALS_ALWAYS, "c1", "t1", "three");
    begin_again();
    ok(!has("c1", "t1", "one"), "an approval for a turn does not survive a restart");
    ok(has("c1", "t9", "two") && !has("c2", "t9", "two"),
       "an approval for a session survives a restart");
    ok(has("c2", "t9", "three"), "a permanent approval survives a restart");
    approvals_end_session(all, "b", "c1");
    approvals_end_session(all, "a", "c2");
    ok(has("c1", "t9", "two"), "the end of another session keeps the approval");
    approvals_end_session(all, "a", "c1");
    ok(!has("c1", "t9", "two") && has("c1", "t9", "three"),
       "the end of the session deletes its approvals only");
    begin_again();
    ok(!has("c1", "t9", "two") && has("c1", "t9", "three"),
       "the approvals of the session stay deleted after a restart");
    close_all();
}

static void test_ends(void)
{
    fresh();
    keep(APPROVALS_TURN, "c1", "t1", "one");
    keep(APPROVALS_TURN, "c1", "t2", "one");
    keep(APPROVALS_ALWAYS, "c1", "t1", "two");
    approvals_end_turn(all, "t1");
    ok(!has("c1", "t1", "one") && has("c1", "t2", "one"),
       "the end of a turn deletes the approvals of that turn only");
    ok(has("c1", "t1", "two"), "the end of a turn keeps permanent approvals");
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
           "each approval is on disk once");
    is_int((long long)forget(9, NULL), 0, "an unknown number revokes nothing");
    is_int((long long)forget(2, NULL), 1, "a number revokes one approval");
    ok(!has("c1", "t1", "two"), "the revoked approval does not match");
    is_str(rows(), "3 a  Bash three Ann (tg)|4 b  Read /four Bob|",
           "the revoked approval is not on disk");
    is_int((long long)forget(0, "a"), 2, "the name of an agent revokes all of its approvals");
    is_str(rows(), "4 b  Read /four Bob|", "approvals of another agent stay on disk");
    ok(approvals_match(all, "b", NULL, "t1", "Read", "/four"),
       "approvals of another agent still match");
    is_int((long long)forget(0, NULL), 1, "the last approval is revoked");
    is_str(rows(), "", "all approvals are revoked");
    approvals_revoke(all, &(struct journal_approval_filter){.id = 3}, on_forgotten, &said);
    loop_run(loop);
    is_int(said, JOURNAL_NO_CHANGE, "the callback is called after the write");
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
    has_str(rows(), "Bash curl -H *** x Ann", "a secret is masked on disk");
    has_str(rows(), "{\"a\":\"x***\",\"b\":\"***\"}", "however it is written");
    ok(has("c1", "t1", "curl -H " SECRET " x"), "a call with the secret matches");
    ok(!has("c1", "t1", "curl -H *** x"), "a call with the mask does not match");
    begin_again();
    ok(has("c1", "t1", "curl -H " SECRET " x"), "a call with the secret matches after a restart");
    ok(is_on_disk("curl -H") && !is_on_disk(SECRET) && !is_on_disk("secr\\u0065t"),
       "the secret is in no file");
    close_all();
}

static void test_long(void)
{
    struct buf text = {0};
    fresh();
    while (text.len < 100000)
        buf_add_str(&text, "\xc3\xa4");
    ok(keep(APPROVALS_ALWAYS, "c1", "t1", text.p) && has("c1", "t1", text.p),
       "an argument of 100,000 bytes is stored");
    ok(strlen(rows()) < 400 && strstr(rows(), "\xc3\xa4\xe2\x80\xa6 Ann"),
       "the shown argument is cut");
    buf_add_char(&text, 'x');
    ok(!has("c1", "t1", text.p), "the complete argument must match");
    text.p[0] = '{';
    ok(keep(APPROVALS_ALWAYS, "c1", "t1", text.p) && has("c1", "t1", text.p),
       "a JSON argument of 100,000 bytes is stored");
    has_str(rows(), "Bash  Ann", "a JSON argument that is too long is not shown");
    begin_again();
    ok(has("c1", "t1", text.p), "the JSON argument matches after a restart");
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
    ok(has("c1", "t1", "ls 0") && has("c1", "t1", "ls 9999"), "10,000 approvals are stored");
    keep(APPROVALS_ALWAYS, "c1", "t1", "one more");
    ok(has("c1", "t1", "one more"), "one more approval is stored");
    ok(!has("c1", "t1", "ls 0") && has("c1", "t1", "ls 1"), "the oldest approval is deleted");
    is_int((long long)forget(0, NULL), APPROVALS_MAX, "the number of approvals is 10,000");
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
