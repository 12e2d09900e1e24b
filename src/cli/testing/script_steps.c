/* SPDX-License-Identifier: MIT
 * The script words that prepare a test or perform a step, one function for each. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/testing/fake/recording.h"
#include "cli/testing/script_internal.h"

char *script_word(char **rest)
{
    char *const w = *rest ? strsep(rest, " ") : NULL;
    while (*rest && **rest == ' ')
        ++*rest;
    return w ? w : (char *)(uintptr_t) "";
}

const char *script_tail(const char *rest)
{
    return rest ? rest : "";
}

json_t *script_parse_json(struct script *s, const char *text)
{
    json_error_t error;
    json_t *const value = json_loads(text, JSON_DECODE_ANY, &error);
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

struct fake_host *script_get_host(struct script *s)
{
    struct tc_err err = {0};
    if (s->host || s->why)
        return s->host;
    s->host = fake_host_new(s->subject->module, s->options, s->option_count, s->path, &err);
    if (!s->host) {
        script_fail(s, "%s", err_format(&err));
        return NULL;
    }
    s->host->last_error.text = s->progress->error;
    s->host->last_error.size = sizeof s->progress->error;
    return s->host;
}

/* ---- end of the previous step ---- */

static void script_report_act(struct script *s, const struct fake_act *a)
{
    static const char *const names[] = {"logged",       "gave up", "opened",
                                        "sent a frame", "closed",  "set the secret"};
    script_fail(s, "%s: %s", names[a->note], a->what);
}

static void script_check_over(struct script *s)
{
    if (!s->host)
        return;
    const struct fake_request *const r = fake_host_find_unnamed(s->host, NULL);
    if (r)
        script_fail(s, "unexpected request: %s %s", r->method, r->http.body ? r->http.body : "");
    if (s->host->promises)
        script_fail(s, "the %s of line %d was not called", s->host->promises->call,
                    s->host->promises->line);
    while (s->host->acts) {
        const struct fake_act *const a = s->host->acts;
        if (a->note != FAKE_LOG || a->level <= TC_WARN)
            script_report_act(s, a);
        fake_host_drop_act(&s->host->acts);
    }
}

/* Before a step: promises made for it are not leftovers. */
static void script_begin_step(struct script *s)
{
    struct fake_promise *const promised = s->host ? s->host->promises : NULL;
    if (s->host)
        s->host->promises = NULL;
    script_check_over(s);
    if (s->host)
        s->host->promises = promised;
}

static void script_end_step(struct script *s)
{
    int64_t left_ms = FAKE_PATIENCE_MS;
    while (s->host && s->host->promises && fake_host_wait(s->host, &left_ms))
        continue;
    if (s->host && s->host->promises)
        script_fail(s, "the %s of line %d was not called", s->host->promises->call,
                    s->host->promises->line);
}

/* ---- set-up ---- */

/* A repeated option replaces one from the command line or from before the first test. */
static void script_do_option(struct script *s, char *rest)
{
    const char *const key = script_word(&rest);
    size_t i = 0;
    while (i < s->option_count && strcmp(s->options[i].key, key) != 0)
        i++;
    if (i == FAKE_OPTIONS_MAX) {
        script_fail(s, "too many options");
        return;
    }
    s->options[i] = (struct fake_option){arena_strdup(&s->texts, key),
                                         arena_strdup(&s->texts, script_tail(rest)), s->line};
    s->option_count += i == s->option_count;
}

static void script_add_auto(struct script *s, const char *method, int status, const char *body)
{
    struct fake_auto *const a = xcalloc(1, sizeof *a);
    *a = (struct fake_auto){script_get_host(s)->autos, xstrdup(method), xstrdup(body), status};
    s->host->autos = a;
}

static void script_do_quiet(struct script *s, char *rest)
{
    script_add_auto(s, script_word(&rest), 0, NULL);
}

static void script_do_auto(struct script *s, char *rest)
{
    const char *const method = script_word(&rest), *const status = script_word(&rest);
    script_add_auto(s, method, atoi(status), script_tail(rest));
}

static void script_do_loud(struct script *s, char *rest)
{
    const char *const method = script_word(&rest);
    for (struct fake_auto **at = &s->host->autos; *at;) {
        struct fake_auto *const a = *at;
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

/* Expects that the options are rejected and no instance starts. */
static void script_do_refused(struct script *s, const char *wanted)
{
    struct tc_err err = {0};
    if (!s->host)
        s->host = fake_host_new(s->subject->module, s->options, s->option_count, s->path, &err);
    s->refused = !s->host;
    if (s->host)
        script_fail(s, "the options are not refused");
    else if (!strstr(err.text, wanted))
        script_fail(s, "%s", err_format(&err));
}

static void script_do_init(struct script *s, char *rest)
{
    const bool fails = strcmp(script_word(&rest), "fails") == 0;
    if ((fake_host_init(s->host) != 0) != fails)
        script_fail(s, "init %s", fails ? "succeeded" : "failed");
}

static void script_do_restart(struct script *s, char *rest)
{
    (void)rest;
    script_begin_step(s);
    if (fake_host_restart(s->host))
        script_fail(s, "init failed");
}

/* ---- steps ---- */

static void script_do_turn(struct script *s, char *rest)
{
    const char *const id = script_word(&rest);
    json_t *const o = rest && *rest ? script_parse_json(s, rest) : json_object();
    json_t *const route = json_object_get(o, "route");
    char *const text = json_is_string(route) ? xstrdup(json_string_value(route))
                       : route               ? json_dumps(route, JSON_COMPACT)
                                             : NULL;
    script_begin_step(s);
    fake_host_open(s->host, id, json_string_value(json_object_get(o, "conversation")), text,
                   json_string_value(json_object_get(o, "memory")));
    free(text);
    json_decref(o);
}

static void script_do_event(struct script *s, const char *id, char *rest)
{
    struct fake_turn *const t = fake_host_find(s->host, id);
    const char *const kind = script_word(&rest);
    script_begin_step(s);
    if (!t)
        script_fail(s, "unknown turn %s", id);
    else
        fake_host_event(s->host, t, kind, script_tail(rest));
    script_end_step(s);
}

static void script_do_wait(struct script *s, char *rest)
{
    script_begin_step(s);
    fake_host_advance(s->host, atoll(script_word(&rest)));
    script_end_step(s);
}

static struct fake_request *script_find_labelled(struct script *s, const char *label)
{
    struct fake_request *newest = NULL;
    for (struct fake_request *r = s->host->requests; r; r = r->next)
        if (r->state == FAKE_NAMED && r->label && strcmp(r->label, label) == 0 &&
            (!newest || r->sent > newest->sent))
            newest = r;
    return newest;
}

static bool script_is_on_wire(const struct script *s, const struct fake_request *wanted)
{
    for (const struct fake_request *r = s->host->requests; r; r = r->next)
        if (r == wanted)
            return r->state == FAKE_NAMED;
    return false;
}

static enum tc_outcome script_outcome_of(const struct fake_request *r, int status)
{
    if (status >= 200 && status < 300)
        return TC_OK;
    if (fake_request_is_mail(r))
        return TC_REJECTED;
    return status >= 300 && status < 500 ? TC_REJECTED : TC_AMBIGUOUS;
}

static bool script_begins_with(const char *rest, const char *text)
{
    return rest && strncmp(rest, text, strlen(text)) == 0;
}

static bool script_is_word(const char *rest, const char *word)
{
    const size_t n = strlen(word);
    return script_begins_with(rest, word) && (rest[n] == ' ' || !rest[n]);
}

/* Checks that the word is not the label of a request. */
static bool script_is_result(const char *rest)
{
    return script_is_word(rest, "unsent") || script_is_word(rest, "lost") ||
           script_begins_with(rest, "after=") || script_begins_with(rest, "headers={") ||
           (rest && *rest >= '1' && *rest <= '9');
}

static void script_set_headers(struct fake_request *r, json_t *headers)
{
    const size_t room = json_object_size(headers);
    struct tc_header *const to = arena_alloc(&r->arena, (room + 1) * sizeof *to);
    const char *name;
    json_t *value;
    r->answered = to;
    r->answered_count = 0;
    json_object_foreach(headers, name, value)
    {
        to[r->answered_count++] = (struct tc_header){
            arena_strdup(&r->arena, name), arena_strdup(&r->arena, json_string_value(value))};
    }
}

static void script_do_reply(struct script *s, char *rest)
{
    struct fake_request *r = s->last;
    script_begin_step(s);
    if (!script_is_result(rest))
        r = script_find_labelled(s, script_word(&rest));
    if (!r || !script_is_on_wire(s, r)) {
        script_fail(s, "no such request on the wire");
        return;
    }
    const int64_t after_ms =
        script_begins_with(rest, "after=") ? atoll(script_word(&rest) + strlen("after=")) : 0;
    if (script_begins_with(rest, "headers={")) {
        rest += strlen("headers=");
        json_t *const headers = script_take_json(s, &rest);
        script_set_headers(r, headers);
        json_decref(headers);
    }
    const char *const w = script_word(&rest);
    const int status = atoi(w);
    const enum tc_outcome outcome = strcmp(w, "unsent") == 0 ? TC_NOT_SENT
                                    : strcmp(w, "lost") == 0 ? TC_AMBIGUOUS
                                                             : script_outcome_of(r, status);
    s->verdict = fake_host_reply(s->host, r, outcome, status, script_tail(rest), after_ms);
    fake_host_advance(s->host, 0);
    script_end_step(s);
}

static void script_do_hit(struct script *s, char *rest)
{
    const char *const method = script_word(&rest), *const word = script_word(&rest);
    const char *const path = strcmp(word, "-") == 0 ? "" : word;
    json_t *const headers = script_take_json(s, &rest);
    script_begin_step(s);
    if (headers)
        s->answer = fake_host_hit(s->host, method, path, headers, rest);
    json_decref(headers);
    script_end_step(s);
}

static void script_do_frame(struct script *s, char *rest)
{
    int64_t socket = s->host->socket_count;
    const char *w = script_word(&rest);
    script_begin_step(s);
    if (w[0] == '#') {
        socket = atoll(w + 1);
        w = script_word(&rest);
    }
    const enum tc_socket_event event = strcmp(w, "open") == 0     ? TC_SOCKET_OPEN
                                       : strcmp(w, "text") == 0   ? TC_SOCKET_TEXT
                                       : strcmp(w, "binary") == 0 ? TC_SOCKET_BINARY
                                                                  : TC_SOCKET_CLOSED;
    fake_host_frame(s->host, socket, event, script_tail(rest));
    script_end_step(s);
}

/* FILE is relative to the directory of the script. */
static void script_do_play(struct script *s, char *rest)
{
    const char *const id = script_word(&rest), *const file = script_tail(rest);
    const char *const slash = strrchr(s->path, '/');
    CLEANUP_FREE char *path = slash && *file != '/'
                                  ? xasprintf("%.*s/%s", (int)(slash - s->path), s->path, file)
                                  : xstrdup(file);
    struct tc_err err = {0};
    script_begin_step(s);
    if (recording_play(s->host, id, path, &err) < 0)
        script_fail(s, "%s", err_format(&err));
    script_end_step(s);
}

static void script_do_end(struct script *s, char *rest)
{
    (void)rest;
    script_check_over(s);
}

static script_word_fn *script_find_word(const char *verb)
{
    static const struct {
        const char *verb;
        script_word_fn *act;
    } verbs[] = {
        {"quiet", script_do_quiet}, {"auto", script_do_auto},       {"loud", script_do_loud},
        {"init", script_do_init},   {"restart", script_do_restart}, {"turn", script_do_turn},
        {"play", script_do_play},   {"wait", script_do_wait},       {"<", script_do_reply},
        {"hit", script_do_hit},     {"frame", script_do_frame},     {"submit", script_submit},
        {"cancel", script_cancel},  {"decide", script_decide},      {"resend", script_resend},
        {"retry", script_retry},    {"stranger", script_stranger},  {"known", script_known},
        {"end", script_do_end}};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(verb, verbs[i].verb) == 0)
            return verbs[i].act;
    return script_find_expectation(verb);
}

static bool script_take_event(struct script *s, const char *verb, char *rest)
{
    const size_t n = strlen(verb);
    if (n < 2 || verb[n - 1] != ':')
        return false;
    CLEANUP_FREE char *id = xstrndup(verb, n - 1);
    script_do_event(s, id, rest);
    return true;
}

void script_step(struct script *s, const char *verb, char *rest)
{
    if (strcmp(verb, "option") == 0) {
        script_do_option(s, rest);
        return;
    }
    if (strcmp(verb, "refused") == 0) {
        script_do_refused(s, rest);
        return;
    }
    script_word_fn *const act = script_find_word(verb);
    if (!script_get_host(s))
        return;
    if (act)
        act(s, rest);
    else if (!script_take_event(s, verb, rest))
        script_fail(s, "no such word: %s", verb);
}
