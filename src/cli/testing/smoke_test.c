/* SPDX-License-Identifier: MIT
 * Plays a recording to a connector and reports what it did. */
#include "cli/testing/smoke_test.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/plural.h"
#include "cli/testing/fake/recording.h"
#include "cli/testing/test_process.h"

#define TITLE "a recorded turn"
#define TURN "turn-1"
#define METHODS 16 /* number of distinguished requests */
#define PATIENCE_MS 60000
#define OUTPUT_MAX 4096

struct smoke_test {
    const struct script_subject *subject;
    struct fake_host *host;
    struct smoke_method {
        char *name;
        unsigned count;
    } methods[METHODS];
    unsigned requests;
};

static void smoke_test_count(struct smoke_test *t, const char *method)
{
    size_t i = 0;
    t->requests++;
    while (i < METHODS - 1 && t->methods[i].name && strcmp(t->methods[i].name, method) != 0)
        i++;
    if (!t->methods[i].name)
        t->methods[i].name = xstrdup(i < METHODS - 1 ? method : "others");
    t->methods[i].count++;
}

/* Answers all requests of the next minute, or until the turn has ended. */
static void smoke_test_answer_all(struct smoke_test *t)
{
    for (int64_t ms = 0; ms < PATIENCE_MS && !t->host->faults.len; ms += 1000) {
        for (struct fake_request *r; (r = fake_host_find_unnamed(t->host, NULL));) {
            if (r->http.flags & TC_LONG_POLL) {
                r->state = FAKE_NAMED;
                continue;
            }
            smoke_test_count(t, r->method);
            fake_host_reply(t->host, r, TC_OK, 200, "{}", 0);
            fake_host_advance(t->host, 0);
        }
        if (ms > 0 && !fake_host_find(t->host, TURN))
            return;
        fake_host_advance(t->host, 1000);
    }
}

static void smoke_test_print_requests(struct smoke_test *t)
{
    CLEANUP_BUF struct buf text = {0};
    buf_printf(&text, "%u request%s", t->requests, PLURAL(t->requests, "", "s"));
    for (size_t i = 0; i < METHODS && t->methods[i].name; i++) {
        buf_printf(&text, "%s%s %u", i ? ", " : ": ", t->methods[i].name, t->methods[i].count);
        free(t->methods[i].name);
    }
    test_report_note(t->subject->report, "%s", text.p);
}

static void smoke_test_print_log(const struct smoke_test *t)
{
    static const char *const levels[] = {[TC_ERR] = "error", [TC_WARN] = "warning"};
    for (const struct fake_act *a = t->host->acts; a; a = a->next)
        if (a->note == FAKE_LOG && a->level <= TC_WARN)
            test_report_note(t->subject->report, "log: %s: %s", levels[a->level], a->what);
        else if (a->note == FAKE_DEAD)
            test_report_note(t->subject->report, "given up: %s", a->what);
}

static void smoke_test_print_output(const struct smoke_test *t)
{
    const char *const text = output_capture_peek(t->subject->output);
    const size_t len = strlen(text);
    if (!len)
        return;
    test_report_note(t->subject->report, "printed %zu bytes:", len);
    test_report_note(t->subject->report, "%.*s%s", OUTPUT_MAX, text, len > OUTPUT_MAX ? "…" : "");
}

static void smoke_test_print(struct smoke_test *t)
{
    const struct status_page *const page = instance_status_page(t->host->instance);
    const uint64_t failed = status_page_get_failed(page), good = status_page_get_delivered(page);
    test_report_note(t->subject->report, "%" PRIu64 " callback%s, %" PRIu64 " failed",
                     good + failed, PLURAL(good + failed, "", "s"), failed);
    smoke_test_print_requests(t);
    smoke_test_print_log(t);
    smoke_test_print_output(t);
}

static int smoke_test_play(struct smoke_test *t, const char *recording, struct tc_err *err)
{
    t->host->lenient = true;
    if (fake_host_init(t->host) < 0) {
        test_report_result(t->subject->report, false, "init");
        smoke_test_print(t);
        return 0;
    }
    smoke_test_answer_all(t);
    if (recording_play(t->host, TURN, recording, err) < 0)
        return -1;
    smoke_test_answer_all(t);
    const struct buf *const faults = &t->host->faults;
    test_report_result(t->subject->report, !faults->len, TITLE);
    if (faults->len)
        test_report_note(t->subject->report, "%s", faults->p);
    smoke_test_print(t);
    return 0;
}

struct smoke_test_call {
    const struct script_subject *subject;
    const char *recording;
};

static void smoke_test_try(void *arg, struct test_progress *progress)
{
    const struct smoke_test_call *const call = arg;
    const struct script_subject *const subject = call->subject;
    struct smoke_test t = {.subject = subject};
    struct tc_err err = {0};
    fake_host_reset_clock();
    t.host = fake_host_new(subject->module, subject->options, subject->option_count, "command line",
                           &err);
    if (t.host) {
        t.host->last_error.text = progress->error;
        t.host->last_error.size = sizeof progress->error;
    }
    if (!t.host || smoke_test_play(&t, call->recording, &err) < 0) {
        test_report_result(subject->report, false, TITLE);
        test_report_note(subject->report, "%s", err_format(&err));
    }
    if (t.host)
        fake_host_free(t.host);
}

void smoke_test_run(const struct script_subject *subject, const char *recording)
{
    struct smoke_test_call call = {subject, recording};
    test_process_run(subject->report, TITLE, NULL, smoke_test_try, &call);
}
