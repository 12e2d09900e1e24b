/* SPDX-License-Identifier: MIT
 * A letter as it goes out: the texts of options in their places. What is made here holds secrets
 * and is gone as soon as the request has been handed over. */
#ifndef PLUGIN_LETTER_FILL_H
#define PLUGIN_LETTER_FILL_H

#include "io/httpc.h"
#include "plugin/letter.h"

struct filled {
    struct httpc_request http; /* its strings are the letter's or the arena's */
    struct arena arena;
};

/* NULL, or why it cannot be sent: a text of the arena, without any option's text. `option` gives
 * the text of an option, NULL when there is none of that name. */
const char *letter_fill(struct filled *f, const struct letter *l, const char *save_dir,
                        const char *(*option)(void *ctx, const char *name), void *ctx);
void filled_fini(struct filled *f);

#endif
