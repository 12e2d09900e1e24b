/* SPDX-License-Identifier: MIT
 * Owns the life of the instance on stage: its turns, the memory of callbacks, its events. */
#include "plugins/stage.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "conf/plugin_options.h"
#include "event/codec.h"
#include "plugins/stage_parts.h"
#include "tap/tap.h"

#define SECRET_MIN 4

int64_t stage_now = 1000000;

void stage_fault(struct stage *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    if (s->faults.len)
        buf_add_str(&s->faults, "; ");
    buf_vprintf(&s->faults, fmt, ap);
    va_end(ap);
}

void stage_note(struct stage *s, enum stage_note note, int level, const char *what)
{
    struct stage_act **end = &s->acts;
    while (*end)
        end = &(*end)->next;
    *end = xcalloc(1, sizeof **end);
    **end = (struct stage_act){.note = note, .level = level, .what = xstrdup(what)};
}

void stage_check_secrets(struct stage *s, const char *where, const char *text, size_t len)
{
    for (const struct tc_option *o = s->plugin->options; text && o && o->key; o++) {
        if (!(o->flags & TC_SECRET))
            continue;
        const char *value;
        memcpy(&value, (const char *)s->conf + o->offset, sizeof value);
        if (value && strlen(value) >= SECRET_MIN && memmem(text, len, value, strlen(value)))
            stage_fault(s, "the secret %s is in %s", o->key, where);
    }
}

void *stage_scope(struct stage *s, size_t n)
{
    if (s->scope_count == s->scope_cap) {
        s->scope_cap = s->scope_cap ? 2 * s->scope_cap : 16;
        s->scope = xrealloc(s->scope, s->scope_cap * sizeof *s->scope);
    }
    return s->scope[s->scope_count++] = xcalloc(1, n ? n : 1);
}

char *stage_scope_text(struct stage *s, const char *text)
{
    const size_t n = strlen(text) + 1;
    return memcpy(stage_scope(s, n), text, n);
}

void stage_enter(struct stage *s)
{
    s->callbacks++;
    s->batch = NULL;
    s->batch_end = &s->batch;
}

void stage_leave(struct stage *s, uint64_t place)
{
    s->callbacks--;
    for (size_t i = 0; i < s->scope_count; i++)
        free(s->scope[i]);
    s->scope_count = 0;
    stage_commit(s, place);
}

/* ---- turns ---- */

static void set_up(struct stage *s, struct stage_turn *t, const char *id)
{
    t->turn =
        (struct tc_turn){.inst = &s->inst, .id = arena_strdup(&t->own, id), .agent = "default"};
}

static const char *own_text(struct stage_turn *t, const char *text)
{
    return arena_strdup(&t->own, text);
}

struct stage_turn *stage_find(struct stage *s, const char *id)
{
    for (struct stage_turn *t = s->turns; t; t = t->next)
        if (strcmp(t->turn.id, id) == 0)
            return t;
    return NULL;
}

struct stage_turn *stage_open(struct stage *s, const char *id, const char *conversation,
                              const char *route, const char *memory)
{
    struct stage_turn *t = stage_find(s, id);
    if (t) { /* after a restart it can be there for its requests */
        t->done = false;
        return t;
    }
    t = xcalloc(1, sizeof *t);
    set_up(s, t, id);
    t->turn.state = xcalloc(1, s->plugin->turn_size + 1);
    t->turn.conversation = own_text(t, conversation);
    t->turn.route = own_text(t, route);
    t->turn.memory = own_text(t, memory);
    t->next = s->turns;
    return s->turns = t;
}

static void free_turn(struct stage_turn *t)
{
    free(t->turn.state);
    free(t->memory);
    arena_fini(&t->arena);
    arena_fini(&t->own);
    free(t);
}

void stage_reap(struct stage *s)
{
    for (struct stage_turn **at = &s->turns; *at;) {
        struct stage_turn *const t = *at;
        if (!t->done || t->under_way > 0) {
            at = &t->next;
            continue;
        }
        *at = t->next;
        free_turn(t);
    }
}

/* ---- events ---- */

static int call(const struct tc_sink *sink, struct tc_turn *turn, const struct event *ev)
{
    switch (ev->kind) {
#define K(lower, UPPER, ...)                                                                       \
    case TC_##UPPER:                                                                               \
        return sink->on_##lower ? sink->on_##lower(turn, &ev->u.lower) : 0;
        EVENT_KINDS(K)
#undef K
    }
    return -1;
}

static int deliver(struct stage *s, struct stage_turn *t, struct shared_event *box)
{
    const struct event *ev = shared_event_get(box);
    const struct tc_sink *const sink = s->plugin->sink;
    struct tc_event any = {
        .meta = &ev->meta, .kind = ev->kind, .name = kind_name(ev->kind), .payload = &ev->u};
    any.line = shared_event_json_line(box, &any.line_len);
    stage_enter(s);
    int rc = ev->kind == TC_THINKING && ev->u.thinking.text_len == 0 ? 0 : call(sink, &t->turn, ev);
    if (sink->on_event)
        rc |= sink->on_event(&t->turn, &any);
    stage_leave(s, 0);
    return rc;
}

void stage_event(struct stage *s, struct stage_turn *t, const char *kind, const char *payload)
{
    CLEANUP_BUF struct buf line = {0};
    struct arena a = {0};
    struct event ev;
    const char *why = "";
    buf_printf(&line,
               "{\"type\":\"%s\",\"payload\":%s,\"ts\":%.3f,\"correlation_id\":\"%s\","
               "\"session_id\":\"sess-1\",\"seq\":%llu,\"src\":\"test\"}",
               kind, payload, 1790000000.0 + (double)stage_now / 1e3, t->turn.id,
               (unsigned long long)++t->seq);
    if (codec_decode(&ev, &a, line.p, line.len, &why)) {
        stage_fault(s, "no event: %s: %s", why, line.p);
        arena_fini(&a);
        return;
    }
    struct shared_event *const box = shared_event_new(&ev);
    const enum tc_kind is = ev.kind;
    arena_fini(&a);
    if (deliver(s, t, box))
        stage_fault(s, "on_%s returned -1", kind);
    shared_event_unref(box);
    t->done |= is == TC_DONE;
    if (is == TC_DONE)
        t->wake_at = 0;
    stage_idle(s);
}

/* What is called when the queue of the instance ran empty. */
void stage_idle(struct stage *s)
{
    if (s->plugin->sink->on_idle) {
        stage_enter(s);
        if (s->plugin->sink->on_idle(&s->inst))
            stage_fault(s, "on_idle returned -1");
        stage_leave(s, 0);
    }
    stage_pump(s);
    stage_reap(s);
}

static bool is_routed(const struct stage *s, const char *path)
{
    for (size_t i = 0; i < s->route_count; i++)
        if (strcmp(s->routes[i], path) == 0)
            return true;
    return false;
}

struct tc_answer stage_hit(struct stage *s, const char *method, const char *path, json_t *headers,
                           const char *body)
{
    struct tc_header list[16] = {{0}};
    struct tc_hit hit = {.query = "", .headers = list};
    struct tc_answer answer = {.status = 200}, kept;
    const char *key;
    json_t *value;
    if (!is_routed(s, path) || !s->plugin->sink->on_hit) {
        stage_fault(s, "there is no route %s", path);
        return (struct tc_answer){.status = 404};
    }
    stage_enter(s);
    json_object_foreach(headers, key, value) if (hit.header_count < 16) list[hit.header_count++] =
        (struct tc_header){stage_scope_text(s, key), stage_scope_text(s, json_string_value(value))};
    hit.method = stage_scope_text(s, method);
    hit.path = stage_scope_text(s, path);
    hit.body = stage_scope_text(s, body);
    hit.body_len = strlen(body);
    if (s->plugin->sink->on_hit(&s->lobby.turn, &hit, &answer))
        stage_fault(s, "on_hit returned -1");
    kept = answer;
    kept.body = arena_strdup(&s->config, answer.body);
    kept.content_type = arena_strdup(&s->config, answer.content_type);
    stage_leave(s, 0);
    stage_idle(s);
    return kept;
}

void stage_frame(struct stage *s, int64_t socket, enum tc_socket_event event, const char *text)
{
    if (socket < 1 || socket > s->socket_count ||
        (s->sockets[socket] == 0 && event != TC_SOCKET_CLOSED) || !s->plugin->sink->on_frame) {
        stage_fault(s, "there is no socket %lld", (long long)socket);
        return;
    }
    s->sockets[socket] = event == TC_SOCKET_CLOSED ? 0 : 2;
    stage_enter(s);
    const struct tc_frame frame = {
        .socket = socket, .event = event, .text = stage_scope_text(s, text), .len = strlen(text)};
    if (s->plugin->sink->on_frame(&s->lobby.turn, &frame))
        stage_fault(s, "on_frame returned -1");
    stage_leave(s, 0);
    stage_idle(s);
}

/* ---- instance ---- */

static void fill_options(struct stage *s, const char *const *options)
{
    struct conf_option pairs[STAGE_OPTIONS_MAX + 1] = {{0}};
    struct tc_err err;
    for (size_t i = 0; options[2 * i] && i < STAGE_OPTIONS_MAX; i++) {
        pairs[i].key = arena_strdup(&s->config, options[2 * i]);
        pairs[i].value = arena_strdup(&s->config, options[2 * i + 1]);
    }
    if (s->plugin->options &&
        plugin_options_parse(s->conf, s->plugin->options, pairs, "script", 1, &s->config, &err))
        stage_fault(s, "%s", err_format(&err));
}

struct stage *stage_new(const char *module, const char *const *options)
{
    struct stage *const s = xcalloc(1, sizeof *s);
    s->module = dlopen(module, RTLD_NOW | RTLD_LOCAL);
    if (!s->module)
        bail("%s", dlerror());
    s->plugin = dlsym(s->module, "turncast_plugin");
    if (!s->plugin)
        bail("%s has no turncast_plugin", module);
    s->conf = xcalloc(1, s->plugin->conf_size + 1);
    s->inst = (struct tc_instance){.host = stage_services(),
                                   .name = "test",
                                   .conf = s->conf,
                                   .state = xcalloc(1, s->plugin->state_size + 1),
                                   .lobby = &s->lobby.turn};
    s->batch_end = &s->batch;
    set_up(s, &s->lobby, "");
    fill_options(s, options);
    return s;
}

int stage_init(struct stage *s)
{
    int rc = 0;
    stage_enter(s);
    if (s->plugin->init)
        rc = s->plugin->init(&s->inst);
    stage_leave(s, 0);
    stage_idle(s);
    return rc;
}

static void end_instance(struct stage *s)
{
    stage_enter(s);
    if (s->plugin->teardown)
        s->plugin->teardown(&s->inst);
    s->callbacks--;
    for (struct stage_request *r = s->batch, *next; r; r = next) {
        next = r->next;
        stage_free_request(r);
    }
    s->batch = NULL;
    s->batch_end = &s->batch;
}

int stage_restart(struct stage *s)
{
    end_instance(s);
    free(s->inst.state);
    s->inst.state = xcalloc(1, s->plugin->state_size + 1);
    arena_fini(&s->lobby.arena);
    s->lobby.wake_at = 0;
    s->route_count = 0;
    memset(s->sockets, 0, sizeof s->sockets);
    stage_drop_volatile(s);
    for (struct stage_turn *t = s->turns; t; t = t->next) {
        arena_fini(&t->arena);
        memset(t->turn.state, 0, s->plugin->turn_size);
        t->turn.memory = arena_strdup(&t->own, t->memory);
        t->done = true;
        t->wake_at = 0;
    }
    stage_reap(s);
    const int rc = stage_init(s);
    stage_resume(s);
    return rc;
}

static void free_lists(struct stage *s)
{
    for (struct stage_act *a = s->acts, *next; a; a = next) {
        next = a->next;
        free(a->what);
        free(a);
    }
    for (struct stage_auto *a = s->autos, *next; a; a = next) {
        next = a->next;
        free(a->method);
        free(a->body);
        free(a);
    }
    for (struct stage_promise *p = s->promises, *next; p; p = next) {
        next = p->next;
        json_decref(p->want);
        free(p->turn);
        free(p->answer);
        free(p);
    }
}

void stage_free(struct stage *s)
{
    end_instance(s);
    stage_drop_all(s);
    for (struct stage_turn *t = s->turns, *next; t; t = next) {
        next = t->next;
        free_turn(t);
    }
    arena_fini(&s->lobby.arena);
    arena_fini(&s->lobby.own);
    free(s->lobby.memory);
    free_lists(s);
    for (size_t i = 0; i < s->scope_count; i++)
        free(s->scope[i]);
    free(s->scope);
    free(s->inst.state);
    free(s->conf);
    arena_fini(&s->config);
    buf_fini(&s->faults);
    free(s);
}
