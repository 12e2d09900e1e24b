/* SPDX-License-Identifier: MIT
 * Tests of requests that go to the journal of another host: reading them in their order with all
 * that belongs to them, and storing each of them once. */
#include "io/journal/journal_moving.h"

#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "base/bytes/buf.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "io/journal_kit.h"
#include "tap/tap.h"

struct seen {
    struct buf text;
    struct journal_place place;
    int64_t seq;
};

static void note_moving(void *ctx, const struct journal_moving *m)
{
    struct seen *const s = ctx;
    s->place = m->place;
    s->seq = m->seq;
    buf_reset(&s->text);
    buf_printf(&s->text,
               "%.*s %s %s %s p%" PRId64 " a%" PRId64 "%s%s%s age%" PRId64 " left%" PRId64,
               (int)m->body.len, m->body.p, m->conn, m->lane, m->turn, m->priority, m->attempts,
               m->in_doubt ? "?" : "", m->is_open ? " open" : "", m->has_outcome ? " outcome" : "",
               m->age_ms, m->left_ms);
    buf_printf(&s->text, " [%s %s %s %s] %s", m->agent ? m->agent : "-",
               m->conversation ? m->conversation : "-", m->source ? m->source : "-",
               m->route ? m->route : "-", m->memory ? m->memory : "-");
}

/* The next request of tg behind s->place, or the one with that number; "": none. Valid until the
 * next call. */
static const char *next_moving(struct journal *j, struct seen *s, int64_t seq)
{
    buf_reset(&s->text);
    buf_add_str(&s->text, "");
    const enum journal_status status = journal_find_moving(j, "tg", s->place, seq, note_moving, s);
    is_int(status, s->text.len ? JOURNAL_DONE : JOURNAL_NO_CHANGE,
           "the status is that of a search");
    return s->text.len ? s->text.p : "";
}

static void test_reading(void)
{
    struct journal *const j = kit_fresh_with(&(struct journal_limits){.age = HOUR, .rows = 100});
    struct seen s = {.place = JOURNAL_BEFORE_ALL};
    is_str(next_moving(j, &s, 0), "", "an empty journal has no request");
    kit_ended(j, "t1", "c1");
    is_int(kit_add(j, "one two three"), JOURNAL_DONE, "three requests are added");
    is_int(kit_start(j, "two"), JOURNAL_DONE, "one of them is in flight");
    is_int(journal_memory_put(j, "tg", "t", "remembered"), JOURNAL_DONE, "a memory is stored");
    clock_fake(6000, 1800000005);
    is_str(next_moving(j, &s, 0), "one tg c t p1 a0 age5000 left3595000 [- - - -] remembered",
           "the outcome is skipped, and the first request is found, of an unknown turn");
    const int64_t first = s.seq;
    is_str(next_moving(j, &s, 0), "three tg c t p1 a0 age5000 left3595000 [- - - -] remembered",
           "the request in flight is skipped");
    is_str(next_moving(j, &s, 0), "", "there are no more");
    is_int(journal_take_over(j, "tg"), JOURNAL_DONE, "the process with the attempt is gone");
    is_str(next_moving(j, &s, 0), "", "there are no more behind the last one");
    is_str(next_moving(j, &s, first), "one tg c t p1 a0 age5000 left3595000 [- - - -] remembered",
           "a request is found by its number");
    is_str(next_moving(j, &s, 0), "two tg c t p1 a1? age5000 left3595000 [- - - -] remembered",
           "the request that was in flight is in doubt");
    is_int(kit_settle(j, "one", JOURNAL_SENT, "four five"), JOURNAL_DONE, "the first is replaced");
    s.place = JOURNAL_BEFORE_ALL;
    is_str(next_moving(j, &s, 0), "four tg c t p1 a0 age0 left3600000 [- - - -] remembered",
           "successors are found in the place of the first request");
    is_str(next_moving(j, &s, first), "", "a number that is gone is not found");
    buf_fini(&s.text);
    journal_close(j);
}

static void add_for(struct journal *j, const char *turn, const char *body)
{
    const struct journal_request r = {.turn = turn, .lane = "l", .body = {body, strlen(body)}};
    is_int(journal_add_requests(j, "tg", &r, 1, journal_last_seq(j) + 1), JOURNAL_DONE,
           "a request of turn %s is added", turn);
}

static void test_turns(void)
{
    struct journal *const j = kit_fresh_with(&(struct journal_limits){.age = HOUR, .rows = 100});
    struct seen s = {.place = JOURNAL_BEFORE_ALL};
    is_int(kit_admit(j, "t1", NULL), JOURNAL_DONE, "a turn runs");
    add_for(j, "t1", "x");
    is_str(next_moving(j, &s, 0), "x tg l t1 p0 a0 open age0 left3600000 [a c telegram -] -",
           "the turn of the request has not ended");
    is_int(kit_end(j, "t1", NULL, "c1"), JOURNAL_DONE, "the turn ends");
    s.place = JOURNAL_BEFORE_ALL;
    is_str(next_moving(j, &s, 0), "x tg l t1 p0 a0 outcome age0 left3600000 [a c telegram -] -",
           "its outcome waits, too");
    is_int(kit_expand(j, "t1", ""), JOURNAL_DONE, "the outcome is delivered");
    s.place = JOURNAL_BEFORE_ALL;
    is_str(next_moving(j, &s, 0), "x tg l t1 p0 a0 age0 left3600000 [a c telegram -] -",
           "only the request is left");
    is_int(journal_memory_put(j, "tg", "", "of all turns"), JOURNAL_DONE, "a memory is stored");
    add_for(j, "", "y");
    is_str(next_moving(j, &s, 0), "y tg l  p0 a0 age0 left3600000 [- - - -] -",
           "the memory of all turns stays");
    buf_fini(&s.text);
    journal_close(j);
}

static const struct journal_moving given = {.conn = "tg",
                                            .lane = "l",
                                            .turn = "t9",
                                            .priority = 2,
                                            .attempts = 3,
                                            .crashes = 1,
                                            .in_doubt = true,
                                            .age_ms = 4000,
                                            .left_ms = 6000,
                                            .body = {"moved", 5},
                                            .memory = "m",
                                            .agent = "main",
                                            .conversation = "tg:1",
                                            .source = "hook",
                                            .route = "r"};

static void test_storing(void)
{
    struct journal *j = kit_fresh();
    struct seen s = {.place = JOURNAL_BEFORE_ALL};
    is_int(kit_add(j, "own"), JOURNAL_DONE, "the journal has a request");
    const int64_t seq = journal_last_seq(j) + 1;
    is_int(journal_find_offer(j, "tg", "o1"), JOURNAL_NO_CHANGE, "the offer is unknown");
    is_int(journal_store_moving(j, "o1", &given, seq), JOURNAL_DONE, "a request is stored");
    is_int(journal_find_offer(j, "tg", "o1"), JOURNAL_DONE, "the offer is known");
    is_int(journal_find_offer(j, "slack", "o1"), JOURNAL_NO_CHANGE, "of that instance only");
    is_int(journal_store_moving(j, "o1", &given, seq + 1), JOURNAL_NO_CHANGE, "once");
    is_str(kit_rows(j), "own moved3?", "it is behind all others, with its attempts, in doubt");
    next_moving(j, &s, 0);
    is_str(next_moving(j, &s, 0), "moved tg l t9 p2 a3? age4000 left6000 [main tg:1 hook r] m",
           "everything is there, and its turn has ended");
    is_int(s.seq, seq, "it has the number of the caller");
    is_int(kit_settle(j, "moved", JOURNAL_SENT, ""), JOURNAL_DONE, "it is sent");
    is_int(journal_store_moving(j, "o1", &given, seq + 1), JOURNAL_NO_CHANGE,
           "the offer is known after the request is gone");
    is_int(journal_store_moving(j, "o2", &given, seq + 1), JOURNAL_DONE,
           "another request of the turn is stored");
    journal_close(j);
    j = kit_reopen(NULL);
    is_str(kit_rows(j), "own moved3?", "it is there after a restart");
    buf_fini(&s.text);
    journal_close(j);
}

static void test_poison(void)
{
    struct journal *j = kit_fresh();
    struct journal_moving m = given;
    m.crashes = JOURNAL_MAX_CRASHES;
    is_int(journal_store_moving(j, "o1", &m, 1), JOURNAL_DONE,
           "a request that crashed hosts comes");
    journal_close(j);
    j = kit_reopen(NULL);
    is_str(kit_rows(j), "", "its crashes count here, too");
    journal_close(j);
}

static void test_known_turn(void)
{
    struct journal *const j = kit_fresh();
    struct seen s = {.place = JOURNAL_BEFORE_ALL};
    struct journal_moving m = given;
    struct journal_turn own = {
        .id = "t9", .agent = "x", .conv = "y", .source = "hook", .route = "z"};
    is_int(journal_admit_turn(j, &own, NULL), JOURNAL_DONE,
           "the turn runs here, of another source");
    is_int(journal_memory_put(j, "tg", "t9", "newer"), JOURNAL_DONE, "with a memory");
    is_int(journal_store_moving(j, "o1", &m, 50), JOURNAL_DONE, "a request of it is stored");
    is_str(next_moving(j, &s, 0), "moved tg l t9 p2 a3? open age4000 left6000 [x y hook z] newer",
           "the record and the memory are unchanged");
    own.id = m.turn = "t10";
    own.source = m.source = "tg";
    is_int(journal_admit_turn(j, &own, NULL), JOURNAL_DONE, "a turn of the connector is adopted");
    is_int(journal_store_moving(j, "o2", &m, 51), JOURNAL_NO_CHANGE,
           "a request of another host for it is not stored, because this host makes its own");
    own.id = m.turn = "t11";
    own.boot_id = JOURNAL_GIVEN "tg";
    is_int(journal_admit_turn(j, &own, NULL), JOURNAL_DONE, "a turn was given by another host");
    is_int(journal_store_moving(j, "o3", &m, 52), JOURNAL_DONE, "a request for it is stored");
    buf_fini(&s.text);
    journal_close(j);
}

static void test_limits(void)
{
    static char huge[JOURNAL_MAX_BODY + 1];
    static char key[JOURNAL_MAX_KEY + 2];
    struct journal *const j = kit_fresh();
    struct seen s = {.place = JOURNAL_BEFORE_ALL};
    struct journal_moving m = given;
    memset(key, 'k', JOURNAL_MAX_KEY + 1);
    m.body = (struct str){huge, sizeof huge};
    is_int(journal_store_moving(j, "o1", &m, 1), JOURNAL_TOO_BIG, "a body has a limit");
    m = given;
    is_int(journal_store_moving(j, key, &m, 1), JOURNAL_TOO_BIG, "an id has a limit");
    m.lane = key;
    is_int(journal_store_moving(j, "o1", &m, 1), JOURNAL_TOO_BIG, "a lane has a limit");
    m = given;
    m.age_ms = m.left_ms = INT64_MAX;
    is_int(journal_store_moving(j, "o1", &m, 1), JOURNAL_DONE, "times may be extreme");
    is_str(kit_rows(j), "moved3?", "the request is there");
    ok(*next_moving(j, &s, 0), "it can be read");
    m.left_ms = INT64_MIN;
    is_int(journal_store_moving(j, "o2", &m, 2), JOURNAL_DONE, "a request may have expired");
    kit_prune(j);
    is_str(kit_rows(j), "moved3?", "then it becomes a dead letter");
    buf_fini(&s.text);
    journal_close(j);
}

int main(void)
{
    plan_lazy();
    const int log = open("/dev/null", O_WRONLY | O_CLOEXEC);
    log_setup(LOG_TEXT, LOG_WARN, log);
    test_reading();
    test_turns();
    test_storing();
    test_poison();
    test_known_turn();
    test_limits();
    close(log);
    return 0;
}
