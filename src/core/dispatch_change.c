/* SPDX-License-Identifier: MIT
 * Owns the way from the instances that run to those of another configuration: all of them, or none.
 *
 * What can be known beforehand is known before anything is touched: every plugin is loaded, in a
 * process of its own first, and every option is read. Then the instances that shall not stay end,
 * because two of a kind would get in each other's way (one poller of an account, one writer of a
 * file), and the others start. When one does not, those that had ended start again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "conf/options.h"
#include "core/dispatch_impl.h"

#define END_MS 5000 /* what those that end get for it, together: the loop waits */

/* What becomes of one instance that is wanted. */
struct step {
    const struct conf_instance *spec; /* of the next roster */
    size_t seat;                      /* of its predecessor; n_before: there is none */
    struct loader_probe *probe;       /* while it is looked at */
    struct loaded *loaded;            /* NULL: it stays as it is */
    struct seat filled;               /* once it was started, before it takes its seat */
    struct tc_err err;                /* why its file is no plugin */
};

struct dispatch_change {
    struct dispatch *dispatch;
    struct roster *next;
    struct step *steps;
    size_t n;
    size_t n_before; /* seats */
    bool *ended;     /* by seat: it ran and does not stay */
};

/* ---- what there is to do ---- */

static bool stays(const struct seat *s, const struct conf_instance *spec)
{
    return conf_instance_same(s->spec, spec) && runner_has_options(s->runner, spec->options) &&
           loader_is_current(s->loaded);
}

/* The linker knows a file by its inode: it would take the new text for the old module. */
static int check_overwritten(const struct dispatch *d, const char *path, struct tc_err *err)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct loaded *const l = d->seats[i].loaded;
        if (l && strcmp(l->path, path) == 0 && loader_is_overwritten(l))
            return err_set(
                err, path,
                "was written over while it is loaded: move a new file there, or restart");
    }
    return 0;
}

static void begin_probe(struct step *s, struct loader_trial *trial, const struct dispatch *d,
                        const struct conf *conf)
{
    CLEANUP_FREE char *path =
        loader_locate(s->spec->plugin, (const char *const *)conf->plugin_dirs, &s->err);
    if (path && check_overwritten(d, path, &s->err) == 0)
        s->probe = loader_probe_begin(trial, path);
}

/* What the probe says, then whether the options fit; -1 with err. */
static int finish_probe(struct step *s, const struct loader_trial *trial, const struct conf *conf,
                        struct tc_err *err)
{
    char place[sizeof err->place] = "";
    if (s->probe)
        s->loaded = loader_probe_finish(trial, s->probe, &s->err);
    s->probe = NULL;
    if (s->spec->line > 0)
        snprintf(place, sizeof place, "%.200s:%d", conf->file, s->spec->line);
    if (!s->loaded)
        return err_set(err, place, "plugins.instances.%s: %s", s->spec->name, err_str(&s->err));
    return loader_try_options(s->loaded, s->spec, conf->file, err);
}

static void add_step(struct dispatch_change *c, const struct step *s)
{
    c->steps = xrealloc(c->steps, (c->n + 1) * sizeof *c->steps);
    c->steps[c->n++] = *s;
}

/* False: its plugin has to be looked at, which begins. */
static bool examine(struct step *s, struct loader_trial *trial, const struct dispatch *d,
                    const struct conf *conf)
{
    s->seat = dispatch_find_seat(d, s->spec->name);
    if (s->seat < d->n && stays(&d->seats[s->seat], s->spec))
        return true;
    begin_probe(s, trial, d, conf);
    return false;
}

/* What only lies in a directory and is no plugin does not count, as at the start. */
static int judge(struct dispatch_change *c, struct step *s, const struct loader_trial *trial,
                 bool named, struct tc_err *err)
{
    struct tc_err why = {0};
    if (finish_probe(s, trial, c->next->conf, &why) == 0) {
        add_step(c, s);
        return 0;
    }
    loader_free(s->loaded);
    if (!named) {
        log_line(LOG_ERR, "host", "%s", err_str(&why));
        return 0;
    }
    if (err && !*err->text)
        *err = why;
    return -1;
}

/* All plugins are looked at at once. -1 with err, of the first that is none. */
static int examine_all(struct dispatch_change *c, struct tc_err *err)
{
    const struct roster *const next = c->next;
    CLEANUP_FREE struct step *steps = xcalloc(next->n + 1, sizeof *steps);
    CLEANUP_FREE bool *stay = xcalloc(next->n + 1, sizeof *stay);
    struct loader_trial *const trial = loader_trial_new();
    int rc = 0;
    for (size_t i = 0; i < next->n; i++) {
        steps[i].spec = next->wanted[i];
        stay[i] = examine(&steps[i], trial, c->dispatch, next->conf);
    }
    loader_trial_run(trial);
    for (size_t i = 0; i < next->n; i++)
        if (stay[i])
            add_step(c, &steps[i]);
        else if (judge(c, &steps[i], trial, i < next->n_named, err) < 0)
            rc = -1;
    loader_trial_free(trial);
    return rc;
}

static void mark_ended(struct dispatch_change *c)
{
    const struct dispatch *const d = c->dispatch;
    c->ended = xcalloc(d->n + 1, sizeof *c->ended);
    for (size_t i = 0; i < d->n; i++)
        c->ended[i] = d->seats[i].runner != NULL;
    for (size_t i = 0; i < c->n; i++)
        if (!c->steps[i].loaded)
            c->ended[c->steps[i].seat] = false;
}

struct dispatch_change *dispatch_change_new(struct dispatch *d, const struct conf *conf,
                                            struct tc_err *err)
{
    struct dispatch_change *const c = xcalloc(1, sizeof *c);
    *c = (struct dispatch_change){.dispatch = d, .next = roster_new(conf), .n_before = d->n};
    struct tc_err why = {0};
    if (examine_all(c, &why) < 0) {
        *err = why;
        dispatch_change_free(c);
        return NULL;
    }
    if (c->n == 0) {
        err_set(err, conf->file, "no instance would run");
        dispatch_change_free(c);
        return NULL;
    }
    mark_ended(c);
    return c;
}

void dispatch_change_free(struct dispatch_change *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->n; i++)
        loader_free(c->steps[i].loaded);
    roster_free(c->next);
    free(c->steps);
    free(c->ended);
    free(c);
}

static bool is_replaced(const struct dispatch_change *c, size_t seat)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->steps[i].seat == seat)
            return true;
    return false;
}

void dispatch_change_each(const struct dispatch_change *c,
                          void (*each)(void *ctx, const char *name, enum dispatch_step step),
                          void *ctx)
{
    for (size_t i = 0; i < c->n; i++)
        each(ctx, c->steps[i].spec->name,
             !c->steps[i].loaded              ? DISPATCH_KEPT
             : c->steps[i].seat < c->n_before ? DISPATCH_RESTARTED
                                              : DISPATCH_STARTED);
    for (size_t i = 0; i < c->n_before; i++)
        if (c->ended[i] && !is_replaced(c, i))
            each(ctx, c->dispatch->seats[i].spec->name, DISPATCH_STOPPED);
}

/* ---- doing it ---- */

/* Ends all of them at once; who does not come back is abandoned. */
static void end_instances(struct dispatch_change *c)
{
    struct dispatch *const d = c->dispatch;
    const int64_t deadline_ms = clock_mono_ms() + END_MS;
    for (size_t i = 0; i < c->n_before; i++)
        if (c->ended[i])
            runner_stop(d->seats[i].runner);
    for (size_t i = 0; i < c->n_before; i++)
        if (c->ended[i]) {
            runner_free(d->seats[i].runner, deadline_ms);
            d->seats[i].runner = NULL;
        }
}

static int start_instances(struct dispatch_change *c, struct tc_err *err)
{
    for (size_t i = 0; i < c->n; i++) {
        struct step *const s = &c->steps[i];
        if (s->loaded &&
            dispatch_fill_seat(c->dispatch, &s->filled, c->next->conf, s->spec, s->loaded, err) < 0)
            return -1;
    }
    for (size_t i = 0; i < c->n; i++)
        if (c->steps[i].loaded && dispatch_await_seat(&c->steps[i].filled, err) < 0)
            return -1;
    return 0;
}

/* Turns that run are opened for it anew, but for those whose outcome is in the ledger: that was
 * cast again as it was resumed. */
static void begin(struct dispatch *d, size_t seat)
{
    struct runner *const r = d->seats[seat].runner;
    runner_resume(r);
    for (struct dispatch_turn *t = d->turns; t; t = t->next) {
        if (seat >= t->n || !t->handles[seat])
            continue;
        const struct channel_turn named = dispatch_name_turn(t, runner_name(r));
        t->handles[seat] = t->decided ? NULL : runner_reopen(r, &named);
    }
}

static void leave(struct dispatch *d, size_t seat)
{
    for (struct dispatch_turn *t = d->turns; t; t = t->next)
        if (seat < t->n)
            t->handles[seat] = NULL;
    loader_free(d->seats[seat].loaded);
    d->seats[seat] = (struct seat){0};
}

static void end_started(struct dispatch_change *c)
{
    const int64_t deadline_ms = clock_mono_ms() + END_MS;
    for (size_t i = 0; i < c->n; i++) {
        struct runner **const r = &c->steps[i].filled.runner;
        if (!*r)
            continue;
        runner_stop(*r);
        runner_free(*r, deadline_ms);
        *r = NULL;
    }
}

static void start_again(struct dispatch_change *c)
{
    struct dispatch *const d = c->dispatch;
    for (size_t i = 0; i < c->n_before; i++) {
        struct seat *const s = &d->seats[i];
        struct tc_err err = {0};
        if (!c->ended[i])
            continue;
        if (dispatch_fill_seat(d, s, d->roster->conf, s->spec, s->loaded, &err) == 0 &&
            dispatch_await_seat(s, &err) == 0) {
            begin(d, i);
            continue;
        }
        log_line(LOG_ERR, "host", "it does not start again: %s", err_str(&err));
        leave(d, i);
    }
}

static void take_seats(struct dispatch_change *c)
{
    struct dispatch *const d = c->dispatch;
    for (size_t i = 0; i < c->n; i++) {
        struct step *const s = &c->steps[i];
        if (!s->loaded) {
            d->seats[s->seat].spec = s->spec;
            continue;
        }
        if (s->seat == c->n_before)
            s->seat = dispatch_add_seat(d);
        else
            loader_free(d->seats[s->seat].loaded);
        d->seats[s->seat] = s->filled;
        s->loaded = NULL;
        begin(d, s->seat);
    }
}

/* All of it, but whose roster it is. */
static int exchange(struct dispatch_change *c, struct tc_err *err)
{
    end_instances(c);
    if (start_instances(c, err) < 0) {
        end_started(c);
        start_again(c);
        return -1;
    }
    for (size_t i = 0; i < c->n_before; i++)
        if (c->ended[i] && !is_replaced(c, i))
            leave(c->dispatch, i);
    take_seats(c);
    return 0;
}

int dispatch_change_apply(struct dispatch_change *c, struct tc_err *err)
{
    struct dispatch *const d = c->dispatch;
    if (exchange(c, err) < 0)
        return -1;
    roster_free(d->roster);
    d->roster = c->next;
    c->next = NULL;
    return 0;
}

/* ---- one alone ---- */

const struct conf_instance *dispatch_wants(const struct dispatch *d, const char *name,
                                           struct tc_err *err)
{
    const struct roster *const r = d->roster;
    CLEANUP_FREE const char **names = xcalloc(r->n + 1, sizeof *names);
    for (size_t i = 0; i < r->n; i++) {
        names[i] = r->wanted[i]->name;
        if (strcmp(names[i], name) == 0)
            return r->wanted[i];
    }
    const char *const near = options_nearest(name, names, r->n);
    err_set(err, NULL, "there is no instance \"%s\"%s%s%s", name, near ? ": did you mean \"" : "",
            near ? near : "", near ? "\"?" : "");
    return NULL;
}

static int replace(struct dispatch *d, struct step *s, struct tc_err *err)
{
    CLEANUP_FREE bool *ended = xcalloc(d->n + 1, sizeof *ended);
    struct dispatch_change c = {
        .dispatch = d, .next = d->roster, .steps = s, .n = 1, .n_before = d->n, .ended = ended};
    struct loader_trial *const trial = loader_trial_new();
    begin_probe(s, trial, d, d->roster->conf);
    loader_trial_run(trial);
    ended[s->seat] = s->seat < d->n;
    const int tried = finish_probe(s, trial, d->roster->conf, err);
    loader_trial_free(trial);
    const int rc = tried < 0 || exchange(&c, err) < 0 ? -1 : 0;
    loader_free(s->loaded);
    return rc;
}

int dispatch_restart(struct dispatch *d, const char *name, struct tc_err *err)
{
    struct step s = {.spec = dispatch_wants(d, name, err), .seat = dispatch_find_seat(d, name)};
    if (!s.spec)
        return -1;
    struct runner *const r = s.seat < d->n ? d->seats[s.seat].runner : NULL;
    if (r && stays(&d->seats[s.seat], s.spec) && runner_is_down(r))
        return runner_revive(r, err);
    return replace(d, &s, err);
}
