/* SPDX-License-Identifier: MIT
 * What the files of the connector webhook share: its options, its keys, and signatures as Standard
 * Webhooks defines them. */
#ifndef WEBHOOK_H
#define WEBHOOK_H

#include <turncast/plugin.h>

#define WEBHOOK_KEYS 8       /* of one direction */
#define WEBHOOK_KEY_BYTES 64 /* of the longest */

struct webhook_conf {
    const char *url, *secret, *token, *inbound_secret, *format;
    const char *const *types;
    int64_t retry_s;
    bool receive;
};

struct webhook_key {
    size_t len;
    uint8_t bytes[WEBHOOK_KEY_BYTES];
};

struct webhook_keys {
    size_t count;
    struct webhook_key key[WEBHOOK_KEYS];
};

struct webhook {
    struct webhook_keys out, in;
    const char *source; /* of CloudEvents: this host and instance */
    bool is_gone;       /* the endpoint has answered 410: nothing is sent until the next start */
    bool is_failing;    /* the last attempt failed, which was logged */
};

/* What is signed: id.timestamp.body */
struct webhook_message {
    const char *id, *timestamp, *body;
    size_t len;
};

/* Reads the keys in `text`, which are separated by white space. If there are several, each one is
 * masked in logs from then on. -1: one is not valid; logged with the name of the option, without
 * the value. */
int webhook_keys_read(struct tc_instance *inst, const char *option, const char *text,
                      struct webhook_keys *keys);
/* The value of the header webhook-signature: one signature per key. Valid until the callback
 * returns; NULL: out of memory. */
const char *webhook_keys_sign(struct tc_turn *turn, const struct webhook_keys *keys,
                              const struct webhook_message *message);
/* Whether one of the first 16 signatures in the header is that of one of the keys. */
bool webhook_keys_verify(struct tc_turn *turn, const struct webhook_keys *keys,
                         const struct webhook_message *message, const char *signatures);

/* on_hit: a signed message, decision or wish to stop a turn. Sets the response; returns 0. */
int webhook_inbound_take(struct tc_turn *lobby, const struct tc_hit *hit, struct tc_answer *answer);

#endif
