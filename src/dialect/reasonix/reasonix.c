/* SPDX-License-Identifier: MIT
 * Reads the event stream of Reasonix and of its fork ok: one object with a kind per line or frame.
 * Supports the kinds of newer servers; unknown ones become raw. */
#include "dialect/reader/dialect_emit.h"
#include "dialect/reader/value.h"
#include "dialect/reasonix/reasonix.h"

struct line {
    struct str self, kind, text, reasoning, level, detail, code, tool, usage, approval, ask, err,
        covenant, outcome, attempt;
};

static char *reasonix_rest(const struct reasonix_ctx *call, struct str object,
                           const char *const *known)
{
    return value_extra_except(call->out->scratch, object, known);
}

static void reasonix_read_started(const struct reasonix_ctx *call, const struct line *l)
{
    static const char *const known[] = {"kind", NULL};
    if (call->r->verdict == REASONIX_REFUSED && !call->r->ended)
        reasonix_end_turn(call, NULL, NULL, NULL);
    reasonix_start(call, NULL, reasonix_rest(call, l->self, known));
}

static void reasonix_read_reasoning(const struct reasonix_ctx *call, const struct line *l)
{
    reasonix_thinking(call, l->text);
}

static void reasonix_read_text(const struct reasonix_ctx *call, const struct line *l)
{
    reasonix_text(call, l->text);
}

static void reasonix_read_usage(const struct reasonix_ctx *call, const struct line *l)
{
    static const char *const known[] = {"promptTokens",
                                        "completionTokens",
                                        "totalTokens",
                                        "cacheHitTokens",
                                        "cacheMissTokens",
                                        "reasoningTokens",
                                        "sessionCacheHitTokens",
                                        "sessionCacheMissTokens",
                                        "cost",
                                        "currency",
                                        "source",
                                        NULL};
    struct reasonix_usage u = {0};
    const struct value_row rows[] = {{"promptTokens", &u.prompt},
                                     {"completionTokens", &u.completion},
                                     {"totalTokens", &u.total},
                                     {"cacheHitTokens", &u.hit},
                                     {"cacheMissTokens", &u.miss},
                                     {"reasoningTokens", &u.reasoning},
                                     {"sessionCacheHitTokens", &u.session_hit},
                                     {"sessionCacheMissTokens", &u.session_miss},
                                     {"cost", &u.cost},
                                     {"currency", &u.currency},
                                     {"costUsd", &u.cost_usd},
                                     {"source", &u.source}};
    value_get_members(l->usage, VALUE_ROWS(rows));
    u.x = reasonix_rest(call, l->usage, known);
    reasonix_usage(call, &u);
}

static void reasonix_read_message(const struct reasonix_ctx *call, const struct line *l)
{
    static const char *const known[] = {"kind", "text", "reasoning", NULL};
    reasonix_message(call, l->text, l->reasoning, reasonix_rest(call, l->self, known));
    if (l->usage.p)
        reasonix_read_usage(call, l);
}

/* Only output of the current attempt counts. */
static bool is_stray(const struct reasonix_ctx *call, struct str tool)
{
    const char *const attempt = reasonix_copy(call, value_get_last(tool, "attemptId"));
    const struct buf *const open = &call->r->message_id;
    return attempt && open->len && strcmp(attempt, open->p) != 0;
}

static void reasonix_read_partial(const struct reasonix_ctx *call, const struct line *l)
{
    static const char *const known[] = {"id",       "name",    "readOnly", "argChars",
                                        "parentId", "partial", NULL};
    struct reasonix_tool t = reasonix_tool_read(l->tool, true);
    if (is_stray(call, l->tool)) {
        dialect_emit_raw(call->out, call->name, l->self, "tool_dispatch");
        return;
    }
    t.x = reasonix_rest(call, l->tool, known);
    if (value_is_true(t.read_only))
        t.x = reasonix_prepend_member(call->out->scratch, t.x, "readOnly", "true");
    reasonix_prepare(call, &t);
}

static void reasonix_handle_tool_dispatch(const struct reasonix_ctx *call, const struct line *l)
{
    static const char *const known[] = {"id", "name", "args", "readOnly", "parentId", NULL};
    struct reasonix_tool t = reasonix_tool_read(l->tool, true);
    reasonix_clear_pending_end(call);
    if (value_is_true(value_get_last(l->tool, "partial"))) {
        reasonix_read_partial(call, l);
        return;
    }
    t.x = reasonix_rest(call, l->tool, known);
    reasonix_dispatch(call, &t);
}

static void reasonix_read_result(const struct reasonix_ctx *call, const struct line *l)
{
    static const char *const known[] = {"id",       "name",      "output",     "err",
                                        "readOnly", "truncated", "durationMs", "parentId",
                                        "diff",     "added",     "removed",    NULL};
    struct reasonix_tool t = reasonix_tool_read(l->tool, true);
    t.x = reasonix_rest(call, l->tool, known);
    reasonix_result(call, &t);
}

static void reasonix_read_output(const struct reasonix_ctx *call, const struct line *l)
{
    static const char *const known[] = {"id", "name", "output", "readOnly", "parentId", NULL};
    struct reasonix_tool t = reasonix_tool_read(l->tool, true);
    t.x = reasonix_rest(call, l->tool, known);
    if (!value_equals(l->kind, "tool_progress"))
        t.x = reasonix_prepend_member(call->out->scratch, t.x, "kind", "\"tool_result_preview\"");
    reasonix_output(call, &t);
}

static void reasonix_read_notice(const struct reasonix_ctx *call, const struct line *l)
{
    static const char *const known[] = {"kind", "text", "level", "detail", "code", NULL};
    const char *const level = reasonix_copy(call, l->level);
    const char *const text = reasonix_copy(call, l->text);
    struct event ev;
    event_init_notice(&ev, level && *level ? level : "info", reasonix_copy(call, l->code),
                      text ? text : "");
    ev.u.notice.detail = reasonix_copy(call, l->detail);
    ev.meta.x = reasonix_rest(call, l->self, known);
    dialect_emit_draft(call->out, &ev);
}

static void reasonix_read_phase(const struct reasonix_ctx *call, const struct line *l)
{
    static const char *const known[] = {"kind", "text", NULL};
    const char *x = reasonix_rest(call, l->self, known);
    if (!value_equals(l->kind, "phase"))
        x = reasonix_prepend_member(call->out->scratch, x, "kind", "\"turn_phase\"");
    reasonix_emit_step(call, reasonix_copy(call, l->text), x);
}

static void reasonix_read_approval(const struct reasonix_ctx *call, const struct line *l)
{
    static const char *const known[] = {"id", "tool", "subject", "reason", NULL};
    struct reasonix_request r = {.x = reasonix_rest(call, l->approval, known)};
    const struct value_row rows[] = {
        {"id", &r.id}, {"tool", &r.tool}, {"subject", &r.subject}, {"reason", &r.reason}};
    value_get_members(l->approval, VALUE_ROWS(rows));
    reasonix_emit_request(call, "approval", &r);
}

static void reasonix_read_ask(const struct reasonix_ctx *call, const struct line *l)
{
    static const char *const known[] = {"id", "questions", NULL};
    struct reasonix_request r = {.x = reasonix_rest(call, l->ask, known)};
    const struct value_row rows[] = {{"id", &r.id}, {"questions", &r.questions}};
    value_get_members(l->ask, VALUE_ROWS(rows));
    reasonix_emit_request(call, "ask", &r);
}

static void reasonix_read_aborted(const struct reasonix_ctx *call, const struct line *l)
{
    static const char *const known[] = {"kind", NULL};
    const char *const err = reasonix_copy(call, l->err);
    const char *const covenant = reasonix_copy(call, l->covenant);
    reasonix_refuse(call, covenant ? covenant : reasonix_covenant(call->out->scratch, err), err,
                    reasonix_rest(call, l->self, known));
}

/* ok writes a refusal as a turn_done within the turn: the second one ends it. */
static void reasonix_read_done(const struct reasonix_ctx *call, const struct line *l)
{
    static const char *const known[] = {"kind", "err", "outcome", NULL};
    const char *const err = reasonix_copy(call, l->err);
    const bool refusal = err && strncmp(err, "covenant violation: ", 20) == 0;
    if (refusal && call->r->verdict != REASONIX_REFUSED && !call->r->ended)
        reasonix_read_aborted(call, l);
    else
        reasonix_end_turn(call, err && *err ? err : NULL, reasonix_copy(call, l->outcome),
                          reasonix_rest(call, l->self, known));
}

static void reasonix_read_error(const struct reasonix_ctx *call, const struct line *l)
{
    const struct str text = l->text.p ? l->text : l->err;
    reasonix_fail(call, reasonix_copy(call, text), reasonix_copy(call, l->code));
}

/* Start and end of a successful attempt have no new data, but relays need them. */
static void reasonix_read_attempt(const struct reasonix_ctx *call, const struct line *l)
{
    struct reasonix *const r = call->r;
    const struct str id = value_get_last(l->attempt, "id"),
                     action = value_get_last(l->attempt, "action");
    const char *const text = reasonix_copy(call, id);
    const bool open = !text || !r->message_id.len || strcmp(text, r->message_id.p) == 0;
    if (!value_equals(action, "discard")) {
        if (value_equals(action, "begin"))
            reasonix_attempt(call, id);
        dialect_emit_raw(call->out, call->name, l->self, "stream_attempt");
        return;
    }
    const char *const reason = reasonix_copy(call, value_get_last(l->attempt, "reason"));
    dialect_emit_notice(call->out, "info", "stream_discard",
                        reason && *reason ? reason : "the attempt broke off",
                        value_json(call->out->scratch, l->attempt, NULL));
    if (open)
        reasonix_discard(call);
}

/* Lines that begin a turn: all except the start itself, which may have more data. */
static const struct kind {
    const char *kind;
    void (*take)(const struct reasonix_ctx *call, const struct line *l);
} kinds[] = {
    {"turn_started", reasonix_read_started},
    {"reasoning", reasonix_read_reasoning},
    {"text", reasonix_read_text},
    {"message", reasonix_read_message},
    {"tool_dispatch", reasonix_handle_tool_dispatch},
    {"tool_result", reasonix_read_result},
    {"tool_progress", reasonix_read_output},
    {"tool_result_preview", reasonix_read_output},
    {"usage", reasonix_read_usage},
    {"notice", reasonix_read_notice},
    {"phase", reasonix_read_phase},
    {"turn_phase", reasonix_read_phase},
    {"approval_request", reasonix_read_approval},
    {"ask_request", reasonix_read_ask},
    {"turn_aborted", reasonix_read_aborted},
    {"turn_done", reasonix_read_done},
    {"error", reasonix_read_error},
    {"stream_attempt", reasonix_read_attempt},
};

static void reasonix_route_kind(const struct reasonix_ctx *call, const struct line *l)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (value_equals(l->kind, kinds[i].kind)) {
            if (kinds[i].take != reasonix_read_started)
                reasonix_start(call, NULL, NULL);
            kinds[i].take(call, l);
            return;
        }
    const char *const kind = reasonix_copy(call, l->kind);
    reasonix_start(call, NULL, NULL);
    if (!reasonix_emit_notice(call, kind ? kind : "", l->self))
        dialect_emit_raw(call->out, call->name, l->self, kind && *kind ? kind : NULL);
}

static int reasonix_read_line(void *state, const struct dialect_sink *out, const char *line,
                              size_t len)
{
    struct line l = {.self = {line, len}};
    const struct value_row rows[] = {{"kind", &l.kind},
                                     {"text", &l.text},
                                     {"reasoning", &l.reasoning},
                                     {"level", &l.level},
                                     {"detail", &l.detail},
                                     {"code", &l.code},
                                     {"tool", &l.tool},
                                     {"usage", &l.usage},
                                     {"approval", &l.approval},
                                     {"ask", &l.ask},
                                     {"err", &l.err},
                                     {"covenant", &l.covenant},
                                     {"outcome", &l.outcome},
                                     {"streamAttempt", &l.attempt}};
    if (value_parse_line(line, len, VALUE_ROWS(rows)) < 0)
        return -1;
    reasonix_route_kind(&(struct reasonix_ctx){.r = state, .out = out, .name = "reasonix"}, &l);
    return 0;
}

/* A refused turn may end without an event of its own. */
static enum dialect_begin reasonix_begins_turn(const void *state, struct str line)
{
    const struct reasonix *const r = state;
    const bool begins = (r->ended || r->verdict == REASONIX_REFUSED) &&
                        value_equals(value_get_last(line, "kind"), "turn_started");
    return begins ? DIALECT_USERS_TURN : DIALECT_GOES_ON;
}

/* Every event has a kind and no members of other formats; an object with an id is a notice of
 * another system. */
static int reasonix_sniff_line(struct str line, const char *event)
{
    (void)event;
    const bool named = value_string(value_get_last(line, "kind")).p;
    return named && !value_get_last(line, "type").p && !value_get_last(line, "event_type").p
               ? DIALECT_SCORE_CERTAIN
               : 0;
}

const struct dialect dialect_reasonix = {
    .name = "reasonix",
    .summary = "Reasonix and ok, their events as lines or frames",
    .state_size = sizeof(struct reasonix),
    .sniff = reasonix_sniff_line,
    .line = reasonix_read_line,
    .end = reasonix_end,
    .close = reasonix_close,
    .begins = reasonix_begins_turn,
};
