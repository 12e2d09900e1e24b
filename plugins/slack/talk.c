/* SPDX-License-Identifier: MIT
 * The threads the bot takes part in, as far as this process has seen them, and the turn that runs
 * in each. */
#include <stdio.h>
#include <string.h>

#include "talk.h"

static const struct talk *talk_find(const struct talks *t, const char *lane)
{
    for (unsigned i = 0; i < TALKS_MAX; i++)
        if (t->list[i].lane[0] && strcmp(t->list[i].lane, lane) == 0)
            return &t->list[i];
    return NULL;
}

bool talk_knows(const struct talks *t, const char *lane)
{
    return talk_find(t, lane) != NULL;
}

const char *talk_turn(const struct talks *t, const char *lane)
{
    const struct talk *talk = talk_find(t, lane);
    return talk && talk->turn[0] ? talk->turn : NULL;
}

void talk_note(struct talks *t, const char *lane, const char *turn)
{
    const struct talk *known = talk_find(t, lane);
    if (strlen(lane) >= sizeof known->lane)
        return;
    struct talk *talk = known ? &t->list[known - t->list] : &t->list[t->next++ % TALKS_MAX];
    if (!known)
        *talk = (struct talk){0};
    snprintf(talk->lane, sizeof talk->lane, "%s", lane);
    if (turn)
        snprintf(talk->turn, sizeof talk->turn, "%s", turn);
}

void talk_end(struct talks *t, const char *lane, const char *turn)
{
    const struct talk *known = talk_find(t, lane);
    if (known && strncmp(known->turn, turn, sizeof known->turn - 1) == 0)
        t->list[known - t->list].turn[0] = '\0';
}
