/* SPDX-License-Identifier: MIT
 * Where the cli connector writes: a buffered descriptor that knows its line and what it can show.
 * Text of an agent goes through term_text only. */
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
    bool cursor;       /* lines can be overwritten */
    bool ascii;        /* the locale says that it shows nothing else */
    unsigned columns;  /* 0: no limit */
    unsigned column;   /* where the cursor is in its line, from 0 */
    const void *owner; /* whose unfinished line it is; only compared */
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
void term_look(struct term *t, const char *look);
void term_newline(struct term *t);
/* A newline unless the line is empty. */
void term_break(struct term *t);
/* Goes back to the begin of the line and clears it. */
void term_rewind(struct term *t);
/* Text of the agent; every line of it begins with `margin` (ASCII or a symbol, 2 columns) if
 * that is not NULL. */
void term_text(struct term *t, const char *s, size_t n, const char *margin);
/* The same on one line: newlines and tabs are spaces; at most `limit` columns (0: any), cut with
 * an ellipsis. */
void term_phrase(struct term *t, const char *s, size_t n, unsigned limit);
/* Columns that term_phrase would take without a limit, counted up to `most`. */
unsigned term_measure_phrase(const struct term *t, const char *s, size_t n, unsigned most);
/* 0, or -1: something could not be written since the last flush; errno says why. */
int term_flush(struct term *t);

#endif
