/* SPDX-License-Identifier: MIT
 * Text of an agent and its sub-agents, one stream for each. Text whose rendering is final is
 * written as rendered Markdown; the rest is kept and can be drawn in the live region. So text of
 * several writers is never mixed within a paragraph. */
#ifndef CLI_TEXT_STREAMS_H
#define CLI_TEXT_STREAMS_H

#include <turncast/plugin.h>

#include "terminal/terminal.h"

#define TEXT_STREAMS 6
#define TEXT_STREAM_MAX (256u << 10) /* bytes that are kept before they are written */

struct text_stream {
    bool used, thinking;
    bool begun;      /* part of it is written: a blank line follows */
    char parent[96]; /* call id of the writing sub-agent; "": the agent itself */
    char message[96];
    unsigned depth; /* depth of the sub-agent */
    char *text;     /* memory of the turn */
    size_t len, cap;
    uint64_t order; /* time of the last text */
};

/* A struct of zeros is empty. */
struct text_streams {
    struct text_stream streams[TEXT_STREAMS];
    uint64_t order;
};

struct text_piece_source {
    const char *parent, *message; /* or NULL */
    unsigned depth;
    bool thinking;
};

void text_streams_add(struct text_streams *s, struct term *t, struct tc_turn *turn,
                      const struct text_piece_source *from, const char *text, size_t len);
/* Writes kept text: of that parent ("": the agent itself), or of all (NULL). */
void text_streams_flush(struct text_streams *s, struct term *t, struct tc_turn *turn,
                        const char *parent);
/* Drops the unwritten text of a message. */
void text_streams_drop(struct text_streams *s, const char *message);
/* Draws the last lines of the newest text: at most `rows` rows of the live region. */
void text_streams_draw(const struct text_streams *s, struct term *t, struct tc_turn *turn,
                       unsigned rows);
/* The stream with the newest text, or NULL: nothing is kept. */
const struct text_stream *text_streams_newest(const struct text_streams *s);
/* Writes a whole Markdown text. */
void text_streams_write(struct term *t, struct tc_turn *turn, const char *markdown, size_t len);
/* Writes the start of a line at that depth. */
void text_streams_margin(char out[64], const struct term *t, unsigned depth, bool thinking);

#endif
