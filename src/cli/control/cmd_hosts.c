/* SPDX-License-Identifier: MIT
 * `turncast hosts`: the hosts on the bus, as the running host sees them. */
#include <inttypes.h>
#include <stdio.h>

#include "base/sys/clock.h"
#include "cli/command_table.h"
#include "cli/control/print_table.h"
#include "cli/control_client.h"

static const struct args_option rows[] = {
    ARG_CONFIG,
    {0, ARG_FLAG, "json", NULL, offsetof(struct args, json), "print one JSON object"},
    {0},
};

/* The instances that it leads. */
static void cmd_hosts_print_leads(const json_t *leads)
{
    size_t i;
    const json_t *name;
    json_array_foreach(leads, i, name)
    {
        fputs(i ? ", " : "  ", stdout);
        print_table_cell(json_string_value(name), 0);
    }
}

static void cmd_hosts_print_host(const json_t *host)
{
    const int64_t now_ms = (int64_t)(clock_wall_s() * 1000);
    print_table_string(host, "name", 33);
    print_table_string(host, "version", 10);
    print_table_duration(now_ms - print_table_get_int(host, "since_ms"), 14);
    printf("%5" PRId64, print_table_get_int(host, "turns"));
    cmd_hosts_print_leads(json_object_get(host, "leads"));
    puts(json_is_true(json_object_get(host, "own")) ? "  (this host)" : "");
}

static void cmd_hosts_print(const json_t *body)
{
    const json_t *const bus = json_object_get(body, "bus");
    size_t i;
    const json_t *host;
    if (!json_is_true(json_object_get(body, "complete"))) {
        fputs("The bus does not answer: ", stdout);
        print_table_string(bus, "state", 0);
        if (json_object_get(bus, "reason")) {
            fputs(", ", stdout);
            print_table_string(bus, "reason", 0);
        }
        putchar('\n');
    }
    if (json_array_size(json_object_get(body, "hosts")))
        puts("HOST                             VERSION   UP            TURNS  LEADS");
    json_array_foreach(json_object_get(body, "hosts"), i, host)
    {
        cmd_hosts_print_host(host);
    }
}

static int cmd_hosts_run(const struct args *args)
{
    return control_client_show(args, "/hosts", cmd_hosts_print);
}

const struct cli_command cmd_hosts = {
    .name = "hosts",
    .operands = "",
    .summary = "Lists the hosts on the bus",
    .about = "Asks the running host. Exit status: 1 no host is running, or it has no bus.",
    .args = rows,
    .run = cmd_hosts_run,
};
