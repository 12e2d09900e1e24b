/* SPDX-License-Identifier: MIT
 * turncast audit verify: follows the hash chain of an audit log. */
#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/host.h"
#include "core/audit.h"

static const struct arg rows[] = {{0}};

static void print_report(const struct audit_report *r)
{
    printf("good: %" PRIu64 " records in %" PRIu64 " files, seq %" PRIu64 " to %" PRIu64 "\n"
           "head: %s\n",
           r->records, r->files, r->first_seq, r->last_seq, r->head);
    if (r->lost)
        printf("lost: %" PRIu64 " events that the log could not write when they came\n", r->lost);
    puts(AUDIT_NOTE);
}

static int run(const struct args *args)
{
    struct audit_report report = {0};
    struct tc_err err = {0};
    if (strcmp(args->operands[0], "verify") != 0)
        return args_fail(&cmd_audit, "\"%s\" is not verify", args->operands[0]);
    for (int i = 1; i < args->n_operands; i++)
        if (audit_verify(args->operands[i], &report, &err) < 0) {
            if (report.bad)
                printf("broken at seq %" PRIu64 ": %s\n", report.bad_seq, err_str(&err));
            else
                host_tell(&err);
            return report.bad ? EXIT_TURN_ERROR : EXIT_USAGE;
        }
    print_report(&report);
    return 0;
}

const struct command cmd_audit = {
    .name = "audit",
    .operands = "verify FILE...",
    .summary = "Verifies the hash chain of an audit log",
    .about =
        "Name the files of a rotated log oldest first. Exit status: 0 the chain holds, 1 it is\n"
        "broken, 2 a file cannot be read.",
    .args = rows,
    .min = 2,
    .max = 100000,
    .run = run,
};
