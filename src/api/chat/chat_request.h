/* SPDX-License-Identifier: MIT
 * What a client of OpenAI's chat completions asks with: who says what in which conversation, and in
 * which form it wants the answer. What only a model could heed is passed over. Pure. */
#ifndef API_CHAT_CHAT_REQUEST_H
#define API_CHAT_CHAT_REQUEST_H

#include "api/shared/chat_messages.h"
#include "io/http/server/httpd.h"

struct chat_request {
    const char *model; /* the body's, or NULL */
    bool streams;
    bool wants_usage; /* stream_options.include_usage */
    struct chat_messages said;
    char *user;         /* who it is for as the client says, or NULL */
    char *conversation; /* as the client calls it, or NULL: one of its own */
    const char *id;     /* by which the same request is known again, or NULL; the request's */
};

/* NULL, or why it is refused. To be freed either way. */
const char *chat_request_parse(struct chat_request *ask, const struct httpd_request *r,
                               const json_t *body);
void chat_request_fini(struct chat_request *ask);

#endif
