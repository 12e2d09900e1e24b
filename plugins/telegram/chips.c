/* SPDX-License-Identifier: MIT
 * Owns what the progress message says: the last thing the agent told, its tools, what goes wrong,
 * how long it has been. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "telegram.h"

#define STALL_MS 60000

/* The arguments that say what a call is about, best first. */
static const char *const telling[] = {"description", "command", "file_path", "path", "pattern",
                                      "query",       "url",     "prompt",    "task", "name"};

static void summarize(char *out, size_t cap, const char *args)
{
    json_t *const o = json_loads(args, 0, NULL);
    const char *said = NULL, *key;
    json_t *value;
    for (size_t i = 0; !said && i < sizeof telling / sizeof *telling; i++)
        said = call_str(o, telling[i]);
    json_object_foreach(o, key, value) if (!said) said = json_string_value(value);
    message_clip(out, cap, said ? said : "");
    json_decref(o);
}

void chips_call(struct live *l, const struct tc_tool_call *ev)
{
    if (l->chips == CHIPS)
        memmove(l->chip, l->chip + 1, --l->chips * sizeof *l->chip);
    struct telegram_chip *const c = &l->chip[l->chips++];
    *c = (struct telegram_chip){.state = 'r', .began_ms = call_now_ms()};
    message_clip(c->id, sizeof c->id, ev->tool_use_id);
    message_clip(c->name, sizeof c->name, ev->name);
    summarize(c->summary, sizeof c->summary, ev->args);
    l->tools++;
    l->fresh = true;
}

void chips_result(struct live *l, const struct tc_tool_result *ev)
{
    char id[ID_MAX];
    message_clip(id, sizeof id, ev->tool_use_id);
    for (size_t i = 0; i < l->chips; i++) {
        struct telegram_chip *const c = &l->chip[i];
        if (strcmp(c->id, id) != 0)
            continue;
        c->state = ev->is_error ? 'f' : 'k';
        c->took_ms = ev->duration_ms >= 0 ? (int64_t)ev->duration_ms : call_now_ms() - c->began_ms;
    }
}

/* Another message begins a line of its own. */
static void note_message(struct live *l, const char *id)
{
    char said[ID_MAX];
    message_clip(said, sizeof said, id ? id : "");
    l->fresh |= strcmp(said, l->said) != 0;
    memcpy(l->said, said, sizeof said);
}

/* The last line of what is told, as it grows. */
void chips_narrate(struct live *l, const struct tc_narration *ev)
{
    note_message(l, ev->message_id);
    for (const char *p = ev->text; *p;) {
        const size_t n = strcspn(p, "\n");
        char line[HEADLINE_MAX];
        snprintf(line, sizeof line, "%.*s", (int)(n < sizeof line ? n : sizeof line - 1), p);
        if (line[strspn(line, " \t\r")]) {
            char joined[2 * HEADLINE_MAX];
            snprintf(joined, sizeof joined, "%s%s", l->fresh ? "" : l->headline, line);
            message_clip(l->headline, sizeof l->headline, joined);
            l->fresh = false;
        }
        if (p[n] == '\n')
            l->fresh = true;
        p += n + (p[n] == '\n');
    }
}

/* Of thinking the end is kept. */
void chips_think(struct live *l, const char *text)
{
    char joined[2 * sizeof l->thinking];
    const size_t add = strlen(text), room = sizeof l->thinking - 1;
    const char *const tail = add > room ? text + add - room : text;
    const int n = snprintf(joined, sizeof joined, "%s%s", l->thinking, tail);
    const char *from = (size_t)n > room ? joined + n - room : joined;
    while (((unsigned char)*from & 0xc0) == 0x80)
        from++;
    memcpy(l->thinking, from, strlen(from) + 1);
}

static void add_markdown(struct tc_turn *turn, struct message *m, const char *text, uint32_t flags)
{
    size_t count;
    const struct tc_piece *const p =
        tc_pieces(turn,
                  TC_TEXT(.markdown = text, .len = strlen(text), .form = TC_TELEGRAM,
                          .flags = flags, .units = 2000, .bytes = 8000, .entities = 40),
                  &count);
    if (p)
        message_piece(m, p);
}

static void add_chip(struct message *m, const struct telegram_chip *c)
{
    char took[32] = "";
    message_add(m, c->state == 'r' ? "\n▸ " : c->state == 'f' ? "\n✗ " : "\n✓ ");
    message_add(m, c->name);
    if (c->summary[0]) {
        message_add(m, ": ");
        message_mark(m, "code", c->summary);
    }
    if (c->state == 'r')
        message_add(m, " …");
    else if (c->took_ms < 60000)
        snprintf(took, sizeof took, " (%.1fs)", (double)c->took_ms / 1e3);
    else {
        char text[24];
        message_time(text, sizeof text, c->took_ms);
        snprintf(took, sizeof took, " (%s)", text);
    }
    message_add(m, took);
}

static void add_waiting(const struct tc_turn *turn, struct message *m)
{
    const size_t n = question_waiting(turn);
    if (n == 1)
        message_add(m, "\n✋ Waiting for an answer");
    else if (n > 1)
        message_add(m, tc_sprint(m->turn, "\n✋ Waiting for %zu answers", n));
}

static void add_time(const struct live *l, struct message *m)
{
    const int64_t now = call_now_ms();
    char text[24];
    message_time(text, sizeof text, now - l->began_ms);
    message_add(m, "\n⏱ ");
    message_add(m, text);
    if (now - l->active_ms < STALL_MS)
        return;
    message_time(text, sizeof text, now - l->active_ms);
    message_add(m, " · no output for ");
    message_add(m, text);
}

void chips_show(struct tc_turn *turn, struct message *m)
{
    struct live *const l = turn->state;
    add_markdown(turn, m, l->headline[0] ? l->headline : "Working…", 0);
    message_add(m, "\n");
    if (l->tools > l->chips) {
        char before[48];
        const unsigned n = l->tools - (unsigned)l->chips;
        snprintf(before, sizeof before, "\n… %u earlier tool call%s", n, n == 1 ? "" : "s");
        message_add(m, before);
    }
    for (size_t i = 0; i < l->chips; i++)
        add_chip(m, &l->chip[i]);
    if (l->notice[0]) {
        message_add(m, "\n");
        add_markdown(turn, m, l->notice, TC_VERBATIM);
    }
    if (conf_of(turn)->thinking && l->thinking[0]) {
        message_add(m, "\n");
        add_markdown(turn, m, l->thinking, TC_FOLDED);
    }
    add_waiting(turn, m);
    add_time(l, m);
}

void chips_summary(const struct live *l, char *out, size_t cap)
{
    char took[24];
    message_time(took, sizeof took, call_now_ms() - l->began_ms);
    int n = snprintf(out, cap, "Done in %s", took);
    if (l->tools > 0)
        snprintf(out + n, cap - (size_t)n, " · %u tool call%s", l->tools, l->tools == 1 ? "" : "s");
}
