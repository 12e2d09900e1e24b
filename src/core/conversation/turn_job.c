/* SPDX-License-Identifier: MIT
 * Orders the steps of a turn: disk, agent and instances. */
#include "core/conversation/turn_job.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/sys/crash_point.h"
#include "base/sys/log.h"
#include "core/agent/launch.h"
#include "core/conversation/turn_job_internal.h"
#include "core/turn/turn_record.h"
#include "text/sentence/texts.h"

/* --- the end ---------------------------------------------------------------------------------- */

/* Stores usage that arrived after the outcome, as some agents report it. */
static void turn_job_record_late_result(const struct turn_job *j)
{
    const struct turn_result *const r = j->turn ? turn_get_result(j->turn) : NULL;
    if (j->spec.keeps_result && r && r->usage.len != j->usage_kept)
        turn_record_result_again(j->spec.journal, j->spec.id, r, j->spec.prompt.p, j->cancelled);
}

/* Usage reported after the outcome. */
static void count_late_usage(struct turn_job *j)
{
    const struct turn_result *const r = j->turn ? turn_get_result(j->turn) : NULL;
    struct journal_spent more;
    if (r && turn_spending_count(&j->spending, (struct str){r->usage.p, r->usage.len}, &more, NULL))
        journal_async_add_spent(j->spec.journal, j->spec.id, &more);
}

/* Stores data for later commands in chats. */
static void turn_job_store_history(const struct turn_job *j)
{
    const struct turn_job_spec *const s = &j->spec;
    const struct turn_result *const r = j->turn ? turn_get_result(j->turn) : NULL;
    if (r && s->usage) {
        const struct usage_sum sum = usage_log_read_turn((struct str){r->usage.p, r->usage.len});
        usage_log_add(s->usage, s->submitter, s->conversation, &sum);
    }
    if (r && s->history && !j->forget && launch_is_session_id(turn_session_id(j->turn)))
        session_history_add(s->history, conf_agent_session_name(s->agent), s->conversation,
                            turn_session_id(j->turn), s->prompt.p);
}

void turn_job_check_end(struct turn_job *j)
{
    if (!j->gone || (j->turn && !turn_is_flushed(j->turn)))
        return;
    count_late_usage(j);
    turn_job_record_late_result(j);
    turn_job_store_history(j);
    j->over(j->ctx);
}

static void turn_job_keep_session(struct turn_job *j)
{
    const char *const id = turn_session_id(j->turn);
    const char *const session = conf_agent_session_name(j->spec.agent);
    if (j->fenced)
        return; /* the new holder of the conversation continues with its own session */
    if (!j->forget && turn_spent(j->turn))
        session_store_keep_spent(j->spec.sessions, session, j->spec.conversation,
                                 turn_spent(j->turn));
    if (!j->forget && launch_is_session_id(id))
        session_store_save(j->spec.sessions, session, j->spec.conversation, id, j->spec.lock.fence);
}

static void turn_job_on_ended(void *ctx, bool spawn_failed)
{
    struct turn_job *const j = ctx;
    (void)spawn_failed; /* the turn's error reports it */
    ASSERT(j->executor && !j->gone);
    executor_free(j->executor);
    j->executor = NULL;
    j->gone = true;
    turn_job_keep_session(j);
    turn_job_check_end(j);
}

/* --- the outcome ------------------------------------------------------------------------------ */

static void turn_job_on_committed(void *ctx, enum journal_status status, const char *text)
{
    struct turn_job *const j = ctx;
    (void)text;
    if (status != JOURNAL_DONE)
        log_write(
            LOG_ERR, "host",
            "turn %s: cannot write the outcome to the journal; delivering it without durability",
            j->spec.id);
    turn_confirm_outcome(j->turn);
    turn_job_check_end(j);
}

static void turn_job_commit(void *ctx, const struct event *outcome)
{
    struct turn_job *const j = ctx;
    ASSERT(j->turn && outcome);
    const struct turn_job_spec *const s = &j->spec;
    const struct turn_result *const result = turn_get_result(j->turn);
    CLEANUP_BUF struct buf warning = {0};
    struct journal_spent spent;
    const bool counts = turn_spending_count(
        &j->spending, (struct str){result->usage.p, result->usage.len}, &spent, &warning);
    j->usage_kept = result->usage.len;
    turn_record_outcome(&(struct turn_record_end){.journal = s->journal,
                                                  .cast = turn_get_dispatch(j->turn),
                                                  .turn = s->id,
                                                  .lane = s->conversation,
                                                  .outcome = outcome,
                                                  .result = s->keeps_result ? result : NULL,
                                                  .task = s->prompt.p,
                                                  .spent = counts ? &spent : NULL,
                                                  .cancelled = j->cancelled},
                        turn_job_on_committed, j);
    if (!j->is_away)
        work_share_end(s->away.work, s->id, outcome);
    if (warning.len)
        turn_emit_operator_notice(j->turn, "warn", "budget", warning.p);
}

/* --- the run ---------------------------------------------------------------------------------- */

static void turn_job_on_spawned(void *ctx, pid_t pid)
{
    const struct turn_job *const j = ctx;
    if (j->is_away)
        turn_record_set_elsewhere(j->spec.journal, j->spec.id, j->spec.away.is_stored);
    else
        turn_record_set_agent_pid(j->spec.journal, j->spec.id, pid);
    CRASH_POINT("after-spawn");
}

static int turn_job_answer_agent(void *ctx, const struct dialect_answer *answer)
{
    const struct turn_job *const j = ctx;
    return j->executor ? executor_answer(j->executor, answer) : -1;
}

static bool turn_job_agent_waits(void *ctx, const char *request_id)
{
    const struct turn_job *const j = ctx;
    return !j->executor || executor_waits(j->executor, request_id);
}

static bool turn_job_agent_accepts_args(void *ctx, const char *request_id)
{
    const struct turn_job *const j = ctx;
    return j->executor && executor_accepts_args(j->executor, request_id);
}

static void turn_job_on_request(void *ctx, struct tc_request *request)
{
    request_turn_add(((struct turn_job *)ctx)->requests, request);
}

static void turn_job_on_unasked(void *ctx)
{
    request_turn_cancel_open(((struct turn_job *)ctx)->requests);
}

enum language turn_job_language(const struct turn_job_spec *s)
{
    const struct conf_instance *const i = conf_instance_find(s->conf, s->submitter);
    return i ? i->chat.language : LANGUAGE_EN;
}

/* Sources that are not instances are HTTP clients. */
static const char *turn_job_source_of(const struct turn_job_spec *s)
{
    return conf_instance_find(s->conf, s->submitter) ? s->submitter : CONF_PLACE_HTTP;
}

static void turn_job_on_lost(void *ctx)
{
    const struct turn_job *const j = ctx;
    j->spec.steering.lost(j->ctx);
}

static void turn_job_on_settled(void *ctx, const char *id, enum dialect_settled how)
{
    const struct turn_job *const j = ctx;
    TEXTS_IN(turn_job_language(&j->spec));
    if (j->spec.steering.settled(j->ctx, id, how))
        turn_emit_notice(j->turn, "info", "steered", texts_get(TEXT_STEERED));
}

/* Whether background work may be open after the answer. */
static bool turn_job_may_retain_agent(void *ctx)
{
    const struct turn_job *const j = ctx;
    return !j->forget && !j->cancelled && !j->fenced &&
           launch_is_session_id(turn_session_id(j->turn)) &&
           (j->spec.agent->keep_alive_ms || turn_has_background_work(j->turn));
}

static void turn_job_retain_agent(void *ctx, struct agent_process *p, const char *bytes, size_t n)
{
    const struct turn_job *const j = ctx;
    const struct turn_job_spec *const s = &j->spec;
    const struct warm_place place = {.conf = s->conf,
                                     .turn = s->id,
                                     .conversation = s->conversation,
                                     .session_id = turn_session_id(j->turn),
                                     .source = s->submitter,
                                     .route = s->route,
                                     .instances = s->instances,
                                     .owner = s->owner};
    warm_pool_add_process(s->warm, &place, p, bytes, n);
}

static bool follows(const struct turn_job_spec *s)
{
    return s->follows && s->agent->background == CONF_FOLLOW;
}

static bool turn_job_can_retain_agent(const struct turn_job_spec *s)
{
    const struct dialect *const dialect = dialect_find(s->agent->dialect);
    return dialect && dialect->next && (s->agent->keep_alive_ms || follows(s));
}

void turn_job_open_turn(struct turn_job *j)
{
    ASSERT(!j->turn && !j->executor && !j->gone);
    const struct turn_job_spec *const s = &j->spec;
    const struct dialect *const dialect =
        j->is_away ? turn_job_away_dialect() : dialect_find(s->agent->dialect);
    j->requests = request_turn_begin(s->requests, &(struct request_turn_spec){
                                                      .id = s->id,
                                                      .conversation = s->conversation,
                                                      .agent = s->agent,
                                                      .dialect = dialect,
                                                      .source = turn_job_source_of(s),
                                                      .askers = s->askers,
                                                      .n_askers = s->n_askers,
                                                      .language = turn_job_language(s),
                                                      .answer = turn_job_answer_agent,
                                                      .waits = turn_job_agent_waits,
                                                      .takes_args = turn_job_agent_accepts_args,
                                                      .ctx = j,
                                                  });
    j->turn = turn_new(s->dispatch, &(struct turn_spec){
                                        .dialect = dialect,
                                        .agent = s->agent->name,
                                        .conversation = s->conversation,
                                        .id = s->id,
                                        .task = s->prompt.p,
                                        .submitter = s->submitter,
                                        .route = s->route,
                                        .instances = s->instances,
                                        .visibility = j->visibility,
                                        .max_line = s->agent->max_line,
                                        .follows = follows(s),
                                        .resumed = s->away.is_stored,
                                        .language = turn_job_language(s),
                                        .commit = turn_job_commit,
                                        .request = turn_job_on_request,
                                        .started = turn_job_on_started,
                                        .ctx = j,
                                    });
    turn_set_spent(j->turn, j->spent.len && !j->is_away ? j->spent.p : NULL);
    request_turn_attach(j->requests, j->turn);
}

void turn_job_run(struct turn_job *j)
{
    turn_job_open_turn(j);
    const struct turn_job_spec *const s = &j->spec;
    const struct executor_spec spec = {
        .agent = j->is_away ? &j->away : s->agent,
        .place = j->is_away ? &j->place : NULL,
        .message = s->prompt.p,
        .message_len = s->prompt.len,
        .session_id = j->session.len ? j->session.p : NULL,
        .conversation = s->conversation,
        .spawned = turn_job_on_spawned,
        .unasked = turn_job_on_unasked,
        .process = j->process,
        .unread = {j->unread.p, j->unread.len},
        .lease_ms = s->lock.until_ms,
        .by_agent = s->by_agent,
        .has_message = s->has_message && j->process,
        .settled = turn_job_on_settled,
        .lost = turn_job_on_lost,
        .may_stay = turn_job_can_retain_agent(s) && !j->is_away ? turn_job_may_retain_agent : NULL,
        .stay = turn_job_retain_agent,
    };
    j->process = NULL;
    j->executor = executor_start(s->loop, j->turn, &spec, turn_job_on_ended, j);
    for (; j->cancels; j->cancels--)
        executor_cancel(j->executor);
    for (; j->shutdowns; j->shutdowns--)
        executor_cancel_for_exit(j->executor);
}

static void on_clear(void *ctx)
{
    struct turn_job *const j = ctx;
    if (!turn_job_refuse_unlocked(j))
        turn_job_run(j);
}

/* Uses the waiting process of the conversation; otherwise starts a new one when no old process of
 * conversation or session is left. */
void turn_job_run_here(struct turn_job *j)
{
    const struct turn_job_spec *const s = &j->spec;
    const char *const session = j->session.len ? j->session.p : NULL;
    if (session || s->by_agent)
        j->process = warm_pool_acquire(s->warm, s->agent, s->conversation, session, &j->unread);
    if (s->by_agent || j->process ||
        !warm_pool_clear(s->warm, s->conversation, session, on_clear, j))
        turn_job_run(j);
}

static void turn_job_on_place(void *ctx, bool here)
{
    struct turn_job *const j = ctx;
    if (!turn_job_refuse_unlocked(j))
        turn_job_share(j, here);
}

void turn_job_on_answer(struct turn_job *j)
{
    ASSERT(j->awaited > 0);
    const struct turn_job_spec *const s = &j->spec;
    if (--j->awaited || turn_job_refuse_unlocked(j) || turn_job_refuse(j))
        return;
    if (s->away.again)
        turn_job_on_place(j, false);
    else if (!turn_job_may_run_remotely(s))
        turn_job_on_place(j, true);
    else if (!conf_agent_runs_here(s->conf, s->agent))
        turn_job_on_place(j, false);
    else
        work_find_place(s->away.work, s->agent, s->conversation, s->away.has_slot,
                        turn_job_on_place, j);
}

void turn_job_on_session(void *ctx, const char *id)
{
    struct turn_job *const j = ctx;
    if (id && launch_is_session_id(id))
        buf_add_str(&j->session, id);
    turn_job_on_answer(j);
}

static void turn_job_on_spent(void *ctx, enum journal_status status, const char *text)
{
    struct turn_job *const j = ctx;
    if (status == JOURNAL_DONE)
        buf_add_str(&j->spent, text);
    turn_job_on_answer(j);
}

static void find_spent(struct turn_job *j)
{
    const struct turn_job_spec *const s = &j->spec;
    const struct dialect *const dialect = dialect_find(s->agent->dialect);
    if (!dialect || !dialect->counts_session)
        return;
    j->awaited++;
    session_store_find_spent(s->sessions, conf_agent_session_name(s->agent), s->conversation,
                             turn_job_on_spent, j);
}

void turn_job_on_visibility(void *ctx, struct visibility v)
{
    struct turn_job *const j = ctx;
    j->visibility = v;
    turn_job_on_answer(j);
}

/* A turn whose start cannot be journaled runs all the same, because its message was accepted. */
static void on_begun(void *ctx, enum journal_status status, const char *text)
{
    struct turn_job *const j = ctx;
    (void)text;
    if (status != JOURNAL_DONE)
        log_write(LOG_ERR, "host",
                  "turn %s: cannot write the start to the journal; running it without durability",
                  j->spec.id);
    CRASH_POINT("after-begin");
    turn_job_on_answer(j);
}

static struct turn_job_spec copy_spec(struct arena *a, const struct turn_job_spec *s)
{
    struct turn_job_spec copy = *s;
    copy.conf = conf_ref(s->conf);
    copy.id = arena_strdup(a, s->id);
    copy.conversation = arena_strdup(a, s->conversation);
    copy.submitter = arena_strdup(a, s->submitter);
    copy.route = arena_strdup(a, s->route);
    copy.owner = arena_strdup(a, s->owner);
    copy.user = arena_strdup(a, s->user);
    copy.instances = arena_strdup(a, s->instances);
    copy.away.late_host = arena_strdup(a, s->away.late_host);
    copy.prompt.p = arena_memdup(a, s->prompt.p, s->prompt.len);
    const char **const askers = arena_alloc(a, (s->n_askers + 1) * sizeof *askers);
    for (size_t i = 0; i < s->n_askers; i++)
        askers[i] = arena_strdup(a, s->askers[i]);
    copy.askers = askers;
    copy.merged = (struct turn_job_merged){NULL, 0};
    return copy;
}

/* The agent is working already, in the session of its process. */
static void begin_of_agent(struct turn_job *j)
{
    const struct turn_job_spec *const s = &j->spec;
    j->awaited = 2;
    visibility_cache_get(s->switches, s->agent->name, turn_job_on_visibility, j);
    turn_record_begin(s->journal, s->dispatch,
                      &(struct journal_turn){.id = s->id,
                                             .agent = s->agent->name,
                                             .conv = s->conversation,
                                             .source = s->submitter,
                                             .route = s->route,
                                             .owner = s->owner,
                                             .instances = s->instances,
                                             .prompt = ""},
                      on_begun, j);
}

static void turn_job_record_recipients(struct turn_job *j)
{
    const struct turn_job_spec *const s = &j->spec;
    CLEANUP_FREE char *seen = turn_record_format_recipients(
        s->dispatch, &(struct conf_scope_turn){.agent = s->agent->name,
                                               .conversation = s->conversation,
                                               .source = s->submitter,
                                               .instances = s->instances});
    j->seen = arena_strdup(&j->arena, seen);
}

struct turn_job *turn_job_start(const struct turn_job_spec *spec, void (*over)(void *ctx),
                                void *ctx)
{
    struct turn_job *const j = xcalloc(1, sizeof *j);
    j->spec = copy_spec(&j->arena, spec);
    j->over = over;
    j->ctx = ctx;
    j->spending = (struct turn_spending){
        .budgets = spec->budgets,
        .payer = {.agent = j->spec.agent->name,
                  .conversation = j->spec.conversation,
                  .person = spec->user
                                ? arena_sprintf(&j->arena, "%s/%s", spec->submitter, spec->user)
                                : NULL,
                  .key = j->spec.owner}};
    if (spec->by_agent) {
        begin_of_agent(j);
        return j;
    }
    turn_job_record_recipients(j);
    if (spec->away.again) {
        turn_job_begin_again(j);
        return j;
    }
    j->awaited = 3;
    if (spec->history)
        session_history_set_prompt(spec->history, spec->conversation, turn_job_id(j),
                                   j->spec.prompt);
    turn_job_transcribe(j);
    find_spent(j);
    visibility_cache_get(spec->switches, spec->agent->name, turn_job_on_visibility, j);
    session_store_find(spec->sessions, conf_agent_session_name(spec->agent), spec->conversation,
                       turn_job_on_session, j);
    work_share_join(spec->away.work, spec->id, spec->submitter, spec->merged.ids, spec->merged.n);
    journal_async_begin(spec->journal, spec->id, j->seen, spec->merged.ids, spec->merged.n,
                        on_begun, j);
    return j;
}

enum dialect_steer turn_job_steer(struct turn_job *j, const char *id, const char *user,
                                  struct str text)
{
    const enum dialect_steer how = j->executor && !j->cancelled && turn_job_may_steer(j, text)
                                       ? executor_steer(j->executor, id, text)
                                       : DIALECT_REFUSED;
    if (how != DIALECT_REFUSED)
        request_registry_add_asker(j->requests, user);
    return how;
}

bool turn_job_withdraw(struct turn_job *j, const char *id)
{
    return j && j->executor && !j->cancelled && executor_withdraw(j->executor, id);
}

void turn_job_set_lease(struct turn_job *j, int64_t until_ms)
{
    j->spec.lock.until_ms = until_ms;
    if (j->executor)
        executor_set_lease(j->executor, until_ms);
}

void turn_job_discard_session(struct turn_job *j)
{
    j->forget = true;
}

void turn_job_emit_notice(struct turn_job *j, const char *code, const char *text)
{
    if (j->turn)
        turn_emit_notice(j->turn, "info", code, text);
}

const char *turn_job_id(const struct turn_job *j)
{
    return j->spec.id;
}

int64_t turn_job_elapsed_ms(const struct turn_job *j)
{
    return j->turn ? turn_elapsed_ms(j->turn) : 0;
}

unsigned turn_job_tool_count(const struct turn_job *j, const char **last)
{
    const struct turn_result *const r = j->turn ? turn_get_result(j->turn) : NULL;
    *last = r && r->last_tool.len ? r->last_tool.p : NULL;
    return r ? r->n_tool_uses + r->n_omitted : 0;
}

bool turn_job_has_outcome(const struct turn_job *j)
{
    const struct turn_result *const r = j->turn ? turn_get_result(j->turn) : NULL;
    return r && (r->has_final || r->has_error);
}

const char *turn_job_session(const struct turn_job *j)
{
    const char *const id = j->turn ? turn_session_id(j->turn) : "";
    return *id || !j->session.len ? id : j->session.p;
}

void turn_job_free(struct turn_job *j)
{
    if (!j)
        return;
    const bool is_detached = turn_job_is_away(j);
    warm_pool_cancel_waiter(j->spec.warm, j);
    if (j->spec.away.work) {
        work_forget_place(j->spec.away.work, j);
        work_share_forget(j->spec.away.work, j);
    }
    agent_process_free(j->process);
    transcription_free(j->transcription);
    buf_fini(&j->unread);
    executor_free(j->executor);
    if (is_detached)
        turn_detach(j->turn);
    turn_free(j->turn);
    request_turn_end(j->requests);
    buf_fini(&j->session);
    buf_fini(&j->spent);
    conf_unref(j->spec.conf);
    arena_fini(&j->arena);
    free(j);
}
