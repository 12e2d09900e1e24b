/* SPDX-License-Identifier: MIT
 * Kills a small host again and again, at named points and at random times. Afterwards every
 * admitted turn has one outcome, and every part of the outcome was delivered or is a dead letter.
 * The host runs in a child. It takes messages from a source that repeats unacknowledged ones, and
 * delivers to a service that is a file. An outcome has one to three pieces; the reply to the first
 * creates another request, and a refusal creates a fallback. As a check of the test, the same host
 * with one transaction split in two must violate a condition. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "io/journal/journal.h"
#include "io/kill_check.h"
#include "io/store/sql.h"
#include "tap/tap.h"

#define CONNS 2
#define AHEAD 16 /* the number of rows that are read at once */

static const char *const conns[CONNS] = {"tg", "slack"};
static const char *const points[] = {
    "after-admit",      "after-ack",
    "in-outcome",       "after-outcome-commit",
    "after-expand",     "in-settle",
    "before-send",      "after-record",
    "after-deadletter", "after-send-before-record",
};
#define POINTS (sizeof points / sizeof *points)

struct world {
    char dir[600], acks[600], service[600]; /* the state, and two files outside of the host */
    unsigned seed;
    const char
        *split_at; /* the mutation: the transaction with this point is split in two; or NULL */
};

struct host {
    const struct world *w;
    struct journal *j;
    int64_t next_seq;
    int acks, service;
    int run;
    int message; /* the number of the next message of the source */
    const char *crash_at;
    int hits; /* the number of times that crash_at is passed until it kills */
};

/* ---- the host, in the child */

static void pass_point(struct host *h, const char *name)
{
    if (h->crash_at && strcmp(h->crash_at, name) == 0 && --h->hits == 0)
        raise(SIGKILL);
}

static void on_point(void *ctx, struct sql *db, const char *name)
{
    struct host *const h = ctx;
    if (h->w->split_at && strcmp(name, h->w->split_at) == 0 &&
        (sql_script(db, "commit") < 0 || sql_script(db, "begin immediate") < 0))
        _exit(2);
    pass_point(h, name);
}

/* Writes the line at once: it is complete or missing. */
static void write_line(int fd, const char *line)
{
    if (write(fd, line, strlen(line)) != (ssize_t)strlen(line))
        _exit(3);
}

static void require_done(enum journal_status status)
{
    if (status != JOURNAL_DONE && status != JOURNAL_NO_CHANGE)
        _exit(4);
}

static int64_t take_seqs(struct host *h, size_t n)
{
    const int64_t first = h->next_seq;
    h->next_seq += (int64_t)n;
    return first;
}

struct turn {
    char id[32];
    int message;
};

/* "t12-r3" is message 12, admitted by run 3 of the host. */
static int message_of(const char *turn)
{
    return (int)strtol(turn + 1, NULL, 10);
}

static const char *lane_of(int message)
{
    static const char *const lanes[] = {"c0", "c1", "c2"};
    return lanes[message % 3];
}

/* Admits the next message. A repeated message shares only one of its ids. */
static struct turn take_message(struct host *h, bool waiting)
{
    struct turn t = {.message = h->message};
    char msg[32], also[32], line[32];
    snprintf(t.id, sizeof t.id, "t%d-r%d", t.message, h->run);
    snprintf(msg, sizeof msg, "m%d-r%d", t.message, h->run);
    snprintf(also, sizeof also, "c%d", t.message);
    require_done(journal_admit_turn(h->j,
                                    &(struct journal_turn){.id = t.id,
                                                           .agent = "a",
                                                           .conv = lane_of(t.message),
                                                           .source = "s",
                                                           .msg_id = msg,
                                                           .also = also,
                                                           .waiting = waiting,
                                                           .prompt = "hello"},
                                    NULL));
    snprintf(line, sizeof line, "%d\n", t.message);
    write_line(h->acks, line);
    pass_point(h, "after-ack");
    h->message++;
    return t;
}

/* Begins a turn: at once, after waiting, or with another message merged into it. */
static struct turn begin_turn(struct host *h)
{
    const int luck = rand() % 4;
    const struct turn t = take_message(h, luck < 3);
    if (luck == 3)
        return t;
    const char *merged[1];
    struct turn other;
    if (luck == 0) {
        other = take_message(h, true);
        merged[0] = other.id;
    } else if (luck == 1) {
        require_done(journal_cancel_turn(h->j, take_message(h, true).id));
    }
    require_done(journal_begin_turn(h->j, t.id, NULL, merged, luck == 0));
    return t;
}

static void work_on(struct host *h, const struct turn *t, int step)
{
    char body[64];
    snprintf(body, sizeof body, "note %d 0", step);
    const struct journal_request r = {
        .turn = t->id, .lane = lane_of(t->message), .body = {body, strlen(body)}};
    for (int c = 0; c < CONNS; c++) {
        require_done(journal_memory_put(h->j, conns[c], t->id, body));
        require_done(journal_add_requests(h->j, conns[c], &r, 1, take_seqs(h, 1)));
    }
}

static void finish(struct host *h, const char *id, const char *error)
{
    const struct str body = error ? STR("error") : STR("final");
    struct journal_target to[CONNS];
    for (int c = 0; c < CONNS; c++)
        to[c] = (struct journal_target){conns[c], lane_of(message_of(id)), body};
    require_done(journal_end_turn(
        h->j, &(struct journal_outcome){.turn = id, .error = error, .targets = to, .n = CONNS},
        take_seqs(h, CONNS)));
}

/* A copy of a row. Its body is "slot piece fallback", or the slot alone for an outcome. */
struct row_copy {
    int64_t seq;
    bool outcome, in_doubt;
    char conn[8], lane[8], turn[32], body[32];
};

struct row_copies {
    struct row_copy at[AHEAD];
    int n;
};

static void copy_row(void *ctx, const struct journal_row *row)
{
    struct row_copies *const all = ctx;
    if (all->n == AHEAD)
        return;
    struct row_copy *const l = &all->at[all->n++];
    l->seq = row->seq;
    l->outcome = row->kind == JOURNAL_OUTCOME;
    l->in_doubt = row->in_doubt;
    snprintf(l->conn, sizeof l->conn, "%s", row->conn);
    snprintf(l->lane, sizeof l->lane, "%s", row->lane);
    snprintf(l->turn, sizeof l->turn, "%s", row->turn);
    snprintf(l->body, sizeof l->body, "%.*s", (int)row->body.len, row->body.p);
}

static void expand(struct host *h, const struct row_copy *l)
{
    char bodies[3][32];
    struct journal_request pieces[3];
    const size_t n = 1 + (size_t)message_of(l->turn) % 3;
    for (size_t i = 0; i < n; i++) {
        snprintf(bodies[i], sizeof bodies[i], "%.8s %zu 0", l->body, i + 1);
        pieces[i] = (struct journal_request){
            .turn = l->turn, .lane = l->lane, .body = {bodies[i], strlen(bodies[i])}};
    }
    const struct journal_settlement s = {.verdict = JOURNAL_SENT, .requests = pieces, .n = n};
    require_done(journal_settle_outcome(h->j, l->conn, l->turn, &s, take_seqs(h, n)));
}

/* The result of a request, and the body (or "") of the request that replaces it. */
struct send_result {
    enum journal_result verdict;
    bool in_doubt;
    char next[32];
};

/* Delivers to the service, which accepts the request, answers 503, loses its reply, or refuses. */
static struct send_result deliver(struct host *h, const struct row_copy *l)
{
    struct send_result f = {.verdict = JOURNAL_RETRY};
    char slot[9] = "";
    int piece = 0, fallback = 0;
    sscanf(l->body, "%8s %d %d", slot, &piece, &fallback);
    const int luck = rand() % 100;
    if (luck < 3)
        return f;
    f.verdict = JOURNAL_FAIL;
    if (luck < 7 && !fallback)
        snprintf(f.next, sizeof f.next, "%s %d 1", slot, piece);
    if (luck < 8)
        return f;
    const bool lost = luck == 8;
    char line[256];
    snprintf(line, sizeof line, "%s %s %s %d %d\n", l->conn, l->turn, l->body, l->in_doubt, lost);
    write_line(h->service, line);
    pass_point(h, "after-send-before-record");
    f = (struct send_result){.verdict = lost ? JOURNAL_RETRY : JOURNAL_SENT, .in_doubt = lost};
    if (!lost && piece == 1 && (strcmp(slot, "final") == 0 || strcmp(slot, "error") == 0))
        snprintf(f.next, sizeof f.next, "after 1 0");
    return f;
}

/* Returns true if no row replaces the sent one. */
static bool send_one(struct host *h, const struct row_copy *l)
{
    if (l->outcome) {
        expand(h, l);
        return false;
    }
    require_done(journal_start_attempt(h->j, l->seq));
    const struct send_result f = deliver(h, l);
    const struct journal_request next = {
        .turn = l->turn, .lane = l->lane, .body = {f.next, strlen(f.next)}};
    const struct journal_settlement s = {
        .verdict = f.verdict,
        .in_doubt = f.in_doubt,
        .reason = "refused",
        .requests = &next,
        .n = *f.next != '\0',
    };
    require_done(journal_settle_row(h->j, l->seq, &s, take_seqs(h, s.n)));
    return f.verdict != JOURNAL_RETRY && s.n == 0;
}

/* Sends up to `most` rows of each connector, in their order. */
static void send_some(struct host *h, int most)
{
    for (int c = 0; c < CONNS; c++) {
        struct row_copies all = {.n = 0};
        require_done(journal_list_rows(h->j, conns[c], copy_row, &all));
        for (int i = 0; i < all.n && i < most && send_one(h, &all.at[i]);)
            i++;
    }
}

/* Arms a timer that kills the host at a random time. */
static void arm_timer(long microseconds)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    timer_t timer;
    const struct itimerspec at = {.it_value = {0, microseconds * 1000}};
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) < 0 || timer_settime(timer, 0, &at, NULL) < 0)
        _exit(5);
}

static int count_lines(const char *path)
{
    int n = 0;
    FILE *const f = fopen(path, "re");
    for (int c; f && (c = getc(f)) != EOF;)
        n += c == '\n';
    if (f)
        fclose(f);
    return n;
}

struct opened {
    struct {
        char id[32];
        bool waiting;
    } turns[8];
    int n;
};

static void copy_turn(void *ctx, const struct journal_turn *t)
{
    struct opened *const o = ctx;
    if (o->n == sizeof o->turns / sizeof *o->turns)
        _exit(7); /* this host never has that many turns */
    snprintf(o->turns[o->n].id, sizeof o->turns->id, "%s", t->id);
    o->turns[o->n++].waiting = t->waiting;
}

static void end_open_turns(struct host *h)
{
    struct opened o = {.n = 0};
    require_done(journal_list_open_turns(h->j, copy_turn, &o));
    for (int i = 0; i < o.n; i++) {
        if (o.turns[i].waiting)
            require_done(journal_begin_turn(h->j, o.turns[i].id, NULL, NULL, 0));
        finish(h, o.turns[i].id, o.turns[i].waiting ? NULL : "host_restart");
    }
}

static void start_host(struct host *h)
{
    /* Each run of the host is later than the previous one. */
    clock_fake(1000, 1800000000 + h->run * 10);
    h->acks = open(h->w->acks, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    h->service = open(h->w->service, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    h->message = count_lines(h->w->acks);
    h->j =
        journal_open(&(struct journal_spec){.dir = h->w->dir, .point = on_point, .ctx = h}, NULL);
    if (!h->j)
        _exit(6);
    h->next_seq = journal_last_seq(h->j) + 1;
    end_open_turns(h);
}

/* Runs the host until it is killed. `crash_at` NULL: by the timer. */
static void run_until_killed(const struct world *w, int run, const char *crash_at)
{
    srand(w->seed + (unsigned)run);
    struct host h = {.w = w, .run = run, .crash_at = crash_at, .hits = 1 + rand() % 6};
    /* Dead letters are rare. */
    if (crash_at && strcmp(crash_at, "after-deadletter") == 0)
        h.hits = 1;
    if (!crash_at)
        arm_timer(500 + rand() % 60000);
    start_host(&h);
    for (int n = 0; n < 150; n++) {
        const struct turn t = begin_turn(&h);
        for (int step = rand() % 4; step > 0; step--) {
            work_on(&h, &t, step);
            send_some(&h, 2);
        }
        finish(&h, t.id, rand() % 5 ? NULL : "agent_exit");
        for (int i = 0; i < 4; i++)
            send_some(&h, 2);
        clock_fake_advance(1);
    }
    /* The point was never passed. */
    raise(SIGKILL);
}

/* The last run sends all waiting rows, and ends normally. */
static void run_to_end(const struct world *w, int run)
{
    srand(w->seed + (unsigned)run);
    struct host h = {.w = w, .run = run};
    start_host(&h);
    struct journal_stats stats;
    do {
        send_some(&h, AHEAD);
        require_done(journal_read_stats(h.j, &stats));
    } while (stats.queued || stats.in_flight);
    require_done(journal_prune(h.j));
    journal_close(h.j);
    _exit(0);
}

/* ---- the loop */

/* Runs the host in a child. Returns true if it ended as expected. */
static bool run_host_once(const struct world *w, int run, const char *crash_at, bool last)
{
    const pid_t child = fork();
    if (child == 0) {
        if (last)
            run_to_end(w, run);
        run_until_killed(w, run, crash_at);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child)
        bail("waitpid");
    const bool as_wanted = last ? WIFEXITED(status) && WEXITSTATUS(status) == 0
                                : WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (!as_wanted)
        diag("run %d (%s) ended with status %#x", run, crash_at ? crash_at : "timer",
             (unsigned)status);
    return as_wanted;
}

static struct world make_world(const char *name, const char *split_at)
{
    struct world w = {.seed = 20261121, .split_at = split_at};
    const char *const seed = getenv("TURNCAST_SEED");
    if (seed)
        w.seed = (unsigned)strtoul(seed, NULL, 10);
    snprintf(w.dir, sizeof w.dir, "%s/%s", tap_tmpdir(), name);
    snprintf(w.acks, sizeof w.acks, "%s/%s.acks", tap_tmpdir(), name);
    snprintf(w.service, sizeof w.service, "%s/%s.service", tap_tmpdir(), name);
    diag("seed %u", w.seed);
    return w;
}

static void test_kills(int kills)
{
    const struct world w = make_world("whole", NULL);
    bool as_wanted = true;
    /* Once by the timer, then twice at a point. */
    for (int i = 0; i < kills; i++)
        as_wanted &= run_host_once(&w, i, i % 3 ? points[(size_t)(i / 3) % POINTS] : NULL, false);
    ok(as_wanted, "%d runs of the host end by SIGKILL only", kills);
    ok(run_host_once(&w, kills, NULL, true), "the last run sends all waiting rows");
    struct sql *const db = kill_load(w.dir, w.service, w.acks, kills);
    for (const struct question *q = kill_counts; q->name; q++)
        diag("%s: %lld", q->name, (long long)kill_ask(db, q->sql));
    ok(kill_is_sound(db), "the database is intact");
    ok(kill_ask(db, kill_counts[0].sql) >= kills, "each run has handled messages");
    for (const struct question *q = kill_wrong; q->name; q++)
        is_int(kill_ask(db, q->sql), 0, "%s", q->name);
    sql_close(db);
}

/* The host with a split transaction must violate a condition. */
static void test_mutation(const char *name, const char *split_at, int kills, int broken)
{
    const struct world w = make_world(name, split_at);
    for (int i = 0; i < kills; i++)
        run_host_once(&w, i, i % 2 ? split_at : NULL, false);
    run_host_once(&w, kills, NULL, true);
    struct sql *const db = kill_load(w.dir, w.service, w.acks, kills);
    const int64_t n = kill_ask(db, kill_wrong[broken].sql);
    ok(n > 0, "the split transaction \"%s\" is detected: \"%s\": %lld", split_at,
       kill_wrong[broken].name, (long long)n);
    sql_close(db);
}

int main(void)
{
    plan_lazy();
    const char *const is_long = getenv("TURNCAST_LONG");
    const int log = open("/dev/null", O_WRONLY | O_CLOEXEC);
    log_setup(LOG_TEXT, LOG_WARN, log);
    test_kills(is_long && strcmp(is_long, "1") == 0 ? 300 : 30);
    test_mutation("outcome", "in-outcome", 10, WRONG_PIECES);
    test_mutation("settle", "in-settle", 10, WRONG_REPEATS);
    close(log);
    return 0;
}
