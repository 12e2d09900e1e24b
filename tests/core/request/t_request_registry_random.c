/* SPDX-License-Identifier: MIT
 * Requests against a small model of them: a thousand random interleavings of asking, answering by
 * several people, withdrawing, the clock, retries and ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "core/asked.h"
#include "tap/tap.h"

#define ROUNDS 1000
#define STEPS 120
#define TURNS 3
#define IDS 6 /* requests of a turn, by number */
#define TIMEOUT_MS 1000

/* What the model knows of one request. */
struct model {
    enum { NEVER, OPEN, OVER } state;
    int64_t expires_ms;
    bool question;
};

static struct request_registry *all;
static struct request_turn *turns[TURNS]; /* NULL: over */
static struct model models[TURNS][IDS];
static struct buf told, agent; /* as the model has it */
static uint64_t seed;

static unsigned pick(unsigned n)
{
    seed = seed * 6364136223846793005 + 1442695040888963407;
    return (unsigned)(seed >> 33) % n;
}

static char name[] = "agent";
static const struct conf_agent conf = {.name = name, .ask_timeout_ms = TIMEOUT_MS};

static void begin(int t)
{
    char id[24];
    snprintf(id, sizeof id, "turn-%d", t);
    turns[t] =
        request_turn_begin(all, &(struct request_turn_spec){.id = id,
                                                            .agent = &conf,
                                                            .dialect = &asked_dialect,
                                                            .answer = request_api_handle_answer});
    memset(models[t], 0, sizeof models[t]);
}

/* In all turns the ids are the same, as agents number theirs. */
static const char *id_of(int i)
{
    static const char *const ids[IDS] = {"0", "1", "2", "3", "4", "5"};
    return ids[i];
}

static void expect_over(int t, int i, const char *decision, const char *by, const char *answers)
{
    models[t][i].state = OVER;
    buf_printf(&told, "%s:%s by %s%s%s;", id_of(i), decision, by, answers ? " " : "",
               answers ? answers : "");
}

/* In the order in which they would be told: of when they were asked. */
static void expire(int64_t until_ms)
{
    for (;;) {
        int found_t = -1, found_i = 0;
        for (int t = 0; t < TURNS; t++)
            for (int i = 0; turns[t] && i < IDS; i++) {
                const struct model *const m = &models[t][i];
                if (m->state == OPEN && m->expires_ms <= until_ms &&
                    (found_t < 0 || m->expires_ms < models[found_t][found_i].expires_ms))
                    found_t = t, found_i = i;
            }
        if (found_t < 0)
            return;
        if (asked.deaf) {
            expect_over(found_t, found_i, "cancelled", "host", NULL);
            continue;
        }
        buf_printf(&agent, "%s:deny reason=Denied: nobody answered within 1 s.;", id_of(found_i));
        expect_over(found_t, found_i, "timeout", "host", NULL);
    }
}

static void pass(int64_t ms)
{
    expire(clock_mono_ms() + ms);
    asked_pass(ms);
}

/* ---- what can happen ---- */

static void do_ask(int t, int i)
{
    struct model *const m = &models[t][i];
    if (!turns[t] || m->state != NEVER) /* the guard lets an id through once */
        return;
    const bool question = pick(3) == 0;
    struct tc_request r = {.request_id = id_of(i),
                           .kind = question ? "ask" : "approval",
                           .state = "open",
                           .tool = question ? "AskUserQuestion" : "Bash",
                           .args = "{\"command\":\"ls\"}",
                           .questions = question ? "[{\"id\":\"0\",\"prompt\":\"?\","
                                                   "\"options\":[],\"multi\":false}]"
                                                 : NULL,
                           .blocking = true};
    request_turn_add(turns[t], &r);
    *m = (struct model){OPEN, clock_mono_ms() + TIMEOUT_MS, question};
    if (!r.choices || r.expires_ms <= 0)
        buf_add_str(&told, "the model wants it open;");
    pass(1); /* no two are asked, nor expire, at the same moment */
}

static enum tc_accepted expect_answer(int t, int i, const char *choice, const char *by)
{
    struct model *const m = &models[t][i];
    if (!turns[t] || m->state != OPEN)
        return TC_KNOWN;
    if (strcmp(choice, m->question ? "allow" : "answer") == 0 || strcmp(choice, "what") == 0)
        return TC_DENIED;
    if (asked.deaf) {
        expect_over(t, i, "cancelled", by, NULL);
        return TC_KNOWN;
    }
    const bool answer = strcmp(choice, "answer") == 0;
    buf_printf(&agent, "%s:%s", id_of(i), answer ? "answered" : choice);
    if (answer)
        buf_add_str(&agent, " answers={\"0\":\"so\"}");
    else if (strcmp(choice, "deny") == 0)
        buf_add_str(&agent, " reason=so");
    buf_add_char(&agent, ';');
    expect_over(t, i, answer ? "answered" : choice, by, answer ? "{\"0\":\"so\"}" : NULL);
    return TC_COMMAND;
}

static bool do_answer(int t, int i)
{
    static const char *const choices[] = {"allow", "deny", "answer", "what"};
    static const char *const people[] = {"Ann (tg)", "Bob (sl)", "operator"};
    char id[16];
    snprintf(id, sizeof id, "turn-%d", t);
    const char *const choice = choices[pick(4)], *const by = people[pick(3)];
    CLEANUP_BUF struct buf text = {0};
    const enum tc_accepted expected = expect_answer(t, i, choice, by);
    const struct request_decision d = {
        .turn = id, .request = id_of(i), .choice = choice, .text = "so", .by = by};
    return request_answer(all, &d, &text) == expected && text.len;
}

static bool do_ticket(int t, int i)
{
    char id[16];
    const char *turn = NULL, *request = NULL;
    snprintf(id, sizeof id, "turn-%d", t);
    const char *const ticket = request_issue_ticket(all, "tg", id, id_of(i));
    const bool open = turns[t] && models[t][i].state == OPEN;
    if (!ticket || !open)
        return !ticket && !open;
    return strlen(ticket) <= 32 && !request_find_ticket(all, "sl", ticket, &turn, &request) &&
           request_find_ticket(all, "tg", ticket, &turn, &request) && strcmp(turn, id) == 0 &&
           strcmp(request, id_of(i)) == 0 &&
           request_issue_ticket(all, "tg", id, id_of(i)) == ticket;
}

/* The agent takes it back, or settles it: its stream says so, and everybody has been told. */
static void do_withdraw(int t, int i)
{
    const struct tc_request r = {
        .request_id = id_of(i), .kind = "approval", .state = "resolved", .decision = "cancelled"};
    struct tc_request told_so = r;
    if (!turns[t])
        return;
    request_turn_add(turns[t], &told_so);
    if (models[t][i].state == OPEN)
        models[t][i].state = OVER;
}

static void do_pass(void)
{
    const int64_t ms = pick(4) ? (int64_t)pick(TIMEOUT_MS / 2) * 2 + 1 : TIMEOUT_MS + 1;
    pass(ms);
}

/* The attempt is over, its agent gone; or the turn is, or its host. */
static void do_unask(int t, bool over)
{
    if (!turns[t]) {
        begin(t);
        return;
    }
    request_turn_cancel_open(turns[t]);
    for (int i = 0; i < IDS; i++)
        if (models[t][i].state == OPEN)
            models[t][i].state = OVER;
    if (!over)
        return;
    request_turn_end(turns[t]);
    turns[t] = NULL;
}

/* What is cancelled at once comes in no order of the model's: it is counted, not compared. */
static size_t cut_cancelled(struct buf *log)
{
    static const char mark[] = ":cancelled by host;";
    size_t n = 0;
    for (char *at; log->len && (at = strstr(log->p, mark)) != NULL; n++) {
        char *from = at;
        while (from > log->p && from[-1] != ';')
            from--;
        const size_t len = (size_t)(at - from) + sizeof mark - 1;
        memmove(from, from + len, strlen(from + len) + 1);
        log->len -= len;
    }
    return n;
}

static size_t count_open(void)
{
    size_t n = 0;
    for (int t = 0; t < TURNS; t++)
        for (int i = 0; turns[t] && i < IDS; i++)
            n += models[t][i].state == OPEN;
    return n;
}

static void count(void *ctx, const struct request_view *v)
{
    (void)v;
    ++*(size_t *)ctx;
}

static bool same(const struct buf *a, const struct buf *b)
{
    return a->len == b->len && (!a->len || memcmp(a->p, b->p, a->len) == 0);
}

static bool step(void)
{
    const int t = (int)pick(TURNS), i = (int)pick(IDS);
    const unsigned what = pick(20);
    bool good = true;
    if (what < 6)
        do_ask(t, i);
    else if (what < 12)
        good = do_answer(t, i);
    else if (what < 14)
        good = do_ticket(t, i);
    else if (what < 15)
        do_withdraw(t, i);
    else if (what < 17)
        do_pass();
    else if (what < 18)
        do_unask(t, pick(2));
    else
        asked.deaf = pick(6) == 0;
    size_t open = 0;
    request_each_open(all, count, &open);
    cut_cancelled(&asked.told);
    cut_cancelled(&told);
    return good && open == count_open() && same(&asked.told, &told) && same(&asked.agent, &agent);
}

static int run(uint64_t number)
{
    int failed_at = -1;
    seed = number * 0x9e3779b97f4a7c15 + 1;
    all = request_registry_new(&(struct request_registry_spec){0});
    for (int t = 0; t < TURNS; t++)
        begin(t);
    for (int n = 0; n < STEPS && failed_at < 0; n++)
        if (!step())
            failed_at = n;
    if (failed_at >= 0)
        diag("seed %llu, step %d:\n told  %s\n model %s\n agent %s\n model %s",
             (unsigned long long)number, failed_at, asked.told.p ? asked.told.p : "",
             told.p ? told.p : "", asked.agent.p ? asked.agent.p : "", agent.p ? agent.p : "");
    for (int t = 0; t < TURNS; t++)
        request_turn_end(turns[t]), turns[t] = NULL;
    request_registry_free(all);
    if (asked_timers())
        failed_at = STEPS;
    asked_reset();
    buf_reset(&told);
    buf_reset(&agent);
    return failed_at;
}

int main(void)
{
    int failed = 0;
    plan_lazy();
    log_setup(LOG_TEXT, LOG_ERR, 2);
    clock_fake(1000, 1e9);
    for (uint64_t i = 0; i < ROUNDS && failed < 3; i++)
        failed += run(i) >= 0;
    is_int(failed, 0, "%d random interleavings agree with the model", ROUNDS);
    buf_fini(&told);
    buf_fini(&agent);
    return 0;
}
