/* SPDX-License-Identifier: MIT
 * Requests of Teams to the route of the instance. The signature of a request is checked before its
 * body is used. Requests that arrive before the keys have been read wait for the keys. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "teams.h"

#define WAITING_MAX 64
#define BODY_MAX ((size_t)256 << 10)
#define REFUSED_LOG_S 60 /* at most one line in that time: anybody can send requests */

/* ---- what is in it ---- */

static bool hook_is_endorsed(const json_t *key, const char *channel)
{
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(key, "endorsements"), i, one)
    {
        if (json_is_string(one) && strcmp(json_string_value(one), channel) == 0)
            return true;
    }
    return false;
}

/* Why the claims do not permit this activity, or NULL. */
static const char *hook_find_fault(const struct tc_turn *lobby, const json_t *claims,
                                   const json_t *key, const json_t *activity)
{
    const char *const channel = teams_text(activity, "channelId"),
                      *const service = teams_text(activity, "serviceUrl"),
                      *const claimed = teams_text(claims, "serviceurl");
    if (!channel || strcmp(channel, "msteams") != 0)
        return "the activity is not of the channel msteams";
    if (!hook_is_endorsed(key, channel))
        return "its key is not endorsed for the channel";
    if (!service || !claimed || strcmp(service, claimed) != 0)
        return "it is of another service (serviceurl)";
    if (!teams_url_is_service(lobby, service))
        return "the serviceUrl of the activity is not one of Microsoft Teams";
    return NULL;
}

/* ---- answers ---- */

static void hook_refuse(struct tc_turn *lobby, const char *why, struct tc_answer *answer)
{
    struct teams *const s = teams_state(lobby);
    const int64_t now = (int64_t)time(NULL);
    answer->status = s->keys ? 401 : 503; /* without keys it may be a good one */
    if (now - s->refused_s < REFUSED_LOG_S)
        return;
    s->refused_s = now;
    tc_log(lobby->inst, TC_WARN, "refused a request to the route /messages: the token: %s", why);
}

/* False: it has to wait for the keys. */
static bool hook_answer(struct tc_turn *lobby, const char *authorization, const char *body,
                        size_t len, struct tc_answer *answer)
{
    const json_t *key = NULL;
    const char *why = NULL;
    json_t *const claims = teams_jwt_read(lobby, authorization, &key, &why);
    if (!claims && !why)
        return false;
    json_t *const activity = claims ? json_loadb(body, len, JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (!why && activity)
        why = hook_find_fault(lobby, claims, key, activity);
    if (why)
        hook_refuse(lobby, why, answer);
    else if (!activity)
        answer->status = 400;
    else
        teams_activity_take(lobby, activity, answer);
    json_decref(activity);
    json_decref(claims);
    return true;
}

/* ---- waiting ---- */

static void hook_free_one(struct teams *s, struct teams_waiting *w)
{
    TAILQ_REMOVE(&s->waiting, w, entry);
    s->waiting_count--;
    free(w->authorization);
    free(w->body);
    free(w);
}

static bool hook_wait(struct teams *s, const struct tc_hit *hit, const char *authorization)
{
    struct teams_waiting *const w =
        s->waiting_count < WAITING_MAX && hit->body_len <= BODY_MAX ? calloc(1, sizeof *w) : NULL;
    if (!w)
        return false;
    w->number = hit->number;
    w->authorization = strdup(authorization);
    w->body = malloc(hit->body_len + 1);
    w->body_len = hit->body_len;
    TAILQ_INSERT_TAIL(&s->waiting, w, entry);
    s->waiting_count++;
    if (!w->authorization || !w->body) {
        hook_free_one(s, w);
        return false;
    }
    memcpy(w->body, hit->body, hit->body_len);
    return true;
}

void teams_hook_resume(struct tc_turn *lobby, bool have_keys)
{
    struct teams *const s = teams_state(lobby);
    for (size_t n = s->waiting_count; n > 0; n--) {
        struct teams_waiting *const w = TAILQ_FIRST(&s->waiting);
        struct tc_answer answer = {.status = 200};
        if (!have_keys || !hook_answer(lobby, w->authorization, w->body, w->body_len, &answer))
            answer.status = 503;
        tc_hit_answer(lobby->inst, w->number, &answer);
        hook_free_one(s, w);
    }
}

void teams_hook_free(struct tc_instance *inst)
{
    struct teams *const s = inst->state;
    while (s->waiting_count > 0)
        hook_free_one(s, TAILQ_FIRST(&s->waiting));
    json_decref(s->keys);
}

int teams_hook_take(struct tc_turn *lobby, const struct tc_hit *hit, struct tc_answer *answer)
{
    const char *const authorization = tc_header_value(lobby, hit, "Authorization");
    if (strcmp(hit->method, "POST") != 0)
        answer->status = 405;
    else if (hook_answer(lobby, authorization, hit->body, hit->body_len, answer))
        return 0;
    else if (hook_wait(teams_state(lobby), hit, authorization))
        answer->later = true;
    else
        answer->status = 503;
    return 0;
}
