/* SPDX-License-Identifier: MIT
 * Owns a plugin's state and turns, and every call into it. */
#include "plugin/instance.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "conf/options.h"
#include "dialect/writer.h"
#include "plugin/services.h"

#define INSTANCE_MAGIC 0x74634931u
#define TURN_MAGIC 0x74635431u
#define TURN_OVER 0x74635430u
#define OVER_MAX 32 /* turns that are over and still told from rubbish */
#define BURST_MS 1000

struct instance_turn {
    uint32_t magic;
    struct tc_turn handle; /* what the plugin gets */
    struct instance *in;
    struct instance_turn *next, *prev; /* live turns; next also links those that are over */
    void *state;
    struct arena arena;
    const struct event *delivering; /* NULL outside of callbacks */
    struct writing writing;         /* for tc_encode */
    struct buf encoded;
};

struct instance {
    uint32_t magic;
    struct tc_instance handle; /* what the plugin gets */
    const struct loaded *loaded;
    char *name, *label;
    void *conf, *state;
    struct arena arena; /* strings of the options */
    pthread_t thread;   /* the one that called init */
    bool wanted[TC_KINDS];
    struct instance_turn *turns;
    struct instance_turn *over; /* newest first */
    size_t n_over;
    _Atomic(const char *) running;
    _Atomic int64_t since_ms;
    _Atomic uint64_t delivered, failed;
    int64_t quiet_until; /* failures before are only counted */
    uint64_t unsaid;
};

#define CONTAINER(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* ---- calls ---- */

typedef int call_fn(const struct tc_sink *s, struct tc_turn *t, const struct event *ev);

#define DEFINE_CALL(lower, UPPER, gate, pressure, terminal)                                        \
    static int call_##lower(const struct tc_sink *s, struct tc_turn *t, const struct event *ev)    \
    {                                                                                              \
        return s->on_##lower(t, &ev->u.lower);                                                     \
    }
EVENT_KINDS(DEFINE_CALL)

#define CALL_ROW(lower, UPPER, gate, pressure, terminal)                                           \
    [TC_##UPPER] = {"on_" #lower, call_##lower},
static const struct {
    const char *name;
    call_fn *call;
} calls[TC_KINDS] = {EVENT_KINDS(CALL_ROW)};

static void find_wanted(struct instance *in)
{
    const struct tc_sink *const s = &in->loaded->sink;
#define WANTED(lower, UPPER, gate, pressure, terminal) in->wanted[TC_##UPPER] = s->on_##lower;
    EVENT_KINDS(WANTED)
}

static void enter(struct instance *in, const char *callback)
{
    atomic_store_explicit(&in->since_ms, clock_mono_ms(), memory_order_relaxed);
    atomic_store_explicit(&in->running, callback, memory_order_release);
}

static void leave(struct instance *in)
{
    atomic_store_explicit(&in->running, NULL, memory_order_release);
}

/* The first failure of a burst is told at once, the others as a number once a second. */
static void report_failure(struct instance *in, const char *callback, const char *turn)
{
    const int64_t now = clock_mono_ms();
    if (now < in->quiet_until) {
        in->unsaid++;
        return;
    }
    char more[64] = "";
    if (in->unsaid)
        snprintf(more, sizeof more, " (%" PRIu64 " more failed before)", in->unsaid);
    log_line(LOG_WARN, in->label, "%s failed in turn %s%s", callback, turn, more);
    in->quiet_until = now + BURST_MS;
    in->unsaid = 0;
}

static int account(struct instance *in, int rc, const char *callback, const char *turn)
{
    atomic_fetch_add_explicit(rc ? &in->failed : &in->delivered, 1, memory_order_relaxed);
    if (!rc)
        return 0;
    report_failure(in, callback, turn);
    return -1;
}

static bool is_wanted(const struct instance *in, const struct event *ev)
{
    return in->wanted[ev->kind] && !(ev->kind == TC_THINKING && ev->u.thinking.text_len == 0);
}

static int deliver_typed(struct instance *in, struct instance_turn *t, const struct event *ev)
{
    if (!is_wanted(in, ev))
        return 0;
    enter(in, calls[ev->kind].name);
    const int rc = calls[ev->kind].call(&in->loaded->sink, &t->handle, ev);
    leave(in);
    return account(in, rc, calls[ev->kind].name, t->handle.id);
}

static int deliver_any(struct instance *in, struct instance_turn *t, struct event_box *box)
{
    if (!in->loaded->sink.on_event)
        return 0;
    const struct event *const ev = event_box_get(box);
    struct tc_event any = {
        .meta = &ev->meta,
        .kind = ev->kind,
        .name = kind_name(ev->kind),
        .payload = &ev->u,
    };
    any.line = event_box_line(box, &any.line_len);
    enter(in, "on_event");
    const int rc = in->loaded->sink.on_event(&t->handle, &any);
    leave(in);
    return account(in, rc, "on_event", t->handle.id);
}

int instance_deliver(struct instance *in, struct instance_turn *t, struct event_box *box)
{
    t->delivering = event_box_get(box);
    const int typed = deliver_typed(in, t, t->delivering);
    const int any = deliver_any(in, t, box);
    t->delivering = NULL;
    return typed || any ? -1 : 0;
}

void instance_idle(struct instance *in)
{
    if (!in->loaded->sink.on_idle)
        return;
    enter(in, "on_idle");
    const int rc = in->loaded->sink.on_idle(&in->handle);
    leave(in);
    account(in, rc, "on_idle", "(none)");
}

int instance_init(struct instance *in)
{
    in->thread = pthread_self();
    if (!in->loaded->plugin.init)
        return 0;
    enter(in, "init");
    const int rc = in->loaded->plugin.init(&in->handle);
    leave(in);
    return rc ? -1 : 0;
}

void instance_teardown(struct instance *in)
{
    if (!in->loaded->plugin.teardown)
        return;
    enter(in, "teardown");
    in->loaded->plugin.teardown(&in->handle);
    leave(in);
}

/* ---- memory ---- */

struct instance *instance_new(const struct conf *conf, const struct conf_instance *spec,
                              const struct loaded *loaded, struct tc_err *err)
{
    const struct tc_plugin *const plugin = &loaded->plugin;
    struct instance *const in = xcalloc(1, sizeof *in);
    in->magic = INSTANCE_MAGIC;
    in->loaded = loaded;
    in->name = xstrdup(spec->name);
    in->label = xasprintf("instance %s", spec->name);
    in->conf = plugin->options ? xcalloc(1, plugin->conf_size + 1) : NULL;
    if (options_fill(in->conf, plugin->options, spec->options, conf->file, spec->line, &in->arena,
                     err) < 0) {
        instance_free(in);
        return NULL;
    }
    in->state = plugin->state_size ? xcalloc(1, plugin->state_size) : NULL;
    in->handle = (struct tc_instance){
        .host = services_table(), .name = in->name, .conf = in->conf, .state = in->state};
    find_wanted(in);
    return in;
}

void instance_free(struct instance *in)
{
    if (!in)
        return;
    while (in->turns)
        instance_turn_free(in->turns);
    for (struct instance_turn *t = in->over, *next; t; t = next) {
        next = t->next;
        free(t);
    }
    arena_fini(&in->arena);
    free(in->conf);
    free(in->state);
    free(in->name);
    free(in->label);
    in->magic = 0;
    free(in);
}

struct instance_turn *instance_turn_new(struct instance *in, const char *id, const char *agent,
                                        const char *conversation)
{
    const size_t state_size = in->loaded->plugin.turn_size;
    struct instance_turn *const t = xcalloc(1, sizeof *t);
    t->magic = TURN_MAGIC;
    t->in = in;
    t->state = state_size ? xcalloc(1, state_size) : NULL;
    t->handle = (struct tc_turn){
        .inst = &in->handle,
        .state = t->state,
        .id = arena_strdup(&t->arena, id),
        .agent = arena_strdup(&t->arena, agent ? agent : ""),
        .conversation = conversation ? arena_strdup(&t->arena, conversation) : NULL,
    };
    t->next = in->turns;
    if (in->turns)
        in->turns->prev = t;
    in->turns = t;
    return t;
}

/* A handle that a plugin kept too long is still told from rubbish for a while. */
static void keep_over(struct instance *in, struct instance_turn *t)
{
    *t = (struct instance_turn){.magic = TURN_OVER, .in = in, .next = in->over};
    t->handle.inst = &in->handle;
    in->over = t;
    if (++in->n_over <= OVER_MAX)
        return;
    struct instance_turn **oldest = &in->over;
    while ((*oldest)->next)
        oldest = &(*oldest)->next;
    free(*oldest);
    *oldest = NULL;
    in->n_over--;
}

void instance_turn_free(struct instance_turn *t)
{
    struct instance *const in = t->in;
    *(t->prev ? &t->prev->next : &in->turns) = t->next;
    if (t->next)
        t->next->prev = t->prev;
    writing_fini(&t->writing);
    buf_fini(&t->encoded);
    arena_fini(&t->arena);
    free(t->state);
    keep_over(in, t);
}

/* ---- what others may ask ---- */

const char *instance_label(const struct instance *in)
{
    return in->label;
}

const char *instance_running(const struct instance *in, int64_t *since_ms)
{
    const char *const callback = atomic_load_explicit(&in->running, memory_order_acquire);
    *since_ms = atomic_load_explicit(&in->since_ms, memory_order_relaxed);
    return callback;
}

uint64_t instance_delivered(const struct instance *in)
{
    return atomic_load_explicit(&in->delivered, memory_order_relaxed);
}

uint64_t instance_failed(const struct instance *in)
{
    return atomic_load_explicit(&in->failed, memory_order_relaxed);
}

/* ---- handles that come back from the plugin ---- */

struct instance *instance_check(struct tc_instance *inst)
{
    struct instance *const in = inst ? CONTAINER(inst, struct instance, handle) : NULL;
    return in && in->magic == INSTANCE_MAGIC ? in : NULL;
}

static void report_handle(struct instance *in, const char *service, const char *why)
{
    int64_t since;
    const char *const callback = instance_running(in, &since);
    log_line(LOG_ERR, in->label, "plugin %s calls %s with %s (in %s)", in->loaded->plugin.name,
             service, why, callback ? callback : "a thread of its own");
}

struct arena *instance_check_turn(struct tc_turn *turn, const char *service)
{
    struct instance_turn *const t = turn ? CONTAINER(turn, struct instance_turn, handle) : NULL;
    if (!t || (t->magic != TURN_MAGIC && t->magic != TURN_OVER)) {
        log_line(LOG_ERR, "host", "a plugin calls %s with a handle that is no turn", service);
        return NULL;
    }
    if (t->magic == TURN_OVER) {
        report_handle(t->in, service, "a turn that is over");
        return NULL;
    }
    if (!pthread_equal(t->in->thread, pthread_self())) {
        report_handle(t->in, service, "a turn on another thread than its callbacks'");
        return NULL;
    }
    return &t->arena;
}

/* ---- other formats ---- */

static const char *refuse_format(struct instance_turn *t, const char *name, const char *why)
{
    log_line(LOG_ERR, t->in->label, "tc_encode(\"%s\"): %s", name ? name : "", why);
    return NULL;
}

static bool open_writing(struct instance_turn *t, const struct tc_format *format)
{
    const struct writer *const writer = writer_find(format->name);
    if (!writer)
        return false;
    const char *const protocol =
        format->protocol ? arena_strdup(&t->arena, format->protocol) : NULL;
    writing_init(&t->writing, writer,
                 &(struct writer_conf){.framing = format->frames ? FRAMING_SSE : FRAMING_LINES,
                                       .protocol = protocol});
    return true;
}

const char *instance_encode(struct tc_turn *turn, const struct tc_format *format, size_t *len)
{
    struct instance_turn *const t = CONTAINER(turn, struct instance_turn, handle);
    *len = 0;
    if (!t->delivering)
        return refuse_format(t, format->name, "no event is being delivered");
    if (!t->writing.writer && !open_writing(t, format))
        return refuse_format(t, format->name, "there is no such format");
    if (strcmp(t->writing.writer->name, format->name) != 0)
        return refuse_format(t, format->name, "the turn is written in another format");
    buf_reset(&t->encoded);
    buf_reserve(&t->encoded, 0);
    writing_event(&t->writing, &t->encoded, t->delivering);
    *len = t->encoded.len;
    return t->encoded.p;
}
