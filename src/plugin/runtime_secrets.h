/* SPDX-License-Identifier: MIT
 * Secrets that a connector sets at run time (tc_secret), by name, in memory only. Each is masked in
 * logs while it is kept, and until it has been replaced twice, because late messages may still
 * contain the previous value. */
#ifndef PLUGIN_RUNTIME_SECRETS_H
#define PLUGIN_RUNTIME_SECRETS_H

#include <stddef.h>

#define RUNTIME_SECRETS_MAX ((size_t)256)

struct runtime_secret {
    struct runtime_secret *next;
    char *name, *value, *before; /* before: the previous value; or NULL */
};

#define RUNTIME_SECRETS_RECENT ((size_t)100)

struct runtime_secrets {
    struct runtime_secret *first;
    size_t count;
    char *recent[RUNTIME_SECRETS_RECENT]; /* names of those of one event; a ring */
    size_t next_recent;
};

/* value NULL: deletes it. -1: too many. */
int runtime_secrets_set(struct runtime_secrets *s, const char *name, const char *value);
/* NULL: not set. */
const char *runtime_secrets_find(const struct runtime_secrets *s, const char *name);
/* Notes that the secret with this name belongs to one event. Returns the name of the secret that
 * must be removed for it, owned by the caller; or NULL. */
char *runtime_secrets_record_recent(struct runtime_secrets *s, const char *name);
void runtime_secrets_fini(struct runtime_secrets *s);

#endif
