/* SPDX-License-Identifier: MIT
 * Tests of base/sys/finding.h: how a message is split into its parts and formatted from them. */
#include "base/sys/finding.h"

#include <string.h>

#include "tap/tap.h"

static const struct {
    const char *place, *message; /* as added, and as printed */
    const char *file;
    int line;
    const char *key, *text, *remedy;
} rows[] = {
    {"a.conf:7", "agents.a.command: must not be empty", "a.conf", 7, "agents.a.command",
     "must not be empty", NULL},
    {"a.conf:7", "log: unknown key (did you mean \"logs\"?)", "a.conf", 7, "log", "unknown key",
     "did you mean \"logs\"?"},
    {"a.conf", "is writable by other users; run: chmod go-w a.conf", "a.conf", 0, NULL,
     "is writable by other users", "run: chmod go-w a.conf"},
    {"", "x.y: invalid value \"a; b (did you mean c)\"; use a; or b", NULL, 0, "x.y",
     "invalid value \"a; b (did you mean c)\"", "use a; or b"},
    {"a.conf:1", "default_agent: unknown agent \"b\" (configured: a)", "a.conf", 1, "default_agent",
     "unknown agent \"b\"", "configured: a"},
    {"dir:x/a.conf", "number out of range (64 bits)", "dir:x/a.conf", 0, NULL,
     "number out of range (64 bits)", NULL},
    {"a.conf:3", "", "a.conf", 3, NULL, "", NULL},
};

static void check_string(const char *got, const char *wanted, const char *what)
{
    ok(got && wanted ? strcmp(got, wanted) == 0 : got == wanted, "  %s is %s", what,
       wanted ? wanted : "absent");
}

static void test_parts(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct findings f = {0};
        CLEANUP_BUF struct buf line = {0}, wanted = {0};
        is_int(findings_add(&f, FINDING_ERROR, rows[i].place, "%s", rows[i].message), -1, "%s",
               rows[i].message);
        check_string(f.items[0].file, rows[i].file, "the file");
        is_int(f.items[0].line, rows[i].line, "  the line");
        check_string(f.items[0].key, rows[i].key, "the key");
        check_string(f.items[0].text, rows[i].text, "the text");
        check_string(f.items[0].remedy, rows[i].remedy, "the remedy");
        buf_printf(&wanted, "%s%s%s", rows[i].place, *rows[i].place ? ": " : "", rows[i].message);
        finding_format(&line, &f.items[0]);
        is_str(line.p, wanted.p, "  is formatted as before");
        findings_fini(&f);
    }
}

static void test_list(void)
{
    struct findings f = {0};
    struct tc_err err = {.text = "as before"};
    CLEANUP_BUF struct buf line = {0};
    is_int(findings_take_first(&f, &err), 0, "no finding: no error");
    is_str(err.text, "as before", "  and the error is unchanged");
    findings_add(&f, FINDING_WARNING, "f:9", "k: late; do it");
    is_int(findings_take_first(&f, &err), 0, "a warning is not an error");
    findings_add(&f, FINDING_ERROR, "f", "whole");
    findings_add(&f, FINDING_ERROR, "f:20", "second");
    findings_add(&f, FINDING_ERROR, "f:4", "early");
    findings_add(&f, FINDING_OK, "f:4", "beside it");
    is_int(findings_take_first(&f, &err), -1, "an error is returned");
    is_str(err_format(&err), "f: whole", "  it is the error that was added first");
    ok(f.errors == 3 && f.warnings == 1 && f.n == 5, "errors and warnings are counted");
    findings_sort(&f);
    is_str(f.items[0].text, "early", "findings are sorted by line");
    is_str(f.items[1].text, "beside it", "  findings of one line stay in order");
    is_str(f.items[3].text, "second", "  the last finding with a line");
    is_str(f.items[4].text, "whole", "  findings without a line are last");
    finding_format(&line, &f.items[2]);
    is_str(line.p, "f:9: warning: k: late; do it", "a warning is marked");
    findings_fini(&f);
}

static void test_items(void)
{
    struct findings f = {0};
    for (int i = 0; i < 100; i++)
        findings_add_item(&f, &(struct finding){.level = FINDING_OK, .line = i, .text = "t"});
    ok(f.n == 100, "100 findings are stored");
    ok(f.items[99].line == 99 && !f.items[99].key && strcmp(f.items[99].text, "t") == 0,
       "the findings are unchanged");
    findings_fini(&f);
}

int main(void)
{
    plan_lazy();
    test_parts();
    test_list();
    test_items();
}
