/* SPDX-License-Identifier: MIT
 * `turncast backup` and `turncast restore`: write the state directory to one file, and restore
 * it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/plural.h"
#include "base/sys/clock.h"
#include "cli/command_table.h"
#include "cli/oneshot_host.h"
#include "io/journal/journal.h"
#include "io/store/backup.h"

static const struct args_option rows[] = {ARG_CONFIG, {0}};

static void cmd_backup_print_written(const char *file, const struct backup_result *r)
{
    printf("Wrote %s: %" PRId64 " KiB, state.db and %" PRId64 " other file%s.\n", file,
           (r->bytes + 1023) / 1024, r->files, PLURAL(r->files, "", "s"));
}

static void cmd_backup_print_restored(const char *file, const struct backup_result *r)
{
    char when[32];
    clock_format_rfc3339((double)r->made_ms / 1000, when);
    printf("Restored %s of %.19sZ. The previous state is in %s.\n", file, when, r->aside);
}

static int cmd_backup_run(const struct args *args)
{
    struct conf *const conf = command_conf_load(args);
    struct backup_result r = {0};
    struct tc_err err = {0};
    if (!conf)
        return EXIT_USAGE;
    const int rc = journal_backup(conf->state_dir, args->operands[0], &r, &err);
    if (rc < 0)
        command_conf_print_error(&err);
    else
        cmd_backup_print_written(args->operands[0], &r);
    conf_unref(conf);
    return rc < 0 ? EXIT_USAGE : 0;
}

static int cmd_backup_run_restore(const struct args *args)
{
    struct conf *const conf = command_conf_load(args);
    struct backup_result r = {0};
    struct tc_err err = {0};
    if (!conf)
        return EXIT_USAGE;
    const int rc = journal_restore(args->operands[0], conf->state_dir, &r, &err);
    if (rc < 0)
        command_conf_print_error(&err);
    else
        cmd_backup_print_restored(args->operands[0], &r);
    free(r.aside);
    conf_unref(conf);
    return rc < 0 ? EXIT_USAGE : 0;
}

const struct cli_command cmd_backup = {
    .name = "backup",
    .operands = "FILE",
    .summary = "Writes the state directory to a file",
    .about = "The host may run. The file has mode 0600 and is checked before it takes its name.\n"
             "A backup of that name is replaced; other files are not.",
    .args = rows,
    .min = 1,
    .max = 1,
    .run = cmd_backup_run,
};

const struct cli_command cmd_restore = {
    .name = "restore",
    .operands = "FILE",
    .summary = "Replaces the state directory's content by a backup",
    .about = "The host must be stopped. The backup is checked first; the present files are moved\n"
             "to the directory before-restore.TIME in the state directory.",
    .args = rows,
    .min = 1,
    .max = 1,
    .run = cmd_backup_run_restore,
};
