/* SPDX-License-Identifier: MIT
 * Owns the look through the turns of the instances that this host leads, one turn at a time.
 *
 *   step    | what is asked                                   | next
 *   --------+-------------------------------------------------+-------------------------------
 *   FIND    | the next turn of the instance on the servers    | CLAIM; or the next one
 *   CLAIM   | which host has begun it                         | OUTCOME
 *   OUTCOME | whether it has an outcome                       | TOLD
 *   TOLD    | whether it was told, and is about to be removed | NAME; or the next one
 *   NAME    | this host is named in the turn's message, if    | RECALL; or the next one
 *           | that is still the one that was found            |
 *   RECALL  | what its instance remembered of it, and whether | ENTER
 *           | it had begun to tell the outcome                |
 *   ENTER   | it is admitted in the journal                   | it goes on; the next one
 */
#include "core/host/adoption.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "base/sys/crash_point.h"
#include "base/sys/log.h"
#include "core/bus/bus_kv.h"
#include "core/host/outcome_forwarding.h"
#include "core/turn/turn_record.h"
#include "core/work/work_outcome.h"
#include "event/json/json_reader.h"
#include "io/journal/journal_moving.h"

#define TICK_MS 1000
#define LOOK_MS 30000 /* interval of looks without a reason, in case that a reason was missed */

/* The turn that is looked at; its texts are the arena's. */
struct adoption_turn {
    struct arena arena;
    struct work_order order;
    uint64_t sequence;
    bool has_begun, in_doubt;
    const char *memory;
    const char *prompt; /* of a turn that begins here: with the paths of this host */
};

struct adoption {
    struct leading_parts parts;
    const struct instance_leaders *leaders;
    struct guest_turns *guests;
    struct bus_link *link;
    struct loop_timer *timer;
    struct buf led; /* names of the instances that this host leads, each with its NUL */
    struct nats_client_subscription **heard; /* for messages of turns: one per led instance */
    size_t n_heard;
    struct buf instances; /* that are still to be looked through, each with its NUL */
    size_t at;            /* of the one that is being looked through */
    uint64_t sequence;    /* behind which the next turn is looked for */
    struct adoption_turn turn;
    int64_t looked_ms; /* monotonic time when the last look began */
    bool has_looked;   /* through all instances since the start, for what this host had told */
    bool has_reason;   /* to look again: there may be turns to adopt, now or soon */
    bool is_looking, is_stopped;
};

static void adoption_find(struct adoption *a);

static const char *adoption_instance(const struct adoption *a)
{
    return a->instances.p + a->at;
}

static bool adoption_leads_instance(const struct adoption *a, const char *name)
{
    return instance_leaders_leads(a->leaders, name) && !dispatch_stands_by(a->parts.dispatch, name);
}

static bool adoption_leads_now(const struct adoption *a)
{
    return adoption_leads_instance(a, adoption_instance(a));
}

/* ---- the end of a step ---- */

static void adoption_pause(struct adoption *a)
{
    arena_reset(&a->turn.arena);
    a->is_looking = false;
    if (!a->is_stopped)
        loop_timer_set(a->timer, TICK_MS);
}

static void adoption_run_next_step(struct adoption *a)
{
    arena_reset(&a->turn.arena);
    a->has_reason |= !a->link->is_active;
    if (a->is_stopped || !a->link->is_active)
        adoption_pause(a);
    else
        adoption_find(a);
}

/* ---- into the journal ---- */

static void adoption_continue(struct adoption *a, const struct journal_turn *t)
{
    struct turn_scheduler *const cs = a->parts.conversations;
    const bool goes_on = t->waiting ? turn_scheduler_restore(cs, t) : turn_scheduler_resume(cs, t);
    if (goes_on)
        log_write(LOG_INFO, "bus", "turn %s of host \"%s\", which is gone: adopted; %s", t->id,
                  a->turn.order.gateway,
                  t->waiting ? "it begins here" : "its outcome will be delivered here");
    else
        log_write(LOG_WARN, "bus", "turn %s: cannot adopt it: instance %s is not configured", t->id,
                  t->source);
    turn_scheduler_start_restored(cs);
}

static struct journal_turn adoption_record(struct adoption_turn *turn, bool has_ids)
{
    const struct work_order *const o = &turn->order;
    return (struct journal_turn){
        .id = o->turn,
        .agent = o->agent,
        .conv = o->conversation,
        .source = o->source,
        .msg_id = has_ids ? o->message : NULL,
        .also = has_ids ? o->also : NULL,
        .waiting = !turn->has_begun,
        .agent_pid = turn->has_begun ? TURN_RECORD_ELSEWHERE : 0,
        .owner = o->owner,
        .person = o->user ? arena_sprintf(&turn->arena, "%s/%s", o->source, o->user) : NULL,
        .prompt = turn->has_begun ? o->prompt.p : turn->prompt,
        .route = o->route,
        .instances = o->instances,
        .admitted_ms = o->admitted_ms,
    };
}

static void adoption_enter(struct adoption *a, bool has_ids, journal_done_fn *done)
{
    const struct journal_turn t = adoption_record(&a->turn, has_ids);
    if (t.waiting)
        journal_async_admit_turn(a->parts.journal, &t, done, a);
    else
        turn_record_begin(a->parts.journal, a->parts.dispatch, &t, done, a);
}

/* The instance may be shown the turn as that of another host. */
static void adoption_take_guest(struct adoption *a, const struct journal_turn *t)
{
    const char *const newer = guest_turns_memory(a->guests, t->source, t->id);
    const char *const memory = newer ? newer : a->turn.memory;
    if (memory)
        journal_async_memory_put(a->parts.journal, t->source, t->id, memory, NULL, NULL);
    guest_turns_end_without_outcome(a->guests, NULL, t->id);
}

static void adoption_on_entered(void *ctx, enum journal_status status, const char *text)
{
    struct adoption *const a = ctx;
    const struct journal_turn t = adoption_record(&a->turn, false);
    (void)text;
    if (status == JOURNAL_DONE && !a->is_stopped) {
        CRASH_POINT("after-adopted");
        work_share_adopt(a->parts.work, t.id, t.source, a->turn.in_doubt);
        adoption_take_guest(a, &t);
        if (!t.waiting)
            turn_record_set_elsewhere(a->parts.journal, t.id, true);
        adoption_continue(a, &t);
    } else if (status != JOURNAL_DONE) {
        log_write(LOG_ERR, "bus", "turn %s: cannot write the adopted turn to the journal", t.id);
    }
    adoption_run_next_step(a);
}

/* This host already knows the ids of the message, so the turn is entered without them. */
static void adoption_on_first(void *ctx, enum journal_status status, const char *text)
{
    struct adoption *const a = ctx;
    if (status == JOURNAL_NO_CHANGE)
        adoption_enter(a, false, adoption_on_entered);
    else
        adoption_on_entered(a, status, text);
}

/* The paths of the order are those of the dead host. */
static void adoption_find_files(struct adoption *a)
{
    CLEANUP_BUF struct buf prompt = {0};
    const struct work_order *const o = &a->turn.order;
    work_adopt_prompt(a->parts.work, o->source, o->prompt, &prompt);
    a->turn.prompt = arena_strdup(&a->turn.arena, prompt.p ? prompt.p : "");
}

/* The journal's old record of the turn is removed; the record of the adopted turn takes its place.
 */
static void adoption_on_removed(void *ctx, enum journal_status status, const char *text)
{
    struct adoption *const a = ctx;
    (void)text;
    if (a->is_stopped || status == JOURNAL_FAILED) {
        adoption_run_next_step(a);
        return;
    }
    adoption_find_files(a);
    adoption_enter(a, true, adoption_on_first);
}

static bool adoption_is_own(const struct adoption *a)
{
    return strcmp(a->turn.order.gateway, a->link->names.host) == 0;
}

/* The turn's host came back meanwhile and passed on its outcome: nothing is left to adopt. */
static bool adoption_was_given(const struct adoption *a, const struct journal_turn *turn)
{
    const char *const from = turn->boot_id ? turn->boot_id : "";
    return strncmp(from, JOURNAL_GIVEN, strlen(JOURNAL_GIVEN)) == 0 &&
           strcmp(from + strlen(JOURNAL_GIVEN), a->turn.order.source) == 0;
}

/* The message names this host, whose journal has no outcome of the turn left to deliver. */
static bool adoption_is_outcome_delivered(const struct adoption *a, const struct journal_turn *turn)
{
    return adoption_is_own(a) && strcmp(turn->state, "waiting") != 0 &&
           strcmp(turn->state, "running") != 0;
}

static void adoption_on_known(void *ctx, enum journal_status status,
                              const struct journal_turn *turn)
{
    struct adoption *const a = ctx;
    const bool is_known = status == JOURNAL_DONE && !a->is_stopped;
    if (is_known && adoption_is_outcome_delivered(a, turn))
        work_share_settle(a->parts.work, a->turn.order.turn, a->turn.order.source);
    if (a->is_stopped || status == JOURNAL_FAILED || !adoption_leads_now(a) ||
        (is_known && (adoption_was_given(a, turn) || adoption_is_outcome_delivered(a, turn))))
        adoption_run_next_step(a);
    else
        journal_async_remove_turn(a->parts.journal, a->turn.order.turn, adoption_on_removed, a);
}

/* ---- its memory ---- */

static void adoption_read(struct adoption *a, const char *kind, nats_client_on_reply *on_reply)
{
    CLEANUP_BUF struct buf subject = {0};
    work_outcome_subject(&subject, &a->link->names, kind, a->turn.order.source, a->turn.order.turn);
    bus_link_read_last(a->link, BUS_TURNS, subject.p, on_reply, a);
}

static void adoption_on_telling(void *ctx, enum nats_client_result result,
                                const struct nats_client_message *m)
{
    struct adoption *const a = ctx;
    a->turn.in_doubt = result == NATS_CLIENT_REPLIED && m->sequence;
    if (a->is_stopped)
        adoption_run_next_step(a);
    else
        journal_async_look_up(a->parts.journal, a->turn.order.turn, adoption_on_known, a);
}

static void adoption_on_memory(void *ctx, enum nats_client_result result,
                               const struct nats_client_message *m)
{
    struct adoption *const a = ctx;
    const struct str raw = result == NATS_CLIENT_REPLIED && m->sequence
                               ? bus_message_text(m->data, "/text")
                               : (struct str){NULL, 0};
    if (raw.len)
        a->turn.memory = json_reader_unescape(&a->turn.arena, raw, NULL);
    if (a->is_stopped)
        adoption_run_next_step(a);
    else
        adoption_read(a, "tell", adoption_on_telling);
}

/* ---- which host owns the turn ---- */

static void adoption_on_named(void *ctx, enum nats_client_result result,
                              const struct nats_client_message *m)
{
    struct adoption *const a = ctx;
    struct bus_ack ack;
    if (bus_link_read_stored(result, m, &ack) == BUS_LINK_STORED && !a->is_stopped)
        adoption_read(a, "mem", adoption_on_memory);
    else
        adoption_run_next_step(a); /* found again if it is this host's now */
}

static void adoption_name(struct adoption *a)
{
    CLEANUP_BUF struct buf subject = {0}, body = {0};
    struct work_order own = a->turn.order;
    const struct bus_origin from = bus_link_next_origin(a->link);
    own.gateway = a->link->names.host;
    work_outcome_subject(&subject, &a->link->names, "new", own.source, own.turn);
    work_order_write(&body, &from, &own);
    bus_link_store(a->link, subject.p, (struct str){body.p, body.len}, a->turn.sequence,
                   adoption_on_named, a);
}

static void adoption_on_told(void *ctx, enum nats_client_result result,
                             const struct nats_client_message *m)
{
    struct adoption *const a = ctx;
    if (result == NATS_CLIENT_REPLIED && m->status == 404 && !a->is_stopped) {
        adoption_name(a);
        return;
    }
    if (result == NATS_CLIENT_REPLIED && m->sequence && !a->is_stopped) /* its host died then */
        work_share_settle(a->parts.work, a->turn.order.turn, a->turn.order.source);
    adoption_run_next_step(a);
}

static void adoption_on_outcome(void *ctx, enum nats_client_result result,
                                const struct nats_client_message *m)
{
    struct adoption *const a = ctx;
    if (!bus_link_is_answered(result, m) || a->is_stopped) {
        adoption_run_next_step(a);
        return;
    }
    a->turn.has_begun |= m->sequence != 0;
    adoption_read(a, "told", adoption_on_told);
}

static void adoption_on_claim(void *ctx, enum nats_client_result result,
                              const struct nats_client_message *m)
{
    struct adoption *const a = ctx;
    struct bus_kv_entry entry;
    bus_kv_read_entry(a->link, BUS_RUNS, result, m, &entry);
    if ((entry.result != BUS_KV_DONE && entry.result != BUS_KV_NONE) || a->is_stopped) {
        adoption_run_next_step(a);
        return;
    }
    a->turn.has_begun = entry.result == BUS_KV_DONE;
    adoption_read(a, "out", adoption_on_outcome);
}

/* ---- looking ---- */

/* A turn is adopted from a host that is absent; WORK_SHARE_NOBODY counts as absent. A turn that
 * names this host is looked at, too, unless this host has it: an earlier life of the host may have
 * told it, or have stopped after it had named itself. */
static bool adoption_wants(const struct adoption *a)
{
    const bool is_gone =
        adoption_leads_now(a) && work_host_absent_ms(a->parts.work, a->turn.order.gateway) > 0;
    return adoption_is_own(a) || is_gone;
}

/* This host has not the turn. */
static bool adoption_lacks(const struct adoption *a)
{
    const struct work_order *const o = &a->turn.order;
    return bus_stream_is_token(o->turn) && strcmp(o->source, adoption_instance(a)) == 0 &&
           work_share_find(a->parts.work, o->turn) != WORK_SHARE_OWN &&
           !turn_scheduler_find_turn(a->parts.conversations, o->turn);
}

static void adoption_next_instance(struct adoption *a)
{
    a->at += strlen(adoption_instance(a)) + 1;
    a->sequence = 0;
    adoption_run_next_step(a);
}

static void adoption_on_found(void *ctx, enum nats_client_result result,
                              const struct nats_client_message *m)
{
    struct adoption *const a = ctx;
    struct adoption_turn *const t = &a->turn;
    a->has_reason |= !bus_link_is_answered(result, m);
    if (result != NATS_CLIENT_REPLIED || !m->sequence || a->is_stopped) {
        adoption_next_instance(a);
        return;
    }
    a->sequence = t->sequence = m->sequence;
    t->has_begun = false;
    t->memory = NULL;
    const bool lacks = work_order_read(m->data, &t->arena, &t->order) == 0 && adoption_lacks(a);
    a->has_reason |= lacks; /* until that is adopted, or another host has told it */
    if (lacks && adoption_wants(a))
        bus_kv_get(a->link, BUS_RUNS, t->order.turn, adoption_on_claim, a);
    else
        adoption_run_next_step(a);
}

static void adoption_find(struct adoption *a)
{
    CLEANUP_BUF struct buf subject = {0};
    if (a->at >= a->instances.len) {
        a->has_looked |= a->at > 0 && a->link->is_active;
        adoption_pause(a);
        return;
    }
    work_outcome_subject(&subject, &a->link->names, "new", adoption_instance(a), "*");
    bus_link_read_next(a->link, BUS_TURNS, subject.p, a->sequence + 1, adoption_on_found, a);
}

static void adoption_add_instance(void *ctx, const char *name)
{
    struct adoption *const a = ctx;
    buf_add(&a->instances, name, strlen(name) + 1);
}

static void adoption_begin_scan(struct adoption *a)
{
    buf_reset(&a->instances);
    a->at = 0;
    a->sequence = 0;
    a->has_reason = false;
    a->looked_ms = clock_mono_ms();
    if (a->has_looked)
        buf_add(&a->instances, a->led.p, a->led.len);
    else
        dispatch_each_led(a->parts.dispatch, adoption_add_instance, a);
    a->is_looking = true;
    adoption_run_next_step(a);
}

/* ---- reasons to look: a look asks the servers for every turn of the instance that is not told */

/* Another host has stored a turn's message: it may be gone soon, or has given the turn away. */
static void adoption_on_message(void *ctx, const struct nats_client_message *m)
{
    struct adoption *const a = ctx;
    struct bus_origin from;
    a->has_reason |=
        bus_origin_read(m->data, &from) == 0 && strcmp(from.host, a->link->names.host) != 0;
}

static void adoption_hear_none(struct adoption *a)
{
    while (a->n_heard)
        nats_client_unsubscribe(a->heard[--a->n_heard]);
    free(a->heard);
    a->heard = NULL;
}

static void adoption_hear(struct adoption *a, const char *instance)
{
    CLEANUP_BUF struct buf subject = {0};
    work_outcome_subject(&subject, &a->link->names, "new", instance, "*");
    a->heard = xrealloc(a->heard, (a->n_heard + 1) * sizeof *a->heard);
    a->heard[a->n_heard++] =
        nats_client_subscribe(a->link->client, subject.p, adoption_on_message, a);
}

static void adoption_add_led(void *ctx, const char *name)
{
    struct adoption *const a = ctx;
    if (adoption_leads_instance(a, name))
        buf_add(&a->led, name, strlen(name) + 1);
}

/* True: this host leads other instances than before. */
static bool adoption_update_led(struct adoption *a)
{
    CLEANUP_BUF struct buf before = a->led;
    a->led = (struct buf){0};
    dispatch_each_led(a->parts.dispatch, adoption_add_led, a);
    if (a->led.len == before.len && (!before.len || memcmp(a->led.p, before.p, before.len) == 0))
        return false;
    adoption_hear_none(a);
    for (size_t at = 0; at < a->led.len; at += strlen(a->led.p + at) + 1)
        adoption_hear(a, a->led.p + at);
    return true;
}

static void adoption_on_timer(void *arg)
{
    struct adoption *const a = arg;
    if (a->is_looking || a->is_stopped)
        return;
    const bool is_able = a->link->is_active && work_share_is_loaded(a->parts.work);
    if (is_able && (adoption_update_led(a) || a->has_reason || !a->has_looked ||
                    clock_mono_ms() - a->looked_ms >= LOOK_MS))
        adoption_begin_scan(a);
    else
        adoption_pause(a);
}

/* ---- its life ---- */

static void adoption_each_led(void *ctx, void (*each)(void *each_ctx, const char *instance),
                              void *each_ctx)
{
    const struct adoption *const a = ctx;
    dispatch_each_led(a->parts.dispatch, each, each_ctx);
}

static bool adoption_leads(void *ctx, const char *instance)
{
    const struct adoption *const a = ctx;
    return instance_leaders_leads(a->leaders, instance);
}

void adoption_prepare(struct adoption *a, const char *instance,
                      void (*done)(void *ctx, const char *instance), void *ctx)
{
    if (a && !a->is_stopped && work_share_has(a->parts.work, instance))
        work_share_check(a->parts.work, instance, done, ctx);
    else
        done(ctx, instance);
}

struct adoption *adoption_new(const struct leading_parts *parts,
                              const struct instance_leaders *leaders, struct guest_turns *guests)
{
    if (!parts->work)
        return NULL;
    struct adoption *const a = xcalloc(1, sizeof *a);
    a->parts = *parts;
    a->leaders = leaders;
    a->guests = guests;
    work_share_open(parts->work, &(struct work_share_spec){.journal = parts->journal,
                                                           .each_led = adoption_each_led,
                                                           .leads = adoption_leads,
                                                           .ctx = a});
    a->link = bus_get_link(parts->bus);
    a->timer = loop_timer_new(parts->loop, adoption_on_timer, a);
    loop_timer_set(a->timer, TICK_MS);
    return a;
}

void adoption_stop(struct adoption *a)
{
    if (!a || a->is_stopped)
        return;
    a->is_stopped = true;
    nats_client_forget(a->link->client, a);
    adoption_hear_none(a);
    loop_timer_free(a->timer);
}

void adoption_free(struct adoption *a)
{
    if (!a)
        return;
    arena_fini(&a->turn.arena);
    buf_fini(&a->instances);
    buf_fini(&a->led);
    free(a);
}
