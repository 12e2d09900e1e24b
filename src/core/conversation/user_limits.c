/* SPDX-License-Identifier: MIT
 * Owns the users with running turns. */
#include "core/conversation/user_limits.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/invariant.h"

struct user_limits_entry {
    const char *source, *name;
    size_t turns;
};

struct user_limits {
    void *tree; /* of search.h */
};

static int user_limits_compare(const void *a, const void *b)
{
    const struct user_limits_entry *const one = a, *const other = b;
    const int order = strcmp(one->name, other->name);
    return order ? order : strcmp(one->source, other->source);
}

static struct user_limits_entry *user_limits_find(const struct user_limits *p, const char *source,
                                                  const char *name)
{
    const struct user_limits_entry key = {.source = source, .name = name};
    struct user_limits_entry *const *const found =
        name ? tfind(&key, &p->tree, user_limits_compare) : NULL;
    return found ? *found : NULL;
}

static void free_person(void *person)
{
    free(person);
}

/* Allocates it with its strings behind it. */
static struct user_limits_entry *user_limits_make(const char *source, const char *name)
{
    const size_t of_source = strlen(source) + 1, of_name = strlen(name) + 1;
    struct user_limits_entry *const person = xmalloc(sizeof *person + of_source + of_name);
    char *const text = (char *)(person + 1);
    memcpy(text, source, of_source);
    memcpy(text + of_source, name, of_name);
    *person = (struct user_limits_entry){.source = text, .name = text + of_source};
    return person;
}

void user_limits_acquire(struct user_limits *p, const char *source, const char *name)
{
    struct user_limits_entry *person = user_limits_find(p, source, name);
    if (name && !person) {
        person = user_limits_make(source, name);
        alloc_check(tsearch(person, &p->tree, user_limits_compare), sizeof(void *));
    }
    if (person)
        person->turns++;
}

void user_limits_release(struct user_limits *p, const char *source, const char *name)
{
    struct user_limits_entry *const person = user_limits_find(p, source, name);
    if (!person)
        return;
    ASSERT(person->turns > 0);
    if (--person->turns)
        return;
    tdelete(person, &p->tree, user_limits_compare);
    free_person(person);
}

size_t user_limits_count(const struct user_limits *p, const char *source, const char *name)
{
    const struct user_limits_entry *const person = user_limits_find(p, source, name);
    return person ? person->turns : 0;
}

struct user_limits *user_limits_new(void)
{
    return xcalloc(1, sizeof(struct user_limits));
}

void user_limits_free(struct user_limits *p)
{
    if (p)
        tdestroy(p->tree, free_person);
    free(p);
}
