/* SPDX-License-Identifier: MIT
 * Starts what a turn needs, in the order in which it is needed. */
#include "cli/host.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "core/sticky.h"

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

struct dispatch *host_start(const struct conf *conf, const struct args *args)
{
    unsigned failed = 0;
    struct dispatch *d = dispatch_new(conf, &failed);
    if (failed == 0 || args->n_plugins == 0)
        return d;
    dispatch_free(d, HOST_GRACE_MS);
    return NULL;
}

struct visibility host_visibility(const struct conf *conf, const char *agent)
{
    struct tc_err err = {0};
    struct visibility v;
    for (size_t i = 0; i < VISIBILITY_KEYS; i++)
        *visibility_slot(&v, i) = (enum show)conf->show[i];
    if (agent && sticky_load(conf->state_dir, agent, &v, &err) < 0)
        log_line(LOG_WARN, "host", "%s; the configured visibility is used", err_str(&err));
    return visibility_resolve(v);
}
