/* SPDX-License-Identifier: MIT
 * Owns the stages of a turn, and the events that are held back between attempts. */
#include "core/turn/turn.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "base/sys/uuid.h"
#include "core/turn/turn_internal.h"
#include "text/sentence/texts.h"
#include "turn/request_preview.h"

/* Between the id of a request and the number of its attempt. */
#define ATTEMPT_MARK "~"

/* --- from guard to result and instances --------------------------------------------------- */

static void turn_move(struct turn *t, enum turn_state_event event)
{
    t->state = turn_state_next(t->state, event);
}

static void turn_store_event(struct turn *t, const struct event *ev)
{
    t->kept = xrealloc(t->kept, (t->n_kept + 1) * sizeof(struct shared_event *));
    t->kept[t->n_kept++] = shared_event_new(ev);
}

static void turn_defer_commit(struct turn *t)
{
    t->commit.deferred++;
}

static void turn_allow_commit(struct turn *t)
{
    ASSERT(t->commit.deferred > 0);
    if (--t->commit.deferred || !t->commit.due)
        return;
    t->commit.due = false;
    struct shared_event *const outcome = shared_event_ref(t->kept[0]);
    struct event ev = *shared_event_get(outcome);
    ev.u.meta = &ev.meta;
    t->owner.commit(t->owner.ctx, &ev);
    shared_event_unref(outcome);
}

static void turn_commit(struct turn *t, const struct event *outcome)
{
    ASSERT(!t->n_kept);
    turn_move(t, TURN_ON_COMMIT);
    turn_store_event(t, outcome);
    t->commit.due = true;
}

/* Approval rules check the arguments as the agent sent them; people see texts with invisible
 * characters escaped. */
static void turn_prepare_request(struct turn *t, struct tc_request *request)
{
    if (t->owner.request) {
        t->owner.request(t->owner.ctx, request);
        request->preview = NULL; /* no agent writes its own */
    }
    request_preview_request(&t->stream->translate.scratch, request);
}

/* Fills in the text of a turn that the agent started itself and whose end would otherwise be
 * unclear. */
static void turn_fill_final(struct tc_final *final)
{
    if (final->text_len)
        return;
    final->text = texts_get(TEXT_BACKGROUND_ENDED);
    final->text_len = strlen(final->text);
    final->synthesized = true;
}

static void turn_report_started(struct turn *t)
{
    void (*const started)(void *ctx) = t->owner.started;
    t->owner.started = NULL;
    if (started)
        started(t->owner.ctx);
}

static void turn_cast(void *ctx, struct event *ev)
{
    struct turn *const t = ctx;
    TEXTS_IN(t->owner.language);
    if (ev->kind == TC_FINAL && t->by_agent)
        turn_fill_final(&ev->u.final);
    if (ev->kind == TC_START && !ev->u.start.task)
        ev->u.start.task = t->task;
    if (ev->kind == TC_START && t->owner.resumed)
        ev->u.start.resumed = true;
    if (ev->kind == TC_REQUEST)
        turn_prepare_request(t, &ev->u.request);
    turn_result_feed(&t->result, ev);
    const bool is_outcome = ev->kind == TC_FINAL || ev->kind == TC_ERROR;
    ASSERT(!is_outcome || !t->owner.commit || t->commit.deferred);
    if (is_outcome && t->owner.commit) {
        turn_commit(t, ev);
        return;
    }
    if (is_outcome)
        turn_move(t, TURN_ON_DISPATCH);
    if (turn_waits_for_commit(t))
        turn_store_event(t, ev);
    else if (t->cast)
        dispatch_event(t->cast, ev);
    if (ev->kind == TC_START)
        turn_report_started(t);
}

static void turn_dispatch_shared(struct turn *t, struct shared_event *shared)
{
    struct event ev = *shared_event_get(shared);
    ev.u.meta = &ev.meta;
    dispatch_event(t->cast, &ev);
    shared_event_unref(shared);
}

void turn_confirm_outcome(struct turn *t)
{
    turn_move(t, TURN_ON_CONFIRM);
    for (size_t i = 0; i < t->n_kept; i++)
        turn_dispatch_shared(t, t->kept[i]);
    free(t->kept);
    t->kept = NULL;
    t->n_kept = 0;
}

/* ---- the attempt gate, between translator and guard ---- */

static const struct event *turn_find_gated(const struct turn *t, enum tc_kind kind)
{
    for (size_t i = 0; i < t->n_gated; i++)
        if (shared_event_get(t->gated[i])->kind == kind)
            return shared_event_get(t->gated[i]);
    return NULL;
}

/* The error or end of a sub-agent does not end the turn. */
static bool turn_is_child(const struct event *ev)
{
    return ev->meta.agent || ev->meta.parent_id;
}

static bool turn_gates_event(const struct turn *t, const struct event *ev)
{
    if (t->state != TURN_RUNNING || turn_is_child(ev) || guard_has_outcome(&t->guard))
        return false;
    switch ((int)ev->kind) {
    case TC_ERROR:
    case TC_DONE:
        return true;
    case TC_USAGE:
        return strcmp(ev->u.usage.scope, "turn") == 0;
    case TC_FINAL:
        return turn_find_gated(t, TC_ERROR); /* the first outcome counts */
    default:
        return false;
    }
}

static void turn_clear_gated(struct turn *t)
{
    for (size_t i = 0; i < t->n_gated; i++)
        shared_event_unref(t->gated[i]);
    t->n_gated = 0;
}

static void turn_emit_gated(struct turn *t)
{
    for (size_t i = 0; i < t->n_gated; i++) {
        struct event ev = *shared_event_get(t->gated[i]);
        ev.u.meta = &ev.meta;
        guard_feed(&t->guard, &ev);
    }
    turn_clear_gated(t);
}

static bool is_end(const struct event *ev)
{
    return ev->kind == TC_FINAL || ev->kind == TC_ERROR || ev->kind == TC_DONE;
}

static bool turn_ignores_event(const struct turn *t, const struct event *ev)
{
    return t->abandoned && is_end(ev) && !turn_is_child(ev) && !guard_has_outcome(&t->guard);
}

/* The usage of the attempt counts, however the turn ends. */
static void turn_drop_gated_end(struct turn *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->n_gated; i++)
        if (is_end(shared_event_get(t->gated[i])))
            shared_event_unref(t->gated[i]);
        else
            t->gated[kept++] = t->gated[i];
    t->n_gated = kept;
}

/* The dialect of the stream was not configured, and has been detected. */
static void turn_set_found_dialect(struct turn *t)
{
    t->dialect = t->stream->translate.dialect;
    t->guard.src = t->dialect->name;
}

/* Agents number their requests anew in each attempt: a repeated id gets a suffix, so that a
 * decision never applies to a later request. */
static void turn_rename_request(struct turn *t, struct tc_request *request)
{
    if (t->attempt > 1 && request->request_id && *request->request_id)
        request->request_id = arena_sprintf(&t->stream->translate.scratch, "%s" ATTEMPT_MARK "%u",
                                            request->request_id, t->attempt);
}

char *turn_agent_request_id(const struct turn *t, const char *request_id)
{
    CLEANUP_FREE char *mark =
        t->attempt > 1 ? xasprintf(ATTEMPT_MARK "%u", t->attempt) : xstrdup("");
    const size_t len = strlen(request_id), tail = strlen(mark);
    if (len < tail || strcmp(request_id + len - tail, mark) != 0)
        return NULL;
    return xstrndup(request_id, len - tail);
}

/* A call that is not known to be read-only may have had side effects, also one of a sub-agent. */
static void turn_record_acting_tool(struct turn *t, const struct tc_tool_call *call)
{
    if (!t->acting_tool && call->read_only != 1)
        t->acting_tool = xstrdup(call->name ? call->name : "a tool");
}

static void turn_count_usage(struct turn *t, struct event *ev)
{
    if (t->dialect && t->dialect->counts_session && !turn_is_child(ev) &&
        strcmp(ev->u.usage.scope, "turn") == 0)
        usage_delta_count(&t->spent, &ev->u.usage, turn_session_id(t));
}

static void gate(void *ctx, struct event *ev)
{
    struct turn *const t = ctx;
    if (!t->dialect && t->stream->translate.dialect)
        turn_set_found_dialect(t);
    if (ev->kind == TC_TOOL_CALL)
        turn_record_acting_tool(t, &ev->u.tool_call);
    if (turn_ignores_event(t, ev))
        return;
    if (ev->kind == TC_REQUEST)
        turn_rename_request(t, &ev->u.request);
    if (ev->kind == TC_USAGE)
        turn_count_usage(t, ev);
    if (turn_gates_event(t, ev)) {
        if (!turn_find_gated(t, ev->kind))
            t->gated[t->n_gated++] = shared_event_new(ev);
        return;
    }
    if (ev->kind == TC_FINAL)
        turn_emit_gated(t); /* a usage or done that arrived before it */
    guard_feed(&t->guard, ev);
}

void turn_release_gated(struct turn *t)
{
    turn_move(t, TURN_ON_RELEASE);
    turn_defer_commit(t);
    turn_emit_gated(t);
    turn_allow_commit(t);
}

/* --- from bytes to translator ---------------------------------------------------------------- */

static void turn_on_line(void *ctx, const char *p, size_t len, bool complete)
{
    struct turn *const t = ctx;
    if (t->watch && complete)
        t->watch(t->watch_ctx, p, len);
    translator_feed_line(&t->stream->translate, p, len, complete);
    if (t->stops && turn_has_outcome(t)) {
        t->stream->lines.stop = true;
        t->stops = false;
    }
}

static void turn_on_dropped(void *ctx, uint64_t bytes)
{
    translator_skip_line(&((struct turn *)ctx)->stream->translate, bytes);
}

/* While bytes are read: the events of these bytes are delivered to recipients as one burst. */
static void turn_set_feeding(struct turn *t, bool on)
{
    t->feeding = on;
    if (on)
        guard_freeze_clock(&t->guard);
    if (t->cast)
        dispatch_set_batching(t->cast, on);
    if (!on)
        guard_thaw_clock(&t->guard);
}

size_t turn_feed(struct turn *t, const char *p, size_t n)
{
    turn_defer_commit(t);
    turn_set_feeding(t, true);
    const size_t taken = line_splitter_feed(&t->stream->lines, p, n);
    turn_set_feeding(t, false);
    turn_allow_commit(t);
    return taken;
}

void turn_feed_eof(struct turn *t)
{
    turn_defer_commit(t);
    line_splitter_finish(&t->stream->lines);
    translator_settle(&t->stream->translate);
    turn_allow_commit(t);
}

enum dialect_work turn_work(const struct turn *t)
{
    return turn_has_outcome(t) ? DIALECT_NO_WORK : translator_work(&t->stream->translate);
}

bool turn_has_background_work(const struct turn *t)
{
    return translator_work(&t->stream->translate) == DIALECT_WORKS;
}

void turn_settle(struct turn *t)
{
    turn_defer_commit(t);
    translator_settle(&t->stream->translate);
    turn_allow_commit(t);
}

/* --- the turns of a stream ------------------------------------------------------------------- */

static void turn_open_turn(struct turn *t, const struct dispatch_turn_spec *spec)
{
    guard_init(&t->guard, t->dialect ? t->dialect->name : "", t->id, turn_cast, t);
    if (t->owner.several)
        guard_may_resume(&t->guard);
    t->began_ms = clock_mono_ms();
    if (!t->owner.several || t->owner.several(t->owner.ctx, ++t->number))
        t->cast = dispatch_open_turn(t->dispatch, spec);
}

static char *turn_make_id(void)
{
    char uuid[37];
    uuid_make(uuid);
    return xstrdup(uuid);
}

/* Called when the stream begins another turn: ends the current turn. */
static void turn_next_turn(void *ctx)
{
    struct turn *const t = ctx;
    const bool feeding = t->feeding;
    guard_end(&t->guard, NULL);
    turn_move(t, TURN_ON_NEXT);
    if (feeding)
        turn_set_feeding(t, false);
    struct dispatch_turn *const before = t->cast;
    t->cast = NULL;
    guard_fini(&t->guard);
    free(t->id);
    t->id = turn_make_id();
    free(t->acting_tool);
    t->acting_tool = NULL;
    turn_open_turn(t, &(struct dispatch_turn_spec){
                          .id = t->id, .agent = t->agent, .visibility = t->visibility});
    dispatch_close_turn(before);
    turn_result_fini(&t->result);
    t->result = (struct turn_result){0};
    if (feeding)
        turn_set_feeding(t, true);
}

void turn_pause(struct turn *t)
{
    if (t->owner.several && guard_has_outcome(&t->guard) && !guard_is_suspended(&t->guard))
        guard_end(&t->guard, NULL);
}

static void turn_reset_stream(struct turn *t)
{
    translator_init(&t->stream->translate, t->dialect, gate, t);
    t->stream->translate.out.follows = t->follows;
    if (t->owner.several)
        translator_split(&t->stream->translate, turn_next_turn);
}

static void turn_attach_stream(struct turn *t, struct agent_stream *s)
{
    t->stream = s;
    t->stream->lines.line = turn_on_line;
    t->stream->lines.dropped = turn_on_dropped;
    t->stream->lines.ctx = t;
    t->stream->translate.emit = gate;
    t->stream->translate.ctx = t;
    t->stream->translate.out.follows = t->follows;
    if (t->owner.several)
        translator_split(&t->stream->translate, turn_next_turn);
}

void turn_continue_stream(struct turn *t, struct agent_stream *s, bool by_agent)
{
    agent_stream_free(t->stream);
    t->by_agent = by_agent;
    turn_attach_stream(t, s);
    turn_defer_commit(t);
    translator_next(&s->translate, by_agent);
    turn_allow_commit(t);
}

struct turn *turn_new(struct dispatch *d, const struct turn_spec *spec)
{
    ASSERT(!spec->several || !spec->commit);
    struct turn *const t = xcalloc(1, sizeof *t);
    t->id = spec->id ? xstrdup(spec->id) : turn_make_id();
    t->task = xstrdup(spec->task);
    t->agent = xstrdup(spec->agent);
    t->dialect = spec->dialect;
    t->owner.commit = spec->commit;
    t->owner.request = spec->request;
    t->owner.several = spec->several;
    t->owner.started = spec->started;
    t->owner.ctx = spec->ctx;
    t->follows = spec->follows;
    t->dispatch = d;
    t->visibility = spec->visibility;
    t->owner.language = spec->language;
    t->owner.resumed = spec->resumed;
    t->state = spec->several ? TURN_RELEASED : TURN_RUNNING;
    t->attempt = 1;
    turn_attach_stream(t, agent_stream_new(spec->dialect, spec->max_line));
    turn_open_turn(t, &(struct dispatch_turn_spec){.id = t->id,
                                                   .agent = spec->agent,
                                                   .conversation = spec->conversation,
                                                   .submitter = spec->submitter,
                                                   .route = spec->route,
                                                   .instances = spec->instances,
                                                   .visibility = spec->visibility,
                                                   .is_known = spec->resumed});
    return t;
}

/* --- the end of an attempt ------------------------------------------------------------------- */

static bool turn_is_ended_by_host(const struct stream_end_info *end)
{
    return end->how == STREAM_TIMEOUT || end->how == STREAM_CANCELLED ||
           end->how == STREAM_SHUTDOWN;
}

static void turn_finish(struct turn *t, struct stream_end_info *end)
{
    TEXTS_IN(t->owner.language);
    turn_defer_commit(t);
    if (turn_is_ended_by_host(end))
        turn_drop_gated_end(t);
    turn_release_gated(t);
    if (end->how == STREAM_EOF && end->truncated && !guard_has_outcome(&t->guard)) {
        end->code = "agent_truncated";
        end->message = texts_get(TEXT_OUTPUT_CUT);
    }
    guard_end(&t->guard, end);
    turn_allow_commit(t);
    turn_move(t, TURN_ON_END);
    t->ended_ms = clock_mono_ms();
}

void turn_end_attempt(struct turn *t, struct stream_end_info *end, const char *retry)
{
    if (turn_has_ended(t))
        return;
    turn_defer_commit(t);
    line_splitter_finish(&t->stream->lines);
    translator_end(&t->stream->translate, end);
    if (!retry)
        turn_finish(t, end);
    turn_allow_commit(t);
    if (!retry)
        return;
    turn_move(t, TURN_ON_RETRY);
    turn_clear_gated(t);
    free(t->acting_tool);
    t->acting_tool = NULL;
    translator_fini(&t->stream->translate);
    turn_reset_stream(t);
    t->attempt++;
    turn_emit_notice(t, "info", "retry", retry);
}

struct agent_stream *turn_detach_stream(struct turn *t)
{
    struct agent_stream *const s = t->stream;
    struct stream_end_info end = {.how = STREAM_EOF};
    ASSERT(s && !turn_has_ended(t));
    turn_defer_commit(t);
    translator_end(&s->translate, &end);
    turn_finish(t, &end);
    turn_allow_commit(t);
    t->stream = NULL;
    return s;
}

void turn_resolve_request(struct turn *t, const struct tc_request *resolved)
{
    struct event ev;
    event_init(&ev, TC_REQUEST);
    ev.u.request.request_id = resolved->request_id;
    ev.u.request.state = "resolved";
    ev.u.request.decision = resolved->decision;
    ev.u.request.answers = resolved->answers;
    ev.u.request.by = resolved->by;
    ev.u.request.reason = resolved->reason;
    guard_feed(&t->guard, &ev);
}

void turn_emit_notice(struct turn *t, const char *level, const char *code, const char *text)
{
    struct event ev;
    event_init_notice(&ev, level, code, text);
    guard_feed(&t->guard, &ev);
}

void turn_emit_operator_notice(struct turn *t, const char *level, const char *code,
                               const char *text)
{
    struct event ev;
    event_init_notice(&ev, level, code, text);
    ev.meta.audience = "operator";
    guard_feed(&t->guard, &ev);
}

bool turn_has_outcome(const struct turn *t)
{
    return guard_has_outcome(&t->guard) || turn_find_gated(t, TC_ERROR) ||
           turn_find_gated(t, TC_DONE);
}

const struct tc_error *turn_gated_error(const struct turn *t)
{
    const struct event *const ev = turn_find_gated(t, TC_ERROR);
    return ev ? &ev->u.error : NULL;
}

void turn_annotate_error(struct turn *t, const char *note)
{
    for (size_t i = 0; i < t->n_gated; i++) {
        struct event ev = *shared_event_get(t->gated[i]);
        if (ev.kind != TC_ERROR)
            continue;
        CLEANUP_FREE char *text =
            xasprintf("%s%s", ev.u.error.message ? ev.u.error.message : "", note);
        ev.u.error.message = text;
        ev.u.meta = &ev.meta;
        struct shared_event *const old = t->gated[i];
        t->gated[i] = shared_event_new(&ev);
        shared_event_unref(old);
    }
}

void turn_detach(struct turn *t)
{
    turn_move(t, TURN_ON_DETACH);
}

void turn_free(struct turn *t)
{
    if (!t)
        return;
    TEXTS_IN(t->owner.language);
    struct stream_end_info end = {
        .how = STREAM_SHUTDOWN, .code = "host_shutdown", .message = texts_get(TEXT_SHUTTING_DOWN)};
    turn_end_attempt(t, &end, NULL);
    if (turn_waits_for_commit(t))
        turn_confirm_outcome(t);
    ASSERT(t->state == TURN_ENDED);
    dispatch_close_turn(t->cast);
    agent_stream_free(t->stream);
    guard_fini(&t->guard);
    turn_result_fini(&t->result);
    free(t->id);
    free(t->task);
    free(t->agent);
    free(t->acting_tool);
    usage_delta_fini(&t->spent);
    free(t);
}
