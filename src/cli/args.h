/* SPDX-License-Identifier: MIT
 * Command-line options as a table that drives both getopt_long and --help. */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/attr.h"

/* Options of the command init. */
struct args_init {
    const char *connector, *allow;
    bool force, yes, no_turn;
};

/* Values of the options of all commands; the table of each command lists the options that it
 * accepts. */
struct args {
    const char *config, *agent, *conversation, *session, *dialect;
    double speed; /* 0: as fast as possible */
    const char *turn, *reason, *input;
    const char *from;
    const char *output, *record;
    bool verbose, json, all, list, show, revoke, detach, undo;
    const char **repeated; /* values of a repeatable option: n_repeated, borrowed */
    size_t n_repeated;
    const char *language, *directory;
    struct args_init init;
    char **plugins; /* n_plugins of them */
    size_t n_plugins;
    char **operands; /* borrowed, NULL-terminated */
    int n_operands;
};

enum args_type { ARG_TEXT, ARG_FLAG, ARG_PLUGINS, ARG_REPEATED, ARG_FACTOR };

struct args_option {
    char letter; /* 0: no letter */
    enum args_type type;
    const char *name;  /* NULL ends a table */
    const char *value; /* name of the value in --help; NULL: the option takes none */
    size_t offset;     /* offset of the member in struct args */
    const char *help;
};

struct cli_command {
    const char *name;     /* NULL ends a table */
    const char *operands; /* usage as shown by --help */
    const char *summary;  /* one line */
    const char *about;    /* further lines, or NULL */
    const struct args_option *args;
    int min, max; /* operands (argv behind the options) */
    int (*run)(const struct args *args);
};

/* Exit statuses of the program. A cancelled turn has the status of a program that SIGINT ended,
 * which callers know. */
enum { EXIT_TURN_ERROR = 1, EXIT_USAGE = 2, EXIT_SPAWN = 3, EXIT_CANCELLED = 130 };

/* Parses argv (argv[0] is the command). -1: the program ends with *status, and all messages are
 * printed. Otherwise the caller calls args_fini. */
int args_parse(struct args *args, const struct cli_command *c, int argc, char **argv,
               int *status) MUST_CHECK;
void args_fini(struct args *args);
/* "turncast NAME: …" to stderr, with a hint at --help. Returns EXIT_USAGE. */
int args_usage_error(const struct cli_command *c, const char *fmt, ...)
    __attribute__((__format__(__printf__, 2, 3)));

#endif
