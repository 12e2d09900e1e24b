/* SPDX-License-Identifier: MIT
 * Suggestion for a misspelled word: the most similar one of a list. Pure. */
#ifndef BASE_NEAREST_WORD_H
#define BASE_NEAREST_WORD_H

#include <stddef.h>

#define NEAREST_WORD_MAX ((size_t)63) /* limit in bytes; longer words are not compared */

/* Of n names, the only one that begins with the word (of at least three bytes), otherwise the
 * nearest by edit distance; NULL: none is near. */
const char *nearest_word_find(const char *word, const char *const *names, size_t n);

#endif
