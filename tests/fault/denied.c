/* SPDX-License-Identifier: MIT
 * A connector that does what the sandbox refuses, and fails: reads a file of the host, opens a
 * socket. */
#include <fcntl.h>
#include <sys/socket.h>
#include <turncast/plugin.h>
#include <unistd.h>

struct conf {
    const char *what;
};
static const struct tc_option options[] = {
    TC_OPTION(struct conf, what, "file", 0, "file or socket"),
    {0},
};

static int on_start(struct tc_turn *turn, const struct tc_start *ev)
{
    const struct conf *const conf = turn->inst->conf;
    (void)ev;
    const int fd =
        *conf->what == 'f' ? open("/etc/passwd", O_RDONLY) : socket(AF_INET, SOCK_STREAM, 0);
    return fd < 0 ? -1 : close(fd);
}

TURNCAST_PLUGIN(.name = "denied", .version = "1", .summary = "fails in the sandbox",
                .conf_size = sizeof(struct conf), .options = options,
                .sink = TC_SINK(.on_start = on_start));
