/* SPDX-License-Identifier: MIT
 * One chat completion from the request to its answer. */
#ifndef API_CHAT_CHAT_COMPLETION_H
#define API_CHAT_CHAT_COMPLETION_H

#include "api/chat/chat_request.h"
#include "api/shared/api_internal.h"
#include "api/shared/chat_dedup.h"
#include "dialect/writer/writer.h"
#include "io/journal/journal_types.h"

/* How a turn ended that said nothing of it. */
#define CHAT_CANCELLED "the turn was cancelled"
#define CHAT_LOST "the turn's end is not known"

struct chat {
    struct api *api;
    struct httpd_request *request; /* until it is answered, or its stream begins */
    json_t *body;
    struct chat_ask ask; /* what it borrows is the body's and the request's */
    char *principal, *agent;
    char *user;         /* of the limits: the principal, or whom it speaks for */
    char *conversation; /* or NULL: one of its own */
    struct chat_print print;
    char turn[37];
    struct writing writing; /* of a stream */
    bool done;              /* its end is written */
    struct {                /* of an answer as a whole */
        struct buf text, code, message;
        int64_t input, output;
        bool failed;
    } whole;
};

void chat_free(struct chat *c);
/* Answers with what the turn says, as it was asked for: frees it in the end. The turn is known to
 * the turn log. */
void chat_stream(struct chat *c);
void chat_whole(struct chat *c);
/* Answers with the error of a turn that has failed. */
void chat_whole_failure(struct chat *c);
/* The same for a turn of which only its end is known. */
void chat_stream_past(struct chat *c, const struct record_turn *t);
void chat_whole_past(struct chat *c, const struct record_turn *t);
/* The same with the switches as all that is said. */
void chat_stream_switches(struct chat *c, struct visibility v);
void chat_whole_switches(struct chat *c, struct visibility v);
/* Of feed_ops, for both. */
void chat_closed(void *ctx, bool left);

#endif
