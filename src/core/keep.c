/* SPDX-License-Identifier: MIT
 * Owns what is written down of a turn, and for whom. */
#include "core/keep.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "event/codec.h"
#include "io/process_tree.h"

#define RESTARTED "turncast was restarted while this turn ran; it was not finished."

static void add_name(void *ctx, const char *name)
{
    struct buf *const names = ctx;
    buf_printf(names, "%s%s", names->len ? "\n" : "", name);
}

char *keep_seen(const struct dispatch *d)
{
    struct buf names = {0};
    dispatch_each_name(d, add_name, &names);
    return names.p ? names.p : xstrdup("");
}

void keep_turn(struct ledger *l, const struct dispatch *d, const struct record_turn *t,
               ledger_done *done, void *ctx)
{
    CLEANUP_FREE char *seen = keep_seen(d);
    struct record_turn full = *t;
    full.seen = seen;
    ledger_admit(l, &full, done, ctx);
}

void keep_agent(struct ledger *l, const char *turn, pid_t pid)
{
    char boot[64];
    process_tree_boot(boot);
    const struct record_turn noted = {
        .id = turn,
        .boot_id = boot,
        .agent_pid = pid,
        .agent_start = (int64_t)process_tree_began(pid),
    };
    ledger_note_agent(l, &noted, NULL, NULL);
}

/* ---- an outcome ---- */

struct targets {
    struct arena arena;
    const char *lane;
    struct record_target *all;
    size_t n;
};

static void add_target(struct targets *t, const char *instance, struct str line)
{
    t->all = xrealloc(t->all, (t->n + 1) * sizeof *t->all);
    t->all[t->n++] = (struct record_target){.conn = instance, .lane = t->lane, .body = line};
}

static void targets_fini(struct targets *t)
{
    free(t->all);
    arena_fini(&t->arena);
}

static void copy_target(void *ctx, const char *instance, struct str line)
{
    struct targets *const t = ctx;
    add_target(t, arena_strdup(&t->arena, instance),
               (struct str){arena_strndup(&t->arena, line.p, line.len), line.len});
}

void keep_outcome(const struct keep_end *end, ledger_done *done, void *ctx)
{
    struct targets targets = {.lane = end->lane};
    const struct event *const ev = end->outcome;
    dispatch_each_target(end->cast, ev, copy_target, &targets);
    const char *const code = ev->kind == TC_FINAL ? NULL
                             : ev->u.error.code   ? ev->u.error.code
                                                  : "error";
    const struct record_outcome o = {
        .turn = end->turn, .error = code, .targets = targets.all, .n = targets.n};
    ledger_end_turn(end->ledger, &o, done, ctx);
    targets_fini(&targets);
}

/* ---- of a host that died ---- */

struct event keep_restart_error(const char *turn)
{
    struct event ev;
    event_init(&ev, TC_ERROR);
    ev.meta.ts = clock_wall();
    ev.meta.src = "turncast";
    ev.meta.correlation_id = turn;
    ev.meta.session_id = "";
    ev.meta.seq = 2; /* behind the start that is told again */
    ev.u.meta = NULL;
    ev.u.error.message = RESTARTED;
    ev.u.error.code = "host_restart";
    return ev;
}

static void add_seen(struct targets *targets, const char *seen, struct str line)
{
    char *rest = arena_strdup(&targets->arena, seen);
    for (char *name; (name = strsep(&rest, "\n"));)
        if (*name)
            add_target(targets, name, line);
}

void keep_restart(struct ledger *l, const struct dispatch *d, const struct record_turn *t)
{
    CLEANUP_BUF struct buf line = {0};
    CLEANUP_FREE char *all = t->seen ? NULL : keep_seen(d);
    struct targets targets = {.lane = t->conv};
    struct event ev = keep_restart_error(t->id);
    ev.u.meta = &ev.meta;
    codec_encode(&line, &ev);
    add_seen(&targets, t->seen ? t->seen : all, (struct str){line.p, line.len});
    const struct record_outcome o = {
        .turn = t->id, .error = "host_restart", .targets = targets.all, .n = targets.n};
    ledger_end_turn(l, &o, NULL, NULL);
    targets_fini(&targets);
}
