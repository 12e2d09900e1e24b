/* SPDX-License-Identifier: MIT
 * Rich rendering: streaming text, tool chips, the answer, what it cost. */
#include "turn_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "request_words.h"

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

/* Ends the unfinished line, whoever's it is. */
static void view_break(struct view *v, struct term *t)
{
    term_break(t);
    t->owner = v;
    v->block = BLOCK_NONE;
    v->chip[0] = '\0';
}

/* Goes on in the block, or begins it on a line of its own. */
static void turn_view_enter(struct view *v, struct term *t, enum block block)
{
    if (t->owner != v || v->block != block)
        view_break(v, t);
    t->owner = v;
    v->block = block;
}

/* What a line of a sub-agent, or of reasoning, begins with. */
static const char *margin(const struct term *t, const struct tc_meta *meta, bool thinking)
{
    if (thinking)
        return t->ascii ? ": " : "┊ ";
    return !meta->parent_id ? NULL : t->ascii ? "| " : "│ ";
}

void view_narration(struct view *v, struct term *t, const struct tc_narration *ev)
{
    const char *id = ev->message_id ? ev->message_id : "";
    if (strncmp(id, v->message_id, sizeof v->message_id - 1) != 0) {
        view_break(v, t);
        snprintf(v->message_id, sizeof v->message_id, "%s", id);
        v->message = (struct digest){0};
    }
    turn_view_enter(v, t, BLOCK_NARRATION);
    if (!ev->meta->parent_id) {
        digest_add(&v->message, ev->text, ev->text_len);
        digest_add(&v->segment, ev->text, ev->text_len);
    }
    term_text(t, ev->text, ev->text_len, margin(t, ev->meta, false));
}

void view_thinking(struct view *v, struct term *t, const struct tc_thinking *ev)
{
    turn_view_enter(v, t, BLOCK_THINKING);
    term_look(t, LOOK_DIM);
    term_text(t, ev->text, ev->text_len, margin(t, ev->meta, true));
    term_look(t, LOOK_PLAIN);
}

/* The answer, unless it is what was narrated last. */
void view_final(struct view *v, struct term *t, const struct tc_final *ev)
{
    struct digest answer = {0};
    digest_add(&answer, ev->text, ev->text_len);
    view_break(v, t);
    if (answer.len == 0 || digest_equal(&answer, &v->message) || digest_equal(&answer, &v->segment))
        return;
    term_text(t, ev->text, ev->text_len, NULL);
    view_break(v, t);
}

struct turn_view_chip {
    const char *symbol, *ascii, *look, *name, *preview;
    const char *elapsed; /* or NULL: still running */
};

/* ✓ Bash: df -h (1.2s); on a terminal it takes one line, so that it can be overwritten. */
static void put_chip(struct term *t, const struct turn_view_chip *c, const struct tc_meta *meta)
{
    const char *edge = margin(t, meta, false);
    if (edge)
        term_put(t, edge, 2);
    term_look(t, c->look);
    term_put(t, t->ascii ? c->ascii : c->symbol, 1);
    term_look(t, LOOK_PLAIN);
    term_put(t, " ", 1);
    term_look(t, LOOK_BOLD);
    term_phrase(t, c->name, strlen(c->name), t->columns / 3);
    term_look(t, LOOK_PLAIN);
    const unsigned after = c->elapsed ? (unsigned)strlen(c->elapsed) + 3 : 0;
    const unsigned used = t->column + after + 3;
    if (*c->preview && (t->columns == 0 || t->columns > used + 4)) {
        term_put(t, ": ", 2);
        term_phrase(t, c->preview, strlen(c->preview), t->columns ? t->columns - used : 0);
    }
    if (!c->elapsed)
        return;
    term_look(t, LOOK_DIM);
    term_put(t, " (", 2);
    term_put(t, c->elapsed, (unsigned)strlen(c->elapsed));
    term_put(t, ")", 1);
    term_look(t, LOOK_PLAIN);
}

void view_tool_call(struct view *v, struct term *t, const struct tc_tool_call *ev)
{
    const struct turn_view_call *c = view_open_call(v, ev);
    view_break(v, t);
    term_measure(t);
    v->segment = (struct digest){0};
    put_chip(t,
             &(struct turn_view_chip){"▶", ">", LOOK_CYAN, preview_name(c->name), c->preview, NULL},
             ev->meta);
    v->block = BLOCK_CHIP;
    snprintf(v->chip, sizeof v->chip, "%s", c->id);
    if (!t->cursor)
        view_break(v, t);
}

static void put_failure(struct term *t, const struct tc_tool_result *ev)
{
    size_t from = 0;
    while (from < ev->content_len && strchr(" \t\r\n", ev->content[from]))
        from++;
    const char *end = memchr(ev->content + from, '\n', ev->content_len - from);
    const size_t n = end ? (size_t)(end - ev->content) - from : ev->content_len - from;
    if (n == 0)
        return;
    term_look(t, LOOK_DIM);
    term_put(t, "  ", 2);
    term_phrase(t, ev->content + from, n, t->columns ? t->columns - 4 : 200);
    term_look(t, LOOK_PLAIN);
    term_newline(t);
}

void view_tool_result(struct view *v, struct term *t, const struct tc_tool_result *ev)
{
    char elapsed[32];
    struct turn_view_call *c = view_find_call(v, ev->tool_use_id);
    const bool in_place =
        t->cursor && t->owner == v && v->block == BLOCK_CHIP && c && strcmp(v->chip, c->id) == 0;
    if (in_place)
        term_rewind(t);
    else
        view_break(v, t);
    const double took = ev->duration_ms >= 0 ? ev->duration_ms
                        : c                  ? (ev->meta->ts - c->ts) * 1000
                                             : -1;
    preview_elapsed(elapsed, took);
    const char *name = c ? c->name : ev->name ? ev->name : "?";
    const struct turn_view_chip chip = {.symbol = ev->is_error ? "✗" : "✓",
                                        .ascii = ev->is_error ? "x" : "+",
                                        .look = ev->is_error ? LOOK_RED : LOOK_GREEN,
                                        .name = preview_name(name),
                                        .preview = c ? c->preview : "",
                                        .elapsed = elapsed};
    put_chip(t, &chip, ev->meta);
    term_newline(t);
    if (ev->is_error)
        put_failure(t, ev);
    if (c)
        view_close_call(c);
    view_break(v, t);
}

/* One line about the turn: a symbol, a word of ours, a phrase of the agent's. */
static void put_remark(struct view *v, struct term *t, const char *look, const char *ours,
                       const char *theirs)
{
    view_break(v, t);
    term_look(t, look);
    term_put(t, ours, (unsigned)strlen(ours));
    if (theirs)
        term_phrase(t, theirs, strlen(theirs), 0);
    term_look(t, LOOK_PLAIN);
    term_newline(t);
}

/* Only progress of the turn itself; percentages are lines in every mode. */
void view_progress(struct view *v, struct term *t, const struct tc_progress *ev)
{
    if (ev->message && !(ev->percent >= 0) && !ev->tool_use_id)
        put_remark(v, t, LOOK_DIM, "- ", ev->message);
}

static void put_request_words(struct term *t, const char *words)
{
    term_put(t, "? ", 2);
    term_put(t, words, (unsigned)strlen(words));
}

void view_request(struct view *v, struct term *t, const struct tc_request *ev)
{
    const char *said = ev->message ? ev->message : ev->reason ? ev->reason : ev->subject;
    const char *about = ev->preview ? ev->preview : said;
    view_break(v, t);
    term_look(t, LOOK_YELLOW);
    if (strcmp(ev->state, "open") == 0) {
        put_request_words(t, request_title(ev->kind));
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
        put_request_words(t, request_outcome(ev));
        if (by)
            term_phrase(t, by, strlen(by), 100);
    }
    term_look(t, LOOK_PLAIN);
    term_newline(t);
}

void view_step(struct view *v, struct term *t, const struct tc_step *ev)
{
    if (ev->kind && strcmp(ev->kind, "agent") == 0 && ev->name && strcmp(ev->state, "start") == 0)
        put_remark(v, t, LOOK_DIM, "- agent ", ev->name);
}

void view_notice(struct view *v, struct term *t, const struct tc_notice *ev)
{
    const bool info = strcmp(ev->level, "info") == 0;
    put_remark(v, t, info ? LOOK_DIM : LOOK_YELLOW, info ? "- " : "! ", ev->text);
}

static void put_count(struct term *t, int64_t n, const char *what)
{
    char text[64];
    if (n < 0)
        return;
    if (n < 10000)
        snprintf(text, sizeof text, "%" PRId64 " %s", n, what);
    else
        snprintf(text, sizeof text, "%.1fk %s", (double)n / 1000, what);
    if (t->column > 0)
        term_put(t, t->ascii ? " - " : " · ", 3);
    term_put(t, text, (unsigned)strlen(text));
}

/* 812 in · 96 out · 5.0k cached · $0.0142 · 6.1s */
void view_usage(struct view *v, struct term *t, const struct tc_usage *ev)
{
    char text[32];
    view_break(v, t);
    term_look(t, LOOK_DIM);
    put_count(t, ev->input_tokens, "in");
    put_count(t, ev->output_tokens, "out");
    if (ev->cache_read_tokens > 0)
        put_count(t, ev->cache_read_tokens, "cached");
    const char *dot = t->ascii ? " - " : " · ";
    if (ev->cost_usd >= 0) {
        snprintf(text, sizeof text, "$%.4f", ev->cost_usd);
        term_put(t, dot, 3);
        term_put(t, text, (unsigned)strlen(text));
    }
    if (ev->duration_ms >= 0) {
        preview_elapsed(text, ev->duration_ms);
        term_put(t, dot, 3);
        term_put(t, text, (unsigned)strlen(text));
    }
    term_look(t, LOOK_PLAIN);
    view_break(v, t);
}
