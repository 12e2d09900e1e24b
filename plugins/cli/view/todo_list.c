/* SPDX-License-Identifier: MIT
 * Names that agents use for to-do lists and their states. */
#include "todo_list.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "terminal/cli_words.h"

#define TEXT_MIN 8 /* minimum columns of a shown item */

enum todo_state { TODO_OPEN, TODO_ACTIVE, TODO_DONE, TODO_DROPPED };

static const struct {
    enum todo_state state;
    const char *symbol, *ascii, *look;
} shown[] = {
    {TODO_OPEN, "☐ ", "[ ] ", LOOK_PLAIN},
    {TODO_ACTIVE, "▸ ", "[>] ", LOOK_BOLD},
    {TODO_DONE, "☑ ", "[x] ", LOOK_DIM},
    {TODO_DROPPED, "☒ ", "[-] ", LOOK_DIM},
};

static const char *first_text(const json_t *object, const char *const *keys)
{
    for (; *keys; keys++) {
        const char *const text = json_string_value(json_object_get(object, *keys));
        if (text && *text)
            return text;
    }
    return NULL;
}

static const char *item_text(const json_t *item)
{
    static const char *const keys[] = {"content", "step", "text", "description", "title", NULL};
    return json_is_string(item) ? json_string_value(item) : first_text(item, keys);
}

static enum todo_state item_state(const json_t *item)
{
    static const char *const keys[] = {"status", "state", NULL};
    static const struct {
        const char *name;
        enum todo_state state;
    } names[] = {
        {"in_progress", TODO_ACTIVE}, {"inProgress", TODO_ACTIVE}, {"running", TODO_ACTIVE},
        {"active", TODO_ACTIVE},      {"completed", TODO_DONE},    {"done", TODO_DONE},
        {"cancelled", TODO_DROPPED},  {"failed", TODO_DROPPED},
    };
    const char *const name = json_is_object(item) ? first_text(item, keys) : NULL;
    if (json_is_true(json_object_get(item, "completed")))
        return TODO_DONE;
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].name, name) == 0)
            return names[i].state;
    return TODO_OPEN;
}

static uint64_t digest_text(uint64_t digest, const char *text)
{
    for (; *text; text++)
        digest = (digest ^ (unsigned char)*text) * 0x100000001b3u;
    return digest;
}

/* Counts the items. False: one of them has no text. */
static bool todo_list_read(struct todo_list *l, const json_t *items)
{
    size_t i;
    const json_t *item;
    struct todo_list now = {.digest = 0xcbf29ce484222325u};
    json_array_foreach(items, i, item)
    {
        const char *const text = item_text(item);
        const enum todo_state state = item_state(item);
        if (!text)
            return false;
        now.count++;
        now.done += state == TODO_DONE;
        now.digest = digest_text(now.digest, text) + state + 1;
        if (state == TODO_ACTIVE && !now.active[0]) {
            const char *const doing = json_string_value(json_object_get(item, "activeForm"));
            snprintf(now.active, sizeof now.active, "%s", doing && *doing ? doing : text);
        }
    }
    *l = now;
    return l->count > 0;
}

static void put_item(struct term *t, const char *margin, const json_t *item)
{
    const enum todo_state state = item_state(item);
    const char *const text = item_text(item);
    term_margin(t, margin);
    term_put(t, "  ", 2);
    term_look(t, shown[state].look);
    term_put(t, t->ascii ? shown[state].ascii : shown[state].symbol, t->ascii ? 4 : 2);
    term_phrase(t, text, strlen(text), term_room(t, TEXT_MIN));
    term_look(t, LOOK_PLAIN);
    term_newline(t);
}

static void put_list(const struct todo_list *l, struct term *t, const char *margin,
                     const json_t *items)
{
    char text[64];
    size_t i;
    const json_t *item;
    term_margin(t, margin);
    snprintf(text, sizeof text, "%s: %zu %s %zu %s", cli_word(t, CLI_WORD_TODO), l->done,
             cli_word(t, CLI_WORD_TODO_OF), l->count, cli_word(t, CLI_WORD_TODO_DONE));
    term_look(t, LOOK_BOLD);
    term_put(t, text, (unsigned)strlen(text));
    term_look(t, LOOK_PLAIN);
    term_newline(t);
    json_array_foreach(items, i, item)
    {
        if (i < TODO_ITEMS)
            put_item(t, margin, item);
    }
}

static bool todo_list_show(struct todo_list *l, struct term *t, const char *margin,
                           const json_t *items)
{
    const uint64_t before = l->digest;
    if (!todo_list_read(l, items))
        return false;
    if (l->digest != before)
        put_list(l, t, margin, items);
    return true;
}

bool todo_list_from_call(struct todo_list *l, struct term *t, const char *margin,
                         const struct tc_tool_call *ev)
{
    static const char *const tools[] = {"TodoWrite",   "todowrite",   "todo_write", "write_todos",
                                        "update_plan", "update_todo", "todo"};
    static const char *const keys[] = {"todos", "plan", "items", "steps"};
    bool known = false, is = false;
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        known |= strcasecmp(tools[i], ev->name) == 0;
    json_t *const args = known ? json_loads(ev->args, 0, NULL) : NULL;
    for (size_t i = 0; args && i < sizeof keys / sizeof *keys && !is; i++)
        is = todo_list_show(l, t, margin, json_object_get(args, keys[i]));
    json_decref(args);
    return is;
}

bool todo_list_from_state(struct todo_list *l, struct term *t, const struct tc_state *ev)
{
    if (!ev->activity_type || strcasecmp(ev->activity_type, "plan") != 0 || !ev->value)
        return false;
    json_t *const value = json_loads(ev->value, JSON_DECODE_ANY, NULL);
    const json_t *const steps = json_object_get(value, "steps");
    const bool is = todo_list_show(l, t, "", json_is_array(value) ? value : steps);
    json_decref(value);
    return is;
}
