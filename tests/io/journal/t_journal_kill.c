/* SPDX-License-Identifier: MIT
 * A small host is killed again and again, at named points and at any moment; afterwards every
 * admitted turn has one outcome, and everybody was told all of it or what is missing is a dead
 * letter.
 *
 * The host runs in a child: it takes messages from a source that repeats what was not
 * acknowledged, and delivers to a service that is a file. An outcome is told in one to three
 * pieces; the answer to the first brings a request of its own, a refusal a fallback. The same host
 * with one of its transactions torn in two must be caught, or the check is worth nothing. */
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
#define AHEAD 16 /* rows read at once */

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
    const char *torn; /* the mutation: the transaction with this point is two; or NULL */
};

struct host {
    const struct world *w;
    struct journal *j;
    int64_t next_seq;
    int acks, service;
    int run;
    int message; /* the next one of the source */
    const char *crash_at;
    int hits; /* of crash_at, until it kills */
};

/* ---- the host, in the child */

static void reached(struct host *h, const char *name)
{
    if (h->crash_at && strcmp(h->crash_at, name) == 0 && --h->hits == 0)
        raise(SIGKILL);
}

static void on_point(void *ctx, struct sql *db, const char *name)
{
    struct host *const h = ctx;
    if (h->w->torn && strcmp(name, h->w->torn) == 0 &&
        (sql_script(db, "commit") < 0 || sql_script(db, "begin immediate") < 0))
        _exit(2);
    reached(h, name);
}

/* One write, as a request that is whole on the wire or not there. */
static void tell(int fd, const char *line)
{
    if (write(fd, line, strlen(line)) != (ssize_t)strlen(line))
        _exit(3);
}

static void must(enum journal_status status)
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

/* "t12-r3" is message 12, admitted by life 3. */
static int message_of(const char *turn)
{
    return (int)strtol(turn + 1, NULL, 10);
}

static const char *lane_of(int message)
{
    static const char *const lanes[] = {"c0", "c1", "c2"};
    return lanes[message % 3];
}

/* Takes the next message. What comes again has one of its ids only. */
static struct turn take_message(struct host *h, bool waiting)
{
    struct turn t = {.message = h->message};
    char msg[32], also[32], line[32];
    snprintf(t.id, sizeof t.id, "t%d-r%d", t.message, h->run);
    snprintf(msg, sizeof msg, "m%d-r%d", t.message, h->run);
    snprintf(also, sizeof also, "c%d", t.message);
    must(journal_admit_turn(h->j,
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
    tell(h->acks, line);
    reached(h, "after-ack");
    h->message++;
    return t;
}

/* A turn that runs: at once, after waiting, or with another message merged into it. */
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
        must(journal_cancel_turn(h->j, take_message(h, true).id));
    }
    must(journal_begin_turn(h->j, t.id, NULL, merged, luck == 0));
    return t;
}

static void work_on(struct host *h, const struct turn *t, int step)
{
    char body[64];
    snprintf(body, sizeof body, "note %d 0", step);
    const struct journal_request r = {
        .turn = t->id, .lane = lane_of(t->message), .body = {body, strlen(body)}};
    for (int c = 0; c < CONNS; c++) {
        must(journal_memory_put(h->j, conns[c], t->id, body));
        must(journal_add_requests(h->j, conns[c], &r, 1, take_seqs(h, 1)));
    }
}

static void finish(struct host *h, const char *id, const char *error)
{
    const struct str body = error ? STR("error") : STR("final");
    struct journal_target to[CONNS];
    for (int c = 0; c < CONNS; c++)
        to[c] = (struct journal_target){conns[c], lane_of(message_of(id)), body};
    must(journal_end_turn(
        h->j, &(struct journal_outcome){.turn = id, .error = error, .targets = to, .n = CONNS},
        take_seqs(h, CONNS)));
}

/* A row, copied. Its body is "slot piece fallback", or the slot alone of an outcome. */
struct letter {
    int64_t seq;
    bool outcome, in_doubt;
    char conn[8], lane[8], turn[32], body[32];
};

struct letters {
    struct letter at[AHEAD];
    int n;
};

static void copy_row(void *ctx, const struct journal_row *row)
{
    struct letters *const all = ctx;
    if (all->n == AHEAD)
        return;
    struct letter *const l = &all->at[all->n++];
    l->seq = row->seq;
    l->outcome = row->kind == JOURNAL_OUTCOME;
    l->in_doubt = row->in_doubt;
    snprintf(l->conn, sizeof l->conn, "%s", row->conn);
    snprintf(l->lane, sizeof l->lane, "%s", row->lane);
    snprintf(l->turn, sizeof l->turn, "%s", row->turn);
    snprintf(l->body, sizeof l->body, "%.*s", (int)row->body.len, row->body.p);
}

static void expand(struct host *h, const struct letter *l)
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
    must(journal_settle_outcome(h->j, l->conn, l->turn, &s, take_seqs(h, n)));
}

/* What comes of a request, and what body (or "") stands in its place afterwards. */
struct fate {
    enum journal_result verdict;
    bool in_doubt;
    char next[32];
};

/* The service takes it, or answers 503, or takes it and the answer is lost, or refuses it. */
static struct fate deliver(struct host *h, const struct letter *l)
{
    struct fate f = {.verdict = JOURNAL_RETRY};
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
    tell(h->service, line);
    reached(h, "after-send-before-record");
    f = (struct fate){.verdict = lost ? JOURNAL_RETRY : JOURNAL_SENT, .in_doubt = lost};
    if (!lost && piece == 1 && (strcmp(slot, "final") == 0 || strcmp(slot, "error") == 0))
        snprintf(f.next, sizeof f.next, "after 1 0");
    return f;
}

/* True when nothing is left in its place. */
static bool send_one(struct host *h, const struct letter *l)
{
    if (l->outcome) {
        expand(h, l);
        return false;
    }
    must(journal_start_attempt(h->j, l->seq));
    const struct fate f = deliver(h, l);
    const struct journal_request next = {
        .turn = l->turn, .lane = l->lane, .body = {f.next, strlen(f.next)}};
    const struct journal_settlement s = {
        .verdict = f.verdict,
        .in_doubt = f.in_doubt,
        .reason = "refused",
        .requests = &next,
        .n = *f.next != '\0',
    };
    must(journal_settle_row(h->j, l->seq, &s, take_seqs(h, s.n)));
    return f.verdict != JOURNAL_RETRY && s.n == 0;
}

/* Sends up to `most` rows of each connector, in their order. */
static void send_some(struct host *h, int most)
{
    for (int c = 0; c < CONNS; c++) {
        struct letters all = {.n = 0};
        must(journal_list_rows(h->j, conns[c], copy_row, &all));
        for (int i = 0; i < all.n && i < most && send_one(h, &all.at[i]);)
            i++;
    }
}

/* SIGKILL from outside, at a moment nothing in the host chose. */
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
        _exit(7); /* this host never has so many */
    snprintf(o->turns[o->n].id, sizeof o->turns->id, "%s", t->id);
    o->turns[o->n++].waiting = t->waiting;
}

static void end_open_turns(struct host *h)
{
    struct opened o = {.n = 0};
    must(journal_list_open_turns(h->j, copy_turn, &o));
    for (int i = 0; i < o.n; i++) {
        if (o.turns[i].waiting)
            must(journal_begin_turn(h->j, o.turns[i].id, NULL, NULL, 0));
        finish(h, o.turns[i].id, o.turns[i].waiting ? NULL : "host_restart");
    }
}

static void start_host(struct host *h)
{
    /* Each life of the host is later than the one before. */
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

/* One life: turns until it is killed. `crash_at` NULL: by the timer. */
static void live_once(const struct world *w, int run, const char *crash_at)
{
    srand(w->seed + (unsigned)run);
    struct host h = {.w = w, .run = run, .crash_at = crash_at, .hits = 1 + rand() % 6};
    /* A dead letter is rare. */
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
    /* Still alive: a point that never comes. */
    raise(SIGKILL);
}

/* The last life ends well: all that waits is sent. */
static void live_last(const struct world *w, int run)
{
    srand(w->seed + (unsigned)run);
    struct host h = {.w = w, .run = run};
    start_host(&h);
    struct journal_stats stats;
    do {
        send_some(&h, AHEAD);
        must(journal_read_stats(h.j, &stats));
    } while (stats.queued || stats.in_flight);
    must(journal_prune(h.j));
    journal_close(h.j);
    _exit(0);
}

/* ---- the loop */

/* In a child; true when it ended as it should. */
static bool run_life(const struct world *w, int run, const char *crash_at, bool last)
{
    const pid_t child = fork();
    if (child == 0) {
        if (last)
            live_last(w, run);
        live_once(w, run, crash_at);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child)
        bail("waitpid");
    const bool as_wanted = last ? WIFEXITED(status) && WEXITSTATUS(status) == 0
                                : WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (!as_wanted)
        diag("life %d (%s) ended with status %#x", run, crash_at ? crash_at : "timer",
             (unsigned)status);
    return as_wanted;
}

static struct world make_world(const char *name, const char *torn)
{
    struct world w = {.seed = 20261121, .torn = torn};
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
    /* The timer once, then a point twice. */
    for (int i = 0; i < kills; i++)
        as_wanted &= run_life(&w, i, i % 3 ? points[(size_t)(i / 3) % POINTS] : NULL, false);
    ok(as_wanted, "%d lives end by SIGKILL and nothing else", kills);
    ok(run_life(&w, kills, NULL, true), "the last one sends all that waits");
    struct sql *const db = kill_load(w.dir, w.service, w.acks, kills);
    for (const struct question *q = kill_counts; q->name; q++)
        diag("%s: %lld", q->name, (long long)kill_ask(db, q->sql));
    ok(kill_is_sound(db), "the state is sound");
    ok(kill_ask(db, kill_counts[0].sql) >= kills, "the lives were busy");
    for (const struct question *q = kill_wrong; q->name; q++)
        is_int(kill_ask(db, q->sql), 0, "%s", q->name);
    sql_close(db);
}

/* The host with a torn transaction breaks a promise. */
static void test_mutation(const char *name, const char *torn, int kills, int broken)
{
    const struct world w = make_world(name, torn);
    for (int i = 0; i < kills; i++)
        run_life(&w, i, i % 2 ? torn : NULL, false);
    run_life(&w, kills, NULL, true);
    struct sql *const db = kill_load(w.dir, w.service, w.acks, kills);
    const int64_t n = kill_ask(db, kill_wrong[broken].sql);
    ok(n > 0, "torn \"%s\" is caught: \"%s\": %lld", torn, kill_wrong[broken].name, (long long)n);
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
