/* SPDX-License-Identifier: MIT
 * A process of an instance that loads no plugin, and tells one lie: the one that it is named
 * after. */
#ifndef TESTS_PLUGIN_LIAR_H
#define TESTS_PLUGIN_LIAR_H

#include <stddef.h>

struct lie {
    const char *name;
    void (*tell)(void);
    unsigned events; /* that it waits for first: start, final, done */
    const char *obituary;
};
extern const struct lie lies[];
extern const size_t n_lies;

/* "early" lies before it has started; a name that is no lie's: it does nothing ever. */
void liar_main(const char *name) __attribute__((__noreturn__));

#endif
