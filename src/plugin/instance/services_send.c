/* SPDX-License-Identifier: MIT
 * Outbound requests, wake-ups and per-turn memory. */
#include <stdlib.h>

#include "base/sys/clock.h"
#include "plugin/instance/services_internal.h"

#define WAKE_MAX_MS ((int64_t)366 * 86400 * 1000)

char *service_keep(struct tc_turn *turn, const char *text)
{
    struct arena *const arena = services_get_turn_arena(turn, text ? strlen(text) : 0, "tc_keep");
    return arena ? arena_strdup(arena, text) : NULL;
}

int service_http(struct tc_turn *turn, const struct tc_http *http)
{
    struct instance_turn *const t = instance_check_turn(turn, "tc_http");
    if (!t || !services_check_offered(t->in, "tc_http", t->in->host.batch, OFFER_HTTP))
        return -1;
    if (!http)
        return services_refuse(t->in, "tc_http", "the request is NULL");
    const char *why;
    return instance_add_request(t, http, &why) < 0 ? services_refuse(t->in, "tc_http", why) : 0;
}

int service_complete(struct tc_turn *turn, uint64_t number, const struct tc_completion *completion)
{
    struct instance_turn *const t = instance_check_turn(turn, "tc_complete");
    if (!t || !services_check_offered(t->in, "tc_complete", t->in->host.batch, OFFER_HTTP))
        return -1;
    const char *why;
    return instance_add_result(t->in, number, completion, &why) < 0
               ? services_refuse(t->in, "tc_complete", why)
               : 0;
}

/* The copy in this process masks the secret in the instance's log. */
int service_secret(struct tc_instance *inst, const char *name, const char *value)
{
    struct instance *const in = instance_check_thread(inst, "tc_secret");
    if (!in || !services_check_offered(in, "tc_secret", in->host.secret, OFFER_HTTP))
        return -1;
    const char *const fault = validate_secret(name, value);
    if (fault)
        return services_refuse(in, "tc_secret", fault);
    if (runtime_secrets_set(&in->secrets, name, value) < 0)
        return services_refuse(in, "tc_secret", "too many secrets are set");
    in->host.secret(in->host.ctx, name, value);
    return 0;
}

void service_wake(struct tc_turn *turn, int64_t ms)
{
    struct instance_turn *const t = instance_check_turn(turn, "tc_wake");
    if (!t)
        return;
    if (ms < 0)
        wake_heap_remove(&t->in->wakes.plugin, &t->wake);
    else
        wake_heap_set(&t->in->wakes.plugin, &t->wake,
                      clock_mono_ms() + (ms < 1             ? 1
                                         : ms < WAKE_MAX_MS ? ms
                                                            : WAKE_MAX_MS));
}

int service_secret_of(struct tc_instance *inst, const char *name, const char *value)
{
    if (!value || service_secret(inst, name, value) < 0)
        return -1;
    char *const oldest = runtime_secrets_record_recent(&instance_check(inst)->secrets, name);
    if (oldest)
        service_secret(inst, oldest, NULL);
    free(oldest);
    return 0;
}

int service_remember(struct tc_turn *turn, const char *text)
{
    struct instance_turn *const t = instance_check_turn(turn, "tc_remember");
    if (!t || !services_check_offered(t->in, "tc_remember", t->in->host.batch, OFFER_HTTP))
        return -1;
    if (t == &t->in->context)
        return services_refuse(t->in, "tc_remember", "the lobby cannot remember anything");
    if (!validate_is_text(text, VALIDATE_MEMORY_MAX))
        return services_refuse(t->in, "tc_remember", "the text is too long or not UTF-8");
    instance_set_memory(t, text);
    return 0;
}
