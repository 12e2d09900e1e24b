/* SPDX-License-Identifier: MIT
 * Prints what the agent says as it says it, then its answer. */
#include <stdio.h>

#include <turncast/plugin.h>

struct conf {
    const char *greeting;
};
static const struct tc_option options[] = {
    TC_OPTION(struct conf, greeting, "answer", 0, "what stands before the answer"),
    {0},
};

static int on_narration(struct tc_turn *turn, const struct tc_narration *ev)
{
    (void)turn;
    return fputs(ev->text, stdout) < 0 ? -1 : 0;
}

static int on_final(struct tc_turn *turn, const struct tc_final *ev)
{
    const struct conf *conf = turn->inst->conf;
    printf("\n%s: %s\n", conf->greeting, ev->text);
    return fflush(stdout);
}

TURNCAST_PLUGIN(.name = "hello", .version = "1.0", .summary = "narration and final on stdout",
                .conf_size = sizeof(struct conf), .options = options,
                .sink = TC_SINK(.on_narration = on_narration, .on_final = on_final));
