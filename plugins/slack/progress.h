/* SPDX-License-Identifier: MIT
 * The message that is edited while a turn runs, where Slack has no native stream. */
#ifndef SLACK_PROGRESS_H
#define SLACK_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include <turncast/plugin.h>

struct progress {
    char ts[32];    /* "": not there yet */
    bool busy;      /* the first post or an edit is under way */
    bool stale;     /* what is there is not the newest */
    bool lost;      /* it cannot be edited any more */
    unsigned edits; /* made so far */
    uint64_t hash;
    int64_t sent_ms;
};

/* There is news. */
void progress_changed(struct tc_turn *turn);
/* Sends it when it is time. */
void progress_pump(struct tc_turn *turn);
/* Puts the message away: the outcome is sent. */
void progress_end(struct tc_turn *turn);
int progress_on_post(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v);
int progress_on_edit(struct tc_turn *turn, const struct tc_reply *r, struct tc_verdict *v);

#endif
