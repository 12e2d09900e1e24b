/* SPDX-License-Identifier: MIT
 * Owns an instance's life in the host, and its post. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/dir.h"
#include "base/sys/log.h"
#include "conf/parse/secret.h"
#include "core/connector/connector_internal.h"
#include "io/journal/journal_async.h"
#include "plugin/shipped_plugin.h"

/* ---- options, for {option:NAME} ---- */

static const char *text_of(struct runner *r, const struct tc_option *row,
                           const struct conf_pair *pairs)
{
    const char *text = row->dflt;
    for (; pairs && pairs->key; pairs++)
        if (strcmp(pairs->key, row->key) == 0)
            text = pairs->value;
    if (!text || !(row->flags & TC_SECRET))
        return text;
    return secret_resolve(text, &r->arena, NULL); /* an error is told by who starts the instance */
}

static void copy_options(struct runner *r, const struct tc_option *rows,
                         const struct conf_pair *pairs)
{
    size_t n = 0;
    while (rows && rows[n].key)
        n++;
    r->options = arena_alloc(&r->arena, (n + 1) * sizeof *r->options);
    for (size_t i = 0; i < n; i++) {
        const char *const text = text_of(r, &rows[i], pairs);
        r->options[i].key = arena_strdup(&r->arena, rows[i].key);
        r->options[i].value = arena_strdup(&r->arena, text);
    }
}

const char *runner_option(void *runner, const char *name)
{
    const struct runner *const r = runner;
    for (const struct conf_pair *o = r->options; o->key; o++)
        if (strcmp(o->key, name) == 0)
            return o->value;
    return NULL;
}

bool runner_has_options(struct runner *r, const struct conf_pair *pairs)
{
    struct arena arena = {0};
    bool same = true;
    for (; same && pairs && pairs->key; pairs++) {
        const char *const value = runner_option(r, pairs->key);
        const char *now = pairs->value;
        if (value && strcmp(value, now) != 0)
            now = secret_resolve(now, &arena, NULL);
        same = value && now && strcmp(value, now) == 0;
    }
    arena_fini(&arena);
    return same;
}

/* ---- the post ---- */

/* Who does not deliver has dealt with the outcome when it has seen the turn to its end. */
static void settle_outcome(struct runner *r, const char *turn)
{
    if (!r->delivers && r->services.ledger)
        ledger_expand(r->services.ledger, r->name, turn, NULL, 0, NULL, NULL);
}

static void on_batch(void *ctx, struct batch *b)
{
    struct runner *const r = ctx;
    r->turns -= b->over && r->turns;
    if (b->over)
        settle_outcome(r, b->turn);
    if (r->post)
        post_batch(r->post, b);
    else
        batch_free(b);
}

static void on_ask(void *ctx, struct ask *a)
{
    const struct runner *const r = ctx;
    if (r->services.ask)
        r->services.ask(r->services.ctx, a);
    else
        ask_answer(a, TC_DENIED, NULL, NULL);
}

static void on_bury(void *ctx, const char *turn, struct event_box *box, unsigned deaths)
{
    const struct runner *const r = ctx;
    size_t len;
    const char *const line = event_box_line(box, &len);
    if (r->services.ledger)
        ledger_bury_event(r->services.ledger, r->name, turn, (struct str){line, len}, deaths, NULL,
                          NULL);
}

static void on_change(void *ctx)
{
    const struct runner *const r = ctx;
    if (r->changed)
        r->changed(r->changed_ctx);
}

/* NULL: there is no place for it. */
static char *make_dir(const struct runner *r)
{
    struct tc_err err = {0};
    if (!r->services.instances)
        return NULL;
    char *const dir = xasprintf("%s/%s", r->services.instances, r->name);
    if (dir_make(dir, &err) == 0)
        return dir;
    log_line(LOG_ERR, "host", "instance %s has no folder: %s", r->name, err_str(&err));
    free(dir);
    return NULL;
}

static struct post *make_post(struct runner *r, const struct tc_rate *rates)
{
    const struct services *const s = &r->services;
    CLEANUP_FREE char *files = r->dir ? xasprintf("%s/files", r->dir) : NULL;
    return s->loop && s->httpc ? post_new(&(struct post_spec){
                                     .instance = r->name,
                                     .loop = s->loop,
                                     .http = s->httpc,
                                     .ledger = s->ledger,
                                     .rates = rates,
                                     .files = files,
                                     .option = runner_option,
                                     .open = recast_open,
                                     .ctx = r,
                                 })
                               : NULL;
}

/* ---- its life ---- */

static bool has_process(const struct conf_instance *spec, const struct loaded *loaded)
{
    return spec->isolation == CONF_BY_PLUGIN ? !shipped_is_local_plugin(loaded)
                                             : spec->isolation == CONF_PROCESS;
}

static bool prints(const struct runner *r, const struct loaded *loaded)
{
    return r->services.prints == PRINTS_ALL ||
           (r->services.prints == PRINTS_OURS && shipped_is_local_plugin(loaded));
}

static struct channel *make_channel(struct runner *r, const struct conf *conf,
                                    const struct conf_instance *spec, struct loaded *loaded,
                                    struct tc_err *err)
{
    const struct channel_host host = {
        .loop = r->services.loop,
        .ctx = r,
        .prints = prints(r, loaded),
        .batch = on_batch,
        .ask = on_ask,
        .has_server = r->services.httpd != NULL,
        .route = web_route,
        .socket_open = socket_open,
        .socket_send = socket_send,
        .socket_close = socket_close,
        .changed = on_change,
        .bury = on_bury,
    };
    if (host.loop && has_process(spec, loaded))
        return channel_process_new(conf, spec, loaded, &host, r->dir, err);
    return channel_thread_new(conf, spec, loaded, host.loop ? &host : NULL, err);
}

static void forget_early(struct runner *r)
{
    for (struct runner_early *e = r->early, *next; e; e = next) {
        next = e->next;
        free(e);
    }
    r->early = NULL;
}

static void release(struct runner *r)
{
    forget_early(r);
    web_fini(r);
    socket_fini(r);
    recast_fini(r);
    post_free(r->post);
    arena_fini(&r->arena);
    free(r->dir);
    free(r->name);
    free(r);
}

struct runner *runner_new(const struct conf *conf, const struct conf_instance *spec,
                          struct loaded *loaded, const struct services *services,
                          struct tc_err *err)
{
    struct runner *const r = xcalloc(1, sizeof *r);
    r->name = xstrdup(spec->name);
    r->delivers = (loaded->plugin.flags & TC_DELIVERS) != 0;
    if (services)
        r->services = *services;
    copy_options(r, loaded->plugin.options, spec->options);
    r->dir = make_dir(r);
    r->post = make_post(r, loaded->plugin.rates);
    r->channel = make_channel(r, conf, spec, loaded, err);
    if (r->channel)
        return r;
    release(r);
    return NULL;
}

int runner_await(struct runner *r, struct tc_err *err)
{
    const struct channel_ops *const ops = r->channel->ops;
    if (!ops->await || ops->await(r->channel, err) == 0)
        return 0;
    release(r);
    return -1;
}

void runner_on_change(struct runner *r, void (*changed)(void *ctx), void *ctx)
{
    r->changed = changed;
    r->changed_ctx = ctx;
}

/* Only now has an earlier one of that name said the last it remembers. */
void runner_launch(struct runner *r)
{
    for (struct runner_early *e = r->early; e; e = e->next) {
        CLEANUP_BUF struct buf memory = {0};
        recast_recall(r, e->id, &memory);
        if (memory.len)
            r->channel->ops->remind(r->channel, e->handle, memory.p);
    }
    r->channel->ops->launch(r->channel);
}

enum channel_state runner_state(struct runner *r, struct tc_err *err)
{
    return r->channel->ops->state(r->channel, err);
}

bool runner_is_down(struct runner *r)
{
    return r->channel->ops->health(r->channel).down;
}

int runner_revive(struct runner *r, struct tc_err *err)
{
    return r->channel->ops->revive(r->channel, err);
}

const char *runner_name(const struct runner *r)
{
    return r->name;
}

struct channel *runner_channel(struct runner *r)
{
    return r->channel;
}

static void note_early(struct runner *r, const char *id, void *handle)
{
    struct runner_early *const e = xmalloc(sizeof *e + strlen(id) + 1);
    *e = (struct runner_early){.next = r->early, .handle = handle};
    memcpy(e->id, id, strlen(id) + 1);
    r->early = e;
}

bool runner_is_early(const struct runner *r, const char *turn)
{
    const struct runner_early *e = r->early;
    while (e && strcmp(e->id, turn) != 0)
        e = e->next;
    return e != NULL;
}

void *runner_open(struct runner *r, const struct channel_turn *turn)
{
    void *const handle = r->channel->ops->open(r->channel, turn);
    if (!handle)
        return NULL;
    r->turns++;
    if (!r->resumed)
        note_early(r, turn->id, handle);
    if (r->post)
        post_open_turn(r->post, turn->id, handle);
    return handle;
}

void runner_resume(struct runner *r)
{
    r->resumed = true;
    if (r->services.ledger) {
        /* A restart or reload may have ended its previous process during a request. */
        ledger_take_over(r->services.ledger, r->name, NULL, NULL);
        recast_load(r, 0);
    }
    forget_early(r);
    if (r->post)
        post_start(r->post, r->channel);
    r->channel->ops->release(r->channel);
    recast_begin(r);
}

void runner_take_row(struct runner *r, int64_t seq)
{
    if (!r->resumed)
        return; /* it is found when it runs */
    recast_load(r, seq);
    if (r->post)
        post_take_row(r->post, seq);
    recast_begin(r);
}

struct post_stats runner_post_stats(const struct runner *r)
{
    return r->post ? post_stats(r->post) : (struct post_stats){0};
}

bool runner_is_busy(const struct runner *r)
{
    return r->services.loop && (r->turns || r->recasts || (r->post && post_busy(r->post)));
}

void runner_stop(struct runner *r)
{
    r->channel->ops->stop(r->channel);
}

bool runner_kill(struct runner *r)
{
    return r->channel->ops->kill(r->channel);
}

bool runner_free(struct runner *r, int64_t deadline_ms)
{
    const bool ended = r->channel->ops->join(r->channel, deadline_ms) == 0;
    release(r);
    return ended;
}
