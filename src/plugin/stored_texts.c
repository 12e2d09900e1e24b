/* SPDX-License-Identifier: MIT
 * Owns the stored texts of an instance. */
#include "plugin/stored_texts.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static struct stored_text **stored_texts_find_place(struct stored_texts *s, const char *key)
{
    struct stored_text **at = &s->first;
    while (*at && strcmp((*at)->key, key) != 0)
        at = &(*at)->next;
    return at;
}

int stored_texts_set(struct stored_texts *s, size_t max, const char *key, const char *text)
{
    struct stored_text **const at = stored_texts_find_place(s, key);
    if (!*at) {
        if (s->count >= max)
            return -1;
        const size_t size = strlen(key) + 1;
        s->count++;
        *at = xcalloc(1, sizeof **at + size);
        memcpy((*at)->key, key, size);
    }
    free((*at)->text);
    (*at)->text = text ? xstrdup(text) : NULL;
    return 0;
}

static void remove_stored_text(struct stored_texts *s, struct stored_text **at)
{
    struct stored_text *const gone = *at;
    *at = gone->next;
    s->count--;
    free(gone->text);
    free(gone);
}

void stored_texts_remove(struct stored_texts *s, const char *key)
{
    struct stored_text **const at = stored_texts_find_place(s, key);
    if (*at)
        remove_stored_text(s, at);
}

const struct stored_text *stored_texts_find(const struct stored_texts *s, const char *key)
{
    const struct stored_text *at = s->first;
    while (at && strcmp(at->key, key) != 0)
        at = at->next;
    return at;
}

void stored_texts_fini(struct stored_texts *s)
{
    while (s->first)
        remove_stored_text(s, &s->first);
}
