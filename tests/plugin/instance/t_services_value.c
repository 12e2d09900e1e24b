/* SPDX-License-Identifier: MIT
 * Tests of the services for values, headers, times, random numbers and signatures, called in the
 * same way as by a plugin. */
#include <jansson.h>
#include <string.h>

#include "base/sys/clock.h"
#include "plugin/actor.h"
#include "tap/tap.h"

static void read_members(struct tc_turn *t)
{
    static const char json[] = "{\"!a/b~c:d.e\":{\"x\":1}, \"\\u00e9\":\"v\", \"0\":[true]}";
    is_str(tc_json_key(t, json, 0), "!a/b~c:d.e", "the name of the first member");
    is_str(tc_json_key(t, json, 1), "é", "an escaped name");
    is_str(tc_json_key(t, json, 2), "0", "the name of the last member");
    ok(!tc_json_key(t, json, 3) && !tc_json_key(t, json, -1),
       "numbers outside the object have no name");
    ok(!tc_json_key(t, "[1]", 0) && !tc_json_key(t, "{}", 0), "an array has no names");
    is_str(tc_json_member(t, json, "!a/b~c:d.e"), "{\"x\":1}", "the value of a member");
    is_str(tc_json_member(t, json, "é"), "v", "the value of a member with a string");
    is_str(tc_json_member(t, json, "0"), "[true]", "the value of the last member");
    ok(!tc_json_member(t, json, "a") && !tc_json_member(t, json, ""), "a member that is missing");
    ok(!tc_json_member(t, "[1]", "0"), "an element of an array is not a member");
    ok(!tc_json_member(t, NULL, "a") && !tc_json_key(t, NULL, 0), "a member of NULL");
    is_str(tc_json_member(t, "{\"a\":1,\"a\":2}", "a"), "2",
           "the last of two equal members is returned");
    actor_logged();
    ok(!tc_json_member(t, "{", "a") && !tc_json_key(t, "{", 0), "a member of invalid JSON");
    has_str(actor_logged(), "tc_json_member(\"a\"): the searched text is not JSON",
            "invalid JSON is logged");
    is_str(tc_quote(t, "!room:a.b/c d%é~-_"), "%21room%3Aa.b%2Fc%20d%25%C3%A9~-_", "tc_quote");
    is_str(tc_quote(t, ""), "", "tc_quote of an empty text");
    ok(!tc_quote(t, NULL), "tc_quote of NULL");
    is_str(tc_say(t, "Allowed by {by}", "Ann"), "Allowed by Ann", "tc_say");
    ok(!tc_say(t, NULL, NULL), "tc_say of NULL");
    is_str(tc_json(t, "o", json_pack("{s:[i]}", "a", 1)), "{\"a\":[1]}", "tc_json of a value");
    actor_logged();
    ok(!tc_json(t, "o", (json_t *)NULL), "tc_json of a missing value");
    has_str(actor_logged(), "tc_json(\"o\"): ", "a missing value is logged");
}

static void search_headers(struct tc_turn *t)
{
    static const struct tc_header headers[] = {{"a-b", "1"}, {"X-C", "2"}, {"A-B", "3"}};
    const struct tc_hit hit = {.headers = headers, .header_count = 3};
    const struct tc_reply none = {0};
    is_str(tc_header_value(t, &hit, "A-b"), "1", "tc_header_value");
    is_str(tc_header_value(t, &hit, "x-c"), "2", "tc_header_value of another header");
    ok(!tc_header_value(t, &hit, "a") && !tc_header_value(t, &hit, NULL),
       "tc_header_value of a missing header");
    ok(!tc_header_value(t, &none, "a-b"), "tc_header_value without headers");
}

static void test_numbers(struct tc_turn *t)
{
    bool seen[3] = {false};
    for (int i = 0; i < 1000; i++) {
        const int64_t n = tc_random(t, 7, 9);
        if (n < 7 || n > 9)
            ok(false, "tc_random is out of range: %lld", (long long)n);
        else
            seen[n - 7] = true;
    }
    ok(seen[0] && seen[1] && seen[2], "tc_random");
    ok(tc_random(t, 5, 5) == 5 && tc_random(t, 5, 4) == 5, "tc_random of a range of one number");
    clock_fake(0, 1000.5);
    ok(tc_is_recent(t, "1000", 0) && tc_is_recent(t, "970", 30) && tc_is_recent(t, "1030", 30),
       "tc_is_recent");
    ok(!tc_is_recent(t, "969", 30) && !tc_is_recent(t, "1031", 30),
       "tc_is_recent refuses old and future times");
    ok(!tc_is_recent(t, NULL, 30) && !tc_is_recent(t, "", 2000) && !tc_is_recent(t, "+990", 30) &&
           !tc_is_recent(t, "990 ", 30) && !tc_is_recent(t, "0000000000990", 30),
       "tc_is_recent refuses invalid times");
    ok(tc_is_recent(t, "000000000990", 30), "tc_is_recent accepts twelve digits");
    clock_fake_end();
    is_str(tc_cut(t, "a\u00e4b", 4), "a\u00e4b", "tc_cut");
    is_str(tc_cut(t, "a\u00e4b", 3), "a\u00e4", "tc_cut of a longer text");
    is_str(tc_cut(t, "a\u00e4b", 2), "a", "tc_cut does not cut within a character");
    is_str(tc_cut(t, "ab", 0), "", "tc_cut to no bytes");
    ok(!tc_cut(t, NULL, 9), "tc_cut of NULL");
}

static void fit_labels(struct tc_turn *t)
{
    is_str(tc_fit(t, "a\u00e4b", 3), "a\u00e4b", "tc_fit");
    is_str(tc_fit(t, "a\u00e4bc", 3), "a\u00e4…", "tc_fit of a longer text");
    is_str(tc_fit(t, "\u00e4\u00e4", 1), "…", "tc_fit to one character");
    is_str(tc_fit(t, "", 3), "…", "tc_fit of an empty text");
    ok(!tc_fit(t, NULL, 3), "tc_fit of NULL");
}

static void read_places(struct tc_turn *t)
{
    static const char hosts[] = "cdn.test .slack.test";
    is_str(tc_url_at(t, "https://cdn.test/a?b#c", NULL, hosts), "https://cdn.test/a?b#c",
           "tc_url_at");
    is_str(tc_url_at(t, "HTTPS://a.Slack.test", NULL, hosts), "HTTPS://a.Slack.test",
           "tc_url_at accepts subdomains of a host");
    is_str(tc_url_at(t, "https://any.test/", NULL, "*"), "https://any.test/",
           "tc_url_at accepts any host");
    is_str(tc_url_at(t, "https://cdn.test/{option:token}", NULL, hosts),
           "https://cdn.test/%7Boption:token}", "tc_url_at escapes a brace");
    ok(!tc_url_at(t, "http://cdn.test/", NULL, hosts) &&
           !tc_url_at(t, "https://slack.test/", NULL, hosts) &&
           !tc_url_at(t, "https://xslack.test/", NULL, hosts) &&
           !tc_url_at(t, "https://cdn.test:8443/", NULL, hosts) &&
           !tc_url_at(t, "https://cdn.test@evil.test/", NULL, hosts) &&
           !tc_url_at(t, "https://evil.test\\.slack.test/", NULL, hosts) &&
           !tc_url_at(t, "https://evil.test/.slack.test", NULL, hosts) &&
           !tc_url_at(t, "https:///", NULL, "*") && !tc_url_at(t, "cdn.test", NULL, hosts),
       "  elsewhere");
    ok(!tc_url_at(t, NULL, NULL, hosts) && !tc_url_at(t, "https://cdn.test/", NULL, NULL),
       "tc_url_at refuses NULL, and a list of NULL");
    ok(!tc_url_at(t, "https://cdn.test/", "no-option", NULL),
       "tc_url_at refuses an unknown option");
}

/* Vectors of RFC 4231 and RFC 8032. */
static void verify(struct tc_turn *t)
{
    static const char seed[] = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
    static const char key[] = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
    static const char sign[] = "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
                               "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b";
    static const char key2[] = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
    static const char sign2[] = "92A009A9F0D4CAB8720E820B5F642540A2B27B5416503F8FB3762223EBDB69DA"
                                "085AC1E43E15996E458F3613D0F11D8C387B2EAEB4302AEEB00D291612BB0C00";
    is_str(tc_hmac_sha256(t, "Jefe", 4, "what do ya want for nothing?", 28),
           "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843", "tc_hmac_sha256");
    is_str(tc_hmac_sha256(t, NULL, 0, NULL, 0),
           "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad",
           "tc_hmac_sha256 of no data");
    ok(tc_same(t, "abc", "abc") && !tc_same(t, "abc", "abd") && !tc_same(t, "abc", "ab"),
       "tc_same");
    ok(!tc_same(t, NULL, NULL) && !tc_same(t, "", NULL), "tc_same of NULL");
    ok(tc_ed25519_verify(t, key, sign, "", 0), "a valid signature of no data");
    ok(tc_ed25519_verify(t, key2, sign2, "r", 1), "a valid signature of one byte, in upper case");
    ok(!tc_ed25519_verify(t, key2, sign2, "s", 1) && !tc_ed25519_verify(t, key, sign2, "r", 1),
       "a signature of other data, and one by another key");
    actor_logged();
    ok(!tc_ed25519_verify(t, key, "x", "", 0) && !tc_ed25519_verify(t, key, NULL, "", 0),
       "an invalid signature");
    is_str(actor_logged(), "", "an invalid signature is not logged");
    is_str(tc_ed25519_sign(t, seed, "", 0), sign, "tc_ed25519_sign");
    ok(tc_ed25519_verify(t, key, tc_ed25519_sign(t, seed, "a\0b", 3), "a\0b", 3),
       "tc_ed25519_sign of binary data");
    actor_logged();
    ok(!tc_ed25519_sign(t, "9d61", "", 0) && !tc_ed25519_sign(t, seed, NULL, 1),
       "tc_ed25519_sign with an invalid key");
    has_str(actor_logged(), "tc_ed25519_sign: the private key must have 64 hexadecimal digits",
            "an invalid private key is logged");
    ok(!tc_ed25519_verify(t, "d75a", sign, "", 0) && !tc_hmac_sha256(t, NULL, 3, "secret-x", 8),
       "an invalid public key is refused");
    const char *const log = actor_logged();
    has_str(log, "tc_ed25519_verify: the public key must have 64 hexadecimal digits",
            "an invalid public key is logged");
    ok(!strstr(log, "d75a") && !strstr(log, "secret-x"), "the log does not contain keys");
}

static void test_values(void)
{
    struct instance *const in = actor_make(&actor_host);
    struct instance_turn *const t = actor_open(in, "t1");
    actor_deliver(in, t, TC_START, read_members);
    actor_deliver(in, t, TC_START, search_headers);
    actor_deliver(in, t, TC_START, test_numbers);
    actor_deliver(in, t, TC_START, fit_labels);
    actor_deliver(in, t, TC_START, read_places);
    actor_deliver(in, t, TC_START, verify);
    instance_free(in);
}

int main(void)
{
    plan_lazy();
    actor_begin_log();
    test_values();
    actor_end();
}
