/* SPDX-License-Identifier: MIT
 * State machine of a turn: its start, its one outcome, the events permitted after it, and its
 * end. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "base/plural.h"
#include "base/sys/clock.h"
#include "event/codec.h"
#include "turn/guard_internal.h"

void guard_init(struct guard *g, const char *src, const char *correlation_id,
                void (*emit)(void *ctx, struct event *ev), void *ctx)
{
    *g = (struct guard){.emit = emit,
                        .ctx = ctx,
                        .src = src,
                        .correlation_id = correlation_id,
                        .now = clock_wall_s,
                        .read_at = -1,
                        .steps.forgets = true};
}

void guard_fini(struct guard *g)
{
    open_items_fini(&g->tools);
    open_items_fini(&g->steps);
    open_items_fini(&g->requests);
    kept_text_fini(&g->kept);
    shared_event_unref(g->held_done);
    shared_event_unref(g->held_usage);
    shared_event_unref(g->held_final);
    free(g->session_id);
    *g = (struct guard){.done = true};
}

bool guard_has_outcome(const struct guard *g)
{
    return g->outcome != GUARD_OPEN || g->held_done;
}

void guard_freeze_clock(struct guard *g)
{
    g->read_at = g->now();
}

void guard_thaw_clock(struct guard *g)
{
    g->read_at = -1;
}

bool guard_has_open_request(const struct guard *g)
{
    return g->requests.open.oldest;
}

static const char *guard_session_id(const struct guard *g)
{
    return g->session_id ? g->session_id : "";
}

void guard_emit(struct guard *g, struct event *ev)
{
    ASSERT(g->started);
    ASSERT(!g->done || ev->kind == TC_DONE);
    struct tc_meta *const meta = &ev->meta;
    meta->seq = ++g->seq;
    if (!(meta->ts >= 0))
        meta->ts = g->read_at >= 0 ? g->read_at : g->now();
    if (!meta->src || !*meta->src) /* a log of another host keeps its error counts */
        meta->src = g->src;
    meta->correlation_id = g->correlation_id;
    if (!meta->session_id || !*meta->session_id)
        meta->session_id = guard_session_id(g);
    ev->u.meta = meta;
    g->emit(g->ctx, ev);
}

/* Whether the event is from a sub-agent and not from the agent of the turn. */
static bool guard_is_child(const struct event *ev)
{
    return ev->meta.agent || ev->meta.parent_id;
}

static bool is_turn_usage(const struct event *ev)
{
    return strcmp(ev->u.usage.scope, "turn") == 0;
}

/* An event without a session belongs to the session that is known now, even if the event is
 * held. */
static void learn_session(struct guard *g, struct event *ev)
{
    const char *const id = ev->meta.session_id;
    if (!id || !*id) {
        ev->meta.session_id = guard_session_id(g);
        return;
    }
    if (guard_is_child(ev) || strcmp(guard_session_id(g), id) == 0)
        return;
    free(g->session_id);
    g->session_id = xstrdup(id);
}

static void invent_start(struct guard *g)
{
    struct event ev;
    event_init(&ev, TC_START);
    g->started = true;
    guard_emit(g, &ev);
}

/* Emits a notice in place of ev. */
static void guard_emit_as_notice(struct guard *g, const struct event *ev, const char *level,
                                 const char *code, const char *text)
{
    struct event notice;
    event_init_notice(&notice, level, code, text);
    notice.meta = ev->meta;
    guard_emit(g, &notice);
}

static void guard_emit_as_message(struct guard *g, const struct event *final)
{
    struct event message;
    event_init(&message, TC_MESSAGE);
    message.meta = final->meta;
    message.u.message.text = final->u.final.text;
    message.u.message.text_len = final->u.final.text_len;
    message.u.message.message_id = final->u.final.message_id;
    guard_emit(g, &message);
}

static void guard_retain_event(struct guard *g, struct shared_event **held, const struct event *ev)
{
    if (*held)
        g->stats.duplicates++;
    else
        *held = shared_event_new(ev);
}

static void guard_retain_done(struct guard *g, const struct event *ev)
{
    if (guard_is_child(ev))
        g->stats.unmatched++;
    else
        guard_retain_event(g, &g->held_done, ev);
}

static bool guard_is_reason(const struct event *done, const char *reason)
{
    return strcmp(done->u.done.reason, reason) == 0;
}

static bool guard_is_held_done_suspended(const struct guard *g)
{
    return g->held_done && guard_is_reason(shared_event_get(g->held_done), "suspended");
}

void guard_may_resume(struct guard *g)
{
    ASSERT(!g->started);
    g->resumes = true;
}

bool guard_is_suspended(const struct guard *g)
{
    return g->resumes && g->outcome == GUARD_OPEN && guard_is_held_done_suspended(g);
}

static void guard_drop(struct shared_event **held)
{
    shared_event_unref(*held);
    *held = NULL;
}

static void guard_emit_outcome(struct guard *g, struct event *ev, enum guard_outcome outcome)
{
    ASSERT(g->outcome == GUARD_OPEN && outcome != GUARD_OPEN);
    ASSERT(!g->done);
    const bool suspended = outcome == GUARD_FINAL && guard_is_held_done_suspended(g);
    guard_close_items(g, !suspended);
    g->outcome = outcome;
    guard_emit(g, ev);
    if (!g->held_usage)
        return;
    struct event usage = *shared_event_get(g->held_usage);
    g->usage_told = true;
    guard_emit(g, &usage);
    guard_drop(&g->held_usage);
}

static void feed_start(struct guard *g, struct event *ev)
{
    if (!g->started) {
        g->started = true;
        guard_emit(g, ev);
        return;
    }
    CLEANUP_BUF struct buf said = {0};
    codec_encode_payload(&said, ev);
    ev->meta.x = said.len > 2 ? said.p : NULL;
    if (!guard_is_suspended(g)) {
        guard_emit_as_notice(g, ev, "info", "restart", "The agent restarted its output.");
        return;
    }
    guard_drop(&g->held_done);
    guard_drop(&g->held_final);
    guard_drop(&g->held_usage);
    guard_emit_as_notice(g, ev, "info", "resumed", "The suspended run goes on.");
}

static void feed_narration(struct guard *g, struct event *ev)
{
    if (ev->u.narration.text_len > 0)
        guard_emit(g, ev);
}

static void feed_thinking(struct guard *g, struct event *ev)
{
    if (ev->u.thinking.text_len > 0 || ev->u.thinking.encrypted)
        guard_emit(g, ev);
}

static void feed_final(struct guard *g, struct event *ev)
{
    if (guard_is_child(ev))
        guard_emit_as_message(g, ev);
    else if (guard_is_suspended(g))
        guard_retain_event(g, &g->held_final, ev);
    else
        guard_emit_outcome(g, ev, GUARD_FINAL);
}

static void guard_feed_error(struct guard *g, struct event *ev)
{
    if (guard_is_child(ev))
        guard_emit_as_notice(g, ev, "error", ev->u.error.code, ev->u.error.message);
    else
        guard_emit_outcome(g, ev, GUARD_ERROR);
}

static void guard_feed_usage(struct guard *g, struct event *ev)
{
    if (is_turn_usage(ev) && !guard_is_child(ev)) {
        guard_retain_event(g, &g->held_usage, ev);
        return;
    }
    ev->u.usage.scope = "call";
    guard_emit(g, ev);
}

/* Events that pass while the turn has no outcome. */
static void feed_open(struct guard *g, struct event *ev)
{
    static void (*const feed[TC_KINDS])(struct guard *, struct event *) = {
        [TC_NARRATION] = feed_narration,
        [TC_THINKING] = feed_thinking,
        [TC_MESSAGE] = guard_emit,
        [TC_FINAL] = feed_final,
        [TC_TOOL_CALL] = guard_feed_paired,
        [TC_PROGRESS] = guard_feed_paired,
        [TC_TOOL_RESULT] = guard_feed_paired,
        [TC_REQUEST] = guard_feed_paired,
        [TC_START] = feed_start,
        [TC_STEP] = guard_feed_paired,
        [TC_ERROR] = guard_feed_error,
        [TC_USAGE] = guard_feed_usage,
        [TC_NOTICE] = guard_emit,
        [TC_STATE] = guard_emit,
        [TC_RAW] = guard_emit,
    };
    if (!guard_is_child(ev))
        kept_text_see(&g->kept, ev);
    if (ev->kind == TC_DONE)
        guard_retain_done(g, ev);
    else
        feed[ev->kind](g, ev);
}

/* The usage of a call right behind the final of the same message adds nothing: it is dropped
 * without being counted. */
static void feed_late_usage(struct guard *g, struct event *ev)
{
    if (!is_turn_usage(ev) || guard_is_child(ev))
        return;
    if (g->usage_told) {
        g->stats.duplicates++;
        return;
    }
    g->usage_told = true;
    guard_emit(g, ev);
}

static void feed_second_outcome(struct guard *g, struct event *ev)
{
    if (guard_is_child(ev)) {
        g->stats.late++;
        return;
    }
    if (ev->kind == TC_ERROR && g->outcome == GUARD_FINAL && !g->error_noted) {
        g->error_noted = true;
        guard_emit_as_notice(g, ev, "error", ev->u.error.code, ev->u.error.message);
        return;
    }
    g->stats.duplicates++;
    if (g->duplicate_noted)
        return;
    g->duplicate_noted = true;
    struct event notice;
    event_init_notice(&notice, "warn", "duplicate_result",
                      "The agent reported more than one result; the first one is used.");
    guard_emit(g, &notice);
}

static void feed_late(struct guard *g, struct event *ev)
{
    if (ev->kind == TC_NOTICE)
        guard_emit(g, ev);
    else if (ev->kind == TC_USAGE)
        feed_late_usage(g, ev);
    else if (ev->kind == TC_DONE)
        guard_retain_done(g, ev);
    else if (ev->kind == TC_FINAL || ev->kind == TC_ERROR)
        feed_second_outcome(g, ev);
    else
        g->stats.late++;
}

void guard_feed(struct guard *g, struct event *ev)
{
    if (g->done) {
        g->stats.late++;
        return;
    }
    learn_session(g, ev);
    if (!g->started && (ev->kind != TC_START || guard_is_child(ev)))
        invent_start(g);
    if (g->outcome == GUARD_OPEN)
        feed_open(g, ev);
    else
        feed_late(g, ev);
}

/* Outcome for a stream without one: done.reason, and the error (code NULL: a final). */
struct guard_default_end {
    const char *reason, *code, *message;
};

static const struct guard_default_end endings[] = {
    [STREAM_EOF] = {"lost", "agent_no_result", "The agent stopped without giving a result."},
    [STREAM_EXIT] = {"lost", "agent_exit", "The agent failed before giving a result."},
    [STREAM_SIGNAL] = {"lost", "agent_signal", "The agent was killed before giving a result."},
    [STREAM_TIMEOUT] = {"error", "agent_timeout",
                        "The agent exceeded its time limit and was stopped."},
    [STREAM_CANCELLED] = {"cancelled", NULL, NULL},
    [STREAM_SHUTDOWN] = {"error", "host_shutdown",
                         "turncast was shut down before the agent gave a result."},
    [STREAM_SPAWN] = {"error", "agent_spawn", "The agent could not be started."},
};

static const struct guard_default_end truncated = {
    "lost", "agent_truncated", "The agent's output was cut off before it gave a result."};

static struct guard_default_end guard_choose_default_end(const struct stream_end_info *end)
{
    struct guard_default_end e = endings[end->how];
    if (end->how == STREAM_EOF && end->truncated)
        e = truncated;
    if (!e.code)
        return e;
    e.code = end->code ? end->code : e.code;
    e.message = end->message ? end->message : e.message;
    return e;
}

static void guard_emit_missing_error(struct guard *g, const char *code, const char *message)
{
    struct event ev;
    event_init(&ev, TC_ERROR);
    ev.u.error.code = code;
    ev.u.error.message = message;
    guard_emit_outcome(g, &ev, GUARD_ERROR);
}

static void guard_emit_synthesized_final(struct guard *g, struct event *final)
{
    final->u.final.synthesized = true;
    guard_emit_outcome(g, final, GUARD_FINAL);
}

/* The text shown to people if the agent wrote none; or NULL. */
static void guard_emit_missing_final(struct guard *g, const char *text)
{
    struct event ev;
    event_init(&ev, TC_FINAL);
    if (text) {
        ev.u.final.text = text;
        ev.u.final.text_len = strlen(text);
    }
    guard_emit_synthesized_final(g, &ev);
}

/* The final says that the turn was stopped, because done follows only after the agent's exit. */
static void guard_emit_cancelled_final(struct guard *g)
{
    struct event ev;
    event_init(&ev, TC_FINAL);
    ev.meta.x = "{\"reason\":\"cancelled\"}";
    kept_text_fill(&g->kept, &ev.u.final);
    guard_emit_synthesized_final(g, &ev);
}

static bool guard_is_failure(const struct event *done)
{
    return guard_is_reason(done, "error") || guard_is_reason(done, "lost");
}

static bool is_known_reason(const struct event *done)
{
    static const char *const known[] = {"completed", "cancelled", "suspended", "stopped",
                                        "refused",   "error",     "lost"};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (guard_is_reason(done, known[i]))
            return true;
    return false;
}

/* The outcome that the stream's own done implies. */
static void guard_emit_outcome_of_done(struct guard *g, const struct event *done)
{
    const char *const detail = done->u.done.detail, *const code = done->u.done.code;
    if (guard_is_reason(done, "lost"))
        guard_emit_missing_error(g, code ? code : endings[STREAM_EOF].code,
                                 detail ? detail : endings[STREAM_EOF].message);
    else if (guard_is_failure(done) || !is_known_reason(done))
        guard_emit_missing_error(g, code, detail ? detail : "The agent reported an error.");
    else if (guard_is_reason(done, "cancelled"))
        guard_emit_cancelled_final(g);
    else
        guard_emit_missing_final(
            g,
            guard_is_reason(done, "refused") || guard_is_reason(done, "stopped") ? detail : NULL);
}

/* Emits the missing outcome; `done` has the stream's information about its end, or is blank and
 * filled in. */
static void guard_emit_default_outcome(struct guard *g, struct event *done,
                                       const struct stream_end_info *end)
{
    const bool cancelled = end->how == STREAM_CANCELLED;
    if (g->held_done && !(cancelled && guard_is_failure(done))) {
        guard_emit_outcome_of_done(g, done);
        return;
    }
    /* A failure after turncast cancelled the turn counts as the cancellation. */
    const struct guard_default_end e = guard_choose_default_end(end);
    if (e.code)
        guard_emit_missing_error(g, e.code, e.message);
    else
        guard_emit_cancelled_final(g);
    done->u.done.reason = e.reason;
    done->u.done.code = e.code;
}

/* Makes done consistent with the emitted outcome. */
static const char *guard_reason_of(const struct guard *g, const struct event *done)
{
    if (g->outcome == GUARD_ERROR)
        return guard_is_failure(done) ? done->u.done.reason : "error";
    const bool final_fits = is_known_reason(done) && !guard_is_reason(done, "lost");
    return final_fits ? done->u.done.reason : "completed";
}

static void guard_emit_late_count(struct guard *g)
{
    if (g->stats.late == 0)
        return;
    CLEANUP_BUF struct buf text = {0}, x = {0};
    buf_printf(&text, "%" PRIu64 " event%s after the outcome %s left out.", g->stats.late,
               PLURAL(g->stats.late, "", "s"), PLURAL(g->stats.late, "was", "were"));
    buf_printf(&x, "{\"count\":%" PRIu64 "}", g->stats.late);
    struct event notice;
    event_init_notice(&notice, "info", "late_event", text.p);
    notice.meta.x = x.p;
    guard_emit(g, &notice);
}

void guard_end(struct guard *g, const struct stream_end_info *end)
{
    static const struct stream_end_info plain = {.how = STREAM_EOF};
    if (g->done)
        return;
    if (!g->started)
        invent_start(g);
    struct event done;
    if (g->held_done)
        done = *shared_event_get(g->held_done);
    else
        event_init(&done, TC_DONE);
    if (g->held_final && g->outcome == GUARD_OPEN) {
        struct event final = *shared_event_get(g->held_final);
        guard_emit_outcome(g, &final, GUARD_FINAL);
    }
    if (g->outcome == GUARD_OPEN)
        guard_emit_default_outcome(g, &done, end ? end : &plain);
    ASSERT(g->outcome != GUARD_OPEN);
    done.u.done.reason = guard_reason_of(g, &done);
    guard_emit_late_count(g);
    g->done = true;
    guard_emit(g, &done);
}
