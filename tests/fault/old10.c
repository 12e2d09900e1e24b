/* SPDX-License-Identifier: MIT
 * A plugin as it was built against version 1.0: shorter structs than today's. It writes what it
 * hears into its state and tells it to the log at the end. */
#include <string.h>

#include "abi10.h"

struct state {
    char heard[64];
};

static int on_narration(struct tc_turn *turn, const struct tc_narration *n)
{
    struct state *state = turn->inst->state;
    strncat(state->heard, n->text, sizeof state->heard - strlen(state->heard) - 1);
    return 0;
}

static int on_final(struct tc_turn *turn, const struct tc_final *f)
{
    struct state *state = turn->inst->state;
    const char *text = turn->inst->host->sprint(turn, "|%s", f->text);
    strncat(state->heard, text, sizeof state->heard - strlen(state->heard) - 1);
    return 0;
}

static void teardown(struct tc_instance *inst)
{
    const struct state *state = inst->state;
    inst->host->log(inst, 4, "heard %s", state->heard);
}

static const struct tc_sink sink = {
    .size = sizeof(struct tc_sink),
    .on_narration = on_narration,
    .on_final = on_final,
};

extern const struct tc_plugin turncast_plugin;
__attribute__((__visibility__("default"))) const struct tc_plugin turncast_plugin = {
    .size = sizeof(struct tc_plugin),
    .major = 1,
    .minor = 0,
    .name = "old10",
    .version = "1",
    .summary = "built against 1.0",
    .state_size = sizeof(struct state),
    .teardown = teardown,
    .sink = &sink,
};
