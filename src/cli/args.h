/* SPDX-License-Identifier: MIT
 * Command-line options as a table that drives both getopt_long and --help. */
#ifndef CLI_ARGS_H
#define CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/attr.h"

/* Options of init. */
struct args_init {
    const char *connector, *allow;
    bool force, yes, no_turn;
};

/* Values of the options of all commands; the table of a command lists which of them it has. */
struct args {
    const char *config, *agent, *conversation, *session, *dialect;
    double speed; /* 0: as fast as it goes */
    const char *turn, *reason, *input;
    const char *from;
    const char *output, *record;
    bool verbose, json, all, list, show, revoke, detach, undo;
    const char **repeated; /* values of an option that can be repeated: n_repeated, borrowed */
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
    char letter; /* 0: none */
    enum args_type type;
    const char *name;  /* NULL ends a table */
    const char *value; /* what --help calls the value; NULL: it has none */
    size_t offset;     /* of the member in struct args */
    const char *help;
};

struct cli_command {
    const char *name;     /* NULL ends a table */
    const char *operands; /* as --help shows them */
    const char *summary;  /* one line */
    const char *about;    /* more, or NULL */
    const struct args_option *args;
    int min, max; /* operands */
    int (*run)(const struct args *args);
};

/* The exit statuses of the program. Whoever waits for what was cancelled knows it as it knows one
 * that ctrl-C ended. */
enum { EXIT_TURN_ERROR = 1, EXIT_USAGE = 2, EXIT_SPAWN = 3, EXIT_CANCELLED = 130 };

/* Reads argv (argv[0] is the command). -1: the program ends with *status, all is said. Else the
 * caller calls args_fini. */
int args_parse(struct args *args, const struct cli_command *c, int argc, char **argv,
               int *status) MUST_CHECK;
void args_fini(struct args *args);
/* "turncast NAME: …" to stderr, with a hint at --help. Returns EXIT_USAGE. */
int args_usage_error(const struct cli_command *c, const char *fmt, ...)
    __attribute__((__format__(__printf__, 2, 3)));

#endif
