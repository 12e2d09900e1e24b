/* SPDX-License-Identifier: MIT
 * Fuzz target: the journal of a host that died, cut and overwritten as the input says. It opens,
 * or is set aside, or is refused for its version; what can be read is settled, and no turn has two
 * outcomes.
 *
 * The first byte: bit 0, the log that was not yet in the file is there; bit 1, the host had said
 * that it stops. Then five bytes for each damage: what and where (see `damages`), at, and a byte.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "io/journal/journal.h"
#include "io/store/sql.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TURNS 6
#define BROKEN() (fprintf(stderr, "%s:%d: a promise is broken\n", __FILE__, __LINE__), abort())
#define MOST_DAMAGES 16

static const char *const conns[] = {"tg", "log"};

/* ---- files ---- */

static char dir[64];

static const char *in_dir(const char *name)
{
    static char path[400];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

struct image {
    char *p;
    size_t n;
};

static struct image slurp(const char *name)
{
    struct image file = {0};
    struct stat st;
    const int fd = open(in_dir(name), O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        BROKEN();
    file.n = (size_t)st.st_size;
    file.p = xmalloc(file.n);
    if (read(fd, file.p, file.n) != st.st_size)
        BROKEN();
    close(fd);
    return file;
}

static void spew(const char *name, const char *p, size_t n)
{
    const int fd = open(in_dir(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, p, n) != (ssize_t)n)
        BROKEN();
    close(fd);
}

/* All but the reserve, which takes long to make. */
static void sweep(void)
{
    DIR *const d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));)
        if (*e->d_name != '.' && strcmp(e->d_name, "reserve") != 0)
            unlink(in_dir(e->d_name));
    if (d)
        closedir(d);
}

static bool was_set_aside(void)
{
    DIR *const d = opendir(dir);
    bool found = false;
    for (struct dirent *e; d && (e = readdir(d));)
        found |= strncmp(e->d_name, "state.db.bad.", 13) == 0;
    if (d)
        closedir(d);
    return found;
}

/* ---- the journal, whole ---- */

static struct image whole, half, rest; /* all in the file; a part of it, and the log of the rest */

static void must(enum journal_status status)
{
    if (status != JOURNAL_DONE)
        BROKEN();
}

static void must_end(struct journal *j, const char *turn, const char *error)
{
    struct journal_target to[2];
    for (size_t c = 0; c < 2; c++)
        to[c] = (struct journal_target){conns[c], "c", STR("{\"type\":\"final\"}")};
    must(journal_end_turn(
        j, &(struct journal_outcome){.turn = turn, .error = error, .targets = to, .n = 2},
        journal_last_seq(j) + 1));
}

static struct journal *open_journal(struct tc_err *err)
{
    return journal_open(&(struct journal_spec){.dir = dir}, err);
}

/* Turns that run, wait and have ended; rows that wait and that were on the wire; a dead letter. */
static void work(struct journal *j, int from)
{
    for (int i = from; i < from + TURNS / 2; i++) {
        char id[8], msg[8];
        snprintf(id, sizeof id, "t%d", i);
        snprintf(msg, sizeof msg, "m%d", i);
        must(journal_admit_turn(j,
                                &(struct journal_turn){.id = id,
                                                       .agent = "a",
                                                       .conv = "c",
                                                       .source = "tg",
                                                       .msg_id = msg,
                                                       .waiting = i % 3 == 2,
                                                       .prompt = "hello",
                                                       .route = "{}",
                                                       .seen = "tg\nlog"},
                                NULL));
        if (i % 3 == 1)
            must_end(j, id, i % 2 ? NULL : "timeout");
        must(journal_memory_put(j, "tg", id, "where it is shown"));
    }
    const struct journal_request r = {.turn = "t1", .lane = "c", .body = STR("a request")};
    const int64_t seq = journal_last_seq(j) + 1;
    for (int i = 0; i < 3; i++)
        must(journal_add_requests(j, "tg", &r, 1, seq + i));
    must(journal_start_attempt(j, seq));
    must(journal_settle_row(j, seq + 1, &(struct journal_settlement){.verdict = JOURNAL_FAIL},
                            seq + 3));
    must(journal_kv_put(j, "session:a:c", STR("s-1")));
}

static void make_journal(void)
{
    snprintf(dir, sizeof dir, "%s/turncast-fuzz.XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(dir))
        BROKEN();
    const int log = open("/dev/null", O_WRONLY | O_CLOEXEC);
    log_setup(LOG_TEXT, LOG_WARN, log);
    clock_fake(1000, 1800000000);
    struct journal *j = open_journal(NULL);
    work(j, 0);
    journal_checkpoint(j);
    work(j, TURNS / 2);
    half = slurp("state.db");
    rest = slurp("state.db-wal");
    journal_close(j);
    whole = slurp("state.db");
}

static void remove_folder(void)
{
    sweep();
    unlink(in_dir("reserve"));
    rmdir(dir);
    free(whole.p);
    free(half.p);
    free(rest.p);
}

/* ---- damage ---- */

static void cut(struct image *file, size_t at, uint8_t byte)
{
    (void)byte;
    file->n = at;
}

static void turn_bits(struct image *file, size_t at, uint8_t byte)
{
    file->p[at] = (char)((uint8_t)file->p[at] ^ byte);
}

static void overwrite(struct image *file, size_t at, uint8_t byte)
{
    const size_t n = file->n - at < 512 ? file->n - at : 512;
    memset(file->p + at, byte, n);
}

/* A page that was never written, or twice. */
static void misplace(struct image *file, size_t at, uint8_t byte)
{
    const size_t from = (size_t)byte * 4096 % file->n, to = at & ~(size_t)4095;
    const size_t n = file->n - (from > to ? from : to);
    memmove(file->p + to, file->p + from, n < 4096 ? n : 4096);
}

static void (*const damages[])(struct image *file, size_t at, uint8_t byte) = {turn_bits, overwrite,
                                                                               misplace, cut};

static struct image damaged(const struct image *file, const uint8_t *data, size_t size, bool is_log)
{
    struct image copy = {xmalloc(file->n), file->n};
    memcpy(copy.p, file->p, file->n);
    for (size_t i = 0; i + 5 <= size && i < (size_t)5 * MOST_DAMAGES; i += 5) {
        const size_t at = (size_t)data[i + 1] << 16 | (size_t)data[i + 2] << 8 | data[i + 3];
        if (((data[i] & 0x80) != 0) == is_log && copy.n)
            damages[(data[i] & 0x7f) % 4](&copy, at % copy.n, data[i + 4]);
    }
    return copy;
}

static void lay_out(const uint8_t *data, size_t size)
{
    const bool with_log = size && data[0] & 1, clean = size && data[0] & 2;
    struct image db = damaged(with_log ? &half : &whole, data + 1, size ? size - 1 : 0, false);
    spew("state.db", db.p, db.n);
    free(db.p);
    if (with_log) {
        struct image log = damaged(&rest, data + 1, size - 1, true);
        spew("state.db-wal", log.p, log.n);
        free(log.p);
    }
    spew("lock", "1\n", clean ? 0 : 2);
}

/* ---- what becomes of it ---- */

/* What says of itself that another program has made it, another SQLite among them, stays where it
 * is, for who knows better: no damage could be told from that. */
static bool is_refused(const struct tc_err *err)
{
    static const char *const words[] = {"has schema",          "journal schema",
                                        "cannot migrate from", "unsupported file format",
                                        "is read-only",        "no such"};
    bool found = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        found |= strstr(err->text, words[i]) != NULL;
    return found;
}

struct list {
    char ids[64][JOURNAL_MAX_KEY + 1];
    bool waiting[64];
    size_t n;
};

static void add_turn(void *ctx, const struct journal_turn *t)
{
    struct list *const l = ctx;
    if (l->n == 64 || !t->id)
        return;
    snprintf(l->ids[l->n], sizeof l->ids[l->n], "%s", t->id);
    l->waiting[l->n++] = t->waiting;
}

static void touch_row(void *ctx, const struct journal_row *row)
{
    size_t *const bytes = ctx;
    *bytes +=
        row->body.len + strlen(row->turn ? row->turn : "") + strlen(row->lane ? row->lane : "");
}

static void touch_dead(void *ctx, const struct journal_dead *d)
{
    size_t *const bytes = ctx;
    *bytes += strlen(d->conn ? d->conn : "") + strlen(d->reason ? d->reason : "");
}

/* Whatever can be read is ended, once. An operation may find damage, and fails then. False: the
 * turns cannot be read, and a host does not start. */
static bool settle(struct journal *j)
{
    struct list *const open = xcalloc(1, sizeof *open);
    size_t bytes = 0;
    const int64_t seq = journal_last_seq(j) + 1;
    const bool readable = journal_list_open_turns(j, add_turn, open) == JOURNAL_DONE;
    if (!readable)
        open->n = 0;
    for (size_t i = 0; i < open->n; i++) {
        const struct journal_target to = {"tg", "c", STR("x")};
        const struct journal_outcome o = {
            .turn = open->ids[i], .error = "host_restart", .targets = &to, .n = 1};
        if (open->waiting[i] && journal_cancel_turn(j, o.turn) == JOURNAL_FAILED)
            continue;
        const enum journal_status first = journal_end_turn(j, &o, seq + (int64_t)i),
                                  again = journal_end_turn(j, &o, seq + 100 + (int64_t)i);
        if (first == JOURNAL_DONE && again == JOURNAL_DONE)
            BROKEN();
    }
    for (size_t c = 0; c < 2; c++)
        if (journal_list_rows(j, conns[c], touch_row, &bytes) == JOURNAL_FAILED)
            break;
    struct journal_stats stats;
    if (journal_dead_list(j, NULL, touch_dead, &bytes) == JOURNAL_DONE &&
        journal_prune(j) == JOURNAL_DONE)
        bytes += journal_read_stats(j, &stats) == JOURNAL_DONE;
    journal_checkpoint(j);
    free(open);
    return readable;
}

static int64_t number(struct sql *db, const char *text)
{
    int64_t n = -1;
    return sql_select_int(db, text, &n) < 0 ? -1 : n;
}

static void check_sound(void)
{
    enum sql_failure failure;
    struct sql *const db = sql_open(in_dir("state.db"), &failure, NULL);
    if (!db)
        BROKEN();
    struct sql_rows rows = sql_select(db, "pragma integrity_check");
    if (!sql_next(&rows) || !str_is(sql_column_text(&rows, 0), "ok") || sql_finish(&rows) < 0)
        BROKEN();
    if (number(db, "select count(*) from turn where ended_at is null and"
                   " state in('waiting','running')") != 0 ||
        number(db, "select count(*) from (select 1 from outbox where kind='outcome'"
                   " group by turn, conn having count(*)>1)") != 0)
        BROKEN();
    sql_close(db);
}

/* False: no host starts. */
static bool live(void)
{
    struct tc_err err = {0};
    struct journal *const j = open_journal(&err);
    if (!j && !is_refused(&err)) {
        fprintf(stderr, "%s\n", err_format(&err));
        BROKEN();
    }
    if (!j)
        return false;
    const bool readable = settle(j);
    journal_close(j);
    return readable;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!*dir) {
        make_journal();
        atexit(remove_folder);
    }
    sweep();
    lay_out(data, size);
    live();
    live();
    /* What those have found only as they worked, or not at all, this one sets aside. */
    spew("lock", "1\n", 2);
    if (!live())
        return 0;
    check_sound();
    if (size < 6 && was_set_aside())
        BROKEN(); /* nothing was damaged */
    return 0;
}
