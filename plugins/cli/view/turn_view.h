/* SPDX-License-Identifier: MIT
 * View of one turn on a terminal: rendered text, tool calls with their edits, to-do lists, the
 * answer and the usage; and the current activity in the live region. Permanent output consists of
 * whole lines. */
#ifndef CLI_VIEW_H
#define CLI_VIEW_H

#include <stdint.h>

#include <turncast/plugin.h>

#include "terminal/terminal.h"
#include "open_calls.h"
#include "text_streams.h"
#include "todo_list.h"

/* Fingerprint of text in pieces, ignoring white space at both ends. */
struct digest {
    uint64_t hash, len;         /* hash up to the last character that is not white space */
    uint64_t hash_now, len_now; /* hash of all */
};

/* The state of a turn, zeroed by the host. */
struct view {
    struct view *next;     /* link in the list of running turns */
    struct tc_turn *turn;  /* NULL: not started */
    int64_t began_ms;      /* by the monotonic clock */
    char message_id[96];   /* text of the agent's narration */
    struct digest message; /* narration of this message was written */
    struct digest segment; /* narration was written since the last tool call */
    struct text_streams text;
    struct call_table calls;
    struct todo_list todo;
    bool thinks;           /* the last text was thinking */
    int64_t input, output; /* tokens of the model calls so far */
    double cost_usd;
    unsigned retries; /* number of reported retries */
    char retry[200];  /* reason of the last one */
};

/* Rich rendering: each function writes the output of its event. */
void view_narration(struct view *v, struct term *t, const struct tc_narration *ev);
void view_thinking(struct view *v, struct term *t, const struct tc_thinking *ev);
void view_message(struct view *v, struct term *t, const struct tc_message *ev);
void view_final(struct view *v, struct term *t, const struct tc_final *ev);
void view_tool_call(struct view *v, struct term *t, const struct tc_tool_call *ev);
void view_tool_result(struct view *v, struct term *t, const struct tc_tool_result *ev);
void view_progress(struct view *v, struct term *t, const struct tc_progress *ev);
void view_request(struct view *v, struct term *t, const struct tc_request *ev);
void view_step(struct view *v, struct term *t, const struct tc_step *ev);
void view_notice(struct view *v, struct term *t, const struct tc_notice *ev);
void view_state(struct view *v, struct term *t, const struct tc_state *ev);
void view_usage(struct view *v, struct term *t, const struct tc_usage *ev);
/* Writes all kept text. */
void view_flush(struct view *v, struct term *t);

/* Updates the counters for the status line and errors; in every mode. */
void view_count_usage(struct view *v, const struct tc_usage *ev);
void view_count_retry(struct view *v, const struct tc_notice *ev);

#endif
