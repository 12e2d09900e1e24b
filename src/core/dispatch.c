/* SPDX-License-Identifier: MIT
 * Owns the running instances, their groups, and the boxes an event is cast in. */
#include "core/dispatch.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "plugin/loader.h"

/* Defaults of an instance that only lies in the directory. */
#define AUTO_EVENTS 4096
#define AUTO_BYTES (8 << 20)

/* The forms one event is cast in. */
enum form { FORM_NONE, FORM_PLAIN, FORM_HIDDEN, FORM_STRIPPED, FORMS };

/* What of a turn some instances see alike. */
struct group {
    bool sees_all;
    bool wants_state, wants_raw;
    char *audience; /* or NULL: user */
    enum form form; /* of the event that is being cast */
};

struct runner {
    char *name;
    struct channel *channel;
    size_t group;
    bool left_behind; /* did not move for as long as patience goes; not waited for */
};

struct dispatch {
    struct runner *runners;
    struct group *groups;
    size_t n, n_groups;
    int patience_ms;
    unsigned failed;
};

struct dispatch_turn {
    struct dispatch *dispatch;
    struct visibility visibility;
    void **handles; /* one per runner, NULL: it is gone or has got done */
};

/* ---- start ---- */

static bool same_audience(const char *a, const char *b)
{
    return strcmp(a ? a : "user", b ? b : "user") == 0;
}

/* The group of an instance; a new one when no other sees the same. */
static size_t find_group(struct dispatch *d, const struct conf_instance *spec,
                         const struct tc_plugin *plugin)
{
    const char *const audience = spec->audience ? spec->audience : plugin->audience;
    const struct group wanted = {
        .sees_all = spec->sees_all_set ? spec->sees_all : (plugin->flags & TC_SEES_ALL) != 0,
        .wants_state = spec->wants_state,
        .wants_raw = spec->wants_raw,
    };
    for (size_t i = 0; i < d->n_groups; i++) {
        const struct group *const c = &d->groups[i];
        if (c->sees_all == wanted.sees_all && c->wants_state == wanted.wants_state &&
            c->wants_raw == wanted.wants_raw && same_audience(c->audience, audience))
            return i;
    }
    d->groups = xrealloc(d->groups, (d->n_groups + 1) * sizeof *d->groups);
    d->groups[d->n_groups] = wanted;
    d->groups[d->n_groups].audience = audience ? xstrdup(audience) : NULL;
    return d->n_groups++;
}

static bool is_running(const struct dispatch *d, const char *name)
{
    for (size_t i = 0; i < d->n; i++)
        if (strcmp(d->runners[i].name, name) == 0)
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
    const size_t group = find_group(d, spec, &loaded->plugin);
    struct channel *const channel = channel_thread_start(conf, spec, loaded, NULL, &err);
    if (!channel) {
        refuse(d, &err);
        return;
    }
    d->runners = xrealloc(d->runners, (d->n + 1) * sizeof *d->runners);
    d->runners[d->n++] = (struct runner){xstrdup(spec->name), channel, group, false};
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

struct dispatch *dispatch_new(const struct conf *conf, unsigned *failed)
{
    struct dispatch *const d = xcalloc(1, sizeof *d);
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

/* ---- end ---- */

unsigned dispatch_free(struct dispatch *d, int64_t grace_ms)
{
    if (!d)
        return 0;
    const int64_t deadline_ms = clock_mono_ms() + grace_ms;
    unsigned abandoned = 0;
    for (size_t i = 0; i < d->n; i++)
        d->runners[i].channel->ops->stop(d->runners[i].channel);
    for (size_t i = 0; i < d->n; i++) {
        struct channel *const c = d->runners[i].channel;
        abandoned += c->ops->join(c, deadline_ms) < 0;
        free(d->runners[i].name);
    }
    for (size_t i = 0; i < d->n_groups; i++)
        free(d->groups[i].audience);
    free(d->runners);
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
    struct channel *const c = d->runners[i].channel;
    *health = c->ops->health(c);
    return d->runners[i].name;
}

/* ---- turns ---- */

struct dispatch_turn *dispatch_open(struct dispatch *d, const struct dispatch_spec *spec)
{
    struct dispatch_turn *const t = xcalloc(1, sizeof *t);
    *t = (struct dispatch_turn){d, spec->visibility, xcalloc(d->n + 1, sizeof *t->handles)};
    const struct channel_turn named = {.id = spec->id,
                                       .agent = spec->agent ? spec->agent : "",
                                       .conversation = spec->conversation};
    for (size_t i = 0; i < d->n; i++) {
        struct channel *const c = d->runners[i].channel;
        t->handles[i] = c->ops->open(c, &named);
    }
    return t;
}

void dispatch_close(struct dispatch_turn *t)
{
    if (!t)
        return;
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

/* The form in which runner i gets the event that is being cast. */
static enum form form_of(const struct dispatch_turn *t, size_t i)
{
    const struct dispatch *const d = t->dispatch;
    return t->handles[i] ? d->groups[d->runners[i].group].form : FORM_NONE;
}

/* Boxes the event in every form that somebody gets, with one reference for each who does. */
static void make_boxes(const struct dispatch_turn *t, const struct event *ev,
                       struct event_box *boxes[FORMS])
{
    unsigned wanted[FORMS] = {0};
    for (size_t i = 0; i < t->dispatch->n; i++)
        wanted[form_of(t, i)]++;
    for (enum form form = FORM_PLAIN; form < FORMS; form++)
        if (wanted[form])
            boxes[form] = event_box_ref_many(make_box(ev, form, &t->visibility), wanted[form] - 1);
}

void dispatch_cast(struct dispatch_turn *t, struct event *ev)
{
    struct dispatch *const d = t->dispatch;
    if (d->patience_ms > 0)
        dispatch_wait_room(d, d->patience_ms);
    for (size_t i = 0; i < d->n_groups; i++)
        d->groups[i].form = form_for(&d->groups[i], &t->visibility, ev);
    struct event_box *boxes[FORMS] = {NULL};
    make_boxes(t, ev, boxes);
    for (size_t i = 0; i < d->n; i++) {
        const enum form form = form_of(t, i);
        if (form == FORM_NONE)
            continue;
        struct channel *const c = d->runners[i].channel;
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
        struct runner *const r = &d->runners[i];
        const bool room = r->channel->ops->wait_room(r->channel, r->left_behind ? 0 : patience_ms);
        if (!room && !r->left_behind)
            log_line(LOG_WARN, "host", "instance %s does not move; no longer waited for", r->name);
        r->left_behind = !room;
    }
}
