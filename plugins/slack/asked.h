/* SPDX-License-Identifier: MIT
 * The questions that stand in the threads of Slack, as far as this process knows: what a reply in a
 * thread may be an answer to. */
#ifndef SLACK_ASKED_H
#define SLACK_ASKED_H

#include <stdbool.h>
#include <stddef.h>

#define ASKED_MAX 64 /* the oldest is forgotten */

struct asked_place {
    char channel[24];
    char thread[32]; /* where replies to it go: its thread, or itself */
    char ticket[40];
    bool rooted; /* it began that thread */
    bool open;
};

struct slack_asked {
    struct asked_place list[ASKED_MAX];
    unsigned next;
    char reply[32]; /* the message that was taken as a reply last: it may come twice */
};

/* One that the same ticket has there already is left as it is. */
void asked_note(struct slack_asked *a, const struct asked_place *place);
/* It is decided. */
void asked_end(struct slack_asked *a, const char *ticket);
/* Whether anything was asked in that thread. In *open how many still are, in *one one of them. */
bool asked_find(const struct slack_asked *a, const char *channel, const char *thread,
                const struct asked_place **one, size_t *open);

#endif
