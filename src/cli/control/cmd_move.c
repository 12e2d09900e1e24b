/* SPDX-License-Identifier: MIT
 * `turncast move`: moves a conversation to another host. */
#include <stdio.h>

#include "cli/command_table.h"
#include "cli/control/turn_client.h"
#include "cli/control_client.h"
#include "cli/oneshot_host.h"

static const struct args_option rows[] = {
    ARG_CONFIG,
    {0},
};

static int cmd_move_turn(const struct conf *conf, const json_t *turn, const char *host)
{
    struct control_response c;
    json_t *const body =
        json_pack("{s:O,s:O,s:s}", "agent", json_object_get(turn, "agent"), "conversation",
                  json_object_get(turn, "conversation"), "host", host);
    int status = EXIT_TURN_ERROR;
    if (control_client_call(&c, conf, "POST", "/move", body) == 0 &&
        control_client_check(&c, conf) == 0) {
        printf("The conversation continues on host %s.\n", host);
        status = 0;
    }
    control_client_fini(&c);
    json_decref(body);
    return status;
}

static int cmd_move_run(const struct args *args)
{
    struct conf *const conf = command_conf_load(args);
    if (!conf)
        return EXIT_USAGE;
    json_t *const list = turn_client_list(conf);
    const json_t *const turn = list ? turn_client_find(list, args->operands[0]) : NULL;
    const int status = turn ? cmd_move_turn(conf, turn, args->operands[1]) : EXIT_TURN_ERROR;
    json_decref(list);
    conf_unref(conf);
    return status;
}

const struct cli_command cmd_move = {
    .name = "move",
    .operands = "TURN HOST",
    .summary = "Moves a conversation to another host on the bus",
    .about = "A conversation is named by one of its turns: the ID or the beginning of it; see "
             "turncast turns.\nA running turn ends where it runs; turns that wait, and later "
             "turns, run on HOST.\nExit status: 1 HOST is not there, drains, or may not run the "
             "agent, or no host is running.",
    .args = rows,
    .min = 2,
    .max = 2,
    .run = cmd_move_run,
};
