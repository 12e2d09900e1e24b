/* SPDX-License-Identifier: MIT
 * `turncast doctor`: checks everything a host needs and prints a remedy for each problem. */
#ifndef CLI_INSPECT_DOCTOR_DOCTOR_H
#define CLI_INSPECT_DOCTOR_DOCTOR_H

#include <stdbool.h>

#include "cli/inspect/agent_program.h"
#include "cli/inspect/probe/service_probe.h"
#include "conf/conf.h"
#include "plugin/abi/loader.h"

/* A check of an agent or an instance that was started before any result is printed, so that all run
 * at the same time. */
struct doctor_agent {
    char *file;                    /* of its program; NULL: not found */
    struct agent_version *version; /* or NULL */
};
struct doctor_instance {
    struct loaded_plugin *plugin; /* NULL: see err, or it is not enabled */
    struct tc_err err;
    struct service_probe *probe; /* or NULL */
};

struct doctor {
    struct conf *conf;
    struct findings findings; /* of each line: what was found, of what as the key */
    bool json;                /* nothing is printed before the end */
    bool host_runs;
    int host_port;                     /* that it listens on; 0: none */
    struct doctor_agent *agents;       /* as in the configuration */
    struct doctor_instance *instances; /* the same */
    struct service_probes *services;
};

/* "ok    NAME: TEXT" */
void doctor_report(struct doctor *d, enum finding_level grade, const char *name, const char *fmt,
                   ...) __attribute__((__format__(__printf__, 4, 5)));
/* Prints a remedy for the finding before. */
void doctor_suggest(struct doctor *d, const char *fmt, ...)
    __attribute__((__format__(__printf__, 2, 3)));
/* A line for a finding of a file; without a remedy of its own, what is said here is suggested. */
void doctor_report_finding(struct doctor *d, const char *name, const struct finding *item,
                           const char *remedy);

/* doctor_conf.c: the configuration, its agents, its instances. False: it cannot be read. */
bool doctor_read_conf(struct doctor *d, const char *path);
void doctor_look_at_agents(struct doctor *d);
void doctor_look_at_instances(struct doctor *d);

/* doctor_ask.c: asks agents and services, all at once; what the server of the store and the proxy
 * say. */
void doctor_ask_all(struct doctor *d);
void doctor_look_at_store(struct doctor *d);
void doctor_look_at_proxy(struct doctor *d);
void doctor_end_asking(struct doctor *d);

/* doctor_bus.c: the NATS servers. */
void doctor_look_at_bus(struct doctor *d);
/* What hosts with this configuration share. */
void doctor_look_at_sharing(struct doctor *d);

/* doctor_host.c: where it runs. */
void doctor_look_at_host(struct doctor *d);
void doctor_look_at_state(struct doctor *d);
void doctor_look_at_http(struct doctor *d);
void doctor_look_at_system(struct doctor *d);

#endif
