/* SPDX-License-Identifier: MIT
 * `turncast tail`: shows a turn of the running host while it runs. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command_table.h"
#include "cli/control/turn_client.h"
#include "cli/oneshot_host.h"

static const struct args_option rows[] = {
    {'f', ARG_FLAG, "follow", NULL, offsetof(struct args, all),
     "go on with the turns that begin later"},
    {0, ARG_FLAG, "json", NULL, offsetof(struct args, json),
     "print the events, one line of JSON each"},
    ARG_AGENT("agent whose stored visibility settings apply"),
    ARG_PLUGIN,
    ARG_CONFIG,
    ARG_VERBOSE,
    {0},
};

/* Sets *id to the id of the named turn, NULL if none is named. Returns 0 or the exit status. */
static int cmd_tail_find(const struct args *args, const struct conf *conf, char id[64],
                         const char **found)
{
    *found = NULL;
    json_t *const list = turn_client_list(conf);
    if (!list)
        return EXIT_TURN_ERROR;
    const bool named = args->n_operands > 0 && args->operands[0][0] != '/';
    const json_t *const turn = named ? turn_client_find(list, args->operands[0]) : NULL;
    if (turn) {
        snprintf(id, 64, "%s", json_string_value(json_object_get(turn, "id")));
        *found = id;
    }
    json_decref(list);
    return named && !turn ? EXIT_TURN_ERROR : 0;
}

static int cmd_tail_show(const struct args *args, const struct conf *conf)
{
    char id[64];
    const char *found;
    const int status = cmd_tail_find(args, conf, id, &found);
    if (status)
        return status;
    const int named = found ? 1 : 0;
    if (args->json)
        return turn_client_write_events(conf, found, args->all, STDOUT_FILENO) < 0 ? EXIT_TURN_ERROR
                                                                                   : 0;
    return turn_client_show(args, conf, found, args->all, args->operands + named,
                            args->n_operands - named);
}

static int cmd_tail_run(const struct args *args)
{
    struct conf *const conf = command_conf_load(args);
    if (!conf)
        return EXIT_USAGE;
    const int status = cmd_tail_show(args, conf);
    conf_unref(conf);
    return status;
}

const struct cli_command cmd_tail = {
    .name = "tail",
    .operands = "[TURN] [/show-X|/hide-X]...",
    .summary = "Shows a turn of the running host while it runs",
    .about =
        "Without TURN, the turn that runs, or the next one that begins. A turn is named by its ID\n"
        "or the beginning of it; see turncast turns. A token changes what is shown here.",
    .args = rows,
    .min = 0,
    .max = 100,
    .run = cmd_tail_run,
};
