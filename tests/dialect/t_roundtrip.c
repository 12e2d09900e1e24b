/* SPDX-License-Identifier: MIT
 * Read a dialect, write the same one: every line of tests/dialects/NAME comes back byte for
 * byte. What the dialect cannot express or a turn does not keep in place is listed here, by
 * number, so that nothing else can get lost. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dialect/rewrite.h"
#include "tap/tap.h"

/* Who is written by whom. */
static const struct pair {
    const char *dialect, *writer;
} pairs[] = {
    {"ag-ui", "ag-ui"},
    {"reasonix", "reasonix"},
    {"ethos", "ethos"},
    {"ethos-web", "ethos"},
};

/* Lines that do not come back, that come back earlier, and that were not there. */
static const struct exception {
    const char *name;
    int lost, moved, added;
    const char *why;
} exceptions[] = {
    {"ethos/halted", 0, 0, 1, "a rejected call is started, too"},
    {"ethos/error-then-done", 1, 0, 0, "an error is the end"},
    {"ethos/kinds", 1, 1, 3, "the start comes first, open calls are ended, the answer is streamed"},
    {"ethos/script", 0, 1, 1, "done is last, the answer is streamed"},
    {"ethos/spellings", 1, 0, 0, "an error is the end"},
    {"ethos-web/push", 0, 1, 0, "the start comes first"},
    {"ethos-web/turn", 4, 1, 1, "the turn is over when its done was told"},
    {"ag-ui/0.x", 9, 0, 10, "the old form of reasoning, a chunk, a null parent, a second end"},
    {"ag-ui/1.0-cancelled", 1, 0, 3, "chunks are written out"},
    {"ag-ui/chunks", 11, 0, 23, "chunks are written out; no end, an unknown type"},
    {"ag-ui/error", 0, 0, 1, "an open message is ended"},
    {"ag-ui/interrupt-frames", 3, 0, 6, "chunks are written out"},
    {"ag-ui/interrupt", 3, 0, 6, "chunks are written out"},
    {"reasonix/attempts", 0, 0, 1, "the answer, which was streamed only, is completed"},
    {"reasonix/error-kind", 3, 0, 2, "an error of the turn is the err of turn_done"},
    {"reasonix/ok-tools", 0, 1, 0, "the start comes before the planner"},
    {"reasonix/refused-next-start", 1, 0, 0, "a turn has one start"},
    {"reasonix/turn", 0, 1, 0, "the start comes before the planner"},
    {"reasonix/upstream", 0, 0, 2, "text that was not streamed is"},
};

static struct exception expected(const char *name)
{
    for (size_t i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++)
        if (strcmp(exceptions[i].name, name) == 0)
            return exceptions[i];
    return (struct exception){.why = "byte for byte"};
}

/* Taken lines begin with NUL. */
static char *next_line(char *at)
{
    return *at == '\n' ? at + 1 : at + strcspn(at + 1, "\n") + 2;
}

/* The line at p in the text, not taken yet. */
static char *find_line(char *text, size_t len, const char *p, size_t n)
{
    for (char *at = text; at < text + len; at = next_line(at))
        if ((size_t)(text + len - at) > n && memcmp(at, p, n) == 0 && at[n] == '\n')
            return at;
    return NULL;
}

static void test_case(const struct pair *pair, const char *name, const char *path)
{
    size_t len;
    int lines = 0, lost = 0, moved = 0, added = 0;
    char *const stream = tap_slurp(path, &len);
    const struct exception e = expected(name);
    const bool sse = strcmp(strrchr(path, '.'), ".sse") == 0;
    const struct rewrite r = {
        .dialect = pair->dialect,
        .writer = pair->writer,
        .conf.framing = sse ? FRAMING_SSE : FRAMING_LINES,
        .conf.protocol = strstr(name, "/1.0-") ? "1.0" : NULL,
    };
    char *const out = rewrite(&r, stream, len);
    const size_t out_len = strlen(out);
    const char *newest = out;
    for (const char *p = stream; p < stream + len; p += strcspn(p, "\n") + 1) {
        if (sse && strncmp(p, "data: ", 6) != 0)
            continue; /* ids and comments are not the dialect's */
        lines++;
        char *const found = find_line(out, out_len, p, strcspn(p, "\n"));
        if (!found) {
            lost++;
            diag("%s: %.*s", name, (int)strcspn(p, "\n"), p);
            continue;
        }
        moved += found < newest;
        newest = found > newest ? found : newest;
        *found = '\0';
    }
    for (char *at = out; at < out + out_len; at = next_line(at))
        added += *at != '\0' && *at != '\n';
    ok(lost == e.lost && moved == e.moved && added == e.added, "%s: %s", name, e.why);
    diag("%d lines, %d lost, %d moved, %d added", lines, lost, moved, added);
    free(out);
    free(stream);
}

static int is_stream(const struct dirent *entry)
{
    const char *const dot = strrchr(entry->d_name, '.');
    return dot && (strcmp(dot, ".jsonl") == 0 || strcmp(dot, ".sse") == 0);
}

static int test_pair(const struct pair *pair)
{
    char folder[4096], relative[512];
    struct dirent **entries;
    snprintf(relative, sizeof(relative), "dialects/%s", pair->dialect);
    snprintf(folder, sizeof(folder), "%s", tap_source(relative));
    const int n = scandir(folder, &entries, is_stream, alphasort);
    for (int i = 0; i < n; i++) {
        char name[512], path[8192];
        snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
        *strrchr(entries[i]->d_name, '.') = '\0';
        snprintf(name, sizeof(name), "%s/%s", pair->dialect, entries[i]->d_name);
        test_case(pair, name, path);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return n;
}

int main(void)
{
    plan_lazy();
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        ok(test_pair(&pairs[i]) > 0, "%s has streams", pairs[i].dialect);
    return 0;
}
