/* SPDX-License-Identifier: MIT
 * Supervisor of a connector process: start, readiness, hang detection, memory limit, kill,
 * restart with back-off, dead letters for events that kill it repeatedly. */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "plugin/process/connector_process.h"

#define POISON_DEATHS 3
#define PING_MS ((int64_t)15000)
#define STALL                                                                                      \
    20 /* deadlines of a callback without anything done: whatever the gauge says, it hangs */
#define WATCH_MAX_MS ((int64_t)1000)
#define REAP_MAX_MS 100 /* between two looks whether a killed process has ended */
#define PRINT_MS 10000  /* at the end: how long the reader of the host's output is waited for */
#define LAST_WORDS 64   /* rounds of reading what a dead process has left in its socket */

void connector_supervisor_move(struct connector_process *g, enum connector_state_event event)
{
    g->stage = connector_state_next(g->stage, event);
}

/* ---- birth ---- */

static int64_t watch_ms(const struct connector_process *g)
{
    const int64_t quarter = g->callback_ms / 4;
    return quarter < 5 ? 5 : quarter < WATCH_MAX_MS ? quarter : WATCH_MAX_MS;
}

static void connector_supervisor_on_ready(void *arg, unsigned ready)
{
    struct connector_process *const g = arg;
    intake_release_awaited(g);
    if (ready & LOOP_READ)
        connector_reader_read(g);
    if (g->gone || g->broke)
        connector_supervisor_handle_exit(g);
    else
        connector_writer_flush(g);
}

static void on_output(void *arg, unsigned ready)
{
    (void)ready;
    connector_log_pipe_read(arg);
}

static void send_setup(struct connector_process *g)
{
    g->setup.last_letter = g->last_letter;
    g->setup.dir_full = connector_limits_is_full(g->limits);
    const size_t begun = ipc_frame_begin(&g->out, IPC_SETUP);
    ipc_frame_pack_setup(&g->out, &g->setup);
    ipc_frame_end(&g->out, begun);
    connector_writer_write(g);
}

static int start_process_of(struct connector_process *g, struct tc_err *err)
{
    int fd;
    g->gauge = status_page_new_shared(RING_SHARED, &fd, err);
    if (!g->gauge)
        return -1;
    int rc = shm_ring_map(&g->ring, fd, GAUGE_SHARED, err);
    rc = rc ? rc : connector_spawn_start(&g->spawn, g->name, fd, g->loaded->fd, g->prints, err);
    close(fd);
    if (rc < 0) {
        shm_ring_unmap(&g->ring);
        status_page_unmap(g->gauge);
        g->gauge = NULL;
        return -1;
    }
    return 0;
}

int connector_supervisor_start(struct connector_process *g, struct tc_err *err)
{
    ASSERT(!g->gauge && !g->socket && !g->output);
    if (start_process_of(g, err) < 0) {
        connector_supervisor_move(g, CONNECTOR_ON_FAIL);
        return -1;
    }
    connector_supervisor_move(g, CONNECTOR_ON_SPAWN);
    g->socket =
        loop_fd_new(g->host.loop, g->spawn.socket, LOOP_READ, connector_supervisor_on_ready, g);
    g->output = loop_fd_new(g->host.loop, g->spawn.output, LOOP_READ, on_output, g);
    if (g->spawn.printed >= 0)
        g->print = stdout_forwarder_new(g->host.loop, g->spawn.printed, g->label);
    g->gone = g->hung = g->recycled = g->start_seen = false;
    g->broke = NULL;
    g->peak = 0;
    free(g->refused);
    g->refused = NULL;
    g->began_ms = g->waits_ms = clock_mono_ms();
    loop_timer_set(g->watch, watch_ms(g));
    loop_timer_set(g->revive, -1);
    connector_limits_begin(g->limits, g->spawn.pid);
    send_setup(g);
    return 0;
}

static void note_peak(struct connector_process *g)
{
    const int64_t peak = connector_spawn_peak(&g->spawn);
    g->peak = peak > g->peak ? peak : g->peak;
}

void life_tell_change(struct connector_process *g)
{
    if (g->host.changed)
        g->host.changed(g->host.ctx);
}

void life_stop_held(struct connector_process *g)
{
    if (g->stage == CONNECTOR_RUNNING && g->closing && guest_is_held(g))
        connector_writer_stop(g);
}

void connector_supervisor_set_running(struct connector_process *g)
{
    connector_supervisor_move(g, CONNECTOR_ON_READY);
    g->waits_ms = clock_mono_ms();
    g->died_ms = 0;
    g->ever_started = true;
    if (g->pardoned)
        g->revival = (struct restart_backoff){0};
    g->pardoned = false;
    note_peak(g);
    life_stop_held(g);
    connector_writer_flush_soon(g);
    life_tell_change(g);
}

/* ---- does it live? ---- */

void connector_supervisor_fail(struct connector_process *g, const char *why)
{
    if (!g->broke)
        g->broke = why;
}

static void connector_supervisor_hang(struct connector_process *g, const char *what, int64_t ms,
                                      int64_t allowed)
{
    log_write(LOG_ERR, g->label, "hangs in %s for %" PRId64 " ms (%" PRId64 " are allowed)", what,
              ms, allowed);
    g->hung = true;
}

/* What the gauge may say: any time of this life. */
static int64_t clamp_time(const struct connector_process *g, int64_t ms, int64_t now)
{
    return ms < g->began_ms ? g->began_ms : ms > now ? now : ms;
}

/* How much more it says it has done; it cannot be more than it was sent. */
static uint64_t done_since(const struct connector_process *g)
{
    return atomic_load(&g->gauge->handled) - g->handled;
}

/* A question of its own waits for the host: that is not its fault. */
static void connector_supervisor_look(struct connector_process *g)
{
    const int64_t now = g->looked_ms = clock_mono_ms();
    int64_t since;
    const char *const callback = status_page_running_callback(g->gauge, &since);
    const uint64_t handled = atomic_load(&g->gauge->handled);
    since = clamp_time(g, since, now);
    if (connector_spawn_has_exited(&g->spawn))
        g->gone = true; /* who has its socket now is not it */
    if (done_since(g) > g->sent.count)
        connector_supervisor_fail(g, "a gauge that cannot be");
    if (!shm_ring_is_reader_valid(&g->ring))
        connector_supervisor_fail(g, "a place in its ring that cannot be");
    connector_reader_refuse_expired(g);
    if (handled != g->seen_handled || g->questions || guest_is_held(g))
        g->waits_ms = now;
    g->seen_handled = handled;
    if (g->questions || g->gone || g->broke || (guest_is_held(g) && g->stage != CONNECTOR_STARTING))
        return;
    if (g->stage == CONNECTOR_STARTING) {
        if (now - g->began_ms > g->init_ms)
            connector_supervisor_hang(g, callback ? callback : "its start", now - g->began_ms,
                                      g->init_ms);
    } else if (callback) {
        if (now - since > g->callback_ms)
            connector_supervisor_hang(g, callback, now - since, g->callback_ms);
        else if (g->sent.count && now - g->waits_ms > STALL * g->callback_ms)
            connector_supervisor_hang(g, "callbacks", now - g->waits_ms, STALL * g->callback_ms);
    } else if ((g->sent.count || g->stage == CONNECTOR_STOPPING) &&
               now - g->waits_ms > 2 * g->callback_ms) {
        connector_supervisor_hang(g, "no callback", now - g->waits_ms, 2 * g->callback_ms);
    }
}

static void ping(struct connector_process *g)
{
    const int64_t now = clock_mono_ms();
    if (g->stage == CONNECTOR_RUNNING && !g->sent.count && now - g->waits_ms > PING_MS)
        connector_writer_ping(g);
}

/* Too much memory is a fault that grows: it begins anew when it has nothing to do. */
static void recycle(struct connector_process *g)
{
    if (g->stage != CONNECTOR_RUNNING || !g->setup.memory || !connector_writer_is_idle(g) ||
        g->questions)
        return;
    const int64_t rss = connector_spawn_rss_bytes(&g->spawn);
    const bool has_room = connector_limits_has_room_again(g->limits);
    if (rss <= g->setup.memory && !has_room)
        return;
    if (has_room)
        log_write(LOG_INFO, g->label,
                  "its folder has room again: it ends and starts again, and may write there");
    else
        log_write(LOG_WARN, g->label,
                  "takes %" PRId64 " MiB (%" PRId64 " are allowed): it ends and starts again",
                  rss >> 20, g->setup.memory >> 20);
    g->recycled = true;
    connector_writer_stop(g);
}

void connector_supervisor_check(struct connector_process *g)
{
    if (!guest_has_process(g))
        return;
    note_peak(g);
    connector_supervisor_look(g);
    if (g->hung || g->gone || g->broke) {
        connector_supervisor_handle_exit(g);
        return;
    }
    connector_limits_look(g->limits);
    recycle(g);
    ping(g);
    if (restart_backoff_note_alive(&g->revival, g->began_ms, clock_mono_ms()))
        log_write(LOG_WARN, g->label, "has lived long enough to be trusted again");
    loop_timer_set(g->watch, watch_ms(g));
}

/* ---- death ---- */

/* What it had read and not yet said is still in the socket. */
static void read_last_words(struct connector_process *g)
{
    if (g->ever_started && !guest_is_held(g))
        connector_reader_resume(g);
    for (int i = 0; i < LAST_WORDS && !g->gone && !g->broke; i++) {
        struct pollfd fd = {.fd = g->spawn.socket, .events = POLLIN};
        if (poll(&fd, 1, 0) <= 0)
            break;
        connector_reader_read(g);
    }
}

/* One that claims more than it was sent is believed nothing. */
static void settle_by_gauge(struct connector_process *g)
{
    const uint64_t handled = atomic_load(&g->gauge->handled);
    if (handled - g->handled <= g->sent.count)
        connector_writer_confirm(g, handled);
}

static struct callback_batch *new_batch(const struct connector_turn *turn,
                                        enum batch_settlement settles)
{
    struct callback_batch *const b = xcalloc(1, sizeof *b);
    b->turn = xstrdup(turn ? turn->named.id : "");
    b->settles = settles;
    return b;
}

/* It will not see the end, or has not got to say that it has: the host is told so, when what is
 * given up was the last of the turn. */
static void connector_supervisor_close_turn(struct connector_process *g, struct connector_turn *t)
{
    if (!t || t->closed || !t->done || t->letters || t->tasks > 1)
        return;
    t->closed = t->over = true;
    if (!g->host.batch)
        return;
    struct callback_batch *const b = new_batch(t, BATCH_NOTHING);
    b->over = true;
    g->host.batch(g->host.ctx, b);
}

static void give_up_event(struct connector_process *g, struct connector_turn *turn,
                          struct shared_event *box)
{
    const enum tc_kind kind = shared_event_get(box)->kind;
    turn->lost = turn->lost || kind == TC_START;
    if (g->host.batch && g->delivers && (kind == TC_FINAL || kind == TC_ERROR)) {
        struct callback_batch *const b = new_batch(turn, BATCH_OUTCOME);
        b->failed = true;
        g->host.batch(g->host.ctx, b);
        return;
    }
    g->before.dropped++;
    if (g->host.bury)
        g->host.bury(g->host.ctx, turn->named.id, box, POISON_DEATHS);
    if (kind == TC_DONE)
        connector_supervisor_close_turn(g, turn);
}

static void give_up_reply(struct connector_process *g, const struct connector_task *t)
{
    const struct outbound_reply *const r = t->mail->reply;
    connector_reader_abandon_reply(g, t);
    if (!g->host.batch)
        return;
    struct callback_batch *const b = new_batch(t->turn, BATCH_LETTER);
    b->failed = true;
    b->letter = r->letter;
    b->verdict = (struct tc_verdict){.next = TC_NEXT_FAIL,
                                     .reason = xstrdup("the connector dies of the answer")};
    g->host.batch(g->host.ctx, b);
    connector_supervisor_close_turn(g, t->turn);
}

/* What kills each of its lives is given up: an outcome, a reply, an event become dead letters. */
static void connector_supervisor_drop_task(struct connector_process *g, struct connector_task *t)
{
    log_write(LOG_ERR, g->label, "%s of turn %s has ended it %d times and is given up",
              t->type == IPC_EVENT   ? kind_name(shared_event_get(t->box)->kind)
              : t->type == IPC_REPLY ? "a reply"
                                     : "a request from outside",
              t->turn ? t->turn->named.id : "(none)", POISON_DEATHS);
    if (t->type == IPC_EVENT)
        give_up_event(g, t->turn, t->box);
    else if (t->type == IPC_REPLY)
        give_up_reply(g, t);
}

/* These are not about what it was sent, though something may wait. */
static bool is_its_own(const char *callback)
{
    static const int own[] = {GAUGE_WAKE, GAUGE_IDLE, GAUGE_INIT, GAUGE_TEARDOWN};
    for (size_t i = 0; callback && i < sizeof own / sizeof *own; i++)
        if (strcmp(callback, callback_name(own[i])) == 0)
            return true;
    return false;
}

static void blame(struct connector_process *g, const struct guest_death *d)
{
    struct connector_task *const t = connector_writer_oldest_task(g);
    if (!t || t->settled || is_its_own(d->callback) || !(d->callback || g->hung || g->broke) ||
        ++t->deaths < POISON_DEATHS)
        return;
    connector_supervisor_drop_task(g, t);
    connector_writer_drop_oldest(g);
}

static void add_up(struct connector_process *g)
{
    const struct callback_histogram times = status_page_histogram(g->gauge);
    g->before.delivered += status_page_delivered(g->gauge);
    g->before.failed += status_page_failed(g->gauge);
    for (size_t i = 0; i < GAUGE_BUCKETS; i++)
        g->before.times.counts[i] += times.counts[i];
    g->before.times.sum_us += times.sum_us;
}

static void connector_supervisor_release(struct connector_process *g)
{
    connector_log_pipe_flush(g);
    loop_fd_free(g->socket);
    loop_fd_free(g->output);
    g->socket = g->output = NULL;
    stdout_forwarder_finish(g->print, g->closing ? PRINT_MS : 0);
    g->print = NULL;
    shm_ring_unmap(&g->ring);
    status_page_unmap(g->gauge);
    g->gauge = NULL;
    g->broke = NULL; /* what is flushed until the next life is not to end this one again */
    loop_timer_set(g->watch, -1);
    loop_timer_set(g->flush, -1);
    g->flush_set = g->gathered = false;
}

static size_t left(const struct connector_process *g)
{
    return g->backlog.stats.events + g->again.count + g->mail.count;
}

/* At the end it lives again for what is left, as long as it gets on with that. */
static int64_t last_life_ms(struct connector_process *g, const struct guest_death *d)
{
    g->vain = d->handled ? 0 : g->vain + 1;
    if (connector_writer_is_idle(g) || guest_is_held(g))
        return -1;
    if (g->vain <= POISON_DEATHS)
        return 0;
    log_write(LOG_ERR, g->label, "ends without having seen %zu events and answers", left(g));
    return -1;
}

/* What follows: the end, another life at once, or one later. */
static int64_t next_life_ms(struct connector_process *g, const struct guest_death *d)
{
    const bool ended_well = d->stopped && !g->hung && !d->end.by_signal && d->end.code == 0;
    if (g->unwanted || !g->ever_started || (ended_well && !g->recycled))
        return -1;
    if (g->closing)
        return last_life_ms(g, d);
    g->pardoned = false;
    return ended_well ? 0 : restart_backoff_note_death(&g->revival, g->began_ms, clock_mono_ms());
}

static void tell_death(struct connector_process *g, const struct guest_death *d, int64_t next_ms)
{
    char then[80] = "";
    if (g->unwanted || !g->ever_started ||
        (d->stopped && !d->end.by_signal && d->end.code == 0 && !g->hung))
        return;
    if (g->revival.open)
        snprintf(then, sizeof then, "; it dies too often, and is tried once in %" PRId64 " s",
                 next_ms / 1000);
    else if (next_ms >= 0)
        snprintf(then, sizeof then, "; starts again in %" PRId64 " ms", next_ms);
    death_report(g, then);
}

static void wait_for_life(struct connector_process *g, int64_t ms)
{
    const int64_t now = clock_mono_ms();
    if (ms > 0 && !g->died_ms)
        g->died_ms = now;
    g->next_ms = now + ms;
    loop_timer_set(g->revive, ms);
}

/* Its process is killed: what is left is to reap it. All it did is known; how it ended is not. */
static void note_death(struct connector_process *g)
{
    struct guest_death *const d = &g->death;
    int64_t since;
    *d = (struct guest_death){.lived_ms = clock_mono_ms() - g->began_ms};
    note_peak(g);
    read_last_words(g);
    connector_log_pipe_read(g);
    d->callback = status_page_running_callback(g->gauge, &since);
    status_page_copy_turn(g->gauge, d->turn);
    settle_by_gauge(g);
    d->handled = g->handled > 0;
    d->broke = g->broke;
    d->stopped = g->stage == CONNECTOR_STOPPING;
    if (g->ever_started && !g->unwanted)
        blame(g, d);
    if (g->broke && !g->refused)
        g->refused = xasprintf("it sent %s", g->broke);
    add_up(g);
    connector_reader_reset(g);
    connector_writer_requeue(g);
}

/* Reaped. */
static void decide_next(struct connector_process *g)
{
    const struct guest_death *const d = &g->death;
    const int64_t next_ms = next_life_ms(g, d);
    tell_death(g, d, next_ms);
    g->before.deaths += !g->unwanted && g->ever_started && !(d->stopped && d->end.code == 0);
    connector_supervisor_move(g, next_ms < 0 ? CONNECTOR_ON_REAP : CONNECTOR_ON_RESTART);
    if (next_ms >= 0)
        wait_for_life(g, next_ms);
    life_tell_change(g);
}

void life_reap(struct connector_process *g)
{
    if (g->stage != CONNECTOR_DYING)
        return;
    if (connector_spawn_reap(&g->spawn, &g->death.end)) {
        loop_timer_set(g->revive, -1);
        decide_next(g);
        return;
    }
    loop_timer_set(g->revive, g->reap_ms);
    g->reap_ms = g->reap_ms * 2 < REAP_MAX_MS ? g->reap_ms * 2 : REAP_MAX_MS;
}

void connector_supervisor_handle_exit(struct connector_process *g)
{
    ASSERT(guest_has_process(g));
    note_death(g);
    connector_supervisor_release(g);
    connector_spawn_kill(&g->spawn);
    connector_supervisor_move(g, CONNECTOR_ON_EXIT);
    g->reap_ms = 1;
    life_reap(g);
}

void connector_supervisor_restart(struct connector_process *g)
{
    struct tc_err err = {0};
    if (g->stage != CONNECTOR_DOWN || connector_supervisor_start(g, &err) == 0)
        return;
    const int64_t now = clock_mono_ms();
    const int64_t next_ms = restart_backoff_note_death(&g->revival, now, now);
    log_write(LOG_ERR, g->label, "does not start again: %s; tried in %" PRId64 " ms",
              err_format(&err), next_ms);
    wait_for_life(g, next_ms);
}

void connector_supervisor_kill(struct connector_process *g)
{
    g->unwanted = true; /* nothing follows, and nothing is told */
    if (guest_has_process(g)) {
        connector_supervisor_handle_exit(g);
    } else if (g->stage == CONNECTOR_NEW || g->stage == CONNECTOR_DOWN) {
        connector_supervisor_move(g, CONNECTOR_ON_ABANDON);
        loop_timer_set(g->revive, -1);
    }
}

/* ---- without the loop ---- */

/* What it has handed over is taken before what it has done counts as done. */
bool connector_supervisor_sync_progress(struct connector_process *g)
{
    const uint64_t handled = atomic_load(&g->gauge->handled), done = handled - g->handled;
    if (g->release != CONNECTOR_RELEASED || !done || done < g->sent.count / 2 ||
        done > g->sent.count)
        return false;
    if (connector_reader_read(g))
        connector_writer_confirm(g, handled);
    return true;
}

/* False: it has said nothing. */
static bool connector_supervisor_listen_to(struct connector_process *g, int ms)
{
    struct pollfd fds[] = {
        {.fd = g->spawn.socket, .events = (short)(POLLIN | (g->out.len ? POLLOUT : 0))},
        {.fd = g->spawn.output, .events = POLLIN},
        stdout_forwarder_wants(g->print),
    };
    const bool any = poll(fds, 3, ms) > 0;
    if (fds[2].revents)
        stdout_forwarder_pump(g->print);
    if (fds[1].revents)
        connector_log_pipe_read(g);
    if (fds[0].revents & (POLLIN | POLLHUP | POLLERR))
        connector_reader_read(g);
    return any;
}

/* As listen_to. Either this sees what it has done, or it sees that it is to say so. */
static bool await(struct connector_process *g, int ms)
{
    atomic_store(&g->gauge->awaited, true);
    return connector_supervisor_sync_progress(g) || connector_supervisor_listen_to(g, ms);
}

void connector_supervisor_poll(struct connector_process *g, int ms)
{
    if (g->stage == CONNECTOR_DOWN) {
        connector_supervisor_restart(g);
        if (g->stage == CONNECTOR_DOWN)
            poll(NULL, 0, ms);
        return;
    }
    if (g->stage == CONNECTOR_DYING) {
        life_reap(g);
        if (g->stage == CONNECTOR_DYING && ms > 0)
            poll(NULL, 0, 1);
        return;
    }
    if (g->stage == CONNECTOR_ENDED || g->stage == CONNECTOR_NEW)
        return;
    const int step = (int)watch_ms(g);
    bool any = connector_supervisor_sync_progress(g);
    connector_writer_flush(g);
    if (!any && ms > 0)
        any = await(g, ms < step ? ms : step);
    if (!g->gone && !g->broke && ((!any && ms > 0) || clock_mono_ms() - g->looked_ms >= step))
        connector_supervisor_look(g);
    if (g->gone || g->broke || g->hung)
        connector_supervisor_handle_exit(g);
    else
        connector_writer_write(g);
}

void life_explain(const struct connector_process *g, struct tc_err *err)
{
    if (g->refused)
        err_set(err, NULL, "%s", g->refused);
    else if (g->hung)
        err_set(err, NULL, "its init did not return within %" PRId64 " ms", g->init_ms);
    else
        err_set(err, NULL, "its process ended while it started");
}
