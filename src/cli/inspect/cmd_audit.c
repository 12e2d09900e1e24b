/* SPDX-License-Identifier: MIT
 * `turncast audit verify`: verifies the hash chain of an audit log. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "cli/command_table.h"
#include "cli/inspect/audit_verify.h"
#include "cli/oneshot_host.h"

static const struct args_option rows[] = {
    {0, ARG_TEXT, "from", "SEQ", offsetof(struct args, from),
     "the first record is SEQ, because older files were deleted"},
    {0},
};

static bool cmd_audit_is_complete(const struct audit_verify_report *r, uint64_t from)
{
    return r->records == 0 || r->first_seq == from;
}

static void cmd_audit_print_report(const struct audit_verify_report *r, uint64_t from)
{
    printf("%s: %" PRIu64 " record%s in %" PRIu64 " file%s, seq %" PRIu64 " to %" PRIu64 "\n",
           cmd_audit_is_complete(r, from) ? "OK" : "incomplete", r->records,
           PLURAL(r->records, "", "s"), r->files, PLURAL(r->files, "", "s"), r->first_seq,
           r->last_seq);
    if (!cmd_audit_is_complete(r, from))
        printf("The chain begins at seq %" PRIu64 ", not at %" PRIu64 ": records before it were "
               "removed, or are in files that\nwere not named. If they were rotated away, expect "
               "this with --from %" PRIu64 ".\n",
               r->first_seq, from, r->first_seq);
    printf("head: %s\n", r->head);
    if (r->lost)
        printf("lost: %" PRIu64 " event%s that could not be written at the time\n", r->lost,
               PLURAL(r->lost, "", "s"));
    puts(AUDIT_NOTE);
}

/* 0: not a sequence number. */
static uint64_t read_seq(const char *text)
{
    char *end;
    errno = 0;
    const uint64_t seq = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno ? seq : 0;
}

static int cmd_audit_run(const struct args *args)
{
    struct audit_verify_report report = {0};
    struct tc_err err = {0};
    const uint64_t from = args->from ? read_seq(args->from) : 1;
    if (!from)
        return args_usage_error(&cmd_audit, "--from: \"%s\" is not a sequence number", args->from);
    if (strcmp(args->operands[0], "verify") != 0)
        return args_usage_error(&cmd_audit, "unknown subcommand \"%s\"; use verify",
                                args->operands[0]);
    for (int i = 1; i < args->n_operands; i++)
        if (audit_verify_file(args->operands[i], &report, &err) < 0) {
            if (report.bad)
                printf("BROKEN at seq %" PRIu64 ": %s\n", report.bad_seq, err_format(&err));
            else
                command_conf_print_error(&err);
            return report.bad ? EXIT_TURN_ERROR : EXIT_USAGE;
        }
    cmd_audit_print_report(&report, from);
    return cmd_audit_is_complete(&report, from) ? 0 : EXIT_TURN_ERROR;
}

const struct cli_command cmd_audit = {
    .name = "audit",
    .operands = "verify FILE...",
    .summary = "Verifies the hash chain of an audit log",
    .about = "Give the files of a rotated log oldest first. Exit status: 0 the chain is intact,\n"
             "1 it is broken or does not begin with record 1, 2 a file cannot be read.",
    .args = rows,
    .min = 2,
    .max = 100000,
    .run = cmd_audit_run,
};
