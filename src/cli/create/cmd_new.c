/* SPDX-License-Identifier: MIT
 * `turncast new`: creates a project directory for a connector and prints the commands to type next.
 * ⏎ */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/command_table.h"
#include "cli/create/project.h"
#include "cli/data_path.h"
#include "cli/oneshot_host.h"
#include "plugin/abi/descriptor.h"

static const struct args_option rows[] = {
    {'l', ARG_TEXT, "language", "LANGUAGE", offsetof(struct args, language),
     "c, sh, python or node; default: c"},
    {'d', ARG_TEXT, "directory", "DIRECTORY", offsetof(struct args, directory),
     "to be created; default: NAME"},
    {0},
};

static const char *const languages[] = {"c", "sh", "python", "node"};
#define N_LANGUAGES (sizeof languages / sizeof *languages)

static int cmd_new_check_name(const char *name)
{
    if (descriptor_is_name(name))
        return 0;
    return args_usage_error(&cmd_new,
                            "\"%s\" is not a name: a letter from a to z, then a to z, 0 to 9, _ "
                            "and -, at most %zu characters",
                            name, DESCRIPTOR_NAME_MAX);
}

static int cmd_new_check_language(const char *language)
{
    for (size_t i = 0; i < N_LANGUAGES; i++)
        if (strcmp(languages[i], language) == 0)
            return 0;
    CLEANUP_BUF struct buf known = {0};
    for (size_t i = 0; i < N_LANGUAGES; i++)
        buf_printf(&known, "%s%s", i ? ", " : "", languages[i]);
    return args_usage_error(&cmd_new, "--language: invalid value \"%s\"; valid values: %s",
                            language, known.p);
}

static int cmd_new_create(const struct args *args, const char *language)
{
    struct tc_err err = {0};
    CLEANUP_BUF struct buf next = {0};
    CLEANUP_FREE char *folder = xasprintf("new/%s", language);
    CLEANUP_FREE char *template = data_path_find(folder, &err);
    const struct project_spec spec = {.name = args->operands[0],
                                      .directory =
                                          args->directory ? args->directory : args->operands[0],
                                      .template = template};
    if (!template || project_create(&spec, &next, &err) < 0) {
        command_conf_print_error(&err);
        return EXIT_USAGE;
    }
    fputs(next.p, stdout);
    return 0;
}

static int cmd_new_run(const struct args *args)
{
    const char *const language = args->language ? args->language : languages[0];
    int status = cmd_new_check_name(args->operands[0]);
    if (status == 0)
        status = cmd_new_check_language(language);
    return status ? status : cmd_new_create(args, language);
}

const struct cli_command cmd_new = {
    .name = "new",
    .operands = "NAME",
    .summary = "Creates the project of a connector",
    .about =
        "The directory gets a connector that works, its test, a makefile, an instance for the\n"
        "configuration and a README. An existing directory is never changed.",
    .args = rows,
    .min = 1,
    .max = 1,
    .run = cmd_new_run,
};
