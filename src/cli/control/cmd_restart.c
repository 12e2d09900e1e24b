/* SPDX-License-Identifier: MIT
 * `turncast restart`: restarts one instance of the running host. */
#include <ctype.h>
#include <stdio.h>

#include "base/bytes/buf.h"
#include "cli/command_table.h"
#include "cli/control_client.h"
#include "cli/oneshot_host.h"

static const struct args_option rows[] = {ARG_CONFIG, {0}};

/* Percent-encodes the name: a name taken from a file name may contain any characters. */
static void add_encoded(struct buf *path, const char *name)
{
    for (; *name; name++)
        buf_printf(path, isalnum((unsigned char)*name) || strchr("-_.", *name) ? "%c" : "%%%02X",
                   (unsigned char)*name);
}

static int cmd_restart_send_request(const struct conf *conf, const char *name)
{
    CLEANUP_BUF struct buf path = {0};
    struct control_response c;
    buf_add_str(&path, "/instances/");
    add_encoded(&path, name);
    buf_add_str(&path, "/restart");
    if (control_client_call(&c, conf, "POST", path.p, NULL) < 0)
        return EXIT_TURN_ERROR;
    if (c.status == 200)
        printf("Restarted instance %s.\n", name);
    else if (c.status == 404)
        fprintf(stderr, "turncast: %s\n", control_client_error_text(&c));
    else if (c.status)
        fprintf(stderr, "turncast: cannot restart instance %s: %s\n", name,
                control_client_error_text(&c));
    else
        control_client_print_no_host(conf);
    const int status = c.status == 200 ? 0 : EXIT_TURN_ERROR;
    control_client_fini(&c);
    return status;
}

static int cmd_restart_run(const struct args *args)
{
    struct conf *const conf = command_conf_load(args);
    if (!conf)
        return EXIT_USAGE;
    const int status = cmd_restart_send_request(conf, args->operands[0]);
    conf_unref(conf);
    return status;
}

const struct cli_command cmd_restart = {
    .name = "restart",
    .operands = "INSTANCE",
    .summary = "Restarts a connector instance of the running host",
    .about = "An instance whose process crashed is started at once. Running turns are delivered "
             "again.\nExit status: 1 it did not start, it does not exist, or no host is running.",
    .args = rows,
    .min = 1,
    .max = 1,
    .run = cmd_restart_run,
};
