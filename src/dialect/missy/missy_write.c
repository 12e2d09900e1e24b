/* SPDX-License-Identifier: MIT
 * Writes missy's progress reports, as its JSON reporter does and as its audit log has them: there
 * each record carries the hash of the line before it. Bytes are those of Python's json.dumps. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include <nettle/sha2.h>

#include "dialect/writer/json_style.h"
#include "dialect/writer/writer_list.h"
#include "event/json/json_redact.h"

#define PYTHON STYLE_PYTHON

struct missy_writer {
    bool chained;                          /* a record was written */
    char hash[2 * SHA256_DIGEST_SIZE + 1]; /* of the last one */
    bool failed;                           /* the error was written: no end follows */
    int64_t steps;                         /* number of reported iterations */
    bool has_steps;                        /* the source reports iterations itself */
    size_t open_calls;                     /* of the agent's own tools */
    bool has_results; /* with results of calls of this iteration: the agent's next output belongs to
                       * another one */
};

/* One of the seven reports: its name in both forms, and its members. */
struct missy_report_kind {
    const char *audit, *json;
    const char *text_key, *text; /* or NULL */
    const char *more_key, *more; /* or NULL: a second text */
    bool is_update;
    double percent; /* of an update */
    bool is_iteration;
    int64_t index, max; /* of an iteration; max negative: unknown */
};

#define REPORT(...) ((struct missy_report_kind){__VA_ARGS__})

struct missy_writing {
    struct missy_writer *w;
    const struct writer_out *out;
    const struct event *ev;
    void (*write)(const struct missy_writing *e, const struct missy_report_kind *r);
};

static void missy_write_add_members(struct buf *b, const struct missy_report_kind *r,
                                    const char *index_key)
{
    if (r->is_update)
        json_style_member_real(b, PYTHON, "pct", r->percent);
    if (r->text_key)
        json_style_member_str(b, PYTHON, r->text_key, r->text ? r->text : "");
    if (r->more_key)
        json_style_member_str(b, PYTHON, r->more_key, r->more);
    if (!r->is_iteration)
        return;
    json_style_member_int(b, PYTHON, index_key, r->index);
    if (r->max >= 0)
        json_style_member_int(b, PYTHON, "max", r->max);
    else
        json_style_member_null(b, PYTHON, "max");
}

static void missy_write_write_json(const struct missy_writing *e, const struct missy_report_kind *r)
{
    struct buf *const b = writer_begin_message(e->out);
    buf_add_char(b, '{');
    json_style_member_str(b, PYTHON, "event", r->json);
    missy_write_add_members(b, r, "current");
    buf_add_char(b, '}');
    writer_begin_end_message(e->out);
}

/* Python's datetime.isoformat() of a UTC time: no fraction if it is zero. */
static void missy_write_add_time(struct buf *b, double ts)
{
    const int64_t micros = (int64_t)llround(fmin(fmax(ts, 0), 9e9) * 1e6);
    const time_t seconds = (time_t)(micros / 1000000);
    struct tm tm;
    char text[32];
    gmtime_r(&seconds, &tm);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
    json_style_append_key(b, PYTHON, "timestamp");
    buf_printf(b, "\"%s", text);
    if (micros % 1000000)
        buf_printf(b, ".%06" PRId64, micros % 1000000);
    buf_add_str(b, "+00:00\"");
}

static void add_detail(struct buf *b, const struct missy_report_kind *r)
{
    CLEANUP_BUF struct buf detail = {0}, masked = {0};
    buf_add_char(&detail, '{');
    missy_write_add_members(&detail, r, "iteration");
    buf_add_char(&detail, '}');
    json_redact(&masked, (struct str){detail.p, detail.len});
    json_style_append_key(b, PYTHON, "detail");
    json_style_append_value(b, PYTHON, masked.p, masked.len);
}

static void hash_line(char hash[2 * SHA256_DIGEST_SIZE + 1], const char *line, size_t len)
{
    struct sha256_ctx ctx;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&ctx);
    sha256_update(&ctx, len, (const uint8_t *)line);
    sha256_digest(&ctx, sizeof(digest), digest);
    for (size_t i = 0; i < sizeof(digest); i++)
        snprintf(hash + 2 * i, 3, "%02x", digest[i]);
}

static void write_audit(const struct missy_writing *e, const struct missy_report_kind *r)
{
    const struct tc_meta *const meta = &e->ev->meta;
    struct buf *const b = writer_begin_message(e->out);
    const size_t at = b->len;
    buf_add_char(b, '{');
    missy_write_add_time(b, meta->ts);
    json_style_member_str(b, PYTHON, "session_id", meta->session_id);
    json_style_member_str(b, PYTHON, "task_id", meta->correlation_id);
    json_style_append_key(b, PYTHON, "event_type");
    buf_printf(b, "\"agent.progress.%s\"", r->audit);
    json_style_member_str(b, PYTHON, "category", "agent");
    json_style_member_str(b, PYTHON, "result", "allow"); /* also for an error */
    add_detail(b, r);
    json_style_member_null(b, PYTHON, "policy_rule");
    if (e->w->chained)
        json_style_member_str(b, PYTHON, "prev_chain_hash", e->w->hash);
    else
        json_style_member_null(b, PYTHON, "prev_chain_hash");
    buf_add_char(b, '}');
    hash_line(e->w->hash, b->p + at, b->len - at);
    e->w->chained = true;
    writer_begin_end_message(e->out);
}

static void report_start(const struct missy_writing *e)
{
    const char *const task = e->ev->u.start.task;
    e->write(e, &REPORT(.audit = "start", .json = "start", .text_key = "task", .text = task));
}

static void write_iteration(const struct missy_writing *e, int64_t index, int64_t max)
{
    e->w->steps++;
    e->w->has_results = false;
    e->write(e, &REPORT(.audit = "iteration", .json = "iteration", .is_iteration = true,
                        .index = index, .max = max));
}

static bool missy_write_is_child(const struct event *ev)
{
    return ev->meta.agent || ev->meta.parent_id;
}

static void report_step(const struct missy_writing *e)
{
    const struct tc_step *const step = &e->ev->u.step;
    struct missy_writer *const w = e->w;
    if (e->ev->meta.agent || strcmp(step->state, "start") != 0 ||
        (step->kind && strcmp(step->kind, "step") != 0))
        return;
    const bool follows = step->index < w->steps && !w->has_steps; /* iterations counted without
                                                                   * reports of the source */
    w->has_steps = true;
    write_iteration(e, step->index < 0 || follows ? w->steps : step->index, step->max);
}

/* Most agents do not report iterations. An iteration is one model call and the tools that it
 * requests: it begins with the first output of the agent, and with the first output after the
 * results of all its tools. */
static void count_iteration(const struct missy_writing *e)
{
    const struct missy_writer *const w = e->w;
    const bool begins = !w->steps || (w->has_results && !w->open_calls);
    if (!w->has_steps && begins && !missy_write_is_child(e->ev))
        write_iteration(e, w->steps, -1);
}

static void count_final(const struct missy_writing *e)
{
    if (e->ev->u.final.text_len)
        count_iteration(e);
}

static void report_call(const struct missy_writing *e)
{
    count_iteration(e);
    e->w->open_calls += !missy_write_is_child(e->ev);
    e->write(e, &REPORT(.audit = "tool_start", .json = "tool_start", .text_key = "tool",
                        .text = e->ev->u.tool_call.name));
}

static void report_result(const struct missy_writing *e)
{
    const struct tc_tool_result *const result = &e->ev->u.tool_result;
    struct missy_writer *const w = e->w;
    if (!missy_write_is_child(e->ev)) {
        w->open_calls -= w->open_calls > 0;
        w->has_results = true;
    }
    e->write(e, &REPORT(.audit = "tool_done", .json = "tool_done", .text_key = "tool",
                        .text = result->name ? result->name : "tool", .more_key = "summary",
                        .more = result->is_error ? "error" : "ok"));
}

static void report_progress(const struct missy_writing *e)
{
    const struct tc_progress *const p = &e->ev->u.progress;
    if (p->percent >= 0)
        e->write(e, &REPORT(.audit = "update", .json = "progress", .is_update = true,
                            .percent = p->percent, .text_key = "label",
                            .text = p->message ? p->message : p->name));
}

static void report_error(const struct missy_writing *e)
{
    e->w->failed = true;
    e->write(e, &REPORT(.audit = "error", .json = "error", .text_key = "error",
                        .text = e->ev->u.error.message));
}

/* "Complete" means success only; every other end is an error with its kind. */
static void report_done(const struct missy_writing *e)
{
    const struct tc_done *const done = &e->ev->u.done;
    char summary[64];
    if (e->w->failed)
        return;
    if (strcmp(done->reason, "completed") != 0) {
        const char *const why = done->detail ? done->detail : done->code;
        CLEANUP_BUF struct buf text = {0};
        buf_printf(&text, "%s%s%s", done->reason, why ? ": " : "", why ? why : "");
        e->write(e,
                 &REPORT(.audit = "error", .json = "error", .text_key = "error", .text = text.p));
        return;
    }
    snprintf(summary, sizeof(summary), "finished after %" PRId64 " iteration(s)", e->w->steps);
    e->write(e, &REPORT(.audit = "complete", .json = "complete", .text_key = "summary",
                        .text = done->detail ? done->detail : summary));
}

static void missy_write_write_event(void *state, const struct writer_out *out,
                                    const struct event *ev,
                                    void (*write)(const struct missy_writing *,
                                                  const struct missy_report_kind *))
{
    static void (*const report[TC_KINDS])(const struct missy_writing *) = {
        [TC_START] = report_start,        [TC_STEP] = report_step,
        [TC_NARRATION] = count_iteration, [TC_THINKING] = count_iteration,
        [TC_FINAL] = count_final,         [TC_TOOL_CALL] = report_call,
        [TC_TOOL_RESULT] = report_result, [TC_ERROR] = report_error,
        [TC_PROGRESS] = report_progress,  [TC_DONE] = report_done,
    };
    const struct missy_writing e = {.w = state, .out = out, .ev = ev, .write = write};
    if (report[ev->kind])
        report[ev->kind](&e);
}

static void write_json_event(void *state, const struct writer_out *out, const struct event *ev)
{
    missy_write_write_event(state, out, ev, missy_write_write_json);
}

static void write_audit_event(void *state, const struct writer_out *out, const struct event *ev)
{
    missy_write_write_event(state, out, ev, write_audit);
}

const struct writer writer_missy_json = {
    .name = "missy-json",
    .summary = "missy's JSON progress",
    .state_size = sizeof(struct missy_writer),
    .event = write_json_event,
};

const struct writer writer_missy_audit = {
    .name = "missy-audit",
    .summary = "missy's audit log, with its hash chain",
    .state_size = sizeof(struct missy_writer),
    .event = write_audit_event,
};
