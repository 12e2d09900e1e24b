/* SPDX-License-Identifier: MIT
 * The script words that check the effects of a step, one function for each. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/testing/script_internal.h"
#include "cli/testing/fake/script_match.h"
#include "plugin/outbound.h"

static bool script_find_act(struct script *s, enum fake_note note, int level, const char *text)
{
    for (struct fake_act **at = &s->host->acts; *at; at = &(*at)->next) {
        const struct fake_act *const a = *at;
        if (a->note != note || (level && a->level != level) || !strstr(a->what, text))
            continue;
        fake_host_drop_act(at);
        return true;
    }
    return false;
}

/* Takes the first matching action; waits for a program. */
static bool script_take_act(struct script *s, enum fake_note note, int level, const char *text)
{
    int64_t left_ms = FAKE_PATIENCE_MS;
    bool found;
    while (!(found = script_find_act(s, note, level, text)) && fake_host_wait(s->host, &left_ms))
        continue;
    return found;
}

/* ---- requests ---- */

static bool script_check_flag(const struct fake_request *r, const char *w)
{
    static const struct {
        const char *name;
        uint32_t flag;
    } flags[] = {{"durable", TC_DURABLE},
                 {"idempotent", TC_IDEMPOTENT},
                 {"poll", TC_LONG_POLL},
                 {"save", TC_SAVE},
                 {"after-memory", TC_AFTER_MEMORY}};
    const bool absent = w[0] == '!';
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(w + absent, flags[i].name) == 0)
            return !(r->http.flags & flags[i].flag) == absent;
    static const char *const priorities[] = {"final", "request", "notice", "live"};
    for (size_t i = 0; i < sizeof priorities / sizeof *priorities; i++)
        if (strcmp(w, priorities[i]) == 0)
            return (size_t)r->http.priority == i;
    return false;
}

static bool script_check_value(const struct fake_request *r, const char *key, size_t n,
                               const char *value)
{
    const char *const lane = r->http.lane ? r->http.lane : "-";
    const char *const live = r->http.key ? r->http.key : "-";
#define KEY(lit) (n == sizeof lit - 1 && memcmp(key, lit, n) == 0)
    if (KEY("lane"))
        return strcmp(lane, value) == 0;
    if (KEY("key"))
        return strcmp(live, value) == 0;
    if (KEY("tag"))
        return strstr(r->http.tag, value) != NULL;
    if (KEY("url"))
        return strstr(r->http.url, value) != NULL;
    if (KEY("turn"))
        return strcmp(r->turn->id, strcmp(value, "lobby") == 0 ? "" : value) == 0;
    if (KEY("rates"))
        return r->http.rates == strtoul(value, NULL, 0);
    if (KEY("timeout"))
        return r->http.timeout_ms == atoll(value);
    if (KEY("delay"))
        return r->http.delay_ms == atoll(value);
#undef KEY
    return false;
}

/* `name` is the start of the failure reason; takes ownership of `got`. */
static void script_check_json(struct script *s, const char *name, const char *text, json_t *got)
{
    CLEANUP_BUF struct buf why = {0};
    json_t *const want = script_parse_json(s, text);
    if (want && !match_json(want, got, &why))
        script_fail(s, "%s: %s", name, why.p);
    json_decref(want);
    json_decref(got);
}

static struct fake_request *script_await_request(struct script *s, const char *method)
{
    int64_t left_ms = FAKE_PATIENCE_MS;
    struct fake_request *r;
    while (!(r = fake_host_find_unnamed(s->host, method)) && fake_host_wait(s->host, &left_ms))
        continue;
    return r;
}

static json_t *script_read_body(const struct tc_http *http)
{
    return outbound_parts_are_sent(http)
               ? match_parts(http->parts, http->part_count)
               : match_body(http->content_type, http->body ? http->body : "", http->body_len);
}

static void script_do_expect(struct script *s, char *rest)
{
    const char *const method = script_word(&rest);
    struct fake_request *const r = script_await_request(s, method);
    if (!r) {
        const struct fake_request *const other = fake_host_find_unnamed(s->host, NULL);
        script_fail(s, "no %s on the wire, but %s", method, other ? other->method : "nothing");
        return;
    }
    r->state = FAKE_NAMED;
    s->last = r;
    free(r->label);
    r->label = xstrdup(method);
    while (rest && *rest && *rest != '{' && *rest != '"' && *rest != '[') {
        const char *const w = script_word(&rest), *const is = strchr(w, '=');
        if (strcmp(w, "as") == 0) {
            free(r->label);
            r->label = xstrdup(script_word(&rest));
        } else if (!(is ? script_check_value(r, w, (size_t)(is - w), is + 1)
                        : script_check_flag(r, w))) {
            script_fail(
                s, "%s is not %s (lane %s, key %s, rates %u, flags %u, priority %d, tag %s)",
                method, w, r->http.lane ? r->http.lane : "-", r->http.key ? r->http.key : "-",
                r->http.rates, r->http.flags, (int)r->http.priority, r->http.tag);
        }
    }
    if (rest && *rest)
        script_check_json(s, r->method, rest, script_read_body(&r->http));
}

static void script_do_verdict(struct script *s, char *rest)
{
    static const char *const nexts[] = {"done", "again", "fail", "later"};
    static const char *const scopes[] = {"lane", "rates", "instance"};
    const struct tc_verdict *const v = &s->verdict;
    const char *const next = script_word(&rest);
    char *w = script_word(&rest);
    if (strcmp(next, nexts[v->next]) != 0)
        script_fail(s, "the verdict is %s (%s)", nexts[v->next], v->reason ? v->reason : "");
    if (*w >= '0' && *w <= '9') {
        if (v->hold_ms != atoll(w))
            script_fail(s, "it holds for %lld ms", (long long)v->hold_ms);
        w = script_word(&rest);
    }
    for (size_t i = 0; v->next == TC_NEXT_AGAIN && i < 3; i++)
        if (strcmp(w, scopes[i]) == 0) {
            if ((size_t)v->scope != i)
                script_fail(s, "the scope is %s", scopes[v->scope]);
            return;
        }
    char *const reason = xasprintf("%s%s%s", w, rest && *rest ? " " : "", script_tail(rest));
    if (*reason && !strstr(v->reason ? v->reason : "", reason))
        script_fail(s, "the reason is %s", v->reason ? v->reason : "not given");
    free(reason);
}

static void script_do_answer(struct script *s, char *rest)
{
    const char *const status = script_word(&rest);
    if (s->answer.later && s->host->hits.is_answered) {
        s->answer = s->host->hits.answer;
        s->host->hits.is_answered = false;
    }
    if (s->answer.later != (strcmp(status, "later") == 0))
        script_fail(s, "the answer is %s", s->answer.later ? "promised" : "there");
    if (s->answer.later)
        return;
    if (s->answer.status != atoi(status))
        script_fail(s, "the answer is %d", s->answer.status);
    if (!rest || !*rest)
        return;
    const char *const body = s->answer.body ? s->answer.body : "";
    script_check_json(s, "answer", rest, match_body(NULL, body, strlen(body)));
}

static void script_expect_frame(struct script *s, const char *text)
{
    const struct fake_act *a = s->host->acts;
    while (a && a->note != FAKE_WS_SEND)
        a = a->next;
    if (!a) {
        script_fail(s, "no frame was sent");
        return;
    }
    script_check_json(s, "frame", text, match_body(NULL, a->what, strlen(a->what)));
    script_take_act(s, FAKE_WS_SEND, 0, "");
}

static void script_do_ws(struct script *s, char *rest)
{
    const char *const what = script_word(&rest);
    if (strcmp(what, "send") == 0)
        script_expect_frame(s, script_tail(rest));
    else if (!script_take_act(s, strcmp(what, "open") == 0 ? FAKE_WS_OPEN : FAKE_WS_CLOSE, 0,
                              script_tail(rest)))
        script_fail(s, "no socket: %s %s", what, script_tail(rest));
}

static void script_do_log(struct script *s, char *rest)
{
    static const char *const names[] = {"", "", "", "err", "warn", "", "info", "debug"};
    const char *const level = script_word(&rest);
    for (int i = TC_ERR; i <= TC_DEBUG; i++)
        if (strcmp(level, names[i]) == 0 && script_take_act(s, FAKE_LOG, i, script_tail(rest)))
            return;
    script_fail(s, "no such line was logged");
}

static void script_do_secret(struct script *s, char *rest)
{
    CLEANUP_FREE char *whole = xasprintf("%s ", script_word(&rest));
    CLEANUP_FREE char *what = xasprintf("%s%s", whole, script_tail(rest));
    if (!script_take_act(s, FAKE_SECRET, 0, what))
        script_fail(s, "that secret was not set");
}

static bool script_find_dead(struct script *s, const char *method, const char *reason)
{
    const size_t n = strlen(method);
    for (struct fake_act **at = &s->host->acts; *at; at = &(*at)->next) {
        const struct fake_act *const a = *at;
        if (a->note != FAKE_DEAD || strncmp(a->what, method, n) != 0 || a->what[n] != ' ' ||
            !strstr(a->what + n, reason))
            continue;
        fake_host_drop_act(at);
        return true;
    }
    return false;
}

static void script_do_dead(struct script *s, char *rest)
{
    int64_t left_ms = FAKE_PATIENCE_MS;
    const char *const method = script_word(&rest), *const reason = script_tail(rest);
    while (!script_find_dead(s, method, reason))
        if (!fake_host_wait(s->host, &left_ms)) {
            script_fail(s, "no such request was given up");
            return;
        }
}

/* "-": no turn remembers anything. */
static bool script_is_remembered(const struct script *s, const char *text)
{
    const bool none = strcmp(text, "-") == 0;
    for (const struct fake_turn *t = s->host->turns; t; t = t->next)
        if (t->memory && (none || strstr(t->memory, text)))
            return !none;
    return none;
}

static void script_do_remember(struct script *s, char *rest)
{
    int64_t left_ms = FAKE_PATIENCE_MS;
    const char *const text = script_tail(rest);
    while (!script_is_remembered(s, text))
        if (!fake_host_wait(s->host, &left_ms)) {
            script_fail(s, strcmp(text, "-") == 0 ? "a turn remembers something"
                                                  : "no turn remembers that");
            return;
        }
}

/* "stored KEY TEXT": the stored text contains TEXT; "stored KEY": a text is stored; TEXT "-": none
 * is stored. */
static void script_do_stored(struct script *s, char *rest)
{
    int64_t left_ms = FAKE_PATIENCE_MS;
    const char *const key = script_word(&rest), *const text = script_tail(rest);
    for (;;) {
        const struct stored_text *const t = stored_texts_find(&s->host->kept.stored, key);
        if (strcmp(text, "-") == 0 ? !t : t && strstr(t->text, text))
            return;
        if (!fake_host_wait(s->host, &left_ms)) {
            script_fail(s, "stored under %s: %s", key, t ? t->text : "nothing");
            return;
        }
    }
}

/* Checks the connector's standard output; earlier output needs no line. */
static void script_do_print(struct script *s, char *rest)
{
    json_t *const json = *script_tail(rest) == '"' ? script_parse_json(s, rest) : NULL;
    const char *const text = json ? json_string_value(json) : script_tail(rest);
    if (!output_capture_take(s->subject->output, text ? text : ""))
        script_fail(s, "that was not printed, but: %s", output_capture_peek(s->subject->output));
    json_decref(json);
}

static void script_do_over(struct script *s, char *rest)
{
    if (fake_host_find(s->host, script_word(&rest)))
        script_fail(s, "the turn has not ended");
}

static void script_do_open(struct script *s, char *rest)
{
    if (!fake_host_find(s->host, script_word(&rest)))
        script_fail(s, "the turn has ended");
}

script_word_fn *script_find_expectation(const char *verb)
{
    static const struct {
        const char *verb;
        script_word_fn *act;
    } verbs[] = {
        {">", script_do_expect},  {"verdict", script_do_verdict},   {"answer", script_do_answer},
        {"ws", script_do_ws},     {"log", script_do_log},           {"print", script_do_print},
        {"dead", script_do_dead}, {"remember", script_do_remember}, {"over", script_do_over},
        {"open", script_do_open}, {"secret", script_do_secret},     {"stored", script_do_stored}};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(verb, verbs[i].verb) == 0)
            return verbs[i].act;
    return NULL;
}
