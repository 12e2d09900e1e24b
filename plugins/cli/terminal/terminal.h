/* SPDX-License-Identifier: MIT
 * Output of the cli connector: a buffered writer that tracks the cursor and knows the terminal's
 * capabilities, and the live region: rows below the other output that are redrawn repeatedly. The
 * cursor waits at the first character of the region, so that it is removed by clearing what follows
 * the cursor, however the window was resized meanwhile. Text of an agent goes through term_text,
 * term_phrase and term_rendered only. */
#ifndef CLI_TERM_H
#define CLI_TERM_H

#include <stdbool.h>
#include <stddef.h>

/* Text styles, as SGR parameters; no effect without colours. */
#define LOOK_PLAIN ""
#define LOOK_DIM "2"
#define LOOK_BOLD "1"
#define LOOK_RED "31"
#define LOOK_GREEN "32"
#define LOOK_YELLOW "33"
#define LOOK_CYAN "36"

struct term {
    int fd;
    bool color;
    bool cursor;  /* lines can be overwritten */
    bool ascii;   /* the locale is not UTF-8 */
    bool links;   /* supports OSC 8 */
    bool live;    /* rows of the live region are below the cursor */
    bool drawing; /* the live region is being drawn */
    unsigned live_rows;
    unsigned columns;  /* columns; 0: no limit */
    unsigned rows;     /* of the window */
    unsigned column;   /* cursor column, from 0 */
    unsigned language; /* language of the connector's own words: a column of cli_words.def */
    bool failed;
    size_t len;
    char buf[8192];
};

enum term_color { TERM_AUTO, TERM_ALWAYS, TERM_NEVER };

void term_init(struct term *t, int fd, bool tty, enum term_color color);
/* Reads the window's width again. */
void term_measure(struct term *t);
/* Trusted text of the connector itself, ASCII or one of its symbols; without a newline. */
void term_put(struct term *t, const char *s, unsigned width);
/* The same; each character is one column wide. */
void term_margin(struct term *t, const char *margin);
void term_look(struct term *t, const char *look);
void term_newline(struct term *t);
/* Writes a newline unless the line is empty. */
void term_break(struct term *t);
/* Returns to the start of the line and clears it. */
void term_rewind(struct term *t);
/* Text of the agent; each of its lines begins with `margin` (ASCII or a symbol, 2 columns) unless
 * NULL; a line that is wider than the window continues behind a dotted bar. */
void term_text(struct term *t, const char *s, size_t n, const char *margin);
/* The same on one line: newlines and tabs become spaces; at most `limit` columns (0: any), cut with
 * an ellipsis. */
void term_phrase(struct term *t, const char *s, size_t n, unsigned limit);
/* Remaining columns in the line, at least `least`; 0: unlimited. */
unsigned term_room(const struct term *t, unsigned least);
/* Columns that term_phrase would need without a limit, counted up to `most`. */
unsigned term_measure_phrase(const struct term *t, const char *s, size_t n, unsigned most);
/* Text of tc_pieces in the form TC_TERMINAL: complete lines, each behind `margin` and in that style
 * (each may be NULL). */
void term_rendered(struct term *t, const char *s, size_t n, const char *margin, const char *look);
/* One such line, without a newline. */
void term_rendered_line(struct term *t, const char *s, size_t n, const char *margin,
                        const char *look);
/* Redraws the live region: each term_live_row begins a row, which must be narrower than the window.
 * Any later output removes the region. */
void term_live_begin(struct term *t);
void term_live_row(struct term *t);
void term_live_end(struct term *t);
void term_live_hide(struct term *t);
/* Whether the host may draw: its process group is in the foreground, or the terminal controls no
 * group. */
bool term_is_foreground(const struct term *t);
/* 0, or -1: a write has failed since the last flush; errno has the reason. */
int term_flush(struct term *t);

#endif
