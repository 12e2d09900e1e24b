/* SPDX-License-Identifier: MIT
 * missy's three dialects: pairing without ids, two records of one thing, and its own bytes. */
#include <stdlib.h>
#include <string.h>

#include "dialect/reading.h"
#include "dialect/rewrite.h"
#include "tap/tap.h"

static void tells(const char *dialect, const char *stream, const char *wanted, const char *name)
{
    struct reading r;
    has_str(reading_of(&r, dialect, stream), wanted, "%s", name);
    reading_fini(&r);
}

#define AUDIT(type, result, detail)                                                                \
    "{'timestamp':'2026-08-01T07:30:01+00:00','session_id':'s','task_id':'t','event_type':'" type  \
    "','category':'agent','result':'" result "','detail':{" detail                                 \
    "},'policy_rule':null,'prev_chain_hash':null}\n"
#define PROGRESS(type, detail) AUDIT("agent.progress." type, "allow", detail)

static void test_register(void)
{
    struct reading r;
    tells("missy-json", "{'event':'progress','pct':50.0,'label':'half'}\n",
          "progress {\"message\":\"half\",\"percent\":50}", "row 4-1: progress is read");
    reading_of(&r, "missy-audit",
               PROGRESS("start", "'task':'x'") PROGRESS("iteration", "'iteration':0,'max':1"));
    is_int(r.counts[TC_DONE], 0, "row 4-2: the limit of iterations has no end: it is the guard's");
    reading_fini(&r);

    reading_of(&r, "missy-audit",
               AUDIT("agent.tool.start", "allow", "'tool':'a','argument_keys':['k']")
                   PROGRESS("tool_start", "'tool':'a'")
                       PROGRESS("tool_done", "'tool':'a','summary':'ok'")
                           AUDIT("agent.tool.complete", "allow",
                                 "'tool':'a','is_error':false,'duration_ms':7"));
    is_int(r.counts[TC_TOOL_CALL], 1, "row 4-3: two records of a call are one call");
    is_int(r.counts[TC_TOOL_RESULT], 1, "row 4-3: and one result");
    has_str(r.told.p, "\"argument_keys\":[\"k\"]", "row 4-3: with the keys of one");
    has_str(r.told.p, "\"duration_ms\":7", "row 4-3: and the duration of the other");
    reading_fini(&r);

    tells("missy-audit", PROGRESS("error", "'error':'boom'"), "done {\"reason\":\"error\"",
          "row 4-4: result allow says nothing about success");
    tells("missy-json", "{'event':'iteration','current':3,'max':9}\n",
          "step {\"state\":\"start\",\"index\":3,\"max\":9", "row 4-5: current");
    tells("missy-audit", PROGRESS("iteration", "'iteration':3,'max':9"),
          "step {\"state\":\"start\",\"index\":3,\"max\":9", "row 4-5: iteration");
    tells("missy-audit",
          "{'timestamp':'x','event_type':'agent.progress.start','category':'surprise','detail':{"
          "'task':'x'}}\n",
          "start {\"task\":\"x\"", "row 4-6: the category does not matter");
}

static void test_pairs(void)
{
    struct reading r;
    reading_of(
        &r, "missy-json",
        "{'event':'tool_start','tool':'a'}\n{'event':'tool_start','tool':'b'}\n"
        "{'event':'tool_start','tool':'a'}\n{'event':'tool_done','tool':'a','summary':'ok'}\n"
        "{'event':'tool_done','tool':'a','summary':'error'}\n");
    has_str(r.told.p, "tool_result {\"tool_use_id\":\"call-1\",\"content\":\"ok\"",
            "a result belongs to the oldest open call of its name");
    has_str(r.told.p,
            "tool_result {\"tool_use_id\":\"call-3\",\"content\":\"error\",\"is_error\":true",
            "the next one to the next");
    reading_fini(&r);

    reading_of(&r, "missy-json", "{'event':'tool_done','tool':'a','summary':'ok'}\n");
    is_int(r.counts[TC_TOOL_CALL], 1, "bug 14: a result without a call brings one");
    reading_fini(&r);

    reading_of(&r, "missy-audit",
               AUDIT("agent.tool.start", "allow", "'tool':'a'") PROGRESS("tool_start", "'tool':'a'")
                   PROGRESS("tool_done", "'tool':'a','summary':'ok'")
                       PROGRESS("update", "'pct':1.0,'label':'l'"));
    ok(strstr(r.told.p, "tool_result") &&
           strstr(r.told.p, "tool_result") < strstr(r.told.p, "percent"),
       "a result waits for one event only");
    reading_fini(&r);

    reading_of(&r, "missy-audit",
               PROGRESS("tool_start", "'tool':'a'") AUDIT("agent.tool.start", "allow", "'tool':'a'")
                   AUDIT("agent.tool.complete", "error", "'tool':'a','is_error':true")
                       PROGRESS("tool_done", "'tool':'a','summary':'error'"));
    is_int(r.counts[TC_TOOL_RESULT], 1, "whichever record comes first");
    is_int(r.counts[TC_RAW], 1, "the one that adds nothing is kept for who wants everything");
    reading_fini(&r);
}

static void test_ends(void)
{
    struct reading r;
    reading_of(&r, "missy-audit",
               PROGRESS("error", "'error':'boom'")
                   AUDIT("agent.run.error", "error", "'error':'boom','stage':'completion'"));
    is_int(r.counts[TC_ERROR], 1, "bug 2: one end, though two records have it");
    reading_fini(&r);
    reading_of(&r, "missy-run",
               "event: run.started\ndata: {'run_id':'r'}\n\n"
               "event: run.completed\ndata: {'response':'hi'}\n\n");
    is_int(r.counts[TC_START] + r.counts[TC_FINAL] + r.counts[TC_DONE], 3,
           "bug 38: either name of a run's start and end");
    reading_fini(&r);
    reading_of(&r, "missy-run", "event: agent.error\ndata: {'error':'key'}\n\n");
    has_str(r.told.p, "error {\"message\":\"key\"}",
            "bug 6: an agent's error counts when the run "
            "says nothing more");
    reading_fini(&r);
    reading_of(&r, "missy-run", "event: ping\ndata: {}\n\n");
    is_str(r.told.p, "", "a ping says nothing");
    reading_fini(&r);
    tells("missy-audit",
          AUDIT("agent.run.complete", "allow",
                "'total_cost_usd':0.5,'agent_id':'a','delegation_depth':1"),
          "step {\"state\":\"end\",\"kind\":\"agent\",\"outcome\":\"completed\",\"agent\":\"a\"",
          "bug 17: an agent that was called does not end the run");
}

static void test_bytes(void)
{
    const struct rewrite json = {.dialect = "missy-json", .writer = "missy-json"};
    const struct rewrite audit = {
        .dialect = "missy-audit", .writer = "missy-audit", .turn = "task-7"};
    rewrite_is_same(&json, "dialects/missy-json/complete.jsonl");
    rewrite_is_same(&json, "dialects/missy-json/error.jsonl");
    rewrite_is_same(&audit, "dialects/missy-audit/progress-only.jsonl");
}

/* What other dialects end with: complete is said of success alone. */
static void test_foreign_ends(void)
{
    const struct rewrite r = {.dialect = "awaken", .writer = "missy-json"};
    char *got = rewrite_file(&r, "dialects/awaken/ends-stopped.jsonl");
    is_text(got,
            "{\"event\": \"start\", \"task\": \"\"}\n"
            "{\"event\": \"error\", \"error\": \"stopped: token_budget\"}\n",
            "bug 6: a run that was stopped is not complete");
    free(got);
    got = rewrite_file(&r, "dialects/awaken/error.jsonl");
    is_text(got,
            "{\"event\": \"start\", \"task\": \"\"}\n"
            "{\"event\": \"iteration\", \"current\": 0, \"max\": null}\n"
            "{\"event\": \"error\", \"error\": \"provider returned 500\"}\n",
            "nor is one that failed");
    free(got);
    got = rewrite_file(&r, "dialects/awaken/suspended.jsonl");
    has_str(got, "{\"event\": \"progress\", \"pct\": 42.0, \"label\": \"fetching pages\"}",
            "percent is a float");
    free(got);
}

int main(void)
{
    plan_lazy();
    test_register();
    test_pairs();
    test_ends();
    test_bytes();
    test_foreign_ends();
    return 0;
}
