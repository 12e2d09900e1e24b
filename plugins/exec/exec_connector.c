/* SPDX-License-Identifier: MIT
 * The connector exec: options, callbacks, and the timer that enforces the time limits of the
 * protocol. */
#include <string.h>

#include "exec.h"

#define HIT_MS 4000
#define FLUSH_MS 5 /* interval of write attempts to a slow program's pipe */
#define MILLI 1000

static struct exec *connector_of(const struct tc_instance *inst)
{
    return inst->state;
}

/* ---- time ---- */

static int64_t connector_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void exec_connector_set_timer(struct exec *e)
{
    const struct exec_options *const o = e->inst->conf;
    const int64_t now = exec_now_ms();
    if (!e->hello.is_known) {
        const int64_t until = e->program.restart_ms ? e->program.restart_ms
                                                    : e->program.began_ms + o->hello_s * MILLI;
        tc_wake(e->inst->lobby, until > now ? until - now : 1);
        return;
    }
    int64_t due = connector_min(exec_window_due_ms(e), e->heard_ms + o->ping_s * MILLI);
    if (e->n_entries)
        due = connector_min(due, e->acked_ms + o->ack_s * MILLI);
    if (e->pinged_ms)
        due = connector_min(due, e->pinged_ms + o->ack_s * MILLI);
    if (e->program.to.at < e->program.to.len)
        due = connector_min(due, now + FLUSH_MS);
    tc_wake(e->inst->lobby, due > now ? due - now : 1);
}

static void connector_check_limits(struct exec *e, int64_t now)
{
    const struct exec_options *const o = e->inst->conf;
    const int64_t limit = o->ack_s * MILLI;
    if (!e->hello.is_known) {
        if (!e->program.restart_ms && now - e->program.began_ms >= o->hello_s * MILLI)
            exec_program_fail(e, "wrote no hello within %lld s (hello_s)", (long long)o->hello_s);
        return;
    }
    if (exec_window_waits(e) && now - e->acked_ms >= limit)
        exec_program_fail(e, "has acknowledged nothing for %lld s (ack_s = %lld)",
                          (long long)(limit / MILLI), (long long)o->ack_s);
    if (e->pinged_ms && now - e->pinged_ms >= limit)
        exec_program_fail(e, "has not answered a ping for %lld s (ack_s = %lld)",
                          (long long)(limit / MILLI), (long long)o->ack_s);
    if (!e->pinged_ms && now - e->heard_ms >= o->ping_s * MILLI) {
        e->pinged_ms = e->heard_ms = now;
        exec_message_ping(e);
    }
}

/* ---- callbacks ---- */

/* The first call after init: from now on, the host answers the program's calls. */
static void connector_begin(struct exec *e)
{
    e->is_starting = false;
    e->heard_ms = exec_now_ms();
    exec_message_init(e);
    exec_program_read_lines(e);
}

static int on_reply(struct tc_turn *turn, const struct tc_reply *reply, struct tc_verdict *verdict)
{
    struct exec *const e = connector_of(turn->inst);
    if (e->is_starting)
        connector_begin(e);
    if (reply->outcome == TC_YOUR_TURN)
        exec_chat_perform(e, turn, reply);
    else
        exec_http_on_reply(e, reply, verdict);
    exec_connector_set_timer(e);
    return 0;
}

static int on_event(struct tc_turn *turn, const struct tc_event *ev)
{
    struct exec *const e = connector_of(turn->inst);
    int rc = 0;
    if (e->is_starting)
        connector_begin(e);
    const bool was_idle = !exec_window_waits(e);
    exec_window_record_turn(e, turn, ev);
    if (e->hello.wants & (UINT32_C(1) << ev->kind)) {
        rc = exec_window_add(e, turn, ev);
        if (was_idle || e->program.to.at < e->program.to.len)
            exec_connector_set_timer(e);
    }
    return rc;
}

static int on_ready(struct tc_instance *inst, int fd)
{
    struct exec *const e = connector_of(inst);
    exec_program_read(e, fd);
    exec_program_flush(e);
    exec_window_update(e);
    return 0;
}

static int on_wake(struct tc_turn *turn)
{
    struct exec *const e = connector_of(turn->inst);
    if (turn != turn->inst->lobby) {
        exec_message_wake(e, turn);
        return 0;
    }
    const int64_t now = exec_now_ms();
    if (e->is_starting)
        connector_begin(e);
    exec_program_restart_due(e, now);
    if (e->hello.is_known)
        exec_window_resend(e, now);
    exec_program_flush(e);
    exec_window_update(e);
    connector_check_limits(e, now);
    exec_connector_set_timer(e);
    return 0;
}

/* The host sends the response when this returns, so waits for the program's. */
static int on_hit(struct tc_turn *lobby, const struct tc_hit *hit, struct tc_answer *answer)
{
    struct exec *const e = connector_of(lobby->inst);
    const int64_t until = exec_now_ms() + HIT_MS;
    if (e->is_starting)
        connector_begin(e);
    e->hit = ++e->last_hit;
    e->answer = answer;
    e->is_answered = false;
    exec_message_hit(e, e->hit, hit);
    for (int64_t left = HIT_MS; !e->is_answered && left > 0; left = until - exec_now_ms())
        exec_program_wait(e, left);
    e->hit = 0;
    if (!e->is_answered)
        *answer = (struct tc_answer){.status = 504, .body = "the program did not answer in time"};
    return 0;
}

static int init(struct tc_instance *inst)
{
    struct exec *const e = connector_of(inst);
    const struct exec_options *const o = inst->conf;
    e->inst = inst;
    e->is_starting = true;
    STAILQ_INIT(&e->entries);
    LIST_INIT(&e->turns);
    LIST_INIT(&e->ops);
    if (exec_http_check_options(e) < 0 || exec_program_start(e) < 0)
        return -1;
    const int64_t until = exec_now_ms() + o->hello_s * MILLI;
    while (!e->hello.is_known && exec_now_ms() < until)
        exec_program_wait(e, until - exec_now_ms());
    if (!e->hello.is_known) {
        tc_log(inst, TC_ERR, "the program wrote no hello within %lld s (hello_s)",
               (long long)o->hello_s);
        return -1;
    }
    tc_wake(inst->lobby, 1);
    return 0;
}

static void teardown(struct tc_instance *inst)
{
    exec_program_stop(connector_of(inst));
    exec_window_discard(connector_of(inst));
}

static const struct tc_option options[] = {
    TC_OPTION(struct exec_options, command, NULL, TC_REQUIRED | TC_PROGRAMS,
              "program and arguments; a single string is split at spaces"),
    TC_OPTION(struct exec_options, read, NULL, TC_PROGRAMS,
              "files and directories that the program may read and execute"),
    TC_OPTION(struct exec_options, env, NULL, TC_SECRET,
              "environment variables: NAME=VALUE, NAME=env:OTHER or NAME=file:PATH"),
    TC_OPTION(struct exec_options, urls, NULL, 0,
              "beginnings of the URLs of requests that the host sends for the program"),
    TC_OPTION(struct exec_options, room, NULL, 0,
              "chat for turns that began elsewhere, of a program that describes a chat service"),
    TC_OPTION(struct exec_options, draft, "true", 0,
              "show progress as a draft, if the program can"),
    TC_OPTION(struct exec_options, stream, "true", 0,
              "show progress by native streams, if the program can"),
    TC_OPTION(struct exec_options, source, "true", 0,
              "send an answer as one message of Markdown, if the program can"),
    TC_OPTION(struct exec_options, hello_s, "8", 0, "time until the first line, in seconds"),
    TC_OPTION(struct exec_options, ack_s, "60", 0,
              "time without an acknowledgement until the program is restarted, in seconds"),
    TC_OPTION(struct exec_options, ping_s, "30", 0, "silence until a ping, in seconds"),
    {0},
};

static const struct tc_rule rules[] = {
    {.key = "command", .kind = TC_RULE_PROGRAM},
    {.key = "read", .kind = TC_RULE_EXISTS},
    {.key = "env", .kind = TC_RULE_VARIABLE},
    {.key = "hello_s", .kind = TC_RULE_DURATION, .text = "s"},
    {.key = "hello_s", .kind = TC_RULE_RANGE, .min = 1, .max = 60},
    {.key = "ack_s", .kind = TC_RULE_DURATION, .text = "s"},
    {.key = "ack_s", .kind = TC_RULE_RANGE, .min = 1, .max = 3600},
    {.key = "ping_s", .kind = TC_RULE_DURATION, .text = "s"},
    {.key = "ping_s", .kind = TC_RULE_RANGE, .min = 1, .max = 3600},
    {.key = NULL},
};

TURNCAST_PLUGIN(.name = "exec", .version = "1.0",
                .summary = "runs a program in any language as a connector",
                .flags = TC_DELIVERS | TC_CHATS, .conf_size = sizeof(struct exec_options),
                .state_size = sizeof(struct exec), .turn_size = sizeof(struct exec_turn),
                .options = options, .rules = rules, .init = init, .teardown = teardown,
                .sink = TC_SINK(.on_event = on_event, .on_ready = on_ready, .on_wake = on_wake,
                                .on_hit = on_hit, .on_reply = on_reply));
