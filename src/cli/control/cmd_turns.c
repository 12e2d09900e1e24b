/* SPDX-License-Identifier: MIT
 * `turncast turns`: lists the turns of the running host. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/sys/clock.h"
#include "cli/command_table.h"
#include "cli/control/print_table.h"
#include "cli/control/turn_client.h"
#include "cli/oneshot_host.h"
#include "event/json/json_value.h"

#define SHOWN 20 /* listed without --all */

static const struct args_option rows[] = {
    {0, ARG_FLAG, "all", NULL, offsetof(struct args, all), "list all turns that are known, not 20"},
    {0, ARG_FLAG, "json", NULL, offsetof(struct args, json), "print one JSON object"},
    ARG_CONFIG,
    {0},
};

/* Time since the start, or the duration of an ended turn. */
static void cmd_turns_print_time(const json_t *turn, int64_t now_ms)
{
    const int64_t created = print_table_get_int(turn, "created_ms");
    const int64_t started = print_table_get_int(turn, "started_ms");
    const int64_t ended = print_table_get_int(turn, "ended_ms");
    print_table_duration((ended ? ended : now_ms) - (started ? started : created), 13);
}

static void cmd_turns_print_cost(const json_t *turn)
{
    char text[32] = "-";
    const json_t *const cost = json_object_get(turn, "cost_usd");
    if (cost)
        snprintf(text, sizeof text, "$%.4f", json_number_value(cost));
    print_table_cell(text, 10);
}

static void cmd_turns_print(const json_t *turns, bool all)
{
    const int64_t now_ms = (int64_t)(clock_wall_s() * 1000);
    const size_t n = json_array_size(turns);
    if (n == 0) {
        puts("No turns.");
        return;
    }
    puts("TURN      STATE      AGENT       TIME         COST      MESSAGE");
    for (size_t i = 0; i < n && (all || i < SHOWN); i++) {
        const json_t *const turn = json_array_get(turns, i);
        char id[9] = "";
        snprintf(id, sizeof id, "%s", json_string_value(json_object_get(turn, "id")));
        print_table_cell(id, 10);
        print_table_string(turn, "state", 11);
        print_table_string(turn, "agent", 12);
        cmd_turns_print_time(turn, now_ms);
        cmd_turns_print_cost(turn);
        print_table_string(turn, "task", 0);
        putchar('\n');
    }
}

static int cmd_turns_run(const struct args *args)
{
    struct conf *const conf = command_conf_load(args);
    json_t *const list = conf ? turn_client_list(conf) : NULL;
    const json_t *const turns = json_object_get(list, "turns");
    if (list && args->json) {
        json_value_print(list);
    } else if (list) {
        cmd_turns_print(turns, args->all);
    }
    const int status = !conf ? EXIT_USAGE : list ? 0 : EXIT_TURN_ERROR;
    json_decref(list);
    conf_unref(conf);
    return status;
}

const struct cli_command cmd_turns = {
    .name = "turns",
    .operands = "",
    .summary = "Lists the turns of the running host",
    .args = rows,
    .run = cmd_turns_run,
};
