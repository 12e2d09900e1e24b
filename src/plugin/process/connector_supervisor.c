/* SPDX-License-Identifier: MIT
 * Supervisor of a connector process: start, readiness, hang detection, memory limit, kill,
 * restart with back-off. */
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

#define PING_MS ((int64_t)15000)
/* A process without progress for this multiple of a callback's deadline hangs, regardless of its
 * status page. */
#define STALL 20
#define WATCH_MAX_MS ((int64_t)1000)
#define REAP_MAX_MS 100 /* interval of checks whether a killed process has ended */
#define PRINT_MS 10000  /* at the end: how long to wait for the reader of the host's output */
#define LAST_WORDS 64   /* rounds of reading the remaining data in a dead process's socket */

void connector_supervisor_move(struct connector_process *g, enum connector_state_event event)
{
    g->sup.state = connector_state_next(g->sup.state, event);
}

/* ---- start ---- */

static int64_t watch_ms(const struct connector_process *g)
{
    const int64_t quarter = g->conf.callback_ms / 4;
    return quarter < 5 ? 5 : quarter < WATCH_MAX_MS ? quarter : WATCH_MAX_MS;
}

static void connector_supervisor_on_ready(void *arg, unsigned ready)
{
    struct connector_process *const g = arg;
    connector_reader_release_awaited(g);
    if (ready & LOOP_READ)
        connector_reader_read(g);
    if (g->reader.gone || g->sup.broke)
        connector_supervisor_handle_exit(g);
    else
        connector_writer_flush(g);
}

static void on_output(void *arg, unsigned ready)
{
    (void)ready;
    connector_log_pipe_read(arg);
}

void connector_supervisor_record_progress(struct connector_process *g)
{
    g->sup.progress_ms = clock_mono_ms();
}

void connector_supervisor_count_dropped(struct connector_process *g)
{
    g->sup.before.dropped++;
}

void connector_supervisor_set_refusal(struct connector_process *g, const char *why)
{
    ASSERT(!g->sup.refused);
    g->sup.refused = xstrdup(why);
}

static int connector_supervisor_spawn(struct connector_process *g, struct tc_err *err)
{
    int fd;
    g->sup.status = status_page_new_shared(RING_SHARED, &fd, err);
    if (!g->sup.status)
        return -1;
    int rc = connector_writer_attach(g, fd, err);
    rc = rc ? rc
            : connector_spawn_start(&g->sup.child, g->conf.name, fd, g->conf.plugin->fd,
                                    g->host.prints, err);
    close(fd);
    if (rc < 0) {
        connector_writer_detach(g);
        status_page_unmap(g->sup.status);
        g->sup.status = NULL;
        return -1;
    }
    return 0;
}

static int connector_supervisor_start(struct connector_process *g, struct tc_err *err)
{
    ASSERT(!g->sup.status && !g->sup.socket && !g->sup.output);
    if (connector_supervisor_spawn(g, err) < 0) {
        connector_supervisor_move(g, CONNECTOR_ON_FAIL);
        return -1;
    }
    connector_supervisor_move(g, CONNECTOR_ON_SPAWN);
    g->sup.socket =
        loop_fd_new(g->host.loop, g->sup.child.socket, LOOP_READ, connector_supervisor_on_ready, g);
    g->sup.output = loop_fd_new(g->host.loop, g->sup.child.output, LOOP_READ, on_output, g);
    if (g->sup.child.printed >= 0)
        g->sup.forwarder = stdout_forwarder_new(g->host.loop, g->sup.child.printed, g->conf.label);
    connector_reader_begin(g);
    g->sup.hung = g->sup.recycled = false;
    g->sup.broke = NULL;
    g->sup.peak_bytes = 0;
    free(g->sup.refused);
    g->sup.refused = NULL;
    g->sup.began_ms = g->sup.progress_ms = clock_mono_ms();
    loop_timer_set(g->sup.watch, watch_ms(g));
    loop_timer_set(g->sup.restart, -1);
    connector_limits_begin(g->conf.limits, g->sup.child.pid);
    connector_writer_send_setup(g);
    return 0;
}

static void connector_supervisor_update_peak(struct connector_process *g)
{
    const int64_t peak = connector_spawn_peak_bytes(&g->sup.child);
    g->sup.peak_bytes = peak > g->sup.peak_bytes ? peak : g->sup.peak_bytes;
}

/* The result of channel_ops.state may have changed. */
static void connector_supervisor_report_change(struct connector_process *g)
{
    if (g->host.changed)
        g->host.changed(g->host.ctx);
}

void connector_supervisor_stop_held(struct connector_process *g)
{
    if (g->sup.state == CONNECTOR_RUNNING && g->closing && connector_is_held(g))
        connector_writer_stop(g);
}

void connector_supervisor_set_running(struct connector_process *g)
{
    connector_supervisor_move(g, CONNECTOR_ON_READY);
    g->sup.progress_ms = clock_mono_ms();
    g->sup.died_ms = 0;
    g->sup.ever_started = true;
    if (g->sup.pardoned)
        g->sup.backoff = (struct restart_backoff){0};
    g->sup.pardoned = false;
    connector_supervisor_update_peak(g);
    connector_supervisor_stop_held(g);
    connector_writer_flush_soon(g);
    connector_supervisor_report_change(g);
}

/* ---- health checks ---- */

void connector_supervisor_fail(struct connector_process *g, const char *why)
{
    if (!g->sup.broke)
        g->sup.broke = why;
}

/* `key` is the option that sets the limit. */
static void connector_supervisor_kill_hung(struct connector_process *g, const char *what,
                                           int64_t ms, int64_t limit_ms, const char *key)
{
    log_write(LOG_ERR, g->conf.label,
              "%s has not returned for %" PRId64 " ms (limit %" PRId64
              " ms, %s); killing the process",
              what, ms, limit_ms, key);
    g->sup.hung = true;
}

/* Limits a time from the status page to the lifetime of this process. */
static int64_t clamp_time(const struct connector_process *g, int64_t ms, int64_t now)
{
    return ms < g->sup.began_ms ? g->sup.began_ms : ms > now ? now : ms;
}

/* Number of tasks that the process has handled since the last confirmation, from the status page;
 * at most the number of sent tasks. */
static uint64_t connector_supervisor_unconfirmed_count(const struct connector_process *g)
{
    return atomic_load(&g->sup.status->handled) - g->writer.handled;
}

/* A pending call to the host is not the process's fault. */
static void connector_supervisor_check_progress(struct connector_process *g)
{
    const int64_t now = g->sup.looked_ms = clock_mono_ms();
    int64_t since;
    const char *const callback = status_page_running_callback(g->sup.status, &since);
    const uint64_t handled = atomic_load(&g->sup.status->handled);
    since = clamp_time(g, since, now);
    if (connector_spawn_has_exited(&g->sup.child))
        connector_reader_set_gone(g); /* another process may still have its socket */
    if (connector_supervisor_unconfirmed_count(g) > g->writer.sent.count)
        connector_supervisor_fail(g, "invalid counters in the status page");
    if (!shm_ring_is_reader_valid(&g->writer.ring))
        connector_supervisor_fail(g, "invalid read position in the ring buffer");
    connector_calls_refuse_expired(g);
    if (handled != g->sup.seen_handled || g->calls.pending || connector_is_held(g))
        g->sup.progress_ms = now;
    g->sup.seen_handled = handled;
    if (g->calls.pending || g->reader.gone || g->sup.broke ||
        (connector_is_held(g) && g->sup.state != CONNECTOR_STARTING))
        return;
    if (g->sup.state == CONNECTOR_STARTING) {
        if (now - g->sup.began_ms > g->conf.init_ms)
            connector_supervisor_kill_hung(g, callback ? callback : "start-up",
                                           now - g->sup.began_ms, g->conf.init_ms, "init_ms");
    } else if (callback) {
        if (now - since > g->conf.callback_ms)
            connector_supervisor_kill_hung(g, callback, now - since, g->conf.callback_ms,
                                           "callback_ms");
        else if (g->writer.sent.count && now - g->sup.progress_ms > STALL * g->conf.callback_ms)
            connector_supervisor_kill_hung(g, "callbacks", now - g->sup.progress_ms,
                                           STALL * g->conf.callback_ms, "callback_ms");
    } else if ((g->writer.sent.count || g->sup.state == CONNECTOR_STOPPING) &&
               !atomic_load(&g->sup.status->holds) &&
               now - g->sup.progress_ms > 2 * g->conf.callback_ms) {
        connector_supervisor_kill_hung(g, "the main loop of the process", now - g->sup.progress_ms,
                                       2 * g->conf.callback_ms, "callback_ms");
    }
}

static void connector_supervisor_ping_idle(struct connector_process *g)
{
    const int64_t now = clock_mono_ms();
    if (g->sup.state == CONNECTOR_RUNNING && !g->writer.sent.count &&
        now - g->sup.progress_ms > PING_MS)
        connector_writer_ping(g);
}

/* Memory usage is growing: restarts the process when it is idle. */
static void connector_supervisor_restart_grown(struct connector_process *g)
{
    if (g->sup.state != CONNECTOR_RUNNING || !g->conf.setup.memory ||
        !connector_writer_is_idle(g) || g->calls.pending)
        return;
    const int64_t rss = connector_spawn_rss_bytes(&g->sup.child);
    const bool has_room = connector_limits_has_disk_room_again(g->conf.limits);
    if (rss <= g->conf.setup.memory && !has_room)
        return;
    if (has_room)
        log_write(LOG_INFO, g->conf.label,
                  "disk usage is below disk_mb again; restarting the process with write access");
    else
        log_write(LOG_WARN, g->conf.label,
                  "resident memory %" PRId64 " MiB exceeds memory_mb = %" PRId64
                  "; restarting the process",
                  rss >> 20, g->conf.setup.memory >> 20);
    g->sup.recycled = true;
    connector_writer_stop(g);
}

/* Checks whether it hangs. */
static void connector_supervisor_check(struct connector_process *g)
{
    if (!connector_has_process(g))
        return;
    connector_supervisor_update_peak(g);
    connector_supervisor_check_progress(g);
    if (g->sup.hung || g->reader.gone || g->sup.broke) {
        connector_supervisor_handle_exit(g);
        return;
    }
    connector_limits_check(g->conf.limits);
    connector_supervisor_restart_grown(g);
    connector_supervisor_ping_idle(g);
    if (restart_backoff_check_recovery(&g->sup.backoff, g->sup.began_ms, clock_mono_ms()))
        log_write(LOG_INFO, g->conf.label, "process is stable again; crash counter reset");
    loop_timer_set(g->sup.watch, watch_ms(g));
}

/* ---- death ---- */

/* The last frames of the process are still in the socket. */
static void connector_supervisor_read_remaining(struct connector_process *g)
{
    if (g->sup.ever_started && !connector_is_held(g))
        connector_reader_resume(g);
    for (int i = 0; i < LAST_WORDS && !g->reader.gone && !g->sup.broke; i++) {
        struct pollfd fd = {.fd = g->sup.child.socket, .events = POLLIN};
        if (poll(&fd, 1, 0) <= 0)
            break;
        connector_reader_read(g);
    }
}

/* If a process claims more progress than possible, all of its claims are ignored. */
static void connector_supervisor_confirm_handled(struct connector_process *g)
{
    const uint64_t handled = atomic_load(&g->sup.status->handled);
    if (handled - g->writer.handled <= g->writer.sent.count)
        connector_writer_confirm(g, handled);
}

static void connector_supervisor_add_totals(struct connector_process *g)
{
    const struct callback_histogram times = status_page_histogram(g->sup.status);
    g->sup.before.delivered += status_page_get_delivered(g->sup.status);
    g->sup.before.failed += status_page_get_failed(g->sup.status);
    for (size_t i = 0; i < STATUS_BUCKETS; i++)
        g->sup.before.times.counts[i] += times.counts[i];
    g->sup.before.times.sum_us += times.sum_us;
}

static void connector_supervisor_release(struct connector_process *g)
{
    connector_log_pipe_flush(g);
    loop_fd_free(g->sup.socket);
    loop_fd_free(g->sup.output);
    g->sup.socket = g->sup.output = NULL;
    stdout_forwarder_finish(g->sup.forwarder, g->closing ? PRINT_MS : 0);
    g->sup.forwarder = NULL;
    status_page_unmap(g->sup.status);
    g->sup.status = NULL;
    g->sup.broke = NULL; /* flushing tasks until the restart must not end the next process */
    loop_timer_set(g->sup.watch, -1);
    connector_writer_detach(g);
}

static size_t connector_supervisor_count_undelivered(const struct connector_process *g)
{
    return g->writer.backlog.stats.events + g->writer.again.count + g->writer.control.count;
}

/* While the instance ends, restarts the process for remaining tasks as long as it makes progress.
 * Result as connector_supervisor_restart_delay_ms. */
static int64_t connector_supervisor_final_restart_ms(struct connector_process *g,
                                                     const struct connector_exit *d)
{
    g->sup.futile_lives = d->handled ? 0 : g->sup.futile_lives + 1;
    if (connector_writer_is_idle(g) || connector_is_held(g))
        return -1;
    if (g->sup.futile_lives <= POISON_DEATHS)
        return 0;
    log_write(LOG_ERR, g->conf.label, "stopped; undelivered events and responses: %zu",
              connector_supervisor_count_undelivered(g));
    return -1;
}

static bool connector_supervisor_has_exited_cleanly(const struct connector_process *g,
                                                    const struct connector_exit *d)
{
    return d->stopped && !g->sup.hung && !d->end.by_signal && d->end.code == 0;
}

/* Delay of the next start; 0: at once, -1: never. */
static int64_t connector_supervisor_restart_delay_ms(struct connector_process *g,
                                                     const struct connector_exit *d)
{
    const bool ended_well = connector_supervisor_has_exited_cleanly(g, d);
    if (g->sup.unwanted || !g->sup.ever_started || (ended_well && !g->sup.recycled))
        return -1;
    if (g->closing)
        return connector_supervisor_final_restart_ms(g, d);
    g->sup.pardoned = false;
    return ended_well
               ? 0
               : restart_backoff_record_death(&g->sup.backoff, g->sup.began_ms, clock_mono_ms());
}

static void connector_supervisor_log_death(struct connector_process *g,
                                           const struct connector_exit *d, int64_t next_ms)
{
    char then[80] = "";
    if (g->sup.unwanted || !g->sup.ever_started || connector_supervisor_has_exited_cleanly(g, d))
        return;
    if (g->sup.backoff.open)
        snprintf(then, sizeof then, "; crashing repeatedly, next start in %" PRId64 " s",
                 next_ms / 1000);
    else if (next_ms >= 0)
        snprintf(then, sizeof then, "; restarting in %" PRId64 " ms", next_ms);
    connector_exit_report(g, then);
}

static void connector_supervisor_schedule_restart(struct connector_process *g, int64_t ms)
{
    const int64_t now = clock_mono_ms();
    if (ms > 0 && !g->sup.died_ms)
        g->sup.died_ms = now;
    g->sup.next_ms = now + ms;
    loop_timer_set(g->sup.restart, ms);
}

/* The process was killed and only has to be reaped. Its progress is known; its exit status is
 * not. */
static void connector_supervisor_record_exit(struct connector_process *g)
{
    struct connector_exit *const d = &g->sup.exit;
    int64_t since;
    *d = (struct connector_exit){.lived_ms = clock_mono_ms() - g->sup.began_ms};
    connector_supervisor_update_peak(g);
    connector_supervisor_read_remaining(g);
    connector_log_pipe_read(g);
    d->callback = status_page_running_callback(g->sup.status, &since);
    status_page_copy_turn(g->sup.status, d->turn);
    connector_supervisor_confirm_handled(g);
    d->handled = g->writer.handled > 0;
    d->broke = g->sup.broke;
    d->stopped = g->sup.state == CONNECTOR_STOPPING;
    if (g->sup.ever_started && !g->sup.unwanted)
        connector_dead_letter_check_oldest(g, d);
    if (g->sup.broke && !g->sup.refused)
        g->sup.refused = xasprintf("protocol violation: %s", g->sup.broke);
    connector_supervisor_add_totals(g);
    connector_reader_reset(g);
    connector_requeue_all(g);
}

/* Called when the process was reaped. */
static void connector_supervisor_decide_restart(struct connector_process *g)
{
    const struct connector_exit *const d = &g->sup.exit;
    const int64_t next_ms = connector_supervisor_restart_delay_ms(g, d);
    connector_supervisor_log_death(g, d, next_ms);
    g->sup.before.deaths +=
        !g->sup.unwanted && g->sup.ever_started && !(d->stopped && d->end.code == 0);
    connector_supervisor_move(g, next_ms < 0 ? CONNECTOR_ON_REAP : CONNECTOR_ON_RESTART);
    if (next_ms >= 0)
        connector_supervisor_schedule_restart(g, next_ms);
    connector_supervisor_report_change(g);
}

/* While DYING: checks whether it has ended. */
static void connector_supervisor_reap(struct connector_process *g)
{
    if (g->sup.state != CONNECTOR_DYING)
        return;
    if (connector_spawn_reap(&g->sup.child, &g->sup.exit.end)) {
        loop_timer_set(g->sup.restart, -1);
        connector_supervisor_decide_restart(g);
        return;
    }
    loop_timer_set(g->sup.restart, g->sup.reap_ms);
    g->sup.reap_ms = g->sup.reap_ms * 2 < REAP_MAX_MS ? g->sup.reap_ms * 2 : REAP_MAX_MS;
}

void connector_supervisor_handle_exit(struct connector_process *g)
{
    ASSERT(connector_has_process(g));
    connector_supervisor_record_exit(g);
    connector_supervisor_release(g);
    connector_spawn_kill(&g->sup.child);
    connector_supervisor_move(g, CONNECTOR_ON_EXIT);
    g->sup.reap_ms = 1;
    connector_supervisor_reap(g);
}

void connector_supervisor_restart(struct connector_process *g)
{
    struct tc_err err = {0};
    if (g->sup.state != CONNECTOR_DOWN || connector_supervisor_start(g, &err) == 0)
        return;
    const int64_t now = clock_mono_ms();
    const int64_t next_ms = restart_backoff_record_death(&g->sup.backoff, now, now);
    log_write(LOG_ERR, g->conf.label, "restart failed: %s; next attempt in %" PRId64 " ms",
              err_format(&err), next_ms);
    connector_supervisor_schedule_restart(g, next_ms);
}

void connector_supervisor_kill(struct connector_process *g)
{
    g->sup.unwanted = true; /* no restart, and no report */
    if (connector_has_process(g)) {
        connector_supervisor_handle_exit(g);
    } else if (g->sup.state == CONNECTOR_NEW || g->sup.state == CONNECTOR_DOWN) {
        connector_supervisor_move(g, CONNECTOR_ON_ABANDON);
        loop_timer_set(g->sup.restart, -1);
    }
}

/* ---- without the loop ---- */

/* Processes its output before its progress counts. */
bool connector_supervisor_sync_progress(struct connector_process *g)
{
    const uint64_t handled = atomic_load(&g->sup.status->handled),
                   done = handled - g->writer.handled;
    if (g->reader.release != CONNECTOR_RELEASED || !done || done < g->writer.sent.count / 2 ||
        done > g->writer.sent.count)
        return false;
    if (connector_reader_read(g))
        connector_writer_confirm(g, handled);
    return true;
}

/* False: no data. */
static bool connector_supervisor_wait_for_data(struct connector_process *g, int ms)
{
    struct pollfd fds[] = {
        {.fd = g->sup.child.socket, .events = (short)(POLLIN | (g->writer.out.len ? POLLOUT : 0))},
        {.fd = g->sup.child.output, .events = POLLIN},
        stdout_forwarder_poll_spec(g->sup.forwarder),
    };
    const bool any = poll(fds, 3, ms) > 0;
    if (fds[2].revents)
        stdout_forwarder_pump(g->sup.forwarder);
    if (fds[1].revents)
        connector_log_pipe_read(g);
    if (fds[0].revents & (POLLIN | POLLHUP | POLLERR))
        connector_reader_read(g);
    return any;
}

/* Either the host sees the progress, or the process sees that it must notify. */
static bool connector_supervisor_wait_for_progress(struct connector_process *g, int ms)
{
    atomic_store(&g->sup.status->awaited, true);
    return connector_supervisor_sync_progress(g) || connector_supervisor_wait_for_data(g, ms);
}

void connector_supervisor_poll(struct connector_process *g, int ms)
{
    if (g->sup.state == CONNECTOR_DOWN) {
        connector_supervisor_restart(g);
        if (g->sup.state == CONNECTOR_DOWN)
            poll(NULL, 0, ms);
        return;
    }
    if (g->sup.state == CONNECTOR_DYING) {
        connector_supervisor_reap(g);
        if (g->sup.state == CONNECTOR_DYING && ms > 0)
            poll(NULL, 0, 1);
        return;
    }
    if (g->sup.state == CONNECTOR_ENDED || g->sup.state == CONNECTOR_NEW)
        return;
    const int step = (int)watch_ms(g);
    bool any = connector_supervisor_sync_progress(g);
    connector_writer_flush(g);
    if (!any && ms > 0)
        any = connector_supervisor_wait_for_progress(g, ms < step ? ms : step);
    if (!g->reader.gone && !g->sup.broke &&
        ((!any && ms > 0) || clock_mono_ms() - g->sup.looked_ms >= step))
        connector_supervisor_check_progress(g);
    if (g->reader.gone || g->sup.broke || g->sup.hung)
        connector_supervisor_handle_exit(g);
    else
        connector_writer_write(g);
}

void connector_supervisor_explain(const struct connector_process *g, struct tc_err *err)
{
    if (g->sup.refused)
        err_set(err, NULL, "%s", g->sup.refused);
    else if (g->sup.hung)
        err_set(err, NULL, "init did not return within %" PRId64 " ms (init_ms)", g->conf.init_ms);
    else
        err_set(err, NULL, "process exited during start-up; see the log");
}

/* ---- memory usage ---- */

static void connector_supervisor_on_watch(void *arg)
{
    connector_supervisor_check(arg);
}

static void connector_supervisor_on_restart(void *arg)
{
    struct connector_process *const g = arg;
    if (g->sup.state == CONNECTOR_DYING)
        connector_supervisor_reap(g);
    else
        connector_supervisor_restart(g);
}

void connector_supervisor_init(struct connector_process *g)
{
    g->sup.watch = loop_timer_new(g->host.loop, connector_supervisor_on_watch, g);
    g->sup.restart = loop_timer_new(g->host.loop, connector_supervisor_on_restart, g);
}

void connector_supervisor_fini(struct connector_process *g)
{
    ASSERT(!connector_has_process(g) && !g->sup.status);
    loop_timer_free(g->sup.watch);
    loop_timer_free(g->sup.restart);
    free(g->sup.refused);
}

void connector_supervisor_launch(struct connector_process *g)
{
    struct tc_err err = {0};
    if (connector_supervisor_start(g, &err) < 0)
        connector_supervisor_set_refusal(g, err_format(&err));
}

int connector_supervisor_restart_now(struct connector_process *g, struct tc_err *err)
{
    if (g->sup.state == CONNECTOR_DOWN && connector_supervisor_start(g, err) < 0)
        return -1;
    g->sup.pardoned = true;
    return 0;
}
