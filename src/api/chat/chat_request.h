/* SPDX-License-Identifier: MIT
 * Request of OpenAI's chat completions: messages, conversation, person and form of the response.
 * Parameters that only a model could use are ignored. Pure. */
#ifndef API_CHAT_CHAT_REQUEST_H
#define API_CHAT_CHAT_REQUEST_H

#include "api/shared/chat_messages.h"
#include "io/http/server/httpd.h"

struct chat_request {
    const char *model; /* of the body, or NULL */
    bool streams;
    bool wants_usage; /* stream_options.include_usage */
    struct chat_messages said;
    char *user;         /* the person named by the client, or NULL */
    char *conversation; /* the name given by the client, or NULL: a new conversation */
    const char *id;     /* identifies repeated requests, or NULL; borrowed from the request */
};

/* NULL, or why the request is refused. Free it in both cases. */
const char *chat_request_parse(struct chat_request *ask, const struct httpd_request *r,
                               const json_t *body);
void chat_request_fini(struct chat_request *ask);

#endif
