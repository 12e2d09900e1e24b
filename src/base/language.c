/* SPDX-License-Identifier: MIT
 * Names of languages. */
#include "base/language.h"

#include <string.h>

#include "base/invariant.h"

#define LANGUAGE_NAME(id, name) [LANGUAGE_##id] = (name),
static const char *const names[LANGUAGE_COUNT] = {LANGUAGES(LANGUAGE_NAME)};

const char *language_name(enum language language)
{
    ASSERT(language < LANGUAGE_COUNT);
    return names[language];
}

bool language_find(const char *name, enum language *language)
{
    for (int i = 0; i < LANGUAGE_COUNT; i++)
        if (strcmp(names[i], name) == 0) {
            *language = (enum language)i;
            return true;
        }
    return false;
}
