/* SPDX-License-Identifier: MIT
 * Owns the tables of words. */
#include "request_words.h"

#include <string.h>

const char *request_title(const char *kind)
{
    static const char *const titles[][2] = {{"approval", "Approval needed"},
                                            {"ask", "Question"},
                                            {"credential", "Credential needed"},
                                            {"input", "Input needed"}};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (strcmp(titles[i][0], kind) == 0)
            return titles[i][1];
    return "Answer needed";
}

static bool has_expired(const struct tc_request *ev)
{
    return ev->decision && strcmp(ev->decision, "timeout") == 0;
}

const char *request_person(const struct tc_request *ev)
{
    return has_expired(ev) ? NULL : ev->by;
}

const char *request_outcome(const struct tc_request *ev)
{
    static const char *const words[][3] = {{"allow", "allowed", "allowed by "},
                                           {"deny", "denied", "denied by "},
                                           {"answered", "answered", "answered by "},
                                           {"cancelled", "cancelled", "cancelled by "}};
    const bool named = request_person(ev) != NULL;
    for (size_t i = 0; ev->decision && i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], ev->decision) == 0)
            return words[i][named ? 2 : 1];
    return has_expired(ev) ? "denied: no answer in time" : named ? "closed by " : "closed";
}
