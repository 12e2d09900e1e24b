/* SPDX-License-Identifier: MIT
 * A connector process that loads no plugin and violates the protocol once, in the way that it is
 * named after. */
#ifndef TESTS_PLUGIN_LIAR_H
#define TESTS_PLUGIN_LIAR_H

#include <stddef.h>

struct lie {
    const char *name;
    void (*tell)(void);
    unsigned events; /* the number of events that it reads before: start, final, done */
    const char *obituary;
};
extern const struct lie lies[];
extern const size_t n_lies;

/* "early" violates the protocol before the start; with an unknown name the process does nothing. */
void liar_main(const char *name) __attribute__((__noreturn__));

#endif
