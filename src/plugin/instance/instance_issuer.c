/* SPDX-License-Identifier: MIT
 * Routes to which only a service may send (tc_route_signed): the token of each request is checked
 * before the plugin is called. The OpenID configuration of the service names its keys. They are
 * fetched at the start and kept for a day; keys older than 23 hours are fetched again with the next
 * request; so are they for an unknown key, at most once an hour. Requests that arrive before the
 * keys wait for them. */
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/alloc.h"
#include "base/sys/clock.h"
#include "base/sys/log.h"
#include "base/versioned.h"
#include "event/json/json_reader.h"
#include "plugin/instance/services_internal.h"
#include "plugin/ipc/ipc_frame.h"
#include "plugin/signature/jwt.h"

#define KEYS_MAX 64
#define KEYS_AGE_S 86400    /* maximum age of keys */
#define KEYS_RENEW_S 82800  /* age at which they are fetched again, while they are still used */
#define KEYS_UNKNOWN_S 3600 /* interval of fetches for an unknown key */
#define KEYS_AGAIN_S 10     /* after a fetch that has failed */
#define FETCH_MS 8000
#define WAITING_MAX 64
#define BODY_MAX ((size_t)256 << 10)  /* deadline of a waiting request */
#define REFUSED_LOG_S 60              /* interval of log lines, because anybody can send requests */
#define OPENID_TAG "turncast.openid " /* the path of the route follows */
#define KEYS_TAG "turncast.keys "

/* A request that waits for the keys. */
struct issuer_waiting {
    TAILQ_ENTRY(issuer_waiting) entry;
    uint64_t number;
    struct buf hit;
};

struct instance_issuer {
    struct instance_issuer *next;
    char *path, *option, *issuer, *audience;
    struct buf keys;   /* a JSON Web Key Set; empty: none yet */
    int64_t keys_s;    /* time of their arrival; times are Unix seconds */
    int64_t tried_s;   /* time of the last fetch */
    int64_t refused_s; /* time of the last log line about a refused request */
    bool asked;        /* a fetch is pending */
    TAILQ_HEAD(, issuer_waiting) waiting;
    size_t waiting_count;
};

static int64_t issuer_now_s(void)
{
    return (int64_t)clock_wall_s();
}

static int64_t issuer_keys_age_s(const struct instance_issuer *i)
{
    return i->keys.len ? issuer_now_s() - i->keys_s : INT64_MAX;
}

/* ---- fetching ---- */

static bool issuer_fetch(struct instance *in, const struct instance_issuer *i, const char *url,
                         const char *tag)
{
    const char *why;
    const struct tc_http http = {
        .size = sizeof http,
        .method = "GET",
        .url = url,
        .tag = arena_sprintf(&in->scratch, "%s%s", tag, i->path),
        .timeout_ms = FETCH_MS,
        .max_age_ms = FETCH_MS,
    };
    return instance_add_request(&in->context, &http, &why) == 0;
}

/* False: no fetch was started, and none is pending. */
static bool issuer_begin_fetch(struct instance *in, struct instance_issuer *i)
{
    if (i->asked || issuer_now_s() - i->tried_s < KEYS_AGAIN_S)
        return i->asked;
    i->tried_s = issuer_now_s();
    i->asked =
        issuer_fetch(in, i, arena_sprintf(&in->scratch, "{option:%s}", i->option), OPENID_TAG);
    return i->asked;
}

/* The URL of the keys in the form for tc_http: that of a test server may use http:. NULL:
 * invalid. */
static const char *issuer_keys_url(struct instance *in, const struct instance_issuer *i,
                                   struct str configuration)
{
    struct json j;
    struct str raw;
    const struct str value = json_reader_pointer(configuration, "/jwks_uri");
    json_init(&j, value.p, value.len);
    if (!value.p || !json_reader_read_string(&j, &raw))
        return NULL;
    const char *const url = json_reader_unescape(&in->scratch, raw, NULL);
    const char *const openid = instance_chat_read_option(in, i->option);
    const size_t n = services_url_origin_length(url);
    if (openid && n && n == services_url_origin_length(openid) && strncmp(url, openid, n) == 0)
        return arena_sprintf(&in->scratch, "{origin:%s}%s", i->option, url + n);
    return strncmp(url, "https://", 8) == 0 && !strchr(url, '{') ? url : NULL;
}

/* ---- checking ---- */

/* NULL, or the error of the token; *later: the keys must be fetched first. */
static const char *issuer_check_token(struct instance *in, struct instance_issuer *i,
                                      struct tc_hit *hit, bool *later)
{
    const struct jwt_rules rules = {i->issuer, i->audience, issuer_now_s()};
    const struct str keys = {i->keys.p, i->keys.len};
    const int64_t age = issuer_keys_age_s(i);
    struct jwt token;
    const char *const fault =
        jwt_read(&token, &in->scratch,
                 service_header_value(hit->headers, hit->header_count, "Authorization"));
    if (fault)
        return fault;
    const struct str key = age < KEYS_AGE_S ? jwt_find_key(keys, token.key) : (struct str){NULL, 0};
    *later = !key.p && age >= KEYS_UNKNOWN_S && issuer_begin_fetch(in, i);
    if (key.p && age >= KEYS_RENEW_S)
        issuer_begin_fetch(in, i);
    if (!key.p)
        return "its key is not known";
    hit->key = arena_strndup(&in->scratch, key.p, key.len);
    return jwt_check(&token, key, &rules, &in->scratch, &hit->claims);
}

static bool issuer_wait(struct instance_issuer *i, const struct tc_hit *hit)
{
    if (i->waiting_count == WAITING_MAX || hit->body_len > BODY_MAX)
        return false;
    struct issuer_waiting *const w = xcalloc(1, sizeof *w);
    w->number = hit->number;
    ipc_frame_pack_hit(&w->hit, hit);
    TAILQ_INSERT_TAIL(&i->waiting, w, entry);
    i->waiting_count++;
    return true;
}

static void issuer_refuse(const struct instance *in, struct instance_issuer *i, const char *why)
{
    const int64_t now = issuer_now_s();
    if (now - i->refused_s < REFUSED_LOG_S)
        return;
    i->refused_s = now;
    log_write(LOG_WARN, in->label, "refused a request to the route %s: the token: %s", i->path,
              why);
}

bool instance_issuer_check_hit(struct instance *in, struct tc_hit *hit, struct tc_answer *answer)
{
    struct instance_issuer *i = in->issuers;
    bool later = false;
    while (i && strcmp(i->path, hit->path) != 0)
        i = i->next;
    const char *const fault = i ? issuer_check_token(in, i, hit, &later) : NULL;
    if (!fault)
        return true;
    if (later) {
        answer->later = issuer_wait(i, hit);
        answer->status = 503;
        return false;
    }
    issuer_refuse(in, i, fault);
    answer->status = issuer_keys_age_s(i) < KEYS_AGE_S ? 401 : 503; /* the token may be valid */
    return false;
}

/* ---- arrival of keys ---- */

static void issuer_free_waiting(struct instance_issuer *i, struct issuer_waiting *w)
{
    TAILQ_REMOVE(&i->waiting, w, entry);
    i->waiting_count--;
    buf_fini(&w->hit);
    free(w);
}

/* Passes each waiting request to the plugin, or (no keys) refuses it. */
static void issuer_resume(struct instance *in, struct instance_issuer *i, bool have_keys)
{
    for (size_t n = i->waiting_count; n > 0; n--) {
        struct issuer_waiting *const w = TAILQ_FIRST(&i->waiting);
        struct unpacker u;
        struct tc_hit hit = {.number = w->number};
        unpack_init(&u, (struct str){w->hit.p, w->hit.len});
        ipc_frame_unpack_hit(&u, &in->scratch, &hit);
        if (have_keys)
            instance_call_on_waiting_hit(in, &hit);
        else
            in->host.hit_answer(in->host.ctx, hit.number, &(struct tc_answer){.status = 503});
        issuer_free_waiting(i, w);
    }
}

static bool issuer_handle_keys(struct instance_issuer *i, struct str keys)
{
    const size_t count = jwt_count_keys(keys);
    if (count == 0 || count > KEYS_MAX)
        return false;
    buf_reset(&i->keys);
    buf_add(&i->keys, keys.p, keys.len);
    i->keys_s = issuer_now_s();
    return true;
}

static struct instance_issuer *instance_issuer_find_by_tag(struct instance *in, const char *tag,
                                                           const char *kind)
{
    struct instance_issuer *i = in->issuers;
    if (strncmp(tag, kind, strlen(kind)) != 0)
        return NULL;
    while (i && strcmp(i->path, tag + strlen(kind)) != 0)
        i = i->next;
    return i;
}

bool instance_issuer_handle_reply(struct instance *in, const struct tc_reply *reply,
                                  const struct tc_verdict *verdict)
{
    struct instance_issuer *const first = instance_issuer_find_by_tag(in, reply->tag, OPENID_TAG),
                                  *const i =
                                      first ? first
                                            : instance_issuer_find_by_tag(in, reply->tag, KEYS_TAG);
    const struct str body = {reply->body, reply->body_len};
    if (!i || verdict->next == TC_NEXT_AGAIN)
        return i != NULL;
    const bool valid = reply->outcome == TC_OK && json_reader_is_valid(body);
    const char *const url = valid && first ? issuer_keys_url(in, i, body) : NULL;
    if (url && issuer_fetch(in, i, url, KEYS_TAG))
        return true;
    const bool good = valid && !first && issuer_handle_keys(i, body);
    i->asked = false;
    if (!good)
        log_write(LOG_WARN, in->label, "cannot fetch the signing keys of the service: %s",
                  *reply->error ? reply->error : "the response is not valid");
    issuer_resume(in, i, good);
    return true;
}

/* ---- begin and end ---- */

int service_route_signed(struct tc_instance *inst, const char *path, const struct tc_issuer *issuer)
{
    struct instance *const in = instance_check_thread(inst, "tc_route_signed");
    struct tc_issuer given;
    versioned_copy(&given, sizeof given, issuer);
    if (!in || !services_check_offered(in, "tc_route_signed", in->host.batch, OFFER_HTTP))
        return -1;
    if (!given.openid || !instance_chat_read_option(in, given.openid) || !given.issuer ||
        !given.audience)
        return services_refuse(in, "tc_route_signed",
                               "the issuer, the audience or the option with the URL is missing");
    if (!path || !*path || path[strlen(path) - 1] == '/')
        return services_refuse(in, "tc_route_signed", "the path must be that of one route");
    if (service_route(inst, path) < 0)
        return -1;
    struct instance_issuer *const i = xcalloc(1, sizeof *i);
    *i = (struct instance_issuer){
        .next = in->issuers,
        .path = xstrdup(path),
        .option = xstrdup(given.openid),
        .issuer = xstrdup(given.issuer),
        .audience = xstrdup(given.audience),
    };
    TAILQ_INIT(&i->waiting);
    in->issuers = i;
    issuer_begin_fetch(in, i);
    return 0;
}

void instance_issuers_free(struct instance *in)
{
    struct instance_issuer *next;
    for (struct instance_issuer *i = in->issuers; i; i = next) {
        next = i->next;
        while (i->waiting_count > 0)
            issuer_free_waiting(i, TAILQ_FIRST(&i->waiting));
        buf_fini(&i->keys);
        free(i->path);
        free(i->option);
        free(i->issuer);
        free(i->audience);
        free(i);
    }
    in->issuers = NULL;
}
