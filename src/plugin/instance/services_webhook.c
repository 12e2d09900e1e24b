/* SPDX-License-Identifier: MIT
 * Signatures of Standard Webhooks: tc_webhook_keys, tc_webhook_sign, tc_webhook_check. The
 * connector webhook uses them. */
#include <stdio.h>
#include <string.h>

#include "plugin/instance/services_internal.h"
#include "plugin/signature/webhook_keys.h"

#define ID_MAX 256
#define WINDOW_S 300 /* accepted age of a signature, in both directions */

static const char blanks[] = " \t\r\n";

/* With several keys, the whole list is already masked as one secret. */
static int webhook_keys_mask(struct tc_instance *inst, const char *option, const char *keys)
{
    char name[64], one[160] = "";
    unsigned number = 0;
    for (const char *at = keys + strspn(keys, blanks); *at; at += strspn(at, blanks)) {
        const size_t len = strcspn(at, blanks);
        snprintf(name, sizeof name, "%s.%u", option, ++number);
        snprintf(one, sizeof one, "%.*s", (int)len, at);
        if (len < strlen(keys) && service_secret(inst, name, one) < 0)
            return -1;
        at += len;
    }
    explicit_bzero(one, sizeof one);
    return 0;
}

int service_webhook_keys(struct tc_instance *inst, const char *option, const char *keys, bool sign)
{
    struct instance *const in = instance_check_thread(inst, "tc_webhook_keys");
    struct webhook_keys read = {0};
    if (!in || !option || !keys)
        return -1;
    const size_t wrong = webhook_keys_read(&read, keys);
    const bool able = read.count > 0 && (!sign || webhook_keys_can_sign(&read));
    webhook_keys_fini(&read);
    if (wrong || !able) {
        log_write(LOG_ERR, in->label,
                  "option %s: key %zu is not valid; expected at most 8 keys in Base64, each whsec_ "
                  "with 24 to 64 bytes, %s",
                  option, wrong ? wrong : 1,
                  sign ? "or whsk_ with the 32 bytes of an Ed25519 key"
                       : "or whpk_ or whsk_ with the 32 bytes of an Ed25519 key");
        return -1;
    }
    return webhook_keys_mask(inst, option, keys);
}

char *service_webhook_sign(struct tc_turn *turn, const char *keys, const char *id,
                           const char *timestamp, const char *body, size_t len)
{
    struct arena *const arena = services_get_scratch(turn, 0, "tc_webhook_sign");
    struct webhook_keys read = {0};
    CLEANUP_BUF struct buf out = {0};
    if (!arena || !keys || !id || !timestamp || (!body && len))
        return NULL;
    const bool able = webhook_keys_read(&read, keys) == 0 && webhook_keys_can_sign(&read);
    if (able)
        webhook_keys_sign(&read, &(struct webhook_message){id, timestamp, body ? body : "", len},
                          &out);
    webhook_keys_fini(&read);
    return able ? arena_strdup(arena, out.p) : NULL;
}

const char *service_webhook_check(struct tc_turn *turn, const char *keys, const struct tc_hit *hit)
{
    if (!services_get_scratch(turn, 0, "tc_webhook_check") || !keys || !hit)
        return "nothing is signed";
    const struct tc_header *const all = hit->headers;
    const char *const id = service_header_value(all, hit->header_count, "webhook-id");
    const char *const at = service_header_value(all, hit->header_count, "webhook-timestamp");
    const char *const list = service_header_value(all, hit->header_count, "webhook-signature");
    if (!id || !at || !list)
        return "the headers webhook-id, webhook-timestamp and webhook-signature are required";
    if (!*id || strlen(id) > ID_MAX || strchr(id, '.'))
        return "webhook-id must have 1 to 256 bytes and no full stop";
    if (!service_is_recent(turn, at, WINDOW_S))
        return "webhook-timestamp must be the current time in Unix seconds, within 300 s";
    struct webhook_keys read = {0};
    const bool good = webhook_keys_read(&read, keys) == 0 &&
                      webhook_keys_verify(
                          &read, &(struct webhook_message){id, at, hit->body, hit->body_len}, list);
    webhook_keys_fini(&read);
    return good ? NULL : "webhook-signature is not that of the key in the configuration";
}
