/* SPDX-License-Identifier: MIT
 * The questions that stand in the threads of Slack, as far as this process knows: what a reply in a
 * thread may be an answer to. */
#include <string.h>

#include "asked.h"

static bool is_there(const struct asked_place *p, const char *channel, const char *thread)
{
    return p->ticket[0] && strcmp(p->channel, channel) == 0 && strcmp(p->thread, thread) == 0;
}

void asked_note(struct slack_asked *a, const struct asked_place *place)
{
    for (size_t i = 0; i < ASKED_MAX; i++)
        if (is_there(&a->list[i], place->channel, place->thread) &&
            strcmp(a->list[i].ticket, place->ticket) == 0)
            return;
    a->list[a->next++ % ASKED_MAX] = *place;
}

void asked_end(struct slack_asked *a, const char *ticket)
{
    for (size_t i = 0; i < ASKED_MAX; i++)
        if (strcmp(a->list[i].ticket, ticket) == 0)
            a->list[i].open = false;
}

bool asked_find(const struct slack_asked *a, const char *channel, const char *thread,
                const struct asked_place **one, size_t *open)
{
    bool any = false;
    *one = NULL;
    *open = 0;
    for (size_t i = 0; i < ASKED_MAX; i++) {
        const struct asked_place *p = &a->list[i];
        if (!is_there(p, channel, thread))
            continue;
        any = true;
        *open += p->open;
        *one = p->open ? p : *one;
    }
    return any;
}
