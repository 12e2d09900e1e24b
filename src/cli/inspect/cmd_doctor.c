/* SPDX-License-Identifier: MIT
 * `turncast doctor`: checks everything a host needs and prints a remedy for each problem. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes/buf.h"
#include "base/cleanup.h"
#include "base/sys/log.h"
#include "cli/command_table.h"
#include "cli/inspect/doctor.h"

static const struct args_option rows[] = {ARG_CONFIG, {0}};

__attribute__((__format__(__printf__, 1, 0))) static void print(const char *fmt, va_list ap)
{
    CLEANUP_BUF struct buf masked = {0};
    char text[1200];
    vsnprintf(text, sizeof text, fmt, ap);
    log_redact(&masked, (struct str){text, strlen(text)});
    puts(masked.p ? masked.p : "");
    fflush(stdout); /* a line is seen while the next thing is looked at, and no child repeats it */
}

void doctor_report(struct doctor *d, enum doctor_grade grade, const char *name, const char *fmt,
                   ...)
{
    static const char *const words[] = {"ok  ", "warn", "FAIL"};
    va_list ap;
    d->found[grade]++;
    printf("%s  %s: ", words[grade], name);
    va_start(ap, fmt);
    print(fmt, ap);
    va_end(ap);
}

void doctor_suggest(const char *fmt, ...)
{
    va_list ap;
    fputs("      -> ", stdout);
    va_start(ap, fmt);
    print(fmt, ap);
    va_end(ap);
}

static int cmd_doctor_run(const struct args *args)
{
    struct doctor d = {0};
    CLEANUP_FREE char *found = args->config ? NULL : conf_default_path();
    if (doctor_read_conf(&d, args->config ? args->config : found)) {
        doctor_look_at_agents(&d);
        doctor_look_at_instances(&d);
        doctor_look_at_host(&d);
        doctor_look_at_state(&d);
        doctor_look_at_http(&d);
    }
    doctor_look_at_system(&d);
    conf_unref(d.conf);
    printf("%u well, %u to think about, %u to mend\n", d.found[DOCTOR_OK], d.found[DOCTOR_WARN],
           d.found[DOCTOR_FAIL]);
    return d.found[DOCTOR_FAIL] ? EXIT_TURN_ERROR : 0;
}

const struct cli_command cmd_doctor = {
    .name = "doctor",
    .operands = "",
    .summary = "Finds problems of the installation and suggests fixes",
    .about = "Agents are asked for their version; no function of a plugin is called. Exit\n"
             "status: 1 there are errors.",
    .args = rows,
    .run = cmd_doctor_run,
};
