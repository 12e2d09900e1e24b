/* SPDX-License-Identifier: MIT
 * POST /v1/chat/completions: starts a turn, or attaches to the one that an identical recent
 * request started. */
#ifndef API_CHAT_CHAT_COMPLETION_H
#define API_CHAT_CHAT_COMPLETION_H

#include "api/chat/chat_request.h"
#include "api/shared/api_internal.h"
#include "api/shared/chat_dedup.h"
#include "dialect/writer/writer.h"
#include "io/journal/journal_types.h"

/* Message for a turn that was cancelled without an outcome. */
#define CHAT_CANCELLED "The turn was cancelled."
#define CHAT_LOST "The outcome of the turn is unknown, because its record was deleted."

struct chat_completion {
    struct api_context *api;
    struct httpd_request *request; /* NULL once it is answered or its stream has begun */
    json_t *body;
    struct chat_request ask; /* borrows from body and request */
    char *principal, *agent;
    bool shares;        /* conversations of the principal are shared */
    char *user;         /* user for limits: the principal, or the person for whom it speaks */
    char *conversation; /* or NULL: a new conversation */
    struct chat_dedup_fingerprint print;
    char turn[37];
    struct writer_stream writing; /* for a streamed response */
    bool done;                    /* the end of the stream is written */
    struct {                      /* for a response in one piece */
        struct buf text, code, message;
        int64_t input, output;
        bool failed;
    } whole;
};

void chat_completion_free(struct chat_completion *c);
/* Sends the events of the turn in the requested form and frees the completion at the end. The turn
 * must be in the turn log. */
void chat_stream_start(struct chat_completion *c);
void chat_response_start(struct chat_completion *c);
/* Answers with the error of a turn that has failed. */
void chat_response_send_error(struct chat_completion *c);
/* The same for a turn of which only the journal knows the outcome. */
void chat_completion_stream_past(struct chat_completion *c, const struct journal_turn *t);
void chat_completion_whole_past(struct chat_completion *c, const struct journal_turn *t);
/* The same for a message of visibility commands only: reports the settings. */
void chat_stream_send_visibility(struct chat_completion *c, struct visibility v);
void chat_response_send_visibility(struct chat_completion *c, struct visibility v);
/* event_stream_ops.closed of both forms. */
void chat_completion_on_closed(void *ctx, bool left);

#endif
