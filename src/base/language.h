/* SPDX-License-Identifier: MIT
 * Languages of the sentences that the host says to people. Pure. */
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
/* By its name; false: there is none. */
bool language_find(const char *name, enum language *language);

#endif
