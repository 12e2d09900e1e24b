/* SPDX-License-Identifier: MIT
 * Checks permissions, executes commands, and applies visibility words. */
#include "core/inbound/inbound.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/sys/clock.h"
#include "base/sys/crash_point.h"
#include "core/conversation/host_reply.h"
#include "core/conversation/prompt.h"
#include "core/inbound/chat_command.h"
#include "core/inbound/chat_history.h"
#include "core/inbound/inbound_instances.h"
#include "core/inbound/inbound_internal.h"
#include "core/inbound/inbound_request.h"
#include "core/settings/visibility_command.h"
#include "text/sentence/texts.h"
#include "turn/visibility/slash_tokens.h"

char *inbound_make_key(const char *instance, const char *chat, const char *thread)
{
    return thread ? xasprintf("%s:%s:%s", instance, chat, thread)
                  : xasprintf("%s:%s", instance, chat);
}

const struct conf_agent *inbound_agent_of(const struct inbound *r, const struct conf_instance *inst,
                                          const char *chat, const char *thread)
{
    CLEANUP_FREE char *key = inbound_make_key(inst->name, chat, thread);
    return bindings_find_agent(r->spec.bindings, r->spec.conf, inst, key);
}

/* ---- messages ---- */

static void inbound_on_submitted(void *ctx, const struct conversations_result *answer)
{
    host_call_complete(ctx, answer->accepted, answer->turn, answer->text);
    CRASH_POINT("after-ack");
}

struct submission {
    struct inbound *reception;
    const struct conf *conf; /* configuration of the instance; holds a reference */
    const struct conf_instance *instance;
    struct host_call *ask;
    struct buf text; /* text without the mention of the bot */
};

static void inbound_reply_visibility(struct host_call *a, const struct visibility_command_result *t)
{
    CLEANUP_BUF struct buf text = {0};
    host_reply_visibility(&text, t->visibility);
    host_reply_saved(&text, t->saved);
    host_call_complete(a, TC_COMMAND, NULL, text.p);
}

void inbound_submit_prompt(struct inbound *r, struct host_call *a, const struct conf_instance *inst,
                           struct str prompt)
{
    const struct tc_inbound *const in = a->inbound;
    const struct conf_agent *const agent = inbound_agent_of(r, inst, in->chat, in->thread);
    CLEANUP_FREE char *key = inbound_make_key(inst->name, in->chat, in->thread);
    CLEANUP_BUF struct buf instances = {0};
    if (!agent) { /* removed in the meantime */
        host_call_complete(a, TC_DENIED, NULL, NULL);
        return;
    }
    inbound_instances_join(in, &instances);
    const struct turn_scheduler_message m = {
        .key = key,
        .source = inst->name,
        .agent = agent,
        .chat = in->chat,
        .user = in->user,
        .route = in->route,
        .instances = instances.p,
        .id = in->id,
        .also = in->also,
        .prompt = prompt,
        .language = inst->chat.language,
        .follows = true,
    };
    turn_scheduler_submit(r->spec.conversations, &m, inbound_on_submitted, a);
}

static void submit_text(const struct submission *s, struct str text)
{
    CLEANUP_BUF struct buf prompt = {0};
    prompt_append_message(&prompt, s->ask->inbound, text);
    inbound_submit_prompt(s->reception, s->ask, s->instance,
                          (struct str){prompt.p ? prompt.p : "", prompt.len});
}

static void free_submission(struct submission *s)
{
    conf_unref(s->conf);
    buf_fini(&s->text);
    free(s);
}

static void inbound_on_toggled(void *ctx, const struct visibility_command_result *t)
{
    struct submission *const s = ctx;
    TEXTS_IN(s->ask->language);
    if (t->why)
        host_call_complete(s->ask, TC_COMMAND, NULL, t->why);
    else if (t->empty && !s->ask->inbound->file_count)
        inbound_reply_visibility(s->ask, t);
    else
        submit_text(s, t->rest);
    free_submission(s);
}

/* The tokens were applied at the first delivery, and settings may have changed since. The rest of
 * the text goes to the journal, which recognises the repetition. */
static void submit_known_tokens(struct submission *s)
{
    CLEANUP_BUF struct buf rest = {0};
    struct visibility unused = visibility_default();
    const struct slash_tokens_result found =
        slash_tokens_parse(s->text.p, s->text.len, &unused, &rest);
    if (found.empty && !s->ask->inbound->file_count)
        host_call_complete(s->ask, TC_KNOWN, NULL, NULL);
    else
        submit_text(s, (struct str){rest.p ? rest.p : "", rest.len});
    free_submission(s);
}

static void inbound_on_tokens_stored(void *ctx, enum journal_status status, const char *text)
{
    struct submission *const s = ctx;
    TEXTS_IN(s->ask->language);
    const struct tc_inbound *const in = s->ask->inbound;
    const struct conf_agent *const agent =
        inbound_agent_of(s->reception, s->instance, in->chat, in->thread);
    (void)status, (void)text;
    if (!agent) { /* removed in the meantime */
        host_call_complete(s->ask, TC_DENIED, NULL, NULL);
        free_submission(s);
        return;
    }
    visibility_command_apply(s->reception->spec.switches, agent->name,
                             (struct str){s->text.p, s->text.len}, inbound_on_toggled, s);
}

static void submit_tokens(struct submission *s)
{
    struct answered_messages *const known = s->reception->answered;
    const struct tc_inbound *const in = s->ask->inbound;
    if (answered_messages_has(known, s->instance->name, in))
        submit_known_tokens(s);
    else if (in->id || in->also)
        answered_messages_add(known, s->instance->name, in, inbound_on_tokens_stored, s);
    else
        inbound_on_tokens_stored(s, JOURNAL_DONE, NULL);
}

/* The message has no part that the agent can process. */
static bool inbound_is_unprocessed(const struct tc_inbound *in, const struct conf_instance *inst)
{
    if (!in->kind || *in->text)
        return false;
    return !in->file_count || (strcmp(in->kind, "voice") == 0 && !inst->chat.transcribe);
}

/* Whether the chat got no such reply within an hour; records this one. */
static bool inbound_may_reply(struct inbound *r, const char *key)
{
    const int64_t now = clock_mono_ms();
    const uint64_t where = hash_string(HASH_START, key);
    struct unprocessed *place = r->unprocessed;
    for (size_t i = 0; i < UNPROCESSED_MAX && place->where != where; i++)
        if (r->unprocessed[i].where == where || !r->unprocessed[i].where ||
            r->unprocessed[i].at_ms < place->at_ms)
            place = &r->unprocessed[i];
    if (place->where == where && now - place->at_ms < UNPROCESSED_AGAIN_MS)
        return false;
    *place = (struct unprocessed){where, now};
    return true;
}

static void inbound_reply_unprocessed(struct inbound *r, struct host_call *a, const char *key)
{
    const bool voice = strcmp(a->inbound->kind, "voice") == 0;
    if (inbound_may_reply(r, key))
        host_call_complete(a, TC_COMMAND, NULL,
                           texts_get(voice ? TEXT_UNPROCESSED_VOICE : TEXT_UNPROCESSED));
    else
        host_call_complete(a, TC_KNOWN, NULL, NULL);
}

static void inbound_submit(struct inbound *r, struct host_call *a, const struct conf_instance *inst)
{
    const struct tc_inbound *const in = a->inbound;
    CLEANUP_BUF struct buf argument = {0};
    const enum user_command command =
        in->file_count ? COMMAND_NONE : user_command_parse(in->text, &argument);
    const struct conf_agent *const agent = inbound_agent_of(r, inst, in->chat, in->thread);
    CLEANUP_FREE char *key = inbound_make_key(inst->name, in->chat, in->thread);
    if (!agent || !inbound_instances_check(r->spec.dispatch, a, agent->name, key)) {
        host_call_complete(a, agent ? TC_INVALID : TC_DENIED, NULL, NULL);
        return;
    }
    if (inbound_is_unprocessed(in, inst)) {
        inbound_reply_unprocessed(r, a, key);
        return;
    }
    if (command != COMMAND_NONE) {
        chat_command_run(r, a, inst, command, &argument);
        return;
    }
    struct submission *const s = xcalloc(1, sizeof *s);
    *s = (struct submission){
        .reception = r, .conf = conf_ref(r->spec.conf), .instance = inst, .ask = a};
    user_command_strip_mention(&s->text, in->text);
    const struct str words = {s->text.p ? s->text.p : "", s->text.len};
    if (visibility_command_is_wanted(words))
        submit_tokens(s);
    else
        inbound_on_toggled(s, &(struct visibility_command_result){.rest = words});
}

static void inbound_retry(struct inbound *r, struct host_call *a, const struct conf_instance *inst)
{
    if (inbound_agent_of(r, inst, a->inbound->chat, a->inbound->thread))
        chat_history_retry(r, a, inst);
    else /* removed in the meantime */
        host_call_complete(a, TC_DENIED, NULL, NULL);
}

/* ---- cancelling a turn ---- */

static void inbound_cancel_running(struct host_call *a, struct turn_job *job)
{
    CLEANUP_BUF struct buf text = {0};
    host_reply_stopped(&text, true, false, 0);
    host_call_complete(a, TC_COMMAND, NULL, text.p);
    turn_job_cancel(job);
}

/* People may stop the turns of their instance, and turns of others that the instance shows. */
static void inbound_cancel(struct inbound *r, struct host_call *a, const struct conf_instance *inst)
{
    struct conversation *const c = turn_scheduler_find_turn(r->spec.conversations, a->turn);
    const bool is_own = c && strcmp(c->source, inst->name) == 0;
    const bool is_running = c && c->job && strcmp(turn_job_id(c->job), a->turn) == 0;
    const bool is_shown = dispatch_shows(r->spec.dispatch, inst->name, a->turn);
    if (!access_control_allows(&r->access, inst, CONF_CANCEL, a->user, is_own ? c->chat : NULL))
        host_call_complete(a, TC_DENIED, NULL, NULL);
    else if (is_running && (is_own || is_shown))
        inbound_cancel_running(a, c->job);
    else if (is_own)
        chat_command_clear_queue(r, a, c);
    else if (is_shown && inbound_remote_has(r->remote, a->turn))
        inbound_remote_cancel(r->remote, a, a->turn, 0);
    else
        host_call_complete(a, TC_KNOWN, NULL, NULL);
}

/* ---- queries ---- */

static void inbound_on_known(void *ctx, const char *session)
{
    host_call_complete(ctx, session ? TC_ACCEPTED : TC_DENIED, NULL, NULL);
}

/* Whether the conversation is active. Needs no permission, which is checked for each message. */
static void inbound_find_conversation(struct inbound *r, struct host_call *a,
                                      const struct conf_instance *inst)
{
    CLEANUP_FREE char *key = inbound_make_key(inst->name, a->chat, a->thread);
    const struct conf_agent *const agent = inbound_agent_of(r, inst, a->chat, a->thread);
    if (agent && !turn_scheduler_find(r->spec.conversations, key))
        session_store_find(r->spec.sessions, conf_agent_session_name(agent), key, inbound_on_known,
                           a);
    else
        host_call_complete(a, agent ? TC_ACCEPTED : TC_DENIED, NULL, NULL);
}

static bool may_submit(struct inbound *r, const struct conf_instance *inst, const char *user,
                       const char *chat)
{
    return conf_agent_find(r->spec.conf, inst->agent) &&
           access_control_allows(&r->access, inst, CONF_SUBMIT, user, chat);
}

/* An unknown person gets a code, or no reply. */
static void inbound_deny(struct inbound *r, struct host_call *a, const struct conf_instance *inst)
{
    const struct tc_inbound *const in = a->inbound;
    CLEANUP_BUF struct buf text = {0};
    const char *const code =
        in->direct && access_control_may_pair(&r->access, inst, in->user, in->chat)
            ? pairing_offer(r->spec.pairing, inst->name, in->user, in->name)
            : NULL;
    if (!code) {
        host_call_complete(a, TC_DENIED, NULL, NULL);
        return;
    }
    texts_append(&text, TEXT_PAIRING_CODE,
                 TEXT_VALUES(TEXT_STR("code", code), TEXT_STR("instance", inst->name)));
    host_call_complete(a, TC_COMMAND, NULL, text.p);
}

void inbound_handle(struct inbound *r, struct host_call *a)
{
    const struct conf_instance *const inst = conf_instance_find(r->spec.conf, a->instance);
    a->language = inst ? inst->chat.language : LANGUAGE_EN;
    TEXTS_IN(a->language);
    if (inst && (a->kind == HOST_CALL_TICKET || a->kind == HOST_CALL_ANSWER))
        inbound_request_handle(r->spec.requests, r->remote, &r->access, inst, a);
    else if (inst && a->kind == HOST_CALL_CANCEL)
        inbound_cancel(r, a, inst);
    else if (inst && a->kind == HOST_CALL_RESEND)
        inbound_resend(r, a, inst);
    else if (inst && a->kind == HOST_CALL_KNOWS_CHAT)
        inbound_find_conversation(r, a, inst);
    else if (inst && a->kind == HOST_CALL_CHECK_PERMISSION && may_submit(r, inst, a->user, a->chat))
        host_call_complete(a, TC_ACCEPTED, NULL, NULL);
    else if (inst && a->kind == HOST_CALL_SUBMIT &&
             may_submit(r, inst, a->inbound->user, a->inbound->chat))
        inbound_submit(r, a, inst);
    else if (inst && a->kind == HOST_CALL_RETRY &&
             may_submit(r, inst, a->inbound->user, a->inbound->chat))
        inbound_retry(r, a, inst);
    else if (inst && a->kind == HOST_CALL_SUBMIT)
        inbound_deny(r, a, inst);
    else
        host_call_complete(a, TC_DENIED, NULL, NULL);
}

struct inbound *inbound_new(const struct inbound_spec *spec)
{
    struct inbound *const r = xcalloc(1, sizeof *r);
    *r = (struct inbound){.spec = *spec,
                          .access = {.pairing = spec->pairing},
                          .answered = answered_messages_new(spec->journal)};
    return r;
}

void inbound_set_conf(struct inbound *r, const struct conf *conf)
{
    r->spec.conf = conf;
}

void inbound_set_bus(struct inbound *r, struct bus *bus, const struct turnlog *turnlog)
{
    r->remote = inbound_remote_new(bus, turnlog, r->spec.requests);
}

void inbound_free(struct inbound *r)
{
    if (!r)
        return;
    inbound_remote_free(r->remote);
    answered_messages_free(r->answered);
    free(r);
}
