/* SPDX-License-Identifier: MIT
 * Executes commands after recording them. */
#include "core/inbound/chat_command.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "core/conversation/host_reply.h"
#include "core/inbound/chat_choice.h"
#include "core/inbound/chat_history.h"
#include "core/inbound/inbound_internal.h"
#include "core/inbound/inbound_remote.h"
#include "core/request/approvals.h"
#include "text/sentence/texts.h"

/* A command that is being recorded on disk before its execution. */
struct chat_command {
    struct inbound *inbound;
    const struct conf *conf; /* configuration of the instance; holds a reference */
    const struct conf_instance *instance;
    struct host_call *ask;
    enum user_command command;
    struct buf argument;
};

/* No turn runs, and no work in the background on this host. */
struct chat_command_stop {
    struct host_call *ask;
    size_t dropped;
};

static void chat_command_on_stopped(void *ctx, bool ended)
{
    struct chat_command_stop *const s = ctx;
    TEXTS_IN(s->ask->language);
    CLEANUP_BUF struct buf text = {0};
    host_reply_stopped(&text, false, ended, s->dropped);
    host_call_complete(s->ask, TC_COMMAND, NULL, text.p);
    free(s);
}

static void chat_command_stop_elsewhere(struct inbound *r, struct host_call *a, const char *key,
                                        const struct conf_agent *agent, struct conversation *c)
{
    struct chat_command_stop *const s = xcalloc(1, sizeof *s);
    s->ask = a;
    s->dropped = c ? turn_scheduler_drop_waiting(r->spec.conversations, c) : 0;
    turn_scheduler_stop_elsewhere(r->spec.conversations, key, agent, chat_command_on_stopped, s);
}

static void stop(struct inbound *r, struct host_call *a, const struct conf_instance *inst,
                 const char *key, const struct conf_agent *agent, struct conversation *c)
{
    if (!(inst->grants & CONF_CANCEL)) {
        host_call_complete(a, TC_COMMAND, NULL, texts_get(TEXT_CANNOT_STOP));
        return;
    }
    CLEANUP_BUF struct buf text = {0};
    const bool runs = c && c->job;
    const char *const guest = runs ? NULL : inbound_remote_find_running(r->remote, inst->name, key);
    if (guest) {
        inbound_remote_cancel(r->remote, a, guest,
                              c ? turn_scheduler_drop_waiting(r->spec.conversations, c) : 0);
        return;
    }
    const bool worked = !runs && turn_scheduler_stop_background(r->spec.conversations, key);
    if (!runs && !worked) {
        chat_command_stop_elsewhere(r, a, key, agent, c);
        return;
    }
    host_reply_stopped(&text, runs, worked,
                       c ? turn_scheduler_drop_waiting(r->spec.conversations, c) : 0);
    host_call_complete(a, TC_COMMAND, runs ? turn_job_id(c->job) : NULL, text.p);
    if (runs)
        turn_job_cancel(c->job);
}

static void chat_command_on_forgotten(void *ctx, bool ended)
{
    (void)ctx, (void)ended;
}

static void forget_session(struct inbound *r, struct host_call *a, const char *key,
                           const struct conf_agent *agent, struct conversation *c)
{
    CLEANUP_BUF struct buf text = {0};
    const bool runs = c && c->job;
    if (runs)
        turn_job_discard_session(c->job);
    turn_scheduler_forget_process(r->spec.conversations, key);
    turn_scheduler_stop_elsewhere(r->spec.conversations, key, agent, chat_command_on_forgotten,
                                  NULL);
    session_store_delete(r->spec.sessions, conf_agent_session_name(agent), key);
    approvals_end_session(r->spec.approvals, agent->name, key);
    texts_append(&text, TEXT_NEW_SESSION, NULL);
    if (runs)
        texts_append(&text, TEXT_NEW_SESSION_RUNNING, NULL);
    host_call_complete(a, TC_COMMAND, NULL, text.p);
}

static void chat_command_on_cleared(void *ctx, const struct taken_back *t)
{
    struct host_call *const a = ctx;
    TEXTS_IN(a->language);
    CLEANUP_BUF struct buf text = {0};
    host_reply_cleared(&text, t);
    host_call_complete(a, TC_COMMAND, NULL, text.p);
}

void chat_command_clear_queue(struct inbound *r, struct host_call *a, struct conversation *c)
{
    if (c)
        turn_scheduler_withdraw_all(r->spec.conversations, c, chat_command_on_cleared, a);
    else
        chat_command_on_cleared(a, &(struct taken_back){0});
}

struct status_query {
    struct host_call *ask;
    struct buf text;
    unsigned awaited;
    struct visibility visibility;
    char *session;
};

static void chat_command_reply_when_known(struct status_query *s)
{
    if (--s->awaited)
        return;
    TEXTS_IN(s->ask->language);
    host_reply_session(&s->text, s->session);
    host_reply_visibility(&s->text, s->visibility);
    host_call_complete(s->ask, TC_COMMAND, NULL, s->text.p);
    buf_fini(&s->text);
    free(s->session);
    free(s);
}

static void chat_command_on_session(void *ctx, const char *id)
{
    struct status_query *const s = ctx;
    s->session = xstrdup(id);
    chat_command_reply_when_known(s);
}

static void chat_command_on_visibility(void *ctx, struct visibility v)
{
    struct status_query *const s = ctx;
    s->visibility = v;
    chat_command_reply_when_known(s);
}

static void chat_command_reply_status(const struct chat_command *m, const char *key,
                                      const struct conf_agent *agent, const struct conversation *c)
{
    struct inbound *const r = m->inbound;
    struct status_query *const s = xcalloc(1, sizeof *s);
    s->ask = m->ask;
    s->awaited = 2;
    host_reply_running(&s->text, c);
    chat_choice_append_status(&s->text, m->instance, agent);
    visibility_cache_get(r->spec.switches, agent->name, chat_command_on_visibility, s);
    if (c && c->job && *turn_job_session(c->job))
        chat_command_on_session(s, turn_job_session(c->job));
    else
        session_store_find(r->spec.sessions, conf_agent_session_name(agent), key,
                           chat_command_on_session, s);
}

static void chat_command_reply_queue(struct host_call *a, const struct conversation *c)
{
    CLEANUP_BUF struct buf text = {0};
    host_reply_queue(&text, c, user_command_prefix(a->inbound->text));
    host_call_complete(a, TC_COMMAND, NULL, text.p);
}

static void chat_command_reply_help(struct host_call *a)
{
    CLEANUP_BUF struct buf text = {0};
    user_command_append_help(&text, user_command_prefix(a->inbound->text));
    host_call_complete(a, TC_COMMAND, NULL, text.p);
}

static void chat_command_reply_start(struct host_call *a, const struct conf_agent *agent)
{
    CLEANUP_BUF struct buf text = {0};
    const char prefix[] = {user_command_prefix(a->inbound->text), 0};
    texts_append(&text, TEXT_START_AGENT, TEXT_VALUES(TEXT_STR("agent", agent->name)));
    if (agent->cwd)
        texts_append(&text, TEXT_START_CWD, TEXT_VALUES(TEXT_STR("cwd", agent->cwd)));
    buf_add_str(&text, "\n");
    texts_append(&text, TEXT_START_BUTTONS, NULL);
    buf_add_str(&text, "\n");
    texts_append(&text, TEXT_START_HELP, TEXT_VALUES(TEXT_STR("prefix", prefix)));
    host_call_complete(a, TC_COMMAND, NULL, text.p);
}

static void chat_command_execute(const struct chat_command *m)
{
    struct inbound *const r = m->inbound;
    struct host_call *const a = m->ask;
    const char *const argument = m->argument.p ? m->argument.p : "";
    const struct conf_agent *const agent =
        inbound_agent_of(r, m->instance, a->inbound->chat, a->inbound->thread);
    CLEANUP_FREE char *key =
        inbound_make_key(m->instance->name, a->inbound->chat, a->inbound->thread);
    struct conversation *const c = turn_scheduler_find(r->spec.conversations, key);
    if (!agent) { /* removed in the meantime */
        host_call_complete(a, TC_DENIED, NULL, NULL);
        return;
    }
    switch (m->command) {
    case COMMAND_STOP:
        stop(r, a, m->instance, key, agent, c);
        break;
    case COMMAND_NEW:
        forget_session(r, a, key, agent, c);
        break;
    case COMMAND_STATUS:
        chat_command_reply_status(m, key, agent, c);
        break;
    case COMMAND_AGENT:
        chat_choice_run(r, a, m->instance, BINDING_AGENT, argument);
        break;
    case COMMAND_MODEL:
        chat_choice_run(r, a, m->instance, BINDING_MODEL, argument);
        break;
    case COMMAND_CWD:
        chat_choice_run(r, a, m->instance, BINDING_CWD, argument);
        break;
    case COMMAND_SESSIONS:
    case COMMAND_RESUME:
        chat_history_sessions(r, a, m->instance, argument);
        break;
    case COMMAND_RETRY:
        chat_history_retry(r, a, m->instance);
        break;
    case COMMAND_USAGE:
        chat_history_usage(r, a, m->instance);
        break;
    case COMMAND_QUEUE_CLEAR:
        chat_command_clear_queue(r, a, c);
        break;
    case COMMAND_START:
        chat_command_reply_start(a, agent);
        break;
    case COMMAND_HELP:
        chat_command_reply_help(a);
        break;
    case COMMAND_QUEUE:
    case COMMAND_NONE:
        chat_command_reply_queue(a, c);
        break;
    }
}

/* A command that cannot be recorded is executed all the same: the worst case is a repetition. */
static void chat_command_on_stored(void *ctx, enum journal_status status, const char *text)
{
    struct chat_command *const m = ctx;
    TEXTS_IN(m->ask->language);
    (void)status, (void)text;
    chat_command_execute(m);
    buf_fini(&m->argument);
    conf_unref(m->conf);
    free(m);
}

void chat_command_run(struct inbound *r, struct host_call *a, const struct conf_instance *inst,
                      enum user_command command, struct buf *argument)
{
    const struct tc_inbound *const in = a->inbound;
    struct chat_command now = {
        .inbound = r, .instance = inst, .ask = a, .command = command, .argument = *argument};
    *argument = (struct buf){0};
    if (answered_messages_has(r->answered, inst->name, in)) {
        host_call_complete(a, TC_KNOWN, NULL, NULL);
        buf_fini(&now.argument);
    } else if (command == COMMAND_STOP || (!in->id && !in->also)) { /* needs no record on disk */
        if (in->id || in->also)
            answered_messages_add(r->answered, inst->name, in, NULL, NULL);
        chat_command_execute(&now);
        buf_fini(&now.argument);
    } else {
        struct chat_command *const m = xmalloc(sizeof *m);
        *m = now;
        m->conf = conf_ref(r->spec.conf);
        answered_messages_add(r->answered, inst->name, in, chat_command_on_stored, m);
    }
}
