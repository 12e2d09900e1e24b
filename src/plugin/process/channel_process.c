/* SPDX-License-Identifier: MIT
 * Channel to a connector process: the functions of channel_ops, on the loop. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "conf/parse/secret.h"
#include "plugin/process/connector_process.h"

#define INIT_MS 10000
#define CALLBACK_MS 5000
#define GONE_FILL 4.0 /* one that does not run with that much waiting gets no new turns */
#define PUMP_MS 100
#define REAP_MS 1000 /* at the end, for a process that was killed */
#define NEAR_EVENTS 1024.0

/* ---- turns and what happens in them ---- */

static void *process_open(struct channel *channel, const struct channel_turn *turn)
{
    struct connector_process *const g = connector_process_of(channel);
    const bool waits = g->stage != CONNECTOR_RUNNING && g->stage != CONNECTOR_STOPPING;
    if (g->closing || (waits && backlog_fill_ratio(&g->backlog) >= GONE_FILL))
        return NULL;
    struct connector_turn *const t = xcalloc(1, sizeof *t);
    t->number = ++g->last_turn;
    t->named = (struct channel_turn){
        .id = arena_strdup(&t->arena, turn->id),
        .agent = arena_strdup(&t->arena, turn->agent),
        .conversation = arena_strdup(&t->arena, turn->conversation),
        .route = arena_strdup(&t->arena, turn->route),
        .memory = arena_strdup(&t->arena, turn->memory),
    };
    t->letters = turn->letters;
    t->late = t->done = turn->over;
    t->lane = turn->over ? NULL : backlog_open_turn(&g->backlog, t);
    connector_process_link_turn(g, t);
    return t;
}

static void process_send(struct channel *channel, void *turn, struct shared_event *box)
{
    const struct connector_turn *const t = turn;
    connector_writer_put_event(connector_process_of(channel), t->lane, box);
}

static void process_gather(struct channel *channel, bool on)
{
    struct connector_process *const g = connector_process_of(channel);
    g->gathers = on;
    if (!on)
        connector_writer_flush_staged(g);
}

static void process_reply(struct channel *channel, void *turn, struct outbound_reply *r)
{
    connector_writer_put_control(connector_process_of(channel), IPC_REPLY, turn,
                                 control_msg_new_reply(turn, r));
}

static bool is_up(const struct connector_process *g)
{
    return g->stage == CONNECTOR_STARTING || g->stage == CONNECTOR_RUNNING;
}

static void process_hit(struct channel *channel, struct channel_hit *h)
{
    struct connector_process *const g = connector_process_of(channel);
    if (!is_up(g) || g->closing) {
        h->answered(h->arg, NULL);
        channel_hit_free(h);
        return;
    }
    struct pending_hit *const hit = xmalloc(sizeof *hit);
    *hit = (struct pending_hit){g->hits, ++g->last_hit, h->answered, h->arg};
    g->hits = hit;
    connector_writer_put_control(g, IPC_HIT, NULL, control_msg_new_hit(hit->number, h));
}

/* Of a socket of an earlier life nobody wants to know. */
static void process_frame(struct channel *channel, const struct tc_frame *frame)
{
    struct connector_process *const g = connector_process_of(channel);
    if (!is_up(g) || (uint64_t)frame->socket <= g->socket_base)
        return;
    g->open_sockets -= frame->event == TC_SOCKET_CLOSED && g->open_sockets;
    struct tc_frame own = *frame;
    own.socket -= (int64_t)g->socket_base;
    connector_writer_put_control(g, IPC_SOCKET, NULL, control_msg_new_socket_text(&own));
}

/* Who can wait does so before what waits for it is out of the caches. */
static bool channel_process_below(const struct connector_process *g, double part)
{
    const double near = (double)(g->backlog.stats.events + g->sent.count) / NEAR_EVENTS;
    const double fill = backlog_fill_ratio(&g->backlog);
    return (near > fill ? near : fill) <= part;
}

/* What has been done meanwhile is no reason to wake it before there is more for it. */
static bool channel_process_has_room(struct connector_process *g)
{
    return channel_process_below(g, 0.5) ||
           (is_up(g) && connector_supervisor_sync_progress(g) && channel_process_below(g, 0.5));
}

/* What it waits for is the instance: an instance that waits for the host must not wait for ever. */
static bool process_wait_room(struct channel *channel, int timeout_ms)
{
    struct connector_process *const g = connector_process_of(channel);
    connector_writer_flush_staged(g);
    if (channel_process_has_room(g))
        return true;
    connector_reader_resume(g);
    if (timeout_ms <= 0 && is_up(g)) /* then it works while others are waited for */
        connector_supervisor_poll(g, 0);
    const int64_t deadline_ms = clock_mono_ms() + timeout_ms;
    for (int64_t left = timeout_ms;
         left > 0 && !channel_process_below(g, 0.25) && !g->questions && is_up(g);
         left = deadline_ms - clock_mono_ms())
        connector_supervisor_poll(g, left < PUMP_MS ? (int)left : PUMP_MS);
    return channel_process_below(g, 0.5) || g->questions;
}

static struct channel_health process_health(struct channel *channel)
{
    const struct connector_process *const g = connector_process_of(channel);
    struct channel_health h = g->before;
    h.dropped += g->backlog.stats.dropped;
    h.fill = backlog_fill_ratio(&g->backlog);
    h.own_process = true;
    h.use = connector_limits_use(g->limits);
    h.down = g->died_ms != 0;
    h.starting = !g->ever_started;
    if (h.down) {
        const int64_t now = clock_mono_ms();
        h.open = g->revival.open;
        h.down_ms = now - g->died_ms;
        h.next_ms = g->stage == CONNECTOR_DOWN && g->next_ms > now ? g->next_ms - now : 0;
    }
    if (!g->gauge)
        return h;
    const struct callback_histogram times = status_page_histogram(g->gauge);
    h.delivered += status_page_delivered(g->gauge);
    h.failed += status_page_failed(g->gauge);
    for (size_t i = 0; i < GAUGE_BUCKETS; i++)
        h.times.counts[i] += times.counts[i];
    h.times.sum_us += times.sum_us;
    h.pid = g->spawn.pid;
    h.rss = connector_spawn_rss_bytes(&g->spawn);
    return h;
}

/* ---- end ---- */

static void give_up_questions(struct connector_process *g)
{
    while (g->questions)
        connector_reader_refuse_call(g, g->questions);
}

static void log_killed(const struct connector_process *g)
{
    int64_t since;
    const char *const callback = g->gauge ? status_page_running_callback(g->gauge, &since) : NULL;
    log_write(LOG_ERR, g->label, "killed in %s: it did not end in time; %zu events are lost",
              callback ? callback : "its queue",
              g->backlog.stats.events + g->again.count + g->sent.count);
}

static void process_stop(struct channel *channel)
{
    struct connector_process *const g = connector_process_of(channel);
    g->closing = true;
    connector_writer_flush_staged(g);
    backlog_stop_pacing(&g->backlog);
    give_up_questions(g);
    if (g->stage == CONNECTOR_NEW || (g->stage == CONNECTOR_DOWN && connector_writer_is_idle(g)))
        connector_supervisor_kill(g);
    else if (g->stage == CONNECTOR_DOWN)
        connector_supervisor_restart(g);
    life_stop_held(g);
    connector_writer_flush_soon(g);
}

static bool process_kill(struct channel *channel)
{
    struct connector_process *const g = connector_process_of(channel);
    if (!g->unwanted)
        log_killed(g);
    connector_supervisor_kill(g);
    return g->stage == CONNECTOR_ENDED;
}

static void free_guest(struct connector_process *g)
{
    traffic_fini(g);
    while (g->hits)
        connector_reader_finish_hit(g, g->hits->number, NULL);
    while (g->turns)
        connector_process_free_turn(g, g->turns);
    backlog_fini(&g->backlog);
    loop_timer_free(g->flush);
    loop_timer_free(g->watch);
    loop_timer_free(g->revive);
    buf_fini(&g->in);
    buf_fini(&g->out);
    buf_fini(&g->frame);
    buf_fini(&g->printed);
    connector_limits_free(g->limits);
    arena_fini(&g->arena);
    loader_unref_plugin(g->loaded);
    free(g->refused);
    free(g->label);
    free(g->name);
    free(g);
}

/* The process is gone but in rare cases: one that the kernel does not let end is left to whoever
 * inherits it when the host ends. */
static void dispose(struct connector_process *g)
{
    connector_supervisor_kill(g);
    for (int i = 0; g->stage == CONNECTOR_DYING && i < REAP_MS; i++)
        connector_supervisor_poll(g, 1);
    if (g->stage == CONNECTOR_DYING)
        log_write(LOG_WARN, g->label, "its process %d was killed and has not ended",
                  (int)g->spawn.pid);
    connector_reader_reset(g);
    free_guest(g);
}

static int process_join(struct channel *channel, int64_t deadline_ms)
{
    struct connector_process *const g = connector_process_of(channel);
    intake_release_awaited(g);
    for (int64_t left; g->stage != CONNECTOR_ENDED && g->stage != CONNECTOR_NEW &&
                       (left = deadline_ms - clock_mono_ms()) > 0;)
        connector_supervisor_poll(g, left < PUMP_MS ? (int)left : PUMP_MS);
    const bool ended = g->stage == CONNECTOR_ENDED || g->stage == CONNECTOR_NEW;
    if (!ended && !g->unwanted)
        log_killed(g);
    dispose(g);
    return ended ? 0 : -1;
}

/* ---- a start that is under way, another life at once ---- */

static void process_launch(struct channel *channel)
{
    struct connector_process *const g = connector_process_of(channel);
    struct tc_err err = {0};
    if (connector_supervisor_start(g, &err) == 0)
        return;
    g->refused = xstrdup(err_format(&err));
}

static void tell_disabled(const struct connector_process *g, struct tc_err *err)
{
    struct tc_err why = {0};
    life_explain(g, &why);
    err_set(err, NULL, "%s is disabled: %s", g->label, why.text);
    if (err && g->setup.line > 0)
        snprintf(err->place, sizeof err->place, "%s:%d", g->setup.file, (int)g->setup.line);
}

/* A process that dies belongs to the state before its death until it is reaped. */
static enum channel_state channel_process_judge_stage(const struct connector_process *g)
{
    if (g->stage == CONNECTOR_ENDED)
        return g->closing || g->ever_started ? CHANNEL_ENDED : CHANNEL_FAILED;
    if (g->stage == CONNECTOR_NEW)
        return CHANNEL_NEW;
    if (g->closing)
        return CHANNEL_STOPPING;
    if (g->stage == CONNECTOR_DOWN)
        return CHANNEL_DOWN;
    return g->stage == CONNECTOR_STARTING || (g->stage == CONNECTOR_DYING && !g->ever_started)
               ? CHANNEL_STARTING
           : g->stage == CONNECTOR_DYING && g->died_ms ? CHANNEL_STARTING
                                                       : CHANNEL_RUNNING;
}

static enum channel_state process_state(struct channel *channel, struct tc_err *err)
{
    const struct connector_process *const g = connector_process_of(channel);
    const enum channel_state state = channel_process_judge_stage(g);
    if (err && state == CHANNEL_FAILED)
        tell_disabled(g, err);
    else if (err && state == CHANNEL_DOWN)
        life_explain(g, err);
    return state;
}

static void process_release(struct channel *channel)
{
    struct connector_process *const g = connector_process_of(channel);
    connector_reader_resume(g);
    connector_writer_flush_soon(g); /* which ends one that has said what it must not */
}

static int process_await(struct channel *channel, struct tc_err *err)
{
    struct connector_process *const g = connector_process_of(channel);
    if (g->stage == CONNECTOR_NEW)
        process_launch(channel);
    while (g->stage == CONNECTOR_STARTING || g->stage == CONNECTOR_DYING)
        connector_supervisor_poll(g, PUMP_MS);
    if (g->stage == CONNECTOR_RUNNING) {
        if (g->release == CONNECTOR_HELD)
            g->release = CONNECTOR_AWAITED;
        return 0;
    }
    tell_disabled(g, err);
    dispose(g);
    return -1;
}

/* What it died of is mended, says who asks for it. */
static int process_revive(struct channel *channel, struct tc_err *err)
{
    struct connector_process *const g = connector_process_of(channel);
    if (g->stage == CONNECTOR_DOWN && connector_supervisor_start(g, err) < 0)
        return -1;
    g->pardoned = true;
    return 0;
}

static void process_remind(struct channel *channel, void *turn, const char *memory)
{
    (void)channel;
    struct connector_turn *const t = turn;
    t->named.memory = arena_strdup(&t->arena, memory);
}

static const struct channel_ops process_ops = {
    .launch = process_launch,
    .state = process_state,
    .release = process_release,
    .await = process_await,
    .revive = process_revive,
    .remind = process_remind,
    .open = process_open,
    .send = process_send,
    .gather = process_gather,
    .reply = process_reply,
    .hit = process_hit,
    .frame = process_frame,
    .wait_room = process_wait_room,
    .health = process_health,
    .stop = process_stop,
    .kill = process_kill,
    .join = process_join,
};

/* ---- start ---- */

static void on_flush(void *arg)
{
    struct connector_process *const g = arg;
    intake_release_awaited(g);
    if (g->broke && guest_has_process(g))
        connector_supervisor_handle_exit(g);
    else
        connector_writer_flush(g);
}

static void channel_process_on_watch(void *arg)
{
    connector_supervisor_check(arg);
}

static void on_revive(void *arg)
{
    struct connector_process *const g = arg;
    if (g->stage == CONNECTOR_DYING)
        life_reap(g);
    else
        connector_supervisor_restart(g);
}

static const struct tc_option *channel_process_find_row(const struct tc_option *rows,
                                                        const char *key)
{
    while (rows && rows->key && strcmp(rows->key, key) != 0)
        rows++;
    return rows && rows->key ? rows : NULL;
}

/* The process has neither the environment nor the files that a secret may stand in. */
static int channel_process_copy_options(struct connector_process *g, const struct conf *conf,
                                        const struct conf_option *from, struct tc_err *err)
{
    size_t n = 0;
    while (from && from[n].key)
        n++;
    struct conf_option *const to = arena_alloc(&g->arena, (n + 1) * sizeof *to);
    for (size_t i = 0; i < n; i++) {
        const struct tc_option *const row =
            channel_process_find_row(g->loaded->plugin.options, from[i].key);
        const bool secret = row && (row->flags & TC_SECRET);
        const char *const value =
            secret ? secret_resolve(from[i].value, &g->arena, err) : from[i].value;
        if (!value) {
            snprintf(err->place, sizeof err->place, "%s:%d", conf->file, from[i].line);
            return -1;
        }
        to[i].key = arena_strdup(&g->arena, from[i].key);
        to[i].value = arena_strdup(&g->arena, value);
        to[i].line = from[i].line;
    }
    g->setup.options = to;
    return 0;
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
    struct ipc_setup *const s = &g->setup;
    s->file = arena_strdup(&g->arena, conf->file);
    s->line = spec->line;
    s->path = arena_strdup(&g->arena, g->loaded->path);
    s->name = g->name;
    s->has_batch = g->host.batch != NULL;
    s->has_ask = g->host.ask != NULL;
    s->has_server = g->host.has_server;
    s->has_sockets = g->host.socket_open != NULL;
    s->debug = log_enabled(LOG_DEBUG);
    s->dir = arena_strdup(&g->arena, dir);
    s->write_paths = copy_paths(&g->arena, spec->paths);
    s->ports = copy_ports(&g->arena, spec->ports);
    s->memory = spec->memory_mb << 20;
    /* The kernel does not tell files of its own folder from those that others gave it. */
    s->file_size = s->write_paths[0] ? 0 : spec->disk_mb << 20;
    g->limits = connector_limits_new(g->host.loop, spec, g->label, dir);
    s->chaos = copy_chaos(&g->arena, spec->chaos);
}

static struct connector_process *make_guest(const struct conf_instance *spec,
                                            struct loaded_plugin *loaded,
                                            const struct channel_callbacks *host)
{
    struct connector_process *const g = xcalloc(1, sizeof *g);
    g->channel.ops = &process_ops;
    g->host = *host;
    g->loaded = loaded;
    g->name = xstrdup(spec->name);
    g->label = xasprintf("instance %s", spec->name);
    g->delivers = (loaded->plugin.flags & TC_DELIVERS) != 0;
    g->prints = host->prints;
    g->init_ms = spec->init_ms > 0 ? spec->init_ms : INIT_MS;
    g->callback_ms = spec->callback_ms > 0 ? spec->callback_ms : CALLBACK_MS;
    backlog_init(&g->backlog, &(struct backlog_limits){
                                  .events = (size_t)spec->queue_events,
                                  .bytes = (size_t)spec->queue_bytes,
                                  .pace_ms = loaded->plugin.pace_ms,
                              });
    connector_writer_init(g);
    g->flush = loop_timer_new(host->loop, on_flush, g);
    g->watch = loop_timer_new(host->loop, channel_process_on_watch, g);
    g->revive = loop_timer_new(host->loop, on_revive, g);
    return g;
}

struct channel *channel_process_new(const struct conf *conf, const struct conf_instance *spec,
                                    struct loaded_plugin *loaded,
                                    const struct channel_callbacks *host, const char *dir,
                                    struct tc_err *err)
{
    struct connector_process *const g = make_guest(spec, loaded, host);
    make_setup(g, conf, spec, dir);
    if (loader_check_options(loaded, spec, conf->file, err) == 0 &&
        channel_process_copy_options(g, conf, spec->options, err) == 0)
        return &g->channel;
    dispose(g);
    return NULL;
}
