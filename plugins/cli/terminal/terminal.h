/* SPDX-License-Identifier: MIT
 * Where the cli connector writes: a buffered descriptor that knows its line and what it can show,
 * and the live region: rows below all else that are drawn again and again. The cursor waits at the
 * first character of the region, so that it is removed by clearing what follows the cursor, however
 * the window was resized meanwhile. Text of an agent goes through term_text, term_phrase and
 * term_rendered only. */
#ifndef CLI_TERM_H
#define CLI_TERM_H

#include <stdbool.h>
#include <stddef.h>

/* Looks, as SGR parameters; without colours they do nothing. */
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
    bool ascii;   /* the locale says that it shows nothing else */
    bool links;   /* it knows OSC 8 */
    bool live;    /* rows of the live region are below the cursor */
    bool drawing; /* they are being written */
    unsigned live_rows;
    unsigned columns;  /* 0: no limit */
    unsigned rows;     /* of the window */
    unsigned column;   /* where the cursor is in its line, from 0 */
    unsigned language; /* of the connector's own words: a column of cli_words.def */
    bool failed;
    size_t len;
    char buf[8192];
};

enum term_color { TERM_AUTO, TERM_ALWAYS, TERM_NEVER };

void term_init(struct term *t, int fd, bool tty, enum term_color color);
/* Looks at the window's width again. */
void term_measure(struct term *t);
/* Trusted text of the connector itself, ASCII or one of its own symbols; no newline in it. */
void term_put(struct term *t, const char *s, unsigned width);
/* The same, each character of it one column wide. */
void term_margin(struct term *t, const char *margin);
void term_look(struct term *t, const char *look);
void term_newline(struct term *t);
/* A newline unless the line is empty. */
void term_break(struct term *t);
/* Goes back to the begin of the line and clears it. */
void term_rewind(struct term *t);
/* Text of the agent; every line of it begins with `margin` (ASCII or a symbol, 2 columns) if that
 * is not NULL; where the window is too narrow for a line, it goes on behind a dotted bar. */
void term_text(struct term *t, const char *s, size_t n, const char *margin);
/* The same on one line: newlines and tabs are spaces; at most `limit` columns (0: any), cut with
 * an ellipsis. */
void term_phrase(struct term *t, const char *s, size_t n, unsigned limit);
/* Columns that are left in the line, at least `least`; 0: any number. */
unsigned term_room(const struct term *t, unsigned least);
/* Columns that term_phrase would take without a limit, counted up to `most`. */
unsigned term_measure_phrase(const struct term *t, const char *s, size_t n, unsigned most);
/* Text of tc_pieces in the form TC_TERMINAL: complete lines, each behind `margin` and
 * in that look (each NULL: none). */
void term_rendered(struct term *t, const char *s, size_t n, const char *margin, const char *look);
/* One such line, which is not ended. */
void term_rendered_line(struct term *t, const char *s, size_t n, const char *margin,
                        const char *look);
/* Draws the live region anew: a row begins with each term_live_row, and must be narrower than the
 * window. Anything that is written later removes it. */
void term_live_begin(struct term *t);
void term_live_row(struct term *t);
void term_live_end(struct term *t);
void term_live_hide(struct term *t);
/* The host may draw: its process group is the terminal's, or the terminal is nobody's. */
bool term_is_foreground(const struct term *t);
/* 0, or -1: something could not be written since the last flush; errno says why. */
int term_flush(struct term *t);

#endif
