/* SPDX-License-Identifier: MIT
 * Keys of the HTTP API: principals, grants, secrets. */
#include <string.h>

#include "conf/conf_internal.h"
#include "conf/default_paths.h"
#include "conf/parse/secret.h"

/* Minimum length in characters, so that a key cannot be guessed over a network. */
#define SECRET_MIN 16

#define KEY(member) offsetof(struct conf_http_key, member)

static int read_secret(const struct conf_row_ctx *r, const struct conf_node *n,
                       const struct conf_row *row, void *target);

static const struct conf_choice grants[] = {{"submit", CONF_SUBMIT},
                                            {"cancel", CONF_CANCEL},
                                            {"watch", CONF_WATCH},
                                            {"answer", CONF_ANSWER},
                                            {NULL, 0}};

const char *conf_grant_name(unsigned grant)
{
    const struct conf_choice *c = grants;
    while (c->name && (unsigned)c->value != grant)
        c++;
    return c->name;
}

static const struct conf_row rows[] = {
    {"secret", read_secret, KEY(source), 0, 0, NULL},
    {"secret_file", read_secret, KEY(source), 0, 0, "file:"},
    {"grants", conf_row_flags, KEY(grants), 0, 0, grants},
    {"shared_conversations", conf_row_bool, KEY(shares), 0, 0, NULL},
    {NULL, NULL, 0, 0, 0, NULL},
};

/* Stores the text, with the row's extra before it if set. A path that begins with ${...} is kept as
 * it is. */
static int read_secret(const struct conf_row_ctx *r, const struct conf_node *n,
                       const struct conf_row *row, void *target)
{
    struct conf_http_key *const key = target;
    if (key->source)
        return conf_row_error(r, n, "set either secret or secret_file, not both");
    if (conf_row_string(r, n, row, target) < 0 || !row->extra)
        return key->source ? 0 : -1;
    const char *const path =
        *key->source == '$' ? key->source : conf_row_resolve_path(r, key->source);
    key->source = arena_sprintf(r->arena, "%s%s", (const char *)row->extra, path);
    return 0;
}

static int read_key(const struct conf_row_ctx *r, const struct conf_node *n,
                    struct conf_http_key *key)
{
    *key = (struct conf_http_key){
        .name = arena_strdup(r->arena, n->name), .file = n->file, .line = n->line};
    if (conf_check_name(r, n) < 0 || conf_row_parse_group(r, n, rows, key) < 0)
        return -1;
    if (!key->source)
        return conf_row_error(r, n,
                              "required key \"secret_file\" is missing; add the path of a file");
    return key->grants
               ? 0
               : conf_row_error(
                     r, n,
                     "required key \"grants\" is missing; values: submit, cancel, watch, answer");
}

int conf_http_key_parse_all(const struct conf_row_ctx *r, const struct conf_node *n,
                            const struct conf_row *row, void *target)
{
    struct conf_http *const http = target;
    (void)row;
    if (conf_row_check_type(r, n, NODE_GROUP) < 0)
        return -1;
    http->keys = arena_alloc(r->arena, n->n * sizeof *http->keys);
    int rc = 0;
    for (; http->n_keys < n->n; http->n_keys++)
        if (read_key(r, &n->items[http->n_keys], &http->keys[http->n_keys]) < 0)
            rc = -1;
    return rc;
}

/* ---- secrets ---- */

static int conf_http_key_resolve(const struct conf_http *http, size_t i,
                                 const struct conf_row_ctx *r)
{
    struct conf_http_key *const key = &http->keys[i];
    const struct conf_node at = {.file = key->file, .line = key->line};
    struct tc_err why = {0};
    key->secret = secret_resolve(key->source, r->dir, r->arena, &why);
    if (!key->secret)
        return conf_row_error(r, &at, "http.keys.%s: %s", key->name, why.text);
    if (strlen(key->secret) < SECRET_MIN)
        return conf_row_error(r, &at,
                              "http.keys.%s: the secret is too short; use at least %d characters",
                              key->name, SECRET_MIN);
    for (size_t k = 0; k < i; k++)
        if (http->keys[k].secret && strcmp(http->keys[k].secret, key->secret) == 0)
            return conf_row_error(r, &at,
                                  "http.keys.%s: same secret as key \"%s\"; use a different one",
                                  key->name, http->keys[k].name);
    return 0;
}

/* An error for a missing source was added already. */
int conf_http_key_resolve_all(struct conf_http *http, const char *file, struct arena *a,
                              struct findings *findings)
{
    const struct conf_row_ctx r = {.arena = a,
                                   .file = file,
                                   .dir = file ? default_paths_dirname(a, file) : NULL,
                                   .findings = findings};
    int rc = 0;
    for (size_t i = 0; i < http->n_keys; i++)
        if (http->keys[i].source && conf_http_key_resolve(http, i, &r) < 0)
            rc = -1;
    return rc;
}
