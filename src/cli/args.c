/* SPDX-License-Identifier: MIT
 * Reads options by their rows and prints the help made from them. */
#include "cli/args.h"

#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest_word.h"

#define ROWS_MAX 16
#define HELP_COLUMN 26

/* getopt's return value for option i without a letter; above every character. */
#define ROW_BASE 256
#define OPT_HELP (ROW_BASE + ROWS_MAX)

int args_usage_error(const struct cli_command *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fprintf(stderr, "turncast %s: ", c->name);
    vfprintf(stderr, fmt, ap);
    fprintf(stderr, "; see turncast %s --help\n", c->name);
    va_end(ap);
    return EXIT_USAGE;
}

static void args_print_row(FILE *out, char letter, const char *name, const char *value,
                           const char *help)
{
    char head[80], dash[5] = "    ";
    if (letter)
        snprintf(dash, sizeof dash, "-%c, ", letter);
    const int len = snprintf(head, sizeof head, "  %s--%s%s%s", dash, name, value ? " " : "",
                             value ? value : "");
    fprintf(out, "%-*s", HELP_COLUMN, head);
    if (len >= HELP_COLUMN)
        fprintf(out, "\n%*s", HELP_COLUMN, "");
    for (const char *line = help; line;) {
        const char *end = strchr(line, '\n');
        fprintf(out, "%.*s\n", end ? (int)(end - line) : (int)strlen(line), line);
        if (end)
            fprintf(out, "%*s", HELP_COLUMN, "");
        line = end ? end + 1 : NULL;
    }
}

static void args_print_help(FILE *out, const struct cli_command *c)
{
    fprintf(out, "Usage: turncast %s [OPTION]...%s%s\n%s.\n", c->name, *c->operands ? " " : "",
            c->operands, c->summary);
    if (c->about)
        fprintf(out, "\n%s\n", c->about);
    fputs("\nOptions:\n", out);
    for (const struct args_option *a = c->args; a->name; a++)
        args_print_row(out, a->letter, a->name, a->value, a->help);
    args_print_row(out, 'h', "help", NULL, "show this help and exit");
}

/* The two tables that getopt_long needs. */
struct getopt_rows {
    struct option longs[ROWS_MAX + 2];
    char shorts[2 * ROWS_MAX + 4];
};

static void args_make_getopt_rows(struct getopt_rows *g, const struct cli_command *c)
{
    size_t n = 0, s = 0;
    g->shorts[s++] = ':'; /* distinguish a missing value from an unknown option */
    for (const struct args_option *a = c->args; a->name && n < ROWS_MAX; a++, n++) {
        g->longs[n] = (struct option){a->name, a->value ? required_argument : no_argument, NULL,
                                      ROW_BASE + (int)n};
        if (!a->letter)
            continue;
        g->shorts[s++] = a->letter;
        if (a->value)
            g->shorts[s++] = ':';
    }
    g->shorts[s++] = 'h';
    g->shorts[s] = 0;
    g->longs[n++] = (struct option){"help", no_argument, NULL, OPT_HELP};
    g->longs[n] = (struct option){0};
}

/* The option for a return value of getopt, which is one of the values given to it. */
static const struct args_option *args_find_by_getopt_value(const struct cli_command *c, int got)
{
    const struct args_option *a = c->args;
    if (got >= ROW_BASE)
        return a + (got - ROW_BASE);
    while (a->letter != got)
        a++;
    return a;
}

static int args_parse_factor(const struct cli_command *c, const struct args_option *a, double *to)
{
    char *end;
    *to = strtod(optarg, &end);
    if (end == optarg || *end || !(*to >= 0.001 && *to <= 1e6))
        return args_usage_error(
            c, "--%s: \"%s\" is out of range; use a number from 0.001 to 1000000", a->name, optarg);
    return 0;
}

/* Overwrites the option's argument: every user of the machine, agents included, can read command
 * lines, and options of a plugin may be secrets. */
static void args_add_plugin(struct args *args, char *word)
{
    args->plugins = xrealloc(args->plugins, (args->n_plugins + 1) * sizeof *args->plugins);
    args->plugins[args->n_plugins++] = xstrdup(word);
    char *const comma = strchr(word, ',');
    if (comma)
        memset(comma + 1, '*', strlen(comma + 1));
}

/* Returns 0, or the exit status. */
static int args_set_value(struct args *args, const struct cli_command *c,
                          const struct args_option *a)
{
    void *const member = (char *)args + a->offset;
    switch (a->type) {
    case ARG_TEXT:
        *(const char **)member = optarg;
        return 0;
    case ARG_FLAG:
        *(bool *)member = true;
        return 0;
    case ARG_PLUGINS:
        args_add_plugin(args, optarg);
        return 0;
    case ARG_REPEATED:
        args->repeated = xrealloc(args->repeated, (args->n_repeated + 1) * sizeof *args->repeated);
        args->repeated[args->n_repeated++] = optarg;
        return 0;
    case ARG_FACTOR:
        return args_parse_factor(c, a, member);
    }
    return 0;
}

static int args_fail_option(const struct cli_command *c, int got, const char *word)
{
    const char *names[ROWS_MAX + 1] = {"help"};
    size_t n = 1;
    for (const struct args_option *a = c->args; a->name; a++)
        names[n++] = a->name;
    if (got == ':')
        return args_usage_error(c, "option %s requires a value", word);
    if (strncmp(word, "--", 2) != 0)
        return args_usage_error(c, "unknown option -%c", optopt);
    if (optopt)
        return args_usage_error(c, "option %s does not take a value", word);
    char bare[64];
    snprintf(bare, sizeof bare, "%.*s", (int)strcspn(word + 2, "="), word + 2);
    const char *near = nearest_word_find(bare, names, n);
    return near ? args_usage_error(c, "unknown option %s (did you mean --%s?)", word, near)
                : args_usage_error(c, "unknown option %s", word);
}

static int args_set_operands(struct args *args, const struct cli_command *c, int argc, char **argv)
{
    args->operands = argv + optind;
    args->n_operands = argc - optind;
    if (args->n_operands < c->min)
        return args_usage_error(c, "missing operand: %s", c->operands);
    if (args->n_operands > c->max)
        return args_usage_error(c, "unexpected argument \"%s\"", argv[optind + c->max]);
    return 0;
}

static int args_read_all(struct args *args, const struct cli_command *c, int argc, char **argv,
                         bool *help)
{
    struct getopt_rows rows;
    args_make_getopt_rows(&rows, c);
    optind = 0; /* 0: full initialisation of GNU getopt */
    opterr = 0;
    for (int got; (got = getopt_long(argc, argv, rows.shorts, rows.longs, NULL)) != -1;) {
        if (got == 'h' || got == OPT_HELP) {
            *help = true;
            return 0;
        }
        if (got == '?' || got == ':')
            return args_fail_option(c, got, argv[optind - 1]);
        const int status = args_set_value(args, c, args_find_by_getopt_value(c, got));
        if (status)
            return status;
    }
    return args_set_operands(args, c, argc, argv);
}

int args_parse(struct args *args, const struct cli_command *c, int argc, char **argv, int *status)
{
    bool help = false;
    *args = (struct args){0};
    *status = args_read_all(args, c, argc, argv, &help);
    if (*status == 0 && !help)
        return 0;
    if (help)
        args_print_help(stdout, c);
    args_fini(args);
    return -1;
}

void args_fini(struct args *args)
{
    for (size_t i = 0; i < args->n_plugins; i++)
        free(args->plugins[i]);
    free(args->plugins);
    free(args->repeated);
    args->plugins = NULL;
    args->repeated = NULL;
}
