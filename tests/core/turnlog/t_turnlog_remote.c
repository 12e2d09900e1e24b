/* SPDX-License-Identifier: MIT
 * Turns of other hosts in the turn log: what is said of them, when their events are wanted, and
 * when they are over. */
#include <stdio.h>
#include <string.h>

#include "core/turnlog/turnlog.h"
#include "tap/tap.h"

static struct loop *loop;
static struct turnlog *turns;
static unsigned wanted, unwanted, readied, changed, finished;

static void on_wanted(void *ctx, const struct turnlog_turn *t)
{
    (void)ctx;
    wanted += strcmp(t->spec.id, "r") == 0;
}

static void on_unwanted(void *ctx, const char *id)
{
    (void)ctx;
    unwanted += strcmp(id, "r") == 0;
}

static void on_ready(void *ctx)
{
    (void)ctx;
    readied++;
}

static void on_changed(void *ctx, const struct turnlog_turn *t)
{
    (void)ctx;
    (void)t;
    changed++;
}

static void on_finished(void *ctx, const struct turnlog_turn *t)
{
    (void)ctx;
    (void)t;
    finished++;
}

static void put(enum turnlog_state state, uint64_t last_seq, uint64_t order)
{
    const struct turnlog_turn t = {.spec = {.id = "r", .agent = "main", .host = "h2", .retry = "k"},
                                   .state = state,
                                   .last_seq = last_seq,
                                   .created_ms = 5,
                                   .cost_usd = -1};
    turnlog_put_remote(turns, &t, order);
}

static void append(uint64_t seq)
{
    struct event ev;
    event_init_text(&ev, TC_NARRATION, "x", 1, NULL);
    ev.meta.seq = seq;
    ev.u.meta = &ev.meta;
    turnlog_append_remote(turns, "r", shared_event_new(&ev), false, NULL);
}

static void test_said(void)
{
    const struct turnlog_turn *t;
    put(TURNLOG_RUNNING, 3, 10);
    t = turnlog_find_turn(turns, "r");
    ok(t && strcmp(t->spec.host, "h2") == 0 && t->state == TURNLOG_RUNNING,
       "a turn of another host is known");
    ok(turnlog_find_retry(turns, "k") == t && !turnlog_find_retry(turns, "l"),
       "the turn is found by its retry token");
    is_int(changed, 1, "the watcher is called");
    put(TURNLOG_WAITING, 0, 9);
    is_int(t->state, TURNLOG_RUNNING, "an older state is ignored");
    put(TURNLOG_RUNNING, 4, 11);
    is_int((long long)t->last_seq, 4, "a newer state is taken");
    ok(!turnlog_is_complete(turns, "r") && turnlog_is_complete(turns, "nothing"),
       "the events of the turn are incomplete");
}

static void test_own(void)
{
    const struct turnlog_spec spec = {.id = "own"};
    struct turnlog_turn t = {.spec = {.id = "own", .host = "h2"}, .state = TURNLOG_FINAL};
    struct turnlog_entry *const e = turnlog_start_turn(turns, &spec);
    turnlog_put_remote(turns, &t, 99);
    ok(!turnlog_find_turn(turns, "own")->spec.host, "a turn of this host is not replaced");
    turnlog_finish_turn(turns, e);
    is_int(finished, 1, "the end of a turn of this host is reported");
}

static void test_events(void)
{
    struct turnlog_item item;
    struct turnlog_follower *f = turnlog_follower_new(turns, "r", 0, true, NULL, NULL);
    is_int(wanted, 0, "a follower without a callback fetches no events");
    turnlog_follower_free(f);
    f = turnlog_follower_new(turns, "r", 0, true, on_ready, NULL);
    struct turnlog_follower *const g = turnlog_follower_new(turns, "r", 0, true, on_ready, NULL);
    is_int(wanted, 1, "two followers fetch the events once");
    is_int(turnlog_follower_next(f, &item), TURNLOG_WAIT, "no event has arrived");
    append(1);
    append(2);
    loop_run_once(loop, 0);
    is_int(readied, 2, "both followers are called");
    is_int(turnlog_follower_next(f, &item), TURNLOG_EVENT, "the first event is read");
    is_int((long long)turnlog_count_events(turns, TC_NARRATION), 0,
           "events of other hosts are not counted");
    put(TURNLOG_FINAL, 4, 12);
    is_int(turnlog_follower_next(f, &item), TURNLOG_EVENT, "the second event is read");
    is_int(turnlog_follower_next(f, &item), TURNLOG_WAIT, "a finished turn may have more events");
    turnlog_skip_remote(turns, "r", 3);
    is_int(turnlog_follower_next(f, &item), TURNLOG_GAP,
           "events that are not available are read as a gap");
    ok(item.from == 3 && item.to == 3, "the gap covers the missing event");
    append(4);
    is_int(turnlog_follower_next(f, &item), TURNLOG_EVENT, "the event after the gap is read");
    turnlog_complete_remote(turns, "r");
    is_int(turnlog_follower_next(f, &item), TURNLOG_OVER,
           "the end is read when the turn is complete");
    ok(turnlog_is_complete(turns, "r"), "the turn is complete");
    turnlog_follower_free(f);
    is_int(unwanted, 0, "the events are wanted while a follower is left");
    turnlog_follower_free(g);
    is_int(unwanted, 1, "the source is told when the last follower has left");
    is_int(finished, 1, "the end of a turn of another host is not counted");
}

/* The servers count from one again. */
static void test_order_restarts(void)
{
    const struct turnlog_turn running = {.spec = {.id = "r3", .host = "h2"},
                                         .state = TURNLOG_RUNNING};
    struct turnlog_turn t = running;
    turnlog_put_remote(turns, &t, 500);
    t.state = TURNLOG_FINAL;
    turnlog_put_remote(turns, &t, 2);
    is_int(turnlog_find_turn(turns, "r3")->state, TURNLOG_RUNNING, "an older state is ignored");
    turnlog_restart_remote_order(turns);
    turnlog_put_remote(turns, &t, 2);
    is_int(turnlog_find_turn(turns, "r3")->state, TURNLOG_FINAL,
           "an older state is taken after the order restarts");
    turnlog_restart_remote_order(turns);
    turnlog_put_remote(turns, &running, 3);
    is_int(turnlog_find_turn(turns, "r3")->state, TURNLOG_FINAL,
           "a finished turn does not run again");
}

static void test_left(void)
{
    const struct turnlog_turn t = {.spec = {.id = "r2", .host = "h2"}, .state = TURNLOG_RUNNING};
    turnlog_put_remote(turns, &t, 20);
    struct turnlog_follower *const f = turnlog_follower_new(turns, "r", 0, true, on_ready, NULL);
    is_int(wanted, 1, "a complete turn is not fetched again");
    turnlog_follower_free(f);
    append(9);
    struct turnlog_follower *const g = turnlog_follower_new(turns, "r2", 0, true, on_ready, NULL);
    turnlog_follower_free(g);
    is_int(unwanted, 1, "a follower of another turn does not change the count");
}

static void test_given_back(void)
{
    const struct turnlog_turn t = {.spec = {.id = "r", .host = "h3"}, .state = TURNLOG_RUNNING};
    struct turnlog *const own = turns;
    turns = turnlog_new(loop, NULL);
    turnlog_set_source(turns, &(struct turnlog_source){on_wanted, on_unwanted, NULL});
    turnlog_put_remote(turns, &t, 1);
    wanted = unwanted = 0;
    struct turnlog_follower *f = turnlog_follower_new(turns, "r", 0, true, on_ready, NULL);
    turnlog_follower_free(f);
    ok(wanted == 1 && unwanted == 1, "events are wanted while a follower exists");
    f = turnlog_follower_new(turns, "r", 0, true, on_ready, NULL);
    turnlog_set_source(turns, NULL);
    turnlog_follower_free(f);
    ok(wanted == 2 && unwanted == 1, "a removed source is not called");
    turnlog_free(turns);
    turns = own;
}

int main(void)
{
    plan_lazy();
    loop = loop_new();
    turns = turnlog_new(loop, NULL);
    turnlog_set_source(turns, &(struct turnlog_source){on_wanted, on_unwanted, NULL});
    struct turnlog_watcher *const w = turnlog_watch(turns, on_changed, NULL);
    struct turnlog_watcher *const v = turnlog_watch_finished(turns, on_finished, NULL);
    test_said();
    test_own();
    test_events();
    test_left();
    test_order_restarts();
    test_given_back();
    turnlog_watcher_free(w);
    turnlog_watcher_free(v);
    turnlog_free(turns);
    loop_free(loop);
    return 0;
}
