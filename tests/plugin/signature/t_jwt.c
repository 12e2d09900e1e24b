/* SPDX-License-Identifier: MIT
 * Tests of plugin/signature/jwt.h. Keys and tokens were made with OpenSSL (Python's cryptography):
 * "k1" of the key set has signed all tokens but `weak`, which a key of 1024 bits has signed. */
#include "plugin/signature/jwt.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/buf.h"
#include "tap/tap.h"

static const char keys[] =
    "{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"k0\",\"n\":\"n1oltW_JKxfIJkWRzZlKBgX-"
    "SGQQjFG1kdCkoV0sJWiT_zyO"
    "7Guxm7qsrBSOKmCyNloZxHaegh6OlYnKnNsXKuPfaNZhYAUaYBtKQJBnLe82iKtrQFf3-kf9e-1_leMdLt6cqR"
    "XoF7-RVftjWYKVG4BJ0WOLRAeI95ou8bcX-wiOgeUhPYINMXlYGCT3eqEqqtdDNyCRlaUODFVDB1reoSbYQoEm"
    "g_ets28oXyNxMH-hy-ZMlA3w1fPrvA-HWFANcvXWh1U0FU-qPB3uuPQgxtcZuITI5i2Vw4hGYsmaw7Ls94zl3E"
    "9kXuzq_RWLx-MUObDn_Vn_uhyx2qF7ShFUOQ\",\"e\":\"AQAB\"},{\"kty\":\"RSA\",\"kid\":\"k1\",\"n\":"
    "\"novDNdv"
    "oZO86bdOiyzU7V8h8rpoLcdjllVQRFFdO8ax-YBGqqqdYzuscOB2ie_HStGhgE7ppMHjmWaX7kpi1vlKKr9IR8"
    "4xBw6gIccZqlJWGfqtrCryVru5T5_E3bZ8er2K0ObTw-ZHtYBSdjzFm189SMvcLJJxM-fJHI25dt9bjh7T8VEg"
    "-WjujRF2RyWJIlMXkARCQ_PO-9SMmUbrcMDvGauifbu8JkPbAcp-4gkUd8rQHq4ulY7updA5qeNoNyYEHqfxjg"
    "b4XnHkHnQVGMTy9-8keavcMzrg5sr61Md9Q1_-IWIoz8vX8_zXCEEJaY2RB3ZnEWzxD6muhK2ATFw\",\"e\":\"AQ"
    "AB\"},{\"kty\":\"RSA\",\"kid\":\"k2\",\"n\":\"vsHskhKhMq-XMEFPa3ii912EWegmtE_2KOdmkUQS-e9_"
    "dIBLAD11"
    "mfLXgWHQDZprmZm5oViZkg97-aUldppvknasyjTmk0Xc9O7YwBC0bq6S5dEl0boHL-jYGRpUShMWFzndZDr6-b"
    "Ne4TjFII1miMDaYGq5S6R2V6Sk-Ne3Rk0\",\"e\":\"AQAB\"},{\"kty\":\"EC\",\"kid\":\"k3\"}]}";
static const char full[] =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci50ZXN0IiwiYXVkIjoiYX"
    "BwIiwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsInNlcnZpY2V1cmwiOiJodHRwczovL3MudGVzdC8ifQ.BCtMzvTaQ"
    "kCZC30QkdsV7ungdhyCVbG1yOtd1FE_mzESbb5fSYK5e-a7a0ZutV9xpmTFuUEUMIVcVodk7k89xwFA1bEpC7f"
    "GpcYkN0Ffb9UcV1U6NeNbP2r6GVDt_EChdES5jgouzN7Ed77pyM0bOGgHDNFZwHeOQOl353N07AKI8vNrqcC68"
    "1i5czun0azjpH3CFH1t8T8JAuJTZU-IkzSFvcEQMdVPyhvBRxDXFAoHzIkreCN4TH1Y2RxeeH74Q_9P-e5d9u4"
    "17Iz6fzGLaUJtArRk6cPxc0wSZ_JZXOS56wx7A2LK_7FzrgkE1S8cifjyQM_2NSjVLTYCWYJd7Q";
static const char several[] =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci50ZXN0IiwiYXVkIjpbIm"
    "90aGVyIiwiYXBwIl0sImV4cCI6MjAwMH0.gG_8vud61bdUXzM1nqzE3X-psYm-ao_DEJCN_rEadzi2D8vRyw11"
    "3zNZfsAa4jN5RSeWj3KGUti4lg7bCzp4hmgGeU5LdMnlvhcdyWcE3lRMSnqlELQ49Sl8Hga7Ck59guOdo6mOni"
    "gT7NEKv4JqQWZAUOGweh8VCHhcAuUV5yC5lh51QD6EFhYYfK8iuYATQdD7SVZWA9PG_5UWTBRBiMB5VLh2LPoB"
    "ysYRVtwK2uZBi0aGrIEB0Q7-FhGEyWKGz9X5jjhj9U3G6FyPiwzz464Q-qcmFtKie54aywXeV1dPtBoSszfre2"
    "bM1AL8E68WeGmZvK5EvMuPliuEmAq_bg";
static const char typed[] =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci50ZXN0IiwiYXVkIjoiYX"
    "BwIiwiZXhwIjoiMjAwMCJ9.WZllsSOISmfHtBJ4phRDWnydRbR_9NomvDL6P8w0UKeSn4FwZeanm7PklnDtIew"
    "5VcXp9uTl9oYMHq2GoectR7DIfWLhQL_OUzCxb4nwYA1L8J2C0afVcX73OOYBeAZilLeTnDqBH0DWQJyKk19Lf"
    "5FOsnybyCXaHT-KV2MT31CFL0QLUtTgZGHeMSSZx5JLMKgVA2aAHrvmrUAvGhXk7RtZ8SaUoJDcCnwD3kh3DLr"
    "hr4havOJmVrDBmaQhia-rOFDQyj4lFhZTuPDpV7RZM0hRdI-q6VhB_jKzvy3BePRgIOrwtukfGBx0L-NWIkjng"
    "5VPGeZ66q_tzdlhc54nQg";
static const char early[] =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci50ZXN0IiwiYXVkIjoiYX"
    "BwIiwiZXhwIjoyMDAwLCJuYmYiOiIxMDAwIn0.KW5dWclZ5uyLK8vLIdO0PWCETsjzQWXcBoL_EHMqTA87Pzh4"
    "b3jx7voxbn-TXszY9LGGpXxb0bwL6dZgk5eK1VMh9gIAwo6EpCLkaMSIEhT7wUcr0_sic7FGY8E0s5LkHzebUB"
    "_8UgSGJIsJD_vPWYrqnPlaiDIL9TWcCFve8r6u7Qj6CghtXp5UP0TLDvNNtOHYbc-F-KQ3cykYswVV-U4asPCZ"
    "GugMFJPs5U3iXQ_AO6r5lkzAwyohgKdtxm5cZyegqUmKgNLUD231KiCe4yPv7Ymo40WsBeLYeXTtDWc8JlDU8z"
    "UhDAqCVytXIJHO-qaYNgf1FGgS1zjTfm8pWA";
static const char garbage[] =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsxIn0.eyJpc3MiOg.P37G-4Vqi6xIxwMg86inffOhWpxu1vXePsuIMXN"
    "vkVBsm1yjyXQuus0L2Ny756fkEbC-5fPuUF2Gx6zokFtqjHjXujxikgGxEsxSLfVJSz-7desqmCeChy7y_fw2B"
    "h9kHoreU3-wWe239xOws6okuhcg_HSVufDoFE0LsscgOCic6kmD05UDYcguFC0GduqKO9lOFoMWNrZRcGXcfFH"
    "qN9i9FcgiPmCIwqUEE5GvPEJuiz6--J9FTjd4Z7Mb065X0hgWx0wVnSQsIuOyWI43hOo2vudmfFdpgocRiST5W"
    "bt1PaZfCOhrYbTUGRZP1uU6f0Nxfw3wtvtC1N-FeT3nXw";
static const char weak[] =
    "eyJhbGciOiJSUzI1NiIsImtpZCI6ImsyIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci50ZXN0IiwiYXVkIjoiYX"
    "BwIiwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsInNlcnZpY2V1cmwiOiJodHRwczovL3MudGVzdC8ifQ.eTCwjRfbJ"
    "gpghfh5EjudmtK_dASHAxB5v2Tmk9jTaZIhMOlOtTAkZqqKyDtT-xk2v7OgqrAZfFkJL-cv4rDszxsRa_jQ_mE"
    "SmL3pSOwTOoAGZCNm2hmrcDchbQWW8J9VbuY5nTjgdnqx6D0SPNKuZNEYdXJRqIj0VSM1MvqjmCE";
static const char nameless[] =
    "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJodHRwczovL2lzc3Vlci50ZXN0IiwiYXVkIjoiYXBwIiwiZXhwIjoyM"
    "DAwLCJuYmYiOjEwMDAsInNlcnZpY2V1cmwiOiJodHRwczovL3MudGVzdC8ifQ.mXuFkC3jqg0ruYSrS9hOfWVy"
    "45O3T1WLV9vCdo9u_uEYV03rPjAShkieifdioxapvVFZgIuFpzqKsrl4D_-K9K_U3R2M7i9wRlTYkw8RIu0yKc"
    "6Etv67bo8MlmVFZyEQYc0KllNxEb2dnZDJIH7DOUTSxoh8XpNyWVlC96WZdWdeTZdfxY2LvfpvrjSb1yZDmvh3"
    "Xzg7Y73Fvn64T1e0q26YIr4nbK4Z3JXHzdiCowcREio0uhRVLRZDs_EdTNh7jKrouYfdXmiA_RXAnGwmWyPwi7"
    "OEBPlqlEE6O83RtBsojDX4fm-VwFHcY60RkYFeZByBfpV04MWBuTzxIvryOA";
static const char symmetric[] =
    "eyJhbGciOiJIUzI1NiIsImtpZCI6ImsxIn0.eyJpc3MiOiJodHRwczovL2lzc3Vlci50ZXN0IiwiYXVkIjoiYX"
    "BwIiwiZXhwIjoyMDAwLCJuYmYiOjEwMDAsInNlcnZpY2V1cmwiOiJodHRwczovL3MudGVzdC8ifQ.B8RuM-vZw"
    "4a5UeBCaSg8S-s5SuN3cpb7ovtpsB--C-PYc2Z86KT-lapYn58a_AcgqnucgHJs_dot-cqTmcZ83KyZ44sO4JM"
    "ZywUiTyL4Ed8r1t4WKzucxAc3TllDXCFrCDxluxehaUw92W5M7TPksPMt1MHIfkLM_Gtkjj5PP7LabU8-f5yD3"
    "C6eQ83Zxe1O9q32yF5-Utad8WHHaMX4jK0xbkPw-Yz1M-VQp4Gt61s2UeQlrS5vtbOG1_Ezu3t1thtkO0GeY1s"
    "EWZZHguIg7NG49tQ7sy91LvQsLEaGA5wvSlw7PF33Glmsv4IBa6ZxSvrGQawf8OIxvzzuY8OfCg";

static struct arena arena;

static struct str key_of(const char *id)
{
    return jwt_find_key((struct str){keys, strlen(keys)}, id);
}

/* Returns the error of the token, or "". *claims: the claims of a valid token. */
static const char *verify_token(const char *text, const char *key, const struct jwt_rules *rules,
                                const char **claims)
{
    struct jwt token;
    CLEANUP_BUF struct buf header = {0};
    buf_printf(&header, "Bearer %s", text);
    const char *fault = jwt_read(&token, &arena, header.p);
    if (!fault)
        fault = jwt_check(&token, key_of(key ? key : token.key), rules, &arena, claims);
    return fault ? fault : "";
}

static void check_token(const char *text, const struct jwt_rules *rules, const char *wanted,
                        const char *what)
{
    const char *claims = NULL;
    is_str(verify_token(text, NULL, rules, &claims), wanted, "%s", what);
    ok(!claims == (*wanted != '\0'), "only a valid token has claims");
}

static const struct jwt_rules usual = {"https://issuer.test", "app", 1500};

static void test_good(void)
{
    const char *claims = NULL;
    is_str(verify_token(full, NULL, &usual, &claims), "", "a valid token");
    is_str(claims,
           "{\"iss\":\"https://issuer.test\",\"aud\":\"app\",\"exp\":2000,\"nbf\":1000,"
           "\"serviceurl\":\"https://s.test/\"}",
           "the claims of a valid token");
}

static void test_times(void)
{
    check_token(full, &(struct jwt_rules){"https://issuer.test", "app", 2300}, "",
                "a token is valid until five minutes after its expiry");
    check_token(full, &(struct jwt_rules){"https://issuer.test", "app", 2301},
                "it has expired (exp)", "a token is refused a second later");
    check_token(full, &(struct jwt_rules){"https://issuer.test", "app", 700}, "",
                "a token is valid from five minutes before nbf");
    check_token(full, &(struct jwt_rules){"https://issuer.test", "app", 699},
                "it is not valid yet (nbf)", "a token is refused a second earlier");
    check_token(typed, &usual, "it has expired (exp)", "an expiry that is a string");
    check_token(early, &usual, "it is not valid yet (nbf)", "nbf that is a string");
}

static void test_claims(void)
{
    check_token(full, &(struct jwt_rules){"https://issuer.tes", "app", 1500},
                "it is of another issuer (iss)", "another issuer");
    check_token(full, &(struct jwt_rules){"https://issuer.test", "ap", 1500},
                "it is meant for another audience than ap (aud)", "another audience");
    check_token(several, &usual, "it is meant for another audience than app (aud)",
                "several audiences are refused");
}

static void test_signature(void)
{
    const char *claims = NULL;
    char *const changed = xstrdup(full);
    is_str(verify_token(full, "k0", &usual, &claims), "its signature is wrong",
           "a signature of another key");
    is_str(verify_token(full, "k3", &usual, &claims), "its signature is wrong",
           "a key that is not RSA");
    check_token(weak, &usual, "its signature is wrong", "a key of 1024 bits");
    check_token(garbage, &usual, "its signature is wrong", "claims that are not JSON");
    changed[strlen(changed) - 3] ^= 1;
    check_token(changed, &usual, "its signature is wrong", "another signature");
    strcpy(changed, full);
    strchr(changed, '.')[3] ^= 1;
    check_token(changed, &usual, "its signature is wrong", "other claims");
    strcpy(changed, full);
    strrchr(changed, '.')[1] = '\0';
    check_token(changed, &usual, "its signature is wrong", "an empty signature");
    free(changed);
}

/* The alphabet of tokens does not contain ' ', '+' and '='. */
static void test_form(void)
{
    struct jwt token;
    check_token(symmetric, &usual, "its algorithm is not RS256", "HS256");
    check_token(nameless, &usual, "it names no key", "no key");
    check_token("", &usual, "it has none", "an empty token");
    check_token("e30", &usual, "it has none", "one part");
    check_token("e30.e30", &usual, "it has none", "two parts");
    check_token("e30.e30.", &usual, "its algorithm is not RS256", "no algorithm");
    check_token("e 30.e30.", &usual, "its algorithm is not RS256", "a blank");
    check_token("e30=.e30.", &usual, "its algorithm is not RS256", "padding");
    check_token("+30.e30.", &usual, "its algorithm is not RS256", "another alphabet");
    is_str(jwt_read(&token, &arena, NULL), "it has none", "a missing header");
    is_str(jwt_read(&token, &arena, "Basic dTpw"), "it has none", "another authentication scheme");
    char *const bearer = xstrdup("bearer e30.e30.");
    is_str(jwt_read(&token, &arena, bearer), "its algorithm is not RS256",
           "a scheme in lower case");
    free(bearer);
    const size_t most = (size_t)16 << 10;
    char *const large = xcalloc(1, most + 9);
    memset(large, 'e', most + 8);
    memcpy(large, "Bearer ", 7);
    is_str(jwt_read(&token, &arena, large), "it is too long",
           "a token of one byte more than 16 KiB");
    large[most + 7] = '\0';
    is_str(jwt_read(&token, &arena, large), "it has none", "a token of 16 KiB");
    free(large);
}

static void test_keys(void)
{
    is_int((long long)jwt_count_keys((struct str){keys, strlen(keys)}), 4, "the number of keys");
    is_int((long long)jwt_count_keys(STR("{\"keys\":7}")), 0, "a key set without a list");
    is_int((long long)jwt_count_keys(STR("[]")), 0, "a document that is not a key set");
    ok(!key_of("k4").p && !key_of("").p, "an unknown key is not found");
    has_str(key_of("k1").p, "{\"kty\":\"RSA\",\"kid\":\"k1\"", "a known key is found");
}

int main(void)
{
    plan_lazy();
    test_good();
    test_times();
    test_claims();
    test_signature();
    test_form();
    test_keys();
    arena_fini(&arena);
    return 0;
}
