/* SPDX-License-Identifier: MIT
 * Owns what is kept of a turn for the next life of host or instance: its progress message, and its
 * open questions with their messages, so that their buttons can be taken away. There is little
 * room: of many questions, or long ones, less is kept. */
#include <stdlib.h>
#include <string.h>

#include "telegram.h"

#define MEMORY_MAX 4000

/* What is left out, step by step, until it fits. */
static const struct {
    size_t text;    /* of a subject, and of a prompt */
    bool questions; /* what is asked, so that it can be answered by buttons still */
} grades[] = {{600, true}, {150, true}, {40, true}, {40, false}};

static json_t *short_option(const json_t *option)
{
    const char *const label = form_label(option);
    return json_string(label ? label : "");
}

static json_t *short_questions(const json_t *questions, size_t most)
{
    json_t *const all = json_array();
    size_t i, k;
    const json_t *question, *option;
    json_array_foreach(questions, i, question)
    {
        json_t *const one = json_object(), *const options = json_array();
        form_set_text(one, "prompt", call_str(question, "prompt"), most);
        json_object_set(one, "id", json_object_get(question, "id"));
        json_object_set_new(one, "multi", json_boolean(draft_is_multi(question)));
        json_array_foreach(json_object_get(question, "options"), k, option)
            json_array_append_new(options, short_option(option));
        json_object_set_new(one, "options", options);
        json_array_append_new(all, one);
    }
    return all;
}

static json_t *short_about(const json_t *about, size_t grade)
{
    static const char *const whole[] = {"kind", "wait_ms", "choices", "subject_cut", "whole"};
    json_t *const kept = json_object();
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        json_object_set(kept, whole[i], json_object_get(about, whole[i]));
    form_set_text(kept, "tool", call_str(about, "tool"), 60);
    form_set_text(kept, "subject", call_str(about, "subject"), grades[grade].text);
    if (grades[grade].questions)
        json_object_set_new(
            kept, "questions",
            short_questions(json_object_get(about, "questions"), grades[grade].text));
    return kept;
}

static json_t *write_places(const struct telegram_question *q)
{
    json_t *const places = json_array();
    for (size_t i = 0; i < q->places; i++) {
        const struct telegram_place *const p = &q->place[i];
        json_array_append_new(places, json_pack("[I, I, b, I]", (json_int_t)p->to.chat,
                                                (json_int_t)p->to.thread, p->to.group,
                                                (json_int_t)p->message));
    }
    return places;
}

static json_t *write_questions(const struct tc_turn *turn, size_t grade)
{
    json_t *const list = json_array();
    for (const struct telegram_question *q = state_of(turn)->questions; q; q = q->next)
        if (!q->decided && strcmp(q->turn, turn->id) == 0)
            json_array_append_new(list, json_pack("{s:s, s:s?, s:o, s:o}", "id", q->id, "ticket",
                                                  q->ticket, "about", short_about(q->about, grade),
                                                  "places", write_places(q)));
    return list;
}

/* More than fits is open: the buttons of the oldest stay when all die now. */
static char *without_oldest(json_t *memory)
{
    json_t *const list = json_object_get(memory, "questions");
    char *text = NULL;
    while (json_array_size(list) > 0) {
        json_array_remove(list, 0);
        free(text);
        text = json_dumps(memory, JSON_COMPACT);
        if (text && strlen(text) <= MEMORY_MAX)
            break;
    }
    return text;
}

void memory_keep(struct tc_turn *turn)
{
    const struct live *const l = turn->state;
    char *text = NULL;
    for (size_t grade = 0; grade < sizeof grades / sizeof *grades; grade++) {
        json_t *const memory = json_pack("{s:I}", "message", (json_int_t)l->message);
        json_t *const questions = write_questions(turn, grade);
        if (json_array_size(questions) > 0)
            json_object_set(memory, "questions", questions);
        json_decref(questions);
        free(text);
        text = json_dumps(memory, JSON_COMPACT);
        const bool fits = text && strlen(text) <= MEMORY_MAX;
        if (!fits && grade + 1 == sizeof grades / sizeof *grades) {
            free(text);
            text = without_oldest(memory);
        }
        json_decref(memory);
        if (fits)
            break;
    }
    tc_remember(turn, text);
    free(text);
}

static void read_places(struct telegram_question *q, const json_t *places)
{
    size_t i;
    const json_t *one;
    json_array_foreach(places, i, one)
    {
        const struct target to = {.chat = json_integer_value(json_array_get(one, 0)),
                                  .thread = json_integer_value(json_array_get(one, 1)),
                                  .group = json_is_true(json_array_get(one, 2))};
        struct telegram_place *const p = question_add_place(q, &to);
        if (!p)
            return;
        p->message = json_integer_value(json_array_get(one, 3));
        p->pending = p->message == 0;
    }
}

void memory_read(struct tc_turn *turn)
{
    struct telegram *const s = state_of(turn);
    json_t *const memory = turn->memory ? json_loads(turn->memory, 0, NULL) : NULL;
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(memory, "questions"), i, one)
    {
        const char *const id = call_str(one, "id");
        json_t *const about = json_object_get(one, "about");
        if (!id || !json_is_object(about) || question_find(s, turn->id, id))
            continue;
        struct telegram_question *const q =
            question_add(s, turn->id, id, call_str(one, "ticket"), json_incref(about));
        if (q)
            read_places(q, json_object_get(one, "places"));
    }
    json_decref(memory);
}
