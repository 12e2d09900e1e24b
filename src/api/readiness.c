/* SPDX-License-Identifier: MIT
 * Defines when an instance and the host are ready. */
#include "api/readiness.h"

#include "api/shared/api_internal.h"
#include "core/bus/bus.h"
#include "core/dispatch/dispatch.h"
#include "event/json/json_writer.h"

struct readiness {
    struct buf *out;
    size_t reasons;
};

static void readiness_add(struct readiness *r, const char *instance, const char *reason)
{
    buf_add_str(r->out, r->reasons++ ? ",{" : "{");
    if (instance)
        jsonw_member_str(r->out, "instance", instance);
    jsonw_member_str(r->out, "reason", reason);
    buf_add_char(r->out, '}');
}

/* Why the instance is not ready; NULL: ready. An instance that another host leads is ready. A
 * connector of a service is ready once a request to the service has succeeded. */
static const char *readiness_find_reason(const struct dispatch_instance *i)
{
    return i->stands_by                                 ? NULL
           : i->health.starting                         ? "starting"
           : i->health.down                             ? "down"
           : i->health.hung                             ? "hung"
           : i->outbox.trouble                          ? "refused"
           : i->outbox.is_away                          ? "unreachable"
           : i->has_service && i->outbox.success_ms < 0 ? "not_identified"
                                                        : NULL;
}

static void readiness_check_instance(void *ctx, const struct dispatch_instance *i)
{
    const char *const reason = readiness_find_reason(i);
    if (reason)
        readiness_add(ctx, i->name, reason);
}

/* A lost bus does not make the host unready, because the host works alone then; otherwise a failure
 * of the bus would take all hosts out of service. */
static const char *readiness_find_degraded(const struct api_context *a)
{
    const bool is_alone = a->host.bus && bus_get_status(a->host.bus).state != BUS_ACTIVE;
    return is_alone ? ",\"degraded\":[\"bus\"]" : "";
}

bool readiness_write(const struct api_context *a, const char *state, struct buf *out)
{
    const struct conf *const conf = host_conf(a->server);
    CLEANUP_BUF struct buf list = {0};
    struct readiness r = {.out = &list};
    if (state)
        readiness_add(&r, NULL, state);
    dispatch_each_instance(a->host.dispatch, readiness_check_instance, &r);
    for (size_t i = 0; i < conf->n_instances; i++)
        if (conf->instances[i].enabled &&
            dispatch_why_disabled(a->host.dispatch, conf->instances[i].name))
            readiness_add(&r, conf->instances[i].name, "disabled");
    const char *const degraded = readiness_find_degraded(a);
    if (r.reasons)
        buf_printf(out, "{\"status\":\"not_ready\",\"reasons\":[%s]%s}\n", list.p, degraded);
    else
        buf_printf(out, "{\"status\":\"ready\"%s}\n", degraded);
    return r.reasons == 0;
}
