/* SPDX-License-Identifier: MIT
 * `turncast doctor`: checks everything a host needs and prints a remedy for each problem. */
#ifndef CLI_INSPECT_DOCTOR_DOCTOR_H
#define CLI_INSPECT_DOCTOR_DOCTOR_H

#include <stdbool.h>

#include "cli/inspect/agent_program.h"
#include "cli/inspect/probe/service_probe.h"
#include "conf/conf.h"
#include "plugin/abi/loader.h"

/* A check of an agent or an instance. All are started before the first result is printed, so that
 * they run in parallel. */
struct doctor_agent {
    char *file;                    /* path of its program; NULL: not found */
    struct agent_version *version; /* or NULL */
};
struct doctor_instance {
    struct loaded_plugin *plugin; /* NULL: see err, or the instance is disabled */
    struct tc_err err;
    struct service_probe *probe; /* or NULL */
};

struct doctor {
    struct conf *conf;
    struct findings findings; /* column widths of the lines: status, key */
    bool json;                /* JSON: prints nothing before the end */
    bool host_runs;
    int host_port;                     /* port of the running host; 0: none */
    struct doctor_agent *agents;       /* listen address of the configuration */
    struct doctor_instance *instances; /* address in use, otherwise the same */
    struct service_probes *services;
};

/* "ok    NAME: TEXT" */
void doctor_report(struct doctor *d, enum finding_level grade, const char *name, const char *fmt,
                   ...) __attribute__((__format__(__printf__, 4, 5)));
/* Prints a remedy for the previous finding. */
void doctor_suggest(struct doctor *d, const char *fmt, ...)
    __attribute__((__format__(__printf__, 2, 3)));
/* Prints a finding of a file; `remedy` is used if the finding has none. */
void doctor_report_finding(struct doctor *d, const char *name, const struct finding *item,
                           const char *remedy);

/* doctor_conf.c: the configuration, its agents and instances. False: it cannot be read. */
bool doctor_read_conf(struct doctor *d, const char *path);
void doctor_check_agents(struct doctor *d);
void doctor_check_instances(struct doctor *d);

/* doctor_ask.c: tests agents and services in parallel, then the server of the store and the
 * proxy. */
void doctor_query_all(struct doctor *d);
void doctor_check_store(struct doctor *d);
void doctor_check_proxy(struct doctor *d);
void doctor_free_queries(struct doctor *d);

/* doctor_bus.c: the NATS servers. */
void doctor_check_bus(struct doctor *d);
/* Reports what hosts with this configuration share. */
void doctor_check_sharing(struct doctor *d);

/* doctor_host.c: the machine. */
void doctor_check_host(struct doctor *d);
void doctor_check_state(struct doctor *d);
/* sessions.shared */
void doctor_check_sessions(struct doctor *d);
void doctor_check_http(struct doctor *d);
void doctor_check_system(struct doctor *d);

#endif
