/* SPDX-License-Identifier: MIT
 * Owns the reception of updates: one getUpdates at a time, repeated whatever its outcome, or a
 * webhook. An update is confirmed only when its message is on disk. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "telegram.h"

#define POLL_S 50
#define POLL_TIMEOUT_MS 60000
#define WATCHDOG_MS 120000
#define BACKOFF_MS 1000
#define BACKOFF_MAX_MS 30000
#define CONFLICT_MS 5000
#define CONFLICT_MAX_MS 60000
#define TELL_AFTER 5 /* failures in a row */
#define PENDING_MS 1000
#define ATTEMPTS_MS 5000 /* what is not sent the host repeats, at longer and longer intervals */

static json_t *wanted_updates(void)
{
    return json_pack("[s, s]", "message", "callback_query");
}

/* Doubles with each failure; what is spread keeps instances apart. */
static int64_t backoff(int64_t first, int64_t most, unsigned failures)
{
    int64_t ms = first;
    for (unsigned i = 1; i < failures && ms < most; i++)
        ms *= 2;
    return (ms < most ? ms : most) + call_now_ms() % (first / 4);
}

static void poll_schedule(struct tc_turn *lobby)
{
    const struct telegram *const s = state_of(lobby);
    const int64_t now = call_now_ms(), inbox = inbox_due(s);
    const int64_t since = s->polled_ms > s->repoll_ms ? s->polled_ms : s->repoll_ms;
    int64_t due = conf_of(lobby)->webhook ? now + WATCHDOG_MS : since + WATCHDOG_MS;
    if (inbox && inbox < due)
        due = inbox;
    tc_wake(lobby, due > now ? due - now : 1);
}

static void poll_send(struct tc_turn *lobby, int64_t delay_ms)
{
    struct telegram *const s = state_of(lobby);
    const bool pending = inbox_lowest(s) != 0;
    /* After a failure the poll returns at once: its response shows that Telegram is back. */
    const bool waits = !pending && s->failures == 0;
    json_t *const body =
        json_pack("{s:i, s:o}", "timeout", waits ? POLL_S : 0, "allowed_updates", wanted_updates());
    json_t *const tag = call_tag("poll");
    if (s->offset)
        json_object_set_new(body, "offset", json_integer(s->offset));
    json_object_set_new(tag, "g", json_integer((json_int_t)++s->generation));
    if (pending && delay_ms < PENDING_MS)
        delay_ms = PENDING_MS;
    s->repoll_ms = call_now_ms() + delay_ms;
    call_send(lobby, &(struct telegram_call){.method = "getUpdates",
                                             .body = body,
                                             .tag = tag,
                                             .priority = TC_P_NOTICE,
                                             .flags = TC_LONG_POLL,
                                             .timeout_ms = POLL_TIMEOUT_MS,
                                             .max_age_ms = delay_ms + ATTEMPTS_MS,
                                             .delay_ms = delay_ms});
    poll_schedule(lobby);
}

/* ---- set-up ---- */

static int ask_who(struct tc_turn *lobby, int64_t delay_ms)
{
    return call_send(lobby, &(struct telegram_call){.method = "getMe",
                                                    .tag = call_tag("me"),
                                                    .priority = TC_P_NOTICE,
                                                    .flags = TC_IDEMPOTENT,
                                                    .max_age_ms = delay_ms + ATTEMPTS_MS,
                                                    .delay_ms = delay_ms});
}

/* A root, not the address of the bot: its path does not end with "/", "/bot" or "/bot<token>". */
static bool is_root(const char *url)
{
    const char *const scheme = strstr(url, "://");
    const char *const host = scheme ? scheme + strlen("://") : url;
    const char *const last = strrchr(host, '/');
    if (!*host || *host == '/')
        return false;
    if (!last)
        return true;
    if (strncmp(last, "/bot", strlen("/bot")) != 0)
        return last[1] != '\0';
    const char after = last[strlen("/bot")];
    return after != '\0' && !(after >= '0' && after <= '9');
}

int poll_begin(struct tc_instance *inst)
{
    const struct telegram_conf *const conf = inst->conf;
    if (!is_root(conf->api_base)) {
        tc_log(inst, TC_ERR,
               "api_base must be the root URL of the Bot API server, such as "
               "https://api.telegram.org, without \"/\" or \"/bot<token>\" at its end");
        return -1;
    }
    if (conf->webhook && tc_route(inst, "/update"))
        return -1;
    return ask_who(inst->lobby, 0);
}

static char *percent_encoded(struct tc_turn *lobby, const char *text)
{
    char *const out = tc_alloc(lobby, 3 * strlen(text) + 1);
    char *to = out;
    for (const char *p = text; out && *p; p++)
        to += sprintf(to,
                      strchr("-._~", *p) || (*p >= '0' && *p <= '9') ||
                              ((*p | 32) >= 'a' && (*p | 32) <= 'z')
                          ? "%c"
                          : "%%%02X",
                      (unsigned char)*p);
    return out;
}

/* All parameters are in the URL: only there the host inserts secrets. */
static void set_webhook(struct tc_turn *lobby)
{
    const char *const url = percent_encoded(lobby, conf_of(lobby)->webhook);
    call_send(lobby, &(struct telegram_call){
                         .method = tc_sprint(lobby,
                                             "setWebhook?url=%s&secret_token={option:webhook_"
                                             "secret}&allowed_updates=%%5B%%22message%%22%%2C"
                                             "%%22callback_query%%22%%5D",
                                             url),
                         .tag = call_tag("hook"),
                         .priority = TC_P_NOTICE,
                         .flags = TC_IDEMPOTENT});
}

static void remove_webhook(struct tc_turn *lobby)
{
    state_of(lobby)->unhooked = true;
    tc_log(
        lobby->inst, TC_WARN,
        "removed the bot's webhook because this instance uses polling (option webhook is not set)");
    call_send(lobby, &(struct telegram_call){.method = "deleteWebhook",
                                             .body = json_pack("{s:b}", "drop_pending_updates", 0),
                                             .tag = call_tag("hook"),
                                             .priority = TC_P_NOTICE,
                                             .flags = TC_IDEMPOTENT});
}

int poll_on_hook(struct tc_turn *lobby, const struct tc_reply *reply, const json_t *tag,
                 struct tc_verdict *v)
{
    (void)tag;
    struct answer a = answer_read(reply);
    if (reply->outcome == TC_REJECTED && !answer_rule(lobby, &a, v))
        tc_log(lobby->inst, TC_ERR, "Telegram rejected the webhook: %s", a.description);
    answer_free(&a);
    if (v->next != TC_NEXT_AGAIN && !conf_of(lobby)->webhook)
        poll_send(lobby, 0);
    return 0;
}

/* A token of a wrong form and a wrong api_base are both answered 404. */
static void refuse_all(struct tc_turn *lobby, struct answer *a, struct tc_verdict *v)
{
    a->refusal = REFUSED_TOKEN;
    answer_rule(lobby, a, v);
}

static int64_t on_failure(struct tc_turn *lobby, const struct tc_reply *reply)
{
    struct telegram *const s = state_of(lobby);
    if (++s->failures == TELL_AFTER)
        tc_log(lobby->inst, TC_WARN,
               "cannot reach Telegram: %d requests failed in a row: %s; retrying", TELL_AFTER,
               *reply->error ? reply->error : "the response is not from a Bot API server");
    return backoff(BACKOFF_MS, BACKOFF_MAX_MS, s->failures);
}

int poll_on_me(struct tc_turn *lobby, const struct tc_reply *reply, const json_t *tag,
               struct tc_verdict *v)
{
    (void)tag;
    struct telegram *const s = state_of(lobby);
    struct answer a = answer_read(reply);
    if (reply->outcome == TC_REJECTED && !answer_rule(lobby, &a, v))
        refuse_all(lobby, &a, v);
    const char *const name = call_str(a.result, "username");
    if (reply->outcome == TC_OK && name) {
        s->self = call_int(a.result, "id");
        s->username = tc_keep(lobby, name);
        s->ready = true;
        s->failures = 0;
        menu_publish(lobby);
        if (conf_of(lobby)->webhook)
            set_webhook(lobby);
        else
            poll_send(lobby, 0);
    } else if (!s->dead && v->next != TC_NEXT_AGAIN) {
        ask_who(lobby, on_failure(lobby, reply));
    }
    answer_free(&a);
    return 0;
}

/* ---- polling ---- */

/* Takes the updates in order. If one cannot be stored, it and the following ones are delivered
 * again. */
static bool take_all(struct tc_turn *lobby, const json_t *updates)
{
    struct telegram *const s = state_of(lobby);
    int64_t next = s->offset;
    bool kept = true, done;
    size_t i;
    json_t *update;
    json_array_foreach(updates, i, update)
    {
        const int64_t id = call_int(update, "update_id");
        if (id < s->offset || inbox_has(s, id, &done) || update_take(lobby, update) != TAKEN_NOT) {
            next = id + 1 > next ? id + 1 : next;
            inbox_note(s, id);
            continue;
        }
        kept = false;
        break;
    }
    const int64_t lowest = inbox_lowest(s);
    s->offset = lowest && lowest < next ? lowest : next;
    inbox_forget_below(s, s->offset);
    return kept;
}

static int64_t on_conflict(struct tc_turn *lobby, const struct answer *a)
{
    struct telegram *const s = state_of(lobby);
    if (strstr(a->description, "webhook is active") && !s->unhooked) {
        remove_webhook(lobby);
        return -1;
    }
    if (s->conflicts++ == 0)
        tc_log(lobby->inst, TC_WARN,
               "another process is polling with the same bot token (%s); stop it; retrying",
               a->description);
    return backoff(CONFLICT_MS, CONFLICT_MAX_MS, s->conflicts);
}

static int64_t on_batch(struct tc_turn *lobby, const struct tc_reply *reply, const struct answer *a)
{
    struct telegram *const s = state_of(lobby);
    if (!json_is_array(a->result) || !take_all(lobby, a->result))
        return on_failure(lobby, reply);
    if (s->failures >= TELL_AFTER || s->conflicts > 0)
        tc_log(lobby->inst, TC_INFO, "receiving updates again");
    s->failures = s->conflicts = 0;
    return 0;
}

/* When to poll next; negative: not from here. */
static int64_t judge(struct tc_turn *lobby, const struct tc_reply *reply, struct answer *a,
                     struct tc_verdict *v)
{
    if (reply->outcome == TC_OK)
        return on_batch(lobby, reply, a);
    if (reply->outcome != TC_REJECTED)
        return on_failure(lobby, reply);
    if (reply->status == 409)
        return on_conflict(lobby, a);
    if (a->refusal == REFUSED_METHOD)
        refuse_all(lobby, a, v);
    else
        answer_rule(lobby, a, v);
    if (state_of(lobby)->dead)
        return -1;
    return a->refusal == REFUSED_FLOOD && a->retry_ms ? a->retry_ms : on_failure(lobby, reply);
}

int poll_on_updates(struct tc_turn *lobby, const struct tc_reply *reply, const json_t *tag,
                    struct tc_verdict *v)
{
    struct telegram *const s = state_of(lobby);
    const bool current = (uint64_t)call_int(tag, "g") == s->generation;
    if (!current) {
        v->next = TC_NEXT_DONE;
        return 0;
    }
    struct answer a = answer_read(reply);
    s->polled_ms = call_now_ms();
    const int64_t delay = judge(lobby, reply, &a, v);
    /* The next poll is another request; late responses to this one are ignored. */
    if (!s->dead)
        v->next = TC_NEXT_DONE;
    if (delay >= 0)
        poll_send(lobby, delay);
    answer_free(&a);
    return 0;
}

void poll_wake(struct tc_turn *lobby)
{
    const struct telegram *const s = state_of(lobby);
    const int64_t since = s->polled_ms > s->repoll_ms ? s->polled_ms : s->repoll_ms;
    inbox_wake(lobby);
    if (s->dead)
        return;
    if (s->ready && !conf_of(lobby)->webhook && call_now_ms() - since >= WATCHDOG_MS) {
        tc_log(lobby->inst, TC_WARN, "polling request timed out after %d s; starting a new one",
               WATCHDOG_MS / 1000);
        poll_send(lobby, 0);
        return;
    }
    poll_schedule(lobby);
}

void poll_nudge(struct tc_turn *lobby)
{
    poll_schedule(lobby);
}

/* ---- webhook ---- */

/* In a time that does not depend on where they differ. */
static bool is_secret(const char *given, const char *secret)
{
    const size_t n = strlen(secret), m = strlen(given);
    unsigned char differ = n != m;
    for (size_t i = 0; i < n; i++)
        differ |= (unsigned char)(secret[i] ^ given[m ? i % m : 0]);
    return differ == 0;
}

static bool is_genuine(const struct tc_turn *lobby, const struct tc_hit *hit)
{
    for (size_t i = 0; i < hit->header_count; i++)
        if (strcasecmp(hit->headers[i].name, "X-Telegram-Bot-Api-Secret-Token") == 0)
            return is_secret(hit->headers[i].value, conf_of(lobby)->webhook_secret);
    return false;
}

/* What waits for its files is delivered again until it is on disk. */
static int status_of(struct tc_turn *lobby, const json_t *update)
{
    static const int statuses[] = {[TAKEN] = 200, [TAKEN_LATER] = 503, [TAKEN_NOT] = 500};
    bool done;
    if (inbox_has(state_of(lobby), call_int(update, "update_id"), &done))
        return done ? 200 : 503;
    return statuses[update_take(lobby, update)];
}

int poll_on_hit(struct tc_turn *lobby, const struct tc_hit *hit, struct tc_answer *answer)
{
    if (!is_genuine(lobby, hit)) {
        answer->status = 401;
        return 0;
    }
    json_t *const update = json_loadb(hit->body, hit->body_len, 0, NULL);
    if (!update)
        answer->status = 400;
    else
        answer->status = state_of(lobby)->ready ? status_of(lobby, update) : 503;
    json_decref(update);
    poll_schedule(lobby);
    return 0;
}
