/* SPDX-License-Identifier: MIT
 * Owns a copy of the stored texts of each instance that this host leads or has led. */
#include "core/host/instance_texts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "core/bus/bus_kv.h"
#include "core/connector/connector_instance.h"
#include "core/shared/shared_texts.h"
#include "core/work/work_share.h"

#define ROW "led:"       /* in the journal: the number of changes of the texts of the instance */
#define PAUSE_MS 100     /* between two writes, for which changes are collected */
#define RETRY_MS 1000    /* after a failed request */
#define REFUSED_MS 10000 /* after one that the servers have refused */
#define BARRIER_MS 20    /* between two looks whether the messages are stored */
#define DRAIN_STEP_MS 50 /* longest wait of the loop while it is drained */

struct led_texts {
    LIST_ENTRY(led_texts) next;
    struct instance_texts *all;
    struct loop_timer *timer;
    struct stored_texts texts; /* as in the journal */
    int64_t n;                 /* number of changes: of the journal, and of the next write */
    uint64_t revision;         /* that the next write replaces */
    enum { STEP_IDLE, STEP_READING, STEP_AWAITING, STEP_STORING } step;
    struct buf value; /* the copy that is being written */
    uint64_t barrier; /* messages up to this number must be on the servers before */
    bool is_changed;  /* since the copy was made */
    bool has_logged_size, has_logged_refusal;
    int64_t stored_ms, begun_ms;                   /* monotonic */
    void (*done)(void *ctx, const char *instance); /* while the instance waits for its start */
    void *ctx;
    char name[];
};

struct instance_texts {
    struct instance_texts_spec spec;
    struct bus_link *link;
    struct bus_watcher *watcher;
    LIST_HEAD(, led_texts) list;
    uint64_t n_written; /* copies that the servers have taken */
    char *error;        /* the last one; or NULL */
    int64_t error_ms;   /* monotonic */
    bool is_draining, is_stopped;
};

static void led_texts_run_next_step(struct led_texts *l);

static bool led_texts_leads(const struct led_texts *l)
{
    return instance_leaders_leads(l->all->spec.leaders, l->name);
}

/* Keeps the error for `turncast status`, and logs it if it is new. */
static void led_texts_set_error(const struct led_texts *l, bool is_new, const char *text)
{
    struct instance_texts *const all = l->all;
    free(all->error);
    all->error = xasprintf("instance %s: %s", l->name, text);
    all->error_ms = clock_mono_ms();
    if (is_new)
        log_write(LOG_WARN, "bus", "%s", all->error);
}

/* ---- the journal ---- */

static void led_texts_on_saved(void *ctx, enum journal_status status, const char *text)
{
    CLEANUP_FREE char *name = ctx;
    (void)text;
    if (status != JOURNAL_DONE && status != JOURNAL_NO_CHANGE)
        log_write(LOG_ERR, "bus",
                  "instance %s: cannot write the texts of its previous leader to the journal",
                  name);
}

static void led_texts_save(const struct led_texts *l, const char *key, const char *text)
{
    CLEANUP_FREE char *row = xasprintf(CONNECTOR_STORED_ROW "%s:%s", l->name, key);
    journal_async_kv_put(l->all->spec.journal, row, text, led_texts_on_saved, xstrdup(l->name));
}

/* The journal keeps the order of the calls: texts that it has without a later number are no newer
 * than the entry with that number. */
static void led_texts_save_number(const struct led_texts *l)
{
    CLEANUP_FREE char *row = xasprintf(ROW "%s", l->name);
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, l->n);
    journal_async_kv_put(l->all->spec.journal, row, text, led_texts_on_saved, xstrdup(l->name));
}

static void led_texts_on_text(void *ctx, const char *row, const char *text)
{
    struct led_texts *const l = ctx;
    const char *const key = row + strlen(CONNECTOR_STORED_ROW) + strlen(l->name) + 1;
    (void)stored_texts_set(&l->texts, STORED_TEXTS_MAX, key, text);
}

static void led_texts_on_number(void *ctx, const char *row, const char *text)
{
    struct led_texts *const l = ctx;
    if (strcmp(row + strlen(ROW), l->name) == 0)
        l->n = strtoll(text, NULL, 10);
}

static void led_texts_load(struct led_texts *l)
{
    CLEANUP_FREE char *texts = xasprintf(CONNECTOR_STORED_ROW "%s:", l->name);
    CLEANUP_FREE char *number = xasprintf(ROW "%s", l->name);
    stored_texts_fini(&l->texts);
    l->n = 0;
    if (journal_async_kv_each(l->all->spec.journal, texts, led_texts_on_text, l) ==
            JOURNAL_FAILED ||
        journal_async_kv_each(l->all->spec.journal, number, led_texts_on_number, l) ==
            JOURNAL_FAILED)
        log_write(LOG_ERR, "bus", "instance %s: cannot read its stored texts from the journal",
                  l->name);
}

/* ---- the end of the start ---- */

static void led_texts_finish_start(struct led_texts *l)
{
    void (*const done)(void *ctx, const char *instance) = l->done;
    l->done = NULL;
    if (done)
        done(l->ctx, l->name);
}

static bool led_texts_is_late(const struct led_texts *l)
{
    return clock_mono_ms() - l->begun_ms >= l->all->spec.wait_ms;
}

/* The servers do not answer. */
static void led_texts_stop_waiting(struct led_texts *l)
{
    CLEANUP_BUF struct buf text = {0};
    nats_client_forget(l->all->link->client, l);
    buf_printf(&text,
               "the NATS servers have not answered for %" PRId64
               " s what its previous leader has stored; it starts with the texts of this host, and "
               "may miss messages, or take some again",
               l->all->spec.wait_ms / 1000);
    led_texts_set_error(l, true, text.p);
    l->step = STEP_IDLE;
    l->is_changed = true;
    loop_timer_set(l->timer, RETRY_MS);
    led_texts_finish_start(l);
}

/* ---- writing ---- */

static void led_texts_schedule(struct led_texts *l)
{
    const int64_t pause = l->all->is_draining ? 0 : PAUSE_MS;
    const int64_t left = l->stored_ms + pause - clock_mono_ms();
    loop_timer_set(l->timer, l->stored_ms && left > 0 ? left : 0);
}

static void led_texts_log_size(struct led_texts *l, const char *key)
{
    CLEANUP_BUF struct buf text = {0};
    buf_printf(&text,
               "its stored texts exceed %zu bytes; its next leader will not get the longest, such "
               "as \"%s\"",
               SHARED_TEXTS_BYTES, key);
    led_texts_set_error(l, !l->has_logged_size, text.p);
    l->has_logged_size = true;
}

static void led_texts_log_refusal(struct led_texts *l, const char *why)
{
    CLEANUP_BUF struct buf text = {0};
    buf_printf(&text,
               "the NATS servers do not store its texts, so its next leader will not get them: %s",
               why);
    led_texts_set_error(l, !l->has_logged_refusal, text.p);
    l->has_logged_refusal = true;
}

static void led_texts_copy(struct led_texts *l)
{
    const char *key;
    buf_reset(&l->value);
    if (shared_texts_write(&l->value, &l->texts, &key))
        led_texts_log_size(l, key);
    l->n++;
    led_texts_save_number(l);
    l->is_changed = false;
    l->barrier = l->all->spec.work ? work_share_count(l->all->spec.work) : 0;
    l->step = STEP_AWAITING;
}

static void led_texts_read(struct led_texts *l);

static void led_texts_on_stored(void *ctx, enum nats_client_result result,
                                const struct nats_client_message *m)
{
    struct led_texts *const l = ctx;
    struct bus_kv_entry entry;
    bus_kv_read_written(result, m, &entry);
    l->step = STEP_IDLE;
    if (entry.result == BUS_KV_CONFLICT || entry.result == BUS_KV_UNKNOWN) {
        led_texts_read(l);
        return;
    }
    if (entry.result == BUS_KV_DONE) {
        l->revision = entry.revision;
        l->all->n_written++;
        l->stored_ms = l->done ? 0 : clock_mono_ms(); /* what follows the start is urgent */
        l->has_logged_refusal = false;
        if (l->is_changed)
            led_texts_schedule(l);
    } else {
        l->is_changed = true;
        loop_timer_set(l->timer, entry.result == BUS_KV_REFUSED ? REFUSED_MS : RETRY_MS);
    }
    if (entry.result == BUS_KV_REFUSED)
        led_texts_log_refusal(l, entry.why);
    if (entry.result != BUS_KV_UNSENT)
        led_texts_finish_start(l);
}

static void led_texts_put(struct led_texts *l)
{
    struct bus_link *const link = l->all->link;
    CLEANUP_BUF struct buf message = {0}, key = {0};
    const struct bus_origin from = bus_link_next_origin(link);
    buf_printf(&key, SHARED_TEXTS_PREFIX "%s", l->name);
    shared_entry_write(&message, &from, &(struct shared_copy){.n = l->n, .value = l->value.p});
    l->step = STEP_STORING;
    bus_kv_put(link, BUS_CONF, key.p, (struct str){message.p, message.len}, l->revision,
               led_texts_on_stored, l);
}

/* ---- reading ---- */

static void led_texts_adopt(struct led_texts *l, const struct shared_entry *entry,
                            struct stored_texts *texts)
{
    const struct stored_text *t;
    for (t = l->texts.first; t; t = t->next)
        if (!stored_texts_find(texts, t->key))
            led_texts_save(l, t->key, NULL);
    for (t = texts->first; t; t = t->next)
        led_texts_save(l, t->key, t->text);
    stored_texts_fini(&l->texts);
    l->texts = *texts;
    l->n = entry->n;
    log_write(LOG_INFO, "bus", "instance %s: going on where host \"%s\" has stopped", l->name,
              entry->from.host);
}

/* Whether the entry can be read. */
static bool led_texts_compare(struct led_texts *l, struct str message)
{
    struct shared_entry entry;
    struct stored_texts texts = {0};
    if (shared_entry_read(message, &entry) < 0)
        return false;
    if (!shared_texts_is_ahead(&entry, l->all->link->names.host, l->n))
        return true;
    if (shared_texts_read(entry.value, &texts) < 0)
        return false;
    led_texts_adopt(l, &entry, &texts);
    return true;
}

static void led_texts_on_read(void *ctx, enum nats_client_result result,
                              const struct nats_client_message *m)
{
    struct led_texts *const l = ctx;
    struct bus_kv_entry entry;
    bus_kv_read_entry(l->all->link, BUS_CONF, result, m, &entry);
    l->step = STEP_IDLE;
    l->is_changed |= !l->done; /* a write was not successful */
    if (entry.result != BUS_KV_DONE && entry.result != BUS_KV_NONE) {
        loop_timer_set(l->timer, RETRY_MS);
        return;
    }
    l->revision = entry.revision;
    l->is_changed = true;
    if (l->done && entry.result == BUS_KV_DONE && !led_texts_compare(l, entry.value))
        led_texts_set_error(l, true,
                            "cannot read what its previous leader has stored; it starts with the "
                            "texts of this host");
    led_texts_run_next_step(l);
}

static void led_texts_read(struct led_texts *l)
{
    CLEANUP_BUF struct buf key = {0};
    buf_printf(&key, SHARED_TEXTS_PREFIX "%s", l->name);
    l->step = STEP_READING;
    bus_kv_get(l->all->link, BUS_CONF, key.p, led_texts_on_read, l);
}

/* ---- the steps ---- */

static bool led_texts_is_free(const struct led_texts *l)
{
    const struct work *const w = l->all->spec.work;
    return !w || work_share_is_stored(w, l->name, l->barrier);
}

/* At the start, an entry that is not read yet must not be replaced. */
static void led_texts_begin_write(struct led_texts *l)
{
    if (l->step == STEP_IDLE && l->done && !l->is_changed)
        led_texts_read(l);
    else if (l->step == STEP_IDLE && l->is_changed)
        led_texts_copy(l);
    if (l->step == STEP_AWAITING && led_texts_is_free(l))
        led_texts_put(l);
    else if (l->step == STEP_AWAITING)
        loop_timer_set(l->timer, BARRIER_MS);
}

static void led_texts_run_next_step(struct led_texts *l)
{
    if (!led_texts_leads(l)) {
        l->done = NULL;
        if (l->step == STEP_AWAITING)
            l->step = STEP_IDLE;
    } else if (l->done && led_texts_is_late(l)) {
        led_texts_stop_waiting(l);
    } else if (l->all->link->is_active) {
        led_texts_begin_write(l);
    } else if (l->step == STEP_AWAITING) {
        l->step = STEP_IDLE;
        l->is_changed = true;
    }
}

static void led_texts_on_timer(void *arg)
{
    struct led_texts *const l = arg;
    if (l->done)
        loop_timer_set(l->timer, l->all->spec.wait_ms < RETRY_MS ? l->all->spec.wait_ms : RETRY_MS);
    led_texts_run_next_step(l);
}

static void instance_texts_on_active(void *ctx)
{
    struct instance_texts *const t = ctx;
    struct led_texts *l;
    LIST_FOREACH (l, &t->list, next) {
        l->is_changed |= !l->done; /* the servers may have lost it */
        loop_timer_set(l->timer, 0);
    }
}

/* ---- for the parts of the host ---- */

static struct led_texts *instance_texts_find(const struct instance_texts *t, const char *name)
{
    struct led_texts *l;
    LIST_FOREACH (l, &t->list, next)
        if (strcmp(l->name, name) == 0)
            return l;
    return NULL;
}

static struct led_texts *instance_texts_add(struct instance_texts *t, const char *name)
{
    const size_t size = strlen(name) + 1;
    struct led_texts *const l = xcalloc(1, sizeof *l + size);
    memcpy(l->name, name, size);
    l->all = t;
    l->timer = loop_timer_new(t->link->loop, led_texts_on_timer, l);
    LIST_INSERT_HEAD(&t->list, l, next);
    return l;
}

void instance_texts_prepare(struct instance_texts *t, const char *instance,
                            void (*done)(void *ctx, const char *instance), void *ctx)
{
    struct led_texts *l = instance_texts_find(t, instance);
    if (t->is_stopped)
        return;
    if (!l)
        l = instance_texts_add(t, instance);
    nats_client_forget(t->link->client, l);
    l->step = STEP_IDLE;
    l->is_changed = false;
    l->done = done;
    l->ctx = ctx;
    l->begun_ms = clock_mono_ms();
    led_texts_load(l);
    loop_timer_set(l->timer, 0);
}

void instance_texts_store(struct instance_texts *t, const char *instance, const char *key,
                          const char *text)
{
    struct led_texts *const l = t->is_stopped ? NULL : instance_texts_find(t, instance);
    if (!l || l->done)
        return;
    if (!text)
        stored_texts_remove(&l->texts, key);
    else if (stored_texts_set(&l->texts, STORED_TEXTS_MAX, key, text) < 0)
        return; /* the connector process exceeds the limit that its services keep */
    l->is_changed = true;
    if (l->step == STEP_IDLE)
        led_texts_schedule(l);
}

void instance_texts_flush(struct instance_texts *t, const char *instance)
{
    struct led_texts *const l = t->is_stopped ? NULL : instance_texts_find(t, instance);
    if (l && !l->done)
        led_texts_run_next_step(l);
}

static bool instance_texts_is_busy(const struct instance_texts *t)
{
    const struct led_texts *l;
    LIST_FOREACH (l, &t->list, next)
        if (led_texts_leads(l) && !l->done && (l->is_changed || l->step != STEP_IDLE))
            return true;
    return false;
}

void instance_texts_drain(struct instance_texts *t, int64_t ms)
{
    const int64_t until_ms = clock_mono_ms() + ms;
    struct led_texts *l;
    t->is_draining = true;
    LIST_FOREACH (l, &t->list, next)
        if (l->step == STEP_IDLE)
            loop_timer_set(l->timer, 0);
    while (t->link->is_active && instance_texts_is_busy(t) && clock_mono_ms() < until_ms)
        loop_run_once(t->link->loop, DRAIN_STEP_MS);
}

/* ---- its life ---- */

struct instance_texts *instance_texts_new(const struct instance_texts_spec *spec)
{
    struct instance_texts *const t = xcalloc(1, sizeof *t);
    t->spec = *spec;
    t->link = bus_get_link(spec->bus);
    LIST_INIT(&t->list);
    t->watcher = bus_watch(spec->bus, instance_texts_on_active, t);
    return t;
}

void instance_texts_stop(struct instance_texts *t)
{
    struct led_texts *l;
    if (t->is_stopped)
        return;
    t->is_stopped = true;
    bus_watcher_free(t->watcher);
    while ((l = LIST_FIRST(&t->list))) {
        LIST_REMOVE(l, next);
        nats_client_forget(t->link->client, l);
        loop_timer_free(l->timer);
        stored_texts_fini(&l->texts);
        buf_fini(&l->value);
        free(l);
    }
}

struct instance_texts_state instance_texts_get_state(const struct instance_texts *t)
{
    return (struct instance_texts_state){t->n_written, t->error, t->error_ms};
}

void instance_texts_free(struct instance_texts *t)
{
    if (t)
        free(t->error);
    free(t);
}
