/* SPDX-License-Identifier: MIT
 * Channel to a connector process: the functions of channel_ops, on the loop. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/plural.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "conf/parse/option_list.h"
#include "conf/options/plugin_options.h"
#include "plugin/process/connector_process.h"

#define INIT_MS 10000
#define CALLBACK_MS 5000
/* With that many tasks waiting, an instance that does not run gets no new turns. */
#define GONE_FILL 4.0
#define PUMP_MS 100
#define REAP_MS 1000 /* time at the end for a killed process */
#define NEAR_EVENTS 1024.0

/* ---- turns and tasks ---- */

static void *channel_process_open_turn(struct channel *channel, const struct channel_turn *turn)
{
    struct connector_process *const g = connector_process_of(channel);
    const bool waits = g->sup.state != CONNECTOR_RUNNING && g->sup.state != CONNECTOR_STOPPING;
    if (g->closing || (waits && backlog_fill_ratio(&g->writer.backlog) >= GONE_FILL))
        return NULL;
    return connector_turns_open(g, turn);
}

static void channel_process_send_event(struct channel *channel, void *turn,
                                       struct shared_event *shared)
{
    const struct connector_turn *const t = turn;
    connector_writer_put_event(connector_process_of(channel), t->turn_backlog, shared);
}

static void channel_process_set_batching(struct channel *channel, bool on)
{
    struct connector_process *const g = connector_process_of(channel);
    connector_writer_set_batching(g, on);
}

static void channel_process_send_reply(struct channel *channel, void *turn,
                                       struct outbound_reply *r)
{
    connector_writer_put_control(connector_process_of(channel), IPC_REPLY, turn,
                                 control_msg_new_reply(turn, r));
}

static bool channel_process_is_up(const struct connector_process *g)
{
    return g->sup.state == CONNECTOR_STARTING || g->sup.state == CONNECTOR_RUNNING;
}

static void channel_process_send_hit(struct channel *channel, struct channel_hit *h)
{
    struct connector_process *const g = connector_process_of(channel);
    if (!channel_process_is_up(g) || g->closing) {
        h->answered(h->arg, NULL);
        channel_hit_free(h);
        return;
    }
    const uint64_t number = connector_calls_expect_answer(g, h);
    connector_writer_put_control(g, IPC_HIT, NULL, control_msg_new_hit(number, h));
}

/* Ignores a message of a socket of an earlier process. */
static void channel_process_send_socket_text(struct channel *channel, const struct tc_frame *frame)
{
    struct connector_process *const g = connector_process_of(channel);
    if (!channel_process_is_up(g) || (uint64_t)frame->socket <= g->reader.socket_base)
        return;
    if (frame->event == TC_SOCKET_CLOSED)
        connector_reader_count_closed_socket(g);
    struct tc_frame own = *frame;
    own.socket -= (int64_t)g->reader.socket_base;
    connector_writer_put_control(g, IPC_SOCKET, NULL, control_msg_new_socket_text(&own));
}

/* Throttles a replay source early, so that queued events are still in the cache when they are
 * consumed. */
static bool channel_process_is_fill_below(const struct connector_process *g, double part)
{
    const double near =
        (double)(g->writer.backlog.stats.events + g->writer.sent.count) / NEAR_EVENTS;
    const double fill = backlog_fill_ratio(&g->writer.backlog);
    return (near > fill ? near : fill) <= part;
}

/* Reads progress first, so that the process is woken only if there are more tasks. */
static bool channel_process_has_room(struct connector_process *g)
{
    return channel_process_is_fill_below(g, 0.5) ||
           (channel_process_is_up(g) && connector_supervisor_sync_progress(g) &&
            channel_process_is_fill_below(g, 0.5));
}

/* The host waits for the instance, so a call of the instance to the host must end. */
static bool channel_process_wait_for_room(struct channel *channel, int timeout_ms)
{
    struct connector_process *const g = connector_process_of(channel);
    connector_writer_flush_staged(g);
    if (channel_process_has_room(g))
        return true;
    connector_reader_resume(g);
    if (timeout_ms <= 0 && channel_process_is_up(g)) /* so that it works while others are awaited */
        connector_supervisor_poll(g, 0);
    const int64_t deadline_ms = clock_mono_ms() + timeout_ms;
    for (int64_t left = timeout_ms; left > 0 && !channel_process_is_fill_below(g, 0.25) &&
                                    !g->calls.pending && channel_process_is_up(g);
         left = deadline_ms - clock_mono_ms())
        connector_supervisor_poll(g, left < PUMP_MS ? (int)left : PUMP_MS);
    return channel_process_is_fill_below(g, 0.5) || g->calls.pending;
}

static struct channel_health channel_process_get_health(struct channel *channel)
{
    const struct connector_process *const g = connector_process_of(channel);
    struct channel_health h = g->sup.before;
    h.dropped += g->writer.backlog.stats.dropped;
    h.fill = backlog_fill_ratio(&g->writer.backlog);
    h.own_process = true;
    h.use = connector_limits_get_usage(g->conf.limits);
    h.down = g->sup.died_ms != 0;
    h.starting = !g->sup.ever_started;
    if (h.down) {
        const int64_t now = clock_mono_ms();
        h.open = g->sup.backoff.open;
        h.down_ms = now - g->sup.died_ms;
        h.next_ms =
            g->sup.state == CONNECTOR_DOWN && g->sup.next_ms > now ? g->sup.next_ms - now : 0;
    }
    if (!g->sup.status)
        return h;
    const struct callback_histogram times = status_page_histogram(g->sup.status);
    h.delivered += status_page_get_delivered(g->sup.status);
    h.failed += status_page_get_failed(g->sup.status);
    for (size_t i = 0; i < STATUS_BUCKETS; i++)
        h.times.counts[i] += times.counts[i];
    h.times.sum_us += times.sum_us;
    h.pid = g->sup.child.pid;
    h.rss = connector_spawn_rss_bytes(&g->sup.child);
    return h;
}

/* ---- end ---- */

static void log_killed(const struct connector_process *g)
{
    int64_t since;
    const char *const callback =
        g->sup.status ? status_page_running_callback(g->sup.status, &since) : NULL;
    const size_t lost =
        g->writer.backlog.stats.events + g->writer.again.count + g->writer.sent.count;
    log_write(LOG_ERR, g->conf.label, "did not stop in time (in %s); killed, %zu event%s lost",
              callback ? callback : "queue", lost, PLURAL(lost, "", "s"));
}

static void channel_process_stop(struct channel *channel)
{
    struct connector_process *const g = connector_process_of(channel);
    g->closing = true;
    connector_writer_flush_staged(g);
    backlog_stop_pacing(&g->writer.backlog);
    connector_calls_refuse_all(g);
    if (g->sup.state == CONNECTOR_NEW ||
        (g->sup.state == CONNECTOR_DOWN && connector_writer_is_idle(g)))
        connector_supervisor_kill(g);
    else if (g->sup.state == CONNECTOR_DOWN)
        connector_supervisor_restart(g);
    connector_supervisor_stop_held(g);
    connector_writer_flush_soon(g);
}

static bool channel_process_kill(struct channel *channel, bool is_late)
{
    struct connector_process *const g = connector_process_of(channel);
    if (is_late && !g->sup.unwanted)
        log_killed(g);
    connector_supervisor_kill(g);
    return g->sup.state == CONNECTOR_ENDED;
}

static void channel_process_free(struct connector_process *g)
{
    connector_writer_fini(g);
    connector_calls_fini(g);
    connector_turns_fini(g);
    connector_writer_free_memory(g);
    connector_supervisor_fini(g);
    connector_log_pipe_fini(g);
    connector_limits_free(g->conf.limits);
    stored_texts_fini(&g->stored);
    arena_fini(&g->conf.arena);
    loader_unref_plugin(g->conf.plugin);
    free(g->conf.label);
    free(g->conf.name);
    free(g);
}

/* The process is gone, except in rare cases: one that the kernel cannot end is reaped by init when
 * the host ends. */
static void channel_process_dispose(struct connector_process *g)
{
    connector_supervisor_kill(g);
    for (int i = 0; g->sup.state == CONNECTOR_DYING && i < REAP_MS; i++)
        connector_supervisor_poll(g, 1);
    if (g->sup.state == CONNECTOR_DYING)
        log_write(LOG_WARN, g->conf.label, "process %d was killed but has not exited",
                  (int)g->sup.child.pid);
    connector_reader_reset(g);
    channel_process_free(g);
}

static int channel_process_join(struct channel *channel, int64_t deadline_ms)
{
    struct connector_process *const g = connector_process_of(channel);
    connector_reader_release_awaited(g);
    for (int64_t left; g->sup.state != CONNECTOR_ENDED && g->sup.state != CONNECTOR_NEW &&
                       (left = deadline_ms - clock_mono_ms()) > 0;)
        connector_supervisor_poll(g, left < PUMP_MS ? (int)left : PUMP_MS);
    const bool ended = g->sup.state == CONNECTOR_ENDED || g->sup.state == CONNECTOR_NEW;
    if (!ended && !g->sup.unwanted)
        log_killed(g);
    channel_process_dispose(g);
    return ended ? 0 : -1;
}

/* ---- restart ---- */

static void channel_process_launch(struct channel *channel)
{
    connector_supervisor_launch(connector_process_of(channel));
}

static void channel_process_set_disabled_error(const struct connector_process *g,
                                               struct tc_err *err)
{
    struct tc_err why = {0};
    connector_supervisor_explain(g, &why);
    err_set(err, NULL, "%s: disabled: %s", g->conf.label, why.text);
    if (err && g->conf.setup.line > 0)
        snprintf(err->place, sizeof err->place, "%s:%d", g->conf.setup.file,
                 (int)g->conf.setup.line);
}

/* Until a dead process is reaped, the state remains the state before its death. */
static enum channel_state channel_process_get_state(const struct connector_process *g)
{
    if (g->sup.state == CONNECTOR_ENDED)
        return g->closing || g->sup.ever_started ? CHANNEL_ENDED : CHANNEL_FAILED;
    if (g->sup.state == CONNECTOR_NEW)
        return CHANNEL_NEW;
    if (g->closing)
        return CHANNEL_STOPPING;
    if (g->sup.state == CONNECTOR_DOWN)
        return CHANNEL_DOWN;
    return g->sup.state == CONNECTOR_STARTING ||
                   (g->sup.state == CONNECTOR_DYING && !g->sup.ever_started)
               ? CHANNEL_STARTING
           : g->sup.state == CONNECTOR_DYING && g->sup.died_ms ? CHANNEL_STARTING
                                                               : CHANNEL_RUNNING;
}

static enum channel_state channel_process_report_state(struct channel *channel, struct tc_err *err)
{
    const struct connector_process *const g = connector_process_of(channel);
    const enum channel_state state = channel_process_get_state(g);
    if (err && state == CHANNEL_FAILED)
        channel_process_set_disabled_error(g, err);
    else if (err && state == CHANNEL_DOWN)
        connector_supervisor_explain(g, err);
    return state;
}

static void channel_process_release(struct channel *channel)
{
    struct connector_process *const g = connector_process_of(channel);
    connector_reader_resume(g);
    connector_writer_flush_soon(g); /* ends a process that violated the protocol */
}

static int channel_process_wait_started(struct channel *channel, struct tc_err *err)
{
    struct connector_process *const g = connector_process_of(channel);
    if (g->sup.state == CONNECTOR_NEW)
        channel_process_launch(channel);
    while (g->sup.state == CONNECTOR_STARTING || g->sup.state == CONNECTOR_DYING)
        connector_supervisor_poll(g, PUMP_MS);
    if (g->sup.state == CONNECTOR_RUNNING) {
        connector_reader_await_release(g);
        return 0;
    }
    channel_process_set_disabled_error(g, err);
    channel_process_dispose(g);
    return -1;
}

/* A restart on request means that the cause of earlier deaths was fixed. */
static int channel_process_restart(struct channel *channel, struct tc_err *err)
{
    return connector_supervisor_restart_now(connector_process_of(channel), err);
}

static void channel_process_load(struct channel *channel, const char *key, const char *text)
{
    stored_texts_set(&connector_process_of(channel)->stored, STORED_TEXTS_MAX, key, text);
}

static void channel_process_set_memory(struct channel *channel, void *turn, const char *memory)
{
    (void)channel;
    struct connector_turn *const t = turn;
    t->named.memory = arena_strdup(&t->arena, memory);
}

static const struct channel_ops process_ops = {
    .launch = channel_process_launch,
    .state = channel_process_report_state,
    .release = channel_process_release,
    .wait_started = channel_process_wait_started,
    .restart_now = channel_process_restart,
    .set_memory = channel_process_set_memory,
    .load = channel_process_load,
    .open = channel_process_open_turn,
    .send = channel_process_send_event,
    .set_batching = channel_process_set_batching,
    .reply = channel_process_send_reply,
    .hit = channel_process_send_hit,
    .frame = channel_process_send_socket_text,
    .wait_room = channel_process_wait_for_room,
    .health = channel_process_get_health,
    .stop = channel_process_stop,
    .kill = channel_process_kill,
    .join = channel_process_join,
};

/* ---- start ---- */

/* The process gets neither the environment nor the files in which a secret may be. */
static int channel_process_copy_options(struct connector_process *g, const struct conf *conf,
                                        const struct conf_option *from, struct tc_err *err)
{
    size_t n = 0;
    while (from && from[n].key)
        n++;
    struct conf_option *const to = arena_alloc(&g->conf.arena, (n + 1) * sizeof *to);
    for (size_t i = 0; i < n; i++) {
        const struct tc_plugin *const plugin = &g->conf.plugin->plugin;
        const struct tc_option *const row = plugin_options_find_row(plugin->options, from[i].key);
        const char *const value =
            row ? plugin_options_resolve(plugin->rules, row, &from[i], &g->conf.arena, err)
                : from[i].value;
        if (!value) {
            snprintf(err->place, sizeof err->place, "%.200s:%d",
                     from[i].file ? from[i].file : conf->file, from[i].line);
            return -1;
        }
        to[i].key = arena_strdup(&g->conf.arena, from[i].key);
        to[i].value = arena_strdup(&g->conf.arena, value);
        to[i].line = from[i].line;
    }
    g->conf.setup.options = to;
    return 0;
}

/* Appends the absolute paths of a list to the existing ones, which end with NULL (or NULL). */
static const char *const *channel_process_add_programs(struct arena *a, const char *const *paths,
                                                       const char *value)
{
    const char *const *const list = option_list_split(a, value);
    size_t n = 0, m = 0;
    while (paths && paths[n])
        n++;
    while (list[m])
        m++;
    const char **const all = arena_alloc(a, (n + m + 1) * sizeof *all);
    if (n)
        memcpy(all, paths, n * sizeof *all);
    for (size_t i = 0; i < m; i++)
        if (*list[i] == '/')
            all[n++] = list[i];
    all[n] = NULL;
    return all;
}

/* The files and directories named by options that let an instance start programs. Their number was
 * checked with the options. */
static void channel_process_find_programs(struct connector_process *g)
{
    struct ipc_setup *const s = &g->conf.setup;
    const struct tc_option *const rows = g->conf.plugin->plugin.options;
    for (const struct tc_option *row = rows; row && row->key; row++)
        s->starts_programs = s->starts_programs || (row->flags & TC_PROGRAMS);
    for (const struct conf_option *o = s->options; o->key; o++) {
        const struct tc_option *const row = plugin_options_find_row(rows, o->key);
        if (row && (row->flags & TC_PROGRAMS))
            s->run_paths = channel_process_add_programs(&g->conf.arena, s->run_paths, o->value);
    }
}

static const char *const *copy_paths(struct arena *a, char *const *paths)
{
    size_t n = 0;
    while (paths && paths[n])
        n++;
    const char **const to = arena_alloc(a, (n + 1) * sizeof *to);
    for (size_t i = 0; i < n; i++)
        to[i] = arena_strdup(a, paths[i]);
    return to;
}

static const int64_t *copy_ports(struct arena *a, const int64_t *ports)
{
    size_t n = 0;
    while (ports && ports[n])
        n++;
    int64_t *const to = arena_alloc(a, (n + 1) * sizeof *to);
    if (n)
        memcpy(to, ports, n * sizeof *to);
    return to;
}

static const struct conf_chaos *copy_chaos(struct arena *a, const struct conf_chaos *rules)
{
    size_t n = 0;
    while (rules && rules[n].what)
        n++;
    struct conf_chaos *const to = arena_alloc(a, (n + 1) * sizeof *to);
    for (size_t i = 0; i < n; i++) {
        to[i] = rules[i];
        to[i].callback = arena_strdup(a, rules[i].callback);
        to[i].text = arena_strdup(a, rules[i].text);
        to[i].trigger = arena_strdup(a, rules[i].trigger);
    }
    return to;
}

static void make_setup(struct connector_process *g, const struct conf *conf,
                       const struct conf_instance *spec, const char *dir)
{
    struct ipc_setup *const s = &g->conf.setup;
    s->file = arena_strdup(&g->conf.arena, spec->file ? spec->file : conf->file);
    s->line = spec->line;
    s->path = arena_strdup(&g->conf.arena, g->conf.plugin->path);
    s->name = g->conf.name;
    s->has_batch = g->host.batch != NULL;
    s->has_ask = g->host.ask != NULL;
    s->has_server = g->host.has_server;
    s->has_sockets = g->host.socket_open != NULL;
    s->debug = log_enabled(LOG_DEBUG);
    s->dir = arena_strdup(&g->conf.arena, dir);
    s->write_paths = copy_paths(&g->conf.arena, spec->paths);
    s->ports = copy_ports(&g->conf.arena, spec->ports);
    s->language = spec->chat.language;
    s->memory = spec->memory_mb << 20;
    /* The kernel cannot distinguish files in its own directory from files that other users put
     * there. */
    s->file_size = s->write_paths[0] ? 0 : spec->disk_mb << 20;
    g->conf.limits = connector_limits_new(g->host.loop, spec, g->conf.label, dir);
    s->chaos = copy_chaos(&g->conf.arena, spec->chaos);
}

static struct connector_process *channel_process_make(const struct conf_instance *spec,
                                                      struct loaded_plugin *loaded,
                                                      const struct channel_callbacks *host)
{
    struct connector_process *const g = xcalloc(1, sizeof *g);
    g->channel.ops = &process_ops;
    g->host = *host;
    g->conf.plugin = loaded;
    g->conf.name = xstrdup(spec->name);
    g->conf.label = xasprintf("instance %s", spec->name);
    g->conf.delivers = (loaded->plugin.flags & TC_DELIVERS) != 0;
    g->conf.init_ms = spec->init_ms > 0 ? spec->init_ms : INIT_MS;
    g->conf.callback_ms = spec->callback_ms > 0 ? spec->callback_ms : CALLBACK_MS;
    connector_writer_init(g, &(struct backlog_limits){
                                 .events = (size_t)spec->queue_events,
                                 .bytes = (size_t)spec->queue_bytes,
                                 .pace_ms = loaded->plugin.pace_ms,
                             });
    connector_supervisor_init(g);
    return g;
}

struct channel *channel_process_new(const struct conf *conf, const struct conf_instance *spec,
                                    struct loaded_plugin *loaded,
                                    const struct channel_callbacks *host, const char *dir,
                                    struct tc_err *err)
{
    struct connector_process *const g = channel_process_make(spec, loaded, host);
    make_setup(g, conf, spec, dir);
    if (loader_check_options(loaded, spec, conf->file, err) == 0 &&
        channel_process_copy_options(g, conf, spec->options, err) == 0) {
        channel_process_find_programs(g);
        return &g->channel;
    }
    channel_process_dispose(g);
    return NULL;
}
