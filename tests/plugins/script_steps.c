/* SPDX-License-Identifier: MIT
 * Owns the words of a script: one function for each, in a table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "plugins/match.h"
#include "plugins/script.h"
#include "tap/tap.h"

char *script_word(char **rest)
{
    char *const w = *rest ? strsep(rest, " ") : NULL;
    while (*rest && **rest == ' ')
        ++*rest;
    return w ? w : (char *)(uintptr_t) "";
}

static const char *tail(const char *rest)
{
    return rest ? rest : "";
}

static json_t *parse(struct script *s, const char *text, size_t flags)
{
    json_error_t error;
    json_t *const value = json_loads(text, JSON_DECODE_ANY | flags, &error);
    if (!value)
        script_fail(s, "no JSON: %s: %s", error.text, text);
    return value;
}

json_t *script_take_json(struct script *s, char **rest)
{
    json_error_t error;
    json_t *const value = json_loads(*rest, JSON_DISABLE_EOF_CHECK, &error);
    if (!value)
        script_fail(s, "no JSON: %s: %s", error.text, *rest);
    else
        *rest += (size_t)error.position;
    *rest += strspn(*rest, " ");
    return value;
}

struct stage *script_stage(struct script *s)
{
    if (s->stage)
        return s->stage;
    char path[4096];
    const char *folder = getenv("TURNCAST_PLUGIN_PATH");
    snprintf(path, sizeof path, "%s/%s.so", folder ? folder : "plugins/.libs", s->plugin);
    s->stage = stage_new(path, s->options);
    return s->stage;
}

/* ---- the step before is over ---- */

static void complain(struct script *s, const struct stage_act *a)
{
    static const char *const names[] = {"logged", "gave up", "opened", "sent a frame", "closed"};
    script_fail(s, "%s: %s", names[a->note], a->what);
}

static void check_over(struct script *s)
{
    if (!s->stage)
        return;
    const struct stage_request *const r = stage_unnamed(s->stage, NULL);
    if (r)
        script_fail(s, "unexpected request: %s %s", r->method, r->http.body ? r->http.body : "");
    if (s->stage->promises)
        script_fail(s, "the %s of line %d was not called", s->stage->promises->call,
                    s->stage->promises->line);
    while (s->stage->acts) {
        struct stage_act *const a = s->stage->acts;
        if (a->note != STAGE_LOG || a->level <= TC_WARN)
            complain(s, a);
        s->stage->acts = a->next;
        free(a->what);
        free(a);
    }
}

/* Before a step: what is promised for it is no leftover. */
static void step(struct script *s)
{
    struct stage_promise *const promised = s->stage ? s->stage->promises : NULL;
    if (s->stage)
        s->stage->promises = NULL;
    check_over(s);
    if (s->stage)
        s->stage->promises = promised;
}

static void after(struct script *s)
{
    if (s->stage && s->stage->promises)
        script_fail(s, "the %s of line %d was not called", s->stage->promises->call,
                    s->stage->promises->line);
}

/* Takes the first act that fits. */
static bool take_act(struct script *s, enum stage_note note, int level, const char *text)
{
    for (struct stage_act **at = &s->stage->acts; *at; at = &(*at)->next) {
        struct stage_act *const a = *at;
        if (a->note != note || (level && a->level != level) || !strstr(a->what, text))
            continue;
        *at = a->next;
        free(a->what);
        free(a);
        return true;
    }
    return false;
}

/* ---- set-up ---- */

static void do_option(struct script *s, char *rest)
{
    if (s->stage || s->option_count >= 2 * STAGE_OPTIONS_MAX) {
        script_fail(s, "an option comes before all else");
        return;
    }
    const char *const key = script_word(&rest);
    s->options[s->option_count++] = xstrdup(key);
    s->options[s->option_count++] = xstrdup(tail(rest));
    s->options[s->option_count] = NULL;
}

static void add_auto(struct script *s, const char *method, int status, const char *body)
{
    struct stage_auto *const a = xcalloc(1, sizeof *a);
    *a = (struct stage_auto){script_stage(s)->autos, xstrdup(method), xstrdup(body), status};
    s->stage->autos = a;
}

static void do_quiet(struct script *s, char *rest)
{
    add_auto(s, script_word(&rest), 0, NULL);
}

static void do_auto(struct script *s, char *rest)
{
    const char *const method = script_word(&rest), *const status = script_word(&rest);
    add_auto(s, method, atoi(status), tail(rest));
}

static void do_loud(struct script *s, char *rest)
{
    const char *const method = script_word(&rest);
    for (struct stage_auto **at = &s->stage->autos; *at;) {
        struct stage_auto *const a = *at;
        if (strcmp(a->method, method) != 0) {
            at = &a->next;
            continue;
        }
        *at = a->next;
        free(a->method);
        free(a->body);
        free(a);
    }
}

static void do_init(struct script *s, char *rest)
{
    const bool fails = strcmp(script_word(&rest), "fails") == 0;
    if ((stage_init(script_stage(s)) != 0) != fails)
        script_fail(s, "init %s", fails ? "succeeded" : "failed");
}

static void do_restart(struct script *s, char *rest)
{
    (void)rest;
    step(s);
    if (stage_restart(s->stage))
        script_fail(s, "init failed");
}

/* ---- what comes in ---- */

static void do_turn(struct script *s, char *rest)
{
    const char *const id = script_word(&rest);
    json_t *const o = rest && *rest ? parse(s, rest, 0) : json_object();
    json_t *const route = json_object_get(o, "route");
    char *const text = json_is_string(route) ? xstrdup(json_string_value(route))
                       : route               ? json_dumps(route, JSON_COMPACT)
                                             : NULL;
    step(s);
    stage_open(s->stage, id, json_string_value(json_object_get(o, "conversation")), text,
               json_string_value(json_object_get(o, "memory")));
    free(text);
    json_decref(o);
}

static void do_event(struct script *s, const char *id, char *rest)
{
    struct stage_turn *const t = stage_find(script_stage(s), id);
    const char *const kind = script_word(&rest);
    step(s);
    if (!t)
        script_fail(s, "there is no turn %s", id);
    else
        stage_event(s->stage, t, kind, tail(rest));
    after(s);
}

static void do_wait(struct script *s, char *rest)
{
    step(s);
    stage_advance(s->stage, atoll(script_word(&rest)));
    after(s);
}

static struct stage_request *labelled(struct script *s, const char *label)
{
    struct stage_request *newest = NULL;
    for (struct stage_request *r = s->stage->requests; r; r = r->next)
        if (r->state == STAGE_NAMED && r->label && strcmp(r->label, label) == 0 &&
            (!newest || r->sent > newest->sent))
            newest = r;
    return newest;
}

static bool is_alive(const struct script *s, const struct stage_request *wanted)
{
    for (const struct stage_request *r = s->stage->requests; r; r = r->next)
        if (r == wanted)
            return r->state == STAGE_NAMED;
    return false;
}

static enum tc_outcome outcome_of(int status)
{
    if (status >= 200 && status < 300)
        return TC_OK;
    return status >= 300 && status < 500 ? TC_REJECTED : TC_AMBIGUOUS;
}

static bool is_result(const char *w)
{
    return strcmp(w, "unsent") == 0 || strcmp(w, "lost") == 0 || (*w >= '1' && *w <= '9') ||
           strncmp(w, "after=", 6) == 0;
}

static void do_reply(struct script *s, char *rest)
{
    int64_t after_ms = 0;
    char *w = script_word(&rest);
    struct stage_request *r = s->last;
    step(s);
    if (!is_result(w)) {
        r = labelled(s, w);
        w = script_word(&rest);
    }
    if (strncmp(w, "after=", 6) == 0) {
        after_ms = atoll(w + 6);
        w = script_word(&rest);
    }
    if (!r || !is_alive(s, r)) {
        script_fail(s, "there is no such request on the wire");
        return;
    }
    const int status = atoi(w);
    const enum tc_outcome outcome = strcmp(w, "unsent") == 0 ? TC_NOT_SENT
                                    : strcmp(w, "lost") == 0 ? TC_AMBIGUOUS
                                                             : outcome_of(status);
    s->verdict = stage_reply(s->stage, r, outcome, status, tail(rest), after_ms);
    stage_advance(s->stage, 0);
    after(s);
}

static void do_hit(struct script *s, char *rest)
{
    const char *const method = script_word(&rest), *const path = script_word(&rest);
    json_t *const headers = script_take_json(s, &rest);
    step(s);
    if (headers)
        s->answer = stage_hit(s->stage, method, path, headers, rest);
    json_decref(headers);
    after(s);
}

static void do_frame(struct script *s, char *rest)
{
    int64_t socket = script_stage(s)->socket_count;
    const char *w = script_word(&rest);
    step(s);
    if (w[0] == '#') {
        socket = atoll(w + 1);
        w = script_word(&rest);
    }
    const enum tc_socket_event event = strcmp(w, "open") == 0   ? TC_SOCKET_OPEN
                                       : strcmp(w, "text") == 0 ? TC_SOCKET_TEXT
                                                                : TC_SOCKET_CLOSED;
    stage_frame(s->stage, socket, event, tail(rest));
    after(s);
}

/* ---- what it must have led to ---- */

static bool check_flag(const struct stage_request *r, const char *w)
{
    static const struct {
        const char *name;
        uint32_t flag;
    } flags[] = {{"durable", TC_DURABLE},
                 {"idempotent", TC_IDEMPOTENT},
                 {"poll", TC_LONG_POLL},
                 {"save", TC_SAVE}};
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

static bool check_value(const struct stage_request *r, const char *key, size_t n, const char *value)
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
        return strcmp(r->turn->turn.id, strcmp(value, "lobby") == 0 ? "" : value) == 0;
    if (KEY("rates"))
        return r->http.rates == strtoul(value, NULL, 0);
    if (KEY("timeout"))
        return r->http.timeout_ms == atoll(value);
    if (KEY("delay"))
        return r->http.delay_ms == atoll(value);
#undef KEY
    return false;
}

static void check_body(struct script *s, const struct stage_request *r, const char *text)
{
    json_t *const want = parse(s, text, 0);
    json_t *const got =
        match_body(r->http.content_type, r->http.body ? r->http.body : "", r->http.body_len);
    CLEANUP_BUF struct buf why = {0};
    if (want && !match_json(want, got, &why))
        script_fail(s, "%s: %s", r->method, why.p);
    json_decref(want);
    json_decref(got);
}

static void do_expect(struct script *s, char *rest)
{
    const char *const method = script_word(&rest);
    struct stage_request *const r = s->stage ? stage_unnamed(s->stage, method) : NULL;
    if (!r) {
        const struct stage_request *const other = s->stage ? stage_unnamed(s->stage, NULL) : NULL;
        script_fail(s, "no %s on the wire, but %s", method, other ? other->method : "nothing");
        return;
    }
    r->state = STAGE_NAMED;
    s->last = r;
    free(r->label);
    r->label = xstrdup(method);
    while (rest && *rest && *rest != '{' && *rest != '"' && *rest != '[') {
        const char *const w = script_word(&rest), *const is = strchr(w, '=');
        if (strcmp(w, "as") == 0) {
            free(r->label);
            r->label = xstrdup(script_word(&rest));
        } else if (!(is ? check_value(r, w, (size_t)(is - w), is + 1) : check_flag(r, w))) {
            script_fail(
                s, "%s is not %s (lane %s, key %s, rates %u, flags %u, priority %d, tag %s)",
                method, w, r->http.lane ? r->http.lane : "-", r->http.key ? r->http.key : "-",
                r->http.rates, r->http.flags, (int)r->http.priority, r->http.tag);
        }
    }
    if (rest && *rest)
        check_body(s, r, rest);
}

static void do_verdict(struct script *s, char *rest)
{
    static const char *const nexts[] = {"done", "again", "fail"};
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
    char *const reason = xasprintf("%s%s%s", w, rest && *rest ? " " : "", tail(rest));
    if (*reason && !strstr(v->reason ? v->reason : "", reason))
        script_fail(s, "the reason is %s", v->reason ? v->reason : "not given");
    free(reason);
}

static void do_answer(struct script *s, char *rest)
{
    const char *const status = script_word(&rest);
    if (s->answer.status != atoi(status))
        script_fail(s, "the answer is %d", s->answer.status);
    if (!rest || !*rest)
        return;
    const char *const body = s->answer.body ? s->answer.body : "";
    json_t *const want = parse(s, rest, 0), *const got = match_body(NULL, body, strlen(body));
    CLEANUP_BUF struct buf why = {0};
    if (want && !match_json(want, got, &why))
        script_fail(s, "answer: %s", why.p);
    json_decref(want);
    json_decref(got);
}

static void ws_send(struct script *s, const char *text)
{
    struct stage_act *a = s->stage->acts;
    while (a && a->note != STAGE_WS_SEND)
        a = a->next;
    CLEANUP_BUF struct buf why = {0};
    json_t *const want = parse(s, text, 0);
    json_t *const got = a ? match_body(NULL, a->what, strlen(a->what)) : NULL;
    if (!a)
        script_fail(s, "no frame was sent");
    else if (want && !match_json(want, got, &why))
        script_fail(s, "frame: %s", why.p);
    json_decref(want);
    json_decref(got);
    if (a)
        take_act(s, STAGE_WS_SEND, 0, "");
}

static void do_ws(struct script *s, char *rest)
{
    const char *const what = script_word(&rest);
    if (strcmp(what, "send") == 0)
        ws_send(s, tail(rest));
    else if (!take_act(s, strcmp(what, "open") == 0 ? STAGE_WS_OPEN : STAGE_WS_CLOSE, 0,
                       tail(rest)))
        script_fail(s, "no socket: %s %s", what, tail(rest));
}

static void do_log(struct script *s, char *rest)
{
    static const char *const names[] = {"", "", "", "err", "warn", "", "info", "debug"};
    const char *const level = script_word(&rest);
    for (int i = TC_ERR; i <= TC_DEBUG; i++)
        if (strcmp(level, names[i]) == 0 && take_act(s, STAGE_LOG, i, tail(rest)))
            return;
    script_fail(s, "no such line was logged");
}

static void do_dead(struct script *s, char *rest)
{
    const char *const method = script_word(&rest);
    const size_t n = strlen(method);
    for (const struct stage_act *a = s->stage->acts; a; a = a->next)
        if (a->note == STAGE_DEAD && strncmp(a->what, method, n) == 0 && a->what[n] == ' ' &&
            strstr(a->what + n, tail(rest))) {
            take_act(s, STAGE_DEAD, 0, a->what);
            return;
        }
    script_fail(s, "no such request was given up");
}

static void do_remember(struct script *s, char *rest)
{
    for (const struct stage_turn *t = s->stage->turns; t; t = t->next)
        if (t->memory && strstr(t->memory, tail(rest)))
            return;
    script_fail(s, "no turn remembers that");
}

static void do_over(struct script *s, char *rest)
{
    if (stage_find(s->stage, script_word(&rest)))
        script_fail(s, "the turn has not ended");
}

static void do_open(struct script *s, char *rest)
{
    if (!stage_find(s->stage, script_word(&rest)))
        script_fail(s, "the turn has ended");
}

static void do_end(struct script *s, char *rest)
{
    (void)rest;
    check_over(s);
}

void script_step(struct script *s, const char *verb, char *rest)
{
    static const struct {
        const char *verb;
        void (*act)(struct script *, char *);
    } verbs[] = {{"option", do_option},
                 {"quiet", do_quiet},
                 {"auto", do_auto},
                 {"loud", do_loud},
                 {"init", do_init},
                 {"restart", do_restart},
                 {"turn", do_turn},
                 {"wait", do_wait},
                 {"<", do_reply},
                 {"hit", do_hit},
                 {"frame", do_frame},
                 {"submit", script_submit},
                 {"cancel", script_cancel},
                 {"decide", script_decide},
                 {"stranger", script_stranger},
                 {"known", script_known},
                 {">", do_expect},
                 {"verdict", do_verdict},
                 {"answer", do_answer},
                 {"ws", do_ws},
                 {"log", do_log},
                 {"dead", do_dead},
                 {"remember", do_remember},
                 {"over", do_over},
                 {"open", do_open},
                 {"end", do_end}};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(verb, verbs[i].verb) == 0) {
            if (!s->stage && verbs[i].act != do_option)
                script_stage(s);
            verbs[i].act(s, rest);
            return;
        }
    const size_t n = strlen(verb);
    if (n > 1 && verb[n - 1] == ':') {
        char *const id = xstrndup(verb, n - 1);
        do_event(s, id, rest);
        free(id);
        return;
    }
    script_fail(s, "no such word: %s", verb);
}
