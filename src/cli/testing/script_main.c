/* SPDX-License-Identifier: MIT
 * main() of turncast-script: plays scripts, or a recording, to a connector, and prints TAP. */
#include <err.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/alloc.h"
#include "cli/testing/fake/fixed_random.h"
#include "cli/testing/script.h"
#include "cli/testing/script_program.h"
#include "cli/testing/smoke_test.h"

enum { SCRIPT_USAGE = 2 };

struct script_program {
    struct fake_option options[FAKE_OPTIONS_MAX];
    struct script_subject subject;
    const char *recording;
};

static void script_main_take_option(struct script_program *p, char *pair)
{
    char *const is = strchr(pair, '=');
    size_t *const n = &p->subject.option_count;
    if (!is || *n == FAKE_OPTIONS_MAX)
        errx(SCRIPT_USAGE, "-o KEY=VALUE, at most %d times", FAKE_OPTIONS_MAX);
    *is = '\0';
    p->options[(*n)++] = (struct fake_option){pair, is + 1, 0};
}

static void script_main_read_options(struct script_program *p, int argc, char **argv)
{
    for (int got; (got = getopt(argc, argv, "o:r:")) != -1;) {
        if (got == 'o')
            script_main_take_option(p, optarg);
        else if (got == 'r')
            p->recording = optarg;
        else
            exit(SCRIPT_USAGE);
    }
    if (optind >= argc)
        errx(SCRIPT_USAGE, "is started by turncast test");
    p->subject.module = argv[optind];
    p->subject.options = p->options;
    p->subject.begin = fixed_random_reset;
}

/* A script that is unreadable or has no test counts as a failed test with the reason. */
static void script_main_refuse(struct script_program *p, const char *what, const struct tc_err *err)
{
    test_report_result(p->subject.report, false, what);
    test_report_note(p->subject.report, "%s", err_format(err));
}

static void script_main_run(struct script_program *p, char **scripts)
{
    struct tc_err err = {0};
    if (!*scripts)
        smoke_test_run(&p->subject, p->recording ? p->recording : "");
    for (; *scripts; scripts++)
        if (script_run(&p->subject, *scripts, &err) < 0)
            script_main_refuse(p, *scripts, &err);
}

int main(int argc, char **argv)
{
    struct script_program p = {0};
    struct test_report report = {0};
    struct output_capture output;
    struct tc_err err = {0};
    script_main_read_options(&p, argc, argv);
    signal(SIGPIPE, SIG_IGN);
    json_set_alloc_funcs(xmalloc, free);
    if (output_capture_begin(&output, &report.out, &err) < 0)
        errx(EXIT_FAILURE, "%s", err_format(&err));
    p.subject.report = &report;
    p.subject.output = &output;
    script_main_run(&p, argv + optind + 1);
    const int status = test_report_finish(&report);
    output_capture_fini(&output);
    fclose(report.out);
    return status;
}
