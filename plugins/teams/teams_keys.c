/* SPDX-License-Identifier: MIT
 * The keys with which the service signs its requests: named by its OpenID configuration, fetched at
 * the start, kept for a day, and fetched again for a key that is not known, at most once an hour.
 */
#include <string.h>
#include <time.h>

#include "teams.h"

#define KEYS_MAX 64
#define KEYS_AGE_S 86400    /* then they are not used any more */
#define KEYS_RENEW_S 82800  /* then they are fetched again, while they are still used */
#define KEYS_UNKNOWN_S 3600 /* between two fetches for an unknown key */
#define KEYS_AGAIN_S 10     /* after a fetch that has failed */
#define KEYS_TIMEOUT_MS 8000
#define KEYS_TAG "keys"
#define OPENID_TAG "openid"

static int64_t now_s(void)
{
    return (int64_t)time(NULL);
}

/* ---- fetching ---- */

static bool fetch(struct tc_turn *lobby, const char *url, const char *tag)
{
    return url && tc_http(lobby, TC_HTTP(.method = "GET", .url = url, .tag = tag,
                                         .timeout_ms = KEYS_TIMEOUT_MS,
                                         .max_age_ms = KEYS_TIMEOUT_MS)) == 0;
}

/* False: none has begun, and none is under way. */
static bool keys_begin_fetch(struct tc_turn *lobby)
{
    struct teams *const s = teams_state(lobby);
    if (s->keys_asked || now_s() - s->keys_tried_s < KEYS_AGAIN_S)
        return s->keys_asked;
    s->keys_tried_s = now_s();
    s->keys_asked = fetch(lobby, "{option:openid_url}", OPENID_TAG);
    return s->keys_asked;
}

void teams_keys_refresh(struct tc_turn *lobby)
{
    const struct teams *const s = teams_state(lobby);
    if (!s->keys || now_s() - s->keys_s >= KEYS_RENEW_S)
        keys_begin_fetch(lobby);
}

static size_t origin_length(const char *url)
{
    const char *const host = strstr(url, "://");
    return host ? (size_t)(host - url) + 3 + strcspn(host + 3, "/?#") : 0;
}

/* As tc_http takes it: that of a test server may use http:. */
static const char *jwks_url(struct tc_turn *lobby, const char *uri)
{
    const char *const openid = teams_conf(lobby)->openid_url;
    const size_t n = origin_length(uri);
    const bool same = n == origin_length(openid) && strncmp(uri, openid, n) == 0;
    return same ? tc_sprint(lobby, "{origin:openid_url}%s", uri + n) : tc_sprint(lobby, "%s", uri);
}

static bool take_configuration(struct tc_turn *lobby, const json_t *json)
{
    const char *const uri = teams_text(json, "jwks_uri");
    return uri && fetch(lobby, jwks_url(lobby, uri), KEYS_TAG);
}

static bool take_keys(struct tc_turn *lobby, const json_t *json)
{
    struct teams *const s = teams_state(lobby);
    json_t *const keys = json_object_get(json, "keys");
    if (json_array_size(keys) == 0 || json_array_size(keys) > KEYS_MAX)
        return false;
    json_decref(s->keys);
    s->keys = json_incref(keys);
    s->keys_s = now_s();
    return true;
}

bool teams_keys_on_reply(struct tc_turn *lobby, const struct tc_reply *reply)
{
    struct teams *const s = teams_state(lobby);
    const bool last = strcmp(reply->tag, KEYS_TAG) == 0;
    if (!last && strcmp(reply->tag, OPENID_TAG) != 0)
        return false;
    json_t *const json =
        reply->outcome == TC_OK ? json_loadb(reply->body, reply->body_len, 0, NULL) : NULL;
    const bool good = json && (last ? take_keys(lobby, json) : take_configuration(lobby, json));
    json_decref(json);
    if (good && !last)
        return true;
    s->keys_asked = false;
    if (!good)
        tc_log(lobby->inst, TC_WARN, "cannot fetch the signing keys of the service: %s",
               *reply->error ? reply->error : "the response is not valid");
    teams_hook_resume(lobby, good);
    return true;
}

/* ---- finding ---- */

const json_t *teams_keys_find(struct tc_turn *lobby, const char *kid, bool *later)
{
    const struct teams *const s = teams_state(lobby);
    const int64_t age = s->keys ? now_s() - s->keys_s : INT64_MAX;
    const json_t *key = NULL;
    for (size_t i = 0; age < KEYS_AGE_S && !key && i < json_array_size(s->keys); i++) {
        const json_t *const one = json_array_get(s->keys, i);
        const char *const id = teams_text(one, "kid");
        key = id && strcmp(id, kid) == 0 ? one : NULL;
    }
    *later = !key && age >= KEYS_UNKNOWN_S && keys_begin_fetch(lobby);
    return key;
}
