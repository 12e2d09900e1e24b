/* SPDX-License-Identifier: MIT
 * Orders the output of a turn. */
#include "turn_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "request_words.h"
#include "call_line.h"
#include "edit_diff.h"
#include "terminal/cli_words.h"

#define EDIT_LINES 16 /* lines of an applied edit */

static void digest_add(struct digest *d, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const bool space = strchr(" \t\r\n", s[i]);
        if (space && d->len_now == 0)
            continue;
        if (d->len_now == 0)
            d->hash_now = 0xcbf29ce484222325u;
        d->hash_now = (d->hash_now ^ (unsigned char)s[i]) * 0x100000001b3u;
        d->len_now++;
        if (!space) {
            d->hash = d->hash_now;
            d->len = d->len_now;
        }
    }
}

static bool digest_equal(const struct digest *a, const struct digest *b)
{
    return a->len == b->len && a->hash == b->hash;
}

void view_flush(struct view *v, struct term *t)
{
    text_streams_flush(&v->text, t, v->turn, NULL);
}

/* ---- text ---- */

/* The call of a sub-agent has a line above the sub-agent's output. */
static void announce(struct view *v, struct term *t, const char *parent_id)
{
    char margin[64];
    struct open_call *const c = parent_id ? open_calls_find(&v->calls, parent_id) : NULL;
    if (!c || c->announced)
        return;
    c->announced = true;
    announce(v, t, c->parent[0] ? c->parent : NULL);
    text_streams_flush(&v->text, t, v->turn, c->parent);
    struct call_line line = call_line_running;
    line.name = c->name;
    line.preview = c->preview;
    text_streams_margin(margin, t, c->depth, false);
    term_margin(t, margin);
    call_line_put(t, &line, t->columns);
    term_newline(t);
}

static void add_text(struct view *v, struct term *t, const struct tc_meta *meta,
                     const char *message, bool thinking, const char *text, size_t len)
{
    announce(v, t, meta->parent_id);
    v->thinks = thinking;
    text_streams_add(
        &v->text, t, v->turn,
        &(struct text_piece_source){.parent = meta->parent_id,
                                    .message = message,
                                    .depth = open_calls_depth(&v->calls, meta->parent_id),
                                    .thinking = thinking},
        text, len);
}

void view_narration(struct view *v, struct term *t, const struct tc_narration *ev)
{
    const char *id = ev->message_id ? ev->message_id : "";
    if (!ev->meta->parent_id) {
        if (strncmp(id, v->message_id, sizeof v->message_id - 1) != 0) {
            snprintf(v->message_id, sizeof v->message_id, "%s", id);
            v->message = (struct digest){0};
        }
        digest_add(&v->message, ev->text, ev->text_len);
        digest_add(&v->segment, ev->text, ev->text_len);
    }
    add_text(v, t, ev->meta, ev->message_id, false, ev->text, ev->text_len);
}

void view_thinking(struct view *v, struct term *t, const struct tc_thinking *ev)
{
    add_text(v, t, ev->meta, ev->message_id, true, ev->text, ev->text_len);
}

void view_message(struct view *v, struct term *t, const struct tc_message *ev)
{
    text_streams_flush(&v->text, t, v->turn, ev->meta->parent_id ? ev->meta->parent_id : "");
}

/* The answer, unless it equals the last narration. */
void view_final(struct view *v, struct term *t, const struct tc_final *ev)
{
    struct digest answer = {0};
    digest_add(&answer, ev->text, ev->text_len);
    view_flush(v, t);
    if (answer.len > 0 && !digest_equal(&answer, &v->message) &&
        !digest_equal(&answer, &v->segment))
        text_streams_write(t, v->turn, ev->text, ev->text_len);
}

/* ---- tool calls ---- */

void view_tool_call(struct view *v, struct term *t, const struct tc_tool_call *ev)
{
    char margin[64];
    announce(v, t, ev->meta->parent_id);
    text_streams_flush(&v->text, t, v->turn, ev->meta->parent_id ? ev->meta->parent_id : "");
    struct open_call *const c = open_calls_add(&v->calls, v->turn, ev);
    if (!ev->meta->parent_id)
        v->segment = (struct digest){0};
    text_streams_margin(margin, t, c->depth, false);
    c->quiet = todo_list_from_call(&v->todo, t, margin, ev);
    if (t->cursor || c->quiet)
        return; /* the live region shows the running call */
    struct call_line line = call_line_running;
    line.name = c->name;
    line.preview = c->preview;
    c->announced = true;
    term_margin(t, margin);
    call_line_put(t, &line, t->columns);
    term_newline(t);
}

static void put_failure(struct term *t, const struct tc_tool_result *ev, const char *margin)
{
    size_t from = 0;
    while (from < ev->content_len && strchr(" \t\r\n", ev->content[from]))
        from++;
    const char *end = memchr(ev->content + from, '\n', ev->content_len - from);
    const size_t n = end ? (size_t)(end - ev->content) - from : ev->content_len - from;
    if (n == 0)
        return;
    term_margin(t, margin);
    term_look(t, LOOK_DIM);
    term_put(t, "  ", 2);
    term_phrase(t, ev->content + from, n, t->columns ? term_room(t, 8) : 200);
    term_look(t, LOOK_PLAIN);
    term_newline(t);
}

struct ended_call {
    const char *name, *preview;
    char note[80];
    unsigned depth;
    bool quiet;
    struct edit_diff diff;
};

static void turn_view_record_result(const struct term *t, struct ended_call *e,
                                    const struct open_call *c, const struct tc_tool_result *ev)
{
    char elapsed[32];
    preview_elapsed(elapsed, ev->duration_ms >= 0 ? ev->duration_ms
                             : c                  ? (ev->meta->ts - c->ts) * 1000
                                                  : -1);
    cli_words_set_decimal(t, elapsed);
    if (!ev->is_error && !edit_diff_from_result(&e->diff, ev) && c && c->edit)
        edit_diff_from_args(&e->diff, c->edit);
    if (e->diff.added + e->diff.removed > 0)
        snprintf(e->note, sizeof e->note, "+%zu -%zu, %s", e->diff.added, e->diff.removed, elapsed);
    else
        snprintf(e->note, sizeof e->note, "%s", elapsed);
}

static void put_result(struct term *t, struct ended_call *e, const struct tc_tool_result *ev)
{
    char margin[64], inner[80];
    struct call_line line = ev->is_error ? call_line_failed : call_line_ok;
    line.name = e->name;
    line.preview = e->preview;
    line.note = e->note;
    text_streams_margin(margin, t, e->depth, false);
    snprintf(inner, sizeof inner, "%s  ", margin);
    term_margin(t, margin);
    call_line_put(t, &line, t->columns);
    term_newline(t);
    if (ev->is_error)
        put_failure(t, ev, margin);
    else if (e->diff.lines > 0)
        edit_diff_put(&e->diff, t, inner, EDIT_LINES);
}

void view_tool_result(struct view *v, struct term *t, const struct tc_tool_result *ev)
{
    struct open_call *c = open_calls_find(&v->calls, ev->tool_use_id);
    struct ended_call e = {.name = c          ? c->name
                                   : ev->name ? ev->name
                                              : "?",
                           .preview = c ? c->preview : "",
                           .depth = c ? c->depth : 0,
                           .quiet = c && c->quiet && !ev->is_error};
    text_streams_flush(&v->text, t, v->turn, ev->tool_use_id);
    text_streams_flush(&v->text, t, v->turn, c ? c->parent : "");
    if (!e.quiet) {
        turn_view_record_result(t, &e, c, ev);
        put_result(t, &e, ev);
        edit_diff_fini(&e.diff);
    }
    if (c)
        open_calls_close(c);
}

/* ---- remarks ---- */

/* A line about the turn: a symbol, a word of the connector, a phrase of the agent. */
static void put_remark(struct view *v, struct term *t, const char *look, const char *ours,
                       const char *theirs)
{
    view_flush(v, t);
    term_look(t, look);
    term_margin(t, ours);
    if (theirs)
        term_phrase(t, theirs, strlen(theirs), 0);
    term_look(t, LOOK_PLAIN);
    term_newline(t);
}

/* Shows progress of the turn only; percentages are lines in every mode. */
void view_progress(struct view *v, struct term *t, const struct tc_progress *ev)
{
    if (ev->message && !(ev->percent >= 0) && !ev->tool_use_id)
        put_remark(v, t, LOOK_DIM, "- ", ev->message);
}

static void put_request_words(struct term *t, const char *words)
{
    term_put(t, "? ", 2);
    term_margin(t, words);
}

void view_request(struct view *v, struct term *t, const struct tc_request *ev)
{
    const char *said = ev->message ? ev->message : ev->reason ? ev->reason : ev->subject;
    const char *about = ev->preview ? ev->preview : said;
    view_flush(v, t);
    term_look(t, LOOK_YELLOW);
    if (strcmp(ev->state, "open") == 0) {
        put_request_words(t, request_title(t, ev->kind));
        if (ev->tool && strcmp(ev->kind, "approval") == 0) {
            term_put(t, ": ", 2);
            term_phrase(t, ev->tool, strlen(ev->tool), 80);
        }
        if (about) {
            term_put(t, ": ", 2);
            term_phrase(t, about, strlen(about), 200);
        }
    } else {
        const char *const by = request_person(ev);
        put_request_words(t, request_outcome(t, ev));
        if (by)
            term_phrase(t, by, strlen(by), 100);
    }
    term_look(t, LOOK_PLAIN);
    term_newline(t);
}

void view_step(struct view *v, struct term *t, const struct tc_step *ev)
{
    if (ev->kind && strcmp(ev->kind, "agent") == 0 && ev->name && strcmp(ev->state, "start") == 0 &&
        !ev->meta->parent_id) {
        char ours[32];
        snprintf(ours, sizeof ours, "- %s ", cli_word(t, CLI_WORD_AGENT));
        put_remark(v, t, LOOK_DIM, ours, ev->name);
    }
}

void view_notice(struct view *v, struct term *t, const struct tc_notice *ev)
{
    const bool info = strcmp(ev->level, "info") == 0;
    if (ev->code && strcmp(ev->code, "retracted") == 0 && ev->message_id)
        text_streams_drop(&v->text, ev->message_id);
    put_remark(v, t, info ? LOOK_DIM : LOOK_YELLOW, info ? "- " : "! ", ev->text);
}

void view_state(struct view *v, struct term *t, const struct tc_state *ev)
{
    if (!ev->activity_type || strcmp(ev->activity_type, "plan") != 0)
        return;
    view_flush(v, t);
    todo_list_from_state(&v->todo, t, ev);
}

/* ---- usage ---- */

void view_count_usage(struct view *v, const struct tc_usage *ev)
{
    if (strcmp(ev->scope, "turn") == 0)
        return;
    v->input += ev->input_tokens > 0 ? ev->input_tokens : 0;
    v->output += ev->output_tokens > 0 ? ev->output_tokens : 0;
    v->cost_usd += ev->cost_usd > 0 ? ev->cost_usd : 0;
}

void view_count_retry(struct view *v, const struct tc_notice *ev)
{
    if (!ev->code || !strstr(ev->code, "retr") || strcmp(ev->code, "retracted") == 0)
        return;
    v->retries++;
    snprintf(v->retry, sizeof v->retry, "%s", ev->text);
}

static void put_part(struct term *t, const char *text)
{
    if (t->column > 0)
        term_put(t, t->ascii ? " - " : " · ", 3);
    term_margin(t, text);
}

static void put_count(struct term *t, int64_t n, enum cli_word what)
{
    char text[64];
    if (n < 0)
        return;
    if (n < 10000)
        snprintf(text, sizeof text, "%" PRId64 " %s", n, cli_word(t, what));
    else
        snprintf(text, sizeof text, "%.1fk %s", (double)n / 1000, cli_word(t, what));
    cli_words_set_decimal(t, text);
    put_part(t, text);
}

/* 812 in · 96 out · 5.0k cached · $0.0142 · 6.1s */
void view_usage(struct view *v, struct term *t, const struct tc_usage *ev)
{
    char text[32];
    view_flush(v, t);
    term_look(t, LOOK_DIM);
    put_count(t, ev->input_tokens, CLI_WORD_TOKENS_IN);
    put_count(t, ev->output_tokens, CLI_WORD_TOKENS_OUT);
    if (ev->cache_read_tokens > 0)
        put_count(t, ev->cache_read_tokens, CLI_WORD_TOKENS_CACHED);
    if (ev->cost_usd >= 0) {
        cli_words_format_cost(text, t, ev->cost_usd);
        put_part(t, text);
    }
    if (ev->duration_ms >= 0) {
        preview_elapsed(text, ev->duration_ms);
        cli_words_set_decimal(t, text);
        put_part(t, text);
    }
    term_look(t, LOOK_PLAIN);
    term_break(t);
}
