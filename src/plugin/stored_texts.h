/* SPDX-License-Identifier: MIT
 * Texts of an instance by key (tc_store): the copy that tc_load answers from, and the changes of a
 * callback until they are handed over. */
#ifndef PLUGIN_STORED_TEXTS_H
#define PLUGIN_STORED_TEXTS_H

#include <stddef.h>

#define STORED_TEXTS_MAX ((size_t)64)
#define STORED_CHANGES_MAX (2 * STORED_TEXTS_MAX) /* between two batches */

struct stored_text {
    struct stored_text *next;
    char *text; /* NULL: it is removed */
    char key[];
};

/* In the order in which the keys came. */
struct stored_texts {
    struct stored_text *first;
    size_t count;
};

/* text NULL is kept as such. -1: there are `max` others. */
int stored_texts_set(struct stored_texts *s, size_t max, const char *key, const char *text);
void stored_texts_remove(struct stored_texts *s, const char *key);
/* NULL: none of that key. */
const struct stored_text *stored_texts_find(const struct stored_texts *s, const char *key);
void stored_texts_fini(struct stored_texts *s);

#endif
