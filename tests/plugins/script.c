/* SPDX-License-Identifier: MIT
 * Owns the tests of a script: reads the file, runs each test on a stage of its own, one TAP result
 * each. script PATH… */
#include "plugins/script.h"

#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "tap/tap.h"

#define WALL_S 1790000000

/* The module's clocks are the script's: the program's symbols come before the library's. */
TC_EXPORT int clock_gettime(clockid_t id, struct timespec *out)
{
    const int64_t ms = stage_now + (id == CLOCK_REALTIME ? WALL_S * INT64_C(1000) : 0);
    *out = (struct timespec){ms / 1000, ms % 1000 * 1000000};
    return 0;
}

TC_EXPORT time_t time(time_t *out)
{
    const time_t now = WALL_S + (time_t)(stage_now / 1000);
    if (out)
        *out = now;
    return now;
}

/* Different each time, the same in each test. */
static unsigned char next_random;
TC_EXPORT ssize_t getrandom(void *out, size_t n, unsigned flags)
{
    (void)flags;
    memset(out, ++next_random, n);
    return (ssize_t)n;
}

void script_fail(struct script *s, const char *fmt, ...)
{
    if (s->why)
        return;
    va_list ap;
    va_start(ap, fmt);
    CLEANUP_BUF struct buf text = {0};
    buf_printf(&text, "%s:%d: ", s->path, s->line);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    s->why = buf_steal(&text);
}

/* The lines of a file; one that begins with a blank goes on with the one before it. */
struct lines {
    char *text;
    struct line {
        char *text;
        int number;
    } * at;
    size_t count;
};

static void add_line(struct lines *l, char *text, int number)
{
    l->at = xrealloc(l->at, (l->count + 1) * sizeof *l->at);
    l->at[l->count++] = (struct line){xstrdup(text), number};
}

static void continue_line(struct line *last, const char *more)
{
    char *const joined = xasprintf("%s%s", last->text, more + strspn(more, " \t") - 1);
    free(last->text);
    last->text = joined;
}

static struct lines read_lines(const char *path)
{
    struct lines l = {0};
    size_t len;
    int number = 0;
    l.text = tap_slurp(path, &len);
    char *rest = l.text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        number++;
        const size_t blank = strspn(line, " \t");
        if (line[0] == '#' || line[blank] == '\0')
            continue;
        if (blank && l.count)
            continue_line(&l.at[l.count - 1], line);
        else
            add_line(&l, line, number);
    }
    return l;
}

static void free_lines(struct lines *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->at[i].text);
    free(l->at);
    free(l->text);
}

static bool is_title(const struct line *l)
{
    return strncmp(l->text, "= ", 2) == 0;
}

static bool is_option(const struct line *l)
{
    return strncmp(l->text, "option ", 7) == 0;
}

static void run_line(struct script *s, const struct line *l)
{
    if (s->why)
        return;
    char *const copy = xstrdup(l->text);
    char *rest = copy;
    s->line = l->number;
    const char *const verb = strsep(&rest, " ");
    script_step(s, verb, rest ? rest + strspn(rest, " ") : copy + strlen(copy));
    free(copy);
    if (s->stage && s->stage->faults.len)
        script_fail(s, "%s", s->stage->faults.p);
}

/* Those before the first test and those of this one; options come before the instance. */
static void run_lines(struct script *s, const struct lines *l, const size_t *ranges, bool options)
{
    for (size_t i = ranges[0]; i < ranges[1]; i++)
        if (is_option(&l->at[i]) == options)
            run_line(s, &l->at[i]);
    for (size_t i = ranges[2]; i < ranges[3]; i++)
        if (is_option(&l->at[i]) == options)
            run_line(s, &l->at[i]);
}

static void begin(struct script *s)
{
    s->stage = NULL;
    s->why = NULL;
    s->option_count = 0;
    s->options[0] = NULL;
    s->begun = false;
    s->last = NULL;
    stage_now = 1000000;
    next_random = 0;
}

static void end(struct script *s, const char *title)
{
    if (!s->why)
        script_step(s, "end", NULL);
    ok(!s->why, "%s", title);
    if (s->why)
        diag("%s", s->why);
    free(s->why);
    if (s->stage)
        stage_free(s->stage);
    while (s->option_count > 0)
        free((char *)(uintptr_t)s->options[--s->option_count]);
}

static void run_script(const char *path)
{
    char *const copy = xstrdup(path), *const folder = xstrdup(basename(dirname(copy)));
    struct lines l = read_lines(path);
    size_t first = 0;
    while (first < l.count && !is_title(&l.at[first]))
        first++;
    for (size_t at = first; at < l.count;) {
        struct script s = {.path = path, .plugin = folder};
        const char *const title = l.at[at++].text + 2;
        begin(&s);
        size_t last = at;
        while (last < l.count && !is_title(&l.at[last]))
            last++;
        run_lines(&s, &l, (size_t[]){0, first, at, last}, true);
        run_lines(&s, &l, (size_t[]){0, first, at, last}, false);
        at = last;
        end(&s, title);
    }
    free_lines(&l);
    free(folder);
    free(copy);
}

int main(int argc, char **argv)
{
    plan_lazy();
    if (argc < 2)
        bail("usage: script FILE...");
    for (int i = 1; i < argc; i++)
        run_script(argv[i]);
    return 0;
}
