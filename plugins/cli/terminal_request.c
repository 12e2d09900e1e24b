/* SPDX-License-Identifier: MIT
 * Layout of a request on the terminal: each line of the agent's text begins with a bar. */
#include "terminal_request.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "request_words.h"
#include "view/edit_diff.h"

#define DIFF_LINES_MAX 200 /* lines of a requested edit */

static const char *terminal_request_copy_text(struct tc_turn *turn, const char *text)
{
    return text ? tc_keep(turn, text) : NULL;
}

/* Whether the places of the request name this instance, or its only chat, "terminal". */
static bool terminal_request_is_for_terminal(const struct tc_turn *turn,
                                             const struct tc_request *ev)
{
    const char *const name = turn->inst->name;
    const size_t len = strlen(name);
    json_t *const places = ev->to ? json_loads(ev->to, 0, NULL) : NULL;
    size_t i;
    const json_t *one;
    bool here = !places;
    json_array_foreach(places, i, one)
    {
        const char *const place = json_string_value(one);
        here |= place && strncmp(place, name, len) == 0 &&
                (!place[len] || strcmp(place + len, ":terminal") == 0);
    }
    json_decref(places);
    return here;
}

struct terminal_request *terminal_request_new(struct tc_turn *turn, const struct tc_request *ev)
{
    const char *const ticket =
        terminal_request_is_for_terminal(turn, ev) ? tc_ticket(turn, ev->request_id) : NULL;
    struct terminal_request *const r = ticket ? tc_alloc(turn, sizeof *r) : NULL;
    if (!r)
        return NULL;
    *r = (struct terminal_request){
        .turn = turn,
        .id = terminal_request_copy_text(turn, ev->request_id),
        .ticket = terminal_request_copy_text(turn, ticket),
        .kind = terminal_request_copy_text(turn, ev->kind),
        .choices = terminal_request_copy_text(turn, ev->choices),
        .tool = terminal_request_copy_text(turn, ev->tool),
        .preview = terminal_request_copy_text(turn, ev->preview),
        .subject = terminal_request_copy_text(turn, ev->subject),
        .args = terminal_request_copy_text(turn, ev->args),
        .reason = terminal_request_copy_text(turn, ev->reason),
        .message = terminal_request_copy_text(turn, ev->message),
        .questions = terminal_request_copy_text(turn, ev->questions),
        .expires_ms = ev->expires_ms,
    };
    return r->id && r->ticket && r->kind && r->choices ? r : NULL;
}

bool terminal_request_offers(const struct terminal_request *r, const char *choice)
{
    json_t *const all = json_loads(r->choices, 0, NULL);
    size_t i;
    const json_t *one;
    bool found = false;
    json_array_foreach(all, i, one)
    {
        const char *const id = json_string_value(json_object_get(one, "id"));
        found |= id && strcmp(id, choice) == 0;
    }
    json_decref(all);
    return found;
}

/* ---- output ---- */

static void put_theirs(struct term *t, const char *look, const char *text)
{
    if (!text || !*text)
        return;
    term_break(t);
    term_look(t, look);
    term_text(t, text, strlen(text), t->ascii ? "| " : "│ ");
    term_look(t, LOOK_PLAIN);
    term_break(t);
}

static void put_time_left(struct term *t, int64_t expires_ms)
{
    char text[64];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const int64_t left_s = expires_ms / 1000 - now.tv_sec;
    if (expires_ms <= 0 || left_s <= 0)
        return;
    if (left_s >= 120)
        snprintf(text, sizeof text, " (%" PRId64 " %s)", left_s / 60,
                 cli_word(t, CLI_WORD_MINUTES_LEFT));
    else
        snprintf(text, sizeof text, " (%" PRId64 " %s)", left_s,
                 cli_word(t, CLI_WORD_SECONDS_LEFT));
    term_margin(t, text);
}

/* The whole call. Of an edit the lines that change: instead of the preview if path and lines are
 * all there is to the call, else below it. A long one is left to the preview, which counts runs of
 * blank lines, so that nothing is scrolled out of sight by them. */
static void put_call(const struct terminal_request *r, struct term *t)
{
    struct edit_diff diff = {0};
    const bool edits = edit_diff_from_args(&diff, r->args) && diff.added + diff.removed > 0 &&
                       diff.lines <= DIFF_LINES_MAX;
    const bool whole = edits && edit_diff_is_whole(r->args, r->subject);
    const char *const text = r->preview && !whole ? r->preview : r->subject;
    put_theirs(t, LOOK_BOLD, text ? text : r->questions || edits ? NULL : r->args);
    if (edits)
        edit_diff_put(&diff, t, t->ascii ? "| " : "│ ", SIZE_MAX);
    edit_diff_fini(&diff);
}

void terminal_request_put(const struct terminal_request *r, struct term *t)
{
    term_break(t);
    term_look(t, LOOK_YELLOW);
    const char *const title = request_title(t, r->kind);
    term_put(t, "? ", 2);
    term_margin(t, title);
    if (r->tool && strcmp(r->kind, "approval") == 0) {
        term_put(t, ": ", 2);
        term_phrase(t, r->tool, strlen(r->tool), 200);
    }
    put_time_left(t, r->expires_ms);
    term_look(t, LOOK_PLAIN);
    term_newline(t);
    put_call(r, t);
    put_theirs(t, LOOK_DIM, r->reason);
    put_theirs(t, LOOK_PLAIN, r->message);
}

static const char *text_of(const json_t *o, const char *key)
{
    const char *const text = json_string_value(json_object_get(o, key));
    return text && *text ? text : NULL;
}

/* An option is an object with a label, or the label alone. */
static const char *label_of(const json_t *option)
{
    return json_is_string(option) ? json_string_value(option) : text_of(option, "label");
}

const char *terminal_request_option(const json_t *question, size_t number)
{
    const json_t *const options = json_object_get(question, "options");
    return number > 0 ? label_of(json_array_get(options, number - 1)) : NULL;
}

static void put_option(struct term *t, size_t number, const json_t *option)
{
    char text[32];
    const char *const label = label_of(option), *const more = text_of(option, "description");
    const int n = snprintf(text, sizeof text, "  %zu) ", number);
    term_look(t, LOOK_CYAN);
    term_put(t, text, (unsigned)n);
    term_look(t, LOOK_PLAIN);
    if (label)
        term_phrase(t, label, strlen(label), 0);
    if (more) {
        term_look(t, LOOK_DIM);
        term_put(t, " - ", 3);
        term_phrase(t, more, strlen(more), 0);
        term_look(t, LOOK_PLAIN);
    }
    term_newline(t);
}

void terminal_request_put_question(const json_t *question, struct term *t)
{
    size_t i;
    const json_t *option;
    put_theirs(t, LOOK_DIM, text_of(question, "header"));
    put_theirs(t, LOOK_BOLD, text_of(question, "prompt"));
    json_array_foreach(json_object_get(question, "options"), i, option)
    {
        put_option(t, i + 1, option);
    }
}
