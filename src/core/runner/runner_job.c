/* SPDX-License-Identifier: MIT
 * Processes one message of the queue: checks whether its turn is still to be started, runs it,
 * stores its outcome, and removes the message.
 *
 *   state    | what happens                                           | next
 *   ---------+--------------------------------------------------------+------------------------------
 *   ORDER    | the turn is read                                       | FILES, CLAIM; or done: none
 *   FILES    | files of its message are fetched from the gateway      | CLAIM
 *   CLAIM    | the claim of this host is written                      | OUTCOME, or OTHER
 *   OUTCOME  | an existing outcome is looked up                       | RUN; or done
 *   OTHER    | another host has a claim: looks for an outcome         | released; or done
 *   RUN      | the turn runs                                          | STORE
 *   STORE    | its outcome is stored                                  | LATE; or done
 *   LATE     | this host had counted as lost: informs the gateway     | done
 *
 * A turn that an agent has begun by itself has no message; it begins with RUN (runner_own.c).
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/cleanup.h"
#include "base/sys/log.h"
#include "core/runner/runner_internal.h"
#include "event/codec.h"
#include "event/json/json_writer.h"

#define EXTEND_MS 10000 /* interval at which the message is extended while the turn runs */
#define RETRY_MS 1000
/* Delay for which a message of a turn that another host runs is released to the queue, … */
#define BACK_MS 5000
#define BACK_MAX_MS 60000 /* … doubled each time, up to this */
#define LATE_TRIES 30     /* attempts to send a late result to the gateway */
#define RESULT_BYTES ((size_t)4 << 10)

static void runner_job_run_next_step(struct runner_job *job);

static void runner_job_free(struct runner_job *job)
{
    LIST_REMOVE(job, next);
    nats_client_forget(job->runner->link->client, job);
    work_outcome_free(job->outcome);
    loop_timer_free(job->timer);
    runner_files_free(job->files);
    runner_own_free(job->own);
    buf_fini(&job->result);
    arena_fini(&job->arena);
    free(job);
}

void runner_job_stop(struct runner_job *job)
{
    runner_job_free(job);
}

/* If the acknowledgement is lost, the message arrives again, and the outcome is found. */
void runner_job_end(struct runner_job *job)
{
    struct runner *const r = job->runner;
    work_outcome_free(job->outcome);
    job->outcome = NULL;
    if (job->own && !runner_own_is_stored(job))
        return;
    if (!job->own)
        bus_queue_finish(r->link, job->ticket, NULL, NULL);
    runner_job_free(job);
    runner_pull_orders(r);
}

static void runner_job_release(struct runner_job *job)
{
    struct runner *const r = job->runner;
    int64_t delay = BACK_MS;
    for (unsigned i = 1; i < job->deliveries && delay < BACK_MAX_MS; i++)
        delay *= 2;
    bus_queue_release(r->link, job->ticket, delay < BACK_MAX_MS ? delay : BACK_MAX_MS);
    runner_job_free(job);
    runner_pull_orders(r);
}

static void runner_job_enter(struct runner_job *job, enum runner_job_state state)
{
    job->state = state;
    runner_job_run_next_step(job);
}

static void runner_job_retry(struct runner_job *job)
{
    loop_timer_set(job->timer, RETRY_MS);
}

/* ---- the turn ---- */

/* The files stay: the agent's session may name them later. */
static void runner_job_on_files(void *ctx, struct str prompt)
{
    struct runner_job *const job = ctx;
    job->prompt = (struct str){arena_strndup(&job->arena, prompt.p, prompt.len), prompt.len};
    runner_files_free(job->files);
    job->files = NULL;
    runner_job_enter(job, JOB_CLAIM);
}

/* Before the claim: until then another host can run the turn. */
static void runner_job_begin_files(struct runner_job *job)
{
    const struct runner *const r = job->runner;
    job->prompt = job->order.prompt;
    if (!job->order.files || !*job->order.files) {
        runner_job_enter(job, JOB_CLAIM);
        return;
    }
    CLEANUP_FREE char *dir = xasprintf("%s/bus/files", r->conf->state_dir);
    job->state = JOB_FILES;
    loop_timer_set(job->timer, EXTEND_MS);
    job->files = runner_files_fetch(&(struct runner_files_spec){.bus = r->spec.bus,
                                                                .loop = r->link->loop,
                                                                .gateway = job->signal.gateway,
                                                                .turn = job->signal.turn,
                                                                .paths = job->order.files,
                                                                .dir = dir,
                                                                .prompt = job->order.prompt},
                                    runner_job_on_files, job);
}

static void runner_job_on_order(void *ctx, enum nats_client_result result,
                                const struct nats_client_message *m)
{
    struct runner_job *const job = ctx;
    job->awaits_reply = false;
    if (!bus_link_is_answered(result, m)) {
        runner_job_retry(job);
    } else if (m->sequence && work_order_read(m->data, &job->arena, &job->order) == 0 &&
               conf_agent_find(job->runner->conf, job->order.agent)) {
        runner_job_begin_files(job);
    } else {
        log_write(LOG_WARN, "bus", "turn %s of host %s: %s; not running it", job->signal.turn,
                  job->signal.gateway,
                  m->sequence ? "unreadable, or of an agent that is not configured here"
                              : "the servers do not have it any more");
        m->sequence ? runner_job_release(job) : runner_job_end(job);
    }
}

static void runner_job_read(struct runner_job *job, const char *kind,
                            nats_client_on_reply *on_reply)
{
    CLEANUP_BUF struct buf subject = {0};
    work_outcome_subject(&subject, &job->runner->link->names, kind, job->signal.source,
                         job->signal.turn);
    bus_link_read_last(job->runner->link, BUS_TURNS, subject.p, on_reply, job);
}

/* ---- the claim ---- */

static void runner_job_on_claim_read(void *ctx, enum nats_client_result result,
                                     const struct nats_client_message *m)
{
    struct runner_job *const job = ctx;
    struct bus_kv_entry entry;
    struct bus_origin from;
    job->awaits_reply = false;
    bus_kv_read_entry(job->runner->link, BUS_RUNS, result, m, &entry);
    if (entry.result != BUS_KV_DONE || bus_origin_read(entry.value, &from) < 0)
        runner_job_retry(job); /* reads the claim again */
    else if (bus_origin_equal(&from, &job->claim))
        runner_job_enter(job, JOB_OUTCOME);
    else
        runner_job_enter(job, JOB_OTHER);
}

static void runner_job_on_claimed(void *ctx, enum nats_client_result result,
                                  const struct nats_client_message *m)
{
    struct runner_job *const job = ctx;
    struct bus_kv_entry entry;
    job->awaits_reply = false;
    bus_kv_read_written(result, m, &entry);
    if (entry.result == BUS_KV_DONE) {
        runner_job_enter(job, JOB_OUTCOME);
    } else if (entry.result == BUS_KV_CONFLICT || entry.result == BUS_KV_UNKNOWN) {
        job->awaits_reply = true;
        bus_kv_get(job->runner->link, BUS_RUNS, job->signal.turn, runner_job_on_claim_read, job);
    } else {
        runner_job_retry(job);
    }
}

void runner_job_write_claim(struct runner_job *job, nats_client_on_reply *on_reply)
{
    struct bus_link *const link = job->runner->link;
    if (!job->claim.n)
        job->claim = bus_link_next_origin(link);
    bus_kv_put_origin(link, BUS_RUNS, job->signal.turn, &job->claim, 0, on_reply,
                      on_reply ? job : NULL);
}

/* ---- the run ---- */

static void runner_job_store(struct runner_job *job, struct str lines);

/* The turn cannot be started here, which becomes its outcome, because it was claimed. */
static void runner_job_fail(struct runner_job *job, const char *why)
{
    CLEANUP_BUF struct buf body = {0};
    const struct bus_origin from = {0};
    work_outcome_write_error(&body, &from, job->signal.turn, 0, "agent_spawn", why);
    runner_job_store(job, work_outcome_lines((struct str){body.p, body.len}));
}

static void runner_job_on_submitted(void *ctx, const struct conversations_result *answer)
{
    struct runner *const r = ((void **)ctx)[0];
    struct runner_job *const job = runner_job_find(r, ((void **)ctx)[1]);
    if (job && answer->accepted != TC_ACCEPTED && answer->accepted != TC_QUEUED &&
        answer->accepted != TC_KNOWN)
        runner_job_fail(job, answer->text ? answer->text : "The turn could not be begun.");
    free(((void **)ctx)[1]);
    free(ctx);
}

/* The gateway chooses the session, which may have been deleted or replaced there. */
static void runner_job_choose_session(const struct runner_job *job, const struct conf_agent *agent)
{
    struct session_store *const sessions = job->runner->spec.parts.sessions;
    const char *const name = conf_agent_session_name(agent);
    if (job->order.session && !job->signal.fresh)
        session_store_save(sessions, name, job->order.conversation, job->order.session,
                           SESSION_FENCE_CHOSEN);
    else
        session_store_delete(sessions, name, job->order.conversation);
}

static void runner_job_run(struct runner_job *job)
{
    struct runner *const r = job->runner;
    const struct conf_agent *const agent = conf_agent_find(r->conf, job->order.agent);
    if (!agent) {
        runner_job_fail(job, "The agent is not configured on the host that was to run it.");
        return;
    }
    job->state = JOB_RUN;
    r->counters.taken++;
    runner_store_home(job->runner, conf_agent_session_name(agent), job->order.conversation);
    runner_job_choose_session(job, agent);
    CLEANUP_BUF struct buf route = {0};
    runner_own_write_route(&route, job);
    void **const ctx = xcalloc(2, sizeof *ctx);
    ctx[0] = r;
    ctx[1] = xstrdup(job->run);
    loop_timer_set(job->timer, EXTEND_MS);
    turn_scheduler_submit(
        r->turns,
        &(struct turn_scheduler_message){.key = job->order.conversation,
                                         .source = RUNNER_SOURCE,
                                         .agent = agent,
                                         .turn = job->run,
                                         .prompt = job->prompt,
                                         .route = route.p,
                                         .follows = job->order.follows != NULL,
                                         .alone = true,
                                         .given = runner_steering_begin_turn(job)},
        runner_job_on_submitted, ctx);
}

/* ---- an existing outcome ---- */

static void runner_job_on_outcome_read(void *ctx, enum nats_client_result result,
                                       const struct nats_client_message *m)
{
    struct runner_job *const job = ctx;
    job->awaits_reply = false;
    const bool is_there = result == NATS_CLIENT_REPLIED && m->sequence;
    const bool is_none = result == NATS_CLIENT_REPLIED && m->status == 404;
    if (job->state > JOB_RUN)
        return; /* the request was sent while the turn ran; its own outcome is being stored */
    if (job->state == JOB_RUN) {
        if (is_there)
            runner_job_abort(job, "another host has stored its outcome");
    } else if (is_there) {
        runner_job_end(job);
    } else if (!is_none) {
        runner_job_retry(job);
    } else if (job->state == JOB_OUTCOME) {
        runner_job_run(job);
    } else {
        runner_job_release(job);
    }
}

/* ---- the end ---- */

struct runner_late_result {
    struct runner *runner;
    char run[WORK_ID];
};

/* The job may have ended before the reply. */
static void runner_job_on_late_answered(void *ctx, enum nats_client_result result, struct str body)
{
    struct runner_late_result *const late = ctx;
    struct runner *const r = late->runner;
    struct runner_job *const job = r->is_stopped ? NULL : runner_job_find(r, late->run);
    (void)body;
    if (job && (result == NATS_CLIENT_REPLIED || job->late_tries >= LATE_TRIES))
        runner_job_end(job);
    else if (job)
        loop_timer_set(job->timer, RETRY_MS);
    free(late);
}

static void runner_job_send_late_result(struct runner_job *job)
{
    CLEANUP_BUF struct buf body = {0};
    struct runner *const r = job->runner;
    struct runner_late_result *const late = xmalloc(sizeof *late);
    late->runner = r;
    strcpy(late->run, job->run);
    job->late_tries++;
    buf_add_char(&body, '{');
    jsonw_member_str(&body, "turn", job->signal.turn);
    jsonw_member_str(&body, "conversation", job->order.conversation);
    jsonw_member_str(&body, "host", r->link->names.host);
    jsonw_key(&body, "text");
    jsonw_string(&body, job->result.p ? job->result.p : "", job->result.len);
    buf_add_char(&body, '}');
    bus_ask(r->spec.bus, job->signal.gateway, "late", (struct str){body.p, body.len},
            runner_job_on_late_answered, late);
}

static void runner_job_on_stored(void *ctx, bool is_own, struct str body)
{
    struct runner_job *const job = ctx;
    if (is_own || !work_outcome_is_lost(body)) {
        runner_job_end(job);
        return;
    }
    job->runner->counters.late++;
    log_write(LOG_WARN, "bus",
              "turn %s of host %s: its outcome here came after host_lost was stored, which counts; "
              "sending the result as a late one",
              job->signal.turn, job->signal.gateway);
    work_outcome_free(job->outcome);
    job->outcome = NULL;
    job->state = JOB_LATE;
    runner_job_send_late_result(job);
}

static void runner_job_store(struct runner_job *job, struct str lines)
{
    CLEANUP_BUF struct buf body = {0};
    struct bus_link *const link = job->runner->link;
    const struct bus_origin from = bus_link_next_origin(link);
    job->state = JOB_STORE;
    work_outcome_write(&body, &from, lines);
    job->outcome = work_outcome_store(link, job->signal.source, job->signal.turn, &from,
                                      (struct str){body.p, body.len}, runner_job_on_stored, job);
}

static bool runner_job_is_outcome(const struct event *ev)
{
    return ev->kind == TC_FINAL || ev->kind == TC_ERROR || ev->kind == TC_USAGE ||
           ev->kind == TC_DONE ||
           (ev->kind == TC_NOTICE && turncast_run_is_fate(ev->u.notice.code));
}

static void runner_job_copy_result(struct runner_job *job, const struct event *ev)
{
    struct str text = STR("");
    if (ev->kind == TC_FINAL)
        text = (struct str){ev->u.final.text, ev->u.final.text_len};
    else if (ev->kind == TC_ERROR && ev->u.error.message)
        text = (struct str){ev->u.error.message, strlen(ev->u.error.message)};
    if (text.len && !job->result.len)
        buf_add(&job->result, text.p, utf8_truncated_len(text.p, text.len, RESULT_BYTES));
}

void runner_job_finish(struct runner_job *job, const struct turnlog_turn *t)
{
    CLEANUP_BUF struct buf lines = {0};
    struct turnlog_item item;
    enum turnlog_next_result step;
    struct turnlog_follower *const f =
        turnlog_follower_new(job->runner->turnlog, t->spec.id, 0, true, NULL, NULL);
    while (f && (step = turnlog_follower_next(f, &item)) <= TURNLOG_GAP)
        if (step == TURNLOG_EVENT && runner_job_is_outcome(shared_event_get(item.shared))) {
            runner_job_copy_result(job, shared_event_get(item.shared));
            codec_encode(&lines, shared_event_get(item.shared));
            buf_add_char(&lines, '\n');
        }
    turnlog_follower_free(f);
    runner_steering_end_turn(job);
    if (job->state == JOB_RUN)
        runner_job_store(job, (struct str){lines.p, lines.len});
}

void runner_job_abort(struct runner_job *job, const char *why)
{
    log_write(LOG_WARN, "bus", "turn %s of host %s: %s; ending its agent", job->signal.turn,
              job->signal.gateway, why);
    if (job->state == JOB_RUN) {
        turn_scheduler_cancel_turn(job->runner->turns, job->run);
        turn_scheduler_cancel_turn(job->runner->turns, job->run); /* kills at once */
    }
}

void runner_job_cut_off(struct runner_job *job)
{
    if (job->state != JOB_RUN || job->is_cut_off)
        return;
    job->is_cut_off = true;
    log_write(LOG_WARN, "bus",
              "turn %s of host %s: no connection to the bus for bus.lost_after_s; ending its agent "
              "(bus.on_loss)",
              job->signal.turn, job->signal.gateway);
    turn_scheduler_cut_off_turn(job->runner->turns, job->run);
}

/* ---- steps ---- */

static void runner_job_run_next_step(struct runner_job *job)
{
    if (job->awaits_reply)
        return;
    if (!job->runner->link->is_active) {
        runner_job_retry(job);
        return;
    }
    switch (job->state) {
    case JOB_ORDER:
        job->awaits_reply = true;
        runner_job_read(job, "new", runner_job_on_order);
        break;
    case JOB_CLAIM:
        job->awaits_reply = true;
        runner_job_write_claim(job, runner_job_on_claimed);
        break;
    case JOB_OUTCOME:
    case JOB_OTHER:
        job->awaits_reply = true;
        runner_job_read(job, "out", runner_job_on_outcome_read);
        break;
    case JOB_FILES:
    case JOB_RUN:
    case JOB_STORE:
    case JOB_LATE:
        break;
    }
}

static void runner_job_on_timer(void *arg)
{
    struct runner_job *const job = arg;
    if (job->state < JOB_RUN && job->state != JOB_FILES) {
        runner_job_run_next_step(job);
        return;
    }
    loop_timer_set(job->timer, EXTEND_MS);
    if (job->own)
        runner_own_go_on(job);
    else
        bus_queue_extend(job->runner->link, job->ticket);
    if (job->state == JOB_LATE)
        runner_job_send_late_result(job);
    if (job->state == JOB_RUN && !job->awaits_reply && job->runner->link->is_active) {
        job->awaits_reply = true;
        runner_job_read(job, "out", runner_job_on_outcome_read);
    }
}

/* The servers may have lost the claim. */
void runner_job_resume(struct runner_job *job)
{
    if (job->state >= JOB_OUTCOME && job->state != JOB_OTHER)
        runner_job_write_claim(job, NULL);
    if (job->outcome)
        work_outcome_resume(job->outcome);
    if (job->own)
        runner_own_resume(job);
    if (job->state >= JOB_RUN)
        loop_timer_set(job->timer, 0);
    else
        runner_job_run_next_step(job);
}

/* ---- start ---- */

struct runner_job *runner_job_next(const struct runner_job *job)
{
    return LIST_NEXT(job, next);
}

bool runner_job_is_of_agent(const struct runner_job *job, const char *agent)
{
    return strcmp(job->signal.agent, agent) == 0;
}

struct runner_job *runner_job_find(const struct runner *r, const char *run)
{
    struct runner_job *job;
    LIST_FOREACH (job, &r->jobs, next)
        if (strcmp(job->run, run) == 0)
            return job;
    return NULL;
}

/* The message was requested while a slot was free, for this agent or for another one. */
static bool runner_job_has_slot(const struct runner *r, const struct work_signal *signal)
{
    const struct conf_agent *const agent = conf_agent_find(r->conf, signal->agent);
    return !agent || runner_free_slots(r, agent);
}

static void runner_job_enlist(struct runner_job *job)
{
    struct runner *const r = job->runner;
    job->timer = loop_timer_new(r->link->loop, runner_job_on_timer, job);
    LIST_INSERT_HEAD(&r->jobs, job, next);
}

struct runner_job *runner_job_new(struct runner *r)
{
    struct runner_job *const job = xcalloc(1, sizeof *job);
    job->runner = r;
    runner_job_enlist(job);
    return job;
}

/* A message of a turn that runs here was delivered again, because the queue has it twice, or an
 * extension was late. */
void runner_job_begin(struct runner *r, const struct bus_queue_item *item)
{
    struct runner_job *const job = xcalloc(1, sizeof *job);
    job->runner = r;
    job->deliveries = item->deliveries;
    strcpy(job->ticket, item->ticket);
    const bool is_read = work_signal_read(item->body, &job->arena, &job->signal) == 0 &&
                         bus_stream_is_token(job->signal.turn) &&
                         bus_stream_is_token(job->signal.source) &&
                         work_run_id(job->signal.turn, job->run);
    const bool runs = is_read && runner_job_find(r, job->run);
    const bool has_slot = is_read && runner_job_has_slot(r, &job->signal);
    if (has_slot && !runs) {
        runner_job_enlist(job);
        runner_job_run_next_step(job);
        return;
    }
    if (runs)
        bus_queue_release(r->link, item->ticket, BACK_MAX_MS);
    else if (is_read)
        bus_queue_release(r->link, item->ticket, RETRY_MS);
    else
        bus_queue_finish(r->link, item->ticket, NULL, NULL);
    arena_fini(&job->arena);
    free(job);
}
