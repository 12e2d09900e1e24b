/* SPDX-License-Identifier: MIT
 * Tests of plugin/signature/webhook_keys.h. The shared key, the message and its signature are the
 * example of Standard Webhooks; the key pair is the example of Svix; its signature was made with
 * OpenSSL. */
#include "plugin/signature/webhook_keys.h"

#include <string.h>

#include "tap/tap.h"

#define SHARED "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
#define PRIVATE                                                                                    \
    "whsk_6Xb/dCcHpPea21PS1N9VY/"                                                                  \
    "NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg=="
#define SEED "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbc="
#define PUBLIC "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4="
#define V1 "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
#define V1A                                                                                        \
    "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/"                                                       \
    "enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg=="
#define OTHER "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

static const struct webhook_message message = {"msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330",
                                               "{\"test\": 2432232314}", 20};

static void check_signature(const char *text, const char *wanted, const char *what)
{
    struct webhook_keys keys = {0};
    CLEANUP_BUF struct buf out = {0};
    is_int((long long)webhook_keys_read(&keys, text), 0, "%s: valid", what);
    ok(webhook_keys_can_sign(&keys), "the key can sign");
    webhook_keys_sign(&keys, &message, &out);
    is_str(out.p, wanted, "the signature is as expected");
}

static bool verifies(const char *text, const char *signatures)
{
    struct webhook_keys keys = {0};
    return webhook_keys_read(&keys, text) == 0 && webhook_keys_verify(&keys, &message, signatures);
}

static void test_sign(void)
{
    check_signature(SHARED, V1, "a shared key");
    check_signature(PRIVATE, V1A, "a private key with its public key");
    check_signature(SEED, V1A, "a private key alone");
    check_signature("\t" SHARED " \r\n" SEED "\n", V1 " " V1A, "a shared and a private key");
}

static void test_verify(void)
{
    ok(verifies(SHARED, V1), "a shared key verifies");
    ok(verifies(PUBLIC, V1A) && verifies(PRIVATE, V1A) && verifies(SEED, V1A),
       "a public key verifies, and so do the private ones");
    ok(verifies(OTHER " " PUBLIC, "v1,AAAA " V1 " " V1A),
       "one of several keys and signatures verifies");
    ok(!verifies(OTHER, V1) && !verifies(OTHER, V1A), "another key does not verify");
    ok(!verifies(PUBLIC, V1) && !verifies(SHARED, V1A),
       "a key of the other version does not verify");
    ok(!verifies(SHARED, V1 "A") && !verifies(SHARED, "v1,") && !verifies(SHARED, ""),
       "an invalid signature does not verify");
    ok(!verifies(PUBLIC, "v1a,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
       "a signature that is too short does not verify");
    ok(!verifies(SHARED, "v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="),
       "a signature of an unknown version does not verify");
    ok(!verifies("", V1), "without a key no signature verifies");
    struct webhook_message changed = message;
    struct webhook_keys keys = {0};
    webhook_keys_read(&keys, SHARED " " PUBLIC);
    changed.len--;
    ok(!webhook_keys_verify(&keys, &changed, V1 " " V1A),
       "a signature of another body does not verify");
    changed = message;
    changed.timestamp = "1614265331";
    ok(!webhook_keys_verify(&keys, &changed, V1 " " V1A),
       "a signature of another time does not verify");
    changed = message;
    changed.id = "msg";
    ok(!webhook_keys_verify(&keys, &changed, V1 " " V1A),
       "a signature of another id does not verify");
}

/* The last signature that is checked, and the next one. */
static void test_count(void)
{
    CLEANUP_BUF struct buf many = {0};
    for (int i = 0; i < 15; i++)
        buf_add_str(&many, "v1,AAAA ");
    const size_t len = many.len;
    buf_add_str(&many, V1);
    ok(verifies(SHARED, many.p), "the sixteenth signature is checked");
    many.len = len;
    buf_add_str(&many, "v1,AAAA " V1);
    ok(!verifies(SHARED, many.p), "the seventeenth signature is not checked");
}

static size_t refused(const char *text)
{
    struct webhook_keys keys = {0};
    return webhook_keys_read(&keys, text);
}

static void test_keys(void)
{
    is_int((long long)refused("whsec_QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE="), 1,
           "a key of 23 bytes is refused");
    is_int((long long)refused(SHARED " whsec_!"), 2, "a key that is not Base64 is refused");
    is_int((long long)refused("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), 1,
           "a key without a prefix is refused");
    is_int((long long)refused("whsk_"), 1, "a prefix without a key is refused");
    is_int((long long)refused("whpk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), 1,
           "a short public key is refused");
    is_int((long long)refused("whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), 1,
           "a short private key is refused");
    is_int(
        (long long)refused("whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqS"
                           "KJp4AJ6p9lMicMFs6KAA=="),
        1, "a private key with another public key is refused");
    is_int((long long)refused("whsec_QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFB"
                              "QUFBQUFBQUFBQUFBQUFBQUFBQUE="),
           1, "65 bytes");
    is_int((long long)refused(SHARED " " SHARED " " SHARED " " SHARED " " SHARED " " SHARED
                                     " " SHARED " " SHARED " " SHARED),
           9, "nine keys are refused");
    struct webhook_keys keys = {0};
    ok(!webhook_keys_can_sign(&keys), "without a key nothing can be signed");
    webhook_keys_read(&keys, SHARED " " PUBLIC);
    is_int((long long)keys.count, 2, "two keys are read");
    ok(!webhook_keys_can_sign(&keys), "a public key cannot sign");
    webhook_keys_fini(&keys);
    ok(keys.count == 0 && keys.key[1].bytes[0] == 0, "cleared keys are overwritten");
}

int main(void)
{
    plan_lazy();
    test_sign();
    test_verify();
    test_count();
    test_keys();
    return 0;
}
