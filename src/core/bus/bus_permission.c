/* SPDX-License-Identifier: MIT
 * Owns the list of subjects that a host uses. */
#include "core/bus/bus_permission.h"

#include <string.h>

#include "base/invariant.h"
#include "core/bus/bus_stream.h"

struct bus_permission_list {
    struct bus_permission *items;
    size_t n;
    struct arena *arena;
    const struct conf *conf;
};

static void bus_permission_add(struct bus_permission_list *l, bool is_subscription,
                               const char *pattern, const char *subject)
{
    ASSERT(l->n < BUS_PERMISSIONS_MAX);
    l->items[l->n++] = (struct bus_permission){
        .is_subscription = is_subscription, .pattern = pattern, .subject = subject};
}

/* The requests that JetStream answers. No other message is understood, so none has an effect. */
static void bus_permission_add_api(struct bus_permission_list *l)
{
    static const char *const requests[] = {"INFO",
                                           "STREAM.INFO.doctor",
                                           "STREAM.CREATE.doctor",
                                           "DIRECT.GET.doctor",
                                           "CONSUMER.DURABLE.CREATE.doctor.doctor",
                                           "CONSUMER.MSG.NEXT.doctor.doctor"};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        bus_permission_add(l, false, "$JS.API.>",
                           arena_sprintf(l->arena, "$JS.API.%s", requests[i]));
    bus_permission_add(l, false, "$JS.ACK.>", "$JS.ACK.doctor.doctor");
    bus_permission_add(l, false, "_INBOX.>", "_INBOX.doctor");
    bus_permission_add(l, true, "_INBOX.>", "_INBOX.doctor.*");
}

/* "tc.ev.>" and "tc.ev.doctor.doctor", by what the stream is called. */
static void bus_permission_add_stream(struct bus_permission_list *l, const struct bus_names *names,
                                      enum bus_stream stream)
{
    struct buf subject = {0};
    bus_stream_subject(&subject, names, stream, "doctor", "doctor");
    const char *const whole = arena_strndup(l->arena, subject.p, subject.len);
    const size_t root = (size_t)(strstr(whole, ".doctor") - whole);
    bus_permission_add(l, false, arena_sprintf(l->arena, "%.*s.>", (int)root, whole), whole);
    buf_fini(&subject);
}

static void bus_permission_add_hosts(struct bus_permission_list *l)
{
    static const char *const heard[] = {"live.*.doctor", "known.*.*", "conf.*"};
    struct arena *const a = l->arena;
    const char *const prefix = l->conf->bus.prefix, *const host = l->conf->host_name;
    const char *const requests = arena_sprintf(a, "%s.h.>", prefix);
    bus_permission_add(l, false, requests, arena_sprintf(a, "%s.h.doctor.doctor", prefix));
    bus_permission_add(l, true, requests, arena_sprintf(a, "%s.h.%s.*", prefix, host));
    for (size_t i = 0; i < sizeof heard / sizeof *heard; i++)
        bus_permission_add(
            l, true, arena_sprintf(a, "%s.%.*s.>", prefix, (int)strcspn(heard[i], "."), heard[i]),
            arena_sprintf(a, "%s.%s", prefix, heard[i]));
}

static void bus_permission_add_service(struct bus_permission_list *l, const char *root)
{
    struct arena *const a = l->arena;
    const char *const pattern = arena_sprintf(a, "%s.>", root);
    bus_permission_add(l, true, pattern, arena_sprintf(a, "%s.runs", root));
    bus_permission_add(l, true, pattern, arena_sprintf(a, "%s.runs.%s", root, l->conf->host_name));
}

static void bus_permission_add_runs(struct bus_permission_list *l)
{
    const struct conf_bus_runs *const runs = &l->conf->bus.runs;
    if (!runs->key)
        return;
    if (runs->ag_ui)
        bus_permission_add_service(l, "agentos.ag-ui");
    if (runs->ai_sdk)
        bus_permission_add_service(l, "agentos.ai-sdk");
    for (char **reply = runs->replies; reply && *reply; reply++)
        bus_permission_add(
            l, false, *reply,
            arena_sprintf(l->arena, "%.*sdoctor", (int)strcspn(*reply, ">"), *reply));
}

size_t bus_permission_list(const struct conf *conf, struct arena *a,
                           struct bus_permission out[BUS_PERMISSIONS_MAX])
{
    const struct bus_names names = {conf->bus.prefix, conf->host_name};
    struct bus_permission_list l = {.items = out, .arena = a, .conf = conf};
    bus_permission_add_api(&l);
    bus_permission_add_hosts(&l);
    for (int i = 0; i < BUS_STREAMS; i++)
        bus_permission_add_stream(&l, &names, (enum bus_stream)i);
    bus_permission_add_runs(&l);
    return l.n;
}

void bus_permission_record(struct bus_permission *list, size_t n, const char *complaint)
{
    const bool is_subscription = strstr(complaint, " Subscription to ");
    const char *const begin = strchr(complaint, '"'), *const end =
                                                          begin ? strchr(begin + 1, '"') : NULL;
    if (!end || (!is_subscription && !strstr(complaint, " Publish to ")))
        return;
    const size_t len = (size_t)(end - begin) - 1;
    for (size_t i = 0; i < n; i++)
        if (list[i].is_subscription == is_subscription && strlen(list[i].subject) == len &&
            strncmp(list[i].subject, begin + 1, len) == 0)
            list[i].is_missing = true;
}

/* One of the same kind and pattern stands before it. */
static bool bus_permission_is_repeated(const struct bus_permission *list, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (list[k].is_missing && list[k].is_subscription == list[i].is_subscription &&
            strcmp(list[k].pattern, list[i].pattern) == 0)
            return true;
    return false;
}

static void bus_permission_write_kind(const struct bus_permission *list, size_t n,
                                      bool is_subscription, struct buf *out)
{
    const size_t before = out->len;
    for (size_t i = 0; i < n; i++) {
        if (!list[i].is_missing || list[i].is_subscription != is_subscription ||
            bus_permission_is_repeated(list, i))
            continue;
        if (out->len == before)
            buf_printf(out, "%s%s: [", before ? ", " : "",
                       is_subscription ? "subscribe" : "publish");
        else
            buf_add_str(out, ", ");
        buf_printf(out, "\"%s\"", list[i].pattern);
    }
    if (out->len > before)
        buf_add_char(out, ']');
}

void bus_permission_write(const struct bus_permission *list, size_t n, struct buf *out)
{
    ASSERT(!out->len);
    bus_permission_write_kind(list, n, false, out);
    bus_permission_write_kind(list, n, true, out);
}
