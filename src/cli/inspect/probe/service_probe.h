/* SPDX-License-Identifier: MIT
 * Asks the services of instances whether they accept the credentials, as the probes of their
 * plugins say; all at once, each within SERVICE_PROBE_MS. One short request each; nothing of an
 * answer is believed but for being shown. */
#ifndef CLI_INSPECT_PROBE_SERVICE_PROBE_H
#define CLI_INSPECT_PROBE_SERVICE_PROBE_H

#include "base/sys/finding.h"
#include "conf/conf.h"
#include "plugin/abi/loader.h"

#define SERVICE_PROBE_MS 5000

struct service_probes;
struct service_probe;

/* Borrows the configuration. */
struct service_probes *service_probes_new(const struct conf *conf);
/* Prepares the question of an instance, both borrowed. NULL: its plugin has none, or this system
 * has no libcurl. */
struct service_probe *service_probes_add(struct service_probes *all,
                                         const struct conf_instance *inst,
                                         const struct loaded_plugin *plugin);
/* Asks all, and returns when each has its answer. */
void service_probes_run(struct service_probes *all);
/* Result of a probe: with a place in the configuration if that has to be changed, and a remedy if
 * the probe failed. Its texts live as long as the probes. */
struct finding service_probe_judge(struct service_probe *p);
void service_probes_free(struct service_probes *all); /* NULL is fine */

#endif
