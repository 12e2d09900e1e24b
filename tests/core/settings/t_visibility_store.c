/* SPDX-License-Identifier: MIT
 * Stored switches without Redis: what is read over what, the file's mode, damaged files, names of
 * agents, two processes at once. */
#include "core/settings/visibility_store.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/settings/visibility_sqlite.h"
#include "io/store/sql.h"
#include "core/settings/shown.h"
#include "tap/tap.h"

static char state[400];
static struct conf conf;

static const char *at(const char *file)
{
    static char path[700];
    snprintf(path, sizeof path, "%s/%s", state, file);
    return path;
}

static void fresh(const char *name)
{
    snprintf(state, sizeof state, "%s/%s", tap_tmpdir(), name);
    conf = (struct conf){.state_dir = state, .show = {-1, -1, -1, -1, -1}};
}

static unsigned files_in(const char *path)
{
    unsigned n = 0;
    DIR *d = opendir(path);
    for (const struct dirent *e; d && (e = readdir(d));)
        n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
    if (d)
        closedir(d);
    return n;
}

/* What another process would read. */
static const char *load(const char *agent)
{
    struct tc_err err = {0};
    struct visibility v;
    struct visibility_store *const s = visibility_store_new(&conf);
    const int rc = visibility_store_load(s, agent, &v, &err);
    visibility_store_free(s);
    return rc < 0 ? err_format(&err) : show_of(v);
}

static enum visibility_store_result save(const char *agent, const char *bits, struct tc_err *err)
{
    struct visibility_store *const s = visibility_store_new(&conf);
    const enum visibility_store_result saved = visibility_store_save(s, agent, shown(bits), err);
    visibility_store_free(s);
    return saved;
}

static void test_round_trip(void)
{
    struct tc_err err = {0};
    fresh("one");
    is_str(load("main"), "00111", "without a stored value the defaults are read");
    is_str(load(NULL), "00111", "without an agent the defaults are read");
    ok(access(state, F_OK) < 0, "reading creates no file");
    is_int(save("main", "01101", &err), STICKY_SAVED, "saved: %s", err_format(&err));
    is_str(load("main"), "01101", "the saved value is read");
    is_int(save("main", "10010", &err), STICKY_SAVED, "the value is saved again");
    is_str(load("main"), "10010", "the value saved last is read");
    is_str(load("other"), "00111", "another agent has its own value");
    conf.show[1] = 1;
    is_str(load("other"), "01111", "an agent without a stored value has the configured one");
    is_str(load("main"), "10010", "an agent with a stored value keeps it");
    struct stat st;
    stat(at("visibility.db"), &st);
    is_int(st.st_mode & 07777, 0600, "the file has mode 0600");
    stat(state, &st);
    is_int(st.st_mode & 07777, 0700, "the directory has mode 0700");
    is_int(files_in(state), 1, "the directory has no other file");
}

static void test_names(void)
{
    static const char *const names[] = {"", ".", "..", ".hidden", "a/b", "a b", "a:b", "\xc3\xa4"};
    struct tc_err err;
    fresh("names");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        err = (struct tc_err){0};
        ok(strstr(load(names[i]), "invalid agent name"), "no load for \"%s\"", names[i]);
        is_int(save(names[i], "11111", &err), STICKY_FAILED,
               "a value with an invalid agent name is not saved");
    }
    char name[102];
    memset(name, 'a', 101);
    name[101] = 0;
    is_int(save(name, "11111", &err), STICKY_FAILED, "an agent name of 101 bytes is refused");
    name[100] = 0;
    is_int(save(name, "11111", &err), STICKY_SAVED, "an agent name of 100 bytes is accepted");
}

static void test_damage(void)
{
    struct tc_err err = {0};
    fresh("damaged");
    save("main", "11111", &err);
    tap_spew(at("visibility.db"), "no database at all, but long enough to be looked at", 51);
    ok(strstr(load("main"), "damaged: cannot read"), "a damaged file is reported: %s",
       load("main"));
    struct visibility v;
    struct visibility_store *const s = visibility_store_new(&conf);
    is_int(visibility_store_load(s, "main", &v, NULL), -1, "loading a damaged file fails");
    is_str(show_of(v), "00111", "the configured value is returned for a damaged file");
    visibility_store_free(s);
    is_int(save("main", "01000", &err), STICKY_SAVED,
           "the next change replaces the damaged file: %s", err_format(&err));
    is_str(load("main"), "01000", "the change is read from the new file");
    ok(access(at("visibility.db.damaged"), F_OK) == 0,
       "the damaged file is kept under another name");
    tap_spew(at("visibility.db"), "", 0);
    is_str(load("main"), "00111", "an empty file has no stored value");
    is_int(save("main", "01000", &err), STICKY_SAVED, "a value is saved to an empty file");
}

static void test_newer(void)
{
    struct tc_err err = {0};
    enum sql_failure failure;
    fresh("newer");
    save("main", "11111", &err);
    struct sql *const db = sql_open(at("visibility.db"), &failure, &err);
    ok(sql_script(db, "pragma user_version=2") == 0, "the schema version of the file is increased");
    sql_close(db);
    ok(strstr(load("main"), "schema 2 is newer than the supported schema 1"),
       "a file of a newer version is not read");
    is_int(save("main", "00000", &err), STICKY_FAILED, "a file of a newer version is not written");
    ok(access(at("visibility.db.damaged"), F_OK) < 0, "a file of a newer version is not set aside");
}

static void test_links(void)
{
    struct tc_err err = {0};
    char other[700];
    fresh("elsewhere");
    save("main", "11111", &err);
    snprintf(other, sizeof other, "%s", at("visibility.db"));
    fresh("links");
    mkdir(state, 0700);
    is_int(symlink(other, at("visibility.db")), 0, "a symbolic link replaces the file");
    ok(strstr(load("main"), "cannot open"), "the symbolic link is not followed by a read");
    is_int(save("main", "00000", &err), STICKY_FAILED,
           "the symbolic link is not followed by a write");
    fresh("file");
    tap_spew(state, "x", 1);
    is_int(save("main", "00000", &err), STICKY_FAILED, "a state directory that is a file");
}

#define WRITERS 4
#define WRITES 25

static void test_together(void)
{
    struct tc_err err = {0};
    fresh("together");
    for (int i = 0; i < WRITERS; i++)
        if (fork() == 0) {
            char name[16];
            int bad = 0;
            snprintf(name, sizeof name, "a%d", i);
            for (int n = 0; n < WRITES; n++)
                bad |= save(name, n % 2 ? "11111" : "01010", &err) != STICKY_SAVED ||
                       strcmp(load(name), n % 2 ? "11111" : "01010") != 0;
            _exit(bad);
        }
    int bad = 0;
    for (int status; wait(&status) > 0;)
        bad |= status;
    is_int(bad, 0, "%d processes write and read at the same time", WRITERS);
    is_str(load("a3"), "01010", "the last value of a process is stored");
}

int main(void)
{
    plan_lazy();
    test_round_trip();
    test_names();
    test_damage();
    test_newer();
    test_links();
    test_together();
    return 0;
}
