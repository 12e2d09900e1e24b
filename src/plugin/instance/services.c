/* SPDX-License-Identifier: MIT
 * Services of the host for plugins. Plugins are not trusted: handles are verified, sizes capped;
 * invalid calls are logged and return NULL. */
#include "plugin/instance/services.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/bytes/buf.h"
#include "base/sys/log.h"
#include "dialect/writer/writer.h"
#include "event/json/json_redact.h"
#include "event/json/json_value.h"
#include "plugin/instance/services_internal.h"
#include "plugin/instance/services_json.h"

#define LOG_MAX 4096
#define TURN_MEMORY_MAX ((size_t)(256 << 20)) /* memory limits of a turn, and of a callback */

static struct arena *services_check_arena_room(struct arena *arena, const struct instance *in,
                                               size_t n, const char *service)
{
    if (n <= TURN_MEMORY_MAX && arena->used <= TURN_MEMORY_MAX - n)
        return arena;
    log_write(LOG_ERR, in->label,
              "%s(%zu bytes) failed: the turn's memory limit is reached (%zu bytes in use)",
              service, n, arena->used);
    return NULL;
}

struct arena *services_get_scratch(struct tc_turn *turn, size_t n, const char *service)
{
    struct instance_turn *const t = instance_check_turn(turn, service);
    return t ? services_check_arena_room(&t->in->scratch, t->in, n, service) : NULL;
}

struct arena *services_get_turn_arena(struct tc_turn *turn, size_t n, const char *service)
{
    struct instance_turn *const t = instance_check_turn(turn, service);
    return t ? services_check_arena_room(&t->arena, t->in, n, service) : NULL;
}

bool services_check_offered(struct instance *in, const char *service, bool offered, unsigned bit)
{
    if (!offered && !(in->failures.refused & bit)) {
        in->failures.refused |= bit;
        services_refuse(in, service, "not available in this host");
    }
    return offered;
}

int services_refuse(const struct instance *in, const char *service, const char *why)
{
    log_write(LOG_ERR, in->label, "%s: %s", service, why);
    return -1;
}

static void service_log(struct tc_instance *inst, enum tc_level level, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
static void service_log(struct tc_instance *inst, enum tc_level level, const char *fmt, ...)
{
    const struct instance *const in = instance_check(inst);
    if (!log_enabled((enum log_level)level))
        return;
    char text[LOG_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    log_write((enum log_level)level, in ? instance_label(in) : "plugin", "%s", text);
}

static void *service_alloc(struct tc_turn *turn, size_t n)
{
    struct arena *const arena = services_get_turn_arena(turn, n, "tc_alloc");
    return arena ? arena_alloc(arena, n) : NULL;
}

static char *service_sprint(struct tc_turn *turn, const char *fmt, ...) PRINTF_LIKE(2, 3);
static char *service_sprint(struct tc_turn *turn, const char *fmt, ...)
{
    struct arena *const arena = services_get_scratch(turn, 0, "tc_sprint");
    if (!arena)
        return NULL;
    va_list ap;
    va_start(ap, fmt);
    char *const text = arena_vsprintf(arena, fmt, ap);
    va_end(ap);
    return text;
}

/* Copies jansson's text to the memory for results, and frees it. */
static char *services_copy_text(struct tc_turn *turn, char *text)
{
    struct arena *const arena = text ? services_get_scratch(turn, strlen(text), "tc_json") : NULL;
    char *const copy = arena ? arena_strdup(arena, text) : NULL;
    free(text);
    return copy;
}

static char *service_json(struct tc_turn *turn, const char *fmt, ...)
{
    if (!services_get_scratch(turn, 0, "tc_json"))
        return NULL;
    char why[SERVICES_JSON_WHY];
    va_list ap;
    va_start(ap, fmt);
    json_t *const value = services_json_pack(fmt, ap, why);
    va_end(ap);
    if (!value) {
        log_write(LOG_ERR, instance_label(instance_check(turn->inst)), "tc_json(\"%s\"): %s", fmt,
                  why);
        return NULL;
    }
    char *const text = json_value_text(value);
    json_decref(value);
    return services_copy_text(turn, text);
}

static size_t service_redact(struct tc_instance *inst, const char *json, size_t len, char *out,
                             size_t cap)
{
    (void)inst;
    CLEANUP_BUF struct buf masked = {0};
    json_redact(&masked, (struct str){json, len});
    if (cap == 0)
        return masked.len;
    const size_t n = masked.len < cap ? masked.len : cap - 1;
    if (n)
        memcpy(out, masked.p, n);
    out[n] = '\0';
    return masked.len;
}

#define FORMAT_MIN offsetof(struct tc_format, settings) /* for a plugin for 1.0 to 1.5 */

static bool service_has_format(struct tc_instance *inst, const char *name)
{
    (void)inst;
    return name && writer_find(name);
}

static const char *service_encode(struct tc_turn *turn, const struct tc_format *format, size_t *len)
{
    const bool sane = format && format->size >= FORMAT_MIN && format->name && len;
    struct instance_turn *const t = sane ? instance_check_turn(turn, "tc_encode") : NULL;
    return t ? instance_encode_event(t, format, len) : NULL;
}

const struct tc_host *services_table(void)
{
    static const struct tc_host table = {
        .size = sizeof table,
        .major = TURNCAST_API_MAJOR,
        .minor = TURNCAST_API_LATEST,
        .log = service_log,
        .alloc = service_alloc,
        .sprint = service_sprint,
        .json = service_json,
        .json_get = service_json_get,
        .redact = service_redact,
        .has_format = service_has_format,
        .encode = service_encode,
        .keep = service_keep,
        .http = service_http,
        .wake = service_wake,
        .remember = service_remember,
        .pieces = service_pieces,
        .settled = service_settled,
        .submit = service_submit,
        .cancel = service_cancel,
        .may_submit = service_may_submit,
        .route = service_route,
        .socket_open = service_socket_open,
        .socket_send = service_socket_send,
        .socket_close = service_socket_close,
        .ticket = service_ticket,
        .answer = service_answer,
        .knows = service_knows,
        .hold = service_hold,
        .release = service_release,
        .watch = service_watch,
        .unwatch = service_unwatch,
        .pause = service_pause,
        .secret = service_secret,
        .json_key = service_json_key,
        .json_member = service_json_member,
        .quote = service_quote,
        .hmac_sha256 = service_hmac_sha256,
        .same = service_same,
        .ed25519_verify = service_ed25519_verify,
        .chat_receive = service_chat_receive,
        .chat_act = service_chat_act,
        .complete = service_complete,
        .store = service_store,
        .load = service_load,
        .socket_send_binary = service_socket_send_binary,
        .hit_answer = service_hit_answer,
        .chat_describe = service_chat_describe,
        .say = service_say,
        .ed25519_sign = service_ed25519_sign,
        .header_value = service_header_value,
        .random = service_random,
        .is_recent = service_is_recent,
        .chat_form = service_chat_form,
        .cut = service_cut,
        .webhook_keys = service_webhook_keys,
        .webhook_sign = service_webhook_sign,
        .webhook_check = service_webhook_check,
        .route_signed = service_route_signed,
        .link_keep = service_link_keep,
        .link_open = service_link_open,
        .link_send = service_link_send,
        .link_step = service_link_step,
        .fit = service_fit,
        .url_at = service_url_at,
        .chat_inputs = service_chat_inputs,
        .feed_add = service_feed_add,
        .feed_go = service_feed_go,
        .feed_position = service_feed_position,
        .feed_ready = service_feed_ready,
        .feed_page = service_feed_page,
        .is_signed = service_is_signed,
        .secret_of = service_secret_of,
    };
    return &table;
}
