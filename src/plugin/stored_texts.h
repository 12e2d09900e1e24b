/* SPDX-License-Identifier: MIT
 * Stored texts of an instance by key (tc_store): the copy for tc_load, and the changes of a
 * callback until they are passed on. */
#ifndef PLUGIN_STORED_TEXTS_H
#define PLUGIN_STORED_TEXTS_H

#include <stddef.h>

#define STORED_TEXTS_MAX ((size_t)64)
#define STORED_CHANGES_MAX (2 * STORED_TEXTS_MAX) /* limit of changes between two batches */

struct stored_text {
    struct stored_text *next;
    char *text; /* NULL: deleted */
    char key[];
};

/* In the order of insertion. */
struct stored_texts {
    struct stored_text *first;
    size_t count;
};

/* Stores text NULL as such. -1: there are `max` others. */
int stored_texts_set(struct stored_texts *s, size_t max, const char *key, const char *text);
void stored_texts_remove(struct stored_texts *s, const char *key);
/* NULL: unknown key. */
const struct stored_text *stored_texts_find(const struct stored_texts *s, const char *key);
void stored_texts_fini(struct stored_texts *s);

#endif
