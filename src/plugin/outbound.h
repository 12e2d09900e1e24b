/* SPDX-License-Identifier: MIT
 * Data exchanged between an instance and the host's loop about requests: the request, its result,
 * and the batch of one callback. Each owns all its data, so it can be passed between threads; its
 * holder frees it. */
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
    uint64_t id; /* chosen by the instance: odd if the plugin created it in this process, even if it
                  * was on disk */
    char *turn;  /* correlation id; "" for the instance context */
    struct tc_http http; /* its strings are in the arena; body_len is set, tag and method are not
                          * NULL */
    struct arena arena;
    atomic_uint refs;
};

/* A copy; NULL: invalid (no URL, limits exceeded), with why. */
struct outbound_request *outbound_request_new(uint64_t id, const char *turn,
                                              const struct tc_http *http, const char **why);
const struct tc_header *outbound_copy_headers(struct arena *a, const struct tc_header *from,
                                              size_t count);
/* Adds a reference. Any thread; a request is immutable. */
struct outbound_request *outbound_request_ref(struct outbound_request *l);
void outbound_request_unref(struct outbound_request *l); /* NULL is allowed */

/* Size of its body and its parts. */
size_t outbound_content_size(const struct outbound_request *l);

#define OUTBOUND_MAX_PARTS ((size_t)32)

/* outbound_parts.c */
/* Whether any part has a name: nameless parts are only stored, and the body is sent. */
bool outbound_parts_are_sent(const struct tc_http *http);
/* For outbound.c. The error of the parts, or NULL; body and parts have at most `max` bytes
 * together, and the body alone, too. */
const char *outbound_parts_check(const struct tc_http *http, size_t max);
/* A copy in which each len is set. */
const struct tc_part *outbound_parts_copy(struct arena *a, const struct tc_http *http);

/* Limit of a durable body: that of a journal row, less room for the rest of the request. */
#define OUTBOUND_MAX_DURABLE ((size_t)15 << 20)

/* Encodes and decodes the stored form: everything except id and turn. NULL: invalid record, with
 * the reason. */
void outbound_request_pack(struct buf *out, const struct outbound_request *l);
struct outbound_request *outbound_unpack(uint64_t id, const char *turn, struct str record,
                                         const char **why);

/* Result of a request, for on_reply. */
struct outbound_reply {
    uint64_t request;
    bool last;                      /* `verdict` cannot be AGAIN: there is no further attempt */
    struct tc_reply reply;          /* owns strings that are not in the request, like http */
    struct outbound_request *about; /* shared */
    struct tc_verdict verdict;      /* the host's default decision */
    struct arena arena;
};

void outbound_reply_free(struct outbound_reply *r); /* NULL is allowed */

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

/* A copy; NULL: invalid, with why. */
struct outbound_result *outbound_result_new(uint64_t request, const struct tc_completion *c,
                                            const char **why);
void outbound_results_free(struct outbound_result *first); /* NULL is allowed */

enum batch_settlement {
    BATCH_NOTHING,
    BATCH_OUTCOME, /* settles the outcome row of `turn` for this instance: on_final or on_error
                    * returned */
    BATCH_REQUEST, /* `request`: on_reply returned; each outbound_reply is answered by one batch */
};

/* The complete output of one callback, committed together. */
struct callback_batch {
    enum batch_settlement settles;
    bool failed; /* the callback returned -1: an outcome becomes a dead letter; for a reply, the
                  * default verdict counts */
    char *turn;
    uint64_t request;
    struct tc_verdict verdict;          /* BATCH_REQUEST; reason owned */
    struct outbound_request **requests; /* in the order they were sent */
    size_t count;
    struct outbound_result *results; /* take effect after the rest, in their order */
    char *memory;                    /* tc_remember of `turn`; NULL: unchanged; "": deleted */
    bool over; /* the last batch of `turn`: on_done has returned (or no events were expected), and
                * no request is pending; one batch of each turn says so, even if it is otherwise
                * empty */
    const void *ending; /* `over`: handle of the turn that ends, because several turns of an
                         * instance may have the same id; NULL: not known */
};

void callback_batch_free(struct callback_batch *b); /* NULL is allowed; also frees the requests */

#endif
