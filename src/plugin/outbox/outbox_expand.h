/* SPDX-License-Identifier: MIT
 * Builds a request for sending by replacing placeholders with values. The result contains secrets,
 * and is freed as soon as the request has been passed on. */
#ifndef PLUGIN_OUTBOX_OUTBOX_EXPAND_H
#define PLUGIN_OUTBOX_OUTBOX_EXPAND_H

#include "io/http/client/httpc.h"
#include "plugin/outbound.h"
#include "plugin/runtime_secrets.h"

struct expanded_request {
    struct httpc_request http; /* its strings belong to the request, the arena or `body` */
    struct buf body;           /* body of a request with parts */
    struct arena arena;
};

/* Source of the values of options and secrets. */
struct expand_source {
    /* The text of an option; NULL: unknown option; "": no value. */
    const char *(*option)(void *ctx, const char *name);
    void *ctx;
    const struct runtime_secrets *secrets;
};

/* NULL, or why it cannot be sent: a text in the arena without values of options. */
const char *outbox_expand_request(struct expanded_request *f, const struct outbound_request *l,
                                  const char *save_dir, const struct expand_source *source);
/* A text with its placeholders replaced, in the arena, or unchanged; *wrong as above, or NULL. */
const char *outbox_expand_text(struct arena *a, const struct expand_source *source,
                               const char *text, const char **wrong);
/* Expands the value of a header. NULL: the value names an option that is not set; omit the
 * header. */
const char *outbox_expand_header(struct arena *a, const struct expand_source *source,
                                 const char *value, const char **wrong);
/* The name of a secret that the request needs and that is not set (*len bytes); or NULL. */
const char *outbox_expand_find_missing(const struct tc_http *http,
                                       const struct runtime_secrets *secrets, size_t *len);
void outbox_expand_fini(struct expanded_request *f);

#endif
