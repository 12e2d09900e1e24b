/* SPDX-License-Identifier: MIT
 * The turn log: what it keeps and forgets, who is told, and followers from any point on. */
#include "core/turnlog/turnlog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap/tap.h"

static struct loop *loop;
static struct turnlog *turns; /* the log of turns */
static const struct turnlog_limits wide = {.turn_bytes = 1 << 20, .bytes = 4 << 20, .turns = 100};

static void begin(const struct turnlog_limits *limits)
{
    turns = turnlog_new(loop, limits);
}

static void end(void)
{
    turnlog_free(turns);
    turns = NULL;
}

static void rounds(void)
{
    for (int i = 0; i < 3; i++)
        loop_run_once(loop, 0);
}

static struct turnlog_entry *run(const char *id)
{
    return turnlog_start_turn(turns, &(struct turnlog_spec){.id = id, .agent = "main"});
}

static struct shared_event *shared(enum tc_kind kind, uint64_t seq, const char *text)
{
    struct event ev;
    event_init(&ev, kind);
    ev.meta.seq = seq;
    ev.meta.correlation_id = "t";
    ev.u.meta = &ev.meta;
    if (kind == TC_NARRATION)
        ev.u.narration.text = text, ev.u.narration.text_len = strlen(text);
    if (kind == TC_FINAL)
        ev.u.final.text = text, ev.u.final.text_len = strlen(text);
    if (kind == TC_ERROR) {
        ev.u.error.message = text;
        ev.u.error.code = "broken";
    }
    return shared_event_new(&ev);
}

static void add(struct turnlog_entry *e, enum tc_kind kind, uint64_t seq)
{
    turnlog_append_event(turns, e, shared(kind, seq, "text"), false, NULL);
}

static void add_many(struct turnlog_entry *e, uint64_t from, uint64_t to)
{
    for (uint64_t seq = from; seq <= to; seq++)
        add(e, TC_NARRATION, seq);
}

/* ---- followers ---- */

struct follower {
    struct turnlog_follower *at;
    unsigned told;
    bool leaves; /* when it is told */
};

static void on_ready(void *ctx)
{
    struct follower *const f = ctx;
    f->told++;
    if (!f->leaves)
        return;
    turnlog_follower_free(f->at);
    f->at = NULL;
}

static void follow(struct follower *f, const char *id, uint64_t after, bool sees_all)
{
    f->told = 0;
    f->at = turnlog_follower_new(turns, id, after, sees_all, on_ready, f);
}

/* All there is now: "1 2 [3-4] 5 over"; a stripped event has a "'" behind it. Static. */
static const char *take(const struct follower *f)
{
    static char text[4096];
    size_t len = 0;
    struct turnlog_item item;
    enum turnlog_next_result step;
    *text = 0;
    while ((step = turnlog_follower_next(f->at, &item)) == TURNLOG_EVENT || step == TURNLOG_GAP) {
        if (step == TURNLOG_GAP)
            len += (size_t)sprintf(text + len, "[%d-%d] ", (int)item.from, (int)item.to);
        else
            len += (size_t)sprintf(
                text + len, "%d%s ", (int)item.seq,
                strcmp(shared_event_get(item.shared)->u.narration.text, "less") == 0 ? "'" : "");
    }
    strcpy(text + len, step == TURNLOG_OVER ? "over" : "later");
    return text;
}

static void test_follow(void)
{
    struct follower early = {0}, late = {0}, behind = {0}, gone = {.leaves = true};
    begin(&wide);
    turnlog_add_waiting(turns, &(struct turnlog_spec){.id = "t"});
    follow(&early, "t", 0, true);
    rounds();
    ok(early.at && !early.told && strcmp(take(&early), "later") == 0,
       "a waiting turn has no event");
    struct turnlog_entry *const e = run("t");
    add_many(e, 1, 3);
    is_int(early.told, 0, "followers are not called synchronously");
    rounds();
    is_int(early.told, 1, "followers are called once for several events");
    is_str(take(&early), "1 2 3 later", "each event is read once, in order");
    follow(&late, "t", 2, true);
    follow(&behind, "t", 9, true);
    follow(&gone, "t", 0, true);
    rounds();
    is_int(late.told, 1, "a late follower is called for existing events");
    is_str(take(&late), "3 later", "a follower after event 2 reads event 3");
    is_str(take(&behind), "later", "a follower after the last event reads nothing");
    ok(gone.told == 1 && !gone.at, "a follower frees itself in its callback");
    add_many(e, 4, 5);
    turnlog_follower_free(late.at);
    rounds();
    is_int(late.told, 1, "a freed follower is not called");
    is_str(take(&early), "4 5 later", "other followers read the new events");
    turnlog_finish_turn(turns, e);
    rounds();
    is_str(take(&early), "over", "the end of the turn is read");
    is_int(early.told, 3, "followers are called at the end of the turn");
    turnlog_follower_free(early.at);
    turnlog_follower_free(behind.at);
    ok(!turnlog_follower_new(turns, "none", 0, true, on_ready, &late),
       "an unknown turn has no follower");
    turnlog_follower_free(NULL);
    end();
}

static void test_hidden(void)
{
    struct follower all = {0}, some = {0};
    begin(&wide);
    struct turnlog_entry *const e = run("t");
    add(e, TC_NARRATION, 1);
    turnlog_append_event(turns, e, shared(TC_NARRATION, 2, "secret"), true, NULL);
    turnlog_append_event(turns, e, shared(TC_NARRATION, 3, "more"), false,
                         shared(TC_NARRATION, 3, "less"));
    turnlog_append_event(turns, e, shared(TC_NARRATION, 4, "secret"), true, NULL);
    follow(&all, "t", 0, true);
    follow(&some, "t", 0, false);
    is_str(take(&all), "1 2 3 4 later",
           "a follower that sees all reads hidden and complete events");
    is_str(take(&some), "1 3' later", "another follower reads no hidden events, and stripped ones");
    turnlog_follower_free(all.at);
    turnlog_follower_free(some.at);
    turnlog_finish_turn(turns, e);
    end();
}

/* ---- bounds ---- */

static size_t size_of_one(void)
{
    struct shared_event *const b = shared(TC_NARRATION, 1, "text");
    const size_t size = shared_event_size(b);
    shared_event_unref(b);
    return size;
}

static void test_gap(void)
{
    struct follower from_start = {0}, within = {0}, behind = {0};
    const size_t one = size_of_one();
    begin(&(struct turnlog_limits){.turn_bytes = 20 * one, .bytes = 4 << 20, .turns = 10});
    struct turnlog_entry *const e = run("t");
    add(e, TC_NARRATION, 1);
    follow(&from_start, "t", 0, true);
    is_str(take(&from_start), "1 later", "the first event is read");
    add_many(e, 2, 100);
    const char *const text = take(&from_start);
    int from = 0, to = 0, next = 0;
    is_int(sscanf(text, "[%d-%d] %d", &from, &to, &next), 3, "a gap is read first: %.20s", text);
    ok(from == 2 && to > 80 && next == to + 1, "the gap covers exactly the missing events");
    ok(strstr(text, " 99 100 later"), "the newest events are read");
    follow(&within, "t", 50, true);
    ok(sscanf(take(&within), "[%d-%d]", &from, &next) == 2 && from == 51 && next == to,
       "the gap begins after the last read event");
    follow(&behind, "t", 99, true);
    is_str(take(&behind), "100 later", "a follower after the missing events reads no gap");
    turnlog_follower_free(from_start.at);
    turnlog_follower_free(within.at);
    turnlog_follower_free(behind.at);
    turnlog_append_event(turns, e, shared(TC_NARRATION, 101, "text"), false, NULL);
    turnlog_finish_turn(turns, e);
    end();
}

static void test_one_too_big(void)
{
    struct follower f = {0};
    begin(&(struct turnlog_limits){.turn_bytes = 1, .bytes = 1, .turns = 10});
    struct turnlog_entry *const e = run("t");
    add_many(e, 1, 3);
    follow(&f, "t", 0, true);
    is_str(take(&f), "[1-2] 3 later", "the newest event is kept, even if it is too large");
    turnlog_finish_turn(turns, e);
    is_str(take(&f), "over", "the end of a followed turn is read");
    ok(turnlog_find_turn(turns, "t"), "a followed turn is kept");
    turnlog_follower_free(f.at);
    turnlog_finish_turn(turns, run("u"));
    ok(!turnlog_find_turn(turns, "t"), "a finished turn without followers is removed");
    end();
}

static unsigned count(void);

static void test_bounds(void)
{
    begin(&(struct turnlog_limits){.turn_bytes = 1 << 20, .bytes = 1 << 20, .turns = 3});
    for (int i = 0; i < 5; i++) {
        char id[] = "over0";
        id[4] = (char)('0' + i);
        turnlog_finish_turn(turns, run(id));
    }
    is_int(count(), 3, "the number of finished turns is limited");
    ok(!turnlog_find_turn(turns, "over1") && turnlog_find_turn(turns, "over2"),
       "the newest finished turns are kept");
    end();
}

/* How many events of a turn that has said `all` are kept. */
static int kept_of(const char *id, int all)
{
    struct follower f = {0};
    struct turnlog_item item = {0};
    follow(&f, id, 0, true);
    const bool gap = turnlog_follower_next(f.at, &item) == TURNLOG_GAP;
    turnlog_follower_free(f.at);
    return gap ? all - (int)item.to : all;
}

static void test_shares(void)
{
    struct follower f = {0};
    begin(
        &(struct turnlog_limits){.turn_bytes = 1 << 20, .bytes = 100 * size_of_one(), .turns = 10});
    struct turnlog_entry *const first = run("first");
    add_many(first, 1, 60);
    turnlog_finish_turn(turns, first);
    struct turnlog_entry *const second = run("second");
    add_many(second, 1, 60);
    ok(!turnlog_find_turn(turns, "first") && turnlog_find_turn(turns, "second"),
       "the oldest finished turn is removed for events of a running turn");
    turnlog_finish_turn(turns, second);
    follow(&f, "second", 0, true);
    struct turnlog_entry *const a = run("a"), *const b = run("b");
    add_many(a, 1, 500);
    ok(kept_of("second", 60) == 60 && kept_of("a", 500) < 40,
       "a followed finished turn is kept, and the running turn loses events");
    turnlog_follower_free(f.at);
    add_many(b, 1, 500);
    add_many(a, 501, 1000);
    const int of_a = kept_of("a", 1000), of_b = kept_of("b", 500);
    ok(!turnlog_find_turn(turns, "second"), "a finished turn is removed after its follower left");
    ok(of_a > 35 && of_a <= 50 && of_b > 35 && of_b <= 50,
       "two running turns share the space: %d and %d events", of_a, of_b);
    struct turnlog_entry *const little = run("little");
    add_many(little, 1, 10);
    turnlog_finish_turn(turns, little);
    add_many(a, 1001, 1500);
    is_int(kept_of("little", 10), 10, "running turns leave half of the space to finished turns");
    turnlog_finish_turn(turns, a);
    turnlog_finish_turn(turns, b);
    end();
}

/* ---- merged, cancelled, forgotten ---- */

static void test_merge(void)
{
    struct follower f = {0}, later = {0};
    begin(&wide);
    turnlog_add_waiting(turns, &(struct turnlog_spec){.id = "head"});
    turnlog_add_waiting(turns, &(struct turnlog_spec){.id = "tail"});
    follow(&f, "tail", 0, true);
    struct turnlog_entry *const e = run("head");
    add_many(e, 1, 2);
    turnlog_mark_merged(turns, "tail", "head");
    const struct turnlog_turn *const t = turnlog_find_turn(turns, "tail");
    ok(t->state == TURNLOG_MERGED && turnlog_turn_is_finished(t) && t->ended_ms,
       "the merged turn is finished");
    is_str(t->into, "head", "the merged turn has the id of the other turn");
    rounds();
    is_str(take(&f), "1 2 later", "a follower of the merged turn reads the other turn");
    follow(&later, "tail", 1, true);
    is_str(take(&later), "2 later", "a new follower of the merged turn reads the other turn");
    turnlog_mark_merged(turns, "none", "head");
    turnlog_mark_merged(turns, "head", "none");
    turnlog_mark_merged(turns, "head", "head");
    ok(turnlog_find_turn(turns, "head")->state == TURNLOG_RUNNING,
       "a merge with an unknown turn or with itself is ignored");
    turnlog_finish_turn(turns, e);
    is_str(take(&f), "over", "the follower reads the end of the other turn");
    turnlog_follower_free(f.at);
    turnlog_follower_free(later.at);
    turnlog_add_waiting(turns, &(struct turnlog_spec){.id = "c"});
    follow(&f, "c", 0, true);
    turnlog_mark_cancelled(turns, "c");
    turnlog_mark_cancelled(turns, "none");
    rounds();
    ok(f.told == 1 && strcmp(take(&f), "over") == 0,
       "a follower of a cancelled turn reads its end");
    ok(turnlog_find_turn(turns, "c")->state == TURNLOG_CANCELLED,
       "the state of the turn is cancelled");
    follow(&later, "c", 0, true);
    end();
    rounds();
    ok(strcmp(take(&f), "over") == 0 && strcmp(take(&later), "over") == 0,
       "after the log is freed its followers read the end");
    turnlog_follower_free(f.at);
    turnlog_follower_free(later.at);
}

/* ---- the list ---- */

static bool add_one(void *ctx, const struct turnlog_turn *t)
{
    (void)t;
    return ++*(unsigned *)ctx < 1000;
}

static unsigned count(void)
{
    unsigned n = 0;
    turnlog_each_turn(turns, add_one, &n);
    return n;
}

static bool add_id(void *ctx, const struct turnlog_turn *t)
{
    strcat(ctx, t->spec.id);
    return strlen(ctx) < 2;
}

struct watcher {
    struct turnlog_watcher *at, *other; /* other: unwatched, when it is told */
    char text[400];
    bool leaves;
};

static void on_changed(void *ctx, const struct turnlog_turn *t)
{
    struct watcher *const w = ctx;
    sprintf(w->text + strlen(w->text), "%s:%s%s ", t->spec.id, turnlog_state_name(t->state),
            t->works ? "+" : "");
    turnlog_watcher_free(w->other);
    w->other = NULL;
    if (w->leaves)
        turnlog_watcher_free(w->at);
}

static void test_watch(void)
{
    struct watcher stays = {0}, leaves = {.leaves = true}, ended = {0}, ends = {0}, last = {0};
    begin(&wide);
    stays.at = turnlog_watch(turns, on_changed, &stays);
    leaves.at = turnlog_watch(turns, on_changed, &leaves);
    ended.at = turnlog_watch(turns, on_changed, &ended);
    ends.at = turnlog_watch(turns, on_changed, &ends);
    ends.other = ended.at;
    last.at = turnlog_watch_finished(turns, on_changed, &last);
    turnlog_add_waiting(turns, &(struct turnlog_spec){.id = "a"});
    struct turnlog_entry *const a = run("a");
    add(a, TC_START, 1);
    add(a, TC_REQUEST, 2);
    add(a, TC_FINAL, 3);
    add(a, TC_DONE, 4);
    turnlog_finish_turn(turns, a);
    struct turnlog_entry *const b = run("b");
    add(b, TC_ERROR, 1);
    turnlog_finish_turn(turns, b);
    turnlog_finish_turn(turns, run("c"));
    is_str(stays.text, "a:waiting a:running a:running a:final b:running b:error c:running c:error ",
           "a watcher is called for each state and request");
    *stays.text = *ends.text = '\0';
    turnlog_set_works(turns, "a", false);
    turnlog_set_works(turns, "a", true);
    turnlog_set_works(turns, "a", true);
    turnlog_set_works(turns, "a", false);
    turnlog_set_works(turns, "unknown", true);
    is_str(stays.text, "a:final+ a:final ",
           "a watcher is called when background work begins and ends");
    turnlog_set_late_result(turns, "b", "first");
    turnlog_set_late_result(turns, "b", "second");
    turnlog_set_late_result(turns, "unknown", "x");
    is_str(stays.text, "a:final+ a:final b:error ", "a watcher is called for a late result");
    is_str(turnlog_find_turn(turns, "b")->late_result, "first", "the first late result is kept");
    is_str(last.text, "a:final b:error c:error ",
           "a watcher of finished turns is called once per turn");
    is_str(leaves.text, "a:waiting ", "a watcher frees itself in its callback");
    is_str(ends.text, stays.text, "other watchers are called");
    is_str(ended.text, "", "a watcher freed by another one is not called");
    is_str(turnlog_find_turn(turns, "b")->code, "broken",
           "a failed turn has the code of its error");
    ok(!turnlog_find_turn(turns, "c")->code, "a turn without an outcome has no code");
    char ids[8] = "";
    turnlog_each_turn(turns, add_id, ids);
    is_str(ids, "cb", "turns are listed newest first, until the callback returns false");
    turnlog_watcher_free(stays.at);
    turnlog_watcher_free(ends.at);
    turnlog_watcher_free(last.at);
    turnlog_watcher_free(NULL);
    end();
}

static void test_known(void)
{
    begin(&wide);
    char task[3000];
    memset(task, 'x', sizeof task - 1);
    task[sizeof task - 1] = 0;
    turnlog_add_waiting(turns, &(struct turnlog_spec){.id = "a", .owner = "ann", .task = task});
    struct turnlog_entry *const e = turnlog_start_turn(
        turns, &(struct turnlog_spec){.id = "a", .agent = "main", .owner = "bob"});
    const struct turnlog_turn *const t = turnlog_find_turn(turns, "a");
    is_str(t->spec.owner, "ann", "known members are kept");
    is_str(t->spec.agent, "main", "new members are added");
    ok(strlen(t->spec.task) <= 1000, "a long message is cut");
    struct event sub;
    event_init(&sub, TC_FINAL);
    sub.meta.seq = 1;
    sub.meta.correlation_id = "a";
    sub.meta.parent_id = "call_1";
    sub.u.meta = &sub.meta;
    sub.u.final.text = "part";
    turnlog_append_event(turns, e, shared_event_new(&sub), false, NULL);
    ok(t->state == TURNLOG_RUNNING && t->last_seq == 1,
       "an outcome of a sub-agent is not the outcome of the turn");
    add(e, TC_TOOL_CALL, 2);
    add(e, TC_FINAL, 3);
    ok(t->state == TURNLOG_FINAL && t->tools == 1 && t->last_seq == 3 && t->cost_usd < 0 &&
           t->ended_ms >= t->started_ms,
       "the outcome of the turn is stored, and tool calls are counted");
    turnlog_finish_turn(turns, e);
    end();
}

int main(void)
{
    plan_lazy();
    loop = loop_new();
    test_follow();
    test_hidden();
    test_gap();
    test_one_too_big();
    test_bounds();
    test_shares();
    test_merge();
    test_watch();
    test_known();
    turnlog_free(NULL);
    loop_free(loop);
    return 0;
}
