/* SPDX-License-Identifier: MIT
 * What all parts of the slack connector share: its options, what an instance and a turn know. All
 * of it is used on the instance's one thread. */
#ifndef SLACK_H
#define SLACK_H

#include <stdint.h>

#include <turncast/plugin.h>

#include "asked.h"
#include "fetch.h"
#include "grow.h"
#include "progress.h"
#include "question.h"
#include "socket.h"
#include "status.h"
#include "stream.h"
#include "talk.h"
#include "task.h"

struct slack_conf {
    const char *bot_token, *app_token, *signing_secret;
    const char *api_base, *channel, *overflow;
    bool stream, thinking;
};

/* What the service turned out not to have for this app: not tried again until the next start. */
struct latches {
    bool stream, upload, reaction;
};

struct slack_state {
    char user[32], team[32]; /* the bot's own ids; "" until known */
    char error[96];          /* of the last answer: a verdict's reason outlives the callback */
    char refusal[160];       /* the same, where it is the token that is refused */
    char challenge[512];     /* of the last url_verification */
    bool locked_out;         /* the token is refused, and that has been told */
    struct latches off;
    enum status_way status_way;
    bool status_proven; /* that way worked once */
    int64_t stops_ms;   /* until then Slack's limit of ended streams is spoken for */
    struct socket socket;
    struct fetch fetches[FETCH_MAX];
    struct recent recent;
    struct talks talks;
    struct slack_asked asked;
    bool forged; /* a press that no message of ours offers was told of */
};

/* Where a turn is shown. The strings are the turn's. */
struct route {
    const char *channel; /* NULL: nowhere */
    const char *thread;  /* NULL: the turn did not begin in Slack; only its outcome is shown */
    const char *ts, *user, *team;
    const char *lane;
};

/* The newest narration. It may become the answer, if nothing else follows. */
struct segment {
    struct text text;
    char message_id[64];
    size_t told; /* so much was given to the stream */
    bool over;   /* something else followed */
};

enum surface { SURFACE_STREAM, SURFACE_EDIT, SURFACE_NONE };

/* What is known of a turn; zeroed by the host, so all of it is lost in a restart. */
struct cast {
    bool begun;     /* on_start came to this process */
    bool over;      /* the outcome is sent: nothing live any more */
    bool told_loss; /* that an answer could not be delivered */
    enum surface surface;
    struct route route;
    int64_t begin_ms, event_ms, wake_ms, beat_ms; /* see pulse_now */
    struct segment segment;
    struct tasks tasks;
    struct slack_stream stream;
    struct progress progress;
    struct status status;
    struct questions questions;
};

static inline struct slack_state *state_of(struct tc_turn *turn)
{
    return turn->inst->state;
}

static inline struct cast *cast_of(struct tc_turn *turn)
{
    return turn->state;
}

#endif
