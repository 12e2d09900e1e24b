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
    is_int(visibility_file_read(directory, "main", &row, &err), 1, "values that are not Boolean");
    is_str(show_of(row.shown), "11001", "are on as agenticore takes them");
    put("{\"show_thinking\": 0, \"show_tools\": \"maybe\", \"show_final\": []}", 5);
    is_int(visibility_file_read(directory, "main", &row, &err), 1, "others");
    is_str(show_of(row.shown), "00110", "are off");
}

static void test_file(void)
{
    struct visibility_row row = {0};
    struct tc_err err = {0};
    char text[300] = "";
    is_int(visibility_file_read(directory, "main", &row, &err), 0, "there is no file");
    put("{\"show_thinking\": true, \"show_tools\": false, \"other\": [1]}", 5);
    is_int(visibility_file_read(directory, "main", &row, &err), 1, "a file is read");
    is_str(show_of(row.shown), "10111", "what it does not say is as in agenticore");
    is_int(row.saved_ms, 5000, "its time");
    put("[true]", 5);
    is_int(visibility_file_read(directory, "main", &row, &err), -1, "another value is an error");
    ok(strstr(err_format(&err), path), "with its path: %s", err_format(&err));
    is_int(visibility_file_write(directory, "main", row.shown, &err), 0, "it is replaced");
    FILE *const f = fopen(path, "r");
    ok(f && fgets(text, sizeof text, f), "and is there");
    if (f)
        fclose(f);
    is_str(text,
           "{\"show_thinking\": true, \"show_tools\": false, \"show_text\": true, "
           "\"show_narration\": true, \"show_final\": true}",
           "as agenticore writes it");
    struct stat st = {0};
    is_int(stat(path, &st) == 0 ? st.st_mode & 07777 : 0, 0600, "for its owner only");
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
    is_str(load(s), "00111", "nothing is stored");
    put("{\"show_tools\": true}", 1000);
    is_str(load(s), "01111", "what agenticore has stored");
    const struct visibility v = shown("10111");
    is_int(visibility_store_save(s, "main", v, &err), STICKY_SAVED, "a change");
    struct visibility_row row;
    is_int(visibility_file_read(directory, "main", &row, &err), 1, "is in the file");
    is_str(show_of(row.shown), "10111", "as it is here");
    put("{\"show_tools\": true}", 1000);
    is_str(load(s), "10111", "an older file does not count");
    put("{\"show_tools\": true}", 4000000000);
    is_str(load(s), "01111", "a later one does");
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
