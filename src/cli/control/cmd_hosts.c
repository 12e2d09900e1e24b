/* SPDX-License-Identifier: MIT
 * `turncast hosts`: the hosts on the bus, as the running host sees them. */
#include <inttypes.h>
#include <stdio.h>

#include "base/bytes/buf.h"
#include "base/cleanup.h"
#include "base/sys/clock.h"
#include "cli/command_table.h"
#include "cli/control/print_table.h"
#include "cli/control_client.h"

static const struct args_option rows[] = {
    ARG_CONFIG,
    {0, ARG_FLAG, "json", NULL, offsetof(struct args, json), "print one JSON object"},
    {0},
};

/* Names separated by commas; "-" if there are none. */
static void cmd_hosts_print_names(const json_t *names, int width)
{
    CLEANUP_BUF struct buf text = {0};
    size_t i;
    const json_t *name;
    json_array_foreach(names, i, name)
    {
        buf_printf(&text, i ? ", %s" : "%s", json_string_value(name));
    }
    print_table_cell(text.p, width);
}

/* Free and total slots of each agent. */
static void cmd_hosts_print_agents(json_t *agents)
{
    CLEANUP_BUF struct buf text = {0};
    const char *name;
    json_t *slots;
    json_object_foreach(agents, name, slots)
    {
        buf_printf(&text, "%s%s %" PRId64 "/%" PRId64, text.len ? ", " : "", name,
                   print_table_get_int(slots, "free"), print_table_get_int(slots, "max"));
    }
    print_table_cell(text.p, 25);
}

static void cmd_hosts_print_since(const json_t *host)
{
    const int64_t now_ms = (int64_t)(clock_wall_s() * 1000);
    if (json_object_get(host, "since_ms"))
        print_table_duration(now_ms - print_table_get_int(host, "since_ms"), 14);
    else
        print_table_cell(NULL, 14);
}

static void cmd_hosts_print_host(const json_t *host)
{
    print_table_string(host, "name", 17);
    print_table_string(host, "state", 10);
    print_table_string(host, "version", 9);
    cmd_hosts_print_since(host);
    cmd_hosts_print_names(json_object_get(host, "roles"), 17);
    printf("%5" PRId64 " %5" PRId64 "  ", print_table_get_int(host, "turns"),
           print_table_get_int(json_object_get(host, "work"), "running"));
    cmd_hosts_print_agents(json_object_get(host, "agents"));
    cmd_hosts_print_names(json_object_get(host, "leads"), 0);
    puts(json_is_true(json_object_get(host, "own")) ? "  (this host)" : "");
}

static void cmd_hosts_print(const json_t *body)
{
    size_t i;
    const json_t *host;
    print_table_bus_away(body);
    if (json_array_size(json_object_get(body, "hosts")))
        puts("HOST             STATE     VERSION  UP            ROLES            TURNS  RUNS  "
             "AGENTS (FREE/MAX)        LEADS");
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
