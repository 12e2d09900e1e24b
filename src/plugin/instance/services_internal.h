/* SPDX-License-Identifier: MIT
 * Internal interface between the files of the host services. */
#ifndef PLUGIN_INSTANCE_SERVICES_INTERNAL_H
#define PLUGIN_INSTANCE_SERVICES_INTERNAL_H

#include "plugin/instance/instance_internal.h"
#include "plugin/validate.h"

/* Memory for n bytes that lasts until the callback returns; NULL: invalid handle or limit exceeded,
 * which was logged. */
struct arena *services_get_scratch(struct tc_turn *turn, size_t n, const char *service);
/* Allocates memory that lasts until the turn ends. */
struct arena *services_get_turn_arena(struct tc_turn *turn, size_t n, const char *service);
/* Whether the host offers the service; otherwise logs that once per instance. */
bool services_check_offered(struct instance *in, const char *service, bool offered, unsigned bit);
/* Logs why the service failed; -1. */
int services_refuse(const struct instance *in, const char *service, const char *why);

enum {
    OFFER_HTTP = 1,
    OFFER_ASK = 2,
    OFFER_ROUTE = 4,
    OFFER_SOCKET = 8,
    OFFER_HOLD = 16,
    OFFER_WATCH = 32,
    OFFER_STORE = 64
};

/* services_send.c */
char *service_keep(struct tc_turn *turn, const char *text);
int service_http(struct tc_turn *turn, const struct tc_http *http);
void service_wake(struct tc_turn *turn, int64_t ms);
int service_complete(struct tc_turn *turn, uint64_t number, const struct tc_completion *completion);
int service_secret(struct tc_instance *inst, const char *name, const char *value);
int service_secret_of(struct tc_instance *inst, const char *name, const char *value);
int service_remember(struct tc_turn *turn, const char *text);

/* services_hold.c */
int64_t service_hold(struct tc_turn *turn);
int service_release(struct tc_turn *turn, int64_t number, const char *failure);
int service_watch(struct tc_instance *inst, int fd);
void service_unwatch(struct tc_instance *inst, int fd);
void service_pause(struct tc_instance *inst, bool on);

/* instance_chat.c */
enum tc_accepted service_chat_receive(struct tc_turn *turn, const struct tc_chat_message *message);
int service_chat_describe(struct tc_instance *inst, const struct tc_chat *table);
int service_chat_act(struct tc_turn *turn, const struct tc_chat_action *action);
const struct tc_form_input *service_chat_inputs(struct tc_turn *turn, const struct tc_field *fields,
                                                size_t count, size_t inputs_max, size_t options_max,
                                                size_t *n);
const struct tc_field *service_chat_form(struct tc_turn *turn, const struct tc_chat_action *action,
                                         size_t *count);
int service_feed_add(struct tc_turn *turn, const char *event, const char *position);
void service_feed_go(struct tc_turn *turn);
const char *service_feed_position(struct tc_turn *turn);
void service_feed_ready(struct tc_turn *turn, bool gap);
void service_feed_page(struct tc_turn *turn, const char *key, const struct tc_reply *reply,
                       const char *events, const char *next);

/* services_text.c */
const struct tc_piece *service_pieces(struct tc_turn *turn, const struct tc_text *given,
                                      size_t *count);
size_t service_settled(struct tc_turn *turn, const char *text, size_t len);

char *service_cut(struct tc_turn *turn, const char *text, size_t bytes);
char *service_fit(struct tc_turn *turn, const char *text, size_t characters);

/* services_url.c */
/* Length of "SCHEME://HOST[:PORT]" at the beginning of a URL; 0: it does not begin so, or names a
 * user. */
size_t services_url_origin_length(const char *url);
char *service_url_at(struct tc_turn *turn, const char *url, const char *option, const char *hosts);

/* services_store.c */
int service_store(struct tc_instance *inst, const char *key, const char *text);
char *service_load(struct tc_instance *inst, const char *key);

/* services_value.c */
char *service_json_get(struct tc_turn *turn, const char *json, const char *pointer);
char *service_json_key(struct tc_turn *turn, const char *json, int i);
char *service_json_member(struct tc_turn *turn, const char *json, const char *name);
char *service_quote(struct tc_turn *turn, const char *text);
char *service_say(struct tc_turn *turn, const char *english, const char *value);
const char *service_header_value(const struct tc_header *headers, size_t count, const char *name);
int64_t service_random(struct tc_turn *turn, int64_t least, int64_t most);
bool service_is_recent(struct tc_turn *turn, const char *text, int64_t seconds);

/* services_crypto.c */
char *service_hmac_sha256(struct tc_turn *turn, const char *key, size_t key_len, const char *data,
                          size_t len);
bool service_same(struct tc_turn *turn, const char *a, const char *b);
bool service_ed25519_verify(struct tc_turn *turn, const char *public_key, const char *signature,
                            const char *data, size_t len);
char *service_ed25519_sign(struct tc_turn *turn, const char *private_key, const char *data,
                           size_t len);

bool service_is_signed(struct tc_turn *turn, const struct tc_hit *hit,
                       const struct tc_signature *signature);

/* services_webhook.c */
int service_webhook_keys(struct tc_instance *inst, const char *option, const char *keys, bool sign);
char *service_webhook_sign(struct tc_turn *turn, const char *keys, const char *id,
                           const char *timestamp, const char *body, size_t len);
const char *service_webhook_check(struct tc_turn *turn, const char *keys, const struct tc_hit *hit);

/* services_inbound.c */
enum tc_accepted service_submit(struct tc_turn *turn, const struct tc_inbound *inbound,
                                struct tc_receipt *receipt);
bool service_may_submit(struct tc_turn *turn, const char *user, const char *chat);
bool service_knows(struct tc_turn *turn, const char *chat, const char *thread);
/* For the chat engine: see HOST_CALL_RESEND. */
enum tc_accepted instance_resend(struct instance *in, const char *turn, const char *user,
                                 const char *chat, struct tc_receipt *receipt);
/* For the chat engine: see HOST_CALL_RETRY. */
enum tc_accepted instance_retry(struct instance *in, const struct tc_inbound *inbound,
                                const char *turn, struct tc_receipt *receipt);
enum tc_accepted service_cancel(struct tc_turn *turn, const char *id, const char *user,
                                struct tc_receipt *receipt);

const char *service_ticket(struct tc_turn *turn, const char *request);
enum tc_accepted service_answer(struct tc_turn *turn, const struct tc_decision *decision,
                                struct tc_receipt *receipt);

/* instance_link.c */
int service_link_keep(struct tc_instance *inst, const struct tc_link *table);
int service_link_open(struct tc_turn *lobby, const struct tc_socket *socket);
int service_link_send(struct tc_turn *lobby, const char *text);
int service_link_step(struct tc_turn *lobby, enum tc_link_step step, int64_t ms, const char *text);

/* services_net.c */
int service_route(struct tc_instance *inst, const char *path);
int service_route_signed(struct tc_instance *inst, const char *path,
                         const struct tc_issuer *issuer); /* instance_issuer.c */
int service_hit_answer(struct tc_instance *inst, uint64_t number, const struct tc_answer *answer);
int64_t service_socket_open(struct tc_instance *inst, const struct tc_socket *socket);
int service_socket_send(struct tc_instance *inst, int64_t socket, const char *text, size_t len);
int service_socket_send_binary(struct tc_instance *inst, int64_t socket, const void *data,
                               size_t len);
void service_socket_close(struct tc_instance *inst, int64_t socket);

#endif
