/* SPDX-License-Identifier: MIT
 * Owns a run of a recorded dialog: what is decided when, and what is compared. */
#include "core/dialogs.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "event/codec.h"
#include "tap/tap.h"

#define COMMAND_MAX (DIALOG_WORDS + 16)
#define DEADLINE_MS 60000

static struct request_registry *registry;

/* What a run has seen. */
struct seen {
    struct stage stage;
    const struct dialog_set *set;
    const struct dialog_row *row;
    unsigned opened, decided, taken, wanted; /* wanted: requests; */
    unsigned decisions;                      /* and how many of them are decided */
    bool cancelled;
    char *ids[DIALOG_ASKS]; /* owned */
    struct buf requests;
    struct buf events; /* canonical lines, but start, and what was decided */
};

static void on_request(struct seen *s, const struct tc_request *r)
{
    if (strcmp(r->state, "open") != 0) {
        buf_printf(&s->requests, " =%s", r->decision);
        return;
    }
    buf_printf(&s->requests, "%s?%s", s->requests.len ? " " : "", r->tool);
    if (s->opened < DIALOG_ASKS)
        s->ids[s->opened++] = xstrdup(r->request_id);
}

static bool is_decision(const struct event *ev)
{
    return ev->kind == TC_REQUEST && strcmp(ev->u.request.state, "open") != 0;
}

static void on_event(void *ctx, struct event *ev)
{
    struct seen *const s = ctx;
    if (ev->kind == TC_REQUEST)
        on_request(s, &ev->u.request);
    if (ev->kind == TC_START || is_decision(ev) || (s->set->own_ids && ev->kind == TC_RAW))
        return;
    if (ev->kind == TC_REQUEST) /* what the host adds to it */
        ev->u.request.choices = ev->u.request.preview = NULL;
    codec_encode(&s->events, ev);
    buf_add_char(&s->events, '\n');
}

static enum tc_accepted decide(struct seen *s, unsigned i)
{
    CLEANUP_BUF struct buf text = {0};
    struct request_decision d = s->row->decisions[i];
    d.turn = turn_id(s->stage.turn);
    d.request = s->ids[i];
    d.by = "Ann (test)";
    return request_answer(s->stage.requests, &d, &text);
}

/* What has opened, in the order of the row. */
static void decide_new(struct seen *s)
{
    if (s->row->backwards && s->opened < s->wanted)
        return;
    for (; s->decided < s->opened && s->decided < s->decisions; s->decided++) {
        const unsigned i = s->row->backwards ? s->opened - 1 - s->decided : s->decided;
        s->taken += decide(s, i) == TC_COMMAND;
    }
}

/* It is cancelled once all that is decided has been. */
static void cancel(struct seen *s)
{
    const char *const at = s->row->cancel_at;
    if (!at || s->cancelled || s->decided < s->decisions ||
        !strstr(cast_log_text(&s->stage.log), at))
        return;
    executor_cancel(s->stage.executor);
    s->cancelled = true;
}

/* Until the turn is done; each decision is made before anything else is read. */
static void play(struct seen *s)
{
    const int64_t until = clock_mono_ms() + DEADLINE_MS;
    while (!s->stage.ended && clock_mono_ms() < until) {
        decide_new(s);
        cancel(s);
        if (!s->stage.ended)
            loop_run_once(stage_loop(), 1000);
    }
}

/* ---- one dialog ---- */

static char *writable(const char *text)
{
    return (char *)(uintptr_t)text;
}

/* "python3 dialog.py FILE report=… WORD…" */
static void set_command(struct seen *s, char **argv, const char *report)
{
    static char script[4096], file[4096];
    snprintf(script, sizeof script, "%s", tap_source("fake/dialog.py"));
    snprintf(file, sizeof file, "%s/%s/%s.dialog", tap_source("dialogs"), s->set->dialect,
             s->row->name);
    unsigned n = 0;
    argv[n++] = writable("python3");
    argv[n++] = script;
    argv[n++] = file;
    argv[n++] = writable(report);
    argv[n++] = s->stage.mark;
    for (unsigned i = 0; i < DIALOG_WORDS && s->set->words[i]; i++)
        argv[n++] = writable(s->set->words[i]);
    for (unsigned i = 0; i < DIALOG_WORDS && s->row->words[i]; i++)
        argv[n++] = writable(s->row->words[i]);
    argv[n] = NULL;
    s->stage.agent.command = argv;
    s->stage.agent.mode = writable(s->row->mode);
    s->stage.agent.attempts = 1;
    s->stage.agent.grace.exit_ms = 20000; /* it ends by itself */
    s->stage.message = s->row->message ? s->row->message : s->set->message;
    s->stage.message_len = strlen(s->stage.message);
}

/* Its lines are results of this test. */
static void read_report(const char *path, const char *name)
{
    CLEANUP_FREE char *report = tap_slurp(path, NULL);
    char *rest = report;
    bool whole = false;
    for (const char *line; (line = strsep(&rest, "\n"));) {
        whole |= strncmp(line, "1..", 3) == 0;
        if (strncmp(line, "ok ", 3) == 0 || strncmp(line, "not ok ", 7) == 0)
            ok(*line == 'o', "%s: %s", name, strchr(line, '-'));
        else if (*line == '#')
            diag("%s", line + 1);
    }
    ok(whole, "%s: the agent has read all of the dialog", name);
}

/* The beginning of a line, up to what differs from turn to turn. */
static size_t stable_length(const char *line)
{
    const size_t len = strcspn(line, "\n");
    const char *const ts = memmem(line, len, ",\"ts\":", 6);
    return ts ? (size_t)(ts - line) : len;
}

static bool is_raw(const char *line)
{
    return strncmp(line, "{\"type\":\"raw\"", 13) == 0;
}

static void compare_golden(const struct seen *s)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/%s/%s.events", tap_source("dialects"), s->set->dialect,
             s->row->name);
    if (access(path, R_OK) < 0 || s->row->cancel_at || s->row->other_end)
        return;
    CLEANUP_FREE char *golden = tap_slurp(path, NULL);
    const char *want = strchr(golden, '\n') + 1, *got = s->events.p ? s->events.p : "";
    while (*want) {
        if (s->set->own_ids && is_raw(want)) {
            want += strcspn(want, "\n") + 1;
            continue;
        }
        const size_t len = stable_length(want);
        const bool same = len == stable_length(got) && memcmp(want, got, len) == 0;
        if (!same && !memmem(want, len, "\"state\":\"resolved\"", 18))
            break; /* those come when the host decides, not when the agent says so */
        got += same ? strcspn(got, "\n") + 1 : 0;
        want += strcspn(want, "\n") + 1;
    }
    if (!ok(!*want && !*got, "%s: the events of the recording", s->row->name)) {
        diag("got    %.*s", (int)strcspn(got, "\n"), got);
        diag("wanted %.*s", (int)strcspn(want, "\n"), want);
    }
}

static unsigned count_opens(const struct dialog_row *row)
{
    unsigned n = 0;
    for (const char *p = row->requests ? row->requests : ""; (p = strchr(p, '?')); p++)
        n++;
    return n;
}

/* Nothing that was asked can be decided any more. */
static void answer_late(struct seen *s)
{
    unsigned taken = 0;
    for (unsigned i = 0; i < s->opened; i++)
        taken += decide(s, i) == TC_COMMAND;
    is_int(taken, 0, "%s: a late answer is refused", s->row->name);
}

static unsigned count_decisions(const struct dialog_row *row)
{
    unsigned n = 0;
    while (n < DIALOG_ASKS && row->decisions[n].choice)
        n++;
    return n;
}

static void run(const struct dialog_set *set, const struct dialog_row *row)
{
    struct seen s = {
        .set = set, .row = row, .wanted = count_opens(row), .decisions = count_decisions(row)};
    char report[4096];
    char *argv[COMMAND_MAX];
    snprintf(report, sizeof report, "report=%s/report", tap_tmpdir());
    s.stage.dialect = dialect_find(set->dialect);
    stage_set(&s.stage, WORDS(NULL));
    set_command(&s, argv, report);
    s.stage.requests = registry;
    s.stage.session_id = row->session_id;
    s.stage.log.watch = on_event;
    s.stage.log.watch_ctx = &s;
    stage_begin(&s.stage);
    play(&s);
    is_int(s.taken, s.decisions, "%s: all decisions were used", row->name);
    is_int(s.cancelled, row->cancel_at != NULL, "%s: cancelled if the row says so", row->name);
    is_str(s.requests.p ? s.requests.p : "", row->requests ? row->requests : "", "%s: requests",
           row->name);
    if (row->also)
        has_str(cast_log_text(&s.stage.log), row->also, "%s: the expected event is cast",
                row->name);
    answer_late(&s);
    stage_end(&s.stage, row->outcome, row->name);
    read_report(report + 7, row->name);
    unlink(report + 7);
    compare_golden(&s);
    for (unsigned i = 0; i < DIALOG_ASKS; i++)
        free(s.ids[i]);
    buf_fini(&s.requests);
    buf_fini(&s.events);
}

/* None is left out. */
static void count_recordings(const struct dialog_set *set)
{
    size_t files = 0;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", tap_source("dialogs"), set->dialect);
    DIR *const dir = opendir(path);
    for (const struct dirent *e; dir && (e = readdir(dir));)
        files += strstr(e->d_name, ".dialog") != NULL;
    if (dir)
        closedir(dir);
    is_int((long long)files, (long long)set->count, "%s: each recording has a row", set->dialect);
}

void dialogs_play(const struct dialog_set *set)
{
    registry = request_registry_new(&(struct request_registry_spec){.loop = stage_loop()});
    for (size_t i = 0; i < set->count; i++)
        run(set, &set->rows[i]);
    count_recordings(set);
    request_registry_free(registry);
}
