/* SPDX-License-Identifier: MIT
 * Plain progress lines for logs and pipes, independent of a terminal. */
#include "progress_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "request_words.h"

/* "  [progress] " before, after */
static void put_line(struct term *t, const char *look, const char *before, const char *theirs,
                     const char *after)
{
    term_break(t);
    term_look(t, look);
    term_put(t, "  [progress] ", 13);
    term_put(t, before, 1);
    if (theirs)
        term_phrase(t, theirs, strlen(theirs), 0);
    term_put(t, after, 0);
    term_look(t, LOOK_PLAIN);
    term_newline(t);
}

void lines_start(struct term *t, const struct tc_start *ev)
{
    if (ev->task)
        put_line(t, LOOK_DIM, cli_word(t, CLI_WORD_STARTING), ev->task, "");
}

void lines_progress(struct term *t, const struct tc_progress *ev)
{
    char percent[32];
    if (!(ev->percent >= 0))
        return;
    snprintf(percent, sizeof percent, "%.0f%% — ", ev->percent > 1e9 ? 1e9 : ev->percent);
    put_line(t, LOOK_DIM, percent, ev->message, "");
}

void lines_tool_call(struct term *t, const char *name)
{
    put_line(t, LOOK_DIM, cli_word(t, CLI_WORD_TOOL), name, "...");
}

void lines_tool_result(struct term *t, const char *name, bool is_error)
{
    put_line(t, LOOK_DIM, cli_word(t, CLI_WORD_TOOL), name,
             cli_word(t, is_error ? CLI_WORD_TOOL_ERROR : CLI_WORD_TOOL_OK));
}

void lines_step(struct term *t, const struct tc_step *ev)
{
    char text[64];
    const char *const word = cli_word(t, CLI_WORD_ITERATION);
    if (strcmp(ev->state, "start") != 0 || (ev->kind && strcmp(ev->kind, "step") != 0) ||
        ev->index < 0)
        return;
    if (ev->max >= 0)
        snprintf(text, sizeof text, "%s %" PRId64 "/%" PRId64, word, ev->index + 1, ev->max);
    else
        snprintf(text, sizeof text, "%s %" PRId64, word, ev->index + 1);
    put_line(t, LOOK_DIM, text, NULL, "");
}

/* A reader of the log cannot answer here, but may learn where to answer. */
void lines_request(struct term *t, const struct tc_request *ev)
{
    char text[64];
    if (strcmp(ev->state, "open") == 0) {
        put_line(t, LOOK_YELLOW, cli_word(t, CLI_WORD_WAITING),
                 ev->preview   ? ev->preview
                 : ev->subject ? ev->subject
                 : ev->tool    ? ev->tool
                               : request_title(t, ev->kind),
                 "");
        return;
    }
    snprintf(text, sizeof text, "%s%s", cli_word(t, CLI_WORD_DECIDED), request_outcome(t, ev));
    put_line(t, LOOK_YELLOW, text, request_person(ev), "");
}

/* Warnings and errors that do not end the turn; retries of any level. */
void lines_notice(struct term *t, const struct tc_notice *ev)
{
    const bool info = strcmp(ev->level, "info") == 0;
    const bool retry = ev->code && strstr(ev->code, "retr") && strcmp(ev->code, "retracted") != 0;
    if (retry)
        put_line(t, LOOK_YELLOW, cli_word(t, CLI_WORD_RETRY), ev->text, "");
    else if (!info)
        put_line(t, LOOK_YELLOW, cli_word(t, CLI_WORD_WARNING), ev->text, "");
}

void lines_error(struct term *t, const struct tc_error *ev, unsigned retries, const char *last)
{
    char text[64] = "";
    if (retries > 0 && !strstr(ev->message, "attempt"))
        snprintf(text, sizeof text, " (%s: %u)", cli_word(t, CLI_WORD_ATTEMPTS), retries + 1);
    put_line(t, LOOK_RED, cli_word(t, CLI_WORD_ERROR), ev->message, text);
    if (retries > 0)
        put_line(t, LOOK_RED, cli_word(t, CLI_WORD_LAST_RETRY), last, "");
}

/* CLIReporter has a line for success only; other ends are named. An error had its line already. */
void lines_done(struct term *t, const struct tc_done *ev)
{
    char text[64];
    const char *const complete = cli_word(t, CLI_WORD_COMPLETE);
    if (strcmp(ev->reason, "error") == 0 || strcmp(ev->reason, "lost") == 0)
        return;
    if (strcmp(ev->reason, "completed") != 0) {
        put_line(t, LOOK_YELLOW, complete, ev->reason, "");
        return;
    }
    if (ev->turns >= 0)
        snprintf(text, sizeof text, "%s %" PRId64 " %s", cli_word(t, CLI_WORD_FINISHED_AFTER),
                 ev->turns,
                 cli_word(t, ev->turns == 1 ? CLI_WORD_ONE_ITERATION : CLI_WORD_ITERATIONS));
    else
        snprintf(text, sizeof text, "%s", cli_word(t, CLI_WORD_FINISHED));
    put_line(t, LOOK_DIM, complete, ev->detail ? ev->detail : text, "");
}
