/* SPDX-License-Identifier: MIT
 * The tool calls, the thinking and the silences of a turn, as the cards Slack has for tasks. */
#ifndef SLACK_TASK_H
#define SLACK_TASK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include <turncast/plugin.h>

#define TASKS_MAX 64
#define TASK_THINKING 240 /* bytes of thinking in one card: a field holds 256 characters */

enum task_state { TASK_FREE, TASK_RUNNING, TASK_COMPLETE, TASK_ERROR };

struct slack_task {
    enum task_state state;
    char id[80];
    char title[160]; /* fit for Slack */
    char *details;   /* of the turn, or NULL; as it came */
    size_t details_len;
    int64_t begin_ms, took_ms; /* took: negative while it runs or when not known */
    uint64_t order;
    unsigned shown_in; /* number of the message that has its card; 0: none */
    size_t counted;    /* of its size, in that message */
    size_t told;       /* of the details, in that message: Slack appends what it gets */
    size_t sending;    /* of the details, with the request under way */
    bool waiting;      /* it stands in a batch */
};

struct tasks {
    struct slack_task list[TASKS_MAX];
    uint64_t count;
};

/* Each gives the card that has to be shown (again), or NULL: nothing changed. */
struct slack_task *task_call(struct tc_turn *turn, const struct tc_tool_call *ev);
struct slack_task *task_result(struct tc_turn *turn, const struct tc_tool_result *ev);
struct slack_task *task_thinking(struct tc_turn *turn, const struct tc_thinking *ev);
/* Thinking, or a silence, is over. */
struct slack_task *task_settle(struct tc_turn *turn);
/* Nothing was heard for a while and nothing runs. */
struct slack_task *task_silence(struct tc_turn *turn);
/* What it takes of a message. */
size_t task_size(const struct slack_task *t);
bool task_is_running(const struct tasks *t);
/* The oldest first; NULL: no further. */
struct slack_task *task_after(struct tasks *t, const struct slack_task *previous);

/* As a task_update chunk, with the details that its message does not have; a running one as `left`
 * when it is not NULL, without them. */
json_t *task_chunk(struct tc_turn *turn, const struct slack_task *t, const char *left);
/* As a line of mrkdwn. Of the callback. */
const char *task_line(struct tc_turn *turn, const struct slack_task *t);

#endif
