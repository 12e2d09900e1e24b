/* SPDX-License-Identifier: MIT
 * Admits messages: writes them to disk, orders them, and enforces limits. */
#include "core/conversation/turn_scheduler.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/plural.h"
#include "base/sys/log.h"
#include "core/conversation/host_reply.h"
#include "core/conversation/turn_scheduler_internal.h"
#include "core/conversation/user_limits.h"
#include "text/sentence/texts.h"

/* ---- lookup ---- */

static int turn_scheduler_compare_keys(const void *a, const void *b)
{
    return strcmp(((const struct conversation *)a)->key, ((const struct conversation *)b)->key);
}

struct conversation *turn_scheduler_find(const struct turn_scheduler *cs, const char *key)
{
    char *const text = (char *)(uintptr_t)key;
    const struct conversation wanted = {.key = text};
    struct conversation *const *const found =
        tfind(&wanted, &cs->by_key, turn_scheduler_compare_keys);
    return found ? *found : NULL;
}

bool turn_scheduler_is_attached(const char *source)
{
    return strcmp(source, CONVERSATIONS_CHAT) == 0 || strcmp(source, CONVERSATIONS_AG_UI) == 0;
}

bool turn_scheduler_is_api(const char *source)
{
    return turn_scheduler_is_attached(source) || strcmp(source, TURN_SCHEDULER_DETACHED) == 0;
}

static bool turn_scheduler_is_of(const struct conversation *c, const char *turn)
{
    return (c->job && strcmp(turn_job_id(c->job), turn) == 0) ||
           (c->first && strcmp(c->first->id, turn) == 0);
}

struct conversation *turn_scheduler_find_turn(const struct turn_scheduler *cs, const char *turn)
{
    struct conversation *c;
    LIST_FOREACH (c, &cs->list, next)
        if (turn_scheduler_is_of(c, turn))
            return c;
    return NULL;
}

static void turn_scheduler_on_calm(void *ctx, struct conversation *c);

struct conversation *conversations_find_or_make(struct turn_scheduler *cs,
                                                const struct turn_scheduler_message *m)
{
    struct conversation *c = turn_scheduler_find(cs, m->key);
    if (!c) {
        c = conversation_new(cs->spec.loop, m->source, m->key, m->chat, turn_scheduler_on_calm, cs);
        c->journal = cs->spec.journal;
        c->turnlog = cs->spec.turnlog;
        c->guests = cs->spec.guests;
        c->throwaway = m->throwaway;
        c->owner = xstrdup(m->owner);
        LIST_INSERT_HEAD(&cs->list, c, next);
        alloc_check(tsearch(c, &cs->by_key, turn_scheduler_compare_keys), sizeof(void *));
    }
    conversation_set_agent(c, cs->spec.conf, m->agent);
    return c;
}

/* Removes it from the list of ready conversations, if it is there. */
static void turn_scheduler_unlist_ready(struct turn_scheduler *cs, struct conversation *c)
{
    if (c->listed)
        TAILQ_REMOVE(&cs->ready_list, c, next_ready);
    c->listed = false;
}

void conversations_drop_if_idle(struct turn_scheduler *cs, struct conversation *c)
{
    if (!conversation_is_idle(c))
        return;
    turn_scheduler_unlist_ready(cs, c);
    LIST_REMOVE(c, next);
    tdelete(c, &cs->by_key, turn_scheduler_compare_keys);
    conversations_abandon_lock(cs, c->key);
    conversation_free(c);
}

/* ---- limits ---- */

/* Whether a turn can start beside those that run, and so many others that will start. */
static bool turn_scheduler_has_places(const struct turn_scheduler *cs, size_t others)
{
    return !cs->holds && !cs->draining && cs->running + others < (size_t)cs->limits->max_turns;
}

static bool turn_scheduler_has_room(const struct turn_scheduler *cs, const char *source,
                                    const char *user)
{
    return turn_scheduler_has_places(cs, 0) &&
           user_limits_count(cs->user_limits, source, user) < (size_t)cs->limits->per_user;
}

/* Removes and returns the conversation that has waited longest among those that may start and have
 * their lock. A lock that was requested reserves a place: if all waiting conversations requested
 * theirs for one free place, all but one would have to release theirs again. */
static struct conversation *turn_scheduler_take_next_ready(struct turn_scheduler *cs)
{
    struct conversation *next;
    size_t reserved = 0;
    for (struct conversation *c = TAILQ_FIRST(&cs->ready_list);
         c && turn_scheduler_has_places(cs, reserved); c = next) {
        next = TAILQ_NEXT(c, next_ready);
        const bool may_begin = c->ready && !conversations_is_held(cs, c) &&
                               turn_scheduler_has_room(cs, c->source, c->first->user);
        const bool begins = may_begin && conversations_lock(cs, c);
        if (begins || !c->ready)
            turn_scheduler_unlist_ready(cs, c);
        if (begins)
            return c;
        reserved += may_begin && conversations_awaits_lock(cs, c);
    }
    return NULL;
}

/* ---- turns ---- */

void conversations_check_drained(struct turn_scheduler *cs)
{
    if (!cs->drained || cs->running > conversations_count_away(cs) || cs->admitting ||
        !warm_pool_is_empty(cs->warm))
        return;
    void (*const tell)(void *) = cs->drained;
    cs->drained = NULL;
    tell(cs->ctx);
}

void conversations_turn_over(void *ctx)
{
    struct conversation *const c = ctx;
    struct turn_scheduler *const cs = c->ctx;
    user_limits_release(cs->user_limits, c->source, c->user);
    if (conversation_finish_turn(c))
        warm_pool_end(cs->warm, c->key, "it did not report whether it used a message");
    ASSERT(cs->running > 0);
    cs->running--;
    warm_pool_report_begin_again(cs->warm,
                                 c->key); /* a turn that started while the previous one ended */
    c->unlocked = false;
    conversations_unlock(cs, c->key);
    if (c->n_waiting && !c->bursts)
        conversations_make_ready(cs, c);
    conversations_drop_if_idle(cs, c);
    conversations_pump(cs);
    conversations_check_drained(cs);
}

struct turn_job_spec conversations_place(const struct turn_scheduler *cs)
{
    return (struct turn_job_spec){
        .loop = cs->spec.loop,
        .journal = cs->spec.journal,
        .dispatch = cs->spec.dispatch,
        .switches = cs->spec.switches,
        .sessions = cs->spec.sessions,
        .history = cs->spec.history,
        .usage = cs->spec.usage,
        .budgets = cs->spec.budgets,
        .requests = cs->spec.requests,
        .away.work = cs->spec.work,
        .warm = cs->warm,
    };
}

static void turn_scheduler_begin(struct turn_scheduler *cs, struct conversation *c)
{
    ASSERT(!c->job && c->first && !c->listed);
    struct turn_job_spec where = conversations_place(cs);
    conversations_add_lock(cs, c, &where);
    where.away.has_slot =
        turn_scheduler_count_agent(cs, c->agent->name) < (size_t)c->agent->runners.slots;
    cs->running++;
    CLEANUP_FREE char *late_host = conversations_take_late_host(cs, c->key);
    where.away.late_host = late_host;
    conversation_start_turn(c, &where, conversations_turn_over);
    user_limits_acquire(cs->user_limits, c->source, c->user);
}

void conversations_pump(struct turn_scheduler *cs)
{
    for (struct conversation *c; (c = turn_scheduler_take_next_ready(cs));)
        turn_scheduler_begin(cs, c);
}

void conversations_make_ready(struct turn_scheduler *cs, struct conversation *c)
{
    if (c->job || c->ready || !c->n_waiting)
        return;
    turn_scheduler_unlist_ready(cs, c);
    c->ready = ++cs->ready;
    c->listed = true;
    TAILQ_INSERT_TAIL(&cs->ready_list, c, next_ready);
}

void conversations_begin_now(struct turn_scheduler *cs, struct conversation *c)
{
    conversations_make_ready(cs, c);
    conversations_pump(cs);
    conversations_unlock(cs, c->key); /* the agent's limit was reached */
}

static void turn_scheduler_on_calm(void *ctx, struct conversation *c)
{
    conversations_begin_now(ctx, c);
}

/* ---- messages ---- */

/* A message that is being written to disk. Its strings are in the arena. */
struct turn_scheduler_admission {
    TAILQ_ENTRY(turn_scheduler_admission) next; /* in the list of those that wait for a lock */
    struct arena arena;
    struct turn_scheduler *all;
    struct turn_scheduler_message message;
    struct conversation *conversation;
    const char *id;
    conversations_done *done;
    void *ctx;
};

void conversations_log_waiting(const struct turn_scheduler *cs, const struct turnlog_spec *spec)
{
    if (cs->spec.turnlog)
        turnlog_add_waiting(cs->spec.turnlog, spec);
}

/* Between an answer and the end of its turn, no reply about waiting is needed. */
static bool turn_scheduler_is_busy(const struct conversation *c)
{
    return c->job && (!turn_job_has_outcome(c->job) || c->n_waiting > 1);
}

/* Decides what a message waits for, and appends the reply to the person. */
static enum tc_accepted turn_scheduler_find_place(struct turn_scheduler *cs, struct conversation *c,
                                                  struct conversation_message *m, struct buf *text)
{
    const enum conf_running how = cs->draining ? CONF_QUEUE : c->agent->while_running;
    if (c->job && how == CONF_STEER && conversation_steer(c, m)) {
        texts_append(text, TEXT_GIVEN, NULL);
        return TC_GIVEN;
    }
    if (turn_scheduler_is_busy(c) && how == CONF_INTERRUPT && c->n_waiting == 1 && !m->alone) {
        texts_append(text, TEXT_INTERRUPTING, NULL);
        turn_job_cancel(c->job); /* queued messages have already caused that */
        return TC_INTERRUPT;
    }
    const bool begins = !turn_scheduler_is_busy(c) && !conversations_is_held(cs, c) &&
                        turn_scheduler_has_room(cs, c->source, c->first->user);
    if (begins && !conversations_waits_for_lock(cs, c))
        return TC_ACCEPTED;
    if (begins)
        host_reply_unlocked(text, c, cs->spec.locks);
    else
        host_reply_queued(text, c, cs->draining);
    return TC_QUEUED;
}

static void queue_message(struct turn_scheduler *cs, const struct turn_scheduler_admission *a)
{
    ASSERT(a->conversation->agent);
    const struct turn_scheduler_message *const m = &a->message;
    struct conversation *const c = a->conversation;
    struct conversation_message *const kept = conversation_enqueue(
        c,
        &(struct journal_turn){
            .id = a->id, .prompt = m->prompt.p, .route = m->route, .instances = m->instances},
        m->user);
    conversations_share(cs, m, a->id);
    kept->alone = m->alone;
    kept->given = m->given;
    kept->follows = m->follows && !m->throwaway;
    conversations_log_waiting(cs, &(struct turnlog_spec){.id = a->id,
                                                         .agent = m->agent->name,
                                                         .conversation = m->key,
                                                         .source = m->source,
                                                         .owner = m->owner,
                                                         .task = m->prompt.p,
                                                         .instances = m->instances});
    CLEANUP_BUF struct buf text = {0};
    const enum tc_accepted how = turn_scheduler_find_place(cs, c, kept, &text);
    a->done(a->ctx, &(struct conversations_result){
                        .accepted = how, .turn = m->alone ? a->id : c->first->id, .text = text.p});
    if (!c->ready)
        conversation_debounce(c, m->alone ? 0 : cs->limits->debounce_ms);
}

static const struct conversations_result ending = {.accepted = TC_NOT_KEPT,
                                                   .refusal = CONVERSATIONS_ENDING};

_Static_assert(JOURNAL_MAX_PROMPT == (size_t)1 << 20, "the limit in TEXT_TOO_LONG");

/* Completes a message that is not on disk. `turn`: of a message that is known already. If the disk
 * is full or the message too long, the person gets a reply, and the service shall not deliver the
 * message again. */
static void answer_unkept(const struct turn_scheduler_admission *a, enum journal_status status,
                          const char *turn)
{
    struct conversations_result answer = {.accepted = TC_NOT_KEPT,
                                          .refusal = CONVERSATIONS_NOT_KEPT};
    if (status == JOURNAL_NO_CHANGE)
        answer = (struct conversations_result){.accepted = TC_KNOWN, .turn = turn};
    else if (status == JOURNAL_TOO_BIG)
        answer = (struct conversations_result){.accepted = TC_FULL,
                                               .refusal = CONVERSATIONS_TOO_LONG,
                                               .text = texts_get(TEXT_TOO_LONG)};
    else if (status == JOURNAL_DISK_FULL)
        answer = (struct conversations_result){.accepted = TC_FULL,
                                               .refusal = CONVERSATIONS_DISK_FULL,
                                               .text = texts_get(TEXT_DISK_FULL)};
    a->done(a->ctx, &answer);
}

static void turn_scheduler_finish_admission(struct turn_scheduler_admission *a,
                                            enum journal_status status, const char *text)
{
    struct turn_scheduler *const cs = a->all;
    TEXTS_IN(a->message.language);
    ASSERT(a->conversation->n_admitting > 0 && cs->admitting > 0);
    a->conversation->n_admitting--;
    cs->admitting--;
    if (status == JOURNAL_DONE && cs->draining && turn_scheduler_is_attached(a->message.source)) {
        journal_async_delete_waiting_turn(cs->spec.journal, a->id, NULL, NULL);
        a->done(a->ctx, &ending);
    } else if (status == JOURNAL_DONE) {
        queue_message(cs, a);
    } else {
        answer_unkept(a, status, text);
    }
    conversations_drop_if_idle(cs, a->conversation);
    arena_fini(&a->arena);
    free(a);
    conversations_check_drained(cs);
}

void conversations_admit_deferred(struct turn_scheduler *cs, const char *key)
{
    struct turn_scheduler_admission *next;
    for (struct turn_scheduler_admission *a = TAILQ_FIRST(&cs->deferred); a; a = next) {
        next = TAILQ_NEXT(a, next);
        if (strcmp(a->message.key, key) != 0)
            continue;
        TAILQ_REMOVE(&cs->deferred, a, next);
        turn_scheduler_finish_admission(a, JOURNAL_DONE, NULL);
    }
}

/* The reply depends on the lock: the message starts a turn, or waits. */
static bool turn_scheduler_defers(struct turn_scheduler *cs,
                                  const struct turn_scheduler_admission *a)
{
    struct conversation *const c = a->conversation;
    if (c->job || !turn_scheduler_has_room(cs, a->message.source, a->message.user))
        return false;
    conversations_lock(cs, c);
    return conversations_awaits_lock(cs, c);
}

static void turn_scheduler_on_admitted(void *ctx, enum journal_status status, const char *text)
{
    struct turn_scheduler_admission *const a = ctx;
    if (status == JOURNAL_DONE && turn_scheduler_defers(a->all, a))
        TAILQ_INSERT_TAIL(&a->all->deferred, a, next);
    else
        turn_scheduler_finish_admission(a, status, text);
}

static void turn_scheduler_admit(struct turn_scheduler_admission *a)
{
    const struct turn_scheduler_message *const m = &a->message;
    const struct journal_turn t = {
        .id = a->id,
        .agent = m->agent->name,
        .conv = m->key,
        .source = m->source,
        .msg_id = m->id,
        .also = m->also,
        .waiting = true,
        .owner = m->owner,
        .person = conversations_person(&a->arena, m),
        .prompt = m->prompt.p,
        .route = m->route,
        .instances = m->instances,
    };
    journal_async_admit_turn(a->all->spec.journal, &t, turn_scheduler_on_admitted, a);
}

static void copy_text(struct arena *arena, struct str *text)
{
    if (text->p)
        text->p = arena_memdup(arena, text->p, text->len);
}

static struct turn_scheduler_admission *admission_new(struct turn_scheduler *cs,
                                                      struct conversation *c,
                                                      const struct turn_scheduler_message *m)
{
    struct turn_scheduler_admission *const a = xcalloc(1, sizeof *a);
    char id[37];
    conversations_make_id(cs, m, id);
    a->all = cs;
    a->conversation = c;
    a->id = arena_strdup(&a->arena, m->turn ? m->turn : id);
    a->message = *m;
    const char **const texts[] = {&a->message.key,      &a->message.source, &a->message.chat,
                                  &a->message.user,     &a->message.route,  &a->message.owner,
                                  &a->message.id,       &a->message.also,   &a->message.turn,
                                  &a->message.instances};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = arena_strdup(&a->arena, *texts[i]);
    copy_text(&a->arena, &a->message.prompt);
    copy_text(&a->arena, &a->message.first);
    return a;
}

static void turn_scheduler_on_session(void *ctx, const char *session)
{
    struct turn_scheduler_admission *const a = ctx;
    if (!session)
        a->message.prompt = a->message.first;
    turn_scheduler_admit(a);
}

/* The first queued message will create the session. */
static void choose_prompt(struct turn_scheduler_admission *a, bool follows)
{
    const struct turn_scheduler_message *const m = &a->message;
    if (!m->first.p || follows) {
        turn_scheduler_admit(a);
        return;
    }
    if (m->throwaway) {
        turn_scheduler_on_session(a, NULL);
        return;
    }
    session_store_find(a->all->spec.sessions, conf_agent_session_name(m->agent), m->key,
                       turn_scheduler_on_session, a);
}

void turn_scheduler_submit(struct turn_scheduler *cs, const struct turn_scheduler_message *m,
                           conversations_done *done, void *ctx)
{
    TEXTS_IN(m->language);
    struct turn_scheduler_message now = *m;
    now.agent = conf_agent_find_again(cs->spec.conf, m->agent);
    if (cs->draining && turn_scheduler_is_attached(m->source)) {
        done(ctx, &ending);
        return;
    }
    if (!now.agent) {
        done(ctx, &(struct conversations_result){.accepted = TC_DENIED,
                                                 .refusal = CONVERSATIONS_NO_AGENT});
        return;
    }
    m = &now;
    if (conversations_refuse_over_budget(cs, m, done, ctx))
        return;
    struct conversation *const c = conversations_find_or_make(cs, m);
    const size_t ahead = c->n_waiting + c->n_admitting;
    if (ahead >= (size_t)cs->limits->queue) {
        CLEANUP_BUF struct buf full = {0};
        host_reply_full(&full, cs->limits->queue);
        done(ctx, &(struct conversations_result){
                      .accepted = TC_FULL, .refusal = CONVERSATIONS_QUEUE_FULL, .text = full.p});
        return;
    }
    struct turn_scheduler_admission *const a = admission_new(cs, c, m);
    a->done = done;
    a->ctx = ctx;
    c->n_admitting++;
    cs->admitting++;
    choose_prompt(a, c->job || ahead);
}

/* ---- create and free ---- */

struct turn_scheduler *turn_scheduler_new(const struct turn_scheduler_spec *spec)
{
    struct turn_scheduler *const cs = xcalloc(1, sizeof *cs);
    cs->spec = *spec;
    cs->limits = &spec->conf->conversations;
    cs->user_limits = user_limits_new();
    conversations_open_warm(cs);
    conversations_open_locks(cs);
    TAILQ_INIT(&cs->ready_list);
    TAILQ_INIT(&cs->deferred);
    TAILQ_INIT(&cs->late);
    return cs;
}

void turn_scheduler_delay_starts(struct turn_scheduler *cs)
{
    cs->holds = true;
}

void turn_scheduler_start_restored(struct turn_scheduler *cs)
{
    cs->holds = false;
    conversations_pump(cs);
}

size_t turn_scheduler_count_running(const struct turn_scheduler *cs)
{
    return cs->running;
}

void turn_scheduler_free(struct turn_scheduler *cs)
{
    if (!cs)
        return;
    for (struct conversation *c; (c = LIST_FIRST(&cs->list));) {
        LIST_REMOVE(c, next);
        tdelete(c, &cs->by_key, turn_scheduler_compare_keys);
        conversation_free(c);
    }
    if (cs->drain)
        loop_timer_free(cs->drain);
    conversations_free_late(cs);
    user_limits_free(cs->user_limits);
    warm_pool_free(cs->warm);
    free(cs);
}
