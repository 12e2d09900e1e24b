/* SPDX-License-Identifier: MIT
 * Members of lines of the program, and lines for it. The line of an event contains the event's
 * canonical JSON unchanged, so it is put together as text; the other messages are made by jansson.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exec.h"

#define TEXT_KEPT ((size_t)64 << 10) /* size up to which an emptied text keeps its memory */

/* ---- members ---- */

int exec_word_find(const char *text, const char *const *words, size_t count)
{
    for (size_t i = 0; text && i < count; i++)
        if (words[i] && strcmp(words[i], text) == 0)
            return (int)i;
    return -1;
}

int exec_member_word(const json_t *object, const char *key, const char *const *words, size_t count,
                     int missing)
{
    const json_t *const value = json_object_get(object, key);
    return value ? exec_word_find(json_string_value(value), words, count) : missing;
}

/* ---- text ---- */

__attribute__((__noreturn__)) static void text_fail(void)
{
    fputs("E! out of memory\n", stderr);
    abort();
}

void exec_text_add(struct exec_text *t, const char *p, size_t n)
{
    if (t->len + n > t->cap) {
        t->cap = 2 * (t->len + n) + 256;
        t->p = realloc(t->p, t->cap);
        if (!t->p)
            text_fail();
    }
    if (n)
        memcpy(t->p + t->len, p, n);
    t->len += n;
}

void exec_text_free(struct exec_text *t)
{
    free(t->p);
    *t = (struct exec_text){0};
}

void exec_text_consume(struct exec_text *t, size_t n)
{
    t->at += n;
    if (t->at == t->len) {
        if (t->cap > TEXT_KEPT)
            exec_text_free(t);
        t->at = t->len = 0;
    } else if (t->at > t->len / 2) {
        memmove(t->p, t->p + t->at, t->len - t->at);
        t->len -= t->at;
        t->at = 0;
    }
}

static void text_add_string(struct exec_text *t, const char *text)
{
    exec_text_add(t, text, strlen(text));
}

/* ,"KEY":"TEXT" with the text escaped; nothing for NULL. */
static void text_add_member(struct exec_text *t, const char *key, const char *text)
{
    json_t *const value = text ? json_string(text) : NULL;
    char *const quoted = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;
    if (quoted) {
        text_add_string(t, ",\"");
        text_add_string(t, key);
        text_add_string(t, "\":");
        text_add_string(t, quoted);
    }
    free(quoted);
    json_decref(value);
}

/* ---- events ---- */

/* Members of a request that can be answered. */
static const char *message_ticket(struct tc_turn *turn, const struct tc_event *ev)
{
    const struct tc_request *const r = ev->kind == TC_REQUEST ? ev->payload : NULL;
    return r && strcmp(r->state, "open") == 0 && r->choices ? tc_ticket(turn, r->request_id) : NULL;
}

#define RESUMED ",\"resumed\":true"

static void message_add_head(struct exec_text *t, const struct exec_entry *entry)
{
    char head[64];
    snprintf(head, sizeof head, "{\"tc\":\"event\",\"n\":%llu", (unsigned long long)entry->n);
    text_add_string(t, head);
    if (entry->is_resumed)
        text_add_string(t, RESUMED);
}

void exec_message_make_event(struct exec_entry *entry, const struct tc_event *ev)
{
    struct exec_text t = {0};
    struct tc_turn *const turn = entry->turn;
    entry->is_resumed = ((const struct exec_turn *)turn->state)->is_resumed;
    message_add_head(&t, entry);
    text_add_member(&t, "turn", turn->id);
    text_add_member(&t, "agent", turn->agent);
    text_add_member(&t, "conversation", turn->conversation);
    text_add_member(&t, "memory", turn->memory);
    text_add_member(&t, "ticket", message_ticket(turn, ev));
    if (turn->route) {
        text_add_string(&t, ",\"route\":");
        text_add_string(&t, turn->route);
    }
    text_add_string(&t, ",\"event\":");
    exec_text_add(&t, ev->line, ev->line_len);
    exec_text_add(&t, "}\n", 2);
    entry->line = t.p;
    entry->len = t.len;
}

void exec_message_mark_resumed(struct exec_entry *entry)
{
    struct exec_text before = {0}, t = {0};
    if (entry->is_resumed)
        return;
    message_add_head(&before, entry);
    entry->is_resumed = true;
    message_add_head(&t, entry);
    exec_text_add(&t, entry->line + before.len, entry->len - before.len);
    free(entry->line);
    exec_text_free(&before);
    entry->line = t.p;
    entry->len = t.len;
}

void exec_message_queue(struct exec *e, const char *line, size_t len)
{
    if (!exec_window_waits(e))
        e->acked_ms = exec_now_ms();
    exec_text_add(&e->program.to, line, len);
    exec_program_flush(e);
}

/* ---- other lines ---- */

void exec_message_json(struct exec *e, json_t *object)
{
    const char *key;
    json_t *value;
    void *next;
    if (!object)
        text_fail();
    json_object_foreach_safe(object, next, key, value) if (json_is_null(value))
        json_object_del(object, key);
    struct exec_text line = {0};
    char *const text = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    if (!text)
        text_fail();
    text_add_string(&line, text);
    free(text);
    exec_text_add(&line, "\n", 1);
    exec_message_queue(e, line.p, line.len);
    exec_text_free(&line);
}

void exec_message_init(struct exec *e)
{
    const struct tc_host *const h = e->inst->host;
    char version[32], now[64];
    const time_t wall = time(NULL);
    struct tm tm;
    snprintf(version, sizeof version, "%u.%u", h->major, h->minor);
    strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&wall, &tm));
    exec_message_json(e, json_pack("{s:s, s:i, s:s, s:s, s:s, s:s}", "tc", "init", "protocol",
                                   EXEC_PROTOCOL, "instance", e->inst->name, "language",
                                   e->inst->language, "api", version, "now", now));
}

static const char *message_status(enum tc_accepted status)
{
    static const char *const names[] = {
        [TC_ACCEPTED] = "accepted",   [TC_QUEUED] = "queued",   [TC_COMMAND] = "command",
        [TC_KNOWN] = "known",         [TC_DENIED] = "denied",   [TC_FULL] = "full",
        [TC_NOT_KEPT] = "not_kept",   [TC_INVALID] = "invalid", [TC_GIVEN] = "given",
        [TC_INTERRUPT] = "interrupt",
    };
    const size_t n = sizeof names / sizeof *names;
    return (size_t)status < n && names[status] ? names[status] : "not_kept";
}

void exec_message_reply(struct exec *e, const char *id, enum tc_accepted status,
                        const struct tc_receipt *receipt)
{
    const char *const error = status == TC_INVALID
                                  ? "an argument is not valid; the log of turncast has the reason"
                                  : NULL;
    exec_message_json(e, json_pack("{s:s, s:s, s:s, s:s?, s:s?, s:s?}", "tc", "reply", "id", id,
                                   "status", message_status(status), "turn", receipt->turn,
                                   "answer", receipt->answer, "error", error));
}

void exec_message_refusal(struct exec *e, const char *id, const char *why)
{
    exec_message_json(e, json_pack("{s:s, s:s?, s:s, s:s}", "tc", "reply", "id", id, "status",
                                   "invalid", "error", why));
}

/* Headers as an object. Names are in lower case; of several with the same name, the last counts. */
static json_t *message_headers(const struct tc_header *given, size_t count)
{
    json_t *const headers = json_object();
    for (size_t i = 0; i < count; i++) {
        char *const name = strdup(given[i].name);
        if (!headers || !name)
            text_fail();
        for (char *c = name; *c; c++)
            *c = *c >= 'A' && *c <= 'Z' ? (char)(*c + 'a' - 'A') : *c;
        json_object_set_new(headers, name, json_string(given[i].value));
        free(name);
    }
    return headers;
}

/* Leaves out a body that is not UTF-8. */
void exec_message_hit(struct exec *e, uint64_t id, const struct tc_hit *hit)
{
    json_t *const headers = message_headers(hit->headers, hit->header_count);
    json_t *const body = json_stringn(hit->body, hit->body_len);
    char number[32];
    snprintf(number, sizeof number, "%llu", (unsigned long long)id);
    json_t *const object =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "tc", "hit", "id", number, "method",
                  hit->method, "path", hit->path, "query", hit->query, "headers", headers);
    json_object_set_new(object, "body", body ? body : json_null());
    exec_message_json(e, object);
}

/* Omits a body that is not UTF-8, or longer than a line may be. */
void exec_message_response(struct exec *e, const char *id, const struct tc_reply *reply)
{
    static const char *const outcomes[] = {
        [TC_OK] = "ok",
        [TC_REJECTED] = "rejected",
        [TC_NOT_SENT] = "not_sent",
        [TC_AMBIGUOUS] = "ambiguous",
        [TC_DROPPED] = "dropped",
    };
    json_t *const object =
        json_pack("{s:s, s:s, s:s, s:i, s:i, s:b, s:o}", "tc", "response", "id", id, "outcome",
                  outcomes[reply->outcome], "status", reply->status, "attempts",
                  (int)reply->attempts, "in_doubt", reply->in_doubt != 0, "headers",
                  message_headers(reply->headers, reply->header_count));
    if (*reply->error)
        json_object_set_new(object, "error", json_string(reply->error));
    if (reply->body_len <= EXEC_LINE_MAX)
        json_object_set_new(object, "body", json_stringn(reply->body, reply->body_len));
    exec_message_json(e, object);
}

void exec_message_wake(struct exec *e, const struct tc_turn *turn)
{
    exec_message_json(e, json_pack("{s:s, s:s}", "tc", "wake", "turn", turn->id));
}

void exec_message_ping(struct exec *e)
{
    exec_message_json(e, json_pack("{s:s, s:I}", "tc", "ping", "n", (json_int_t)++e->last_ping));
}

void exec_message_stop(struct exec *e, int64_t grace_ms)
{
    exec_message_json(e, json_pack("{s:s, s:s, s:I}", "tc", "stop", "reason", "end", "grace_ms",
                                   (json_int_t)grace_ms));
}
