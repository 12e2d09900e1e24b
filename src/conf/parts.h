/* SPDX-License-Identifier: MIT
 * The two named parts of a configuration: an agent and an instance. */
#ifndef CONF_PARTS_H
#define CONF_PARTS_H

#include "conf/conf.h"
#include "conf/read.h"

/* Fills *agent from its group, defaults first. */
int agent_read(const struct reader *r, const struct node *n, struct conf_agent *agent)
    __attribute__((__warn_unused_result__));
/* Fills *inst from its group, defaults first; keys that are not the host's become options. */
int instance_read(const struct reader *r, const struct node *n, struct conf_instance *inst)
    __attribute__((__warn_unused_result__));
/* The same from "PLUGIN[,key=value…]"; the name is the plugin's. */
int instance_read_spec(const struct reader *r, const char *spec, struct conf_instance *inst)
    __attribute__((__warn_unused_result__));
/* An instance of that name and plugin with nothing but defaults. Strings are borrowed. */
struct conf_instance instance_default(char *name, char *plugin);
/* Names of agents and instances: letters, digits, - and _. */
int part_check_name(const struct reader *r, const struct node *n)
    __attribute__((__warn_unused_result__));

#endif
