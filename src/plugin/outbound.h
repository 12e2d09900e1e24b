/* SPDX-License-Identifier: MIT
 * What an instance and the host's loop tell each other about requests: the request, what came of
 * it, and the batch of one callback. Each owns all it points to, so it can cross threads; whoever
 * holds it frees it. */
#ifndef PLUGIN_OUTBOUND_H
#define PLUGIN_OUTBOUND_H

#include <stdatomic.h>
#include <stdbool.h>

#include <turncast/plugin.h>

#include "base/arena.h"
#include "base/bytes/buf.h"
#include "base/str.h"

/* A request of a plugin. */
struct outbound_request {
    uint64_t id; /* of its instance: odd when the plugin made it in this run, even when it was
                    on disk */
    char *turn;  /* correlation id; "" of the instance context */
    struct tc_http http; /* its strings are the arena's; body_len is set, tag and method are not
                            NULL */
    struct arena arena;
    atomic_uint refs;
};

/* A copy; NULL: not valid (no URL, sizes beyond the caps), with why. */
struct outbound_request *outbound_request_new(uint64_t id, const char *turn,
                                              const struct tc_http *http, const char **why);
const struct tc_header *outbound_copy_headers(struct arena *a, const struct tc_header *from,
                                              size_t count);
/* Adds a reference. Any thread; a request is immutable. */
struct outbound_request *outbound_request_ref(struct outbound_request *l);
void outbound_request_unref(struct outbound_request *l); /* NULL is fine */

/* Bytes of its body and its parts. */
size_t outbound_content_size(const struct outbound_request *l);

#define OUTBOUND_MAX_PARTS ((size_t)32)

/* outbound_parts.c */
/* Whether any part has a name: those without one are kept, and the body is sent. */
bool outbound_parts_are_sent(const struct tc_http *http);
/* For outbound.c. What is wrong with the parts, or NULL; body and parts have at most `max` bytes,
 * the body alone too. */
const char *outbound_parts_check(const struct tc_http *http, size_t max);
/* A copy in which each len is set. */
const struct tc_part *outbound_parts_copy(struct arena *a, const struct tc_http *http);

/* A durable body: what a row of the journal holds, with room for the rest of the request. */
#define OUTBOUND_MAX_DURABLE ((size_t)15 << 20)

/* Encodes and decodes the record on disk: all but id and turn. NULL: invalid record, with the
 * reason. */
void outbound_request_pack(struct buf *out, const struct outbound_request *l);
struct outbound_request *outbound_unpack(uint64_t id, const char *turn, struct str record,
                                         const char **why);

/* Result of a request, for on_reply. */
struct outbound_reply {
    uint64_t request;
    bool last;                      /* `verdict` cannot be AGAIN: the request is gone after it */
    struct tc_reply reply;          /* strings in the arena, or of the request, as http is */
    struct outbound_request *about; /* shared */
    struct tc_verdict verdict;      /* as the host would decide */
    struct arena arena;
};

void outbound_reply_free(struct outbound_reply *r); /* NULL is fine */

/* Result of a request that the plugin performed itself. */
struct outbound_result {
    struct outbound_result *next;
    uint64_t request;
    enum tc_outcome outcome; /* OK, REJECTED, NOT_SENT or AMBIGUOUS */
    int status;
    struct str body;
    const char *error; /* or NULL */
    int64_t hold_ms;
    struct arena arena;
};

/* A copy; NULL: it is not valid, with why. */
struct outbound_result *outbound_result_new(uint64_t request, const struct tc_completion *c,
                                            const char **why);
void outbound_results_free(struct outbound_result *first); /* NULL is fine */

enum batch_settlement {
    BATCH_NOTHING,
    BATCH_OUTCOME, /* the outcome row of `turn` for this instance: on_final or on_error returned */
    BATCH_REQUEST, /* `request`: on_reply returned; each outbound_reply is answered by one batch */
};

/* All that one callback sent: committed together. */
struct callback_batch {
    enum batch_settlement settles;
    bool failed; /* the callback returned -1: an outcome becomes a dead letter; of a reply the
                    verdict counts as it was */
    char *turn;
    uint64_t request;
    struct tc_verdict verdict;          /* BATCH_REQUEST; reason owned */
    struct outbound_request **requests; /* in the order they were sent */
    size_t count;
    struct outbound_result *results; /* take effect after the rest, in their order */
    char *memory;                    /* tc_remember of `turn`; NULL: unchanged; "": none any more */
    bool over; /* the last of `turn`: on_done has returned (or no events were to come), and
                  none of its requests is under way; one batch of each turn says so, even when
                  there is nothing else in it */
};

void callback_batch_free(struct callback_batch *b); /* NULL is fine; the requests too */

#endif
