/* SPDX-License-Identifier: MIT
 * Progress as plain lines, for logs and pipes; nothing of them depends on a terminal. */
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
        put_line(t, LOOK_DIM, "Starting: ", ev->task, "");
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
    put_line(t, LOOK_DIM, "Tool: ", name, "...");
}

void lines_tool_result(struct term *t, const char *name, bool is_error)
{
    put_line(t, LOOK_DIM, "Tool: ", name, is_error ? " done — error" : " done — ok");
}

void lines_step(struct term *t, const struct tc_step *ev)
{
    char text[64];
    if (strcmp(ev->state, "start") != 0 || (ev->kind && strcmp(ev->kind, "step") != 0) ||
        ev->index < 0)
        return;
    if (ev->max >= 0)
        snprintf(text, sizeof text, "Iteration %" PRId64 "/%" PRId64, ev->index + 1, ev->max);
    else
        snprintf(text, sizeof text, "Iteration %" PRId64, ev->index + 1);
    put_line(t, LOOK_DIM, text, NULL, "");
}

/* A reader of the log cannot answer there, but may know where to answer. */
void lines_request(struct term *t, const struct tc_request *ev)
{
    char text[64];
    if (strcmp(ev->state, "open") == 0) {
        put_line(t, LOOK_YELLOW, "Waiting for an answer: ",
                 ev->preview   ? ev->preview
                 : ev->subject ? ev->subject
                 : ev->tool    ? ev->tool
                               : request_title(ev->kind),
                 "");
        return;
    }
    snprintf(text, sizeof text, "Decided: %s", request_outcome(ev));
    put_line(t, LOOK_YELLOW, text, request_person(ev), "");
}

/* Warnings and errors that do not end the turn; retries, whatever their level. */
void lines_notice(struct term *t, const struct tc_notice *ev)
{
    const bool info = strcmp(ev->level, "info") == 0;
    const bool retry = ev->code && strstr(ev->code, "retr") && strcmp(ev->code, "retracted") != 0;
    if (retry)
        put_line(t, LOOK_YELLOW, "Retry: ", ev->text, "");
    else if (!info)
        put_line(t, LOOK_YELLOW, "Warning: ", ev->text, "");
}

void lines_error(struct term *t, const struct tc_error *ev, unsigned retries, const char *last)
{
    char text[64] = "";
    if (retries > 0 && !strstr(ev->message, "attempt"))
        snprintf(text, sizeof text, " (attempts: %u)", retries + 1);
    put_line(t, LOOK_RED, "Error: ", ev->message, text);
    if (retries > 0)
        put_line(t, LOOK_RED, "Last retry: ", last, "");
}

/* The CLIReporter knows success only; the other ends are named as they are. An error has had its
 * line. */
void lines_done(struct term *t, const struct tc_done *ev)
{
    char text[64] = "finished";
    if (strcmp(ev->reason, "error") == 0 || strcmp(ev->reason, "lost") == 0)
        return;
    if (strcmp(ev->reason, "completed") != 0) {
        put_line(t, LOOK_YELLOW, "Complete: ", ev->reason, "");
        return;
    }
    if (ev->turns >= 0)
        snprintf(text, sizeof text, "finished after %" PRId64 " iteration(s)", ev->turns);
    put_line(t, LOOK_DIM, "Complete: ", ev->detail ? ev->detail : text, "");
}
