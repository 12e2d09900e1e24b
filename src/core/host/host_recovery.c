/* SPDX-License-Identifier: MIT
 * Owns the recovery of turns that were interrupted by a crash of the host. */
#include "core/host/host_recovery.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/plural.h"
#include "base/sys/log.h"
#include "core/agent/launch.h"
#include "core/runner/runner.h"
#include "core/turn/turn_record.h"
#include "io/process/process_tree.h"
#include "text/sentence/texts.h"

#define SHIM_WAITS 50
#define SHIM_WAIT_MS 20

/* Copies of the interrupted turns: while the journal lists them, it accepts no other request. */
struct interrupted_turns {
    struct arena arena;
    struct journal_turn *turns;
    size_t n;
};

static void host_recovery_add_turn(void *ctx, const struct journal_turn *t)
{
    struct interrupted_turns *const l = ctx;
    l->turns = xrealloc(l->turns, (l->n + 1) * sizeof *l->turns);
    l->turns[l->n++] = (struct journal_turn){
        .id = arena_strdup(&l->arena, t->id),
        .agent = arena_strdup(&l->arena, t->agent),
        .conv = arena_strdup(&l->arena, t->conv),
        .source = arena_strdup(&l->arena, t->source),
        .waiting = t->waiting,
        .prompt = arena_strdup(&l->arena, t->prompt),
        .route = arena_strdup(&l->arena, t->route),
        .boot_id = arena_strdup(&l->arena, t->boot_id),
        .agent_pid = t->agent_pid,
        .agent_start = t->agent_start,
        .seen = arena_strdup(&l->arena, t->seen),
        .instances = arena_strdup(&l->arena, t->instances),
        .owner = arena_strdup(&l->arena, t->owner),
        .person = arena_strdup(&l->arena, t->person),
        .admitted_ms = t->admitted_ms,
        .began_ms = t->began_ms,
    };
}

/* The shim has begun to end the agent when the host crashed. It finishes within this time, unless
 * it is suspended by a signal, so SIGCONT is sent first. */
static void wait_for_shim(const struct orphaned_shim *l)
{
    if (process_tree_is_shim_alive(l))
        kill(l->pid, SIGCONT);
    for (int i = 0; i < SHIM_WAITS && process_tree_is_shim_alive(l); i++)
        poll(NULL, 0, SHIM_WAIT_MS);
}

static void kill_process(const struct keep_process *p)
{
    char boot[64];
    process_tree_boot_id(boot);
    if (p->pid <= 1 || !p->boot_id || strcmp(boot, p->boot_id) != 0)
        return;
    CLEANUP_FREE char *mark = launch_process_mark(p->turn);
    const struct orphaned_shim l = {(pid_t)p->pid, (uint64_t)p->start, mark};
    unsigned killed = 0;
    wait_for_shim(&l);
    if (!process_tree_kill_orphans(&l, &killed))
        log_write(LOG_ERR, "host", "turn %s: cannot kill processes left by its agent", p->turn);
    else if (killed)
        log_write(LOG_WARN, "host", "turn %s: killed %u process%s left by its agent", p->turn,
                  killed, PLURAL(killed, "", "es"));
}

static void kill_agent(const struct journal_turn *t)
{
    kill_process(&(struct keep_process){t->id, t->boot_id, t->agent_pid, t->agent_start});
}

/* ---- processes of the warm pool ---- */

struct waiting_processes {
    struct arena arena;
    struct keep_process *all;
    size_t n;
};

static void host_recovery_add_process(void *ctx, const struct keep_process *p)
{
    struct waiting_processes *const w = ctx;
    w->all = xrealloc(w->all, (w->n + 1) * sizeof *w->all);
    w->all[w->n++] = (struct keep_process){.turn = arena_strdup(&w->arena, p->turn),
                                           .boot_id = arena_strdup(&w->arena, p->boot_id),
                                           .pid = p->pid,
                                           .start = p->start};
}

static void end_waiting(struct journal_async *journal)
{
    struct waiting_processes w = {0};
    if (turn_record_each_waiting(journal, host_recovery_add_process, &w) == JOURNAL_FAILED)
        log_write(LOG_ERR, "host",
                  "cannot read the list of waiting agent processes from the journal");
    for (size_t i = 0; i < w.n; i++) {
        kill_process(&w.all[i]);
        turn_record_not_waiting(journal, w.all[i].turn);
    }
    free(w.all);
    arena_fini(&w.arena);
}

static enum language language_of(const struct dispatch *d, const struct journal_turn *t)
{
    struct tc_err unused;
    const struct conf_instance *const inst = dispatch_find_configured(d, t->source, &unused);
    return inst ? inst->chat.language : LANGUAGE_EN;
}

/* ---- for clients ---- */

static void log_event(struct turnlog *log, struct turnlog_entry *e, struct event *ev, uint64_t seq)
{
    ev->meta.seq = seq;
    ev->u.meta = &ev->meta;
    turnlog_append_event(log, e, shared_event_new(ev), false, NULL);
}

/* The same three events as connectors are told. */
static void log_turn(struct turnlog *log, const struct journal_turn *t)
{
    struct turnlog_entry *const e =
        turnlog_start_turn(log, &(struct turnlog_spec){.id = t->id,
                                                       .agent = t->agent,
                                                       .conversation = t->conv,
                                                       .source = t->source,
                                                       .owner = turn_scheduler_owner(t),
                                                       .task = t->prompt,
                                                       .instances = t->instances,
                                                       .created_ms = t->admitted_ms,
                                                       .started_ms = t->began_ms});
    struct event error = turn_record_restart_error(t->id), start, done;
    event_init(&start, TC_START);
    event_init(&done, TC_DONE);
    start.meta = done.meta = error.meta;
    start.u.start.resumed = true;
    done.u.done.reason = "error";
    log_event(log, e, &start, 1);
    log_event(log, e, &error, 2);
    log_event(log, e, &done, 3);
    turnlog_finish_turn(log, e);
}

/* A turn of another host, which learns by itself that this one has begun anew. */
static void host_recovery_end_run(struct journal_async *journal, const struct dispatch *dispatch,
                                  const struct journal_turn *t)
{
    if (t->waiting) {
        journal_async_delete_waiting_turn(journal, t->id, NULL, NULL);
        return;
    }
    kill_agent(t);
    turn_record_end_interrupted(journal, dispatch, t);
}

int host_recovery_run(struct journal_async *journal, struct dispatch *dispatch,
                      struct turn_scheduler *conversations, struct turnlog *turnlog,
                      struct tc_err *err)
{
    struct interrupted_turns l = {0};
    size_t ended = 0;
    end_waiting(journal);
    const bool read =
        journal_async_list_open_turns(journal, host_recovery_add_turn, &l) != JOURNAL_FAILED;
    for (size_t i = 0; read && i < l.n; i++) {
        const struct journal_turn *const t = &l.turns[i];
        if (strcmp(t->source, RUNNER_SOURCE) == 0) {
            host_recovery_end_run(journal, dispatch, t);
            continue;
        }
        if (!t->waiting && conversations && turn_record_is_elsewhere(t) &&
            turn_scheduler_resume(conversations, t))
            continue;
        if (t->waiting && (!conversations || turn_scheduler_restore(conversations, t)))
            continue;
        if (t->waiting && turn_scheduler_is_attached(t->source)) {
            journal_async_delete_waiting_turn(journal, t->id, NULL, NULL);
            continue;
        }
        if (t->waiting) {
            log_write(LOG_WARN, "host",
                      "dropped a queued message for %s: the instance is no longer configured",
                      t->conv);
            journal_async_cancel(journal, t->id, NULL, NULL);
            continue;
        }
        kill_agent(t);
        TEXTS_IN(language_of(dispatch, t));
        turn_record_end_interrupted(journal, dispatch, t);
        if (turnlog)
            log_turn(turnlog, t);
        ended++;
    }
    if (ended)
        log_write(LOG_WARN, "host", "ended %zu turn%s interrupted by the last shutdown or crash",
                  ended, PLURAL(ended, "", "s"));
    free(l.turns);
    arena_fini(&l.arena);
    return read ? 0 : err_set(err, NULL, "cannot read unfinished turns from the journal");
}
