/* SPDX-License-Identifier: MIT
 * A small host is killed again and again, at named points and at any moment; afterwards every
 * admitted turn has one outcome that was told to everybody or is a dead letter.
 *
 * The host runs in a child: it takes messages from a source that repeats what was not
 * acknowledged, and delivers to a service that is a file. The same host with its outcome torn
 * into two transactions must be caught, or the check is worth nothing. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "io/journal.h"
#include "io/sql.h"
#include "tap/tap.h"

#define CONNS 2

static const char *const conns[CONNS] = {"tg", "slack"};
static const char *const points[] = {
    "after-admit", "after-ack",    "in-outcome",       "after-outcome-commit",
    "before-send", "after-record", "after-deadletter", "after-send-before-record",
};
#define POINTS (sizeof points / sizeof *points)

struct world {
    char dir[600], acks[600], service[600]; /* the state, and two files outside of the host */
    unsigned seed;
    bool torn; /* the mutation: an outcome in two transactions */
};

struct host {
    const struct world *w;
    struct journal *j;
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
    if (h->w->torn && strcmp(name, "in-outcome") == 0 &&
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
    if (status != JOURNAL_DONE && status != JOURNAL_UNCHANGED)
        _exit(4);
}

static const char *conv_of(int message)
{
    static const char *const convs[] = {"c0", "c1", "c2"};
    return convs[message % 3];
}

/* Takes the next message; the turn's id tells the run that admitted it. */
static void take_message(struct host *h, char *id, size_t size)
{
    char msg[32], line[32];
    snprintf(id, size, "t%d-r%d", h->message, h->run);
    snprintf(msg, sizeof msg, "m%d", h->message);
    const struct journal_turn t = {
        .id = id, .agent = "a", .conv = conv_of(h->message), .source = "s", .msg_id = msg};
    must(journal_admit(h->j, &t, NULL));
    snprintf(line, sizeof line, "%d\n", h->message);
    tell(h->acks, line);
    reached(h, "after-ack");
    h->message++;
}

static void work_on(struct host *h, const char *id, int message, int step)
{
    for (int c = 0; c < CONNS; c++) {
        char body[64];
        snprintf(body, sizeof body, "%s at step %d", id, step);
        const struct journal_target t = {conns[c], conv_of(message), {body, strlen(body)}};
        must(journal_put(h->j, JOURNAL_LIVE, id, &t));
    }
}

static void finish(struct host *h, const char *id, int message, const char *error)
{
    struct journal_target to[CONNS];
    for (int c = 0; c < CONNS; c++)
        to[c] = (struct journal_target){conns[c], conv_of(message), STR("the end")};
    must(journal_end_turn(h->j, &(struct journal_outcome){id, error, to, CONNS}));
}

/* The service takes it, or answers 503, or takes it and the answer is lost, or refuses it. */
static struct journal_answer deliver(struct host *h, const struct journal_row *row)
{
    static const char *const slots[] = {"final", "error", "notice", "live"};
    const int luck = rand() % 100;
    if (luck < 3)
        return (struct journal_answer){.verdict = JOURNAL_RETRY, .delay_ms = 5};
    if (luck == 3 && row->slot != JOURNAL_LIVE)
        return (struct journal_answer){.verdict = JOURNAL_REJECT, .reason = "refused"};
    const bool lost = luck == 4;
    char line[256];
    snprintf(line, sizeof line, "%s %s %s %d %d %d\n", row->conn, row->turn, slots[row->slot],
             (int)row->gen, row->in_doubt, lost);
    tell(h->service, line);
    reached(h, "after-send-before-record");
    if (lost)
        return (struct journal_answer){.verdict = JOURNAL_RETRY, .delay_ms = 5, .in_doubt = true};
    return (struct journal_answer){.verdict = JOURNAL_SENT, .remote_id = "9"};
}

/* Sends up to `most` rows; true when something was due. */
static bool send_some(struct host *h, int most)
{
    bool any = false;
    for (int i = 0; i < most; i++)
        for (int c = 0; c < CONNS; c++) {
            struct journal_row row;
            const enum journal_status status = journal_claim(h->j, conns[c], NULL, &row);
            must(status);
            if (status != JOURNAL_DONE)
                continue;
            const struct journal_answer a = deliver(h, &row);
            must(journal_record(h->j, &row, &a));
            journal_row_fini(&row);
            any = true;
        }
    return any;
}

static size_t told_to(void *ctx, const struct journal_turn *t,
                      const struct journal_target **targets)
{
    static struct journal_target to[CONNS];
    (void)ctx;
    for (int c = 0; c < CONNS; c++)
        to[c] = (struct journal_target){conns[c], t->conv, STR("the host was restarted")};
    *targets = to;
    return CONNS;
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

static void start_host(struct host *h)
{
    /* Each life of the host is later than the one before. */
    clock_fake(1000, 1800000000 + h->run * 10);
    h->acks = open(h->w->acks, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    h->service = open(h->w->service, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    h->message = count_lines(h->w->acks);
    h->j =
        journal_open(&(struct journal_spec){.dir = h->w->dir, .point = on_point, .ctx = h}, NULL);
    if (!h->j || journal_end_open_turns(h->j, told_to, h) < 0)
        _exit(6);
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
    for (int turn = 0; turn < 150; turn++) {
        char id[32];
        const int message = h.message;
        take_message(&h, id, sizeof id);
        for (int step = rand() % 4; step > 0; step--) {
            work_on(&h, id, message, step);
            send_some(&h, 1);
        }
        finish(&h, id, message, rand() % 5 ? NULL : "agent_exit");
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
        send_some(&h, 100);
        clock_fake_advance(10);
        must(journal_stats(h.j, &stats));
    } while (stats.waiting || stats.in_flight);
    journal_close(h.j);
    _exit(0);
}

/* ---- the check, in the parent */

/* Questions to the state and to the service's file, which is loaded as the table told. An answer
 * above zero to one of `wrong` is a broken promise. */
struct question {
    const char *name, *sql;
};

#define OUTCOME(x) x ".slot in('final','error')"
#define EARLIER(condition)                                                                         \
    "exists(select 1 from told e where e.conn=t.conn and e.turn=t.turn and e.seq<t.seq"            \
    " and " condition ")"

static const struct question wrong[] = {
    {"acknowledged messages without a turn",
     "select (select count(*) from acked) - (select count(*) from inbox where msg_id in"
     " (select 'm'||message from acked))"},
    {"messages with two turns",
     "select count(*)-count(distinct substr(id, 1, instr(id,'-'))) from turn"},
    {"turns without an outcome", "select count(*) from turn where state='running'"},
    {"outcomes that were neither told nor are dead letters",
     "select count(*) from turn t, (select 'tg' conn union all select 'slack') c"
     " where not exists(select 1 from told e where e.conn=c.conn and e.turn=t.id and"
     " e.slot=t.state) and not exists(select 1 from dead d where d.conn=c.conn and d.turn=t.id"
     " and d.slot=t.state)"},
    {"outcomes told that are not the turn's",
     "select count(*) from told t where " OUTCOME(
         "t") " and not exists"
              " (select 1 from turn where id=t.turn and state=t.slot)"},
    {"live edits after the outcome",
     "select count(*) from told t where t.slot='live' and " EARLIER(OUTCOME("e"))},
    {"generations that go back", "select count(*) from told t where t.slot='live' and " EARLIER(
                                     "e.slot='live' and e.gen>t.gen")},
    {"repeats of what was not in doubt",
     "select count(*) from told t where t.in_doubt=0 and " EARLIER(
         "e.slot=t.slot and e.gen=t.gen")},
    {"repeats that neither a kill nor a lost answer explains",
     "select max(0, (select count(*) from told t where " EARLIER(
         "e.slot=t.slot and e.gen=t.gen") ") - (select kills from lives)"
                                          " - (select count(*) from told where lost))"},
};
static const struct question counts[] = {
    {"messages acknowledged", "select count(*) from acked"},
    {"turns", "select count(*) from turn"},
    {"of them interrupted", "select count(*) from turn where code='host_restart'"},
    {"deliveries", "select count(*) from told"},
    {"of them repeats",
     "select count(*) from told t where " EARLIER("e.slot=t.slot and e.gen=t.gen")},
    {"answers lost", "select count(*) from told where lost"},
    {"dead letters", "select count(*) from dead"},
};

static int64_t ask(struct sql *db, const char *text)
{
    int64_t n = -1;
    if (sql_number(db, text, &n) < 0)
        bail("%s: %s", text, sql_message(db));
    return n;
}

static void load_told(struct sql *db, const char *path)
{
    FILE *const f = fopen(path, "re");
    char conn[8], turn[32], slot[8];
    int gen, in_doubt, lost;
    while (f && fscanf(f, "%7s %31s %7s %d %d %d", conn, turn, slot, &gen, &in_doubt, &lost) == 6)
        if (sql_run(db,
                    "insert into told(conn,turn,slot,gen,in_doubt,lost) values(?1,?2,?3,?4,?5,?6)",
                    sql_text(conn), sql_text(turn), sql_text(slot), sql_int(gen), sql_int(in_doubt),
                    sql_int(lost)) < 0)
            bail("%s", sql_message(db));
    if (f)
        fclose(f);
}

static void load_acks(struct sql *db, const char *path)
{
    FILE *const f = fopen(path, "re");
    int message;
    while (f && fscanf(f, "%d", &message) == 1)
        if (sql_run(db, "insert into acked values(?1)", sql_int(message)) < 0)
            bail("%s", sql_message(db));
    if (f)
        fclose(f);
}

static struct sql *load(const struct world *w, int kills)
{
    char path[700];
    snprintf(path, sizeof path, "%s/state.db", w->dir);
    enum sql_failure failure;
    struct sql *const db = sql_open(path, &failure, NULL);
    if (!db || sql_script(db, "begin; create table acked(message integer);"
                              "create table lives(kills integer);"
                              "create table told(seq integer primary key, conn text, turn text,"
                              " slot text, gen integer, in_doubt integer, lost integer);"
                              "create index told_receiver on told(conn, turn);") < 0)
        bail("the state cannot be read");
    load_told(db, w->service);
    load_acks(db, w->acks);
    if (sql_run(db, "insert into lives values(?1)", sql_int(kills)) < 0 ||
        sql_script(db, "commit") < 0)
        bail("%s", sql_message(db));
    return db;
}

static bool is_sound(struct sql *db)
{
    struct sql_rows rows = sql_select(db, "pragma integrity_check");
    const bool sound = sql_next(&rows) && str_is(sql_column_text(&rows, 0), "ok");
    return sql_end(&rows) == 0 && sound;
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

static struct world make_world(const char *name, bool torn)
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
    const struct world w = make_world("whole", false);
    bool as_wanted = true;
    /* By turns the timer and a point, each point twice in a row. */
    for (int i = 0; i < kills; i++)
        as_wanted &= run_life(&w, i, i % 2 ? points[(size_t)(i / 4) % POINTS] : NULL, false);
    ok(as_wanted, "%d lives end by SIGKILL and nothing else", kills);
    ok(run_life(&w, kills, NULL, true), "the last one sends all that waits");
    struct sql *const db = load(&w, kills);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        diag("%s: %lld", counts[i].name, (long long)ask(db, counts[i].sql));
    ok(is_sound(db), "the state is sound");
    ok(ask(db, counts[0].sql) >= kills, "the lives were busy");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        is_int(ask(db, wrong[i].sql), 0, "%s", wrong[i].name);
    sql_close(db);
}

static void test_mutation(int kills)
{
    const struct world w = make_world("torn", true);
    for (int i = 0; i < kills; i++)
        run_life(&w, i, i % 2 ? "in-outcome" : NULL, false);
    run_life(&w, kills, NULL, true);
    struct sql *const db = load(&w, kills);
    const int64_t lost = ask(db, wrong[3].sql);
    ok(lost > 0, "an outcome in two transactions is caught: \"%s\": %lld", wrong[3].name,
       (long long)lost);
    sql_close(db);
}

int main(void)
{
    plan_lazy();
    const char *const is_long = getenv("TURNCAST_LONG");
    const int log = open("/dev/null", O_WRONLY | O_CLOEXEC);
    log_setup(LOG_TEXT, LOG_WARN, log);
    test_kills(is_long && strcmp(is_long, "1") == 0 ? 300 : 30);
    test_mutation(10);
    close(log);
    return 0;
}
