/* SPDX-License-Identifier: MIT
 * Owns the running instances, and their groups. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "core/dispatch_impl.h"

#define DRAIN_STEP_MS 20 /* how soon it is looked again whether all is done */

/* ---- groups ---- */

static bool same_audience(const char *a, const char *b)
{
    return strcmp(a ? a : "user", b ? b : "user") == 0;
}

size_t dispatch_find_group(struct dispatch *d, const struct group *wanted, const char *audience)
{
    for (size_t i = 0; i < d->n_groups; i++) {
        const struct group *const c = &d->groups[i];
        if (c->sees_all == wanted->sees_all && c->wants_state == wanted->wants_state &&
            c->wants_raw == wanted->wants_raw && same_audience(c->audience, audience))
            return i;
    }
    d->groups = xrealloc(d->groups, (d->n_groups + 1) * sizeof *d->groups);
    d->groups[d->n_groups] = *wanted;
    d->groups[d->n_groups].audience = audience ? xstrdup(audience) : NULL;
    return d->n_groups++;
}

static size_t group_of(struct dispatch *d, const struct conf_instance *spec,
                       const struct tc_plugin *plugin)
{
    const struct group wanted = {
        .sees_all = spec->sees_all_set ? spec->sees_all : (plugin->flags & TC_SEES_ALL) != 0,
        .wants_state = spec->wants_state,
        .wants_raw = spec->wants_raw,
    };
    return dispatch_find_group(d, &wanted, spec->audience ? spec->audience : plugin->audience);
}

static void make_log_groups(struct dispatch *d)
{
    d->log_all =
        dispatch_find_group(d, &(struct group){.sees_all = true, .wants_state = true}, NULL);
    d->log_shown = dispatch_find_group(d, &(struct group){.wants_state = true}, NULL);
}

/* ---- seats ---- */

size_t dispatch_find_seat(const struct dispatch *d, const char *name)
{
    size_t i = 0;
    while (i < d->n && !(d->seats[i].runner && strcmp(runner_name(d->seats[i].runner), name) == 0))
        i++;
    return i;
}

size_t dispatch_add_seat(struct dispatch *d)
{
    d->seats = xrealloc(d->seats, (d->n + 1) * sizeof *d->seats);
    d->seats[d->n] = (struct seat){0};
    return d->n++;
}

int dispatch_fill_seat(struct dispatch *d, struct seat *s, const struct conf *conf,
                       const struct conf_instance *spec, struct loaded *loaded, struct tc_err *err)
{
    struct runner *const runner = runner_new(conf, spec, loader_ref(loaded), &d->services, err);
    if (!runner)
        return -1;
    *s = (struct seat){
        .runner = runner,
        .spec = spec,
        .loaded = loaded,
        .group = group_of(d, spec, &loaded->plugin),
    };
    return 0;
}

static int start_instance(struct dispatch *d, const struct conf *conf,
                          const struct conf_instance *spec, struct tc_err *err)
{
    struct seat s;
    if (dispatch_find_seat(d, spec->name) < d->n)
        return err_set(err, conf->file,
                       "instance %s is disabled: there is one of that name already", spec->name);
    struct loaded *const loaded =
        loader_find(spec->plugin, (const char *const *)conf->plugin_dirs, err);
    if (!loaded)
        return -1;
    if (dispatch_fill_seat(d, &s, conf, spec, loaded, err) < 0) {
        loader_free(loaded);
        return -1;
    }
    const size_t at = dispatch_add_seat(d); /* which may move the seats */
    d->seats[at] = s;
    return 0;
}

struct dispatch *dispatch_new(const struct conf *conf, const struct services *services,
                              unsigned *failed)
{
    struct dispatch *const d = xcalloc(1, sizeof *d);
    unsigned refused = 0;
    if (services)
        d->services = *services;
    if (d->services.turnlog)
        make_log_groups(d);
    d->roster = roster_new(conf);
    for (size_t i = 0; i < d->roster->n; i++) {
        struct tc_err err = {0};
        if (start_instance(d, conf, d->roster->wanted[i], &err) == 0)
            continue;
        log_line(LOG_ERR, "host", "%s", err_str(&err));
        refused++;
    }
    if (failed)
        *failed = refused;
    return d;
}

void dispatch_resume(struct dispatch *d)
{
    for (size_t i = 0; i < d->n; i++)
        runner_resume(d->seats[i].runner);
}

/* ---- looking ---- */

void dispatch_each_name(const struct dispatch *d, void (*each)(void *ctx, const char *name),
                        void *ctx)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->seats[i].runner)
            each(ctx, runner_name(d->seats[i].runner));
}

size_t dispatch_count(const struct dispatch *d)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++)
        n += d->seats[i].runner != NULL;
    return n;
}

void dispatch_each_instance(const struct dispatch *d,
                            void (*each)(void *ctx, const struct dispatch_instance *i), void *ctx)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct seat *const s = &d->seats[i];
        if (!s->runner)
            continue;
        struct channel *const c = runner_channel(s->runner);
        each(ctx, &(struct dispatch_instance){
                      .name = runner_name(s->runner),
                      .plugin = s->loaded->plugin.name,
                      .path = s->loaded->path,
                      .health = c->ops->health(c),
                      .post = runner_post_stats(s->runner),
                  });
    }
}

bool dispatch_take_row(struct dispatch *d, const char *instance, int64_t seq)
{
    const size_t i = dispatch_find_seat(d, instance);
    if (i == d->n)
        return false;
    runner_take_row(d->seats[i].runner, seq);
    return true;
}

/* ---- end ---- */

static bool is_busy(const struct dispatch *d)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->seats[i].runner && runner_is_busy(d->seats[i].runner))
            return true;
    return false;
}

bool dispatch_drain(struct dispatch *d, int64_t grace_ms)
{
    const int64_t deadline_ms = clock_mono_ms() + grace_ms;
    int64_t left = grace_ms;
    while (is_busy(d) && left > 0) {
        loop_once(d->services.loop, left < DRAIN_STEP_MS ? (int)left : DRAIN_STEP_MS);
        left = deadline_ms - clock_mono_ms();
    }
    return !is_busy(d);
}

unsigned dispatch_free(struct dispatch *d, int64_t grace_ms)
{
    if (!d)
        return 0;
    const int64_t deadline_ms = clock_mono_ms() + grace_ms;
    unsigned abandoned = 0;
    for (size_t i = 0; i < d->n; i++)
        if (d->seats[i].runner)
            runner_stop(d->seats[i].runner);
    for (size_t i = 0; i < d->n; i++) {
        if (d->seats[i].runner)
            abandoned += !runner_free(d->seats[i].runner, deadline_ms);
        loader_free(d->seats[i].loaded);
    }
    for (size_t i = 0; i < d->n_groups; i++)
        free(d->groups[i].audience);
    roster_free(d->roster);
    free(d->seats);
    free(d->groups);
    free(d);
    return abandoned;
}
