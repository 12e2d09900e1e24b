/* SPDX-License-Identifier: MIT
 * `turncast completion`: prints the completion script of a shell, or the names that a script
 * offers. */
#include <stdio.h>
#include <string.h>

#include "cli/command_table.h"
#include "cli/completion/completion.h"
#include "cli/oneshot_host.h"

static const struct args_option rows[] = {ARG_CONFIG, {0}};

static void completion_print_agents(const struct conf *conf)
{
    for (size_t i = 0; i < conf->n_agents; i++)
        puts(conf->agents[i].name);
}

static void completion_print_instances(const struct conf *conf)
{
    for (size_t i = 0; i < conf->n_instances; i++)
        puts(conf->instances[i].name);
}

static const struct {
    const char *word;
    void (*print_script)(FILE *out, const struct cli_command *const *commands);
    void (*print_names)(const struct conf *conf);
} completion_words[] = {
    {"bash", completion_print_bash, NULL},           {"zsh", completion_print_zsh, NULL},
    {"fish", completion_print_fish, NULL},           {"agents", NULL, completion_print_agents},
    {"instances", NULL, completion_print_instances},
};

static int completion_print_configured(const struct args *args,
                                       void (*print_names)(const struct conf *conf))
{
    struct conf *const conf = command_conf_load(args);
    if (!conf)
        return EXIT_USAGE;
    print_names(conf);
    conf_unref(conf);
    return 0;
}

static int cmd_completion_run(const struct args *args)
{
    const char *const word = args->operands[0];
    for (size_t i = 0; i < sizeof completion_words / sizeof *completion_words; i++) {
        if (strcmp(completion_words[i].word, word) != 0)
            continue;
        if (completion_words[i].print_names)
            return completion_print_configured(args, completion_words[i].print_names);
        completion_words[i].print_script(stdout, command_table_list());
        return 0;
    }
    return args_usage_error(
        &cmd_completion, "invalid value \"%s\"; valid values: bash, zsh, fish, agents, instances",
        word);
}

const struct cli_command cmd_completion = {
    .name = "completion",
    .operands = "bash|zsh|fish|agents|instances",
    .summary = "Prints the completion script of a shell",
    .about =
        "make install and the packages install scripts that use this command. To use it without\n"
        "them, for example in bash: eval \"$(turncast completion bash)\". For agents and "
        "instances,\n"
        "the names in the configuration are printed, one in a line.",
    .args = rows,
    .min = 1,
    .max = 1,
    .run = cmd_completion_run,
};
