/* SPDX-License-Identifier: MIT
 * The files of a message, fetched before it is handed over: it is acknowledged when both are on
 * disk. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "call.h"
#include "fetch.h"
#include "inbound.h"
#include "slack.h"

#define SIZE_MAX_BYTES (20 << 20)
#define FETCH_TIMEOUT_MS 60000

static const char *fetch_text_at(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));
    return text ? text : "";
}

/* ---- where the token may go */

static bool ends_with(const char *p, size_t n, const char *end)
{
    const size_t len = strlen(end);
    return n >= len && strncasecmp(p + n - len, end, len) == 0;
}

static bool is_slack(const char *url)
{
    static const char https[] = "https://", slack[] = "slack.com";
    const size_t n = call_origin(url), scheme = sizeof https - 1;
    return n > scheme && strncasecmp(url, https, scheme) == 0 &&
           (ends_with(url, n, ".slack.com") ||
            (n - scheme == sizeof slack - 1 && strncasecmp(url + scheme, slack, n - scheme) == 0));
}

/* The token goes to Slack only, and to where it is configured to go. NULL: it does not go there. */
static const char *trusted(struct tc_turn *lobby, const char *url)
{
    const char *own = call_own(lobby, url);
    return own || !is_slack(url) ? own : url;
}

/* ---- one message */

static void note_recent(struct tc_turn *lobby, const char *key)
{
    struct recent *r = &state_of(lobby)->recent;
    snprintf(r->keys[r->next++ % RECENT_MAX], sizeof r->keys[0], "%s", key);
}

static bool fetch_is_recent(struct tc_turn *lobby, const char *key)
{
    const struct recent *r = &state_of(lobby)->recent;
    for (size_t i = 0; i < RECENT_MAX; i++)
        if (r->keys[i][0] && strcmp(r->keys[i], key) == 0)
            return true;
    return false;
}

static struct fetch *fetch_find(struct tc_turn *lobby, const char *key)
{
    struct fetch *list = state_of(lobby)->fetches;
    for (size_t i = 0; i < FETCH_MAX; i++)
        if (key ? list[i].message && strcmp(fetch_text_at(list[i].message, "also"), key) == 0
                : !list[i].message)
            return &list[i];
    return NULL;
}

static void add_source(struct fetch *f, const struct event_source *source)
{
    if (!source->socket || f->count == FETCH_SOURCES)
        return;
    f->sources[f->count].socket = source->socket;
    snprintf(f->sources[f->count].envelope, sizeof f->sources[0].envelope, "%s", source->envelope);
    f->count++;
}

/* The agent reads why a file is missing. */
static void skip(struct fetch *f, const json_t *file, const char *why)
{
    const char *text = fetch_text_at(f->message, "text");
    json_object_set_new(f->message, "text",
                        json_sprintf("%s%s[file \"%s\" not available: %s]", text,
                                     *text ? "\n\n" : "", fetch_text_at(file, "name"), why));
}

static void finish(struct tc_turn *lobby, struct fetch *f)
{
    json_auto_t *message = f->message;
    f->message = NULL;
    if (inbound_submit(lobby, message) != EVENT_TAKEN)
        return;
    note_recent(lobby, fetch_text_at(message, "also"));
    for (size_t i = 0; i < f->count; i++)
        socket_acknowledge(lobby, f->sources[i].socket, f->sources[i].envelope);
}

static int fetch_send(struct tc_turn *lobby, const struct fetch *f, const char *url)
{
    static const struct tc_header bot[] = {{"Authorization", "Bearer {option:bot_token}"}};
    return tc_http(lobby,
                   TC_HTTP(.method = "GET", .url = url, .headers = bot, .header_count = 1,
                           .priority = TC_P_REQUEST, .flags = TC_IDEMPOTENT | TC_SAVE,
                           .timeout_ms = FETCH_TIMEOUT_MS, .max_age_ms = FETCH_TIMEOUT_MS,
                           .tag = tc_sprint(lobby, "fetch %s", fetch_text_at(f->message, "also"))));
}

/* Starts the download of the next file, or submits the message after the last one. */
static void go_on(struct tc_turn *lobby, struct fetch *f)
{
    const json_t *files = json_object_get(f->message, "files");
    for (; f->next < json_array_size(files); f->next++) {
        const json_t *file = json_array_get(files, f->next);
        const char *url = trusted(lobby, fetch_text_at(file, "url"));
        if (f->next >= FETCH_FILES)
            skip(f, file, "too many files");
        else if (json_integer_value(json_object_get(file, "size")) > SIZE_MAX_BYTES)
            skip(f, file, "too large");
        else if (!url)
            skip(f, file, "external file, not hosted by Slack");
        else if (fetch_send(lobby, f, url))
            skip(f, file, "the download could not be started");
        else
            return;
    }
    finish(lobby, f);
}

bool fetch_seen(struct tc_turn *lobby, const char *key)
{
    const bool seen = fetch_is_recent(lobby, key);
    if (!seen)
        note_recent(lobby, key);
    return seen;
}

enum event_taken fetch_begin(struct tc_turn *lobby, json_t *message,
                             const struct event_source *source)
{
    const char *key = fetch_text_at(message, "also");
    if (fetch_is_recent(lobby, key))
        return EVENT_TAKEN;
    struct fetch *f = fetch_find(lobby, key);
    if (f) {
        add_source(f, source);
        return EVENT_PENDING;
    }
    f = fetch_find(lobby, NULL);
    if (!f)
        return EVENT_NOT_KEPT;
    *f = (struct fetch){.message = json_incref(message)};
    add_source(f, source);
    go_on(lobby, f);
    return !source->socket && fetch_is_recent(lobby, key) ? EVENT_TAKEN : EVENT_PENDING;
}

/* Without the scope files:read Slack answers with its page to sign in, and 200. */
static bool is_sign_in_page(const char *path, const char *type)
{
    char head[15] = "";
    FILE *file = fopen(path, "re");
    if (!file)
        return true;
    const size_t n = fread(head, 1, sizeof head, file);
    fclose(file);
    return n == sizeof head && strncasecmp(head, "<!DOCTYPE html>", n) == 0 &&
           strcmp(type, "text/html") != 0;
}

int fetch_on_file(struct tc_turn *lobby, const struct tc_reply *r, struct tc_verdict *v)
{
    const char *key = strchr(r->tag, ' ');
    struct fetch *f = key ? fetch_find(lobby, key + 1) : NULL;
    if (v->next == TC_NEXT_AGAIN || !f)
        return 0;
    const json_t *file = json_array_get(json_object_get(f->message, "files"), f->next);
    if (r->outcome != TC_OK || !r->path) {
        skip(f, file, "download failed");
    } else if (is_sign_in_page(r->path, fetch_text_at(file, "type"))) {
        skip(f, file, "the Slack app lacks the scope files:read");
    } else {
        json_array_append_new(json_object_get(f->message, "paths"), json_string(r->path));
        json_array_append_new(json_object_get(f->message, "names"),
                              json_string(fetch_text_at(file, "name")));
    }
    f->next++;
    go_on(lobby, f);
    return 0;
}

void fetch_end(struct fetch fetches[FETCH_MAX])
{
    for (size_t i = 0; i < FETCH_MAX; i++)
        json_decref(fetches[i].message);
}
