/* SPDX-License-Identifier: MIT
 * Every kind against every switch, the fallbacks, the stored form, audiences, and what comes in
 * pairs. */
#include "turn/visibility/visibility.h"

#include "tap/tap.h"
#include "turn/visibility/view_pairing.h"

static struct visibility all(enum visibility_switch on)
{
    return (struct visibility){on, on, on, on, on};
}

static void test_keys(void)
{
    static const char *const keys[] = {"show_thinking", "show_tools", "show_text", "show_narration",
                                       "show_final"};
    for (size_t i = 0; i < VISIBILITY_KEYS; i++)
        is_str(visibility_key(i), keys[i], "key %zu", i);
    ok(!visibility_key(VISIBILITY_KEYS), "no sixth key");
    struct visibility v = all(SHOW_OFF);
    enum visibility_switch *const members[] = {&v.thinking, &v.tools, &v.text, &v.narration,
                                               &v.final};
    for (size_t i = 0; i < VISIBILITY_KEYS; i++)
        ok(visibility_switch_at(&v, i) == members[i], "slot of %s", keys[i]);
}

#define U SHOW_UNSET
#define Y SHOW_ON
#define N SHOW_OFF

static void test_resolve(void)
{
    /* in the order thinking, tools, text, narration, final */
    static const struct {
        struct visibility in, out;
    } rows[] = {
        {{U, U, U, U, U}, {N, N, Y, Y, Y}}, {{U, U, N, U, U}, {N, N, N, N, N}},
        {{U, U, Y, U, U}, {N, N, Y, Y, Y}}, {{U, U, N, Y, U}, {N, N, N, Y, N}},
        {{U, U, N, U, Y}, {N, N, N, N, Y}}, {{U, U, U, N, U}, {N, N, Y, N, Y}},
        {{U, U, U, U, N}, {N, N, Y, Y, N}}, {{Y, U, U, U, U}, {Y, N, Y, Y, Y}},
        {{U, Y, U, U, U}, {N, Y, Y, Y, Y}}, {{N, N, N, N, N}, {N, N, N, N, N}},
        {{Y, Y, Y, Y, Y}, {Y, Y, Y, Y, Y}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct visibility in = rows[i].in, want = rows[i].out, got = visibility_resolve(in);
        bool same = true;
        for (size_t k = 0; k < VISIBILITY_KEYS; k++)
            same = same && *visibility_switch_at(&got, k) == *visibility_switch_at(&want, k);
        ok(same, "resolve row %zu", i);
    }
    const struct visibility v = visibility_default();
    ok(v.narration == Y && v.final == Y && v.text == Y && v.tools == N && v.thinking == N,
       "defaults: text, narration and final");
}

static void test_truth(void)
{
    static const char *const yes[] = {"1", "true", "TRUE", "True", "yes", "YES", "on", "On"};
    static const char *const no[] = {"",    "0", "false", "no", "off",    "2",
                                     "tru", "y", " 1",    "1 ", "enabled"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        ok(visibility_parse_value(yes[i]) == SHOW_ON, "\"%s\" is on", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        ok(visibility_parse_value(no[i]) == SHOW_OFF, "\"%s\" is off", no[i]);
}

static void test_json(void)
{
    CLEANUP_BUF struct buf b = {0};
    visibility_append_json(&b, (struct visibility){U, Y, U, N, U});
    is_str(b.p,
           "{\"show_thinking\":false,\"show_tools\":true,\"show_text\":true,"
           "\"show_narration\":false,\"show_final\":true}",
           "five booleans in the stored order, resolved");
}

/* What is seen with all switches off, with one alone on (thinking, tools, text, narration,
 * final), and with all on: - hidden, x shown, s stripped. `with` names members that are set. */
static const struct view_row {
    const char *kind, *with, *seen;
} views[] = {
    {"narration", "", "----x-x"},
    {"thinking", "", "-x----x"},
    {"final", "", "-----xx"},
    {"tool_call", "", "--x---x"},
    {"tool_result", "", "--x---x"},
    {"progress", "tool_use_id", "--x---x"},
    {"progress", "name", "--x---x"},
    {"progress", "", "xxxxxxx"},
    {"message", "", "xxxxxxx"},
    {"message", "text", "----x-x"},
    {"message", "reasoning", "-x----x"},
    {"message", "text reasoning", "-s--s-x"},
    {"request", "", "xxxxxxx"},
    {"start", "", "xxxxxxx"},
    {"step", "", "xxxxxxx"},
    {"error", "", "xxxxxxx"},
    {"done", "", "xxxxxxx"},
    {"usage", "", "xxxxxxx"},
    {"notice", "", "xxxxxxx"},
    {"state", "", "xxxxxxx"},
    {"raw", "", "xxxxxxx"},
};

static void set_message(struct event *ev, const char *with)
{
    if (strstr(with, "text")) {
        ev->u.message.text = "said";
        ev->u.message.text_len = 4;
    }
    if (strstr(with, "reasoning")) {
        ev->u.message.reasoning = "thought";
        ev->u.message.reasoning_len = 7;
    }
}

static struct event draft(const struct view_row *row)
{
    struct event ev;
    event_init(&ev, (enum tc_kind)kind_from_name(row->kind, strlen(row->kind)));
    if (ev.kind == TC_MESSAGE)
        set_message(&ev, row->with);
    if (strcmp(row->with, "tool_use_id") == 0)
        ev.u.progress.tool_use_id = "t1";
    if (strcmp(row->with, "name") == 0)
        ev.u.progress.name = "Bash";
    return ev;
}

static struct visibility only(size_t column)
{
    struct visibility v = all(column > VISIBILITY_KEYS ? SHOW_ON : SHOW_OFF);
    if (column >= 1 && column <= VISIBILITY_KEYS)
        *visibility_switch_at(&v, column - 1) = SHOW_ON;
    return v;
}

static void test_views(void)
{
    static const char *const columns[] = {"nothing",   "thinking", "tools",     "text",
                                          "narration", "final",    "everything"};
    unsigned kinds = 0;
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        const struct event ev = draft(&views[i]);
        kinds |= 1u << ev.kind;
        for (size_t k = 0; k < VISIBILITY_KEYS + 2; k++) {
            const struct visibility v = only(k);
            const char got = "-xs"[visibility_decide(&v, &ev)];
            is_int(got, views[i].seen[k], "%s{%s} with %s shown", views[i].kind, views[i].with,
                   columns[k]);
        }
    }
    is_int(kinds, (1u << TC_KINDS) - 1, "every kind has a row");
}

static void test_strip(void)
{
    const struct view_row row = {"message", "text reasoning", ""};
    struct visibility v = all(SHOW_ON);
    struct event ev = draft(&row);
    visibility_strip(&v, &ev);
    is_str(ev.u.message.text, "said", "nothing hidden: the text stays");
    is_str(ev.u.message.reasoning, "thought", "nothing hidden: the reasoning stays");

    v.thinking = SHOW_OFF;
    visibility_strip(&v, &ev);
    is_str(ev.u.message.text, "said", "thinking hidden: the text stays");
    ok(!ev.u.message.reasoning && ev.u.message.reasoning_len == 0, "and the reasoning goes");

    ev = draft(&row);
    v = all(SHOW_ON);
    v.narration = SHOW_OFF;
    visibility_strip(&v, &ev);
    ok(!ev.u.message.text && ev.u.message.text_len == 0, "narration hidden: the text goes");
    is_str(ev.u.message.reasoning, "thought", "and the reasoning stays");

    event_init(&ev, TC_FINAL);
    ev.u.final.text = "answer";
    v = all(SHOW_OFF);
    visibility_strip(&v, &ev);
    is_str(ev.u.final.text, "answer", "only messages are stripped");
}

static void test_audience(void)
{
    static const char *const names[] = {NULL, "user", "internal", "dashboard", "operator"};
    struct event ev;
    event_init(&ev, TC_PROGRESS);
    for (size_t c = 0; c < 5; c++)
        for (size_t e = 0; e < 5; e++) {
            ev.meta.audience = names[e];
            const bool same = c == e || (c < 2 && e < 2);
            is_int(visibility_matches_audience(names[c], &ev), same, "%s gets what is for %s",
                   names[c] ? names[c] : "(none)", names[e] ? names[e] : "(none)");
        }
    for (int kind = 0; kind < TC_KINDS; kind++) {
        event_init(&ev, (enum tc_kind)kind);
        ev.meta.audience = "internal";
        const bool passes =
            kind == TC_START || kind == TC_FINAL || kind == TC_ERROR || kind == TC_DONE;
        is_int(visibility_matches_audience("user", &ev), passes, "internal %s for a user",
               kind_name((enum tc_kind)kind));
    }
    event_init(&ev, TC_TOOL_RESULT);
    ev.meta.audience = "internal";
    ev.u.tool_result.is_error = true;
    ok(visibility_matches_audience("user", &ev), "a failed tool result passes");
}

/* What a user is shown of a call and its result, one after the other. */
static enum visibility_decision view_pair(const char *of_call, const char *of_result, bool is_error,
                                          const char *outcome, enum visibility_switch tools)
{
    struct showing s = {0};
    struct visibility v = all(SHOW_ON);
    struct event ev;
    v.tools = tools;
    event_init(&ev, TC_TOOL_CALL);
    ev.u.tool_call.tool_use_id = "t1";
    ev.meta.audience = of_call;
    view_pairing_view(&s, &v, NULL, &ev);
    event_init(&ev, TC_TOOL_RESULT);
    ev.u.tool_result.tool_use_id = "t1";
    ev.u.tool_result.is_error = is_error;
    ev.u.tool_result.outcome = outcome;
    ev.meta.audience = of_result;
    const enum visibility_decision view = view_pairing_view(&s, &v, NULL, &ev);
    view_pairing_fini(&s);
    return view;
}

static void test_calls(void)
{
    static const struct {
        const char *call, *result;
        bool is_error;
        const char *outcome;
        enum visibility_switch tools;
        enum visibility_decision view;
        const char *what;
    } rows[] = {
        {NULL, NULL, false, NULL, Y, VIEW_SHOW, "a call and its result"},
        {NULL, "internal", false, NULL, Y, VIEW_STRIP,
         "an internal result of a call that is shown"},
        {NULL, "internal", true, NULL, Y, VIEW_SHOW, "an internal failure of it"},
        {"internal", NULL, false, NULL, Y, VIEW_HIDE, "a result of an internal call"},
        {"internal", "internal", false, NULL, Y, VIEW_HIDE, "an internal result of it"},
        {"internal", "internal", true, NULL, Y, VIEW_FAILURE, "a failure of it"},
        {"internal", "internal", true, "cancelled", Y, VIEW_HIDE, "the cancelling of it"},
        {"internal", "internal", true, NULL, N, VIEW_HIDE, "a failure where tools are off"},
        {NULL, NULL, true, NULL, N, VIEW_HIDE, "a failure where the call was off, too"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        is_int(view_pair(rows[i].call, rows[i].result, rows[i].is_error, rows[i].outcome,
                         rows[i].tools),
               rows[i].view, "%s", rows[i].what);
}

/* Switches that change between the two. */
static void test_toggled_calls(void)
{
    struct showing s = {0};
    struct event call, result;
    event_init(&call, TC_TOOL_CALL);
    event_init(&result, TC_TOOL_RESULT);
    const struct visibility on = all(SHOW_ON), off = all(SHOW_OFF);
    call.u.tool_call.tool_use_id = result.u.tool_result.tool_use_id = "a";
    is_int(view_pairing_view(&s, &on, NULL, &call), VIEW_SHOW, "a call is shown");
    is_int(view_pairing_view(&s, &off, NULL, &result), VIEW_SHOW, "and so is its result");
    call.u.tool_call.tool_use_id = result.u.tool_result.tool_use_id = "b";
    is_int(view_pairing_view(&s, &off, NULL, &call), VIEW_HIDE, "a call is hidden");
    is_int(view_pairing_view(&s, &on, NULL, &result), VIEW_HIDE, "and so is its result");
    view_pairing_fini(&s);
}

static enum visibility_decision view_said(struct showing *s, enum tc_kind kind,
                                          const char *audience, const char *id)
{
    const struct visibility v = visibility_default();
    struct event ev;
    event_init(&ev, kind);
    ev.meta.audience = audience;
    if (kind == TC_NARRATION)
        ev.u.narration.message_id = id;
    else if (kind == TC_THINKING)
        ev.u.thinking.message_id = id;
    else
        ev.u.notice =
            (struct tc_notice){.level = "info", .text = "", .code = "retracted", .message_id = id};
    return view_pairing_view(s, &v, NULL, &ev);
}

static void test_retractions(void)
{
    struct showing s = {0};
    char id[2 * SHOWING_ID_MAX];
    memset(id, 'x', sizeof id);
    id[sizeof id - 1] = '\0';
    view_said(&s, TC_NARRATION, NULL, "shown");
    view_said(&s, TC_THINKING, NULL, "thought");
    view_said(&s, TC_NARRATION, "internal", id);
    is_int(view_said(&s, TC_NOTICE, "internal", "shown"), VIEW_SHOW,
           "text that was shown is taken back, whoever the notice is for");
    is_int(view_said(&s, TC_NOTICE, NULL, "thought"), VIEW_HIDE, "hidden reasoning is not");
    is_int(view_said(&s, TC_NOTICE, NULL, id), VIEW_HIDE, "nor internal text");
    view_said(&s, TC_NARRATION, NULL, "thought");
    view_said(&s, TC_NARRATION, NULL, id);
    is_int(view_said(&s, TC_NOTICE, NULL, "thought"), VIEW_SHOW,
           "unless some of the message was shown");
    is_int(view_said(&s, TC_NOTICE, NULL, id), VIEW_SHOW, "which counts for long ids, too");
    view_pairing_fini(&s);
}

static void test_drafts(void)
{
    const struct visibility v = all(SHOW_ON);
    CLEANUP_BUF struct buf text = {0};
    struct event ev;
    event_init(&ev, TC_TOOL_RESULT);
    ev.meta.x = "{\"error\":\"secret\"}";
    ev.meta.agent = "helper";
    ev.u.tool_result = (struct tc_tool_result){.meta = &ev.meta,
                                               .tool_use_id = "t1",
                                               .content = "secret",
                                               .content_len = 6,
                                               .name = "Bash",
                                               .duration_ms = 3,
                                               .structured = "{}"};
    struct event failed = ev;
    failed.u.meta = &failed.meta;
    visibility_strip(&v, &ev);
    ok(!*ev.u.tool_result.content && !ev.u.tool_result.content_len &&
           !ev.u.tool_result.structured && !ev.meta.x,
       "a result without its content");
    ok(ev.u.tool_result.duration_ms == 3 && ev.u.tool_result.name, "keeps the rest");
    visibility_tell_failure(&failed, &text);
    is_int(failed.kind, TC_NOTICE, "a failure as a notice");
    is_str(failed.u.notice.text, "Bash failed: secret", "says which tool, and why");
    is_str(failed.u.notice.code, "tool_failed", "with a code");
    ok(!failed.meta.x && failed.meta.agent && failed.u.meta == &failed.meta, "of the same agent");
}

int main(void)
{
    plan_lazy();
    test_keys();
    test_resolve();
    test_truth();
    test_json();
    test_views();
    test_strip();
    test_audience();
    test_calls();
    test_toggled_calls();
    test_retractions();
    test_drafts();
    return 0;
}
