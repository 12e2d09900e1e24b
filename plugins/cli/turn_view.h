/* SPDX-License-Identifier: MIT
 * One turn on a terminal: streamed text, tool lines, final, usage. */
#ifndef CLI_VIEW_H
#define CLI_VIEW_H

#include <stdint.h>

#include <turncast/plugin.h>

#include "call_preview.h"
#include "terminal/terminal.h"

/* What the cursor stands behind. */
enum block { BLOCK_NONE, BLOCK_NARRATION, BLOCK_THINKING, BLOCK_CHIP };

/* Fingerprint of text that came in pieces, white space at both ends left out. */
struct digest {
    uint64_t hash, len;         /* of all up to the last character that is no white space */
    uint64_t hash_now, len_now; /* of all */
};

/* A tool call without its result. */
struct turn_view_call {
    char id[96]; /* "": free; a longer one is shortened */
    char name[96];
    char preview[PREVIEW_SIZE];
    double ts;
    uint64_t order;
};

/* The state of a turn, zeroed by the host. */
struct view {
    enum block block;
    char message_id[96];
    struct digest message; /* narration of this message */
    struct digest segment; /* narration since the last tool call */
    char chip[96];         /* id of the call whose unfinished line the cursor is in */
    uint64_t calls;
    struct turn_view_call open[64];
};

/* Rich rendering: each writes to the terminal what the event shows. */
void view_narration(struct view *v, struct term *t, const struct tc_narration *ev);
void view_thinking(struct view *v, struct term *t, const struct tc_thinking *ev);
void view_final(struct view *v, struct term *t, const struct tc_final *ev);
void view_tool_call(struct view *v, struct term *t, const struct tc_tool_call *ev);
void view_tool_result(struct view *v, struct term *t, const struct tc_tool_result *ev);
void view_progress(struct view *v, struct term *t, const struct tc_progress *ev);
void view_request(struct view *v, struct term *t, const struct tc_request *ev);
void view_step(struct view *v, struct term *t, const struct tc_step *ev);
void view_notice(struct view *v, struct term *t, const struct tc_notice *ev);
void view_usage(struct view *v, struct term *t, const struct tc_usage *ev);

/* Remembers a call, and finds it again for its result; NULL: not known. In every mode. */
struct turn_view_call *view_open_call(struct view *v, const struct tc_tool_call *ev);
struct turn_view_call *view_find_call(struct view *v, const char *tool_use_id);
void view_close_call(struct turn_view_call *c);

#endif
