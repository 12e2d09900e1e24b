/* SPDX-License-Identifier: MIT
 * Owns the lives of an instance's process: their beginning, whether they hang, their end and what
 * is told of it, and when the next begins. */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
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

/* ---- birth ---- */

static int64_t watch_ms(const struct guest *g)
{
    const int64_t quarter = g->callback_ms / 4;
    return quarter < 5 ? 5 : quarter < WATCH_MAX_MS ? quarter : WATCH_MAX_MS;
}

static void on_ready(void *arg, unsigned ready)
{
    struct guest *const g = arg;
    intake_release_awaited(g);
    if (ready & LOOP_READ)
        intake_read(g);
    if (g->gone || g->broke)
        life_end(g);
    else
        traffic_flush(g);
}

static void on_output(void *arg, unsigned ready)
{
    (void)ready;
    output_read(arg);
}

static void send_setup(struct guest *g)
{
    g->setup.last_letter = g->last_letter;
    g->setup.dir_full = limits_is_full(g->limits);
    const size_t begun = frame_begin(&g->out, FRAME_SETUP);
    frame_pack_setup(&g->out, &g->setup);
    frame_end(&g->out, begun);
    traffic_write(g);
}

int life_begin(struct guest *g, struct tc_err *err)
{
    int fd;
    g->gauge = gauge_new_shared(RING_SHARED, &fd, err);
    if (!g->gauge)
        return -1;
    int rc = ring_map(&g->ring, fd, GAUGE_SHARED, err);
    rc = rc ? rc : spawn_start(&g->spawn, g->name, fd, g->loaded->fd, g->prints, err);
    close(fd);
    if (rc < 0) {
        ring_unmap(&g->ring);
        gauge_unmap(g->gauge);
        g->gauge = NULL;
        return -1;
    }
    g->socket = loop_fd_new(g->host.loop, g->spawn.socket, LOOP_READ, on_ready, g);
    g->output = loop_fd_new(g->host.loop, g->spawn.output, LOOP_READ, on_output, g);
    if (g->spawn.printed >= 0)
        g->print = print_new(g->host.loop, g->spawn.printed, g->label);
    g->stage = GUEST_STARTING;
    g->gone = g->hung = g->stop_sent = g->recycled = g->was_held = false;
    g->broke = NULL;
    g->peak = 0;
    free(g->refused);
    g->refused = NULL;
    g->began_ms = g->waits_ms = clock_mono_ms();
    loop_timer_set(g->watch, watch_ms(g));
    loop_timer_set(g->revive, -1);
    limits_begin(g->limits, g->spawn.pid);
    send_setup(g);
    return 0;
}

static void note_peak(struct guest *g)
{
    const int64_t peak = spawn_peak(&g->spawn);
    g->peak = peak > g->peak ? peak : g->peak;
}

void life_tell_change(struct guest *g)
{
    if (g->host.changed)
        g->host.changed(g->host.ctx);
}

void life_stop_held(struct guest *g)
{
    if (g->stage == GUEST_RUNNING && g->closing && guest_is_held(g))
        traffic_stop(g);
}

void life_started(struct guest *g)
{
    g->stage = GUEST_RUNNING;
    g->waits_ms = clock_mono_ms();
    g->died_ms = 0;
    g->ever_started = true;
    if (g->pardoned)
        g->revival = (struct revival){0};
    g->pardoned = false;
    note_peak(g);
    life_stop_held(g);
    traffic_flush_soon(g);
    life_tell_change(g);
}

/* ---- does it live? ---- */

void life_break(struct guest *g, const char *why)
{
    if (!g->broke)
        g->broke = why;
}

static void hang(struct guest *g, const char *what, int64_t ms, int64_t allowed)
{
    log_line(LOG_ERR, g->label, "hangs in %s for %" PRId64 " ms (%" PRId64 " are allowed)", what,
             ms, allowed);
    g->hung = true;
}

/* What the gauge may say: any time of this life. */
static int64_t clamp_time(const struct guest *g, int64_t ms, int64_t now)
{
    return ms < g->began_ms ? g->began_ms : ms > now ? now : ms;
}

/* How much more it says it has done; it cannot be more than it was sent. */
static uint64_t done_since(const struct guest *g)
{
    return atomic_load(&g->gauge->handled) - g->handled;
}

/* A question of its own waits for the host: that is not its fault. */
static void look(struct guest *g)
{
    const int64_t now = g->looked_ms = clock_mono_ms();
    int64_t since;
    const char *const callback = gauge_running(g->gauge, &since);
    const uint64_t handled = atomic_load(&g->gauge->handled);
    since = clamp_time(g, since, now);
    if (spawn_has_ended(&g->spawn))
        g->gone = true; /* who has its socket now is not it */
    if (done_since(g) > g->sent.count)
        life_break(g, "a gauge that cannot be");
    if (!ring_is_sane(&g->ring))
        life_break(g, "a place in its ring that cannot be");
    intake_refuse_late(g);
    if (handled != g->seen_handled || g->questions || guest_is_held(g))
        g->waits_ms = now;
    g->seen_handled = handled;
    if (g->questions || g->gone || g->broke || (guest_is_held(g) && g->stage != GUEST_STARTING))
        return;
    if (g->stage == GUEST_STARTING) {
        if (now - g->began_ms > g->init_ms)
            hang(g, callback ? callback : "its start", now - g->began_ms, g->init_ms);
    } else if (callback) {
        if (now - since > g->callback_ms)
            hang(g, callback, now - since, g->callback_ms);
        else if (g->sent.count && now - g->waits_ms > STALL * g->callback_ms)
            hang(g, "callbacks", now - g->waits_ms, STALL * g->callback_ms);
    } else if ((g->sent.count || g->stage == GUEST_STOPPING) &&
               now - g->waits_ms > 2 * g->callback_ms) {
        hang(g, "no callback", now - g->waits_ms, 2 * g->callback_ms);
    }
}

static void ping(struct guest *g)
{
    const int64_t now = clock_mono_ms();
    if (g->stage == GUEST_RUNNING && !g->sent.count && now - g->waits_ms > PING_MS)
        traffic_ping(g);
}

/* Too much memory is a fault that grows: it begins anew when it has nothing to do. */
static void recycle(struct guest *g)
{
    if (g->stage != GUEST_RUNNING || !g->setup.memory || !traffic_is_idle(g) || g->questions)
        return;
    const int64_t rss = spawn_rss(&g->spawn);
    const bool has_room = limits_has_room_again(g->limits);
    if (rss <= g->setup.memory && !has_room)
        return;
    if (has_room)
        log_line(LOG_INFO, g->label,
                 "its folder has room again: it ends and starts again, and may write there");
    else
        log_line(LOG_WARN, g->label,
                 "takes %" PRId64 " MiB (%" PRId64 " are allowed): it ends and starts again",
                 rss >> 20, g->setup.memory >> 20);
    g->recycled = true;
    traffic_stop(g);
}

void life_watch(struct guest *g)
{
    if (!guest_has_process(g))
        return;
    note_peak(g);
    look(g);
    if (g->hung || g->gone || g->broke) {
        life_end(g);
        return;
    }
    limits_look(g->limits);
    recycle(g);
    ping(g);
    if (revival_lives(&g->revival, g->began_ms, clock_mono_ms()))
        log_line(LOG_WARN, g->label, "has lived long enough to be trusted again");
    loop_timer_set(g->watch, watch_ms(g));
}

/* ---- death ---- */

/* What it had read and not yet said is still in the socket. */
static void read_last_words(struct guest *g)
{
    if (g->ever_started && !guest_is_held(g))
        intake_release(g);
    for (int i = 0; i < LAST_WORDS && !g->gone && !g->broke; i++) {
        struct pollfd fd = {.fd = g->spawn.socket, .events = POLLIN};
        if (poll(&fd, 1, 0) <= 0)
            break;
        intake_read(g);
    }
}

/* One that claims more than it was sent is believed nothing. */
static void settle_by_gauge(struct guest *g)
{
    const uint64_t handled = atomic_load(&g->gauge->handled);
    if (handled - g->handled <= g->sent.count)
        traffic_done(g, handled);
}

static struct batch *new_batch(const struct guest_turn *turn, enum batch_settles settles)
{
    struct batch *const b = xcalloc(1, sizeof *b);
    b->turn = xstrdup(turn ? turn->named.id : "");
    b->settles = settles;
    return b;
}

/* It will not see the end, or has not got to say that it has: the host is told so, when what is
 * given up was the last of the turn. */
static void close_turn(struct guest *g, struct guest_turn *t)
{
    if (!t || t->closed || !t->done || t->letters || t->tasks > 1)
        return;
    t->closed = t->over = true;
    if (!g->host.batch)
        return;
    struct batch *const b = new_batch(t, BATCH_NOTHING);
    b->over = true;
    g->host.batch(g->host.ctx, b);
}

static void give_up_event(struct guest *g, struct guest_turn *turn, struct event_box *box)
{
    const enum tc_kind kind = event_box_get(box)->kind;
    turn->lost = turn->lost || kind == TC_START;
    if (g->host.batch && g->delivers && (kind == TC_FINAL || kind == TC_ERROR)) {
        struct batch *const b = new_batch(turn, BATCH_OUTCOME);
        b->failed = true;
        g->host.batch(g->host.ctx, b);
        return;
    }
    g->before.dropped++;
    if (g->host.bury)
        g->host.bury(g->host.ctx, turn->named.id, box, POISON_DEATHS);
    if (kind == TC_DONE)
        close_turn(g, turn);
}

static void give_up_reply(struct guest *g, const struct task *t)
{
    const struct letter_reply *const r = t->mail->reply;
    intake_give_up_reply(g, t);
    if (!g->host.batch)
        return;
    struct batch *const b = new_batch(t->turn, BATCH_LETTER);
    b->failed = true;
    b->letter = r->letter;
    b->verdict = (struct tc_verdict){.next = TC_NEXT_FAIL,
                                     .reason = xstrdup("the connector dies of the answer")};
    g->host.batch(g->host.ctx, b);
    close_turn(g, t->turn);
}

/* What kills each of its lives is given up: an outcome, a reply, an event become dead letters. */
static void give_up(struct guest *g, struct task *t)
{
    log_line(LOG_ERR, g->label, "%s of turn %s has ended it %d times and is given up",
             t->type == FRAME_EVENT   ? kind_name(event_box_get(t->box)->kind)
             : t->type == FRAME_REPLY ? "a reply"
                                      : "a request from outside",
             t->turn ? t->turn->named.id : "(none)", POISON_DEATHS);
    if (t->type == FRAME_EVENT)
        give_up_event(g, t->turn, t->box);
    else if (t->type == FRAME_REPLY)
        give_up_reply(g, t);
}

/* These are not about what it was sent, though something may wait. */
static bool is_its_own(const char *callback)
{
    static const int own[] = {GAUGE_WAKE, GAUGE_IDLE, GAUGE_INIT, GAUGE_TEARDOWN};
    for (size_t i = 0; callback && i < sizeof own / sizeof *own; i++)
        if (strcmp(callback, gauge_callback_name(own[i])) == 0)
            return true;
    return false;
}

static void blame(struct guest *g, const struct guest_death *d)
{
    struct task *const t = traffic_current(g);
    if (!t || t->settled || is_its_own(d->callback) || !(d->callback || g->hung || g->broke) ||
        ++t->deaths < POISON_DEATHS)
        return;
    give_up(g, t);
    traffic_drop_current(g);
}

static void add_up(struct guest *g)
{
    const struct gauge_times times = gauge_times(g->gauge);
    g->before.delivered += gauge_delivered(g->gauge);
    g->before.failed += gauge_failed(g->gauge);
    for (size_t i = 0; i < GAUGE_BUCKETS; i++)
        g->before.times.counts[i] += times.counts[i];
    g->before.times.sum_us += times.sum_us;
}

static void release(struct guest *g)
{
    output_flush(g);
    loop_fd_free(g->socket);
    loop_fd_free(g->output);
    g->socket = g->output = NULL;
    print_finish(g->print, g->closing ? PRINT_MS : 0);
    g->print = NULL;
    ring_unmap(&g->ring);
    gauge_unmap(g->gauge);
    g->gauge = NULL;
    g->broke = NULL; /* what is flushed until the next life is not to end this one again */
    loop_timer_set(g->watch, -1);
    loop_timer_set(g->flush, -1);
    g->flush_set = g->gathered = false;
}

static size_t left(const struct guest *g)
{
    return g->backlog.stats.events + g->again.count + g->mail.count;
}

/* At the end it lives again for what is left, as long as it gets on with that. */
static int64_t last_life_ms(struct guest *g, const struct guest_death *d)
{
    g->vain = d->handled ? 0 : g->vain + 1;
    if (traffic_is_idle(g) || guest_is_held(g))
        return -1;
    if (g->vain <= POISON_DEATHS)
        return 0;
    log_line(LOG_ERR, g->label, "ends without having seen %zu events and answers", left(g));
    return -1;
}

/* What follows: the end, another life at once, or one later. */
static int64_t next_life_ms(struct guest *g, const struct guest_death *d)
{
    const bool ended_well = g->stop_sent && !g->hung && !d->end.by_signal && d->end.code == 0;
    if (g->unwanted || !g->ever_started || (ended_well && !g->recycled))
        return -1;
    if (g->closing)
        return last_life_ms(g, d);
    g->pardoned = false;
    return ended_well ? 0 : revival_died(&g->revival, g->began_ms, clock_mono_ms());
}

static void tell_death(struct guest *g, const struct guest_death *d, int64_t next_ms)
{
    char then[80] = "";
    if (g->unwanted || !g->ever_started ||
        (g->stop_sent && !d->end.by_signal && d->end.code == 0 && !g->hung))
        return;
    if (g->revival.open)
        snprintf(then, sizeof then, "; it dies too often, and is tried once in %" PRId64 " s",
                 next_ms / 1000);
    else if (next_ms >= 0)
        snprintf(then, sizeof then, "; starts again in %" PRId64 " ms", next_ms);
    death_report(g, then);
}

static void wait_for_life(struct guest *g, int64_t ms)
{
    const int64_t now = clock_mono_ms();
    if (ms > 0 && !g->died_ms)
        g->died_ms = now;
    g->next_ms = now + ms;
    loop_timer_set(g->revive, ms);
}

/* Its process is killed: what is left is to reap it. All it did is known; how it ended is not. */
static void note_death(struct guest *g)
{
    struct guest_death *const d = &g->death;
    int64_t since;
    *d = (struct guest_death){.lived_ms = clock_mono_ms() - g->began_ms};
    note_peak(g);
    read_last_words(g);
    output_read(g);
    d->callback = gauge_running(g->gauge, &since);
    gauge_copy_turn(g->gauge, d->turn);
    settle_by_gauge(g);
    d->handled = g->handled > 0;
    d->broke = g->broke;
    if (g->ever_started && !g->unwanted)
        blame(g, d);
    if (g->broke && !g->refused)
        g->refused = xasprintf("it sent %s", g->broke);
    add_up(g);
    intake_forget(g);
    traffic_recall(g);
}

/* Reaped. */
static void decide_next(struct guest *g)
{
    const struct guest_death *const d = &g->death;
    const int64_t next_ms = next_life_ms(g, d);
    tell_death(g, d, next_ms);
    g->before.deaths += !g->unwanted && g->ever_started && !(g->stop_sent && d->end.code == 0);
    g->stage = next_ms < 0 ? GUEST_ENDED : GUEST_DOWN;
    if (next_ms >= 0)
        wait_for_life(g, next_ms);
    life_tell_change(g);
}

void life_reap(struct guest *g)
{
    if (g->stage != GUEST_DYING)
        return;
    if (spawn_reap(&g->spawn, &g->death.end)) {
        loop_timer_set(g->revive, -1);
        decide_next(g);
        return;
    }
    loop_timer_set(g->revive, g->reap_ms);
    g->reap_ms = g->reap_ms * 2 < REAP_MAX_MS ? g->reap_ms * 2 : REAP_MAX_MS;
}

void life_end(struct guest *g)
{
    note_death(g);
    release(g);
    spawn_kill(&g->spawn);
    g->stage = GUEST_DYING;
    g->reap_ms = 1;
    life_reap(g);
}

void life_revive(struct guest *g)
{
    struct tc_err err = {0};
    if (g->stage != GUEST_DOWN || life_begin(g, &err) == 0)
        return;
    const int64_t now = clock_mono_ms();
    const int64_t next_ms = revival_died(&g->revival, now, now);
    log_line(LOG_ERR, g->label, "does not start again: %s; tried in %" PRId64 " ms", err_str(&err),
             next_ms);
    wait_for_life(g, next_ms);
}

void life_kill(struct guest *g)
{
    g->unwanted = true; /* nothing follows, and nothing is told */
    if (guest_has_process(g)) {
        life_end(g);
    } else if (g->stage != GUEST_DYING) {
        g->stage = GUEST_ENDED;
        loop_timer_set(g->revive, -1);
    }
}

/* ---- without the loop ---- */

/* What it has handed over is taken before what it has done counts as done. */
bool life_catch_up(struct guest *g)
{
    const uint64_t handled = atomic_load(&g->gauge->handled), done = handled - g->handled;
    if (g->held || !done || done < g->sent.count / 2 || done > g->sent.count)
        return false;
    if (intake_read(g))
        traffic_done(g, handled);
    return true;
}

/* False: it has said nothing. */
static bool listen_to(struct guest *g, int ms)
{
    struct pollfd fds[] = {
        {.fd = g->spawn.socket, .events = (short)(POLLIN | (g->out.len ? POLLOUT : 0))},
        {.fd = g->spawn.output, .events = POLLIN},
        print_wants(g->print),
    };
    const bool any = poll(fds, 3, ms) > 0;
    if (fds[2].revents)
        print_pump(g->print);
    if (fds[1].revents)
        output_read(g);
    if (fds[0].revents & (POLLIN | POLLHUP | POLLERR))
        intake_read(g);
    return any;
}

/* As listen_to. Either this sees what it has done, or it sees that it is to say so. */
static bool await(struct guest *g, int ms)
{
    atomic_store(&g->gauge->awaited, true);
    return life_catch_up(g) || listen_to(g, ms);
}

void life_pump(struct guest *g, int ms)
{
    if (g->stage == GUEST_DOWN) {
        life_revive(g);
        if (g->stage == GUEST_DOWN)
            poll(NULL, 0, ms);
        return;
    }
    if (g->stage == GUEST_DYING) {
        life_reap(g);
        if (g->stage == GUEST_DYING && ms > 0)
            poll(NULL, 0, 1);
        return;
    }
    if (g->stage == GUEST_ENDED || g->stage == GUEST_NEW)
        return;
    const int step = (int)watch_ms(g);
    bool any = life_catch_up(g);
    traffic_flush(g);
    if (!any && ms > 0)
        any = await(g, ms < step ? ms : step);
    if (!g->gone && !g->broke && ((!any && ms > 0) || clock_mono_ms() - g->looked_ms >= step))
        look(g);
    if (g->gone || g->broke || g->hung)
        life_end(g);
    else
        traffic_write(g);
}

void life_explain(const struct guest *g, struct tc_err *err)
{
    if (g->refused)
        err_set(err, NULL, "%s", g->refused);
    else if (g->hung)
        err_set(err, NULL, "its init did not return within %" PRId64 " ms", g->init_ms);
    else
        err_set(err, NULL, "its process ended while it started");
}
