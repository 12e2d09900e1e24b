/* SPDX-License-Identifier: MIT
 * Reads the forms of values and operands that --help prints. */
#include <string.h>

#include "cli/completion/completion.h"
#include "turn/visibility/slash_tokens.h"

static const struct {
    const char *placeholder;
    const char *names; /* NULL: files */
} placeholders[] = {
    {"AGENT", "agents"}, {"INSTANCE", "instances"}, {"CONFIG", NULL},  {"DIRECTORY", NULL},
    {"FILE", NULL},      {"PLUGIN", NULL},          {"PROGRAM", NULL}, {"SCRIPT", NULL},
};

static void completion_offer_add_word(struct completion_offer *offer, const char *word, size_t len)
{
    if (offer->words.len)
        buf_add_char(&offer->words, ' ');
    buf_add(&offer->words, word, len);
}

static void completion_offer_add_tokens(struct completion_offer *offer)
{
    const char *name;
    for (size_t i = 0; (name = slash_tokens_name(i)); i++) {
        completion_offer_add_word(offer, "/", 1);
        buf_add_str(&offer->words, name);
    }
}

static void completion_offer_add_placeholder(struct completion_offer *offer, const char *name,
                                             size_t len)
{
    for (size_t i = 0; i < sizeof placeholders / sizeof *placeholders; i++) {
        if (strlen(placeholders[i].placeholder) != len ||
            memcmp(placeholders[i].placeholder, name, len) != 0)
            continue;
        if (placeholders[i].names)
            offer->names = placeholders[i].names;
        else
            offer->files = true;
    }
}

struct completion_offer completion_offer_read(const char *form)
{
    static const char separators[] = " |[],";
    struct completion_offer offer = {0};
    for (const char *p = form + strspn(form, separators); *p;) {
        const size_t whole = strcspn(p, separators);
        if (*p >= 'a' && *p <= 'z')
            completion_offer_add_word(&offer, p, whole);
        else if (strncmp(p, "/show-X", whole) == 0)
            completion_offer_add_tokens(&offer);
        else
            completion_offer_add_placeholder(&offer, p, strcspn(p, " |[],.="));
        p += whole;
        p += strspn(p, separators);
    }
    return offer;
}

void completion_offer_fini(struct completion_offer *offer)
{
    buf_fini(&offer->words);
}
