/* SPDX-License-Identifier: MIT
 * Lines of native streams: the tool calls, the thinking and the silences of a turn. Each line has
 * an id, so that a stream can get its new state. Pure. */
#ifndef CHAT_STREAM_CHAT_LINES_H
#define CHAT_STREAM_CHAT_LINES_H

#include <turncast/plugin.h>

#include "base/arena.h"
#include "chat/show/chat_view.h"

#define CHAT_LINES_MAX 64
#define CHAT_LINE_DETAIL ((size_t)240) /* bytes */

enum chat_line_kind { CHAT_LINE_CALL, CHAT_LINE_THINKING, CHAT_LINE_SILENCE };

struct chat_line {
    struct chat_view_line is;
    enum chat_line_kind kind;
    char detail[CHAT_LINE_DETAIL + 1];
    uint64_t order;    /* number of the line, from 1 */
    unsigned shown_in; /* number of the stream that has the line; 0: none */
    size_t counted;    /* bytes that the line needs in that stream */
    size_t told;       /* bytes of the detail that the stream contains */
    size_t sending;    /* the same, including the request in flight */
    unsigned held;     /* number of batches that contain the line: its place must not be reused */
};

/* An all-zero struct is valid and empty. */
struct chat_lines {
    struct chat_line *list; /* owned */
    size_t count, cap;
    uint64_t begun;
};

void chat_lines_fini(struct chat_lines *l);
/* Each function returns the line that must be shown, or shown again; NULL: nothing has changed.
 * Valid until the next line begins. */
struct chat_line *chat_lines_begin_call(struct chat_lines *l, const struct tc_tool_call *ev,
                                        int64_t now_ms);
struct chat_line *chat_lines_finish(struct chat_lines *l, const struct tc_tool_result *ev,
                                    int64_t now_ms);
struct chat_line *chat_lines_add_thinking(struct chat_lines *l, const char *text, int64_t now_ms);
/* Begins a line for a silence: no event since `since_ms`, and no running line. */
struct chat_line *chat_lines_begin_silence(struct chat_lines *l, int64_t since_ms, bool waiting);
/* Ends a running line of that kind. */
struct chat_line *chat_lines_complete_running(struct chat_lines *l, enum chat_line_kind kind,
                                              int64_t now_ms);

bool chat_lines_has_running(const struct chat_lines *l);
/* Returns the line that began next; previous NULL: the first line. NULL: none. */
struct chat_line *chat_lines_next_shown(struct chat_lines *l, const struct chat_line *previous);
/* Returns the bytes that the line needs in a stream. */
size_t chat_line_size(const struct chat_line *line);

/* Form of a running line in a stream. */
enum chat_line_end {
    CHAT_LINE_RUNS,      /* as running: the stream goes on */
    CHAT_LINE_ENDS,      /* as ended: the stream ends, and the line will not be updated */
    CHAT_LINE_CONTINUES, /* as ended, with a note that the next stream continues it */
};
/* Returns the line for connectors, with the part of the detail that stream `number` does not
 * contain. Strings are in the arena, or belong to the line. */
struct tc_tool_line chat_line_export(const struct chat_line *line, unsigned number,
                                     enum chat_line_end end, int64_t now_ms, struct arena *arena);

#endif
