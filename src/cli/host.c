/* SPDX-License-Identifier: MIT
 * Starts what a turn needs, in the order in which it is needed. */
#include "cli/host.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "io/httpc.h"

#define END_MS 500 /* what one that is not done in time still gets to end */

void host_tell(const struct tc_err *err)
{
    fprintf(stderr, "turncast: %s\n", err_str(err));
}

struct conf *host_load_conf(const struct args *args)
{
    struct tc_err err = {0};
    CLEANUP_FREE char *found = args->config ? NULL : conf_default_path();
    struct conf *conf = conf_load(args->config ? args->config : found, &err);
    if (!conf) {
        host_tell(&err);
        return NULL;
    }
    log_setup(conf->log_format, args->verbose ? LOG_DEBUG : conf->log_level, STDERR_FILENO);
    return conf;
}

int host_apply_plugins(struct conf *conf, const struct args *args, const struct command *c)
{
    struct tc_err err = {0};
    if (args->n_plugins)
        conf_drop_instances(conf);
    for (size_t i = 0; i < args->n_plugins; i++)
        if (conf_add_plugin(conf, args->plugins[i], &err) < 0) {
            args_fail(c, "%s", err_str(&err));
            return -1;
        }
    return 0;
}

int host_start(struct host *h, const struct conf *conf, const struct args *args)
{
    unsigned failed = 0;
    h->loop = loop_new();
    h->httpc = httpc_new(h->loop, NULL);
    h->dispatch =
        dispatch_new(conf, &(struct services){.loop = h->loop, .httpc = h->httpc}, &failed);
    if (failed == 0 || args->n_plugins == 0) {
        dispatch_resume(h->dispatch);
        return 0;
    }
    host_end(h);
    return -1;
}

void host_end(struct host *h)
{
    const int64_t deadline_ms = clock_mono_ms() + HOST_GRACE_MS;
    dispatch_drain(h->dispatch, HOST_GRACE_MS);
    const int64_t left = deadline_ms - clock_mono_ms();
    dispatch_free(h->dispatch, left > END_MS ? left : END_MS);
    httpc_free(h->httpc);
    loop_free(h->loop);
}

struct visibility host_visibility(struct sticky *sticky, const char *agent)
{
    struct tc_err err = {0};
    struct visibility v;
    if (sticky_load(sticky, agent, &v, &err) < 0)
        log_line(LOG_WARN, "host", "%s; the configured visibility is used", err_str(&err));
    return v;
}
