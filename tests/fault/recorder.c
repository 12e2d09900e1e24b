/* SPDX-License-Identifier: MIT
 * A healthy connector: every canonical line goes to a file at once, `delay_us` after it came;
 * with `mark`, a minus stands before those that are hidden from people. */
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <turncast/plugin.h>

#ifndef RECORDER_NAME
#define RECORDER_NAME "recorder"
#define RECORDER_FLAGS TC_SEES_ALL
#endif

struct conf {
    const char *path;
    int64_t delay_us;
    bool mark;
};

static const struct tc_option options[] = {
    TC_OPTION(struct conf, path, NULL, TC_REQUIRED, "file to write"),
    TC_OPTION(struct conf, delay_us, "0", 0, "how long each event takes"),
    TC_OPTION(struct conf, mark, "false", 0, "mark what is hidden"),
    {0},
};

static int on_event(struct tc_turn *turn, const struct tc_event *ev)
{
    const struct conf *conf = turn->inst->conf;
    const int fd = *(const int *)turn->inst->state;
    if (conf->delay_us > 0)
        nanosleep(&(struct timespec){.tv_nsec = conf->delay_us * 1000}, NULL);
    const char *mark = conf->mark && ev->meta->hidden ? "-" : "";
    const char *line = tc_sprint(turn, "%s%s\n", mark, ev->line);
    return write(fd, line, strlen(line)) == (ssize_t)strlen(line) ? 0 : -1;
}

static int init(struct tc_instance *inst)
{
    const struct conf *conf = inst->conf;
    int *fd = inst->state;
    *fd = open(conf->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    return *fd < 0 ? -1 : 0;
}

static void teardown(struct tc_instance *inst)
{
    close(*(int *)inst->state);
}

TURNCAST_PLUGIN(.name = RECORDER_NAME, .version = "1", .summary = "records every line",
                .flags = RECORDER_FLAGS, .conf_size = sizeof(struct conf),
                .state_size = sizeof(int), .options = options, .init = init, .teardown = teardown,
                .sink = TC_SINK(.on_event = on_event));
