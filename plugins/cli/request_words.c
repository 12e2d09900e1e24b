/* SPDX-License-Identifier: MIT
 * Chooses the words. */
#include "request_words.h"

#include <string.h>

const char *request_title(const struct term *t, const char *kind)
{
    static const struct {
        const char *kind;
        enum cli_word title;
    } titles[] = {{"approval", CLI_WORD_APPROVAL},
                  {"ask", CLI_WORD_QUESTION},
                  {"credential", CLI_WORD_CREDENTIAL},
                  {"input", CLI_WORD_INPUT}};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (strcmp(titles[i].kind, kind) == 0)
            return cli_word(t, titles[i].title);
    return cli_word(t, CLI_WORD_ANSWER);
}

static bool has_expired(const struct tc_request *ev)
{
    return ev->decision && strcmp(ev->decision, "timeout") == 0;
}

const char *request_person(const struct tc_request *ev)
{
    return has_expired(ev) ? NULL : ev->by;
}

const char *request_outcome(const struct term *t, const struct tc_request *ev)
{
    static const struct {
        const char *decision;
        enum cli_word alone, by;
    } words[] = {{"allow", CLI_WORD_ALLOWED, CLI_WORD_ALLOWED_BY},
                 {"deny", CLI_WORD_DENIED, CLI_WORD_DENIED_BY},
                 {"answered", CLI_WORD_ANSWERED, CLI_WORD_ANSWERED_BY},
                 {"cancelled", CLI_WORD_CANCELLED, CLI_WORD_CANCELLED_BY}};
    const bool named = request_person(ev) != NULL;
    for (size_t i = 0; ev->decision && i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].decision, ev->decision) == 0)
            return cli_word(t, named ? words[i].by : words[i].alone);
    return cli_word(t, has_expired(ev) ? CLI_WORD_EXPIRED
                       : named         ? CLI_WORD_CLOSED_BY
                                       : CLI_WORD_CLOSED);
}
