/* SPDX-License-Identifier: MIT
 * One instance on the fake host: its turns, events, time, route requests and frames. */
#include "cli/testing/fake/fake_host.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/invariant.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "cli/testing/fake/fake_host_internal.h"
#include "event/codec.h"

#define SECRET_MIN 4
#define BEGINS_AT_MS 1000000
#define SESSION "sess-1"
#define SLICE_MS 50
#define SETTLE_MS 2000

void fake_host_fault(struct fake_host *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (s->faults.len)
        buf_add_str(&s->faults, "; ");
    buf_vprintf(&s->faults, fmt, ap);
    va_end(ap);
}

void fake_host_note(struct fake_host *s, enum fake_note note, int level, const char *what)
{
    struct fake_act **end = &s->acts;
    while (*end)
        end = &(*end)->next;
    *end = xcalloc(1, sizeof **end);
    **end = (struct fake_act){.note = note, .level = level, .what = xstrdup(what)};
}

void fake_host_drop_act(struct fake_act **at)
{
    struct fake_act *const a = *at;
    *at = a->next;
    free(a->what);
    free(a);
}

void fake_host_drop_promise(struct fake_host *s)
{
    struct fake_promise *const p = s->promises;
    s->promises = p->next;
    json_decref(p->want);
    free(p->turn);
    free(p->answer);
    free(p);
}

static bool fake_host_is_secret(const struct fake_host *s, const char *key)
{
    const struct tc_option *o = s->loaded->plugin.options;
    while (o && o->key && strcmp(o->key, key) != 0)
        o++;
    return o && o->key && (o->flags & TC_SECRET);
}

void fake_host_check_secrets(struct fake_host *s, const char *where, const char *text, size_t len)
{
    for (const struct conf_option *o = s->options; text && o->key; o++)
        if (strlen(o->value) >= SECRET_MIN && fake_host_is_secret(s, o->key) &&
            memmem(text, len, o->value, strlen(o->value)))
            fake_host_fault(s, "the secret %s is in %s", o->key, where);
    for (const struct runtime_secret *r = s->kept.secrets.first; text && r; r = r->next)
        if (memmem(text, len, r->value, strlen(r->value)))
            fake_host_fault(s, "the secret %s is in %s", r->name, where);
}

void fake_host_reset_clock(void)
{
    clock_fake(BEGINS_AT_MS, FAKE_WALL_S + BEGINS_AT_MS / 1e3);
}

/* ---- turns ---- */

struct fake_turn *fake_host_find(struct fake_host *s, const char *id)
{
    for (struct fake_turn *t = s->turns; t; t = t->next)
        if (strcmp(t->id, id) == 0)
            return t;
    return NULL;
}

static struct instance_turn *fake_host_new_live(struct fake_host *s, const struct fake_turn *t,
                                                const char *memory)
{
    return instance_turn_new(s->instance, &(struct channel_turn){.id = t->id,
                                                                 .agent = "default",
                                                                 .conversation = t->conversation,
                                                                 .route = t->route,
                                                                 .memory = memory,
                                                                 .requests = t->under_way,
                                                                 .over = t->done});
}

/* After a restart, a turn may exist for its requests only, until it is started again. */
static struct fake_turn *fake_host_reopen(struct fake_host *s, struct fake_turn *t)
{
    t->done = false;
    instance_turn_free(t->live);
    t->live = fake_host_new_live(s, t, t->memory);
    return t;
}

struct fake_turn *fake_host_open(struct fake_host *s, const char *id, const char *conversation,
                                 const char *route, const char *memory)
{
    struct fake_turn *t = fake_host_find(s, id);
    if (t)
        return fake_host_reopen(s, t);
    t = xcalloc(1, sizeof *t);
    t->id = arena_strdup(&t->own, id);
    t->conversation = arena_strdup(&t->own, conversation);
    t->route = arena_strdup(&t->own, route);
    t->live = fake_host_new_live(s, t, memory);
    t->next = s->turns;
    return s->turns = t;
}

static void fake_host_free_turn(struct fake_turn *t)
{
    if (t->live)
        instance_turn_free(t->live);
    free(t->memory);
    arena_fini(&t->own);
    free(t);
}

static void fake_host_free_turns_over(struct fake_host *s)
{
    for (struct fake_turn **at = &s->turns; *at;) {
        struct fake_turn *const t = *at;
        if (!t->done || t->under_way > 0 || (t->live && !instance_turn_is_over(t->live))) {
            at = &t->next;
            continue;
        }
        *at = t->next;
        fake_host_free_turn(t);
    }
}

/* ---- after a call ---- */

static void fake_host_store_memory(struct fake_host *s, const struct callback_batch *b)
{
    struct fake_turn *const t = fake_host_find(s, b->turn);
    if (!b->memory || !t)
        return;
    fake_host_check_secrets(s, "what is remembered", b->memory, strlen(b->memory));
    free(t->memory);
    t->memory = *b->memory ? xstrdup(b->memory) : NULL;
}

void fake_host_drain(struct fake_host *s)
{
    while (s->batches) {
        struct fake_batch *const first = s->batches;
        s->batches = first->next;
        fake_host_store_memory(s, first->batch);
        fake_host_commit(s, first->batch);
        fake_host_take_results(s, first->batch);
        callback_batch_free(first->batch);
        free(first);
    }
}

/* ---- a program of the connector ---- */

/* Calls on_ready for descriptors that become ready within the time. False: none. */
static bool fake_host_poll(struct fake_host *s, int ms)
{
    int fds[INSTANCE_WATCHED];
    struct pollfd polled[INSTANCE_WATCHED];
    const size_t n = instance_watched_fds(s->instance, fds);
    for (size_t i = 0; i < n; i++)
        polled[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    if (n == 0 || poll(polled, n, ms) <= 0)
        return false;
    for (size_t i = 0; i < n; i++)
        if (polled[i].revents && instance_call_on_ready(s->instance, fds[i]))
            fake_host_fault(s, "on_ready returned -1");
    fake_host_drain(s);
    fake_host_pump(s);
    return true;
}

bool fake_host_wait(struct fake_host *s, int64_t *left_ms)
{
    int fds[INSTANCE_WATCHED];
    if (*left_ms <= 0 || s->faults.len || instance_watched_fds(s->instance, fds) == 0)
        return false;
    if (!fake_host_poll(s, SLICE_MS))
        *left_ms -= SLICE_MS;
    return true;
}

static bool fake_host_is_waiting(const struct fake_host *s)
{
    return instance_oldest_held_task(s->instance) != UINT64_MAX || instance_is_paused(s->instance);
}

/* Waits until the connector has released its held events and accepts events again, then until all
 * earlier output is read. If it does not release them, later steps do not wait again. */
static void fake_host_await_release(struct fake_host *s)
{
    int64_t left_ms = s->is_held ? SLICE_MS : SETTLE_MS;
    while (fake_host_is_waiting(s) && fake_host_wait(s, &left_ms))
        continue;
    while (fake_host_poll(s, 0))
        continue;
    s->is_held = fake_host_is_waiting(s);
}

void fake_host_idle(struct fake_host *s)
{
    const uint64_t failed = status_page_get_failed(instance_status_page(s->instance));
    instance_call_on_idle(s->instance);
    if (status_page_get_failed(instance_status_page(s->instance)) > failed)
        fake_host_fault(s, "on_idle returned -1");
    fake_host_drain(s);
    fake_host_pump(s);
    fake_host_await_release(s);
    fake_host_free_turns_over(s);
}

/* ---- events ---- */

void fake_host_send(struct fake_host *s, struct fake_turn *t, struct event *ev)
{
    const bool ends = ev->kind == TC_DONE;
    const char *const name = kind_name(ev->kind);
    ev->meta.correlation_id = t->id;
    ev->meta.session_id = ev->meta.session_id ? ev->meta.session_id : SESSION;
    ev->meta.seq = ++t->seq;
    struct shared_event *const shared = shared_event_new(ev);
    instance_set_task(s->instance, ++s->task);
    if (instance_deliver_event(s->instance, t->live, shared))
        fake_host_fault(s, "on_%s returned -1", name);
    shared_event_unref(shared);
    t->done |= ends;
    fake_host_drain(s);
    fake_host_idle(s);
}

void fake_host_event(struct fake_host *s, struct fake_turn *t, const char *kind,
                     const char *payload)
{
    CLEANUP_BUF struct buf line = {0};
    struct arena a = {0};
    struct event ev;
    const char *why = "";
    buf_printf(&line,
               "{\"type\":\"%s\",\"payload\":%s,\"ts\":%.3f,\"correlation_id\":\"\","
               "\"session_id\":\"" SESSION "\",\"seq\":1,\"src\":\"test\"}",
               kind, *payload ? payload : "{}", clock_wall_s());
    if (codec_decode(&ev, &a, line.p, line.len, &why))
        fake_host_fault(s, "no event: %s: %s", why, line.p);
    else
        fake_host_send(s, t, &ev);
    arena_fini(&a);
}

/* ---- time ---- */

static int64_t fake_host_next_ms(const struct fake_host *s, int64_t end)
{
    const int64_t wake = instance_next_wake_ms(s->instance);
    const int64_t now = clock_mono_ms();
    const int64_t at = fake_host_next_request_ms(s, wake < end ? wake : end);
    return at > now ? at : now;
}

void fake_host_advance(struct fake_host *s, int64_t ms)
{
    const int64_t end = clock_mono_ms() + ms;
    for (int64_t wakes = 0;; wakes++) {
        clock_fake_advance(fake_host_next_ms(s, end) - clock_mono_ms());
        const uint64_t failed = status_page_get_failed(instance_status_page(s->instance));
        instance_call_on_wake(s->instance);
        if (status_page_get_failed(instance_status_page(s->instance)) > failed)
            fake_host_fault(s, "on_wake returned -1");
        fake_host_drain(s);
        fake_host_idle(s);
        if (clock_mono_ms() >= end && instance_next_wake_ms(s->instance) > end)
            return;
        if (wakes > 50 + ms / 20) {
            fake_host_fault(s, "it wakes all the time");
            return;
        }
    }
}

/* ---- route requests and frames ---- */

static bool fake_host_is_routed(const struct fake_host *s, const char *path)
{
    for (size_t i = 0; i < s->routes.count; i++)
        if (strcmp(s->routes.paths[i], path) == 0)
            return true;
    return false;
}

struct tc_answer fake_host_copy_answer(struct fake_host *s, const struct tc_answer *from)
{
    struct tc_answer to = *from;
    to.body = from->body ? arena_strndup(&s->config, from->body, from->body_len) : NULL;
    to.content_type = arena_strdup(&s->config, from->content_type);
    return to;
}

struct fake_answered {
    struct fake_host *host;
    struct tc_answer answer;
};

static void fake_host_on_answered(void *arg, const struct tc_answer *answer)
{
    struct fake_answered *const to = arg;
    if (answer)
        to->answer = fake_host_copy_answer(to->host, answer);
}

struct tc_answer fake_host_hit(struct fake_host *s, const char *method, const char *path,
                               json_t *headers, const char *body)
{
    struct tc_header list[16] = {{0}};
    struct fake_answered to = {s, {.status = 500}};
    const char *key;
    json_t *value;
    if (!fake_host_is_routed(s, path) || !s->loaded->sink.on_hit) {
        fake_host_fault(s, "unknown route %s", path);
        return (struct tc_answer){.status = 404};
    }
    /* copies on the heap, so that AddressSanitizer detects use after the callback */
    CLEANUP_FREE char *text = xstrdup(body);
    struct tc_hit hit = {.method = method,
                         .path = path,
                         .query = "",
                         .headers = list,
                         .body = text,
                         .body_len = strlen(text),
                         .number = ++s->hits.last_number};
    json_object_foreach(headers, key, value)
    {
        if (hit.header_count < sizeof list / sizeof *list)
            list[hit.header_count++] = (struct tc_header){key, json_string_value(value)};
    }
    if (instance_call_on_hit(s->instance, &hit, fake_host_on_answered, &to))
        fake_host_fault(s, "on_hit returned -1");
    fake_host_drain(s);
    fake_host_idle(s);
    return to.answer;
}

void fake_host_frame(struct fake_host *s, int64_t socket, enum tc_socket_event event,
                     const char *text)
{
    if (socket < 1 || socket > s->socket_count ||
        (s->sockets[socket] == FAKE_SOCKET_ENDED && event != TC_SOCKET_CLOSED) ||
        !s->loaded->sink.on_frame) {
        fake_host_fault(s, "unknown socket %lld", (long long)socket);
        return;
    }
    if (event == TC_SOCKET_CLOSED)
        s->sockets[socket] = FAKE_SOCKET_ENDED;
    else if (s->sockets[socket] == FAKE_SOCKET_OPENING)
        s->sockets[socket] = FAKE_SOCKET_OPEN;
    CLEANUP_FREE char *copy = xstrdup(text);
    const struct tc_frame frame = {
        .socket = socket - s->socket_base, .event = event, .text = copy, .len = strlen(copy)};
    if (instance_call_on_frame(s->instance, &frame))
        fake_host_fault(s, "on_frame returned -1");
    fake_host_drain(s);
    fake_host_idle(s);
}

/* ---- instance ---- */

static void fake_host_on_log(void *ctx, enum log_level level, const char *name, const char *text)
{
    (void)name;
    fake_host_check_secrets(ctx, "the log", text, strlen(text));
    fake_host_note(ctx, FAKE_LOG, (int)level, text);
    const struct fake_host *const s = ctx;
    if (level == LOG_ERR && s->last_error.text)
        snprintf(s->last_error.text, s->last_error.size, "%s", text);
}

static struct loaded_plugin *fake_host_load(const char *module, struct tc_err *err)
{
    const int fd = open(module, O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        return loader_load_fd(fd, module, err);
    err_set_errno(err, errno, module, "cannot open");
    return NULL;
}

static struct instance *fake_host_make_instance(struct fake_host *s, const char *file,
                                                struct tc_err *err)
{
    const struct channel_callbacks callbacks = fake_host_make_callbacks(s);
    const struct conf conf = {.file = (char *)(uintptr_t)file};
    const struct conf_instance spec = {.name = (char *)(uintptr_t)FAKE_INSTANCE,
                                       .chat.language = s->kept.language,
                                       .options = (struct conf_option *)(uintptr_t)s->options};
    struct instance *const in = instance_new(&conf, &spec, s->loaded, &callbacks, NULL, err);
    for (const struct stored_text *t = s->kept.stored.first; in && t; t = t->next)
        instance_load_stored(in, t->key, t->text);
    return in;
}

static void fake_host_copy_options(struct fake_host *s, const struct fake_option *options,
                                   size_t count)
{
    struct conf_option *const to = arena_alloc(&s->config, (count + 1) * sizeof *to);
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(options[i].key, "language") == 0 &&
            language_find(options[i].value, &s->kept.language))
            continue; /* a key of the host, not of the plugin */
        to[n].key = arena_strdup(&s->config, options[i].key);
        to[n].value = arena_strdup(&s->config, options[i].value);
        to[n++].line = options[i].line;
    }
    s->options = to;
}

struct fake_host *fake_host_new(const char *module, const struct fake_option *options, size_t count,
                                const char *file, struct tc_err *err)
{
    struct fake_host *const s = xcalloc(1, sizeof *s);
    s->lobby.id = "";
    fake_host_copy_options(s, options, count);
    log_divert(fake_host_on_log, s);
    s->loaded = fake_host_load(module, err);
    s->instance = s->loaded ? fake_host_make_instance(s, file, err) : NULL;
    if (s->instance)
        return s;
    fake_host_free(s);
    return NULL;
}

int fake_host_init(struct fake_host *s)
{
    const int rc = instance_init(s->instance);
    s->started = rc == 0;
    fake_host_drain(s);
    if (s->started)
        fake_host_idle(s);
    if (s->started && instance_next_wake_ms(s->instance) <= clock_mono_ms() + 1)
        fake_host_advance(s, 1); /* actions that init requested */
    return rc;
}

static void fake_host_end_instance(struct fake_host *s)
{
    if (s->started)
        instance_teardown(s->instance);
    s->started = false;
    for (struct fake_turn *t = s->turns; t; t = t->next) {
        instance_turn_free(t->live);
        t->live = NULL;
    }
    instance_free(s->instance);
    while (s->batches) { /* ignores requests of the teardown, which nobody would send */
        struct fake_batch *const first = s->batches;
        s->batches = first->next;
        callback_batch_free(first->batch);
        free(first);
    }
}

int fake_host_restart(struct fake_host *s)
{
    struct tc_err err;
    fake_host_end_instance(s);
    s->routes.count = 0;
    s->socket_base = s->socket_count;
    for (int64_t i = 1; i <= s->socket_count; i++)
        s->sockets[i] = FAKE_SOCKET_ENDED;
    fake_host_drop_requests(s, false);
    fake_host_mark_in_doubt(s);
    runtime_secrets_fini(&s->kept.secrets);
    for (struct fake_turn *t = s->turns; t; t = t->next)
        t->done = true;
    fake_host_free_turns_over(s);
    s->instance = fake_host_make_instance(s, "", &err);
    ASSERT(s->instance);
    instance_reserve_request_ids(s->instance, 2 * s->next_seq + 1);
    for (struct fake_turn *t = s->turns; t; t = t->next)
        t->live = fake_host_new_live(s, t, t->memory);
    const int rc = fake_host_init(s);
    fake_host_resume(s);
    return rc;
}

static void fake_host_free_lists(struct fake_host *s)
{
    while (s->acts)
        fake_host_drop_act(&s->acts);
    while (s->promises)
        fake_host_drop_promise(s);
    for (struct fake_auto *a = s->autos, *next; a; a = next) {
        next = a->next;
        free(a->method);
        free(a->body);
        free(a);
    }
}

static void fake_host_remove_files(struct fake_host *s)
{
    for (unsigned i = 1; s->files.folder && i <= s->files.count; i++) {
        CLEANUP_FREE char *path = xasprintf("%s/saved-%u", s->files.folder, i);
        unlink(path);
    }
    if (s->files.folder)
        rmdir(s->files.folder);
    free(s->files.folder);
}

void fake_host_free(struct fake_host *s)
{
    if (s->instance)
        fake_host_end_instance(s);
    fake_host_drop_requests(s, true);
    while (s->turns) {
        struct fake_turn *const t = s->turns;
        s->turns = t->next;
        fake_host_free_turn(t);
    }
    free(s->lobby.memory);
    stored_texts_fini(&s->kept.stored);
    runtime_secrets_fini(&s->kept.secrets);
    free(s->sockets);
    log_divert(NULL, NULL);
    fake_host_free_lists(s);
    fake_host_remove_files(s);
    loader_unref_plugin(s->loaded);
    arena_fini(&s->config);
    buf_fini(&s->faults);
    free(s);
}
