/* SPDX-License-Identifier: MIT
 * A connector whose init and teardown wait until files appear, and that logs what it is told. */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <turncast/plugin.h>

#define MOST_S 600 /* nothing waits for ever, whatever became of the test */

struct conf {
    const char *init, *end; /* files; or NULL */
    bool crash;
};

static const struct tc_option options[] = {
    TC_OPTION(struct conf, init, NULL, 0, "file that init waits for"),
    TC_OPTION(struct conf, end, NULL, 0, "file that teardown waits for"),
    TC_OPTION(struct conf, crash, "false", 0, "init crashes then"),
    {0},
};

static void wait_for(const char *path)
{
    const time_t end = time(NULL) + MOST_S;
    while (path && access(path, F_OK) != 0 && time(NULL) < end)
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

static int init(struct tc_instance *inst)
{
    const struct conf *const conf = inst->conf;
    tc_log(inst, TC_INFO, "init waits");
    wait_for(conf->init);
    if (conf->crash)
        abort();
    tc_log(inst, TC_INFO, "init returns");
    return 0;
}

static void teardown(struct tc_instance *inst)
{
    const struct conf *const conf = inst->conf;
    tc_log(inst, TC_INFO, "teardown waits");
    wait_for(conf->end);
}

static int on_start(struct tc_turn *turn, const struct tc_start *start)
{
    tc_log(turn->inst, TC_INFO, "told %s of %s", start->resumed ? "resumed" : "start", turn->id);
    return 0;
}

static int on_final(struct tc_turn *turn, const struct tc_final *final)
{
    (void) final;
    tc_log(turn->inst, TC_INFO, "told final of %s", turn->id);
    return 0;
}

static int on_done(struct tc_turn *turn, const struct tc_done *done)
{
    (void)done;
    tc_log(turn->inst, TC_INFO, "told done of %s", turn->id);
    return 0;
}

TURNCAST_PLUGIN(.name = "waits", .version = "1", .summary = "waits in init and teardown",
                .conf_size = sizeof(struct conf), .options = options, .init = init,
                .teardown = teardown,
                .sink = TC_SINK(.on_start = on_start, .on_final = on_final, .on_done = on_done));
