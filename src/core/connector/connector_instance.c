/* SPDX-License-Identifier: MIT
 * Life cycle of an instance in the host, and its outbox. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/sys/dir.h"
#include "base/sys/log.h"
#include "conf/options/plugin_options.h"
#include "conf/parse/option_list.h"
#include "core/bus/bus_stream.h"
#include "core/connector/connector_internal.h"
#include "io/journal/journal_async.h"
#include "plugin/shipped_plugin.h"

/* ---- options, for {option:NAME} ---- */

static const char *connector_instance_text_of(struct connector_instance *r,
                                              const struct tc_option *row,
                                              const struct conf_option *pairs)
{
    const struct conf_option *const pair = conf_option_find(pairs, row->key);
    /* The caller that starts the instance reports the error. */
    if (pair)
        return pair->value ? plugin_options_resolve_secrets(row, pair, &r->arena, NULL) : NULL;
    return row->dflt;
}

/* Adds elements NAME=VALUE of a list as options LIST.NAME, after the others. */
static struct conf_option *connector_instance_add_elements(struct arena *a,
                                                           const struct conf_option *all, size_t *n,
                                                           const char *key, const char *text)
{
    const char *const *const list = option_list_split(a, text);
    size_t count = 0;
    while (list[count])
        count++;
    struct conf_option *const to = arena_alloc(a, (*n + count + 1) * sizeof *to);
    if (*n)
        memcpy(to, all, *n * sizeof *to);
    for (size_t i = 0; i < count; i++) {
        const char *const value = strchr(list[i], '=');
        if (value)
            to[(*n)++] = (struct conf_option){
                .key = arena_sprintf(a, "%s.%.*s", key, (int)(value - list[i]), list[i]),
                .value = arena_strdup(a, value + 1)};
    }
    return to;
}

static void connector_instance_copy_options(struct connector_instance *r,
                                            const struct tc_option *rows,
                                            const struct conf_option *pairs)
{
    size_t n = 0;
    while (rows && rows[n].key)
        n++;
    struct conf_option *all = arena_alloc(&r->arena, (n + 1) * sizeof *all);
    for (size_t i = 0; i < n; i++) {
        const char *const text = connector_instance_text_of(r, &rows[i], pairs);
        all[i].key = arena_strdup(&r->arena, rows[i].key);
        all[i].value = arena_strdup(&r->arena, text);
    }
    for (size_t i = 0; rows && rows[i].key; i++)
        if (rows[i].type == TC_T_LIST && all[i].value)
            all = connector_instance_add_elements(&r->arena, all, &n, all[i].key, all[i].value);
    r->options = all;
}

static const char *connector_instance_find_text(const struct connector_instance *r,
                                                const char *name)
{
    for (const struct conf_option *o = r->options; o->key; o++)
        if (strcmp(o->key, name) == 0)
            return o->value;
    return NULL;
}

/* A list cannot be put into a request as a whole, only its elements. */
const char *connector_find_option(void *instance, const char *name)
{
    const struct connector_instance *const r = instance;
    for (const struct conf_option *o = r->options; o->key; o++)
        if (strcmp(o->key, name) == 0)
            return !o->value ? "" : option_list_is_list(o->value) ? NULL : o->value;
    return NULL;
}

bool connector_options_equal(struct connector_instance *r, const struct tc_option *rows,
                             const struct conf_option *pairs)
{
    struct arena arena = {0};
    bool same = true;
    for (; same && pairs && pairs->key; pairs++) {
        const char *const value = connector_instance_find_text(r, pairs->key);
        const struct tc_option *const row = plugin_options_find_row(rows, pairs->key);
        const char *const now =
            row ? plugin_options_resolve_secrets(row, pairs, &arena, NULL) : NULL;
        same = value && now && strcmp(value, now) == 0;
    }
    arena_fini(&arena);
    return same;
}

/* ---- leadership ---- */

bool connector_instance_is_led(const struct connector_services *services,
                               const struct conf_instance *spec, const struct loaded_plugin *loaded)
{
    if (!services->leads || !bus_stream_is_token(spec->name))
        return false;
    if (spec->scope.lead != CONF_LEAD_DEFAULT)
        return spec->scope.lead == CONF_LEAD_ONE;
    return loaded->plugin.rates || (spec->grants && !shipped_plugin_is_local_plugin(loaded));
}

/* The lease may have expired before a timer has noticed. */
bool connector_may_act(void *instance)
{
    const struct connector_instance *const r = instance;
    return !r->is_silent && (!r->is_led || r->services.leads(r->services.ctx, r->name));
}

void connector_instance_silence(struct connector_instance *r)
{
    r->is_silent = true;
    early_turns_fini(r);
    connector_routes_fini(r);
    connector_sockets_fini(r);
    redelivery_fini(r);
    outbox_free(r->outbox);
    r->outbox = NULL;
    r->turns = 0;
}

bool connector_instance_is_silent(const struct connector_instance *r)
{
    return r->is_silent;
}

/* ---- the outbox ---- */

/* Completes the outcome for an instance without TC_DELIVERS when it has processed the turn to its
 * end. */
static void connector_instance_end_outcome(struct connector_instance *r, const char *turn)
{
    if (!r->delivers && r->services.journal)
        journal_async_expand(r->services.journal, r->name, turn, NULL, 0, NULL, NULL);
}

static void connector_instance_on_batch(void *ctx, struct callback_batch *b)
{
    struct connector_instance *const r = ctx;
    if (r->is_silent) {
        callback_batch_free(b);
        return;
    }
    r->turns -= b->over && r->turns;
    if (b->over)
        connector_instance_end_outcome(r, b->turn);
    if (r->outbox)
        outbox_commit_batch(r->outbox, b);
    else
        callback_batch_free(b);
}

static void connector_instance_on_call(void *ctx, struct host_call *a)
{
    struct connector_instance *const r = ctx;
    if (!connector_may_act(r))
        host_call_complete(a, TC_NOT_KEPT, NULL, NULL);
    else if (r->services.ask)
        r->services.ask(r->services.ctx, a);
    else
        host_call_complete(a, TC_DENIED, NULL, NULL);
}

static void connector_instance_on_secret(void *ctx, const char *name, const char *value)
{
    const struct connector_instance *const r = ctx;
    if (r->outbox)
        outbox_set_secret(r->outbox, name, value);
}

static void connector_instance_on_stored(void *ctx, enum journal_status status, const char *text)
{
    CLEANUP_FREE char *name = ctx;
    (void)text;
    if (status != JOURNAL_DONE && status != JOURNAL_NO_CHANGE)
        log_write(LOG_ERR, "host", "instance %s: cannot write its stored texts to the journal",
                  name);
}

/* Without a journal, stored texts live as long as the channel, which keeps a copy across restarts
 * of the process. */
static void connector_instance_on_store(void *ctx, const char *key, const char *text)
{
    const struct connector_instance *const r = ctx;
    if (!r->services.journal)
        return;
    CLEANUP_FREE char *row = xasprintf(CONNECTOR_STORED_ROW "%s:%s", r->name, key);
    journal_async_kv_put(r->services.journal, row, text, connector_instance_on_stored,
                         xstrdup(r->name));
    if (r->is_led && r->services.stored)
        r->services.stored(r->services.ctx, r->name, key, text);
}

static void connector_instance_on_event_given_up(void *ctx, const char *turn,
                                                 struct shared_event *shared, unsigned deaths)
{
    const struct connector_instance *const r = ctx;
    size_t len;
    const char *const line = shared_event_json_line(shared, &len);
    if (r->services.journal)
        journal_async_add_dead_event(r->services.journal, r->name, turn, (struct str){line, len},
                                     deaths, NULL, NULL);
}

static void on_change(void *ctx)
{
    const struct connector_instance *const r = ctx;
    if (r->changed)
        r->changed(r->changed_ctx);
}

/* NULL: the file has no valid place. */
static char *make_dir(const struct connector_instance *r)
{
    struct tc_err err = {0};
    if (!r->services.instances)
        return NULL;
    char *const dir = xasprintf("%s/%s", r->services.instances, r->name);
    if (dir_create_all(dir, &err) == 0)
        return dir;
    log_write(LOG_ERR, "host", "instance %s: cannot create its data directory: %s", r->name,
              err_format(&err));
    free(dir);
    return NULL;
}

/* Publishes the memory, from which the next leader continues. */
static void connector_on_remembered(void *instance, const char *turn, const char *text)
{
    const struct connector_instance *const r = instance;
    if (r->services.remembered)
        r->services.remembered(r->services.ctx, r->name, turn, text);
}

static bool connector_on_telling(void *instance, const char *turn)
{
    const struct connector_instance *const r = instance;
    return r->services.tells && r->services.tells(r->services.ctx, r->name, turn);
}

static struct outbox *make_outbox(struct connector_instance *r, const struct tc_rate *rates)
{
    const struct connector_services *const s = &r->services;
    CLEANUP_FREE char *files = r->dir ? xasprintf("%s/files", r->dir) : NULL;
    return s->loop && s->httpc ? outbox_new(&(struct outbox_spec){
                                     .instance = r->name,
                                     .loop = s->loop,
                                     .http = s->httpc,
                                     .journal = s->journal,
                                     .rates = rates,
                                     .files = files,
                                     .option = connector_find_option,
                                     .open = redelivery_open_turn,
                                     .may_send = r->is_led ? connector_may_act : NULL,
                                     .remembered = r->is_led ? connector_on_remembered : NULL,
                                     .tells = r->is_led ? connector_on_telling : NULL,
                                     .ctx = r,
                                 })
                               : NULL;
}

/* ---- create and free ---- */

static bool has_process(const struct conf_instance *spec, const struct loaded_plugin *loaded)
{
    return spec->isolation == CONF_ISOLATION_DEFAULT ? !shipped_plugin_is_local_plugin(loaded)
                                                     : spec->isolation == CONF_PROCESS;
}

static bool prints(const struct connector_instance *r, const struct loaded_plugin *loaded)
{
    return r->services.prints == PRINTS_ALL ||
           (r->services.prints == PRINTS_OURS && shipped_plugin_is_local_plugin(loaded));
}

static struct channel *connector_instance_make_channel(struct connector_instance *r,
                                                       const struct conf *conf,
                                                       const struct conf_instance *spec,
                                                       struct loaded_plugin *loaded,
                                                       struct tc_err *err)
{
    const struct channel_callbacks host = {
        .loop = r->services.loop,
        .ctx = r,
        .prints = prints(r, loaded),
        .batch = connector_instance_on_batch,
        .ask = connector_instance_on_call,
        .has_server = r->services.httpd != NULL,
        .route = connector_route_add,
        .socket_open = connector_socket_open,
        .socket_send = connector_socket_send,
        .socket_close = connector_socket_close,
        .secret = connector_instance_on_secret,
        .store = connector_instance_on_store,
        .changed = on_change,
        .give_up_event = connector_instance_on_event_given_up,
    };
    if (host.loop && has_process(spec, loaded))
        return channel_process_new(conf, spec, loaded, &host, r->dir, err);
    return channel_thread_new(conf, spec, loaded, host.loop ? &host : NULL, err);
}

static void connector_instance_release(struct connector_instance *r)
{
    early_turns_fini(r);
    connector_routes_fini(r);
    connector_sockets_fini(r);
    redelivery_fini(r);
    outbox_free(r->outbox);
    arena_fini(&r->arena);
    free(r->dir);
    free(r->name);
    free(r);
}

struct connector_instance *connector_start(const struct conf *conf,
                                           const struct conf_instance *spec,
                                           struct loaded_plugin *loaded,
                                           const struct connector_services *services,
                                           struct tc_err *err)
{
    struct connector_instance *const r = xcalloc(1, sizeof *r);
    r->name = xstrdup(spec->name);
    r->delivers = (loaded->plugin.flags & TC_DELIVERS) != 0;
    if (services) {
        r->services = *services;
        r->is_led = connector_instance_is_led(services, spec, loaded);
    }
    early_turns_init(r);
    connector_instance_copy_options(r, loaded->plugin.options, spec->options);
    r->dir = make_dir(r);
    r->outbox = make_outbox(r, loaded->plugin.rates);
    r->channel = connector_instance_make_channel(r, conf, spec, loaded, err);
    if (r->channel)
        return r;
    connector_instance_release(r);
    return NULL;
}

int connector_await_start(struct connector_instance *r, struct tc_err *err)
{
    const struct channel_ops *const ops = r->channel->ops;
    if (!ops->wait_started || ops->wait_started(r->channel, err) == 0)
        return 0;
    connector_instance_release(r);
    return -1;
}

void connector_instance_on_change(struct connector_instance *r, void (*changed)(void *ctx),
                                  void *ctx)
{
    r->changed = changed;
    r->changed_ctx = ctx;
}

static void load_stored(void *ctx, const char *key, const char *text)
{
    const struct connector_instance *const r = ctx;
    r->channel->ops->load(r->channel, key + strlen(CONNECTOR_STORED_ROW) + strlen(r->name) + 1,
                          text);
}

static void connector_instance_load_stored(struct connector_instance *r)
{
    CLEANUP_FREE char *prefix = xasprintf(CONNECTOR_STORED_ROW "%s:", r->name);
    if (r->services.journal &&
        journal_async_kv_each(r->services.journal, prefix, load_stored, r) == JOURNAL_FAILED)
        log_write(LOG_ERR, "host", "instance %s: cannot read its stored texts from the journal",
                  r->name);
}

/* Waits until an earlier instance of that name has stored its last texts. */
void connector_instance_launch(struct connector_instance *r)
{
    ASSERT(!r->resumed);
    connector_instance_load_stored(r);
    for (struct connector_early_turn *e = r->early; e; e = e->next) {
        CLEANUP_BUF struct buf memory = {0};
        redelivery_recall(r, e->id, &memory);
        if (memory.len)
            r->channel->ops->set_memory(r->channel, e->handle, memory.p);
    }
    r->channel->ops->launch(r->channel);
}

enum channel_state connector_instance_state(struct connector_instance *r, struct tc_err *err)
{
    return r->channel->ops->state(r->channel, err);
}

bool connector_is_down(struct connector_instance *r)
{
    return r->channel->ops->health(r->channel).down;
}

int connector_restart_now(struct connector_instance *r, struct tc_err *err)
{
    return r->channel->ops->restart_now(r->channel, err);
}

const char *connector_instance_name(const struct connector_instance *r)
{
    return r->name;
}

struct channel *connector_instance_channel(struct connector_instance *r)
{
    return r->channel;
}

void *connector_open_turn(struct connector_instance *r, const struct channel_turn *turn)
{
    void *const handle = r->channel->ops->open(r->channel, turn);
    if (!handle)
        return NULL;
    r->turns++;
    if (!r->resumed)
        early_turns_add(r, turn->id, handle);
    if (r->outbox)
        outbox_open_turn(r->outbox, turn->id, handle);
    return handle;
}

void *connector_open_known_turn(struct connector_instance *r, const struct channel_turn *turn)
{
    CLEANUP_BUF struct buf memory = {0};
    struct channel_turn known = *turn;
    redelivery_recall(r, turn->id, &memory);
    known.memory = memory.len ? memory.p : NULL;
    return connector_open_turn(r, &known);
}

void connector_resume_deliveries(struct connector_instance *r)
{
    ASSERT(!r->resumed);
    r->resumed = true;
    if (r->is_silent)
        return;
    if (r->services.journal) {
        /* After a restart or reload, a request of the previous process may have been in flight. */
        journal_async_take_over(r->services.journal, r->name, NULL, NULL);
        redelivery_load(r, 0, NULL);
    }
    if (r->outbox)
        outbox_start(r->outbox, r->channel);
    r->channel->ops->release(r->channel);
    redelivery_start(r);
    if (!r->owed)
        early_turns_release(r);
}

void connector_deliver_row(struct connector_instance *r, int64_t seq)
{
    if (!r->resumed || r->is_silent)
        return; /* added later, while it runs */
    redelivery_load(r, seq, NULL);
    if (r->outbox)
        outbox_adopt_row(r->outbox, seq);
    redelivery_start(r);
}

void connector_deliver_outcome(struct connector_instance *r, const char *turn)
{
    if (!r->resumed || r->is_silent)
        return; /* added later, while it runs */
    redelivery_load(r, 0, turn);
    redelivery_start(r);
}

struct outbox_stats connector_outbox_stats(const struct connector_instance *r)
{
    return r->outbox ? outbox_read_stats(r->outbox)
                     : (struct outbox_stats){.success_ms = -1, .failure_ms = -1};
}

bool connector_instance_is_busy(const struct connector_instance *r)
{
    return r->services.loop &&
           (r->turns || r->redeliveries || (r->outbox && outbox_count_pending(r->outbox)));
}

void connector_instance_stop(struct connector_instance *r)
{
    r->channel->ops->stop(r->channel);
}

bool connector_instance_kill(struct connector_instance *r)
{
    return r->channel->ops->kill(r->channel, !r->is_silent);
}

bool connector_instance_free(struct connector_instance *r, int64_t deadline_ms)
{
    const bool ended = r->channel->ops->join(r->channel, deadline_ms) == 0;
    connector_instance_release(r);
    return ended;
}
