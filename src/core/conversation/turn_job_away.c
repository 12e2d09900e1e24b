/* SPDX-License-Identifier: MIT
 * A turn that another host runs: the data for that host, and the executor's settings. */
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "core/conversation/turn_job_internal.h"
#include "core/turn/turn_record.h"
#include "dialect/turncast/turncast_run.h"
#include "text/sentence/texts.h"

#define AWAY_GRACE_MS 10000

const struct dialect *turn_job_away_dialect(void)
{
    return &dialect_turncast_run;
}

static void turn_job_on_stored(void *ctx)
{
    const struct turn_job *const j = ctx;
    turn_record_set_elsewhere(j->spec.journal, j->spec.id, true);
    work_share_release(j->spec.away.work, j->spec.id);
}

static void *turn_job_start_away(void *ctx, const char *session_id,
                                 const struct process_events *events, void *events_ctx,
                                 struct tc_err *err)
{
    const struct turn_job *const j = ctx;
    const struct turn_job_spec *const s = &j->spec;
    const char *message, *also;
    (void)err;
    work_share_find_message(s->away.work, s->id, &message, &also);
    const struct work_order order = {.turn = s->id,
                                     .agent = s->agent->name,
                                     .conversation = s->conversation,
                                     .source = s->submitter,
                                     .route = s->route,
                                     .owner = s->owner,
                                     .instances = s->instances,
                                     .user = s->user,
                                     .seen = j->seen,
                                     .session = session_id,
                                     .prompt = s->prompt,
                                     .message = message,
                                     .also = also,
                                     .follows = s->follows ? "yes" : NULL,
                                     .shared =
                                         work_share_has(s->away.work, s->submitter) ? "yes" : NULL,
                                     .after = j->after,
                                     .admitted_ms = (int64_t)(clock_wall_s() * 1000)};
    return work_run_start(s->away.work,
                          &(struct work_run_spec){.order = &order,
                                                  .agent = s->agent,
                                                  .again = s->away.again,
                                                  .is_stored = s->away.is_stored,
                                                  .language = turn_job_language(s),
                                                  .stored = turn_job_on_stored,
                                                  .ctx = ctx},
                          events, events_ctx);
}

/* Prepares the job for another host, which enforces timeouts and retries; this host waits longer,
 * by the time that ending an agent takes. */
static void turn_job_prepare_remote(struct turn_job *j)
{
    const struct conf_agent *const agent = j->spec.agent;
    j->is_away = true;
    j->away = *agent;
    j->away.attempts = 1;
    j->away.turn_timeout_ms = j->away.idle_timeout_ms = 0;
    j->away.keep_alive_ms = 0;
    j->away.grace.exit_ms = 2 * (agent->grace.exit_ms + agent->grace.term_ms) + AWAY_GRACE_MS;
    j->place = (struct agent_place){&work_run_backend, turn_job_start_away, j};
}

/* Ends the job without an outcome on this host, because another host has the turn. Its messages
 * stay known, so a repetition of them is recognised. */
static void turn_job_release(struct turn_job *j)
{
    log_write(LOG_INFO, "host", "turn %s: another host has adopted it; not running it here",
              j->spec.id);
    j->is_released = true;
    j->gone = true;
    journal_async_remove_turn(j->spec.journal, j->spec.id, NULL, NULL);
    turn_job_check_end(j);
}

static void turn_job_begin_shared(struct turn_job *j, enum work_share_answer answer, uint64_t after,
                                  bool here)
{
    j->after = after;
    if (answer == WORK_SHARE_BEGUN)
        j->spec.away.again = j->spec.away.is_stored = true;
    if (answer == WORK_SHARE_ELSEWHERE) {
        turn_job_release(j);
    } else if (turn_job_refuse_unlocked(j)) {
        return;
    } else if (here && !j->spec.away.again) {
        turn_job_run_here(j);
    } else {
        turn_job_prepare_remote(j);
        turn_job_run(j);
    }
}

static void turn_job_on_claimed(void *ctx, enum work_share_answer answer, uint64_t after)
{
    turn_job_begin_shared(ctx, answer, after, true);
}

static void turn_job_on_reserved(void *ctx, enum work_share_answer answer, uint64_t after)
{
    turn_job_begin_shared(ctx, answer, after, false);
}

/* A turn that the agent has begun by itself has no stored order, and a turn that is continued has
 * been adopted already: both begin at once. */
void turn_job_share(struct turn_job *j, bool here)
{
    const struct turn_job_spec *const s = &j->spec;
    if (!s->away.work || s->by_agent || s->away.again)
        turn_job_begin_shared(j, WORK_SHARE_BEGIN, 0, here);
    else
        work_share_begin(s->away.work, s->id, s->submitter, here,
                         here ? turn_job_on_claimed : turn_job_on_reserved, j);
}

bool turn_job_was_released(const struct turn_job *j)
{
    return j->is_released;
}

bool turn_job_was_away(const struct turn_job *j)
{
    return j->is_away;
}

/* A message with files needs a turn of its own, for which the other host fetches them. */
bool turn_job_may_steer(const struct turn_job *j, struct str text)
{
    const struct dialect *const dialect = dialect_find(j->spec.agent->dialect);
    return !j->is_away || (dialect && dialect->input && dialect->input->steer &&
                           !work_has_files(j->spec.away.work, j->spec.submitter, text));
}

bool turn_job_may_run_remotely(const struct turn_job_spec *s)
{
    return s->away.work && !s->by_agent && !s->has_message &&
           conf_agent_is_shared(s->conf, s->agent) && work_can_run(s->id, s->submitter, s->agent);
}

bool turn_job_emit_late_notice(struct turn_job *j, const char *host)
{
    CLEANUP_BUF struct buf text = {0};
    if (!j->is_started || turn_job_has_outcome(j))
        return false;
    TEXTS_IN(turn_job_language(&j->spec));
    texts_append(&text, TEXT_LATE_RESULT, TEXT_VALUES(TEXT_STR("host", host)));
    turn_emit_notice(j->turn, "warn", "late_result", text.p);
    return true;
}

void turn_job_on_started(void *ctx)
{
    struct turn_job *const j = ctx;
    j->is_started = true;
    if (j->spec.away.late_host)
        turn_job_emit_late_notice(j, j->spec.away.late_host);
}

bool turn_job_is_away(const struct turn_job *j)
{
    return j->is_away && j->executor && !turn_job_has_outcome(j);
}

/* The journal has the turn as running. */
void turn_job_begin_again(struct turn_job *j)
{
    const struct turn_job_spec *const s = &j->spec;
    j->awaited = 2;
    if (!s->away.is_stored)
        turn_job_transcribe(j);
    session_store_find(s->sessions, conf_agent_session_name(s->agent), s->conversation,
                       turn_job_on_session, j);
    visibility_cache_get(s->switches, s->agent->name, turn_job_on_visibility, j);
}
