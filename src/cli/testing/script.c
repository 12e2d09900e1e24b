/* SPDX-License-Identifier: MIT
 * Parses scripts, and runs each test on a separate fake host. */
#include "cli/testing/script.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/cleanup.h"
#include "cli/testing/script_internal.h"

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

/* The lines of a file; a line that begins with a blank continues the previous one. */
struct script_lines {
    struct script_line {
        char *text;
        int number;
    } * at;
    size_t count;
};

static void script_add_line(struct script_lines *l, const char *text, int number)
{
    l->at = xrealloc(l->at, (l->count + 1) * sizeof *l->at);
    l->at[l->count++] = (struct script_line){xstrdup(text), number};
}

static void script_continue_line(struct script_line *last, const char *more)
{
    char *const joined = xasprintf("%s%s", last->text, more + strspn(more, " \t") - 1);
    free(last->text);
    last->text = joined;
}

static void script_take_line(struct script_lines *l, const char *line, int number)
{
    const size_t blank = strspn(line, " \t");
    if (line[0] == '#' || line[blank] == '\0')
        return;
    if (blank && l->count)
        script_continue_line(&l->at[l->count - 1], line);
    else
        script_add_line(l, line, number);
}

static int script_read_lines(struct script_lines *l, const char *path, struct tc_err *err)
{
    CLEANUP_FREE char *line = NULL;
    size_t cap = 0;
    int number = 0;
    FILE *const f = fopen(path, "re");
    if (!f)
        return err_set_errno(err, errno, path, "cannot open");
    for (ssize_t n; (n = getline(&line, &cap, f)) >= 0;) {
        line[strcspn(line, "\n")] = '\0';
        script_take_line(l, line, ++number);
    }
    const bool failed = ferror(f) != 0;
    fclose(f);
    return failed ? err_set(err, path, "cannot read") : 0;
}

static void script_free_lines(struct script_lines *l)
{
    for (size_t i = 0; i < l->count; i++)
        free(l->at[i].text);
    free(l->at);
}

static bool script_is_title(const struct script_line *l)
{
    return strncmp(l->text, "= ", 2) == 0;
}

static bool script_is_option(const struct script_line *l)
{
    return strncmp(l->text, "option ", 7) == 0;
}

/* The next test title, or the end. */
static size_t script_find_title(const struct script_lines *l, size_t at)
{
    while (at < l->count && !script_is_title(&l->at[at]))
        at++;
    return at;
}

static void script_run_line(struct script *s, const struct script_line *l)
{
    if (s->why)
        return;
    CLEANUP_FREE char *copy = xstrdup(l->text);
    char *rest = copy;
    s->line = s->progress->line = l->number;
    const char *const verb = strsep(&rest, " ");
    script_step(s, verb, rest ? rest + strspn(rest, " ") : copy + strlen(l->text));
    if (s->host && s->host->faults.len)
        script_fail(s, "%s", s->host->faults.p);
}

/* The lines before the first test and those of this test; options are moved before the instance. */
static void script_run_lines(struct script *s, const struct script_lines *l, const size_t *ranges,
                             bool options)
{
    for (size_t i = ranges[0]; i < ranges[1]; i++)
        if (script_is_option(&l->at[i]) == options)
            script_run_line(s, &l->at[i]);
    for (size_t i = ranges[2]; i < ranges[3]; i++)
        if (script_is_option(&l->at[i]) == options)
            script_run_line(s, &l->at[i]);
}

static void script_begin(struct script *s)
{
    const struct script_subject *const subject = s->subject;
    fake_host_reset_clock();
    if (subject->begin)
        subject->begin();
    output_capture_clear(subject->output);
    s->option_count = subject->option_count;
    for (size_t i = 0; i < subject->option_count; i++)
        s->options[i] = subject->options[i];
}

static void script_end(struct script *s, const char *title)
{
    if (!s->why && !s->refused)
        script_step(s, "end", NULL);
    test_report_result(s->subject->report, !s->why, title);
    if (s->why)
        test_report_note(s->subject->report, "%s", s->why);
    free(s->why);
    if (s->host)
        fake_host_free(s->host);
    arena_fini(&s->texts);
}

/* Runs one test of a file: the lines before the first test, then its own. */
struct script_test {
    const struct script_subject *subject;
    const char *path;
    const struct script_lines *lines;
    size_t ranges[4];
    const char *title;
};

static void script_run_test(void *arg, struct test_progress *progress)
{
    const struct script_test *const t = arg;
    struct script s = {.subject = t->subject, .path = t->path, .progress = progress};
    script_begin(&s);
    script_run_lines(&s, t->lines, t->ranges, true);
    script_run_lines(&s, t->lines, t->ranges, false);
    script_end(&s, t->title);
}

int script_run(const struct script_subject *subject, const char *path, struct tc_err *err)
{
    struct script_lines l = {0};
    int rc = script_read_lines(&l, path, err);
    const size_t first = script_find_title(&l, 0);
    if (rc == 0 && first == l.count)
        rc = err_set(err, path, "has no test: one begins with \"= TITLE\"");
    for (size_t at = first, next; rc == 0 && at < l.count; at = next) {
        next = script_find_title(&l, at + 1);
        struct script_test test = {subject, path, &l, {0, first, at + 1, next}, l.at[at].text + 2};
        test_process_run(subject->report, test.title, path, script_run_test, &test);
    }
    script_free_lines(&l);
    return rc;
}
