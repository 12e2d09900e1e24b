/* SPDX-License-Identifier: MIT
 * Stored switches: what is read over what, the file's mode, damaged files, names of agents. */
#include "core/sticky.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap/tap.h"

static char state[400];

/* Path of a stored file, until the call after the next. */
static const char *at(const char *file)
{
    static char paths[2][700];
    static unsigned turn;
    char *path = paths[turn++ % 2];
    snprintf(path, sizeof paths[0], "%s/visibility/%s", state, file);
    return path;
}

static const char *show_of(struct visibility v)
{
    static char out[VISIBILITY_KEYS + 1];
    for (size_t i = 0; i < VISIBILITY_KEYS; i++)
        out[i] = "-01"[*visibility_slot(&v, i) + 1];
    return out;
}

static struct visibility unset(void)
{
    return (struct visibility){SHOW_UNSET, SHOW_UNSET, SHOW_UNSET, SHOW_UNSET, SHOW_UNSET};
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

static void test_round_trip(void)
{
    struct tc_err err = {0};
    struct visibility v = unset();
    is_int(sticky_load(state, "main", &v, &err), 0, "nothing stored is no error");
    is_str(show_of(v), "-----", "and changes nothing");

    v = visibility_default();
    v.tools = SHOW_ON;
    v.final = SHOW_OFF;
    is_int(sticky_save(state, "main", v, &err), 0, "saved: %s", err_str(&err));
    struct visibility back = unset();
    is_int(sticky_load(state, "main", &back, &err), 0, "loaded");
    is_str(show_of(back), "01110", "what was saved");
    v.tools = SHOW_OFF;
    is_int(sticky_save(state, "main", v, &err), 0, "saved over it");
    is_int(sticky_load(state, "main", &back, &err), 0, "loaded");
    is_str(show_of(back), "00110", "the newer one");
    is_int(sticky_load(state, "other", &back, &err), 0, "another agent");
    is_str(show_of(back), "00110", "has its own");
}

static void test_modes(void)
{
    struct stat st;
    is_int(stat(at("main.json"), &st), 0, "the file");
    is_int(st.st_mode & 07777, 0600, "is private");
    is_int(stat(at(""), &st), 0, "its folder");
    is_int(st.st_mode & 07777, 0700, "too");
    is_int(stat(state, &st), 0, "and the folder above, made on the way");
    is_int(st.st_mode & 07777, 0700, "too");
    is_int(files_in(at("")), 1, "no temporary file stays");
    char *text = tap_slurp(at("main.json"), NULL);
    is_str(text,
           "{\"show_thinking\":false,\"show_tools\":false,\"show_text\":true,"
           "\"show_narration\":true,\"show_final\":false}\n",
           "its bytes");
    free(text);
}

static void test_values(void)
{
    static const struct {
        const char *text, *show;
    } rows[] = {
        {"{}", "-----"},
        {"{\"show_tools\":true}", "-1---"},
        {"{\"show_tools\":\"1\",\"show_final\":\"0\"}", "-1--0"},
        {"{\"show_tools\":\"Yes\",\"show_text\":\"off\"}", "-10--"},
        {"{\"show_thinking\":1,\"show_narration\":0}", "1--0-"},
        {"{\"show_tools\":null,\"else\":[1]}", "-----"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct visibility v = unset();
        struct tc_err err = {0};
        tap_spew(at("a.json"), rows[i].text, strlen(rows[i].text));
        is_int(sticky_load(state, "a", &v, &err), 0, "%s", rows[i].text);
        is_str(show_of(v), rows[i].show, "is read as %s", rows[i].show);
    }
}

static void test_damaged(void)
{
    static const char *const rows[] = {
        "",
        "{",
        "{\"show_tools\":tru",
        "[true]",
        "1",
        "{} trailing",
        "{\"show_tools\":true,\"show_tools\":false}",
        "{\"show_final\":true,\"show_tools\":[true]}",
        "\xff\xfe",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct visibility v = visibility_default();
        struct tc_err err = {0};
        tap_spew(at("b.json"), rows[i], strlen(rows[i]));
        is_int(sticky_load(state, "b", &v, &err), -1, "damaged: %s", rows[i]);
        has_str(err.text, "damaged: ", "says so: %s", err.text);
        is_str(err.place, at("b.json"), "and where");
        is_str(show_of(v), "00111", "nothing of it is used");
    }
    struct tc_err err = {0};
    is_int(sticky_save(state, "b", visibility_default(), &err), 0, "saving over a damaged file");
    char *kept = tap_slurp(at("b.json.damaged"), NULL);
    is_str(kept, "\xff\xfe", "keeps it beside");
    free(kept);
    struct visibility v = unset();
    is_int(sticky_load(state, "b", &v, &err), 0, "and heals");
    is_str(show_of(v), "00111", "it");
}

static void test_refused(void)
{
    static const char *const names[] = {"",   ".",   "..",   "../x",    "a/b",
                                        ".a", "a b", "a\nb", "\xc3\xa9"};
    struct visibility v = unset();
    struct tc_err err = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        is_int(sticky_load(state, names[i], &v, &err), -1, "no load for \"%s\"", names[i]);
        is_int(sticky_save(state, names[i], v, &err), -1, "no save");
    }
    char name[102];
    memset(name, 'x', 101);
    name[101] = 0;
    is_int(sticky_save(state, name, v, &err), -1, "101 bytes are too many");
    name[100] = 0;
    is_int(sticky_save(state, name, v, &err), 0, "100 are not");

    if (symlink(at("main.json"), at("link.json")) == 0)
        is_int(sticky_load(state, "link", &v, &err), -1, "a link is not followed");
    static char spaces[70000];
    tap_spew(at("big.json"), memset(spaces, ' ', sizeof spaces), sizeof spaces);
    is_int(sticky_load(state, "big", &v, &err), -1, "a huge file is not read");

    tap_spew(at("file"), "", 0);
    char dir[700];
    snprintf(dir, sizeof dir, "%s/x", at("file"));
    is_int(sticky_save(dir, "a", v, &err), -1, "a state directory that cannot be");
    has_str(err.text, "Not a directory", "says why");
}

int main(void)
{
    plan_lazy();
    snprintf(state, sizeof state, "%s/deep/state", tap_tmpdir());
    test_round_trip();
    test_modes();
    test_values();
    test_damaged();
    test_refused();
    return 0;
}
