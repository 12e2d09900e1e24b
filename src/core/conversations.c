/* SPDX-License-Identifier: MIT
 * Owns the way of a message to its turn: permission, commands, tokens, the disk, the limits. */
#include "core/conversations.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "core/answer.h"
#include "core/command.h"
#include "core/conversation.h"
#include "core/permit.h"
#include "core/prompt.h"
#include "core/sticky.h"
#include "core/uuid.h"
#include "turn/slash.h"

#define COMMANDS_KNOWN 64 /* messages that were commands and are known when they come again */

struct conversations {
    struct conversations_spec spec;
    const struct conf_conversations *limits;
    struct conversation *list;
    size_t running;
    uint64_t ready; /* numbers given so far */
    struct permit permit;
    char *commands[COMMANDS_KNOWN]; /* a ring */
    size_t n_commands;
    size_t admitting;
    bool draining;
    struct loop_timer *drain;
    void (*drained)(void *ctx); /* NULL: it has been called, or nobody asked */
    void *ctx;
};

/* ---- finding ---- */

static const struct conf_instance *find_instance(const struct conversations *cs, const char *name)
{
    for (size_t i = 0; i < cs->spec.conf->n_instances; i++)
        if (strcmp(cs->spec.conf->instances[i].name, name) == 0)
            return &cs->spec.conf->instances[i];
    return NULL;
}

static char *make_key(const char *instance, const struct tc_inbound *in)
{
    return in->thread ? xasprintf("%s:%s:%s", instance, in->chat, in->thread)
                      : xasprintf("%s:%s", instance, in->chat);
}

static struct conversation *find(const struct conversations *cs, const char *key)
{
    struct conversation *c = cs->list;
    while (c && strcmp(c->key, key) != 0)
        c = c->next;
    return c;
}

static void on_calm(void *ctx, struct conversation *c);

static struct conversation *find_or_make(struct conversations *cs, const char *key,
                                         const struct conf_instance *inst, const char *chat)
{
    struct conversation *c = find(cs, key);
    if (c)
        return c;
    c = conversation_new(cs->spec.loop, inst, conf_agent_find(cs->spec.conf, inst->agent), key,
                         chat, on_calm, cs);
    c->next = cs->list;
    cs->list = c;
    return c;
}

static void drop_if_idle(struct conversations *cs, struct conversation *c)
{
    if (!conversation_is_idle(c))
        return;
    for (struct conversation **at = &cs->list; *at; at = &(*at)->next)
        if (*at == c) {
            *at = c->next;
            break;
        }
    conversation_free(c);
}

/* ---- limits ---- */

static size_t count_turns_of(const struct conversations *cs, const char *instance, const char *user)
{
    size_t n = 0;
    for (const struct conversation *c = cs->list; c; c = c->next)
        n += c->job && user && c->user && strcmp(c->user, user) == 0 &&
             strcmp(c->instance->name, instance) == 0;
    return n;
}

static bool has_room(const struct conversations *cs, const char *instance, const char *user)
{
    return !cs->draining && cs->running < (size_t)cs->limits->max_turns &&
           count_turns_of(cs, instance, user) < (size_t)cs->limits->per_user;
}

/* Whichever has waited longest of those that may begin. */
static struct conversation *find_next(const struct conversations *cs)
{
    struct conversation *best = NULL;
    for (struct conversation *c = cs->list; c; c = c->next)
        if (c->ready && (!best || c->ready < best->ready) &&
            has_room(cs, c->instance->name, c->first->user))
            best = c;
    return best;
}

/* ---- turns ---- */

static struct visibility visibility_of(const struct conversations *cs, const char *agent)
{
    struct tc_err err = {0};
    struct visibility v;
    if (sticky_resolve(cs->spec.conf, agent, &v, &err) < 0)
        log_line(LOG_WARN, "host", "%s; the configured visibility is used", err_str(&err));
    return v;
}

static void look_for_drained(struct conversations *cs)
{
    if (!cs->drained || cs->running || cs->admitting)
        return;
    void (*const tell)(void *) = cs->drained;
    cs->drained = NULL;
    tell(cs->ctx);
}

static void pump(struct conversations *cs);
static void make_ready(struct conversations *cs, struct conversation *c);

static void on_over(void *ctx)
{
    struct conversation *const c = ctx;
    struct conversations *const cs = c->ctx;
    conversation_end(c);
    cs->running--;
    if (c->n_waiting && !c->bursts)
        make_ready(cs, c);
    drop_if_idle(cs, c);
    pump(cs);
    look_for_drained(cs);
}

static void begin(struct conversations *cs, struct conversation *c)
{
    const struct job_spec where = {
        .loop = cs->spec.loop,
        .ledger = cs->spec.ledger,
        .dispatch = cs->spec.dispatch,
        .visibility = visibility_of(cs, c->agent->name),
    };
    cs->running++;
    conversation_begin(c, &where, on_over);
}

static void pump(struct conversations *cs)
{
    for (struct conversation *c; (c = find_next(cs));)
        begin(cs, c);
}

static void make_ready(struct conversations *cs, struct conversation *c)
{
    if (!c->job && !c->ready && c->n_waiting)
        c->ready = ++cs->ready;
}

static void on_calm(void *ctx, struct conversation *c)
{
    struct conversations *const cs = ctx;
    make_ready(cs, c);
    pump(cs);
}

/* ---- messages ---- */

struct admission {
    struct conversations *all;
    struct conversation *conversation;
    struct ask *ask;
    char *id, *prompt;
};

static void queue_message(struct conversations *cs, const struct admission *m)
{
    struct conversation *const c = m->conversation;
    const struct tc_inbound *const in = m->ask->inbound;
    conversation_add(c, &(struct record_turn){.id = m->id, .prompt = m->prompt, .route = in->route},
                     in->user);
    const bool waits = c->job || !has_room(cs, c->instance->name, c->first->user);
    CLEANUP_BUF struct buf text = {0};
    if (waits)
        answer_queued(&text, c, cs->draining);
    ask_answer(m->ask, waits ? TC_QUEUED : TC_ACCEPTED, c->first->id, waits ? text.p : NULL);
    if (!c->ready)
        conversation_await_calm(c, cs->limits->debounce_ms);
}

static void on_admitted(void *ctx, enum record_status status, const char *text)
{
    struct admission *const m = ctx;
    struct conversations *const cs = m->all;
    m->conversation->n_admitting--;
    cs->admitting--;
    if (status == RECORD_DONE)
        queue_message(cs, m);
    else if (status == RECORD_UNCHANGED)
        ask_answer(m->ask, TC_KNOWN, text, NULL);
    else if (status == RECORD_TOO_BIG)
        ask_answer(m->ask, TC_FULL, NULL, "This message is too long.");
    else
        ask_answer(m->ask, TC_NOT_KEPT, NULL, NULL);
    drop_if_idle(cs, m->conversation);
    free(m->id);
    free(m->prompt);
    free(m);
    look_for_drained(cs);
}

static void admit(struct conversations *cs, struct conversation *c, struct ask *a, struct str text)
{
    const struct tc_inbound *const in = a->inbound;
    CLEANUP_BUF struct buf prompt = {0};
    char id[37];
    uuid_make(id);
    prompt_add(&prompt, in, text);
    struct admission *const m = xmalloc(sizeof *m);
    *m = (struct admission){cs, c, a, xstrdup(id), buf_steal(&prompt)};
    c->n_admitting++;
    cs->admitting++;
    const struct record_turn t = {
        .id = m->id,
        .agent = c->agent->name,
        .conv = c->key,
        .source = c->instance->name,
        .msg_id = in->id,
        .also = in->also,
        .waiting = true,
        .prompt = m->prompt,
        .route = in->route,
    };
    ledger_admit(cs->spec.ledger, &t, on_admitted, m);
}

static void submit_message(struct conversations *cs, struct ask *a, const char *key,
                           const struct conf_instance *inst, struct str text)
{
    struct conversation *const c = find_or_make(cs, key, inst, a->inbound->chat);
    if (c->n_waiting + c->n_admitting < (size_t)cs->limits->queue) {
        admit(cs, c, a, text);
        return;
    }
    CLEANUP_BUF struct buf full = {0};
    answer_full(&full, c);
    ask_answer(a, TC_FULL, NULL, full.p);
}

/* ---- commands ---- */

/* A command that the service gives a second time is not done a second time. */
static bool was_done(struct conversations *cs, const struct ask *a)
{
    CLEANUP_FREE char *id = xasprintf("%s\n%s", a->instance, a->inbound->id);
    for (size_t i = 0; i < COMMANDS_KNOWN; i++)
        if (cs->commands[i] && strcmp(cs->commands[i], id) == 0)
            return true;
    char **const place = &cs->commands[cs->n_commands++ % COMMANDS_KNOWN];
    free(*place);
    *place = xstrdup(id);
    return false;
}

static void stop(struct conversations *cs, struct ask *a, const struct conf_instance *inst,
                 struct conversation *c)
{
    if (!(inst->grants & CONF_CANCEL)) {
        ask_answer(a, TC_COMMAND, NULL, "Turns cannot be stopped from here.");
        return;
    }
    CLEANUP_BUF struct buf text = {0};
    const bool runs = c && c->job;
    const size_t dropped = c ? conversation_clear(c, cs->spec.ledger) : 0;
    answer_stopped(&text, runs, dropped);
    ask_answer(a, TC_COMMAND, runs ? job_id(c->job) : NULL, text.p);
    if (runs)
        job_cancel(c->job);
    else if (c)
        drop_if_idle(cs, c);
}

static void forget_session(struct conversations *cs, struct ask *a, const char *key,
                           const struct conf_agent *agent, struct conversation *c)
{
    CLEANUP_FREE char *session = job_session_key(agent->name, key);
    const bool runs = c && c->job;
    if (runs)
        job_forget_session(c->job);
    ledger_put(cs->spec.ledger, session, NULL, NULL, NULL);
    ask_answer(a, TC_COMMAND, NULL,
               runs ? "The next message begins a new session; the running turn ends in the old one."
                    : "The next message begins a new session.");
}

static void clear_queue(struct conversations *cs, struct ask *a, struct conversation *c)
{
    CLEANUP_BUF struct buf text = {0};
    answer_cleared(&text, c ? conversation_clear(c, cs->spec.ledger) : 0);
    ask_answer(a, TC_COMMAND, NULL, text.p);
    if (c)
        drop_if_idle(cs, c);
}

struct status_ask {
    struct ask *ask;
    struct buf text;
    struct visibility visibility;
};

static void on_status(void *ctx, enum record_status status, const char *session)
{
    struct status_ask *const s = ctx;
    answer_session(&s->text, status == RECORD_DONE ? session : NULL);
    answer_visibility(&s->text, s->visibility);
    ask_answer(s->ask, TC_COMMAND, NULL, s->text.p);
    buf_fini(&s->text);
    free(s);
}

static void tell_status(struct conversations *cs, struct ask *a, const char *key,
                        const struct conf_agent *agent, const struct conversation *c)
{
    CLEANUP_FREE char *session = job_session_key(agent->name, key);
    struct status_ask *const s = xcalloc(1, sizeof *s);
    s->ask = a;
    s->visibility = visibility_of(cs, agent->name);
    answer_running(&s->text, c);
    if (c && c->job && *job_session(c->job))
        on_status(s, RECORD_DONE, job_session(c->job));
    else
        ledger_get(cs->spec.ledger, session, on_status, s);
}

static void tell_queue(struct ask *a, const struct conversation *c)
{
    CLEANUP_BUF struct buf text = {0};
    answer_queue(&text, c);
    ask_answer(a, TC_COMMAND, NULL, text.p);
}

static void do_command(struct conversations *cs, enum command command, struct ask *a,
                       const char *key, const struct conf_instance *inst)
{
    struct conversation *const c = find(cs, key);
    const struct conf_agent *const agent = conf_agent_find(cs->spec.conf, inst->agent);
    if (was_done(cs, a)) {
        ask_answer(a, TC_KNOWN, NULL, NULL);
        return;
    }
    switch (command) {
    case COMMAND_STOP:
        stop(cs, a, inst, c);
        break;
    case COMMAND_NEW:
        forget_session(cs, a, key, agent, c);
        break;
    case COMMAND_STATUS:
        tell_status(cs, a, key, agent, c);
        break;
    case COMMAND_QUEUE_CLEAR:
        clear_queue(cs, a, c);
        break;
    case COMMAND_QUEUE:
    case COMMAND_NONE:
        tell_queue(a, c);
        break;
    }
}

/* Takes the tokens that change or ask what is shown out of the text. True: nothing is left. */
static bool apply_tokens(const struct conversations *cs, const char *agent, struct buf *text,
                         struct visibility *v)
{
    CLEANUP_BUF struct buf rest = {0};
    struct tc_err err = {0};
    *v = visibility_of(cs, agent);
    const struct visibility before = *v;
    const struct slash_result found = slash_parse(text->p, text->len, v, &rest);
    if (found.toggled && !visibility_equal(&before, v) &&
        sticky_save(cs->spec.conf->state_dir, agent, *v, &err) < 0)
        log_line(LOG_WARN, "host", "visibility is not stored: %s", err_str(&err));
    if (found.found) {
        buf_reset(text);
        buf_add(text, rest.p ? rest.p : "", rest.len);
    }
    return found.empty;
}

static void tell_visibility(struct ask *a, struct visibility v)
{
    CLEANUP_BUF struct buf text = {0};
    answer_visibility(&text, v);
    ask_answer(a, TC_COMMAND, NULL, text.p);
}

static void submit(struct conversations *cs, struct ask *a, const struct conf_instance *inst)
{
    const struct tc_inbound *const in = a->inbound;
    CLEANUP_FREE char *key = make_key(inst->name, in);
    const enum command command = in->file_count ? COMMAND_NONE : command_parse(in->text);
    if (command != COMMAND_NONE) {
        do_command(cs, command, a, key, inst);
        return;
    }
    CLEANUP_BUF struct buf text = {0};
    struct visibility v;
    command_unaddress(&text, in->text);
    const bool nothing_left =
        text.len && apply_tokens(cs, conf_agent_find(cs->spec.conf, inst->agent)->name, &text, &v);
    if (nothing_left && !in->file_count)
        tell_visibility(a, v);
    else
        submit_message(cs, a, key, inst, (struct str){text.p ? text.p : "", text.len});
}

static void cancel(struct conversations *cs, struct ask *a, const struct conf_instance *inst)
{
    struct conversation *c = cs->list;
    while (c && !(c->instance == inst && ((c->job && strcmp(job_id(c->job), a->turn) == 0) ||
                                          (c->first && strcmp(c->first->id, a->turn) == 0))))
        c = c->next;
    if (!permit_allows(&cs->permit, inst, CONF_CANCEL, a->user, c ? c->chat : NULL)) {
        ask_answer(a, TC_DENIED, NULL, NULL);
        return;
    }
    if (!c) {
        ask_answer(a, TC_KNOWN, NULL, NULL);
        return;
    }
    const bool runs = c->job && strcmp(job_id(c->job), a->turn) == 0;
    CLEANUP_BUF struct buf text = {0};
    answer_stopped(&text, runs, runs ? 0 : conversation_clear(c, cs->spec.ledger));
    ask_answer(a, TC_COMMAND, NULL, text.p);
    if (runs)
        job_cancel(c->job);
    else
        drop_if_idle(cs, c);
}

static bool may_submit(struct conversations *cs, const struct conf_instance *inst, const char *user,
                       const char *chat)
{
    return conf_agent_find(cs->spec.conf, inst->agent) &&
           permit_allows(&cs->permit, inst, CONF_SUBMIT, user, chat);
}

void conversations_ask(struct conversations *cs, struct ask *a)
{
    const struct conf_instance *const inst = find_instance(cs, a->instance);
    if (inst && a->kind == ASK_CANCEL)
        cancel(cs, a, inst);
    else if (inst && a->kind == ASK_MAY && may_submit(cs, inst, a->user, a->chat))
        ask_answer(a, TC_ACCEPTED, NULL, NULL);
    else if (inst && a->kind == ASK_SUBMIT &&
             may_submit(cs, inst, a->inbound->user, a->inbound->chat))
        submit(cs, a, inst);
    else
        ask_answer(a, TC_DENIED, NULL, NULL);
}

/* ---- begin and end ---- */

struct conversations *conversations_new(const struct conversations_spec *spec)
{
    struct conversations *const cs = xcalloc(1, sizeof *cs);
    cs->spec = *spec;
    cs->limits = &spec->conf->conversations;
    return cs;
}

bool conversations_restore(struct conversations *cs, const struct record_turn *t)
{
    const struct conf_instance *const inst = find_instance(cs, t->source);
    if (!inst || !conf_agent_find(cs->spec.conf, inst->agent))
        return false;
    struct conversation *const c = find_or_make(cs, t->conv, inst, NULL);
    conversation_add(c, t, NULL);
    make_ready(cs, c);
    return true;
}

void conversations_begin(struct conversations *cs)
{
    pump(cs);
}

static void end_all(void *arg)
{
    const struct conversations *const cs = arg;
    for (struct conversation *c = cs->list; c; c = c->next)
        if (c->job)
            job_shutdown(c->job);
}

static void look_later(void *arg)
{
    look_for_drained(arg);
}

void conversations_drain(struct conversations *cs, void (*drained)(void *ctx), void *ctx)
{
    if (cs->draining) {
        end_all(cs);
        return;
    }
    cs->draining = true;
    cs->drained = drained;
    cs->ctx = ctx;
    cs->drain = loop_timer_new(cs->spec.loop, end_all, cs);
    loop_timer_set(cs->drain, cs->limits->drain_ms);
    loop_post(cs->spec.loop, look_later, cs);
}

size_t conversations_running(const struct conversations *cs)
{
    return cs->running;
}

void conversations_free(struct conversations *cs)
{
    if (!cs)
        return;
    while (cs->list) {
        struct conversation *const c = cs->list;
        cs->list = c->next;
        conversation_free(c);
    }
    for (size_t i = 0; i < COMMANDS_KNOWN; i++)
        free(cs->commands[i]);
    if (cs->drain)
        loop_timer_free(cs->drain);
    free(cs);
}
