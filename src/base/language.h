/* SPDX-License-Identifier: MIT
 * Languages of sentences for people. Pure. */
#ifndef BASE_LANGUAGE_H
#define BASE_LANGUAGE_H

#include <stdbool.h>

/* X(ID, "name"): the name is as in the configuration, and is the tag of BCP 47. */
#define LANGUAGES(X)                                                                               \
    X(EN, "en")                                                                                    \
    X(DE, "de")

#define LANGUAGE_ID(id, name) LANGUAGE_##id,
enum language {
    LANGUAGES(LANGUAGE_ID) /* the first one is the default */
    LANGUAGE_COUNT
};
#undef LANGUAGE_ID

const char *language_name(enum language language);
/* Finds a language by name; false: unknown. */
bool language_find(const char *name, enum language *language);

#endif
