/* SPDX-License-Identifier: MIT
 * Owns permission, commands, and the words that change what is shown. */
#include "core/inbound/inbound.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/crash_point.h"
#include "core/conversation/host_reply.h"
#include "core/conversation/prompt.h"
#include "core/inbound/access_control.h"
#include "core/inbound/inbound_request.h"
#include "core/inbound/user_command.h"
#include "core/request/approvals.h"
#include "core/settings/visibility_command.h"
#include "turn/visibility/slash_tokens.h"

/* Messages that the host answered itself, and recognises when the service delivers them again. */
#define SELF_ANSWERED_MAX 256

/* A message of an instance under both its identities; either may be missing. */
struct self_answered {
    char *instance, *id, *also;
};

struct inbound {
    const struct conf *conf;
    struct turn_scheduler *conversations;
    struct visibility_cache *switches;
    struct session_store *sessions;
    struct request_registry *requests;
    struct approvals *approvals;
    struct access_control access;
    struct self_answered self_answered[SELF_ANSWERED_MAX]; /* a ring */
    size_t n_self_answered;
};

static char *inbound_make_key(const char *instance, const char *chat, const char *thread)
{
    return thread ? xasprintf("%s:%s:%s", instance, chat, thread)
                  : xasprintf("%s:%s", instance, chat);
}

static const struct conf_agent *inbound_agent_of(const struct inbound *r,
                                                 const struct conf_instance *inst)
{
    return conf_agent_find(r->conf, inst->agent);
}

/* ---- commands ---- */

static bool inbound_is_same_text(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

static void self_answered_fini(struct self_answered *m)
{
    free(m->instance);
    free(m->id);
    free(m->also);
}

/* Whether the message was here before, under either identity; it is noted if not. Messages for the
 * agent are recognised by the journal; commands and tokens never get there. */
static bool was_self_answered(struct inbound *r, const struct host_call *a)
{
    const char *const id = a->inbound->id, *const also = a->inbound->also;
    for (size_t i = 0; i < SELF_ANSWERED_MAX; i++) {
        const struct self_answered *const m = &r->self_answered[i];
        if (inbound_is_same_text(m->instance, a->instance) &&
            (inbound_is_same_text(m->id, id) || inbound_is_same_text(m->also, also)))
            return true;
    }
    struct self_answered *const place = &r->self_answered[r->n_self_answered++ % SELF_ANSWERED_MAX];
    self_answered_fini(place);
    *place = (struct self_answered){xstrdup(a->instance), xstrdup(id), xstrdup(also)};
    return false;
}

static void stop(struct inbound *r, struct host_call *a, const struct conf_instance *inst,
                 const char *key, struct conversation *c)
{
    if (!(inst->grants & CONF_CANCEL)) {
        host_call_complete(a, TC_COMMAND, NULL,
                           "Turns cannot be stopped from this chat: the connector instance lacks "
                           "the grant \"cancel\".");
        return;
    }
    CLEANUP_BUF struct buf text = {0};
    const bool runs = c && c->job;
    const bool worked = !runs && turn_scheduler_stop_background(r->conversations, key);
    host_reply_stopped(&text, runs, worked,
                       c ? turn_scheduler_drop_waiting(r->conversations, c) : 0);
    host_call_complete(a, TC_COMMAND, runs ? turn_job_id(c->job) : NULL, text.p);
    if (runs)
        turn_job_cancel(c->job);
}

static void forget_session(struct inbound *r, struct host_call *a, const char *key,
                           const struct conf_agent *agent, struct conversation *c)
{
    const bool runs = c && c->job;
    if (runs)
        turn_job_discard_session(c->job);
    turn_scheduler_forget_process(r->conversations, key);
    session_store_delete(r->sessions, agent->name, key);
    approvals_end_session(r->approvals, agent->name, key);
    host_call_complete(
        a, TC_COMMAND, NULL,
        runs ? "Your next message starts a new session. The running turn finishes in the old one."
             : "Your next message starts a new session.");
}

static void on_cleared(void *ctx, const struct taken_back *t)
{
    CLEANUP_BUF struct buf text = {0};
    host_reply_cleared(&text, t);
    host_call_complete(ctx, TC_COMMAND, NULL, text.p);
}

static void clear_queue(struct inbound *r, struct host_call *a, struct conversation *c)
{
    if (c)
        turn_scheduler_take_back(r->conversations, c, on_cleared, a);
    else
        on_cleared(a, &(struct taken_back){0});
}

struct status_ask {
    struct host_call *ask;
    struct buf text;
    unsigned awaited;
    struct visibility visibility;
    char *session;
};

static void tell_when_known(struct status_ask *s)
{
    if (--s->awaited)
        return;
    host_reply_session(&s->text, s->session);
    host_reply_visibility(&s->text, s->visibility);
    host_call_complete(s->ask, TC_COMMAND, NULL, s->text.p);
    buf_fini(&s->text);
    free(s->session);
    free(s);
}

static void inbound_on_session(void *ctx, const char *id)
{
    struct status_ask *const s = ctx;
    s->session = xstrdup(id);
    tell_when_known(s);
}

static void inbound_on_visibility(void *ctx, struct visibility v)
{
    struct status_ask *const s = ctx;
    s->visibility = v;
    tell_when_known(s);
}

static void tell_status(struct inbound *r, struct host_call *a, const char *key,
                        const struct conf_agent *agent, const struct conversation *c)
{
    struct status_ask *const s = xcalloc(1, sizeof *s);
    s->ask = a;
    s->awaited = 2;
    host_reply_running(&s->text, c);
    visibility_cache_get(r->switches, agent->name, inbound_on_visibility, s);
    if (c && c->job && *turn_job_session(c->job))
        inbound_on_session(s, turn_job_session(c->job));
    else
        session_store_find(r->sessions, agent->name, key, inbound_on_session, s);
}

static void tell_queue(struct host_call *a, const struct conversation *c)
{
    CLEANUP_BUF struct buf text = {0};
    host_reply_queue(&text, c, user_command_prefix(a->inbound->text));
    host_call_complete(a, TC_COMMAND, NULL, text.p);
}

static void tell_help(struct host_call *a)
{
    CLEANUP_BUF struct buf text = {0};
    host_reply_help(&text, user_command_prefix(a->inbound->text));
    host_call_complete(a, TC_COMMAND, NULL, text.p);
}

static void do_command(struct inbound *r, enum user_command command, struct host_call *a,
                       const char *key, const struct conf_instance *inst)
{
    struct conversation *const c = turn_scheduler_find(r->conversations, key);
    const struct conf_agent *const agent = inbound_agent_of(r, inst);
    if (was_self_answered(r, a)) {
        host_call_complete(a, TC_KNOWN, NULL, NULL);
        return;
    }
    switch (command) {
    case COMMAND_STOP:
        stop(r, a, inst, key, c);
        break;
    case COMMAND_NEW:
        forget_session(r, a, key, agent, c);
        break;
    case COMMAND_STATUS:
        tell_status(r, a, key, agent, c);
        break;
    case COMMAND_QUEUE_CLEAR:
        clear_queue(r, a, c);
        break;
    case COMMAND_HELP:
        tell_help(a);
        break;
    case COMMAND_QUEUE:
    case COMMAND_NONE:
        tell_queue(a, c);
        break;
    }
}

/* ---- messages ---- */

static void inbound_on_submitted(void *ctx, const struct conversations_result *answer)
{
    host_call_complete(ctx, answer->accepted, answer->turn, answer->text);
    CRASH_POINT("after-ack");
}

struct submission {
    struct inbound *reception;
    const struct conf *conf; /* of the instance: it is kept */
    const struct conf_instance *instance;
    struct host_call *ask;
};

static void tell_visibility(struct host_call *a, const struct visibility_command_result *t)
{
    CLEANUP_BUF struct buf text = {0};
    host_reply_visibility(&text, t->visibility);
    host_reply_saved(&text, t->saved);
    host_call_complete(a, TC_COMMAND, NULL, text.p);
}

static void submit_text(const struct submission *s, struct str text)
{
    const struct tc_inbound *const in = s->ask->inbound;
    const struct conf_agent *const agent = inbound_agent_of(s->reception, s->instance);
    CLEANUP_FREE char *key = inbound_make_key(s->instance->name, in->chat, in->thread);
    CLEANUP_BUF struct buf prompt = {0};
    if (!agent) { /* gone in the meantime */
        host_call_complete(s->ask, TC_DENIED, NULL, NULL);
        return;
    }
    prompt_append_message(&prompt, in, text);
    const struct turn_scheduler_message m = {
        .key = key,
        .source = s->instance->name,
        .agent = agent,
        .chat = in->chat,
        .user = in->user,
        .route = in->route,
        .id = in->id,
        .also = in->also,
        .prompt = {prompt.p ? prompt.p : "", prompt.len},
        .follows = true,
    };
    turn_scheduler_submit(s->reception->conversations, &m, inbound_on_submitted, s->ask);
}

static void inbound_on_toggled(void *ctx, const struct visibility_command_result *t)
{
    struct submission *const s = ctx;
    if (t->why)
        host_call_complete(s->ask, TC_COMMAND, NULL, t->why);
    else if (t->empty && !s->ask->inbound->file_count)
        tell_visibility(s->ask, t);
    else
        submit_text(s, t->rest);
    conf_unref(s->conf);
    free(s);
}

/* A message with visibility tokens. A repeated one does not apply them again, because they may have
 * been changed since. The rest of its text goes to the journal, which detects repetitions. */
static void submit_tokens(struct submission *s, struct str text)
{
    CLEANUP_BUF struct buf rest = {0};
    struct visibility unused = visibility_default();
    if (!was_self_answered(s->reception, s->ask)) {
        visibility_command_apply(s->reception->switches,
                                 inbound_agent_of(s->reception, s->instance)->name, text,
                                 inbound_on_toggled, s);
        return;
    }
    const struct slash_tokens_result found = slash_tokens_parse(text.p, text.len, &unused, &rest);
    if (found.empty && !s->ask->inbound->file_count)
        host_call_complete(s->ask, TC_KNOWN, NULL, NULL);
    else
        submit_text(s, (struct str){rest.p ? rest.p : "", rest.len});
    conf_unref(s->conf);
    free(s);
}

static void inbound_submit(struct inbound *r, struct host_call *a, const struct conf_instance *inst)
{
    const struct tc_inbound *const in = a->inbound;
    const enum user_command command = in->file_count ? COMMAND_NONE : user_command_parse(in->text);
    if (command != COMMAND_NONE) {
        CLEANUP_FREE char *key = inbound_make_key(inst->name, in->chat, in->thread);
        do_command(r, command, a, key, inst);
        return;
    }
    CLEANUP_BUF struct buf text = {0};
    user_command_strip_mention(&text, in->text);
    struct submission *const s = xmalloc(sizeof *s);
    *s = (struct submission){r, conf_ref(r->conf), inst, a};
    const struct str words = {text.p ? text.p : "", text.len};
    if (visibility_command_is_wanted(words))
        submit_tokens(s, words);
    else
        inbound_on_toggled(s, &(struct visibility_command_result){.rest = words});
}

/* ---- the end of a turn ---- */

static void inbound_cancel(struct inbound *r, struct host_call *a, const struct conf_instance *inst)
{
    struct conversation *c = turn_scheduler_find_turn(r->conversations, a->turn);
    if (c && strcmp(c->source, inst->name) != 0)
        c = NULL;
    if (!access_control_allows(&r->access, inst, CONF_CANCEL, a->user, c ? c->chat : NULL)) {
        host_call_complete(a, TC_DENIED, NULL, NULL);
        return;
    }
    if (!c) {
        host_call_complete(a, TC_KNOWN, NULL, NULL);
        return;
    }
    if (!c->job || strcmp(turn_job_id(c->job), a->turn) != 0) {
        clear_queue(r, a, c);
        return;
    }
    CLEANUP_BUF struct buf text = {0};
    host_reply_stopped(&text, true, false, 0);
    host_call_complete(a, TC_COMMAND, NULL, text.p);
    turn_job_cancel(c->job);
}

/* ---- */

static void inbound_on_known(void *ctx, const char *session)
{
    host_call_complete(ctx, session ? TC_ACCEPTED : TC_DENIED, NULL, NULL);
}

/* Whether the conversation is active. No permission is needed: it is checked for each message. */
static void inbound_look_up(struct inbound *r, struct host_call *a,
                            const struct conf_instance *inst)
{
    CLEANUP_FREE char *key = inbound_make_key(inst->name, a->chat, a->thread);
    const struct conf_agent *const agent = inbound_agent_of(r, inst);
    if (agent && !turn_scheduler_find(r->conversations, key))
        session_store_find(r->sessions, agent->name, key, inbound_on_known, a);
    else
        host_call_complete(a, agent ? TC_ACCEPTED : TC_DENIED, NULL, NULL);
}

static bool may_submit(struct inbound *r, const struct conf_instance *inst, const char *user,
                       const char *chat)
{
    return inbound_agent_of(r, inst) &&
           access_control_allows(&r->access, inst, CONF_SUBMIT, user, chat);
}

void inbound_handle(struct inbound *r, struct host_call *a)
{
    const struct conf_instance *const inst = conf_instance_find(r->conf, a->instance);
    if (inst && (a->kind == HOST_CALL_TICKET || a->kind == HOST_CALL_ANSWER))
        inbound_request_handle(r->requests, &r->access, inst, a);
    else if (inst && a->kind == HOST_CALL_CANCEL)
        inbound_cancel(r, a, inst);
    else if (inst && a->kind == HOST_CALL_KNOWS)
        inbound_look_up(r, a, inst);
    else if (inst && a->kind == HOST_CALL_MAY && may_submit(r, inst, a->user, a->chat))
        host_call_complete(a, TC_ACCEPTED, NULL, NULL);
    else if (inst && a->kind == HOST_CALL_SUBMIT &&
             may_submit(r, inst, a->inbound->user, a->inbound->chat))
        inbound_submit(r, a, inst);
    else
        host_call_complete(a, TC_DENIED, NULL, NULL);
}

struct inbound *inbound_new(const struct conf *conf, struct turn_scheduler *conversations,
                            struct visibility_cache *switches, struct session_store *sessions,
                            struct request_registry *requests, struct approvals *approvals)
{
    struct inbound *const r = xcalloc(1, sizeof *r);
    r->conf = conf;
    r->conversations = conversations;
    r->switches = switches;
    r->sessions = sessions;
    r->requests = requests;
    r->approvals = approvals;
    return r;
}

void inbound_set_conf(struct inbound *r, const struct conf *conf)
{
    r->conf = conf;
}

void inbound_free(struct inbound *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < SELF_ANSWERED_MAX; i++)
        self_answered_fini(&r->self_answered[i]);
    free(r);
}
