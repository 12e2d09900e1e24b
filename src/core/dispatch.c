/* SPDX-License-Identifier: MIT
 * Owns the running instances, their groups, and the boxes an event is cast in. */
#include "core/dispatch.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "core/turnlog.h"
#include "plugin/loader.h"

/* Defaults of an instance that only lies in the directory. */
#define AUTO_EVENTS 4096
#define AUTO_BYTES (8 << 20)
#define DRAIN_STEP_MS 20 /* how soon it is looked again whether all is done */

/* The forms one event is cast in. */
enum form { FORM_NONE, FORM_PLAIN, FORM_HIDDEN, FORM_STRIPPED, FORMS };

/* What of a turn some instances see alike. */
struct group {
    bool sees_all;
    bool wants_state, wants_raw;
    char *audience; /* or NULL: user */
    enum form form; /* of the event that is being cast */
};

struct seat {
    struct runner *runner;
    size_t group;
    bool left_behind; /* did not move for as long as patience goes; not waited for */
};

struct dispatch {
    struct services services;
    struct seat *seats;
    struct group *groups;
    size_t n, n_groups;
    size_t log_all, log_shown; /* groups: what the turn log keeps, and what of it is shown */
    int patience_ms;
    unsigned failed;
};

struct dispatch_turn {
    struct dispatch *dispatch;
    struct visibility visibility;
    struct turnlog_entry *entry; /* NULL: there is no turn log, or it has got done */
    void **handles;              /* one per seat, NULL: it is gone or has got done */
};

/* ---- start ---- */

static bool same_audience(const char *a, const char *b)
{
    return strcmp(a ? a : "user", b ? b : "user") == 0;
}

/* The group that sees the same; a new one when there is none. */
static size_t find_group(struct dispatch *d, const struct group *wanted, const char *audience)
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
    return find_group(d, &wanted, spec->audience ? spec->audience : plugin->audience);
}

static void make_log_groups(struct dispatch *d)
{
    d->log_all = find_group(d, &(struct group){.sees_all = true, .wants_state = true}, NULL);
    d->log_shown = find_group(d, &(struct group){.wants_state = true}, NULL);
}

static bool is_running(const struct dispatch *d, const char *name)
{
    for (size_t i = 0; i < d->n; i++)
        if (strcmp(runner_name(d->seats[i].runner), name) == 0)
            return true;
    return false;
}

static void refuse(struct dispatch *d, const struct tc_err *err)
{
    log_line(LOG_ERR, "host", "%s", err_str(err));
    d->failed++;
}

static void start_loaded(struct dispatch *d, const struct conf *conf,
                         const struct conf_instance *spec, struct loaded *loaded)
{
    struct tc_err err = {0};
    const size_t group = group_of(d, spec, &loaded->plugin);
    struct runner *const runner = runner_new(conf, spec, loaded, &d->services, &err);
    if (!runner) {
        refuse(d, &err);
        return;
    }
    d->seats = xrealloc(d->seats, (d->n + 1) * sizeof *d->seats);
    d->seats[d->n++] = (struct seat){runner, group, false};
}

static void start_instance(struct dispatch *d, const struct conf *conf,
                           const struct conf_instance *spec)
{
    struct tc_err err = {0};
    if (is_running(d, spec->name)) {
        err_set(&err, conf->file, "instance %s is disabled: there is one of that name already",
                spec->name);
        refuse(d, &err);
        return;
    }
    struct loaded *const loaded =
        loader_find(spec->plugin, (const char *const *)conf->plugin_dirs, &err);
    if (loaded)
        start_loaded(d, conf, spec, loaded);
    else
        refuse(d, &err);
}

/* A module that some instance names, enabled or not, is not loaded a second time. */
static bool is_configured(const struct conf *conf, const char *name)
{
    for (size_t i = 0; i < conf->n_instances; i++) {
        const char *const plugin = conf->instances[i].plugin;
        const char *const slash = strrchr(plugin, '/');
        const char *const base = slash ? slash + 1 : plugin;
        const size_t n = strlen(name);
        if (strncmp(base, name, n) == 0 && (!base[n] || strcmp(base + n, ".so") == 0))
            return true;
    }
    return false;
}

struct autoload {
    struct dispatch *dispatch;
    const struct conf *conf;
};

static void autoload_file(void *ctx, const char *path)
{
    const struct autoload *const a = ctx;
    const char *const base = strrchr(path, '/') + 1;
    CLEANUP_FREE char *name = xstrndup(base, strlen(base) - strlen(".so"));
    if (is_configured(a->conf, name) || is_running(a->dispatch, name))
        return;
    CLEANUP_FREE char *plugin = xstrdup(path);
    const struct conf_instance spec = {
        .name = name,
        .plugin = plugin,
        .enabled = true,
        .queue_events = AUTO_EVENTS,
        .queue_bytes = AUTO_BYTES,
    };
    start_instance(a->dispatch, a->conf, &spec);
}

struct dispatch *dispatch_new(const struct conf *conf, const struct services *services,
                              unsigned *failed)
{
    struct dispatch *const d = xcalloc(1, sizeof *d);
    if (services)
        d->services = *services;
    if (d->services.turnlog)
        make_log_groups(d);
    for (size_t i = 0; i < conf->n_instances; i++)
        if (conf->instances[i].enabled)
            start_instance(d, conf, &conf->instances[i]);
    if (conf->autoload) {
        struct autoload a = {d, conf};
        loader_scan((const char *const *)conf->plugin_dirs, autoload_file, &a);
    }
    if (failed)
        *failed = d->failed;
    return d;
}

void dispatch_resume(struct dispatch *d)
{
    for (size_t i = 0; i < d->n; i++)
        runner_resume(d->seats[i].runner);
}

void dispatch_each_deliverer(const struct dispatch *d, void (*each)(void *ctx, const char *name),
                             void *ctx)
{
    for (size_t i = 0; i < d->n; i++)
        if (runner_delivers(d->seats[i].runner))
            each(ctx, runner_name(d->seats[i].runner));
}

/* ---- end ---- */

static bool is_busy(const struct dispatch *d)
{
    for (size_t i = 0; i < d->n; i++)
        if (runner_is_busy(d->seats[i].runner))
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
        runner_stop(d->seats[i].runner);
    for (size_t i = 0; i < d->n; i++)
        abandoned += !runner_free(d->seats[i].runner, deadline_ms);
    for (size_t i = 0; i < d->n_groups; i++)
        free(d->groups[i].audience);
    free(d->seats);
    free(d->groups);
    free(d);
    return abandoned;
}

size_t dispatch_count(const struct dispatch *d)
{
    return d->n;
}

const char *dispatch_health(struct dispatch *d, size_t i, struct channel_health *health)
{
    struct channel *const c = runner_channel(d->seats[i].runner);
    *health = c->ops->health(c);
    return runner_name(d->seats[i].runner);
}

/* ---- turns ---- */

/* The route is for whoever submitted the message. */
static void *open_for(struct runner *r, const struct dispatch_spec *spec)
{
    const bool own = spec->submitter && strcmp(spec->submitter, runner_name(r)) == 0;
    return runner_open(r, &(struct channel_turn){
                              .id = spec->id,
                              .agent = spec->agent ? spec->agent : "",
                              .conversation = spec->conversation,
                              .route = own ? spec->route : NULL,
                          });
}

struct dispatch_turn *dispatch_open(struct dispatch *d, const struct dispatch_spec *spec)
{
    struct dispatch_turn *const t = xcalloc(1, sizeof *t);
    *t = (struct dispatch_turn){
        .dispatch = d,
        .visibility = spec->visibility,
        .handles = xcalloc(d->n + 1, sizeof *t->handles),
    };
    if (d->services.turnlog)
        t->entry = turnlog_begin(d->services.turnlog, &(struct turnlog_spec){
                                                          .id = spec->id,
                                                          .agent = spec->agent,
                                                          .conversation = spec->conversation,
                                                          .source = spec->submitter,
                                                      });
    for (size_t i = 0; i < d->n; i++)
        t->handles[i] = open_for(d->seats[i].runner, spec);
    return t;
}

void dispatch_close(struct dispatch_turn *t)
{
    if (!t)
        return;
    if (t->entry)
        turnlog_end(t->dispatch->services.turnlog, t->entry);
    free(t->handles);
    free(t);
}

static enum form form_for(const struct group *c, const struct visibility *v, const struct event *ev)
{
    if ((ev->kind == TC_STATE && !c->wants_state) || (ev->kind == TC_RAW && !c->wants_raw))
        return FORM_NONE;
    const enum view view =
        visibility_audience(c->audience, ev) ? visibility_view(v, ev) : VIEW_HIDE;
    if (c->sees_all)
        return view == VIEW_HIDE ? FORM_HIDDEN : FORM_PLAIN;
    if (view == VIEW_HIDE)
        return FORM_NONE;
    return view == VIEW_STRIP ? FORM_STRIPPED : FORM_PLAIN;
}

static struct event_box *make_box(const struct event *ev, enum form form,
                                  const struct visibility *v)
{
    struct event draft = *ev;
    draft.u.meta = &draft.meta;
    draft.meta.hidden = form == FORM_HIDDEN;
    if (form == FORM_STRIPPED)
        visibility_strip(v, &draft);
    return event_box_new(&draft);
}

/* The form in which seat i gets the event that is being cast. */
static enum form form_of(const struct dispatch_turn *t, size_t i)
{
    const struct dispatch *const d = t->dispatch;
    return t->handles[i] ? d->groups[d->seats[i].group].form : FORM_NONE;
}

/* What the turn log gets beside the whole event: the form in which it is shown, when that is less.
 */
static enum form log_shown(const struct dispatch *d)
{
    const enum form form = d->groups[d->log_shown].form;
    return form == FORM_STRIPPED ? form : FORM_NONE;
}

/* Boxes the event in every form that somebody gets, with one reference for each who does. */
static void make_boxes(const struct dispatch_turn *t, const struct event *ev,
                       struct event_box *boxes[FORMS])
{
    const struct dispatch *const d = t->dispatch;
    unsigned wanted[FORMS] = {0};
    for (size_t i = 0; i < d->n; i++)
        wanted[form_of(t, i)]++;
    if (t->entry) {
        wanted[d->groups[d->log_all].form]++;
        wanted[log_shown(d)]++;
    }
    for (enum form form = FORM_PLAIN; form < FORMS; form++)
        if (wanted[form])
            boxes[form] = event_box_ref_many(make_box(ev, form, &t->visibility), wanted[form] - 1);
}

static void decide_forms(const struct dispatch_turn *t, const struct event *ev)
{
    struct dispatch *const d = t->dispatch;
    for (size_t i = 0; i < d->n_groups; i++)
        d->groups[i].form = form_for(&d->groups[i], &t->visibility, ev);
}

void dispatch_each_target(const struct dispatch_turn *t, const struct event *ev,
                          void (*each)(void *ctx, const char *instance, struct str line), void *ctx)
{
    const struct dispatch *const d = t->dispatch;
    decide_forms(t, ev);
    for (size_t i = 0; i < d->n; i++) {
        const enum form form = d->groups[d->seats[i].group].form;
        if (form == FORM_NONE || !runner_delivers(d->seats[i].runner))
            continue;
        struct event_box *const box = make_box(ev, form, &t->visibility);
        struct str line;
        line.p = event_box_line(box, &line.len);
        each(ctx, runner_name(d->seats[i].runner), line);
        event_box_unref(box);
    }
}

static void cast_to_log(struct dispatch_turn *t, struct event_box *const boxes[FORMS])
{
    const struct dispatch *const d = t->dispatch;
    const enum form whole = d->groups[d->log_all].form, shown = log_shown(d);
    if (whole != FORM_NONE)
        turnlog_add(d->services.turnlog, t->entry, boxes[whole], whole == FORM_HIDDEN,
                    shown == FORM_NONE ? NULL : boxes[shown]);
}

void dispatch_cast(struct dispatch_turn *t, struct event *ev)
{
    struct dispatch *const d = t->dispatch;
    if (d->patience_ms > 0)
        dispatch_wait_room(d, d->patience_ms);
    decide_forms(t, ev);
    struct event_box *boxes[FORMS] = {NULL};
    make_boxes(t, ev, boxes);
    if (t->entry)
        cast_to_log(t, boxes);
    for (size_t i = 0; i < d->n; i++) {
        const enum form form = form_of(t, i);
        if (form == FORM_NONE)
            continue;
        struct channel *const c = runner_channel(d->seats[i].runner);
        c->ops->send(c, t->handles[i], boxes[form]);
        if (ev->kind == TC_DONE)
            t->handles[i] = NULL;
    }
}

/* ---- sources that can wait ---- */

void dispatch_set_patience(struct dispatch *d, int patience_ms)
{
    d->patience_ms = patience_ms;
}

void dispatch_wait_room(struct dispatch *d, int patience_ms)
{
    for (size_t i = 0; i < d->n; i++) {
        struct seat *const s = &d->seats[i];
        struct channel *const c = runner_channel(s->runner);
        const bool room = c->ops->wait_room(c, s->left_behind ? 0 : patience_ms);
        if (!room && !s->left_behind)
            log_line(LOG_WARN, "host", "instance %s does not move; no longer waited for",
                     runner_name(s->runner));
        s->left_behind = !room;
    }
}
