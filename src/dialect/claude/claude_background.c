/* SPDX-License-Identifier: MIT
 * Detects the end of a turn. A sub-agent or a command that runs in the background, or a wake-up,
 * makes Claude Code continue after a result, and a later result may contain the answer. While work
 * is open, the newest answer is held; the last one with a text, or the last error, is the outcome.
 *
 * A turn has ended when a result has answered the user, the model does not work, no task is open,
 * no wake-up is due, and the session was idle after all that. If the session's state is not
 * reported (CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS=1 is not set), the host uses a time of silence
 * instead of the last condition. Neither an empty list of tasks nor "idle" is sufficient: a turn
 * that reports the task follows an empty list, and a command may still run after "idle" (measured
 * with 2.1.330). */
#include "base/bytes/utf8.h"
#include "dialect/claude/claude.h"

static bool claude_background_is_open(const struct claude_work *w)
{
    return w->count || w->wakes;
}

static struct shared_event *claude_background_replace(struct shared_event *old,
                                                      const struct event *ev)
{
    shared_event_unref(old);
    return ev ? shared_event_new(ev) : NULL;
}

static void claude_background_delay_end(struct claude_work *w, const struct claude_ending *e)
{
    if (w->done && w->is_answer && !e->is_answer)
        return;
    w->outcome = claude_background_replace(w->outcome, e->has_outcome ? &e->outcome : NULL);
    w->usage = claude_background_replace(w->usage, &e->usage);
    w->done = claude_background_replace(w->done, &e->done);
    w->is_answer = e->is_answer;
}

static void copy_out(struct event *to, const struct shared_event *from)
{
    *to = *shared_event_get(from);
    to->u.meta = &to->meta;
}

static void claude_background_emit_held(struct claude *c)
{
    struct claude_work *const w = &c->work;
    struct claude_ending e = {.has_outcome = w->outcome};
    if (w->outcome)
        copy_out(&e.outcome, w->outcome);
    copy_out(&e.usage, w->usage);
    copy_out(&e.done, w->done);
    claude_ending_emit(c, &e);
    w->outcome = claude_background_replace(w->outcome, NULL);
    w->usage = claude_background_replace(w->usage, NULL);
    w->done = claude_background_replace(w->done, NULL);
}

/* Counts each task once. */
static void claude_background_emit_waiting(struct claude *c)
{
    struct claude_work *const w = &c->work;
    const char *const text =
        w->count ? arena_sprintf(c->out->scratch, "waiting for background work: %s", w->tasks.p)
                 : "waiting for a wake-up of the agent";
    if (!claude_background_is_open(w) || (w->waiting.len && strcmp(w->waiting.p, text) == 0))
        return;
    buf_reset(&w->waiting);
    buf_add_str(&w->waiting, text);
    claude_notice(c, "info", "background_work", text, (struct str){0});
}

void claude_work_result(struct claude *c, const struct claude_ending *e)
{
    struct claude_work *const w = &c->work;
    w->busy = w->idle = w->reported = false;
    w->own |= e->own;
    claude_background_delay_end(w, e);
    if (w->own && (c->out->follows || (!w->seen && !w->wakes)))
        claude_background_emit_held(c);
    else
        claude_background_emit_waiting(c);
}

static void end_if_over(struct claude *c)
{
    const struct claude_work *const w = &c->work;
    if (w->done && w->own && !w->busy && !claude_background_is_open(w) && w->idle)
        claude_background_emit_held(c);
}

/* A turn begins. A turn without another reason is the scheduled wake-up. */
void claude_work_init(struct claude *c)
{
    struct claude_work *const w = &c->work;
    w->busy = true;
    w->wakes &= !w->done || w->reported;
}

void claude_work_reported(struct claude *c)
{
    c->work.reported = true;
}

static void add_task(struct claude *c, struct buf *out, struct str task)
{
    const char *const name = claude_text(c, value_get_last(task, "description"));
    const char *const id = claude_text(c, value_get_last(task, "task_id"));
    const char *const known = name && *name ? name : id && *id ? id : "a task";
    buf_printf(out, "%s%.*s", out->len ? ", " : "",
               (int)utf8_truncated_len(known, strlen(known), CLAUDE_TASK_SHOWN), known);
}

/* The line lists all running tasks. */
void claude_work_tasks(struct claude *c, const struct claude_line *l)
{
    struct claude_work *const w = &c->work;
    const struct str tasks = value_get_last(l->self, "tasks");
    struct json j;
    struct str task;
    if (!json_reader_open_array(&j, tasks))
        return;
    buf_reset(&w->tasks);
    for (w->count = 0; json_reader_next_value(&j, &task); w->count++)
        if (w->count < CLAUDE_IDS)
            add_task(c, &w->tasks, task);
    w->seen |= w->count > 0;
    w->idle = false;
}

void claude_work_state(struct claude *c, const struct claude_line *l)
{
    c->work.idle = value_equals(value_get_last(l->self, "state"), "idle");
    end_if_over(c);
}

void claude_work_lifecycle(struct claude *c, const struct claude_line *l)
{
    if (value_equals(value_get_last(l->self, "state"), "started") &&
        value_equals(value_get_last(l->self, "wakeup_source"), "loop_wakeup"))
        c->work.wakes = false;
}

void claude_work_scheduled(struct claude *c, struct str tool_use_result)
{
    if (tool_use_result.p && value_int(value_get_last(tool_use_result, "scheduledFor"), -1) > 0)
        c->work.wakes = true;
}

enum dialect_work claude_work_now(void *state)
{
    const struct claude *const c = state;
    const struct claude_work *const w = &c->work;
    if (w->busy || (!c->closed && (!w->done || !w->own)))
        return DIALECT_NO_WORK;
    return claude_background_is_open(w) ? DIALECT_WORKS : DIALECT_SETTLING;
}

void claude_work_settle(void *state, const struct dialect_sink *out)
{
    struct claude *const c = state;
    const struct claude_work *const w = &c->work;
    c->out = out;
    if (!w->done)
        return;
    if (w->count)
        claude_notice(
            c, "warn", "background_work_ended",
            arena_sprintf(out->scratch, "background work was not waited for: %s", w->tasks.p),
            (struct str){0});
    claude_background_emit_held(c);
}

void claude_work_fini(struct claude_work *w)
{
    buf_fini(&w->tasks);
    buf_fini(&w->waiting);
    w->outcome = claude_background_replace(w->outcome, NULL);
    w->usage = claude_background_replace(w->usage, NULL);
    w->done = claude_background_replace(w->done, NULL);
}
