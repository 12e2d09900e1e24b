/* SPDX-License-Identifier: MIT
 * Owns the host of these tests, and counts descriptors and processes. */
#include "plugin/guest_kit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "plugin/abi/loader.h"
#include "tap/tap.h"

struct loop *kit_loop;
struct buf kit_told;
struct callback_batch *kit_batches[KIT_BATCHES];
size_t kit_n_batches;
struct host_call *kit_ask;
bool kit_holds_asks;
struct channel_callbacks kit_host;

/* ---- the host */

static void take_batch(void *ctx, struct callback_batch *b)
{
    (void)ctx;
    if (kit_n_batches == KIT_BATCHES)
        callback_batch_free(kit_batches[--kit_n_batches]);
    kit_batches[kit_n_batches++] = b;
}

static const char *or_none(const char *text)
{
    return text ? text : "-";
}

static void tell_submit(const struct host_call *a)
{
    const struct tc_inbound *const in = a->inbound;
    buf_printf(&kit_told, "submit:%s:%s:%s:%s:%s:%s:%s:%s:%s:%s", a->instance, in->id,
               or_none(in->also), in->chat, or_none(in->thread), in->user, or_none(in->name),
               or_none(in->text), or_none(in->quote), or_none(in->route));
    for (size_t i = 0; i < in->file_count; i++)
        buf_printf(&kit_told, ":%s=%s", in->files[i], or_none(in->file_names[i]));
    for (size_t i = 0; i < in->instance_count; i++)
        buf_printf(&kit_told, ":+%s", in->instances[i]);
    buf_add_str(&kit_told, ";");
}

static void take_ask(void *ctx, struct host_call *a)
{
    (void)ctx;
    if (a->kind == HOST_CALL_SUBMIT)
        tell_submit(a);
    else
        buf_printf(&kit_told, "%s:%s:%s:%s;", a->kind == HOST_CALL_CANCEL ? "cancel" : "may",
                   or_none(a->turn), or_none(a->user), or_none(a->chat));
    if (kit_holds_asks)
        kit_ask = a;
    else
        host_call_complete(a, a->kind == HOST_CALL_SUBMIT ? TC_QUEUED : TC_COMMAND, "t9",
                           "wait a bit");
}

static void take_route(void *ctx, const char *path)
{
    (void)ctx;
    buf_printf(&kit_told, "route:%s;", path);
}

static void take_open(void *ctx, int64_t socket, const struct tc_socket *s)
{
    (void)ctx;
    buf_printf(&kit_told, "open:%d:%s:%d:%d;", (int)socket, s->url, (int)s->ping_ms,
               (int)s->silent_ms);
    for (size_t i = 0; i < s->header_count; i++)
        buf_printf(&kit_told, "header:%s=%s;", s->headers[i].name, s->headers[i].value);
}

static void take_send(void *ctx, int64_t socket, struct str text, bool is_binary)
{
    (void)ctx;
    if (is_binary)
        buf_printf(&kit_told, "bytes:%d:%zu;", (int)socket, text.len);
    else
        buf_printf(&kit_told, "send:%d:%.*s;", (int)socket, (int)text.len, text.p);
}

static void take_store(void *ctx, const char *key, const char *text)
{
    (void)ctx;
    buf_printf(&kit_told, "store:%s:%s;", key, text ? text : "-");
}

static void take_secret(void *ctx, const char *name, const char *value)
{
    (void)ctx;
    buf_printf(&kit_told, "secret:%s:%s;", name, value ? value : "-");
}

static void take_close(void *ctx, int64_t socket)
{
    (void)ctx;
    buf_printf(&kit_told, "close:%d;", (int)socket);
}

static void take_dead(void *ctx, const char *turn, struct shared_event *shared, unsigned deaths)
{
    size_t len;
    (void)ctx;
    buf_printf(&kit_told, "bury:%u:%s:%s;", deaths, turn, shared_event_json_line(shared, &len));
}

/* ---- the log */

static char log_path[512];
static size_t log_seen;

const char *kit_logged(void)
{
    static char *text;
    size_t n;
    free(text);
    char *const all = tap_slurp(log_path, &n);
    text = strdup(all + log_seen);
    log_seen = n;
    free(all);
    return text;
}

static bool is_logged(void *text)
{
    size_t n;
    char *const all = tap_slurp(log_path, &n);
    const bool found = strstr(all + log_seen, text) != NULL;
    free(all);
    return found;
}

/* ---- rounds */

void kit_round(int ms)
{
    loop_run_once(kit_loop, ms);
}

bool kit_wait(bool (*cond)(void *arg), void *arg)
{
    const int64_t until = clock_mono_ms() + KIT_DEADLINE_MS;
    while (!cond(arg) && clock_mono_ms() < until)
        kit_round(20);
    return cond(arg);
}

bool kit_wait_log(const char *text)
{
    return kit_wait(is_logged, (void *)(uintptr_t)text);
}

static bool is_told(void *text)
{
    return kit_told.p && strstr(kit_told.p, text);
}

bool kit_wait_told(const char *text)
{
    return kit_wait(is_told, (void *)(uintptr_t)text);
}

static bool has_batches(void *n)
{
    return kit_n_batches >= *(size_t *)n;
}

bool kit_wait_batches(size_t n)
{
    return kit_wait(has_batches, &n);
}

/* ---- instances */

static const struct conf conf = {.file = (char[]){"my.conf"}};

struct loaded_plugin *kit_describe(const char *name)
{
    char path[512];
    struct tc_err err = {0};
    const char *const build = getenv("TURNCAST_BUILDDIR");
    snprintf(path, sizeof path, "%s/tests/fault/%s.so", build ? build : ".", name);
    struct loaded_plugin *const l = loader_probe_file(path, &err);
    if (!l)
        bail("%s", err_format(&err));
    return l;
}

struct conf_instance kit_spec(const char *name, struct conf_option *options)
{
    return (struct conf_instance){
        .name = (char *)(uintptr_t)name,
        .queue_events = 4096,
        .queue_bytes = 64 << 20,
        .init_ms = KIT_DEADLINE_MS,
        .callback_ms = KIT_DEADLINE_MS,
        .options = options,
        .line = 3,
    };
}

struct channel *kit_make(const struct conf_instance *spec, const char *module,
                         const struct channel_callbacks *host, struct tc_err *err)
{
    *err = (struct tc_err){0};
    return channel_process_new(&conf, spec, kit_describe(module), host, tap_tmpdir(), err);
}

struct channel *kit_try(const struct conf_instance *spec, const char *module,
                        const struct channel_callbacks *host, struct tc_err *err)
{
    struct channel *const c = kit_make(spec, module, host, err);
    return c && c->ops->wait_started(c, err) == 0 ? c : NULL;
}

struct channel *kit_start(const struct conf_instance *spec, const char *module,
                          const struct channel_callbacks *host)
{
    struct tc_err err;
    struct channel *const c = kit_try(spec, module, host, &err);
    if (!c)
        bail("%s", err_format(&err));
    return c;
}

int kit_stop(struct channel *c, int ms)
{
    c->ops->stop(c);
    return c->ops->join(c, clock_mono_ms() + ms);
}

/* ---- the system */

unsigned kit_count_fds(void)
{
    unsigned n = 0;
    DIR *const d = opendir("/proc/self/fd");
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

static unsigned list_children(int *newest)
{
    char path[64];
    unsigned n = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *const f = fopen(path, "re");
    while (f && fscanf(f, "%d", newest) == 1)
        n++;
    if (f)
        fclose(f);
    return n;
}

unsigned kit_count_children(void)
{
    int newest;
    return list_children(&newest);
}

int kit_child(void)
{
    int newest = 0;
    list_children(&newest);
    return newest;
}

/* ---- */

void kit_forget(void)
{
    buf_reset(&kit_told);
    while (kit_n_batches)
        callback_batch_free(kit_batches[--kit_n_batches]);
}

void kit_begin(void)
{
    snprintf(log_path, sizeof log_path, "%s/log", tap_tmpdir());
    FILE *const f = fopen(log_path, "w");
    log_setup(LOG_TEXT, LOG_INFO, dup(fileno(f)));
    fclose(f);
    kit_loop = loop_new();
    kit_host = (struct channel_callbacks){
        .loop = kit_loop,
        .batch = take_batch,
        .ask = take_ask,
        .has_server = true,
        .route = take_route,
        .socket_open = take_open,
        .socket_send = take_send,
        .socket_close = take_close,
        .secret = take_secret,
        .store = take_store,
        .give_up_event = take_dead,
    };
}

void kit_end(void)
{
    kit_forget();
    buf_fini(&kit_told);
    loop_free(kit_loop);
    log_forget_secrets();
}
