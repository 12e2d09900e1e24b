/* SPDX-License-Identifier: MIT
 * Owns what is written down of a turn, and for whom. */
#include "core/turn/turn_record.h"
#include "text/sentence/texts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "event/codec.h"
#include "event/json/json_writer.h"
#include "io/process/process_tree.h"

static void turn_record_add_name(void *ctx, const char *name)
{
    struct buf *const names = ctx;
    buf_printf(names, "%s%s", names->len ? "\n" : "", name);
}

char *turn_record_format_recipients(const struct dispatch *d, const struct conf_scope_turn *turn)
{
    struct buf names = {0};
    dispatch_each_admitted(d, turn, turn_record_add_name, &names);
    return names.p ? names.p : xstrdup("");
}

static char *turn_record_recipients_of(const struct dispatch *d, const struct journal_turn *t)
{
    return turn_record_format_recipients(d, &(struct conf_scope_turn){.agent = t->agent,
                                                                      .conversation = t->conv,
                                                                      .source = t->source,
                                                                      .instances = t->instances});
}

void turn_record_begin(struct journal_async *l, const struct dispatch *d,
                       const struct journal_turn *t, journal_done_fn *done, void *ctx)
{
    CLEANUP_FREE char *seen = turn_record_recipients_of(d, t);
    struct journal_turn full = *t;
    full.seen = seen;
    journal_async_admit_turn(l, &full, done, ctx);
}

/* In the place of a process id. */
#define ELSEWHERE_LATER (-2) /* another host is to run it, and cannot have begun it yet */

bool turn_record_is_elsewhere(const struct journal_turn *t)
{
    return t->agent_pid == TURN_RECORD_ELSEWHERE || t->agent_pid == ELSEWHERE_LATER;
}

bool turn_record_is_stored_elsewhere(const struct journal_turn *t)
{
    return t->agent_pid == TURN_RECORD_ELSEWHERE;
}

static void turn_record_store_agent(struct journal_async *l, const char *turn, int64_t pid,
                                    int64_t start)
{
    char boot[64];
    process_tree_boot_id(boot);
    const struct journal_turn noted = {
        .id = turn, .boot_id = boot, .agent_pid = pid, .agent_start = start};
    journal_async_set_agent_process(l, &noted, NULL, NULL);
}

void turn_record_set_agent_pid(struct journal_async *l, const char *turn, pid_t pid)
{
    turn_record_store_agent(l, turn, pid, (int64_t)process_tree_start_time(pid));
}

void turn_record_set_elsewhere(struct journal_async *l, const char *turn, bool is_stored)
{
    turn_record_store_agent(l, turn, is_stored ? TURN_RECORD_ELSEWHERE : ELSEWHERE_LATER, 0);
}

/* ---- processes that wait: keys "process:TURN", values "BOOT PID START" ---- */

#define WAITING "process:"

static char *waiting_key(const char *turn)
{
    return xasprintf(WAITING "%s", turn);
}

void turn_record_waiting(struct journal_async *l, const char *turn, pid_t pid)
{
    char boot[64];
    process_tree_boot_id(boot);
    CLEANUP_FREE char *key = waiting_key(turn);
    CLEANUP_FREE char *value =
        xasprintf("%s %d %" PRIu64, boot, (int)pid, process_tree_start_time(pid));
    journal_async_kv_put(l, key, value, NULL, NULL);
}

void turn_record_not_waiting(struct journal_async *l, const char *turn)
{
    CLEANUP_FREE char *key = waiting_key(turn);
    journal_async_kv_put(l, key, NULL, NULL, NULL);
}

struct waiting {
    void (*each)(void *ctx, const struct keep_process *p);
    void *ctx;
};

static void read_waiting(void *ctx, const char *key, const char *value)
{
    const struct waiting *const w = ctx;
    char boot[64];
    struct keep_process p = {.turn = key + strlen(WAITING), .boot_id = boot};
    if (sscanf(value, "%63s %" SCNd64 " %" SCNd64, boot, &p.pid, &p.start) == 3)
        w->each(w->ctx, &p);
}

enum journal_status turn_record_each_waiting(struct journal_async *l,
                                             void (*each)(void *ctx, const struct keep_process *p),
                                             void *ctx)
{
    struct waiting w = {each, ctx};
    return journal_async_kv_each(l, WAITING, read_waiting, &w);
}

/* ---- an outcome ---- */

struct targets {
    struct arena arena;
    const char *lane;
    struct journal_target *all;
    size_t n;
};

static void add_target(struct targets *t, const char *instance, struct str line)
{
    t->all = xrealloc(t->all, (t->n + 1) * sizeof *t->all);
    t->all[t->n++] = (struct journal_target){.conn = instance, .lane = t->lane, .body = line};
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

/* {"cancelled":true,"task","tools","cost_usd","answer"|"error","usage"}; "cancelled" is the first
 * member, or absent. */
static void turn_record_add_result(struct buf *out, const struct turn_result *r, const char *task,
                                   bool cancelled)
{
    task = task ? task : "";
    buf_add_char(out, '{');
    if (cancelled)
        jsonw_member_bool(out, "cancelled", true);
    jsonw_key(out, "task");
    jsonw_string(out, task, utf8_truncated_len(task, strlen(task), KEEP_TASK_BYTES));
    jsonw_member_int(out, "tools", r->n_tool_uses + r->n_omitted);
    if (r->cost_usd > 0)
        jsonw_member_real(out, "cost_usd", r->cost_usd);
    turn_result_outcome(out, r);
    buf_add_char(out, '}');
    if (out->len > JOURNAL_MAX_RESULT) /* the usage of an agent has no size limit */
        buf_reset(out);
}

void turn_record_outcome(const struct turn_record_end *end, journal_done_fn *done, void *ctx)
{
    struct targets targets = {.lane = end->lane};
    const struct event *const ev = end->outcome;
    dispatch_each_recipient(end->cast, ev, copy_target, &targets);
    const char *const code = ev->kind == TC_FINAL ? NULL
                             : ev->u.error.code   ? ev->u.error.code
                                                  : "error";
    CLEANUP_BUF struct buf result = {0};
    if (end->result)
        turn_record_add_result(&result, end->result, end->task, end->cancelled);
    const struct journal_outcome o = {.turn = end->turn,
                                      .error = code,
                                      .result = {result.p, result.len},
                                      .spent = end->spent,
                                      .targets = targets.all,
                                      .n = targets.n};
    journal_async_end_turn(end->journal, &o, done, ctx);
    targets_fini(&targets);
}

void turn_record_result_again(struct journal_async *l, const char *turn,
                              const struct turn_result *r, const char *task, bool cancelled)
{
    CLEANUP_BUF struct buf result = {0};
    turn_record_add_result(&result, r, task, cancelled);
    journal_async_set_late_result(l, turn, (struct str){result.p, result.len}, NULL, NULL);
}

/* ---- of a host that died ---- */

struct event turn_record_restart_error(const char *turn)
{
    struct event ev;
    event_init(&ev, TC_ERROR);
    ev.meta.ts = clock_wall_s();
    ev.meta.src = "turncast";
    ev.meta.correlation_id = turn;
    ev.meta.session_id = "";
    ev.meta.seq = 2; /* after the start, which is delivered again */
    ev.u.meta = NULL;
    ev.u.error.message = texts_get(TEXT_RESTARTED);
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

static void add_restart_result(struct buf *out, const struct journal_turn *t)
{
    const char *const task = t->prompt ? t->prompt : "";
    buf_add_char(out, '{');
    jsonw_key(out, "task");
    jsonw_string(out, task, utf8_truncated_len(task, strlen(task), KEEP_TASK_BYTES));
    jsonw_member_str(out, "error", texts_get(TEXT_RESTARTED));
    buf_add_char(out, '}');
}

void turn_record_end_interrupted(struct journal_async *l, const struct dispatch *d,
                                 const struct journal_turn *t)
{
    CLEANUP_BUF struct buf line = {0};
    CLEANUP_FREE char *all = t->seen ? NULL : turn_record_recipients_of(d, t);
    struct targets targets = {.lane = t->conv};
    struct event ev = turn_record_restart_error(t->id);
    ev.u.meta = &ev.meta;
    codec_encode(&line, &ev);
    add_seen(&targets, t->seen ? t->seen : all, (struct str){line.p, line.len});
    CLEANUP_BUF struct buf result = {0};
    add_restart_result(&result, t);
    const struct journal_outcome o = {.turn = t->id,
                                      .error = "host_restart",
                                      .result = {result.p, result.len},
                                      .targets = targets.all,
                                      .n = targets.n};
    journal_async_end_turn(l, &o, NULL, NULL);
    targets_fini(&targets);
}
