/* SPDX-License-Identifier: MIT
 * Line editor with a few editing keys, and a visible part for long lines. */
#include "input_line.h"

#include <stdio.h>
#include <string.h>

#define ROOM 12u /* minimum columns for input, unless the window is tiny */
#define KEY_BACKSPACE '\b'
#define KEY_CLEAR 0x15 /* ctrl-U */
#define KEY_ESCAPE 0x1b
#define KEY_DELETE 0x7f

void prompt_clear(struct prompt *p)
{
    memset(p->text, 0, sizeof p->text); /* clears a possible secret */
    p->len = 0;
}

void prompt_set(struct prompt *p, const char *label, bool secret)
{
    snprintf(p->label, sizeof p->label, "%s", label);
    p->secret = secret;
    prompt_clear(p);
}

static bool is_inner(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Start of the longest suffix of the text that fits. */
static size_t find_tail(const struct prompt *p, const struct term *t, unsigned room)
{
    size_t at = 0;
    while (at < p->len && term_measure_phrase(t, p->text + at, p->len - at, room) > room)
        for (at++; at < p->len && is_inner(p->text[at]);)
            at++;
    return at;
}

static void put_text(const struct prompt *p, struct term *t)
{
    const unsigned room = t->columns > t->column + 1 ? t->columns - t->column - 1 : 1;
    if (p->secret) {
        for (size_t i = 0; i < p->len && (t->columns == 0 || i < room); i++)
            if (!is_inner(p->text[i]))
                term_put(t, "*", 1);
        return;
    }
    const size_t from = t->columns ? find_tail(p, t, room) : 0;
    term_phrase(t, p->text + from, p->len - from, 0);
}

void prompt_draw(struct prompt *p, struct term *t)
{
    if (p->drawn && t->cursor)
        term_rewind(t);
    else
        term_break(t);
    term_measure(t);
    term_look(t, LOOK_YELLOW);
    term_phrase(t, p->label, strlen(p->label),
                t->columns > 2 * ROOM ? t->columns - ROOM : t->columns);
    term_look(t, LOOK_PLAIN);
    put_text(p, t);
    p->drawn = true;
}

void prompt_hide(struct prompt *p, struct term *t)
{
    if (p->drawn && t->cursor)
        term_rewind(t);
    prompt_leave(p, t);
}

void prompt_leave(struct prompt *p, struct term *t)
{
    if (p->drawn)
        term_break(t);
    p->drawn = false;
}

static void drop_last(struct prompt *p)
{
    while (p->len > 0 && is_inner(p->text[p->len - 1]))
        p->text[--p->len] = '\0';
    if (p->len > 0)
        p->text[--p->len] = '\0';
}

enum prompt_key prompt_type(struct prompt *p, char key)
{
    const unsigned char c = (unsigned char)key;
    if (c == '\n' || c == '\r')
        return PROMPT_ENTER;
    if (c == KEY_ESCAPE)
        return PROMPT_ESCAPE;
    if (c == KEY_BACKSPACE || c == KEY_DELETE)
        drop_last(p);
    else if (c == KEY_CLEAR)
        prompt_clear(p);
    else if (c >= 0x20 && p->len + 1 < sizeof p->text)
        p->text[p->len++] = key;
    return PROMPT_MORE;
}
