/* SPDX-License-Identifier: MIT
 * `turncast cancel`: cancels turns of the running host. */
#include <stdio.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/command_table.h"
#include "cli/control/turn_client.h"
#include "cli/control_client.h"
#include "cli/oneshot_host.h"

static const struct args_option rows[] = {
    {0, ARG_FLAG, "all", NULL, offsetof(struct args, all), "cancel all turns that wait or run"},
    ARG_CONFIG,
    {0},
};

static int cmd_cancel_one(const struct conf *conf, const json_t *turn)
{
    struct control_response c;
    const char *const id = json_string_value(json_object_get(turn, "id"));
    CLEANUP_FREE char *path = xasprintf("/turns/%s/cancel", id ? id : "");
    if (control_client_call(&c, conf, "POST", path, NULL) < 0)
        return EXIT_TURN_ERROR;
    const bool done = c.status == 202;
    if (done)
        printf("Cancelled turn %s.\n", id);
    else
        fprintf(stderr, "turncast: turn %s: %s\n", id ? id : "?", control_client_error_text(&c));
    control_client_fini(&c);
    return done ? 0 : EXIT_TURN_ERROR;
}

static int cmd_cancel_all(const struct conf *conf, const json_t *list)
{
    size_t i, n = 0;
    const json_t *turn;
    int status = 0;
    json_array_foreach(json_object_get(list, "turns"), i, turn)
    {
        if (turn_client_is_over(turn))
            continue;
        n++;
        if (cmd_cancel_one(conf, turn))
            status = EXIT_TURN_ERROR;
    }
    if (n == 0)
        puts("No turns are waiting or running.");
    return status;
}

static int cmd_cancel_named(const struct conf *conf, const json_t *list, const struct args *args)
{
    int status = 0;
    for (int i = 0; i < args->n_operands; i++) {
        const json_t *const turn = turn_client_find(list, args->operands[i]);
        if (!turn || cmd_cancel_one(conf, turn))
            status = EXIT_TURN_ERROR;
    }
    return status;
}

static int cmd_cancel_run(const struct args *args)
{
    if (args->all == (args->n_operands > 0))
        return args_usage_error(&cmd_cancel, "specify turns, or --all");
    struct conf *const conf = command_conf_load(args);
    if (!conf)
        return EXIT_USAGE;
    json_t *const list = turn_client_list(conf);
    const int status = !list       ? EXIT_TURN_ERROR
                       : args->all ? cmd_cancel_all(conf, list)
                                   : cmd_cancel_named(conf, list, args);
    json_decref(list);
    conf_unref(conf);
    return status;
}

const struct cli_command cmd_cancel = {
    .name = "cancel",
    .operands = "TURN...",
    .summary = "Cancels turns of the running host",
    .about = "A turn is named by its ID or the beginning of it; see turncast turns.",
    .args = rows,
    .min = 0,
    .max = 100,
    .run = cmd_cancel_run,
};
