/* SPDX-License-Identifier: MIT
 * State of a running turn as a person sees it: computed from the events, and written as the
 * Markdown of the progress message. Pure. */
#ifndef CHAT_SHOW_CHAT_VIEW_H
#define CHAT_SHOW_CHAT_VIEW_H

#include <turncast/plugin.h>

#include "base/bytes/buf.h"
#include "event/event.h"

#define CHAT_VIEW_LINES 8
#define CHAT_VIEW_ID 80
#define CHAT_VIEW_HEADLINE 240
#define CHAT_VIEW_THINKING 1000

struct chat_view_line {
    char id[CHAT_VIEW_ID], name[64], summary[100];
    enum tc_line_state state;
    int64_t began_ms, took_ms;
};

struct chat_view {
    int64_t began_ms, active_ms; /* monotonic; active_ms: time of the last event */
    enum tc_phase phase;
    bool visible;                /* an event has caused a progress message */
    bool fresh;                  /* the next narration begins a new line */
    unsigned tools;              /* number of all tool calls */
    size_t line_count;           /* number of lines */
    unsigned waiting;            /* open requests */
    int64_t tokens;              /* tokens of the calls so far, or of the turn; -1: unknown */
    double cost_usd;             /* cost of the same; negative: unknown */
    char narrated[CHAT_VIEW_ID]; /* id of the message that was narrated last */
    char headline[CHAT_VIEW_HEADLINE], notice[CHAT_VIEW_HEADLINE];
    char thinking[CHAT_VIEW_THINKING + 4];
    struct chat_view_line lines[CHAT_VIEW_LINES];
};

/* Copies as much text as fits: control characters become blanks, cut between characters, with an
 * ellipsis. */
void chat_view_clip(char *out, size_t cap, const char *text);
/* Fills in the line of a tool call that begins. */
void chat_view_read_call(struct chat_view_line *line, const struct tc_tool_call *ev,
                         int64_t now_ms);
/* Ends the line with the result if it runs and has this id, which is compared as far as the line
 * stores it. False: it is another line. */
bool chat_view_finish_line(struct chat_view_line *line, const char *id,
                           const struct tc_tool_result *ev, int64_t now_ms);

void chat_view_init(struct chat_view *v, int64_t now_ms);
/* Updates the view with an event. thinking: the progress message shows thinking. Returns whether
 * the progress message must change. */
bool chat_view_update(struct chat_view *v, const struct event *ev, int64_t now_ms, bool thinking);
enum tc_phase chat_view_phase(const struct chat_view *v);
/* Returns the structure for connectors. `lines` has CHAT_VIEW_LINES elements and outlives it. */
struct tc_view chat_view_export(const struct chat_view *v, int64_t now_ms, bool thinking,
                                struct tc_tool_line *lines);
/* Markdown of the progress message. */
void chat_view_write(struct buf *out, const struct tc_view *view);
/* Writes one tool call and a line break. */
void chat_view_write_line(struct buf *out, const struct tc_tool_line *line);
/* "Done in 42s · 7 tool calls · 12k tokens". */
void chat_view_write_summary(struct buf *out, const struct chat_view *v, int64_t now_ms);
/* Writes "42s · 7 tool calls · 12k tokens · $0.12" without the parts that are unknown. elapsed_ms:
 * negative if unknown. Contains no characters with a meaning in Markdown. */
void chat_view_write_footer(struct buf *out, const struct chat_view *v, int64_t elapsed_ms);
/* " · 12k tokens" */
void chat_view_write_tokens(struct buf *out, const struct chat_view *v);

#endif
