/* SPDX-License-Identifier: MIT
 * `turncast reload`: reloads the configuration of the running host. */
#include <stdio.h>

#include "cli/command_table.h"
#include "cli/control_client.h"
#include "cli/oneshot_host.h"

static const struct args_option rows[] = {ARG_CONFIG, {0}};

/* Prints "started: a, b" unless the list is empty. */
static void print_names(const json_t *report, const char *key, const char *label)
{
    const json_t *const names = json_object_get(report, key);
    size_t i;
    json_t *name;
    json_array_foreach(names, i, name) printf("%s%s", i ? ", " : label, json_string_value(name));
    if (json_array_size(names))
        putchar('\n');
}

static void cmd_reload_print_report(const json_t *report)
{
    const char *const file = json_string_value(json_object_get(report, "file"));
    printf("Reloaded %s.\n", file ? file : "the configuration");
    print_names(report, "started", "started: ");
    print_names(report, "restarted", "restarted: ");
    print_names(report, "stopped", "stopped: ");
    print_names(report, "needs_restart", "requires a restart to take effect: ");
}

static int cmd_reload_send_request(const struct conf *conf)
{
    struct control_response c;
    if (control_client_call(&c, conf, "POST", "/reload", NULL) < 0)
        return EXIT_TURN_ERROR;
    if (c.status == 200)
        cmd_reload_print_report(c.body);
    else if (c.status)
        fprintf(stderr, "turncast: reload rejected, previous configuration still active: %s\n",
                control_client_error_text(&c));
    else
        control_client_print_no_host(conf);
    const int status = c.status == 200 ? 0 : EXIT_TURN_ERROR;
    control_client_fini(&c);
    return status;
}

static int cmd_reload_run(const struct args *args)
{
    struct conf *const conf = command_conf_load(args);
    if (!conf)
        return EXIT_TURN_ERROR; /* the host would report the same error */
    const int status = cmd_reload_send_request(conf);
    conf_unref(conf);
    return status;
}

const struct cli_command cmd_reload = {
    .name = "reload",
    .operands = "",
    .summary = "Reloads the configuration of the running host",
    .about =
        "The new configuration is applied completely, or rejected with a reason. Exit status: 1\n"
        "it was rejected, or no host is running.",
    .args = rows,
    .run = cmd_reload_run,
};
