/* SPDX-License-Identifier: MIT
 * A request as it goes out: the texts of options in their places. What is made here holds secrets
 * and is gone as soon as the request has been handed over. */
#ifndef PLUGIN_OUTBOX_OUTBOX_EXPAND_H
#define PLUGIN_OUTBOX_OUTBOX_EXPAND_H

#include "io/http/client/httpc.h"
#include "plugin/outbound.h"

struct expanded_request {
    struct httpc_request http; /* its strings are the request's, the arena's or `body` */
    struct buf body;           /* of a request with parts */
    struct arena arena;
};

/* NULL, or why it cannot be sent: a text of the arena, without any option's text. `option` gives
 * the text of an option, NULL when there is none of that name. */
const char *outbox_expand_request(struct expanded_request *f, const struct outbound_request *l,
                                  const char *save_dir,
                                  const char *(*option)(void *ctx, const char *name), void *ctx);
void outbox_expand_fini(struct expanded_request *f);

#endif
