/* SPDX-License-Identifier: MIT
 * Checks the guarantees on a directory of recordings: each complete, one byte at a time, and cut at
 * every position. For developers: `make sweep RECORDINGS=FOLDER`. The name of a subdirectory gives
 * the dialect of its recordings. Prints each violation and fails if there was one. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "dialect/adds_up.h"
#include "dialect/cast.h"
#include "tap/tap.h"

#define RANDOM_CUTS 100
#define WORK_MAX ((size_t)1 << 30) /* bytes per file: more cuts than that are sampled */

struct totals {
    const struct dialect *dialect; /* of the folder at hand, or NULL */
    size_t files, casts, violations, events;
    size_t sampled, strange;
};

static void complain(struct totals *t, const char *path, const char *where, const char *what)
{
    t->violations++;
    printf("%s: %s: %s\n", path, where, what);
}

static void sweep_bytes(struct totals *t, const char *path, const char *p, size_t n,
                        const char *wanted)
{
    struct cast c;
    t->casts++;
    cast_init(&c, t->dialect, true);
    for (size_t i = 0; i < n; i++)
        cast_feed(&c, p + i, 1);
    if (cast_end(&c) || strcmp(c.told.p, wanted) != 0)
        complain(t, path, "a byte at a time", "other events");
    cast_fini(&c);
}

static void sweep_whole(struct totals *t, const char *path, const char *p, size_t n)
{
    struct cast c;
    char why[512] = "";
    cast_init(&c, t->dialect, true);
    cast_feed(&c, p, n);
    const char *const broken = cast_end(&c);
    t->casts++;
    t->events += c.seq;
    if (broken)
        complain(t, path, "whole", broken);
    if (c.first != TC_START || c.last != TC_DONE)
        complain(t, path, "whole", "not from start to done");
    if (c.counts[TC_START] != 1 || c.counts[TC_DONE] != 1)
        complain(t, path, "whole", "start or done more than once");
    if (c.counts[TC_FINAL] + c.counts[TC_ERROR] != 1)
        complain(t, path, "whole", "not exactly one of final and error");
    if (c.counts[TC_TOOL_CALL] != c.counts[TC_TOOL_RESULT])
        complain(t, path, "whole", "calls without results");
    if (c.falls)
        complain(t, path, "whole", "seq does not rise");
    if (strcmp(t->dialect->name, "claude") == 0 && !adds_up(p, n, c.told.p, why))
        complain(t, path, "whole", why);
    sweep_bytes(t, path, p, n, c.told.p);
    cast_fini(&c);
}

static void sweep_cut(struct totals *t, const char *path, const char *p, size_t n, const char *how)
{
    char broken[256], where[64];
    t->casts++;
    if (cast_keeps(t->dialect, p, n, false, broken) && cast_keeps(t->dialect, p, n, true, broken))
        return;
    snprintf(where, sizeof(where), "%s, %zu bytes", how, n);
    complain(t, path, where, broken);
}

static void sweep_lines(struct totals *t, const char *path, const char *p, size_t n)
{
    size_t lines = 0;
    for (size_t i = 0; i < n; i++)
        lines += p[i] == '\n';
    const size_t step = 1 + lines * n / 2 / WORK_MAX;
    t->sampled += step > 1;
    for (size_t i = 0, line = 0; i < n; i++)
        if (p[i] == '\n' && line++ % step == 0)
            sweep_cut(t, path, p, i + 1, "cut after a line");
}

static void sweep_file(struct totals *t, const char *path)
{
    size_t n;
    char *const p = tap_slurp(path, &n);
    t->files++;
    sweep_whole(t, path, p, n);
    sweep_lines(t, path, p, n);
    uint32_t seed = 20260728;
    for (int i = 0; i < RANDOM_CUTS && n; i++)
        sweep_cut(t, path, p, cast_random(&seed) % n, "cut");
    free(p);
}

static bool is_recording(const char *name)
{
    const size_t len = strlen(name);
    return len > 6 && strcmp(name + len - 6, ".jsonl") == 0 && !strstr(name, ".dialog.") &&
           !strstr(name, ".in.");
}

/* "codex-old" holds codex, "gemini-acp" and "codex-acp2" hold acp; else the folder above says. */
static const struct dialect *dialect_of(const char *folder, const struct dialect *above)
{
    char name[64];
    snprintf(name, sizeof(name), "%s", folder);
    if (strstr(name, "-acp"))
        return dialect_find("acp");
    if (strstr(name, "-old"))
        *strstr(name, "-old") = '\0';
    const struct dialect *const found = dialect_find(name);
    return found ? found : above;
}

static void sweep_folder(struct totals *t, const char *folder)
{
    struct dirent **entries;
    const struct dialect *const above = t->dialect;
    const char *const slash = strrchr(folder, '/');
    t->dialect = dialect_of(slash ? slash + 1 : folder, above);
    const int n = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[4096];
        struct stat st;
        snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] == '.' || stat(path, &st) < 0)
            ;
        else if (S_ISDIR(st.st_mode))
            sweep_folder(t, path);
        else if (is_recording(entries[i]->d_name) && t->dialect)
            sweep_file(t, path);
        else
            t->strange += is_recording(entries[i]->d_name);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    t->dialect = above;
}

int main(int argc, char **argv)
{
    struct totals t = {0};
    for (int i = 1; i < argc; i++)
        sweep_folder(&t, argv[i]);
    printf("%zu files, %zu casts, %zu events, %zu files with cuts sampled, %zu files of no known "
           "dialect, %zu violations\n",
           t.files, t.casts, t.events, t.sampled, t.strange, t.violations);
    return t.violations > 0 || t.files == 0;
}
