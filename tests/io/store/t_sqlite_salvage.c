/* SPDX-License-Identifier: MIT
 * Of a damaged file the readable rows are kept, and the log says how many. */
#include "io/store/sqlite_salvage.h"

#include <signal.h>
#include <sys/wait.h>

#include "io/store_kit.h"

#define PAGE 4096

static const char *const tables[] = {
    "create table r(id text primary key, body text not null check(body>'')) strict;"
    "create index r_body on r(length(body));"
    "create table k(a text, b text, body text, primary key(a, b)) strict, without rowid;"
    "create index k_body on k(length(body));"
    "create table q(n integer primary key autoincrement, body text) strict;"
    "pragma user_version=1;",
    "alter table r add column extra text default 'new';"
    "create table later(n integer primary key);"
    "pragma user_version=2;",
    NULL};

/* The first version of `tables`, 200 rows in each; the last ten of q are deleted. */
static const char *make_tables(void)
{
    const char *const version_1[] = {tables[0], NULL};
    const char *const dir = new_folder();
    struct store *const s = open_store(dir, version_1);
    if (!s ||
        sql_script(store_get_sql(s),
                   "with recursive i(n) as (select 1 union all select n+1 from i where n<200)"
                   " insert into r select printf('r%03d', n), printf('%.1500c', 'x') from i;"
                   "with recursive i(n) as (select 1 union all select n+1 from i where n<200)"
                   " insert into k select 'k', printf('%03d', n), printf('%.1500c', 'x') from i;"
                   "with recursive i(n) as (select 1 union all select n+1 from i where n<200)"
                   " insert into q(body) select printf('%.1500c', 'x') from i;"
                   "delete from q where n>190;") < 0)
        bail("cannot make tables: %s", err_format(&why));
    store_close(s);
    return dir;
}

static int64_t number_in(struct store *s, const char *query)
{
    int64_t n = -1;
    return !s || sql_select_int(store_get_sql(s), query, &n) < 0 ? -1 : n;
}

/* The page in which a row of r begins: its text is in no other. */
static off_t page_of(const char *dir, const char *needle, int which)
{
    size_t size = 0;
    char *const file = tap_slurp(path_in(dir, "state.db"), &size);
    off_t found = 0;
    for (off_t at = PAGE; !found && at + PAGE <= (off_t)size; at += PAGE)
        if (file[at] == 13 && memmem(file + at, PAGE, needle, strlen(needle)) && !which--)
            found = at;
    free(file);
    if (!found)
        bail("no page has %s", needle);
    return found;
}

static struct store *reopen_damaged(const char *dir)
{
    leave_lock(dir);
    tap_spew(log_path, "", 0);
    struct store *const s = open_store(dir, tables);
    ok(s != NULL, "the store opens (%s)", err_format(&why));
    is_int(count_matches(dir, "state.db.bad.*[0-9]"), 1, "the damaged file is kept");
    is_int(count_matches(dir, "state.db.salvaged*"), 0,
           "the copy has been renamed to the state file");
    is_int(mode_of(path_in(dir, "state.db")), 0600, "the copy has the mode of the file");
    is_int(number_in(s, "pragma user_version"), 2, "the copy is migrated");
    return s;
}

static void test_salvage_pages(void)
{
    const char *const dir = make_tables();
    overwrite(path_in(dir, "state.db"), page_of(dir, "r050", 0), PAGE);
    overwrite(path_in(dir, "state.db"), page_of(dir, "r120", 0), PAGE);
    struct store *const s = reopen_damaged(dir);
    is_int(number_in(s, "select count(*) from r"), 196, "two damaged pages cost two rows each");
    is_int(number_in(s, "select count(*) from r where extra='new'"), 196,
           "the rows are in the new schema");
    is_int(number_in(s, "select count(*) from r where id between 'r053' and 'r117'"), 65,
           "rows between the damaged pages are kept");
    is_int(number_in(s, "select max(rowid) from r"), 200, "a row keeps its position");
    ok(log_contains("r: 196 rows kept, 4 lost; k: 200 rows kept; q: 190 rows kept\n"),
       "the log has the number of rows per table");
    is_int(number_in(s, "insert into q(body) values('x') returning n"), 201,
           "no number is assigned twice");
    store_close(s);
}

static void test_salvage_without_rowid(void)
{
    const char *const dir = make_tables();
    size_t size = 0;
    char *const file = tap_slurp(path_in(dir, "state.db"), &size);
    off_t at = 0;
    for (off_t page = PAGE; !at && page < (off_t)size; page += PAGE)
        if (file[page] == 10 && memmem(file + page, PAGE, "k100xx", 6))
            at = page;
    free(file);
    overwrite(path_in(dir, "state.db"), at, PAGE);
    struct store *const s = reopen_damaged(dir);
    const int64_t kept = number_in(s, "select count(*) from k");
    ok(kept >= 190 && kept < 200, "a table without rowids is read from both ends: %d of 200",
       (int)kept);
    is_int(number_in(s, "select count(*) from k where b in('001', '200')"), 2,
           "a table without rowids is read from both ends");
    is_int(number_in(s, "select count(*) from r"), 200, "other tables are complete");
    store_close(s);
}

static void test_salvage_rows(void)
{
    const char *const dir = make_tables();
    struct store *s = open_store(dir, (const char *const[]){tables[0], NULL});
    if (!s ||
        sql_script(store_get_sql(s), "update r set body='@' where id in('r007', 'r009');") < 0)
        bail("update");
    store_close(s);
    size_t size = 0;
    char *const file = tap_slurp(path_in(dir, "state.db"), &size);
    char *const bad = memmem(file, size, "r007@", 5);
    char *const key = memmem(file, size, "r009@", 5);
    if (!bad || !key)
        bail("no rows");
    memcpy(bad, "rxxx", 4);
    key[1] = 0;
    tap_spew(path_in(dir, "state.db"), file, size);
    free(file);
    s = reopen_damaged(dir);
    is_int(number_in(s, "select count(*) from r"), 199, "a row with a NUL in its key is lost");
    is_int(number_in(s, "select count(*) from r where id='rxxx'"), 1, "the index is rebuilt");
    ok(log_contains("r: 199 rows kept, 1 lost;"), "the log reports the lost row");
    store_close(s);
}

static void test_salvage_unknown(void)
{
    const char *const dir = make_tables();
    truncate_file(path_in(dir, "state.db"), 40 * PAGE);
    struct store *const s = reopen_damaged(dir);
    const int64_t kept = number_in(s, "select count(*) from r");
    ok(kept > 30 && kept < 200, "the beginning of a truncated file is kept: %d", (int)kept);
    ok(log_contains("q: 0 rows kept, an unknown number lost"),
       "unknown losses are reported as unknown");
    store_close(s);
}

/* After a clean stop nothing of a current version is checked; what is to be migrated is. */
static void test_salvage_before_migration(void)
{
    const char *const dir = make_tables();
    overwrite(path_in(dir, "state.db"), page_of(dir, "r050", 0), PAGE);
    struct store *const s = open_store(dir, tables);
    ok(s != NULL, "a damaged file of an older version, after a clean stop: %s", err_format(&why));
    is_int(number_in(s, "select count(*) from r where extra='new'"), 198,
           "the damaged file is recovered");
    store_close(s);
}

static void test_salvage_version(void)
{
    const char *const dir = make_tables();
    store_close(open_store(dir, tables));
    static const char zero[4];
    const int fd = open(path_in(dir, "state.db"), O_WRONLY | O_CLOEXEC);
    if (fd < 0 || pwrite(fd, zero, 4, 60) != 4)
        bail("pwrite");
    close(fd);
    struct store *const s = reopen_damaged(dir);
    is_int(number_in(s, "select count(*) from r where extra='new'"), 200,
           "without its version a file is recognised by its columns");
    store_close(s);
}

static void die_in_salvage(void *ctx, struct sql *db, const char *name)
{
    (void)ctx;
    (void)db;
    if (strcmp(name, "mid-salvage") == 0)
        raise(SIGKILL);
}

static void test_death_in_salvage(void)
{
    const char *const dir = make_tables();
    overwrite(path_in(dir, "state.db"), page_of(dir, "r050", 0), PAGE);
    tap_spew(path_in(dir, "state.db.salvaged"), "left by an earlier death", 24);
    const pid_t child = fork();
    if (child == 0) {
        store_open(&(struct store_spec){.dir = dir, .schema = tables, .point = die_in_salvage},
                   NULL);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    ok(WIFSIGNALED(status), "killed between the two renames");
    struct store *const s = open_store(dir, tables);
    is_int(number_in(s, "select count(*) from r"), 198, "the next start has the recovered rows");
    is_int(count_matches(dir, "state.db.bad.*[0-9]"), 1, "the next start sets no other file aside");
    store_close(s);
}

static void test_salvage_without_room(void)
{
    const char *const dir = make_tables();
    overwrite(path_in(dir, "state.db"), page_of(dir, "r050", 0), PAGE);
    limit_file_size(200000);
    ok(!open_store(dir, tables), "without space for the copy the store does not open");
    limit_file_size(RLIM_INFINITY);
    has_str(why.text, "is damaged; cannot copy its rows to ", "and says why");
    is_int(count_matches(dir, "state.db.bad.*"), 0, "the damaged file is not moved");
    struct store *const s = open_store(dir, tables);
    is_int(number_in(s, "select count(*) from r"), 198, "with space the file is recovered");
    store_close(s);
}

static void test_newer_format(void)
{
    const char *const dir = make_tables();
    const int fd = open(path_in(dir, "state.db"), O_WRONLY | O_CLOEXEC);
    if (fd < 0 || pwrite(fd, "\3", 1, 18) != 1)
        bail("pwrite");
    close(fd);
    ok(!open_store(dir, tables), "a file format that can only be read is refused");
    has_str(why.text, "is read-only: its file format is newer than this SQLite", "for that");
    is_int(count_matches(dir, "state.db.bad.*"), 0, "the file is not moved");
}

int main(void)
{
    plan_lazy();
    const int log = open_log();
    test_salvage_pages();
    test_salvage_without_rowid();
    test_salvage_rows();
    test_salvage_unknown();
    test_salvage_before_migration();
    test_salvage_version();
    test_death_in_salvage();
    test_salvage_without_room();
    test_newer_format();
    close(log);
    return 0;
}
