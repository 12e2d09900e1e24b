/* SPDX-License-Identifier: MIT
 * `turncast drain`: lets a host finish its turns and start no new ones. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/plural.h"
#include "cli/command_table.h"
#include "cli/control/print_table.h"
#include "cli/control_client.h"
#include "cli/oneshot_host.h"

static const struct args_option rows[] = {
    ARG_CONFIG,
    {0, ARG_FLAG, "detach", NULL, offsetof(struct args, detach), "do not wait until no turn runs"},
    {0, ARG_FLAG, "undo", NULL, offsetof(struct args, undo), "let the host work again"},
    {0},
};

/* Returns the number of turns that still run on the host. -1: refused, and the reason was printed.
 */
static int64_t cmd_drain_send_request(const struct conf *conf, const char *host, const char *what,
                                      bool *is_draining)
{
    struct control_response c;
    json_t *const body = json_pack("{s:s,s:s*}", "do", what, "host", host);
    int64_t running = -1;
    if (control_client_call(&c, conf, "POST", "/drain", body) == 0 &&
        control_client_check(&c, conf) == 0) {
        running = print_table_get_int(c.body, "running");
        *is_draining = json_is_true(json_object_get(c.body, "draining"));
    }
    control_client_fini(&c);
    json_decref(body);
    return running;
}

static int cmd_drain_end(const struct conf *conf, const char *host)
{
    bool is_draining;
    if (cmd_drain_send_request(conf, host, "undo", &is_draining) < 0)
        return EXIT_TURN_ERROR;
    puts("The host works again.");
    return 0;
}

static int cmd_drain_wait_for_turns(const struct conf *conf, const char *host, int64_t running)
{
    const struct timespec pause = {.tv_sec = 1};
    bool is_draining = true;
    while (running > 0 && is_draining) {
        nanosleep(&pause, NULL);
        running = cmd_drain_send_request(conf, host, "look", &is_draining);
    }
    if (running < 0)
        return EXIT_TURN_ERROR;
    if (!is_draining) {
        fputs("turncast: the host works again, because the order to drain was undone\n", stderr);
        return EXIT_TURN_ERROR;
    }
    puts("The host is drained: no turn runs there. It can be stopped.");
    return 0;
}

static int cmd_drain_begin(const struct conf *conf, const struct args *args)
{
    const char *const host = args->n_operands ? args->operands[0] : NULL;
    bool is_draining;
    if (args->undo)
        return cmd_drain_end(conf, host);
    const int64_t running = cmd_drain_send_request(conf, host, "drain", &is_draining);
    if (running < 0)
        return EXIT_TURN_ERROR;
    printf("The host starts no more turns; %" PRId64 " turn%s still run%s there.\n", running,
           PLURAL(running, "", "s"), PLURAL(running, "s", ""));
    return args->detach ? 0 : cmd_drain_wait_for_turns(conf, host, running);
}

static int cmd_drain_run(const struct args *args)
{
    if (args->undo && args->detach)
        return args_usage_error(&cmd_drain, "--undo does not wait; leave --detach out");
    struct conf *const conf = command_conf_load(args);
    if (!conf)
        return EXIT_USAGE;
    const int status = cmd_drain_begin(conf, args);
    conf_unref(conf);
    return status;
}

const struct cli_command cmd_drain = {
    .name = "drain",
    .operands = "[HOST]",
    .summary = "Lets a host on the bus finish its turns and start no more",
    .about = "Without HOST: the running host. Other hosts take over its connector instances and "
             "conversations.\nWaits until no turn runs there. The host stays without work until "
             "it is stopped, or --undo.\nExit status: 1 the host is absent, no host is "
             "running, or it has no bus.",
    .args = rows,
    .max = 1,
    .run = cmd_drain_run,
};
