/* SPDX-License-Identifier: MIT
 * Implements nearest_word.h by the edit distance with swaps of neighbours (Damerau-Levenshtein,
 * restricted). */
#include "base/nearest_word.h"

#include <string.h>

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Number of edits (insert, delete, change, swap neighbours) that turn a into b. */
static size_t edit_distance(const char *a, const char *b)
{
    const size_t n = strlen(a), m = strlen(b);
    size_t rows[3][NEAREST_WORD_MAX + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t k = 0; k <= m; k++)
        last[k] = k;
    for (size_t i = 1; i <= n; i++) {
        row[0] = i;
        for (size_t k = 1; k <= m; k++) {
            row[k] =
                smaller(last[k - 1] + (a[i - 1] != b[k - 1]), smaller(last[k], row[k - 1]) + 1);
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
                row[k] = smaller(row[k], before[k - 2] + 1);
        }
        size_t *const spare = before;
        before = last;
        last = row;
        row = spare;
    }
    return last[m];
}

/* The only name that begins with the word; NULL: none, or several. */
static const char *nearest_word_complete(const char *word, const char *const *names, size_t n)
{
    const size_t len = strlen(word);
    const char *found = NULL;
    for (size_t i = 0; i < n; i++) {
        if (strncmp(names[i], word, len) != 0)
            continue;
        if (found)
            return NULL;
        found = names[i];
    }
    return found;
}

const char *nearest_word_find(const char *word, const char *const *names, size_t n)
{
    const size_t len = strlen(word);
    if (len == 0 || len > NEAREST_WORD_MAX)
        return NULL;
    const char *best = len < 3 ? NULL : nearest_word_complete(word, names, n);
    if (best)
        return best;
    size_t best_distance = len < 3 ? 2 : len / 3 + 1; /* smallest distance that is too large */
    for (size_t i = 0; i < n; i++) {
        if (strlen(names[i]) > NEAREST_WORD_MAX)
            continue;
        const size_t d = edit_distance(word, names[i]);
        if (d < best_distance) {
            best = names[i];
            best_distance = d;
        }
    }
    return best;
}
