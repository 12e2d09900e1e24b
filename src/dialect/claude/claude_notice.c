/* SPDX-License-Identifier: MIT
 * System lines, task notifications, rate limits and tool heartbeats as notices, steps and
 * progress. */
#include "dialect/claude/claude.h"

static const char *text_or(struct claude *c, struct str value, const char *dflt)
{
    const char *const text = claude_text(c, value);
    return text && *text ? text : dflt;
}

static void claude_notice_emit_raw(struct claude *c, const struct claude_line *l)
{
    const char *const subtype = claude_unescape(c, l->subtype, NULL);
    claude_raw(c, NULL, arena_sprintf(c->out->scratch, "system/%s", subtype ? subtype : ""),
               l->self);
}

static void on_status(struct claude *c, const struct claude_line *l)
{
    struct str status = {0}, mode = {0}, result = {0}, error = {0};
    const struct value_row wants[] = {{"status", &status},
                                      {"permissionMode", &mode},
                                      {"compact_result", &result},
                                      {"compact_error", &error}};
    value_get_members(l->self, VALUE_ROWS(wants));
    struct arena *const a = c->out->scratch;
    const bool failed = result.p && !value_equals(result, "success");
    if (value_equals(status, "compacting"))
        claude_notice(c, "info", "compacting", "Compacting the conversation.", l->self);
    if (result.p)
        claude_notice(c, failed ? "warn" : "info", "compact_result",
                      arena_sprintf(a, "Compacting the conversation: %s",
                                    text_or(c, error, text_or(c, result, "done"))),
                      l->self);
    if (mode.p)
        claude_notice(c, "info", "permission_mode",
                      arena_sprintf(a, "Permission mode: %s", text_or(c, mode, "default")),
                      (struct str){0});
}

static void on_api_retry(struct claude *c, const struct claude_line *l)
{
    struct str attempt = {0}, max = {0}, delay = {0}, status = {0}, error = {0};
    const struct value_row wants[] = {{"attempt", &attempt},
                                      {"max_retries", &max},
                                      {"retry_delay_ms", &delay},
                                      {"error_status", &status},
                                      {"error", &error}};
    value_get_members(l->self, VALUE_ROWS(wants));
    claude_message_drop_open(c, &c->main);
    struct arena *const a = c->out->scratch;
    const char *const what = value_int(status, -1) >= 0
                                 ? arena_sprintf(a, " %lld", (long long)value_int(status, -1))
                                 : "";
    claude_notice(c, "warn", "api_retry",
                  arena_sprintf(a, "API error%s (%s); retry %lld of %lld in %.1f s", what,
                                text_or(c, error, "unknown"), (long long)value_int(attempt, 0),
                                (long long)value_int(max, 0), value_real(delay, 0) / 1000),
                  l->self);
}

static void on_compact_boundary(struct claude *c, const struct claude_line *l)
{
    const struct str meta = value_get_last(l->self, "compact_metadata");
    struct str trigger = {0}, before = {0}, after = {0};
    const struct value_row wants[] = {
        {"trigger", &trigger}, {"pre_tokens", &before}, {"post_tokens", &after}};
    value_get_members(meta, VALUE_ROWS(wants));
    struct arena *const a = c->out->scratch;
    const char *const to = value_int(after, -1) >= 0
                               ? arena_sprintf(a, " to %lld", (long long)value_int(after, -1))
                               : "";
    claude_notice(c, "info", "compact_boundary",
                  arena_sprintf(a, "conversation compacted (%s): %lld tokens%s",
                                text_or(c, trigger, "auto"), (long long)value_int(before, 0), to),
                  l->self);
}

static void on_model_fallback(struct claude *c, const struct claude_line *l)
{
    claude_notice(c, "warn", "model_fallback",
                  text_or(c, value_get_last(l->self, "content"), "Switched to another model."),
                  l->self);
}

static void on_refusal_fallback(struct claude *c, const struct claude_line *l)
{
    claude_retract_lines(c, value_get_last(l->self, "retracted_message_uuids"));
    claude_notice(c, "warn", "model_refusal_fallback",
                  text_or(c, value_get_last(l->self, "content"),
                          "The model refused the request; retrying with another model."),
                  l->self);
}

static void on_refusal(struct claude *c, const struct claude_line *l)
{
    claude_notice(c, "warn", "model_refusal_no_fallback",
                  text_or(c, value_get_last(l->self, "content"), "The model refused the request."),
                  l->self);
}

static const char *claude_notice_level_of(struct str level)
{
    const struct str word = value_string(level);
    if (str_is(word, "warning") || str_is(word, "high") || str_is(word, "warn"))
        return "warn";
    return str_is(word, "error") ? "error" : "info";
}

static void on_informational(struct claude *c, const struct claude_line *l)
{
    claude_notice(c, claude_notice_level_of(value_get_last(l->self, "level")), "informational",
                  text_or(c, value_get_last(l->self, "content"), ""), l->self);
}

static void on_notification(struct claude *c, const struct claude_line *l)
{
    claude_notice(c, claude_notice_level_of(value_get_last(l->self, "priority")), "notification",
                  text_or(c, value_get_last(l->self, "text"), ""), l->self);
}

static void on_permission_denied(struct claude *c, const struct claude_line *l)
{
    const char *const tool = claude_text(c, value_get_last(l->self, "tool_use_id"));
    if (tool && !claude_ids_has(&c->denied, tool))
        claude_ids_add(&c->denied, tool);
    claude_notice(c, "warn", "permission_denied",
                  text_or(c, value_get_last(l->self, "message"), "permission denied"), l->self);
}

static void claude_notice_emit_running(struct claude *c, const char *tool_use_id, const char *name,
                                       const char *message, const char *x)
{
    struct event ev;
    event_init(&ev, TC_PROGRESS);
    ev.u.progress.tool_use_id = tool_use_id;
    ev.u.progress.name = name;
    ev.u.progress.phase = "running";
    ev.u.progress.message = message;
    ev.meta.x = x;
    claude_emit(c, NULL, &ev);
}

static void on_thinking_tokens(struct claude *c, const struct claude_line *l)
{
    static const char *const skip[] = {"type", "subtype", "session_id", "uuid", NULL};
    claude_notice_emit_running(c, NULL, NULL, "thinking",
                               value_extra_except(c->out->scratch, l->self, skip));
}

/* Members of a task line. A task is a sub-agent or a command that runs in the background. */
struct claude_task_line {
    const char *id, *tool_use_id, *x;
    struct str text, kind, agent, status;
};

static struct claude_task_line read_task(struct claude *c, const struct claude_line *l)
{
    static const char *const skip[] = {"type",        "subtype", "session_id",  "uuid",
                                       "tool_use_id", "prompt",  "description", "summary",
                                       "status",      NULL};
    struct claude_task_line t = {0};
    struct str id = {0}, tool = {0}, summary = {0};
    const struct value_row wants[] = {
        {"task_id", &id},       {"tool_use_id", &tool},      {"description", &t.text},
        {"task_type", &t.kind}, {"subagent_type", &t.agent}, {"status", &t.status},
        {"summary", &summary},
    };
    value_get_members(l->self, VALUE_ROWS(wants));
    if (summary.p)
        t.text = summary;
    t.id = text_or(c, id, "");
    t.tool_use_id = claude_text(c, tool);
    t.x = value_extra_except(c->out->scratch, l->self, skip);
    return t;
}

static void claude_notice_emit_agent(struct claude *c, const struct claude_task_line *t,
                                     const char *state)
{
    struct event ev;
    event_init(&ev, TC_STEP);
    ev.u.step.state = state;
    ev.u.step.kind = "agent";
    ev.u.step.name = claude_text(c, t->agent);
    ev.u.step.step_id = t->id;
    ev.u.step.outcome = claude_text(c, t->status);
    ev.meta.agent = t->id;
    ev.meta.parent_id = t->tool_use_id;
    ev.meta.x = t->x;
    claude_emit(c, NULL, &ev);
}

static void on_task_started(struct claude *c, const struct claude_line *l)
{
    const struct claude_task_line t = read_task(c, l);
    if (!value_equals(t.kind, "local_agent")) {
        claude_notice_emit_running(c, t.tool_use_id, NULL, text_or(c, t.text, NULL), t.x);
        return;
    }
    claude_ids_add(&c->tasks, t.id);
    claude_notice_emit_agent(c, &t, "start");
}

static void on_task_progress(struct claude *c, const struct claude_line *l)
{
    const struct claude_task_line t = read_task(c, l);
    claude_notice_emit_running(c, t.tool_use_id, NULL, text_or(c, t.text, NULL), t.x);
}

static void on_task_notification(struct claude *c, const struct claude_line *l)
{
    const struct claude_task_line t = read_task(c, l);
    claude_work_reported(c);
    if (claude_ids_remove(&c->tasks, t.id)) {
        claude_notice_emit_agent(c, &t, "end");
        return;
    }
    const bool good = value_equals(t.status, "completed");
    claude_notice(c, good ? "info" : "warn", "task_notification",
                  text_or(c, t.text, "A background task ended."), l->self);
}

static void on_session_state(struct claude *c, const struct claude_line *l)
{
    if (!c->closed) /* idle follows the result directly and needs no event */
        claude_notice_emit_raw(c, l);
    claude_work_state(c, l);
}

static void on_background_tasks(struct claude *c, const struct claude_line *l)
{
    claude_notice_emit_raw(c, l);
    claude_work_tasks(c, l);
}

static void on_hook_started(struct claude *c, const struct claude_line *l)
{
    claude_notice(c, "info", "hook_started",
                  text_or(c, value_get_last(l->self, "hook_name"), "hook"), l->self);
}

static void on_hook_response(struct claude *c, const struct claude_line *l)
{
    const bool good = str_is(value_string(value_get_last(l->self, "outcome")), "success");
    claude_notice(c, good ? "info" : "warn", "hook_response",
                  text_or(c, value_get_last(l->self, "hook_name"), "hook"), l->self);
}

void claude_handle_system(struct claude *c, const struct claude_line *l)
{
    static const struct {
        const char *subtype;
        void (*handle)(struct claude *c, const struct claude_line *l);
    } handlers[] = {
        {"status", on_status},
        {"thinking_tokens", on_thinking_tokens},
        {"api_retry", on_api_retry},
        {"task_started", on_task_started},
        {"task_progress", on_task_progress},
        {"task_notification", on_task_notification},
        {"background_tasks_changed", on_background_tasks},
        {"session_state_changed", on_session_state},
        {"permission_denied", on_permission_denied},
        {"compact_boundary", on_compact_boundary},
        {"model_fallback", on_model_fallback},
        {"model_refusal_fallback", on_refusal_fallback},
        {"model_refusal_no_fallback", on_refusal},
        {"informational", on_informational},
        {"notification", on_notification},
        {"hook_started", on_hook_started},
        {"hook_response", on_hook_response},
    };
    for (size_t i = 0; i < sizeof(handlers) / sizeof(*handlers); i++)
        if (str_is(l->subtype, handlers[i].subtype)) {
            handlers[i].handle(c, l);
            return;
        }
    claude_notice_emit_raw(c, l);
}

/* The parent of the line is the tool itself: a heartbeat is no text of a sub-agent. */
void claude_tool_progress(struct claude *c, const struct claude_line *l)
{
    static const char *const skip[] = {"type",        "session_id", "uuid", "parent_tool_use_id",
                                       "tool_use_id", "tool_name",  NULL};
    struct str name = {0}, elapsed = {0}, own = {0};
    const struct value_row wants[] = {
        {"tool_name", &name}, {"elapsed_time_seconds", &elapsed}, {"tool_use_id", &own}};
    value_get_members(l->self, VALUE_ROWS(wants));
    struct arena *const a = c->out->scratch;
    const char *const message =
        elapsed.p ? arena_sprintf(a, "Running for %.0f s", value_real(elapsed, 0)) : NULL;
    const char *const id =
        l->parent.len ? claude_unescape(c, l->parent, NULL) : claude_text(c, own);
    claude_notice_emit_running(c, id, claude_text(c, name), message,
                               value_extra_except(a, l->self, skip));
}

void claude_rate_limit(struct claude *c, const struct claude_line *l)
{
    struct str status = {0}, kind = {0}, used = {0};
    const struct value_row wants[] = {
        {"status", &status}, {"rateLimitType", &kind}, {"utilization", &used}};
    value_get_members(value_get_last(l->self, "rate_limit_info"), VALUE_ROWS(wants));
    const struct str word = value_string(status);
    const char *const level = str_is(word, "rejected")          ? "error"
                              : str_is(word, "allowed_warning") ? "warn"
                                                                : "info";
    struct arena *const a = c->out->scratch;
    const char *const share =
        used.p ? arena_sprintf(a, ", %.0f %% used", value_real(used, 0) * 100) : "";
    claude_notice(c, level, "rate_limit",
                  arena_sprintf(a, "Rate limit %s: %s%s", text_or(c, kind, "?"),
                                text_or(c, status, "?"), share),
                  l->self);
}

void claude_api_error_passed(struct claude *c)
{
    if (!c->api_error.text.len)
        return;
    struct event ev;
    event_init_notice(&ev, "warn", "api_error", c->api_error.text.p);
    ev.u.notice.detail = c->api_error.code[0] ? c->api_error.code : NULL;
    claude_emit(c, NULL, &ev);
    buf_reset(&c->api_error.text);
    c->api_error.code[0] = '\0';
}
