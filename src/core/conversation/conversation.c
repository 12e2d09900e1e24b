/* SPDX-License-Identifier: MIT
 * Owns queued messages, and joins them to one prompt. */
#include "core/conversation/conversation.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "conf/conf_scope.h"
#include "core/conversation/prompt.h"
#include "core/conversation/turn_scheduler.h"

#define BURST_MAX 10                 /* a burst lasts at most this multiple of its pause */
#define PROMPT_MAX ((size_t)4 << 20) /* limit of joined messages */

static void conversation_on_calm(void *arg)
{
    struct conversation *const c = arg;
    c->bursts = false;
    c->calm(c->ctx, c);
}

struct conversation *conversation_new(struct loop *loop, const char *source, const char *key,
                                      const char *chat,
                                      void (*calm)(void *ctx, struct conversation *c), void *ctx)
{
    struct conversation *const c = xcalloc(1, sizeof *c);
    *c = (struct conversation){
        .source = xstrdup(source),
        .key = xstrdup(key),
        .chat = xstrdup(chat),
        .burst = loop_timer_new(loop, conversation_on_calm, c),
        .calm = calm,
        .ctx = ctx,
    };
    return c;
}

/* Withdrawal of several messages, until the fate of each is known. */
struct conversation_withdrawal {
    size_t awaited;
    struct taken_back counts;
    conversation_withdraw_done *done; /* NULL: the caller no longer waits for the result */
    void *ctx;
};

static void conversation_withdrawal_settle(struct conversation_withdrawal *t)
{
    ASSERT(t->awaited > 0);
    if (--t->awaited)
        return;
    if (t->done)
        t->done(t->ctx, &t->counts);
    free(t);
}

static void free_message(struct conversation_message *m)
{
    if (m->withdrawal)
        conversation_withdrawal_settle(m->withdrawal);
    free(m->id);
    free(m->user);
    free(m->route);
    free(m->instances);
    free(m->prompt);
    free(m);
}

static struct conversation_message *conversation_pop_first(struct conversation *c)
{
    ASSERT(c->first && c->last && c->n_waiting > 0);
    struct conversation_message *const m = c->first;
    c->first = m->next;
    if (!c->first)
        c->last = NULL;
    c->n_waiting--;
    return m;
}

void conversation_free(struct conversation *c)
{
    while (c->first) {
        struct conversation_message *const m = conversation_pop_first(c);
        if (m->withdrawal)
            m->withdrawal->done = NULL;
        free_message(m);
    }
    loop_timer_free(c->burst);
    turn_job_free(c->job);
    conf_unref(c->conf);
    free(c->user);
    free(c->instances);
    free(c->chat);
    free(c->owner);
    free(c->source);
    free(c->key);
    free(c);
}

void conversation_set_agent(struct conversation *c, const struct conf *conf,
                            const struct conf_agent *agent)
{
    const struct conf *const before = c->conf;
    c->conf = conf_ref(conf);
    c->agent = agent;
    conf_unref(before);
}

bool conversation_is_idle(const struct conversation *c)
{
    return !c->job && !c->n_waiting && !c->n_admitting;
}

struct conversation_message *conversation_enqueue(struct conversation *c,
                                                  const struct journal_turn *t, const char *user)
{
    ASSERT(!c->first == !c->last && !c->first == !c->n_waiting);
    const char *const prompt = t->prompt ? t->prompt : "";
    struct conversation_message *const m = xcalloc(1, sizeof *m);
    *m = (struct conversation_message){
        .id = xstrdup(t->id),
        .user = xstrdup(user),
        .route = xstrdup(t->route),
        .instances = xstrdup(t->instances),
        .prompt = xstrdup(prompt),
        .prompt_len = strlen(prompt),
    };
    if (c->last)
        c->last->next = m;
    else
        c->first = m;
    c->last = m;
    c->n_waiting++;
    return m;
}

void conversation_debounce(struct conversation *c, int64_t debounce_ms)
{
    const int64_t now = clock_mono_ms();
    if (!c->bursts)
        c->burst_began_ms = now;
    const int64_t left = c->burst_began_ms + BURST_MAX * debounce_ms - now;
    c->bursts = true;
    loop_timer_set(c->burst, left < debounce_ms ? (left > 0 ? left : 0) : debounce_ms);
}

static void conversation_withdraw(const struct conversation *c, struct conversation_message *m)
{
    journal_async_cancel(c->journal, m->id, NULL, NULL);
    if (c->turnlog)
        turnlog_mark_cancelled(c->turnlog, m->id);
    if (m->withdrawal)
        m->withdrawal->counts.dropped++;
    free_message(m);
}

static void await_nothing(struct conversation *c)
{
    loop_timer_set(c->burst, -1);
    c->bursts = false;
    c->ready = 0;
}

size_t conversation_drop_waiting(struct conversation *c, bool *held)
{
    const size_t n = c->n_waiting;
    while (c->first) {
        *held |= c->first->given;
        conversation_withdraw(c, conversation_pop_first(c));
    }
    await_nothing(c);
    return n;
}

struct conversation_message *conversation_find(const struct conversation *c, const char *id)
{
    struct conversation_message *m = c->first;
    while (m && strcmp(m->id, id) != 0)
        m = m->next;
    return m;
}

/* Removes the message from the queue. */
static struct conversation_message *conversation_remove_message(struct conversation *c,
                                                                struct conversation_message *m)
{
    struct conversation_message *before = NULL;
    for (struct conversation_message *at = c->first; at != m; at = at->next) {
        ASSERT(at);
        before = at;
    }
    ASSERT(c->n_waiting > 0);
    *(before ? &before->next : &c->first) = m->next;
    if (c->last == m)
        c->last = before;
    if (--c->n_waiting == 0)
        await_nothing(c);
    return m;
}

void conversation_dismiss(struct conversation *c)
{
    for (struct conversation_message *m = c->first, *next; m; m = next) {
        next = m->next;
        if (m->again)
            continue;
        journal_async_delete_waiting_turn(c->journal, m->id, NULL, NULL);
        if (c->turnlog)
            turnlog_mark_cancelled(c->turnlog, m->id);
        free_message(conversation_remove_message(c, m));
    }
    if (!c->first)
        await_nothing(c);
}

bool conversation_withdraw_messages(struct conversation *c, const char *id,
                                    conversation_withdraw_done *done, void *ctx)
{
    struct conversation_withdrawal *const t = xcalloc(1, sizeof *t);
    *t = (struct conversation_withdrawal){.awaited = 1, .done = done, .ctx = ctx};
    bool held = false;
    for (struct conversation_message *m = c->first, *next; m; m = next) {
        next = m->next;
        if (m->withdrawal || (id && strcmp(m->id, id) != 0))
            continue;
        m->withdrawal = t;
        t->awaited++;
        if (m->given && turn_job_withdraw(c->job, m->id))
            continue;
        held |= m->given;
        conversation_withdraw(c, conversation_remove_message(c, m));
    }
    conversation_withdrawal_settle(t);
    return held;
}

/* Completes a message that is part of the running turn and has no outcome. */
static void conversation_merge(struct conversation *c, struct conversation_message *m)
{
    ASSERT(c->job);
    journal_async_merge(c->journal, m->id, turn_job_id(c->job), NULL, NULL);
    if (c->turnlog)
        turnlog_mark_merged(c->turnlog, m->id, turn_job_id(c->job));
    if (m->withdrawal)
        m->withdrawal->counts.too_late++;
    free_message(m);
}

/* A message that the agent has refused or dropped is queued, unless it was withdrawn. */
static bool conversation_on_settled(void *ctx, const char *id, enum dialect_settled how)
{
    struct conversation *const c = ctx;
    struct conversation_message *const m = conversation_find(c, id);
    if (!m && c->guests)
        c->guests->settled(c->guests->ctx, c, id, how);
    if (!m)
        return false;
    if (how == DIALECT_TAKEN)
        conversation_merge(c, conversation_remove_message(c, m));
    else if (m->withdrawal)
        conversation_withdraw(c, conversation_remove_message(c, m));
    else
        m->given = false;
    return how == DIALECT_TAKEN;
}

/* Withdraws messages that the agent can no longer be asked about. False: there were none. */
static bool drop_unsettled(struct conversation *c)
{
    bool dropped = false;
    for (struct conversation_message *m = c->first, *next; m; m = next) {
        next = m->next;
        if (m->withdrawal) {
            conversation_withdraw(c, conversation_remove_message(c, m));
            dropped = true;
        }
    }
    return dropped;
}

/* The new process has none of the messages. */
static void conversation_on_lost(void *ctx)
{
    struct conversation *const c = ctx;
    drop_unsettled(c);
    if (c->guests)
        c->guests->lost(c->guests->ctx, c);
    for (struct conversation_message *m = c->first; m; m = m->next)
        m->given = false;
}

/* Makes each message that was sent to the agent a turn of its own. So the other host recognises the
 * messages that its agent already has. */
static void conversation_separate_sent(struct conversation *c)
{
    for (struct conversation_message *m = c->first; m; m = m->next) {
        m->alone |= m->given;
        m->given = false;
    }
}

/* A message with a sound file needs a separate turn, in which it is transcribed. */
static bool conversation_has_sounds(const struct conversation *c,
                                    const struct conversation_message *m)
{
    char *const *command;
    CLEANUP_FREE char *dir = turn_job_find_transcriber(
        c->conf, c->source, (struct str){m->prompt, m->prompt_len}, &command);
    return dir;
}

/* Messages given to the agent keep their order: none overtakes a queued one. A message that names
 * an instance outside of the turn needs a separate turn that this instance receives. */
bool conversation_steer(struct conversation *c, struct conversation_message *newest)
{
    if (!c->job || newest->alone || (c->first != newest && !c->first->given) ||
        !conf_scope_has_names(c->instances, newest->instances) ||
        conversation_has_sounds(c, newest))
        return false;
    const enum dialect_steer how = turn_job_steer(c->job, newest->id, newest->user,
                                                  (struct str){newest->prompt, newest->prompt_len});
    newest->given = how == DIALECT_WRITTEN;
    return how != DIALECT_REFUSED;
}

/* Joins the prompts and named instances of queued messages to those of the first one, as far as
 * limits permit; appends the ids of the others to `merged`, and their users to `askers`. */
static size_t conversation_join(struct conversation *c, bool given, struct buf *prompt,
                                struct buf *instances, char **merged, char **askers)
{
    size_t n = 0;
    while (c->first && !c->first->alone && c->first->given == given &&
           prompt->len + c->first->prompt_len <= PROMPT_MAX) {
        struct conversation_message *const m = conversation_pop_first(c);
        prompt_append_prompt(prompt, (struct str){m->prompt, m->prompt_len});
        conf_scope_add_names(instances, m->instances);
        askers[n] = m->user;
        merged[n++] = m->id;
        m->id = m->user = NULL;
        free_message(m);
    }
    return n;
}

static void conversation_start(struct conversation *c, struct turn_job_spec *spec,
                               void (*over)(void *conversation))
{
    ASSERT(!c->job);
    c->ready = 0;
    spec->conf = c->conf;
    spec->agent = c->agent;
    spec->conversation = c->key;
    spec->submitter = c->source;
    spec->owner = c->owner;
    spec->keeps_result = turn_scheduler_is_api(c->source);
    if (spec->keeps_result) {
        spec->user = NULL;
        spec->history = NULL;
        spec->usage = NULL;
    }
    spec->steering.settled = conversation_on_settled;
    spec->steering.lost = conversation_on_lost;
    c->instances = xstrdup(spec->instances);
    c->job = turn_job_start(spec, over, c);
}

void conversation_start_turn(struct conversation *c, const struct turn_job_spec *spec,
                             void (*over)(void *conversation))
{
    struct conversation_message *const head = conversation_pop_first(c);
    CLEANUP_BUF struct buf prompt = {0}, instances = {0};
    prompt_append_prompt(&prompt, (struct str){head->prompt, head->prompt_len});
    conf_scope_add_names(&instances, head->instances);
    char **const merged = xcalloc(c->n_waiting + 1, sizeof *merged);
    char **const askers = xcalloc(c->n_waiting + 1, sizeof *askers);
    struct turn_job_spec full = *spec;
    askers[0] = head->user;
    full.user = head->user;
    full.merged.n =
        head->alone ? 0
                    : conversation_join(c, head->given, &prompt, &instances, merged, askers + 1);
    full.merged.ids = (const char *const *)merged;
    full.askers = (const char *const *)askers;
    full.n_askers = full.merged.n + 1;
    full.id = head->id;
    full.route = head->route;
    full.instances = instances.p;
    full.has_message = head->given;
    full.follows = head->follows;
    full.away.again = head->again;
    full.away.is_stored = head->is_stored;
    full.prompt = (struct str){prompt.p ? prompt.p : "", prompt.len};
    c->user = head->user;
    head->user = NULL;
    conversation_start(c, &full, over);
    if (c->throwaway)
        turn_job_discard_session(c->job);
    for (size_t i = 0; i < full.merged.n; i++) {
        if (c->turnlog)
            turnlog_mark_merged(c->turnlog, merged[i], head->id);
        free(merged[i]);
        free(askers[i + 1]);
    }
    free(askers);
    free(merged);
    free_message(head);
}

void conversation_begin_by_agent(struct conversation *c, const struct turn_job_spec *spec,
                                 void (*over)(void *conversation))
{
    static const char *const nobody[] = {NULL};
    struct turn_job_spec full = *spec;
    full.askers = nobody;
    full.n_askers = 1;
    full.prompt = STR("");
    full.by_agent = true;
    full.follows = true;
    conversation_start(c, &full, over);
}

bool conversation_finish_turn(struct conversation *c)
{
    ASSERT(c->job);
    const bool unsettled = drop_unsettled(c);
    if (turn_job_was_away(c->job))
        conversation_separate_sent(c);
    if (turn_job_was_released(c->job) && c->turnlog)
        turnlog_mark_cancelled(c->turnlog, turn_job_id(c->job));
    turn_job_free(c->job);
    c->job = NULL;
    free(c->user);
    free(c->instances);
    c->user = c->instances = NULL;
    return unsettled;
}
