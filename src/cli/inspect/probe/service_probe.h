/* SPDX-License-Identifier: MIT
 * Tests whether the services of instances accept the credentials, with the probes of the plugins.
 * All run in parallel, each within SERVICE_PROBE_MS. Each sends one short request; texts of a
 * response are only displayed. */
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
/* Prepares the probe of an instance, both borrowed. NULL: its plugin has no probe, or libcurl is
 * missing. */
struct service_probe *service_probes_add(struct service_probes *all,
                                         const struct conf_instance *inst,
                                         const struct loaded_plugin *plugin);
/* Runs all probes, and returns when each has a result. */
void service_probes_run(struct service_probes *all);
/* Result of a probe: with a place in the configuration if that must be changed, and a remedy if the
 * probe failed. Its texts are valid as long as the probes. */
struct finding service_probe_get_finding(struct service_probe *p);
void service_probes_free(struct service_probes *all); /* NULL is allowed */

#endif
