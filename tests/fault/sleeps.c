/* SPDX-License-Identifier: MIT
 * A connector that hangs in its first callback until a file appears, or for `seconds`; no signal
 * and no request ends that. */
#include <time.h>
#include <unistd.h>

#include <turncast/plugin.h>

struct conf {
    const char *gate;
    int64_t seconds;
};

static const struct tc_option options[] = {
    TC_OPTION(struct conf, gate, NULL, 0, "file to wait for"),
    TC_OPTION(struct conf, seconds, "10", 0, "how long at most"),
    {0},
};

static int on_start(struct tc_turn *turn, const struct tc_start *start)
{
    (void)start;
    const struct conf *conf = turn->inst->conf;
    const time_t end = time(NULL) + conf->seconds;
    while (time(NULL) < end && !(conf->gate && access(conf->gate, F_OK) == 0))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return 0;
}

/* What is to wait for it has to be cast to it. */
static int on_narration(struct tc_turn *turn, const struct tc_narration *narration)
{
    (void)turn;
    (void)narration;
    return 0;
}

TURNCAST_PLUGIN(.name = "sleeps", .version = "1", .summary = "hangs in a callback",
                .conf_size = sizeof(struct conf), .options = options,
                .sink = TC_SINK(.on_start = on_start, .on_narration = on_narration));
