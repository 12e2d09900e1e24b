/* SPDX-License-Identifier: MIT
 * `turncast doctor`: checks everything a host needs and prints a remedy for each problem. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "base/cleanup.h"
#include "base/plural.h"
#include "base/sys/log.h"
#include "cli/command_table.h"
#include "cli/inspect/doctor/doctor.h"
#include "cli/inspect/finding_report.h"

static const struct args_option rows[] = {
    ARG_CONFIG,
    {0, ARG_FLAG, "json", NULL, offsetof(struct args, json), "print one JSON object"},
    {0}};

/* Flushes each line, so that it is visible during the next check and no child process prints it
 * again. */
static void cmd_doctor_print(const struct doctor *d, const char *before, const char *text)
{
    CLEANUP_BUF struct buf masked = {0};
    if (d->json)
        return;
    log_redact(&masked, (struct str){text, strlen(text)});
    printf("%s%s\n", before, masked.p ? masked.p : "");
    fflush(stdout);
}

static void cmd_doctor_print_line(const struct doctor *d, enum finding_level level,
                                  const char *name, const char *text)
{
    static const char *const words[] = {"ok  ", "warn", "FAIL"};
    CLEANUP_FREE char *before = xasprintf("%s  %s: ", words[level], name);
    cmd_doctor_print(d, before, text);
}

void doctor_report(struct doctor *d, enum finding_level grade, const char *name, const char *fmt,
                   ...)
{
    CLEANUP_BUF struct buf text = {0};
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    findings_add_item(&d->findings, &(struct finding){.level = grade, .key = name, .text = text.p});
    cmd_doctor_print_line(d, grade, name, text.p);
}

void doctor_suggest(struct doctor *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *const text = arena_vsprintf(&d->findings.arena, fmt, ap);
    va_end(ap);
    d->findings.items[d->findings.n - 1].remedy = text;
    cmd_doctor_print(d, "      -> ", text);
}

void doctor_report_finding(struct doctor *d, const char *name, const struct finding *item,
                           const char *remedy)
{
    CLEANUP_BUF struct buf text = {0};
    struct finding bare = *item;
    bare.remedy = NULL;
    bare.level = FINDING_ERROR;
    finding_format(&text, &bare);
    findings_add_item(&d->findings,
                      &(struct finding){item->level, item->file, item->line,
                                        item->key ? item->key : name, item->text, NULL});
    cmd_doctor_print_line(d, item->level, name, text.p);
    doctor_suggest(d, "%s", item->remedy ? item->remedy : remedy);
}

static void cmd_doctor_print_sums(const struct doctor *d)
{
    const struct findings *const f = &d->findings;
    printf("%zu ok, %zu warning%s, %zu error%s\n", f->n - f->warnings - f->errors, f->warnings,
           PLURAL(f->warnings, "", "s"), f->errors, PLURAL(f->errors, "", "s"));
}

static int cmd_doctor_run(const struct args *args)
{
    struct doctor d = {.json = args->json};
    CLEANUP_FREE char *found = args->config ? NULL : conf_default_path();
    const char *const path = args->config ? args->config : found;
    if (doctor_read_conf(&d, path)) {
        doctor_query_all(&d);
        doctor_check_agents(&d);
        doctor_check_instances(&d);
        doctor_check_host(&d);
        doctor_check_state(&d);
        doctor_check_http(&d);
        doctor_check_store(&d);
        doctor_check_proxy(&d);
        doctor_check_bus(&d);
        doctor_check_sharing(&d);
        doctor_check_sessions(&d);
        doctor_free_queries(&d);
    }
    doctor_check_system(&d);
    conf_unref(d.conf);
    if (d.json)
        finding_report_print_json(&d.findings, path);
    else
        cmd_doctor_print_sums(&d);
    const int status = d.findings.errors ? EXIT_TURN_ERROR : 0;
    findings_fini(&d.findings);
    return status;
}

const struct cli_command cmd_doctor = {
    .name = "doctor",
    .operands = "",
    .summary = "Finds problems of the installation and suggests fixes",
    .about =
        "Agents are asked for their version, and services whether they accept the token of an\n"
        "instance; no function of a plugin is called. Exit status: 1 there are errors.",
    .args = rows,
    .run = cmd_doctor_run,
};
