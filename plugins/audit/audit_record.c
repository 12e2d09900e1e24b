/* SPDX-License-Identifier: MIT
 * Converts events to the keys of AuditReporter: events of a progress reporter become
 * agent.progress.*, others turncast.<kind>. */
#include "audit_record.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* 2026-08-01T07:30:01.000250+00:00 */
static void add_timestamp(struct out *o, double ts)
{
    const double whole = ts >= 0 && ts < 253402300799.0 ? floor(ts) : 0;
    const long micro = ts >= 0 && ts < 253402300799.0 ? lround((ts - whole) * 1e6) : 0;
    const time_t t = (time_t)whole + (micro == 1000000);
    struct tm tm;
    char text[32];
    gmtime_r(&t, &tm);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
    out_printf(o, "{\"timestamp\":\"%s.%06ld+00:00\"", text, micro % 1000000);
}

static void add_member(struct out *o, const char *key, const char *value)
{
    out_printf(o, ",\"%s\":", key);
    out_string(o, value);
}

/* Shortens a text of a detail; the event has the complete text. Cuts between words, so that no part
 * of a secret remains that the masking would not recognise. */
static void add_brief(struct out *o, const char *text)
{
    enum { MAX = 8192 };
    size_t n = strlen(text);
    if (n > MAX) {
        n = MAX;
        while (n > 0 && text[n - 1] != ' ' && text[n - 1] != '\n')
            n--;
    }
    out_string_n(o, text, n);
}

static const char *detail_start(struct out *o, const void *payload)
{
    const struct tc_start *ev = payload;
    out_printf(o, "\"task\":");
    add_brief(o, ev->task ? ev->task : "");
    return "agent.progress.start";
}

static const char *detail_progress(struct out *o, const void *payload)
{
    const struct tc_progress *ev = payload;
    if (!(ev->percent >= 0))
        return NULL;
    out_printf(o, "\"pct\":%.*f", ev->percent == floor(ev->percent) ? 1 : 6, ev->percent);
    out_printf(o, ",\"label\":");
    add_brief(o, ev->message ? ev->message : "");
    return "agent.progress.update";
}

static const char *detail_tool_call(struct out *o, const void *payload)
{
    const struct tc_tool_call *ev = payload;
    out_printf(o, "\"tool\":");
    add_brief(o, ev->name);
    return "agent.progress.tool_start";
}

static const char *detail_tool_result(struct out *o, const void *payload)
{
    const struct tc_tool_result *ev = payload;
    out_printf(o, "\"tool\":");
    add_brief(o, ev->name ? ev->name : "?");
    add_member(o, "summary", ev->is_error ? "error" : "ok");
    return "agent.progress.tool_done";
}

static const char *detail_step(struct out *o, const void *payload)
{
    const struct tc_step *ev = payload;
    if (strcmp(ev->state, "start") != 0 || (ev->kind && strcmp(ev->kind, "step") != 0) ||
        ev->index < 0)
        return NULL;
    out_printf(o, "\"iteration\":%" PRId64 ",\"max\":", ev->index);
    if (ev->max >= 0)
        out_printf(o, "%" PRId64, ev->max);
    else
        out_printf(o, "null");
    return "agent.progress.iteration";
}

static const char *detail_error(struct out *o, const void *payload)
{
    const struct tc_error *ev = payload;
    out_printf(o, "\"error\":");
    add_brief(o, ev->message);
    return "agent.progress.error";
}

static const char *detail_done(struct out *o, const void *payload)
{
    const struct tc_done *ev = payload;
    char summary[64] = "finished";
    if (strcmp(ev->reason, "completed") != 0)
        return NULL;
    if (ev->turns >= 0)
        snprintf(summary, sizeof summary, "finished after %" PRId64 " iteration(s)", ev->turns);
    out_printf(o, "\"summary\":");
    add_brief(o, ev->detail ? ev->detail : summary);
    return "agent.progress.complete";
}

/* Each appends the members of `detail` and returns the event type, or does neither. */
static const char *(*const details[TC_KINDS])(struct out *, const void *) = {
    [TC_START] = detail_start,         [TC_PROGRESS] = detail_progress,
    [TC_TOOL_CALL] = detail_tool_call, [TC_TOOL_RESULT] = detail_tool_result,
    [TC_STEP] = detail_step,           [TC_ERROR] = detail_error,
    [TC_DONE] = detail_done,
};

static void add_kind(struct out *o, const char *event_type, const char *detail)
{
    add_member(o, "event_type", event_type);
    add_member(o, "category", "agent");
    add_member(o, "result", "allow");
    out_printf(o, ",\"detail\":%s,\"policy_rule\":null", detail);
}

void record_head(struct out *o, const struct tc_turn *turn, const struct tc_event *ev)
{
    struct out detail = {0};
    char own_type[64];
    out_add(&detail, "{", 1);
    const char *type = (unsigned)ev->kind < TC_KINDS && details[ev->kind]
                           ? details[ev->kind](&detail, ev->payload)
                           : NULL;
    out_add(&detail, "}", 1);
    if (!type) {
        snprintf(own_type, sizeof own_type, "turncast.%s", ev->name);
        type = own_type;
    }
    add_timestamp(o, ev->meta->ts);
    add_member(o, "session_id", ev->meta->session_id);
    add_member(o, "task_id", ev->meta->correlation_id);
    add_kind(o, type, detail.failed ? "{}" : detail.p);
    add_member(o, "agent", turn->agent);
    add_member(o, "conversation", turn->conversation);
    out_printf(o, ",\"hidden\":%s", ev->meta->hidden ? "true" : "false");
    out_fini(&detail);
}

void record_own_head(struct out *o, double now, const char *event_type, const char *detail)
{
    add_timestamp(o, now);
    add_member(o, "session_id", "");
    add_member(o, "task_id", "");
    add_kind(o, event_type, detail);
}

static bool continues(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

void record_event(struct out *o, const char *line, size_t len, size_t max)
{
    if (len <= max) {
        out_printf(o, ",\"event\":");
        out_add(o, line, len);
        return;
    }
    size_t head = max / 2, tail = len - max / 2;
    while (head > 0 && continues(line[head]))
        head--;
    while (tail < len && continues(line[tail]))
        tail++;
    out_printf(o, ",\"event\":null,\"truncated\":true,\"len\":%zu,\"head\":", len);
    out_string_n(o, line, head);
    out_printf(o, ",\"tail\":");
    out_string_n(o, line + tail, len - tail);
}
