/* SPDX-License-Identifier: MIT
 * Tests of tc_is_signed, which verifies the signatures of requests to a route. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/sys/clock.h"
#include "plugin/actor.h"
#include "tap/tap.h"

#define AT 1531420618
#define TIME "1531420618"

/* The example of the documentation of Slack. */
static const char secret[] = "8f742231b10e8888abcd99yyyzzz85a5";
static const char body[] =
    "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"
    "&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
    "&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554"
    "%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121."
    "803a0bc887a14d10d2c447fce8b6703c";
#define SIGNATURE "a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"

static const struct tc_signature slack = {.size = sizeof(struct tc_signature),
                                          .key = "token",
                                          .time = "X-Time",
                                          .value = "X-Signature",
                                          .before = "v0:",
                                          .between = ":",
                                          .prefix = "v0="};

/* Sets the option "token", the first option of the plugin. */
static void set_key(const struct tc_turn *t, const char *key)
{
    memcpy((void *)(uintptr_t)t->inst->conf, &key, sizeof key);
}

/* Whether a request with these headers (NULL: missing) and this body is signed. */
static bool is_signed(struct tc_turn *t, const struct tc_signature *s, const char *time,
                      const char *value, const char *data, size_t len)
{
    struct tc_header headers[3] = {{"Host", "example.org"}};
    size_t n = 1;
    if (time)
        headers[n++] = (struct tc_header){"x-time", time};
    if (value)
        headers[n++] = (struct tc_header){"X-SIGNATURE", value};
    const struct tc_hit hit = {.method = "POST",
                               .path = "",
                               .query = "",
                               .headers = headers,
                               .header_count = n,
                               .body = data,
                               .body_len = len};
    return tc_is_signed(t, &hit, s);
}

static bool is_example(struct tc_turn *t, const struct tc_signature *s, const char *time,
                       const char *value)
{
    return is_signed(t, s, time, value, body, sizeof body - 1);
}

static void check_hmac(struct tc_turn *t)
{
    set_key(t, secret);
    clock_fake(0, AT);
    ok(is_example(t, &slack, TIME, "v0=" SIGNATURE), "a request with a valid signature");
    ok(!is_example(t, &slack, TIME, SIGNATURE), "the signature without its prefix");
    ok(!is_example(t, &slack, TIME, "v1=" SIGNATURE), "a signature with another prefix");
    ok(!is_example(t, &slack, TIME, "v0="), "a prefix without a signature");
    ok(!is_example(t, &slack, TIME, ""), "an empty signature");
    ok(!is_example(t, &slack, TIME, "v0=" SIGNATURE "0"), "a signature with an additional digit");
    ok(!is_example(t, &slack, TIME,
                   "v0=b2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c6"
                   "9b503"),
       "a signature with another digit");
    ok(!is_example(t, &slack, NULL, "v0=" SIGNATURE), "the header with the time is missing");
    ok(!is_example(t, &slack, TIME, NULL), "the header with the signature is missing");
    ok(!is_example(t, &slack, "1531420619", "v0=" SIGNATURE),
       "another time, which the signature covers");
    ok(!is_signed(t, &slack, TIME, "v0=" SIGNATURE, body, sizeof body - 2), "a shorter body");
    ok(!is_signed(t, &slack, TIME, "v0=" SIGNATURE, "", 0), "no body");
    set_key(t, "8f742231b10e8888abcd99yyyzzz85a6");
    ok(!is_example(t, &slack, TIME, "v0=" SIGNATURE), "another key");
    clock_fake_end();
}

static void check_window(struct tc_turn *t)
{
    set_key(t, secret);
    for (int s = -301; s <= 301; s += s == -301 || s == 300 ? 1 : 300) {
        clock_fake(0, AT + s);
        ok(is_example(t, &slack, TIME, "v0=" SIGNATURE) == (s >= -300 && s <= 300),
           "a request that is %d s old", s);
    }
    clock_fake_end();
}

#define MEMBER(name) offsetof(struct tc_signature, name)
static const struct {
    const char *name;
    size_t offset;
    const char *text;
} changes[] = {
    {"another text before the time", MEMBER(before), "v1:"},
    {"another text between time and body", MEMBER(between), "."},
    {"an option that is absent", MEMBER(key), "absent"},
    {"an option without a value", MEMBER(key), "none"},
    {"no name of an option", MEMBER(key), NULL},
    {"no name of the header with the time", MEMBER(time), NULL},
    {"no name of the header with the signature", MEMBER(value), NULL},
};

static void check_spec(struct tc_turn *t)
{
    set_key(t, secret);
    clock_fake(0, AT);
    const char *const whole = tc_hmac_sha256(t, secret, strlen(secret), TIME "a\0b", 13);
    const struct tc_signature *const bare =
        TC_SIGNATURE(.key = "token", .time = "X-Time", .value = "X-Signature");
    ok(is_signed(t, bare, TIME, whole, "a\0b", 3), "a signature without prefix and texts");
    ok(!is_signed(t, bare, TIME, whole, "a\0c", 3), "a byte after a NUL is covered");
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct tc_signature s = slack;
        memcpy((char *)&s + changes[i].offset, &changes[i].text, sizeof changes[i].text);
        ok(!is_example(t, &s, TIME, "v0=" SIGNATURE), "%s", changes[i].name);
    }
    ok(!tc_is_signed(t, NULL, &slack), "no request is given");
    clock_fake_end();
}

/* The vectors of RFC 8032 are tested with tc_ed25519_verify; these tests check what is signed. */
static void check_ed25519(struct tc_turn *t)
{
    static const char seed[] = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
    const struct tc_signature *const discord =
        TC_SIGNATURE(.key = "token", .time = "X-Time", .value = "X-Signature", .ed25519 = true);
    set_key(t, "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
    clock_fake(0, AT);
    const char *const right = tc_ed25519_sign(t, seed, TIME "{}", 12);
    ok(is_signed(t, discord, TIME, right, "{}", 2), "a request that is signed with a private key");
    ok(!is_signed(t, discord, TIME, right, "[]", 2), "another body");
    ok(!is_signed(t, discord, "1531420617", right, "{}", 2), "another time");
    ok(!is_signed(t, discord, TIME, SIGNATURE, "{}", 2), "a signature of another kind");
    char *const broken = tc_sprint(t, "%s", right), *const zero = strchr(broken, '0');
    ok(zero, "the signature contains the digit 0");
    *zero = 'g';
    ok(!is_signed(t, discord, TIME, broken, "{}", 2),
       "a letter that is not a hexadecimal digit is not read as 0");
    ok(is_signed(t,
                 TC_SIGNATURE(.key = "token", .time = "X-Time", .value = "X-Signature",
                              .prefix = "ed=", .before = "<", .between = ">", .ed25519 = true),
                 TIME, tc_sprint(t, "ed=%s", tc_ed25519_sign(t, seed, "<" TIME ">{}", 14)), "{}",
                 2),
       "a signature with a prefix, and texts before and between");
    actor_logged();
    set_key(t, "d75a");
    ok(!is_signed(t, discord, TIME, right, "{}", 2), "an invalid public key");
    const char *const log = actor_logged();
    has_str(log, "tc_ed25519_verify: the public key must have 64 hexadecimal digits",
            "an invalid public key is logged");
    ok(!strstr(log, "d75a") && !strstr(log, right),
       "the log contains neither the key nor the signature");
    clock_fake_end();
}

int main(void)
{
    plan_lazy();
    actor_begin_log();
    struct instance *const in = actor_make(&actor_host);
    struct instance_turn *const t = actor_open(in, "t1");
    actor_deliver(in, t, TC_START, check_hmac);
    actor_deliver(in, t, TC_START, check_window);
    actor_deliver(in, t, TC_START, check_spec);
    actor_deliver(in, t, TC_START, check_ed25519);
    instance_free(in);
    actor_end();
}
