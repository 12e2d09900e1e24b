/* SPDX-License-Identifier: MIT
 * What the parts of the connector otlp share. All of it belongs to the thread of the instance. */
#ifndef OTLP_H
#define OTLP_H

#include <turncast/plugin.h>

#define OTLP_VERSION "1.0"
#define OTLP_QUEUE ((size_t)2048) /* spans that wait; more are dropped and counted */

struct otlp_conf {
    const char *endpoint, *service;
    const char *const *headers, *const *resource;
    bool content, input_includes_cache;
};

/* State of an instance. */
struct otlp {
    const char *head;        /* the JSON in front of the spans of a request */
    char *spans[OTLP_QUEUE]; /* JSON texts, malloc(3) */
    size_t n, bytes;         /* of spans that wait */
    size_t in_flight;        /* spans of the request that has not ended */
    uint64_t lost;           /* spans since the last success */
    struct tc_header *headers;
    size_t header_count;
};

/* Queues a span, JSON text; its secrets are masked. */
void otlp_put(struct tc_instance *inst, const char *span);
/* Sends what waits, unless a request is under way. */
void otlp_send(struct tc_instance *inst);
int otlp_take_reply(struct tc_turn *lobby, const struct tc_reply *reply, struct tc_verdict *v);
/* Appends an attribute to a list, JSON texts with commas between them; valid until the callback
 * returns. A text that is NULL or empty and a number below 0 are left out. */
void otlp_add_text(struct tc_turn *turn, const char **list, const char *key, const char *text);
void otlp_add_number(struct tc_turn *turn, const char **list, const char *key, int64_t number);

/* otlp_turn.c: what becomes of events */
extern const struct tc_sink otlp_sink;
#define OTLP_TURN_SIZE ((size_t)256) /* at least the state of a turn */

#endif
