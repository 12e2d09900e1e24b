/* SPDX-License-Identifier: MIT
 * Calls one plugin in the same way as the runtime of the host, in the thread of the test. */
#include "plugins/host.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "conf/options/plugin_options.h"
#include "event/codec.h"
#include "event/json/json_redact.h"
#include "tap/tap.h"
#include "text/markdown/markdown.h"
#include "text/render/text_pieces.h"

#define PAIRS_MAX 16

struct plugin_host {
    struct tc_instance inst; /* first member: services find the host by it */
    const struct tc_plugin *plugin;
    void *module;
    void *conf;
    struct tc_turn turn, lobby;
    bool running;
    struct arena config, turn_arena;
    struct buf log;
    int options; /* -1: refused */
    uint64_t seq;
    double ts;
    const char *parent_id;
    bool hidden;
};

static struct plugin_host *host_of(struct tc_instance *inst)
{
    return (struct plugin_host *)(void *)inst;
}

static void TC_PRINTF(3, 4)
    service_log(struct tc_instance *inst, enum tc_level level, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char text[1024];
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    buf_printf(&host_of(inst)->log, "%d %s\n", (int)level, text);
}

static void *service_alloc(struct tc_turn *turn, size_t n)
{
    return arena_alloc(&host_of(turn->inst)->turn_arena, n);
}

static size_t service_redact(struct tc_instance *inst, const char *json, size_t len, char *out,
                             size_t cap)
{
    (void)inst;
    CLEANUP_BUF struct buf masked = {0};
    json_redact(&masked, (struct str){json, len});
    if (cap > 0) {
        const size_t n = masked.len < cap ? masked.len : cap - 1;
        memcpy(out, masked.p ? masked.p : "", n);
        out[n] = '\0';
    }
    return masked.len;
}

static char *service_keep(struct tc_turn *turn, const char *text)
{
    return arena_strdup(&host_of(turn->inst)->turn_arena, text);
}

/* A test that needs the time calls on_idle. */
static void service_wake(struct tc_turn *turn, int64_t ms)
{
    (void)turn;
    (void)ms;
}

static const struct tc_piece *service_pieces(struct tc_turn *turn, const struct tc_text *text,
                                             size_t *count)
{
    struct arena *const a = &host_of(turn->inst)->turn_arena;
    const struct text_piece *const from = text_pieces_render(a, text, 0, false, count);
    struct tc_piece *const to = arena_alloc(a, (*count + 1) * sizeof *to);
    for (size_t i = 0; i < *count; i++)
        to[i] = (struct tc_piece){.text = from[i].text, .len = from[i].len};
    return to;
}

static size_t service_settled(struct tc_turn *turn, const char *text, size_t len)
{
    (void)turn;
    return markdown_stable_length((struct str){text, len});
}

static const struct tc_host services = {.size = sizeof services,
                                        .major = TURNCAST_API_MAJOR,
                                        .minor = TURNCAST_API_LATEST,
                                        .log = service_log,
                                        .alloc = service_alloc,
                                        .redact = service_redact,
                                        .keep = service_keep,
                                        .wake = service_wake,
                                        .pieces = service_pieces,
                                        .settled = service_settled};

static void fill_options(struct plugin_host *h, const char *const *options)
{
    struct conf_option pairs[PAIRS_MAX + 1] = {{0}};
    struct tc_err err;
    if (!h->plugin->options)
        return;
    for (size_t i = 0; options && options[2 * i] && i < PAIRS_MAX; i++) {
        pairs[i].key = arena_strdup(&h->config, options[2 * i]);
        pairs[i].value = arena_strdup(&h->config, options[2 * i + 1]);
    }
    h->options = plugin_options_parse(
        h->conf, h->plugin, &(struct plugin_options_source){.pairs = pairs, .file = "test"},
        &h->config, &err);
    if (h->options < 0)
        buf_printf(&h->log, "%d %s\n", (int)TC_ERR, err.text);
}

struct plugin_host *plugin_host_new(const char *plugin, const char *const *options)
{
    char path[4096];
    const char *folder = getenv("TURNCAST_PLUGIN_PATH");
    snprintf(path, sizeof path, "%s/%s.so", folder ? folder : "plugins/.libs", plugin);
    struct plugin_host *h = xcalloc(1, sizeof *h);
    h->module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!h->module)
        bail("%s", dlerror());
    h->plugin = dlsym(h->module, "turncast_plugin");
    if (!h->plugin)
        bail("%s has no turncast_plugin", path);
    h->conf = xcalloc(1, h->plugin->conf_size + 1);
    h->inst = (struct tc_instance){.host = &services,
                                   .name = "test",
                                   .conf = h->conf,
                                   .state = xcalloc(1, h->plugin->state_size + 1),
                                   .language = "en"};
    h->lobby = (struct tc_turn){.inst = &h->inst, .id = ""};
    h->inst.lobby = &h->lobby;
    h->ts = 1785569401.00025;
    fill_options(h, options);
    return h;
}

int plugin_host_init(struct plugin_host *h)
{
    return h->options == 0 && h->plugin->init ? h->plugin->init(&h->inst) : h->options;
}

static void begin(struct plugin_host *h)
{
    h->turn = (struct tc_turn){.inst = &h->inst,
                               .state = xcalloc(1, h->plugin->turn_size + 1),
                               .id = "turn-1",
                               .agent = "default"};
    h->running = true;
}

static void end(struct plugin_host *h)
{
    free(h->turn.state);
    arena_reset(&h->turn_arena);
    h->running = false;
}

static int call(const struct tc_sink *s, struct tc_turn *turn, const struct event *ev)
{
    switch (ev->kind) {
#define K(lower, UPPER, ...)                                                                       \
    case TC_##UPPER:                                                                               \
        return s->on_##lower ? s->on_##lower(turn, &ev->u.lower) : 0;
        EVENT_KINDS(K)
#undef K
    }
    return -1;
}

static int deliver(struct plugin_host *h, struct shared_event *box)
{
    const struct event *ev = shared_event_get(box);
    const struct tc_sink *s = h->plugin->sink;
    struct tc_event any = {
        .meta = &ev->meta, .kind = ev->kind, .name = kind_name(ev->kind), .payload = &ev->u};
    any.line = shared_event_json_line(box, &any.line_len);
    int rc = ev->kind == TC_THINKING && ev->u.thinking.text_len == 0 ? 0 : call(s, &h->turn, ev);
    if (s->on_event)
        rc |= s->on_event(&h->turn, &any);
    return rc;
}

int plugin_host_send(struct plugin_host *h, const char *kind, const char *payload)
{
    CLEANUP_BUF struct buf line = {0};
    struct arena a = {0};
    struct event ev;
    const char *why = "";
    buf_printf(&line,
               "{\"type\":\"%s\",\"payload\":%s,\"ts\":%.6f,\"correlation_id\":\"turn-1\","
               "\"session_id\":\"sess-1\",\"seq\":%llu,\"src\":\"test\"}",
               kind, payload, h->ts, (unsigned long long)++h->seq);
    if (codec_decode(&ev, &a, line.p, line.len, &why))
        bail("%s: %s", why, line.p);
    ev.meta.parent_id = h->parent_id;
    ev.meta.hidden = h->hidden;
    if (!h->running)
        begin(h);
    struct shared_event *box = shared_event_new(&ev);
    const int rc = deliver(h, box);
    shared_event_unref(box);
    arena_fini(&a);
    if (ev.kind == TC_DONE)
        end(h);
    return rc;
}

void plugin_host_set_time(struct plugin_host *h, double ts)
{
    h->ts = ts;
}

void plugin_host_set_meta(struct plugin_host *h, const char *parent_id, int hidden)
{
    h->parent_id = parent_id;
    h->hidden = hidden != 0;
}

int plugin_host_idle(struct plugin_host *h)
{
    return h->plugin->sink->on_idle ? h->plugin->sink->on_idle(&h->inst) : 0;
}

const char *plugin_host_log(const struct plugin_host *h)
{
    return h->log.p ? h->log.p : "";
}

void plugin_host_free(struct plugin_host *h)
{
    if (h->plugin->teardown)
        h->plugin->teardown(&h->inst);
    if (h->running)
        end(h);
    free(h->inst.state);
    free(h->conf);
    arena_fini(&h->config);
    arena_fini(&h->turn_arena);
    buf_fini(&h->log);
    free(h);
}
