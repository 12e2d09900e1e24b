/* SPDX-License-Identifier: MIT
 * Finds the command, applies process-wide settings, and checks that all output was written. */
#include "cli/command_table.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>
#include <turncast/plugin.h>

#include "base/alloc.h"
#include "base/nearest_word.h"
#include "base/sys/crash_point.h"

static const struct cli_command *const commands[] = {
    &cmd_run,        &cmd_serve,     &cmd_status,  &cmd_turns,  &cmd_send,       &cmd_tail,
    &cmd_cancel,     &cmd_reload,    &cmd_restart, &cmd_replay, &cmd_plugins,    &cmd_check,
    &cmd_init,       &cmd_new,       &cmd_test,    &cmd_doctor, &cmd_visibility, &cmd_audit,
    &cmd_dead,       &cmd_approvals, &cmd_answer,  &cmd_pair,   &cmd_backup,     &cmd_restore,
    &cmd_completion, &cmd_usage,     &cmd_hosts,   &cmd_drain,  &cmd_move,       NULL};
#define N_COMMANDS (sizeof commands / sizeof *commands - 1)

const struct cli_command *const *command_table_list(void)
{
    return commands;
}

static void print_help(FILE *out)
{
    fputs("Usage: turncast COMMAND [OPTION]...\n"
          "Runs AI agents and delivers their events to connector plugins.\n"
          "\nCommands:\n",
          out);
    for (size_t i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  %-12s%s\n", commands[i]->name, commands[i]->summary);
    fputs("\nOptions:\n"
          "  -h, --help  show this and exit; for details: turncast COMMAND --help\n"
          "  --version   show the version and exit\n"
          "\nExit status: 0 the turn succeeded, 1 it failed, 2 wrong usage or configuration,\n"
          "3 the agent could not be started, 4 out of memory, threads or descriptors,\n"
          "130 the turn was cancelled.\n",
          out);
}

static int print_version(void)
{
    printf("turncast %s (plugin ABI %d.%d)\n", PACKAGE_VERSION, TURNCAST_API_MAJOR,
           TURNCAST_API_LATEST);
    for (size_t i = 0; crash_point_names[i]; i++)
        printf("%s%s", i ? " " : "test build, crash points enabled: ", crash_point_names[i]);
    if (*crash_point_names)
        putchar('\n');
    return 0;
}

static const struct cli_command *find_command(const char *name)
{
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static int command_table_fail_unknown(const char *word)
{
    const char *names[N_COMMANDS];
    for (size_t i = 0; i < N_COMMANDS; i++)
        names[i] = commands[i]->name;
    const char *near = nearest_word_find(word, names, N_COMMANDS);
    fprintf(stderr, "turncast: unknown command \"%s\"%s%s%s; see turncast --help\n", word,
            near ? " (did you mean \"" : "", near ? near : "", near ? "\"?)" : "");
    return EXIT_USAGE;
}

static int run_command(int argc, char **argv)
{
    const struct cli_command *c = find_command(argv[0]);
    struct args args;
    int status;
    if (!c)
        return command_table_fail_unknown(argv[0]);
    if (args_parse(&args, c, argc, argv, &status) < 0)
        return status;
    status = c->run(&args);
    args_fini(&args);
    return status;
}

static int run_words(int argc, char **argv)
{
    const char *first = argc > 1 ? argv[1] : NULL;
    if (!first) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(first, "--version") == 0)
        return print_version();
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
        print_help(stdout);
        return 0;
    }
    return run_command(argc - 1, argv + 1);
}

/* Detects output errors: a full disk or a closed pipe must not look like success. */
static int close_stdout(int status)
{
    const bool failed = ferror(stdout) != 0;
    if (fflush(stdout) == 0 && !failed)
        return status;
    fprintf(stderr, "turncast: standard output: %s\n", strerror(errno));
    return status ? status : EXIT_TURN_ERROR;
}

int command_table_run(int argc, char **argv)
{
    /* a write to a closed pipe returns an error instead of ending the process */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    /* Libraries may report a failed allocation as invalid input; their allocators end the program
     * instead */
    json_set_alloc_funcs(xmalloc, free);
    return close_stdout(run_words(argc, argv));
}
