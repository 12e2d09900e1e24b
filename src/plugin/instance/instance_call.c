/* SPDX-License-Identifier: MIT
 * All calls into the plugin: time accounting, fault injection, error counting, commit of the
 * batch. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/invariant.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "plugin/instance/instance_internal.h"
#include "plugin/validate.h"
#include "text/sentence/texts.h"

#define BURST_MS 1000
#define NO_TURN "(none)"

/* ---- around a call ---- */

/* Injects the fault that the chaos rules select for this call, if any. False: the callback fails
 * without being called. */
static bool instance_call_inject_fault(struct instance *in, int callback)
{
    struct str line = {"", 0};
    if (in->casting)
        line.p = shared_event_json_line(in->casting, &line.len);
    const struct conf_chaos *const rule =
        chaos_select_fault(in->chaos, callback_name(callback), line, chaos_file_exists);
    if (rule)
        chaos_inject_fault(in->chaos, rule);
    return !rule || rule->what != CHAOS_ERROR;
}

/* Whether to call the callback; otherwise it has failed. */
static bool instance_call_begin(struct instance *in, int callback, const char *turn)
{
    status_page_enter_callback(in->status, callback, turn);
    errno = 0;
    return !in->chaos || instance_call_inject_fault(in, callback);
}

/* After a failed callback, errno is the best indication of a system call that the sandbox refused,
 * because neither Landlock nor seccomp reports anything. "" for other errors. */
static const char *refusal_hint(const struct instance *in, int error)
{
    if (!in->host.has_process || (error != EACCES && error != EPERM))
        return "";
    return error == EACCES
               ? ": permission denied (EACCES); the sandbox permits files below paths and TCP "
                 "connections to ports of the instance only"
               : ": operation not permitted (EPERM); the sandbox permits sockets only if the "
                 "instance has ports, and no programs or changes of file modes";
}

/* Logs the first failure of a burst at once, and the number of the others once a second. */
static void report_failure(struct instance *in, const char *callback, const char *turn, int error)
{
    const int64_t now = clock_mono_ms();
    if (now < in->failures.quiet_until) {
        in->failures.unsaid++;
        return;
    }
    char more[64] = "";
    if (in->failures.unsaid)
        snprintf(more, sizeof more, " (%" PRIu64 " more failed before)", in->failures.unsaid);
    log_write(LOG_WARN, in->label, "callback %s returned an error in turn %s%s%s", callback,
              *turn ? turn : NO_TURN, refusal_hint(in, error), more);
    in->failures.quiet_until = now + BURST_MS;
    in->failures.unsaid = 0;
}

static inline int instance_call_count_result(struct instance *in, int rc, int callback,
                                             const char *turn)
{
    status_page_count_result(in->status, rc != 0);
    if (!rc)
        return 0;
    report_failure(in, callback_name(callback), turn, errno);
    return -1;
}

/* The callback has returned, and memory of the services is no longer used. */
static void instance_call_complete(struct instance_turn *t, const struct callback_outcome *s)
{
    ASSERT(pthread_equal(t->in->thread, pthread_self()));
    instance_commit_batch(t, s);
    arena_reset(&t->in->scratch);
    if (t->in->chat)
        chat_end_callback(t->in->chat);
}

/* Commits the batch of most events, which have sent nothing. */
static inline void finish_event(struct instance_turn *t, enum batch_settlement what, bool failed)
{
    struct instance *const in = t->in;
    const bool quiet = what == BATCH_NOTHING && !in->sending && !in->memory.remembering &&
                       !in->memory.changed.first && !t->done;
    if (quiet && !in->sockets.framed && !in->scratch.used && !in->chat)
        return;
    instance_call_complete(t, &(struct callback_outcome){.what = what, .failed = failed});
}

/* ---- events ---- */

typedef int call_fn(const struct tc_sink *s, struct tc_turn *t, const struct event *ev);

#define DEFINE_CALL(lower, UPPER, gate, pressure)                                                  \
    static int call_##lower(const struct tc_sink *s, struct tc_turn *t, const struct event *ev)    \
    {                                                                                              \
        return s->on_##lower(t, &ev->u.lower);                                                     \
    }
EVENT_KINDS(DEFINE_CALL)

#define CALL_ROW(lower, UPPER, gate, pressure) [TC_##UPPER] = call_##lower,
static call_fn *const calls[TC_KINDS] = {EVENT_KINDS(CALL_ROW)};

static bool instance_call_is_wanted(const struct instance *in, const struct event *ev)
{
    return in->wanted[ev->kind] && !(ev->kind == TC_THINKING && ev->u.thinking.text_len == 0);
}

static int instance_call_typed_callback(struct instance *in, struct instance_turn *t,
                                        const struct event *ev)
{
    if (!instance_call_is_wanted(in, ev))
        return 0;
    const int rc = instance_call_begin(in, (int)ev->kind, t->handle.id)
                       ? calls[ev->kind](&in->loaded->sink, &t->handle, ev)
                       : -1;
    status_page_leave_callback(in->status);
    return instance_call_count_result(in, rc, (int)ev->kind, t->handle.id);
}

static int instance_call_on_event(struct instance *in, struct instance_turn *t,
                                  struct shared_event *shared)
{
    if (!in->loaded->sink.on_event)
        return 0;
    const struct event *const ev = shared_event_get(shared);
    struct tc_event any = {
        .meta = &ev->meta,
        .kind = ev->kind,
        .name = kind_name(ev->kind),
        .payload = &ev->u,
    };
    any.line = shared_event_json_line(shared, &any.line_len);
    arena_reset(&in->scratch);
    const int rc = instance_call_begin(in, STATUS_EVENT, t->handle.id)
                       ? in->loaded->sink.on_event(&t->handle, &any)
                       : -1;
    status_page_leave_callback(in->status);
    return instance_call_count_result(in, rc, STATUS_EVENT, t->handle.id);
}

static bool instance_call_is_outcome(const struct instance *in, const struct event *ev)
{
    return (in->loaded->plugin.flags & TC_DELIVERS) &&
           (ev->kind == TC_FINAL || ev->kind == TC_ERROR);
}

/* The output of both callbacks for an event is one batch. */
int instance_deliver_event(struct instance *in, struct instance_turn *t,
                           struct shared_event *shared)
{
    TEXTS_IN(in->language);
    ASSERT(t->in == in);
    ASSERT(!in->casting);
    const struct event *const ev = shared_event_get(shared);
    t->delivering = ev;
    t->held = 0;
    in->casting = shared;
    const int chat = instance_chat_take_event(t, ev);
    const int typed = instance_call_typed_callback(in, t, ev);
    const int any = instance_call_on_event(in, t, shared);
    t->delivering = NULL;
    in->casting = NULL;
    t->done = t->done || ev->kind == TC_DONE;
    const bool failed = chat || typed || any;
    if (failed && t->held)
        instance_drop_hold(t);
    const bool is_held = t->held != 0;
    t->held = 0; /* from now on, a release completes the event */
    finish_event(t, instance_call_is_outcome(in, ev) && !is_held ? BATCH_OUTCOME : BATCH_NOTHING,
                 failed);
    return failed ? -1 : 0;
}

/* ---- replies ---- */

/* The plugin's verdict, restricted to valid values. */
static struct tc_verdict instance_call_sanitize_verdict(const struct outbound_reply *r,
                                                        struct tc_verdict v)
{
    const unsigned last = r->reply.outcome == TC_YOUR_TURN ? TC_NEXT_LATER : TC_NEXT_FAIL;
    const bool sane =
        (unsigned)v.next <= last && (unsigned)v.scope <= TC_HOLD_INSTANCE && v.hold_ms >= 0;
    return !sane || (r->last && v.next == TC_NEXT_AGAIN) ? r->verdict : v;
}

/* For a plugin before 1.5, hold_ms only delays another attempt. */
static void instance_call_clear_old_hold(const struct instance *in, struct tc_verdict *v)
{
    if (in->loaded->plugin.minor < 5 && v->next != TC_NEXT_AGAIN)
        v->hold_ms = 0;
}

int instance_call_on_reply(struct instance *in, struct instance_turn *t, struct outbound_reply *r)
{
    TEXTS_IN(in->language);
    struct instance_turn *const turn = t ? t : &in->context;
    struct tc_verdict v = r->verdict;
    int rc = 0;
    const bool is_own = (in->issuers && instance_issuer_handle_reply(in, &r->reply, &v)) ||
                        (in->chat && chat_handle_reply(in->chat, turn->chat, &r->reply, &v));
    if (!is_own && in->loaded->sink.on_reply) {
        rc = instance_call_begin(in, STATUS_REPLY, turn->handle.id)
                 ? in->loaded->sink.on_reply(&turn->handle, &r->reply, &v)
                 : -1;
        status_page_leave_callback(in->status);
        rc = instance_call_count_result(in, rc, STATUS_REPLY, turn->handle.id);
    }
    v = rc ? r->verdict : instance_call_sanitize_verdict(r, v);
    if (in->sockets.link && !t)
        instance_link_handle_reply(in, &r->reply, &v);
    instance_call_clear_old_hold(in, &v);
    const bool goes_on = v.next == TC_NEXT_AGAIN || v.next == TC_NEXT_LATER;
    if ((r->last || !goes_on) && turn->requests)
        turn->requests--;
    instance_call_complete(turn, &(struct callback_outcome){BATCH_REQUEST, rc < 0, r->request, v});
    outbound_reply_free(r);
    return rc;
}

/* ---- hits ---- */

const char *instance_complete_answer(struct tc_answer *answer)
{
    answer->status = answer->status ? answer->status : 200;
    if (answer->body && !answer->body_len)
        answer->body_len = strnlen(answer->body, VALIDATE_ANSWER_MAX + 1);
    if (!answer->body)
        answer->body_len = 0;
    return validate_answer(answer);
}

static int instance_call_handle_hit(struct instance *in, const struct tc_hit *hit,
                                    struct tc_answer *answer)
{
    struct tc_hit checked = *hit;
    if (!instance_issuer_check_hit(in, &checked, answer))
        return 0;
    if (!in->loaded->sink.on_hit)
        return -1;
    const int rc = instance_call_begin(in, STATUS_HIT, "")
                       ? in->loaded->sink.on_hit(&in->context.handle, &checked, answer)
                       : -1;
    status_page_leave_callback(in->status);
    if (instance_call_count_result(in, rc, STATUS_HIT, "") < 0)
        return -1;
    const char *const fault = instance_complete_answer(answer);
    if (fault)
        log_write(LOG_ERR, in->label, "on_hit returned %s", fault);
    return fault ? -1 : 0;
}

/* Passes its output on before the response, which may report that the output was accepted. */
int instance_call_on_hit(struct instance *in, const struct tc_hit *hit,
                         void (*answered)(void *arg, const struct tc_answer *answer), void *arg)
{
    TEXTS_IN(in->language);
    struct tc_answer answer = {.status = 200};
    const int rc = instance_call_handle_hit(in, hit, &answer);
    instance_commit_batch(&in->context, &(struct callback_outcome){.failed = rc < 0});
    answered(arg, rc < 0 ? NULL : &answer);
    arena_reset(&in->scratch);
    return rc;
}

void instance_call_on_waiting_hit(struct instance *in, const struct tc_hit *hit)
{
    struct tc_answer answer = {.status = 200};
    if (instance_call_handle_hit(in, hit, &answer) < 0)
        answer = (struct tc_answer){.status = 503};
    if (!answer.later)
        in->host.hit_answer(in->host.ctx, hit->number, &answer);
}

/* ---- frames ---- */

int instance_call_on_frame(struct instance *in, const struct tc_frame *frame)
{
    TEXTS_IN(in->language);
    struct instance_socket *const s = instance_socket_find(in, frame->socket);
    if (!s)
        return 0;
    const bool is_link = s->is_link;
    s->open = frame->event != TC_SOCKET_CLOSED && !s->closing;
    if (frame->event == TC_SOCKET_CLOSED)
        *s = (struct instance_socket){0};
    if ((is_link && !instance_link_begin_frame(in, frame)) || !in->loaded->sink.on_frame)
        return 0;
    int rc = instance_call_begin(in, STATUS_FRAME, "")
                 ? in->loaded->sink.on_frame(&in->context.handle, frame)
                 : -1;
    status_page_leave_callback(in->status);
    rc = instance_call_count_result(in, rc, STATUS_FRAME, "");
    if (is_link)
        instance_link_end_frame(in);
    instance_call_complete(&in->context, &(struct callback_outcome){.failed = rc < 0});
    return rc;
}

/* ---- descriptors ---- */

int instance_call_on_ready(struct instance *in, int fd)
{
    TEXTS_IN(in->language);
    if (!in->loaded->sink.on_ready || !instance_is_watched(in, fd))
        return 0;
    int rc =
        instance_call_begin(in, STATUS_READY, "") ? in->loaded->sink.on_ready(&in->handle, fd) : -1;
    status_page_leave_callback(in->status);
    rc = instance_call_count_result(in, rc, STATUS_READY, "");
    instance_call_complete(&in->context, &(struct callback_outcome){.failed = rc < 0});
    return rc;
}

/* ---- timers ---- */

int64_t instance_next_wake_ms(const struct instance *in)
{
    const int64_t plugin = wake_heap_next_ms(&in->wakes.plugin),
                  chat = wake_heap_next_ms(&in->wakes.chat), link = instance_link_next_ms(in);
    const int64_t first = plugin < chat ? plugin : chat;
    return first < link ? first : link;
}

static void call_wake(struct instance *in, struct instance_turn *t)
{
    int rc = 0;
    if (in->loaded->sink.on_wake) {
        rc = instance_call_begin(in, STATUS_WAKE, t->handle.id)
                 ? in->loaded->sink.on_wake(&t->handle)
                 : -1;
        status_page_leave_callback(in->status);
        rc = instance_call_count_result(in, rc, STATUS_WAKE, t->handle.id);
    }
    instance_call_complete(t, &(struct callback_outcome){.failed = rc < 0});
}

static void wake_chat(struct instance *in, struct instance_turn *t)
{
    status_page_enter_callback(in->status, STATUS_WAKE, t->handle.id);
    if (t->chat)
        chat_turn_wake(t->chat);
    else
        chat_wake(in->chat);
    status_page_leave_callback(in->status);
    instance_call_complete(t, &(struct callback_outcome){0});
}

static void wake_link(struct instance *in)
{
    status_page_enter_callback(in->status, STATUS_WAKE, "");
    instance_link_wake(in);
    status_page_leave_callback(in->status);
    instance_call_complete(&in->context, &(struct callback_outcome){0});
}

/* A time that is set by one of them is at least a moment away, so that the round ends. */
bool instance_call_on_wake(struct instance *in)
{
    TEXTS_IN(in->language);
    if (instance_next_wake_ms(in) == INT64_MAX)
        return false;
    const int64_t now = clock_mono_ms();
    bool any = false;
    for (struct wake_node *w; (w = wake_heap_pop_due(&in->wakes.plugin, now)); any = true)
        call_wake(in, CONTAINER(w, struct instance_turn, wake));
    for (struct wake_node *w; (w = wake_heap_pop_due(&in->wakes.chat, now)); any = true)
        wake_chat(in, CONTAINER(w, struct instance_turn, chat_wake));
    if (instance_link_next_ms(in) <= now) {
        wake_link(in);
        any = true;
    }
    return any;
}

/* ---- calls without a turn ---- */

void instance_call_on_idle(struct instance *in)
{
    TEXTS_IN(in->language);
    if (!in->loaded->sink.on_idle)
        return;
    const int rc =
        instance_call_begin(in, STATUS_IDLE, "") ? in->loaded->sink.on_idle(&in->handle) : -1;
    status_page_leave_callback(in->status);
    instance_call_count_result(in, rc, STATUS_IDLE, "");
    instance_call_complete(&in->context, &(struct callback_outcome){.failed = rc != 0});
}

static int call_plugin_init(struct instance *in)
{
    if (!in->loaded->plugin.init)
        return 0;
    return instance_call_begin(in, STATUS_INIT, "") ? in->loaded->plugin.init(&in->handle) : -1;
}

int instance_init(struct instance *in)
{
    TEXTS_IN(in->language);
    in->thread = pthread_self();
    instance_find_handled_kinds(in);
    instance_chat_init(in);
    if (!in->loaded->plugin.init && !in->chat)
        return 0;
    const int rc = call_plugin_init(in);
    const char *const hint = rc ? refusal_hint(in, errno) : "";
    if (*hint)
        log_write(LOG_ERR, in->label, "init failed%s", hint);
    if (rc == 0 && in->chat)
        chat_begin(in->chat);
    status_page_leave_callback(in->status);
    instance_call_complete(&in->context, &(struct callback_outcome){.failed = rc != 0});
    return rc ? -1 : 0;
}

void instance_teardown(struct instance *in)
{
    TEXTS_IN(in->language);
    if (!in->loaded->plugin.teardown)
        return;
    if (instance_call_begin(in, STATUS_TEARDOWN, ""))
        in->loaded->plugin.teardown(&in->handle);
    status_page_leave_callback(in->status);
    instance_call_complete(&in->context, &(struct callback_outcome){0});
}
