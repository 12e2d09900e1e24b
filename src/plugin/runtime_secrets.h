/* SPDX-License-Identifier: MIT
 * Secrets that a connector gets while it runs (tc_secret), by name, in memory only. Each is masked
 * in logs while it is kept, and until it has been replaced twice: what comes late may still name
 * the one before. */
#ifndef PLUGIN_RUNTIME_SECRETS_H
#define PLUGIN_RUNTIME_SECRETS_H

#include <stddef.h>

#define RUNTIME_SECRETS_MAX ((size_t)256)

struct runtime_secret {
    struct runtime_secret *next;
    char *name, *value, *before; /* before: the value that it had; or NULL */
};

struct runtime_secrets {
    struct runtime_secret *first;
    size_t count;
};

/* value NULL: forgets it. -1: there are too many. */
int runtime_secrets_set(struct runtime_secrets *s, const char *name, const char *value);
/* NULL: it is not set. */
const char *runtime_secrets_find(const struct runtime_secrets *s, const char *name);
void runtime_secrets_fini(struct runtime_secrets *s);

#endif
