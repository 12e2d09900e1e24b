/* SPDX-License-Identifier: MIT
 * Table of commands: selects one, sets up the process, checks that stdout was written. */
#ifndef CLI_COMMAND_TABLE_H
#define CLI_COMMAND_TABLE_H

#include "cli/args.h"

/* Runs the program; main only calls it. Returns the exit status. */
int command_table_run(int argc, char **argv);
/* All commands, in the order of --help; ends with NULL. */
const struct cli_command *const *command_table_list(void);

extern const struct cli_command cmd_run;
extern const struct cli_command cmd_serve;
extern const struct cli_command cmd_replay;
extern const struct cli_command cmd_status;
extern const struct cli_command cmd_turns;
extern const struct cli_command cmd_send;
extern const struct cli_command cmd_tail;
extern const struct cli_command cmd_cancel;
extern const struct cli_command cmd_reload;
extern const struct cli_command cmd_restart;
extern const struct cli_command cmd_plugins;
extern const struct cli_command cmd_check;
extern const struct cli_command cmd_init;
extern const struct cli_command cmd_doctor;
extern const struct cli_command cmd_new;
extern const struct cli_command cmd_test;
extern const struct cli_command cmd_visibility;
extern const struct cli_command cmd_audit;
extern const struct cli_command cmd_dead;
extern const struct cli_command cmd_approvals;
extern const struct cli_command cmd_answer;
extern const struct cli_command cmd_hosts;
extern const struct cli_command cmd_drain;
extern const struct cli_command cmd_move;
extern const struct cli_command cmd_pair;
extern const struct cli_command cmd_backup;
extern const struct cli_command cmd_restore;
extern const struct cli_command cmd_completion;
extern const struct cli_command cmd_usage;

/* Options that several commands have. */
#define ARG_CONFIG                                                                                 \
    {                                                                                              \
        'c', ARG_TEXT, "config", "FILE", offsetof(struct args, config),                            \
            "configuration file; default: $TURNCAST_CONFIG,\n"                                     \
            "~/.config/turncast/turncast.conf or the system's"                                     \
    }
#define ARG_PLUGIN                                                                                 \
    {                                                                                              \
        'p', ARG_PLUGINS, "plugin", "NAME|FILE.so[,KEY=VALUE]...", offsetof(struct args, plugins), \
            "deliver to this plugin; can be repeated. The instances\n"                             \
            "of the configuration are then not started"                                            \
    }
#define ARG_AGENT(help_)                                                                           \
    {                                                                                              \
        'a', ARG_TEXT, "agent", "AGENT", offsetof(struct args, agent), help_                       \
    }
#define ARG_VERBOSE                                                                                \
    {                                                                                              \
        'v', ARG_FLAG, "verbose", NULL, offsetof(struct args, verbose), "log at level debug"       \
    }

#endif
