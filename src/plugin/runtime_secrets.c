/* SPDX-License-Identifier: MIT
 * Owns the run-time secrets of an instance. */
#include "plugin/runtime_secrets.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sys/log.h"

static void runtime_secrets_erase_value(char *value)
{
    if (!value)
        return;
    log_remove_secret(value);
    explicit_bzero(value, strlen(value));
    free(value);
}

static struct runtime_secret **find_place(struct runtime_secrets *s, const char *name)
{
    struct runtime_secret **at = &s->first;
    while (*at && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    return at;
}

static void free_secret(struct runtime_secret *secret)
{
    runtime_secrets_erase_value(secret->value);
    runtime_secrets_erase_value(secret->before);
    free(secret->name);
    free(secret);
}

static void remove_secret(struct runtime_secrets *s, struct runtime_secret **at)
{
    struct runtime_secret *const gone = *at;
    if (!gone)
        return;
    *at = gone->next;
    s->count--;
    free_secret(gone);
}

int runtime_secrets_set(struct runtime_secrets *s, const char *name, const char *value)
{
    struct runtime_secret **const at = find_place(s, name);
    if (!value) {
        remove_secret(s, at);
        return 0;
    }
    if (!*at) {
        if (s->count == RUNTIME_SECRETS_MAX)
            return -1;
        s->count++;
        *at = xcalloc(1, sizeof **at);
        (*at)->name = xstrdup(name);
    }
    struct runtime_secret *const secret = *at;
    if (secret->value && strcmp(secret->value, value) == 0)
        return 0;
    runtime_secrets_erase_value(secret->before);
    secret->before = secret->value;
    secret->value = xstrdup(value);
    log_add_secret(value);
    return 0;
}

const char *runtime_secrets_find(const struct runtime_secrets *s, const char *name)
{
    for (const struct runtime_secret *at = s->first; at; at = at->next)
        if (strcmp(at->name, name) == 0)
            return at->value;
    return NULL;
}

char *runtime_secrets_record_recent(struct runtime_secrets *s, const char *name)
{
    for (size_t i = 0; i < RUNTIME_SECRETS_RECENT; i++)
        if (s->recent[i] && strcmp(s->recent[i], name) == 0)
            return NULL;
    char **const place = &s->recent[s->next_recent++ % RUNTIME_SECRETS_RECENT];
    char *const oldest = *place;
    *place = xstrdup(name);
    return oldest;
}

void runtime_secrets_fini(struct runtime_secrets *s)
{
    for (size_t i = 0; i < RUNTIME_SECRETS_RECENT; i++)
        free(s->recent[i]);
    while (s->first)
        remove_secret(s, &s->first);
}
