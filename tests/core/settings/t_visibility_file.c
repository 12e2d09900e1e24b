/* SPDX-License-Identifier: MIT
 * The files in which agenticore keeps the switches of agents: read, replaced, and which of two
 * stores counts. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/settings/shown.h"
#include "core/settings/visibility_file.h"
#include "core/settings/visibility_store.h"
#include "tap/tap.h"

static char directory[400], path[500], state[400];

static void put(const char *text, time_t when)
{
    FILE *const f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
    const struct timespec times[] = {{when, 0}, {when, 0}};
    utimensat(AT_FDCWD, path, times, 0);
}

static const char *load(struct visibility_store *s)
{
    struct tc_err err = {0};
    struct visibility v;
    return visibility_store_load(s, "main", &v, &err) < 0 ? "" : show_of(v);
}

static void test_values(void)
{
    struct visibility_row row = {0};
    struct tc_err err = {0};
    put("{\"show_thinking\": 1, \"show_tools\": \"On\", \"show_text\": null, \"show_final\": 0.5}",
        5);
    is_int(visibility_file_read(directory, "main", &row, &err), 1,
           "values that are not Boolean are read");
    is_str(show_of(row.shown), "11001", "values that agenticore takes as true");
    put("{\"show_thinking\": 0, \"show_tools\": \"maybe\", \"show_final\": []}", 5);
    is_int(visibility_file_read(directory, "main", &row, &err), 1, "other values are read");
    is_str(show_of(row.shown), "00110", "values that agenticore takes as false");
}

static void test_file(void)
{
    struct visibility_row row = {0};
    struct tc_err err = {0};
    char text[300] = "";
    is_int(visibility_file_read(directory, "main", &row, &err), 0,
           "a missing file is not an error");
    put("{\"show_thinking\": true, \"show_tools\": false, \"other\": [1]}", 5);
    is_int(visibility_file_read(directory, "main", &row, &err), 1, "a file is read");
    is_str(show_of(row.shown), "10111", "missing keys have the defaults of agenticore");
    is_int(row.saved_ms, 5000, "the time of the file is read");
    put("[true]", 5);
    is_int(visibility_file_read(directory, "main", &row, &err), -1,
           "a file that is not an object is an error");
    ok(strstr(err_format(&err), path), "the error has the path: %s", err_format(&err));
    is_int(visibility_file_write(directory, "main", row.shown, &err), 0, "the file is replaced");
    FILE *const f = fopen(path, "r");
    ok(f && fgets(text, sizeof text, f), "the replaced file is read");
    if (f)
        fclose(f);
    is_str(text,
           "{\"show_thinking\": true, \"show_tools\": false, \"show_text\": true, "
           "\"show_narration\": true, \"show_final\": true}",
           "the file has the format of agenticore");
    struct stat st = {0};
    is_int(stat(path, &st) == 0 ? st.st_mode & 07777 : 0, 0600, "the file has mode 0600");
}

static void test_store(void)
{
    const struct conf conf = {
        .state_dir = state,
        .show = {-1, -1, -1, -1, -1},
        .store = {.stream_config = directory},
    };
    struct tc_err err = {0};
    struct visibility_store *const s = visibility_store_new(&conf);
    unlink(path);
    is_str(load(s), "00111", "without a file the defaults are read");
    put("{\"show_tools\": true}", 1000);
    is_str(load(s), "01111", "the file of agenticore is read");
    const struct visibility v = shown("10111");
    is_int(visibility_store_save(s, "main", v, &err), STICKY_SAVED, "a change is saved");
    struct visibility_row row;
    is_int(visibility_file_read(directory, "main", &row, &err), 1, "the change is in the file");
    is_str(show_of(row.shown), "10111", "the file has the changed values");
    put("{\"show_tools\": true}", 1000);
    is_str(load(s), "10111", "an older file does not replace the stored values");
    put("{\"show_tools\": true}", 4000000000);
    is_str(load(s), "01111", "a newer file replaces the stored values");
    visibility_store_free(s);
}

int main(void)
{
    plan(21);
    snprintf(directory, sizeof directory, "%s/stream_config", tap_tmpdir());
    snprintf(path, sizeof path, "%s/main.json", directory);
    snprintf(state, sizeof state, "%s/state", tap_tmpdir());
    mkdir(directory, 0700);
    test_file();
    test_values();
    test_store();
    return 0;
}
