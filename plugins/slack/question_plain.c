/* SPDX-License-Identifier: MIT
 * A request that cannot be answered here, as Markdown. */
#include <jansson.h>
#include <string.h>

#include "form.h"
#include "question_plain.h"

#define ARGS_BYTES 1500
#define OPTIONS_MAX 20
#define QUESTIONS_SHOWN 8

static const char *add_options(struct tc_turn *turn, const char *text, const json_t *question)
{
    size_t i;
    const json_t *option;
    json_array_foreach(json_object_get(question, "options"), i, option)
    {
        const char *label = json_string_value(option);
        if (!label)
            label = json_string_value(json_object_get(option, "label"));
        if (label && i < OPTIONS_MAX)
            text = tc_sprint(turn, "%s\n- %.200s", text, label);
    }
    return text;
}

static const char *question_plain_add_questions(struct tc_turn *turn, const char *text,
                                                const char *questions)
{
    json_auto_t *list = questions ? json_loads(questions, 0, NULL) : NULL;
    size_t i;
    const json_t *question;
    json_array_foreach(list, i, question)
    {
        const char *prompt = json_string_value(json_object_get(question, "prompt"));
        if (prompt && i < QUESTIONS_SHOWN)
            text = add_options(turn, tc_sprint(turn, "%s\n\n%.1000s\n", text, prompt), question);
    }
    return text;
}

/* As code; of a long one the beginning, in whole characters. */
static const char *add_preview(struct tc_turn *turn, const char *text, const char *preview)
{
    size_t n = strnlen(preview, ARGS_BYTES);
    while (n > 0 && ((unsigned char)preview[n] & 0xc0) == 0x80)
        n--;
    return tc_sprint(
        turn, "%s\n\n````\n%.*s\n````%s", text, (int)n, preview,
        preview[n] ? "\nThe text is longer. To read all of it, run: `turncast answer --show`" : "");
}

const char *question_plain(struct tc_turn *turn, const struct tc_request *ev)
{
    const char *text = tc_sprint(turn, "**%s**", form_title(turn, ev));
    if (ev->preview)
        text = add_preview(turn, text, ev->preview);
    else if (ev->subject)
        text = tc_sprint(turn, "%s\n\n%.300s", text, ev->subject);
    if (ev->message)
        text = tc_sprint(turn, "%s\n\n%.1000s", text, ev->message);
    if (ev->reason)
        text = tc_sprint(turn, "%s\n\n%.500s", text, ev->reason);
    if (ev->args && !ev->preview)
        text = tc_sprint(turn, "%s\n\n````json\n%.*s%s\n````", text, ARGS_BYTES, ev->args,
                         strlen(ev->args) > ARGS_BYTES ? "\xe2\x80\xa6" : "");
    return question_plain_add_questions(turn, text, ev->questions);
}
