/* SPDX-License-Identifier: MIT
 * Decides when the live region is drawn, and formats its last line. */
#include "status_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "call_line.h"
#include "terminal/cli_words.h"

#define CALLS_SHOWN 4
#define TEXT_ROWS 12
#define ROWS_LEFT 4 /* rows of the window left for other output */

static const char *const frames[] = {"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"};
static const char *const ascii_frames[] = {"|", "/", "-", "\\"};

static const char *spinner(struct status_line *s, const struct term *t)
{
    s->frame++;
    return t->ascii ? ascii_frames[s->frame % 4] : frames[s->frame % 10];
}

/* 12s, 3m05s, 1h02m: without fractions, which would flicker. */
static void format_elapsed(char out[32], int64_t ms)
{
    const int64_t s = ms > 0 ? ms / 1000 : 0;
    if (s < 60)
        snprintf(out, 32, "%" PRId64 "s", s);
    else if (s < 3600)
        snprintf(out, 32, "%" PRId64 "m%02" PRId64 "s", s / 60, s % 60);
    else
        snprintf(out, 32, "%" PRId64 "h%02" PRId64 "m", s / 3600, s / 60 % 60);
}

static void format_tokens(char out[32], const struct term *t, int64_t n)
{
    if (n < 10000)
        snprintf(out, 32, "%" PRId64, n);
    else if (n < 1000000)
        snprintf(out, 32, "%.1fk", (double)n / 1000);
    else
        snprintf(out, 32, "%.1fM", (double)n / 1000000);
    cli_words_set_decimal(t, out);
}

/* A running call, with its duration. */
static void draw_call(struct term *t, const struct open_call *c, int64_t now_ms)
{
    char margin[64], elapsed[32];
    struct call_line line = call_line_running;
    format_elapsed(elapsed, now_ms - c->began_ms);
    line.name = c->name;
    line.preview = c->preview;
    line.note = elapsed;
    text_streams_margin(margin, t, c->depth, false);
    term_live_row(t);
    term_margin(t, margin);
    call_line_put(t, &line, t->columns - 1);
}

/* In the order of their start; the last ones, if there are many. */
static void draw_calls(struct term *t, const struct call_table *o, int64_t now_ms, unsigned most)
{
    uint64_t after = 0;
    unsigned open = 0, skipped = 0;
    open_calls_newest(o, &open);
    for (;;) {
        const struct open_call *next = NULL;
        for (size_t i = 0; i < OPEN_CALLS; i++) {
            const struct open_call *const c = &o->calls[i];
            if (c->id[0] && c->order > after && (!next || c->order < next->order))
                next = c;
        }
        if (!next)
            return;
        after = next->order;
        if (open > most && skipped < open - most)
            skipped++;
        else
            draw_call(t, next, now_ms);
    }
}

/* The current activity. */
static void describe(char out[64], const struct term *t, const struct view *v)
{
    unsigned open = 0;
    open_calls_newest(&v->calls, &open);
    const struct text_stream *const text = text_streams_newest(&v->text);
    if (open == 1)
        snprintf(out, 64, "%s", cli_word(t, CLI_WORD_RUNNING_TOOL));
    else if (open > 1)
        snprintf(out, 64, "%s: %u", cli_word(t, CLI_WORD_RUNNING_TOOLS), open);
    else if (text)
        snprintf(out, 64, "%s", cli_word(t, text->thinking ? CLI_WORD_THINKING : CLI_WORD_WRITING));
    else
        snprintf(out, 64, "%s", cli_word(t, CLI_WORD_MODEL));
}

static void add_part(struct term *t, const char *text, unsigned room)
{
    const unsigned width = term_measure_phrase(t, text, strlen(text), room) + 3;
    if (t->column + width > room)
        return;
    term_put(t, t->ascii ? " - " : " · ", 3);
    term_put(t, text, width - 3);
}

static void draw_status(struct status_line *s, struct term *t, const struct view *v, int64_t now_ms)
{
    const unsigned room = t->columns - 1;
    char text[64], number[32];
    term_live_row(t);
    term_look(t, LOOK_CYAN);
    term_put(t, spinner(s, t), 1);
    term_look(t, LOOK_DIM);
    term_put(t, " ", 1);
    format_elapsed(number, now_ms - v->began_ms);
    const unsigned time = (unsigned)strlen(number) + 3;
    describe(text, t, v);
    const char *const what = v->todo.active[0] ? v->todo.active : text;
    term_phrase(t, what, strlen(what), room > t->column + time ? room - t->column - time : 1);
    add_part(t, number, room);
    if (v->todo.count > 0) {
        snprintf(text, sizeof text, "%zu/%zu", v->todo.done, v->todo.count);
        add_part(t, text, room);
    }
    if (v->input + v->output > 0) {
        format_tokens(number, t, v->input + v->output);
        snprintf(text, sizeof text, "%s %s", number, cli_word(t, CLI_WORD_TOKENS));
        add_part(t, text, room);
    }
    if (v->cost_usd > 0) {
        cli_words_format_cost(number, t, v->cost_usd);
        add_part(t, number, room);
    }
    if (v->next)
        add_part(t, cli_word(t, CLI_WORD_OTHER_TURNS), room);
    term_look(t, LOOK_PLAIN);
}

void status_line_draw(struct status_line *s, struct term *t, const struct view *turns)
{
    const int64_t now_ms = open_calls_now_ms();
    if (!turns || !t->cursor || (s->drawn_ms && now_ms - s->drawn_ms < STATUS_EVERY_MS) ||
        !term_is_foreground(t))
        return;
    s->drawn_ms = now_ms;
    term_measure(t);
    const unsigned rows = t->rows > ROWS_LEFT ? t->rows - ROWS_LEFT : 0;
    const unsigned calls = rows < CALLS_SHOWN ? rows : CALLS_SHOWN;
    term_live_begin(t);
    text_streams_draw(&turns->text, t, turns->turn,
                      rows < TEXT_ROWS + calls ? rows - calls : TEXT_ROWS);
    draw_calls(t, &turns->calls, now_ms, calls);
    draw_status(s, t, turns, now_ms);
    term_live_end(t);
}
