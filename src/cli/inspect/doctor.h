/* SPDX-License-Identifier: MIT
 * `turncast doctor`: checks everything a host needs and prints a remedy for each problem. */
#ifndef CLI_INSPECT_DOCTOR_H
#define CLI_INSPECT_DOCTOR_H

#include <stdbool.h>

#include "conf/conf.h"

enum doctor_grade { DOCTOR_OK, DOCTOR_WARN, DOCTOR_FAIL };

struct doctor {
    struct conf *conf;
    unsigned found[DOCTOR_FAIL + 1]; /* lines of each grade */
    bool host_runs;
    int host_port; /* that it listens on; 0: none */
};

/* "ok    NAME: TEXT" */
void doctor_report(struct doctor *d, enum doctor_grade grade, const char *name, const char *fmt,
                   ...) __attribute__((__format__(__printf__, 4, 5)));
/* What to do about the line before. */
void doctor_suggest(const char *fmt, ...) __attribute__((__format__(__printf__, 1, 2)));

/* doctor_conf.c: the configuration, its agents, its instances. False: it cannot be read. */
bool doctor_read_conf(struct doctor *d, const char *path);
void doctor_look_at_agents(struct doctor *d);
void doctor_look_at_instances(struct doctor *d);

/* doctor_host.c: where it runs. */
void doctor_look_at_host(struct doctor *d);
void doctor_look_at_state(struct doctor *d);
void doctor_look_at_http(struct doctor *d);
void doctor_look_at_system(struct doctor *d);

#endif
