/* SPDX-License-Identifier: MIT
 * Slots of the instance table: starts an instance in a slot and assigns it to a view. A slot
 * index stays valid for the life of the turns that refer to it. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/nearest_word.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "core/dispatch/dispatch_internal.h"

#define DRAIN_STEP_MS 20 /* interval of checks whether all work is done */

/* ---- views ---- */

static bool same_audience(const char *a, const char *b)
{
    return strcmp(a ? a : "user", b ? b : "user") == 0;
}

/* The view with these properties; creates it if necessary. Copies `audience`. */
static size_t dispatch_find_view(struct dispatch *d, const struct dispatch_view *wanted,
                                 const char *audience)
{
    for (size_t i = 0; i < d->n_groups; i++) {
        const struct dispatch_view *const c = &d->groups[i];
        if (c->sees_all == wanted->sees_all && c->wants_state == wanted->wants_state &&
            c->wants_raw == wanted->wants_raw && same_audience(c->audience, audience))
            return i;
    }
    d->groups = xrealloc(d->groups, (d->n_groups + 1) * sizeof *d->groups);
    d->groups[d->n_groups] = *wanted;
    d->groups[d->n_groups].audience = xstrdup(audience);
    return d->n_groups++;
}

static size_t group_of(struct dispatch *d, const struct conf_instance *spec,
                       const struct tc_plugin *plugin)
{
    const struct dispatch_view wanted = {
        .sees_all = spec->sees_all_set ? spec->sees_all : (plugin->flags & TC_SEES_ALL) != 0,
        .wants_state = spec->wants_state || (plugin->flags & TC_WANTS_STATE),
        .wants_raw = spec->wants_raw,
    };
    return dispatch_find_view(d, &wanted, spec->audience ? spec->audience : plugin->audience);
}

static void make_log_groups(struct dispatch *d)
{
    d->log_all =
        dispatch_find_view(d, &(struct dispatch_view){.sees_all = true, .wants_state = true}, NULL);
    d->log_shown = dispatch_find_view(d, &(struct dispatch_view){.wants_state = true}, NULL);
}

/* ---- slots ---- */

#define KIND(kind) (UINT32_C(1) << (kind))
/* Kinds that begin or end a turn, or flush delayed events before them. */
#define KINDS_ALWAYS                                                                               \
    (KIND(TC_START) | KIND(TC_TOOL_CALL) | KIND(TC_REQUEST) | KIND(TC_FINAL) | KIND(TC_ERROR) |    \
     KIND(TC_DONE))

/* An instance without a function for a kind is not woken for it. */
static uint32_t kinds_of(const struct loaded_plugin *loaded)
{
    uint32_t kinds = KINDS_ALWAYS;
    for (unsigned kind = 0; kind < TC_KINDS; kind++)
        if (loader_has_callback(loaded, kind) || loader_has_callback(loaded, DESCRIPTOR_ON_EVENT))
            kinds |= KIND(kind);
    return kinds;
}

size_t dispatch_find_slot(const struct dispatch *d, const char *name)
{
    size_t i = 0;
    while (i < d->n && !(d->slots[i].instance &&
                         strcmp(connector_instance_name(d->slots[i].instance), name) == 0))
        i++;
    return i;
}

size_t dispatch_add_slot(struct dispatch *d)
{
    d->slots = xrealloc(d->slots, (d->n + 1) * sizeof *d->slots);
    d->slots[d->n] = (struct dispatch_slot){0};
    return d->n++;
}

int dispatch_start_slot(struct dispatch *d, struct dispatch_slot *s, const struct conf *conf,
                        const struct conf_instance *spec, struct loaded_plugin *loaded,
                        struct tc_err *err)
{
    struct connector_instance *const instance =
        connector_start(conf, spec, loader_ref_plugin(loaded), &d->services, err);
    if (!instance)
        return -1;
    *s = (struct dispatch_slot){
        .instance = instance,
        .spec = spec,
        .loaded = loaded,
        .group = group_of(d, spec, &loaded->plugin),
        .kinds = kinds_of(loaded),
        .is_led = connector_instance_is_led(&d->services, spec, loaded),
    };
    s->stands_by = s->is_led && !d->services.leads(d->services.ctx, spec->name);
    return 0;
}

void dispatch_launch_slot(const struct dispatch_slot *s)
{
    if (!s->stands_by)
        connector_instance_launch(s->instance);
}

void dispatch_join_turns(struct dispatch *d, size_t slot)
{
    ASSERT(slot < d->n && d->slots[slot].instance);
    for (struct dispatch_turn *t = d->turns; t; t = t->next)
        if (slot < t->n && t->slots[slot].part == PART_ALL && !t->guest.instance &&
            !dispatch_scope_is_adopted(t, slot))
            t->slots[slot].handle = dispatch_scope_reopen(t, d->slots[slot].instance);
}

void dispatch_reopen_turns(struct dispatch *d, size_t slot)
{
    ASSERT(slot < d->n && d->slots[slot].instance);
    struct connector_instance *const r = d->slots[slot].instance;
    for (struct dispatch_turn *t = d->turns; t; t = t->next) {
        if (slot < t->n && t->slots[slot].handle)
            t->slots[slot].handle = d->slots[slot].stands_by ? NULL : dispatch_scope_reopen(t, r);
    }
}

void dispatch_clear_slot(struct dispatch *d, size_t slot)
{
    ASSERT(slot < d->n && d->slots[slot].instance);
    for (struct dispatch_turn *t = d->turns; t; t = t->next)
        if (slot < t->n)
            t->slots[slot].handle = NULL;
    loader_unref_plugin(d->slots[slot].loaded);
    d->slots[slot] = (struct dispatch_slot){0};
}

/* For callers without a loop: waits until it runs. -1 with err: the slot is empty; its plugin is
 * still loaded. */
static int dispatch_await_slot(struct dispatch_slot *s, struct tc_err *err)
{
    ASSERT(s->instance);
    if (connector_await_start(s->instance, err) == 0)
        return 0;
    s->instance = NULL;
    return -1;
}

/* Starts probing its plugin. NULL with err: none. */
static struct probe_candidate *dispatch_probe_plugin(struct probe_run *trial,
                                                     const struct conf *conf,
                                                     const struct conf_instance *spec,
                                                     struct tc_err *err)
{
    CLEANUP_FREE char *path =
        loader_find_path(spec->plugin, (const char *const *)conf->plugin_dirs, err);
    return path ? probe_run_add_file(trial, path) : NULL;
}

/* ---- instances that did not start ---- */

/* Some errors begin with the name of the instance. */
static const char *skip_name(const char *text, const char *name)
{
    CLEANUP_FREE char *front = xasprintf("instance %s", name);
    const size_t n = strlen(front);
    static const char *const links[] = {": disabled: ", ": "};
    for (size_t i = 0; strncmp(text, front, n) == 0 && i < sizeof links / sizeof *links; i++)
        if (strncmp(text + n, links[i], strlen(links[i])) == 0)
            return text + n + strlen(links[i]);
    return text;
}

static bool is_in(const char *place, const char *file)
{
    const size_t n = strlen(file);
    return strncmp(place, file, n) == 0 && (!place[n] || place[n] == ':');
}

/* "my.conf:10: instance tg is disabled: option …": the line of the option if the error has one,
 * otherwise of the instance. */
static struct tc_err place_reason(const struct conf *conf, const struct conf_instance *spec,
                                  const struct tc_err *err)
{
    struct tc_err why = {0};
    bool placed = is_in(err->place, conf->file) || (spec->file && is_in(err->place, spec->file));
    for (const struct conf_option *o = spec->options; o && o->key; o++)
        placed = placed || (o->file && is_in(err->place, o->file));
    const char *const text = skip_name(err->text, spec->name);
    if (placed)
        err_set(&why, err->place, "%s", text);
    else
        err_set(&why, conf->file, "%s%s%s", err->place, *err->place ? ": " : "", text);
    if (!placed && spec->line > 0)
        snprintf(why.place, sizeof why.place, "%.200s:%d", spec->file ? spec->file : conf->file,
                 spec->line);
    return why;
}

void dispatch_record_disabled(struct dispatch *d, const struct conf_instance *spec,
                              const struct tc_err *err)
{
    struct disabled *const entry = xmalloc(sizeof *entry);
    *entry = (struct disabled){d->disabled, xstrdup(spec->name),
                               place_reason(d->configured->conf, spec, err)};
    d->disabled = entry;
    log_write(LOG_ERR, "host", "%s: instance %s: disabled: %s", entry->why.place, spec->name,
              entry->why.text);
}

void dispatch_log_switched_off(const struct conf *conf)
{
    for (size_t i = 0; i < conf->n_instances; i++) {
        const struct conf_instance *const inst = &conf->instances[i];
        if (!inst->enabled)
            log_write(LOG_INFO, "host", "%s:%d: instance %s: disabled (enabled = false)",
                      inst->file ? inst->file : conf->file, inst->line, inst->name);
    }
}

const struct tc_err *dispatch_why_disabled(const struct dispatch *d, const char *name)
{
    const struct disabled *entry = d->disabled;
    while (entry && strcmp(entry->name, name) != 0)
        entry = entry->next;
    return entry && dispatch_find_slot(d, name) == d->n ? &entry->why : NULL;
}

static void free_disabled(struct dispatch *d)
{
    for (struct disabled *entry; (entry = d->disabled);) {
        d->disabled = entry->next;
        free(entry->name);
        free(entry);
    }
}

/* ---- start of all instances ---- */

/* An instance during its start. */
struct start {
    struct probe_candidate *probe; /* NULL: no file */
    struct loaded_plugin *loaded;
    struct dispatch_slot slot;
    struct tc_err err;
};

static bool has_begun(const struct start *starts, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (starts[i].slot.instance &&
            strcmp(connector_instance_name(starts[i].slot.instance), name) == 0)
            return true;
    return false;
}

static void begin_start(struct dispatch *d, struct start *starts, size_t i)
{
    const struct conf *const conf = d->configured->conf;
    const struct conf_instance *const spec = d->configured->wanted[i];
    struct start *const s = &starts[i];
    if (!s->loaded)
        return;
    if (has_begun(starts, i, spec->name)) {
        err_set(&s->err, NULL, "duplicate name; rename one in plugins.instances");
    } else if (dispatch_start_slot(d, &s->slot, conf, spec, s->loaded, &s->err) == 0) {
        return;
    }
    loader_unref_plugin(s->loaded);
}

/* False: failed, and logged. */
static bool finish_start(struct dispatch *d, const struct conf_instance *spec, struct start *s)
{
    if (s->slot.instance && dispatch_await_slot(&s->slot, &s->err) == 0) {
        const size_t at = dispatch_add_slot(d); /* may reallocate the slots */
        d->slots[at] = s->slot;
        return true;
    }
    loader_unref_plugin(s->slot.loaded);
    dispatch_record_disabled(d, spec, &s->err);
    return false;
}

/* Starts each step for all instances before waiting for it, so that the start takes as long as the
 * slowest instance. Returns the number of failures. */
static unsigned start_all(struct dispatch *d)
{
    const struct configured_instances *const r = d->configured;
    CLEANUP_FREE struct start *starts = xcalloc(r->n + 1, sizeof *starts);
    unsigned refused = 0;
    dispatch_log_switched_off(r->conf);
    struct probe_run *const trial = probe_run_new();
    for (size_t i = 0; i < r->n; i++)
        starts[i].probe = dispatch_probe_plugin(trial, r->conf, r->wanted[i], &starts[i].err);
    probe_run_execute(trial);
    for (size_t i = 0; i < r->n; i++)
        if (starts[i].probe)
            starts[i].loaded = probe_run_take_result(trial, starts[i].probe, &starts[i].err);
    probe_run_free(trial);
    for (size_t i = 0; i < r->n; i++)
        begin_start(d, starts, i);
    for (size_t i = 0; i < r->n; i++) /* its threads link files that several instances may share */
        if (starts[i].slot.instance)
            connector_instance_launch(starts[i].slot.instance);
    for (size_t i = 0; i < r->n; i++)
        refused += !finish_start(d, r->wanted[i], &starts[i]);
    return refused;
}

struct dispatch *dispatch_new_empty(const struct conf *conf,
                                    const struct connector_services *services)
{
    struct dispatch *const d = xcalloc(1, sizeof *d);
    if (services)
        d->services = *services;
    if (d->services.turnlog)
        make_log_groups(d);
    d->configured = configured_instances_new(conf);
    d->empty = true;
    return d;
}

struct dispatch *dispatch_new_mute(const struct conf *conf,
                                   const struct connector_services *services)
{
    struct dispatch *const d = dispatch_new_empty(conf, services);
    d->empty = false;
    return d;
}

struct dispatch *dispatch_new(const struct conf *conf, const struct connector_services *services,
                              unsigned *failed)
{
    struct dispatch *const d = dispatch_new_empty(conf, services);
    d->empty = false;
    const unsigned refused = start_all(d);
    if (failed)
        *failed = refused;
    return d;
}

void dispatch_resume_deliveries(struct dispatch *d)
{
    for (size_t i = 0; i < d->n; i++)
        connector_resume_deliveries(d->slots[i].instance);
}

/* ---- status ---- */

void dispatch_each_name(const struct dispatch *d, void (*each)(void *ctx, const char *name),
                        void *ctx)
{
    for (size_t i = 0; d->empty && i < d->configured->n; i++)
        each(ctx, d->configured->wanted[i]->name);
    for (size_t i = 0; i < d->n; i++)
        if (d->slots[i].instance)
            each(ctx, connector_instance_name(d->slots[i].instance));
}

void dispatch_each_admitted(const struct dispatch *d, const struct conf_scope_turn *turn,
                            void (*each)(void *ctx, const char *name), void *ctx)
{
    for (size_t i = 0; d->empty && i < d->configured->n; i++)
        if (conf_scope_admits(d->configured->wanted[i], turn))
            each(ctx, d->configured->wanted[i]->name);
    for (size_t i = 0; i < d->n; i++)
        if (d->slots[i].instance && conf_scope_admits(d->slots[i].spec, turn))
            each(ctx, connector_instance_name(d->slots[i].instance));
}

size_t dispatch_count_running(const struct dispatch *d)
{
    size_t n = 0;
    for (size_t i = 0; i < d->n; i++)
        n += d->slots[i].instance != NULL;
    return n;
}

void dispatch_each_instance(const struct dispatch *d,
                            void (*each)(void *ctx, const struct dispatch_instance *i), void *ctx)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct dispatch_slot *const s = &d->slots[i];
        if (!s->instance)
            continue;
        struct channel *const c = connector_instance_channel(s->instance);
        struct channel_health health = c->ops->health(c);
        health.starting = health.starting && !s->stands_by;
        each(ctx, &(struct dispatch_instance){
                      .name = connector_instance_name(s->instance),
                      .plugin = s->loaded->plugin.name,
                      .path = s->loaded->path,
                      .spec = s->spec,
                      .busy = connector_instance_is_busy(s->instance),
                      .is_led = s->is_led,
                      .stands_by = s->stands_by,
                      .health = health,
                      .has_service = loader_has_chat(s->loaded) || s->loaded->plugin.probe,
                      .outbox = connector_outbox_stats(s->instance),
                  });
    }
}

const struct conf_instance *dispatch_find_configured(const struct dispatch *d, const char *name,
                                                     struct tc_err *err)
{
    const struct configured_instances *const r = d->configured;
    CLEANUP_FREE const char **names = xcalloc(r->n + 1, sizeof *names);
    for (size_t i = 0; i < r->n; i++) {
        names[i] = r->wanted[i]->name;
        if (strcmp(names[i], name) == 0)
            return r->wanted[i];
    }
    const char *const near = nearest_word_find(name, names, r->n);
    err_set(err, NULL, "unknown instance \"%s\"%s%s%s", name, near ? " (did you mean \"" : "",
            near ? near : "", near ? "\"?)" : "");
    return NULL;
}

bool dispatch_deliver_row(struct dispatch *d, const char *instance, int64_t seq)
{
    const size_t i = dispatch_find_slot(d, instance);
    if (i == d->n)
        return false;
    connector_deliver_row(d->slots[i].instance, seq);
    return true;
}

/* ---- shutdown ---- */

static bool dispatch_slot_is_busy(const struct dispatch *d)
{
    for (size_t i = 0; i < d->n; i++)
        if (d->slots[i].instance && connector_instance_is_busy(d->slots[i].instance))
            return true;
    for (const struct ending_instance *l = d->ending; l; l = l->next)
        if (connector_instance_is_busy(l->instance))
            return true;
    return false;
}

bool dispatch_drain(struct dispatch *d, int64_t grace_ms)
{
    const int64_t deadline_ms = clock_mono_ms() + grace_ms;
    int64_t left = grace_ms;
    while (dispatch_slot_is_busy(d) && left > 0) {
        loop_run_once(d->services.loop, left < DRAIN_STEP_MS ? (int)left : DRAIN_STEP_MS);
        left = deadline_ms - clock_mono_ms();
    }
    return !dispatch_slot_is_busy(d);
}

unsigned dispatch_free(struct dispatch *d, int64_t grace_ms)
{
    if (!d)
        return 0;
    const int64_t deadline_ms = clock_mono_ms() + grace_ms;
    for (size_t i = 0; i < d->n; i++)
        if (d->slots[i].instance)
            connector_instance_stop(d->slots[i].instance);
    unsigned abandoned = dispatch_await_ended(d, deadline_ms);
    for (size_t i = 0; i < d->n; i++) {
        if (d->slots[i].instance)
            abandoned += !connector_instance_free(d->slots[i].instance, deadline_ms);
        loader_unref_plugin(d->slots[i].loaded);
    }
    for (size_t i = 0; i < d->n_groups; i++)
        free(d->groups[i].audience);
    free_disabled(d);
    configured_instances_free(d->configured);
    free(d->slots);
    free(d->groups);
    free(d);
    return abandoned;
}
