/* SPDX-License-Identifier: MIT
 * List of the instances of a configuration: the enabled ones and, with autoload, one for every
 * other plugin found in the plugin directories. Holds a reference to the configuration. */
#ifndef CORE_DISPATCH_CONFIGURED_INSTANCES_H
#define CORE_DISPATCH_CONFIGURED_INSTANCES_H

#include "conf/conf.h"

struct configured_instances {
    const struct conf *conf;
    const struct conf_instance **wanted; /* configured ones in their order, then the others */
    size_t n;
    size_t n_explicit; /* number of configured ones */
};

/* Holds a reference to the configuration. */
struct configured_instances *configured_instances_new(const struct conf *conf);
void configured_instances_free(struct configured_instances *r); /* NULL is allowed */

#endif
