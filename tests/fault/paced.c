/* SPDX-License-Identifier: MIT
 * A connector with a pace: writes the text of each narration as a line of its own to a file. */
#include <fcntl.h>
#include <unistd.h>

#include <turncast/plugin.h>

struct conf {
    const char *path;
};

static const struct tc_option options[] = {
    TC_OPTION(struct conf, path, NULL, TC_REQUIRED, "file to write"),
    {0},
};

static int put(struct tc_turn *turn, const char *text, size_t len)
{
    const struct conf *conf = turn->inst->conf;
    const int fd = open(conf->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const char *line = tc_sprint(turn, "%s\n", text);
    const ssize_t n = write(fd, line, len + 1);
    close(fd);
    return n < 0 ? -1 : 0;
}

static int on_narration(struct tc_turn *turn, const struct tc_narration *n)
{
    return put(turn, n->text, n->text_len);
}

static int on_done(struct tc_turn *turn, const struct tc_done *d)
{
    (void)d;
    return put(turn, "done", 4);
}

TURNCAST_PLUGIN(.name = "paced", .version = "1", .summary = "narration at a pace",
                .conf_size = sizeof(struct conf), .options = options, .pace_ms = 60000,
                .sink = TC_SINK(.on_narration = on_narration, .on_done = on_done));
