/* SPDX-License-Identifier: MIT
 * Limits of values from plugins. */
#include "plugin/validate.h"

#include <string.h>

#include "base/bytes/utf8.h"
#include "event/json/json_reader.h"

#define ID_MAX ((size_t)512)
#define TEXT_MAX ((size_t)1 << 20)
#define QUOTE_MAX ((size_t)64 << 10)
#define ROUTE_MAX ((size_t)4 << 10)
#define PATH_MAX_LEN ((size_t)4 << 10)
#define FILES_MAX ((size_t)32)
#define INSTANCE_MAX ((size_t)64) /* limit of an instance's name */
#define ROUTE_PATH_MAX ((size_t)256)
#define SECRET_NAME "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:-"
#define STORED_KEY_MAX ((size_t)128)
#define STORED_TEXT_MAX ((size_t)64 << 10)
#define SECRET_NAME_MAX 64
#define SECRET_MIN 8
#define SECRET_MAX ((size_t)8 << 10)
#define HEADERS_MAX 64
#define HEADERS_BYTES ((size_t)16 << 10) /* limit of names and values of all headers */
#define URL_MAX ((size_t)8 << 10)
#define IPC_TEXT_MAX ((size_t)1 << 20)

bool validate_is_text(const char *text, size_t max)
{
    const size_t len = text ? strnlen(text, max + 1) : 0;
    return len <= max && utf8_is_valid(text, len);
}

bool validate_id(const char *text)
{
    return text && validate_is_text(text, ID_MAX);
}

bool validate_socket_message(struct str message, bool is_binary)
{
    return message.p && message.len <= IPC_TEXT_MAX &&
           (is_binary || utf8_is_valid(message.p, message.len));
}

const char *validate_headers(const struct tc_header *headers, size_t count)
{
    size_t left = HEADERS_BYTES;
    if (count > HEADERS_MAX)
        return "too many headers";
    for (size_t i = 0; i < count; i++) {
        const struct tc_header *const h = &headers[i];
        if (!h->name || !h->value)
            return "a header has no name or no value";
        if (!validate_is_text(h->name, left))
            return "the headers are too long or not UTF-8";
        left -= strlen(h->name);
        if (!validate_is_text(h->value, left))
            return "the headers are too long or not UTF-8";
        left -= strlen(h->value);
    }
    return NULL;
}

/* Accepts segments of plain characters: no percent-encoding, dot segments or query. */
bool validate_path(const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_/";
    const size_t len = path ? strnlen(path, ROUTE_PATH_MAX + 1) : 0;
    return path && (len == 0 || path[0] == '/') && len <= ROUTE_PATH_MAX &&
           strspn(path, plain) == len && !strstr(path, "//");
}

const char *validate_socket(const struct tc_socket *s)
{
    if (!s->url || !validate_is_text(s->url, URL_MAX))
        return "the URL is missing, too long or not UTF-8";
    if (strncmp(s->url, "wss://", 6) != 0 && strncmp(s->url, "ws://", 5) != 0)
        return "the URL is neither wss: nor ws:";
    if (s->header_count && !s->headers)
        return "the list of headers is NULL";
    if (s->close_status && s->close_status != 1000 &&
        (s->close_status < 3000 || s->close_status > 4999))
        return "the close status is neither 1000 nor 3000 to 4999";
    return s->ping_ms < 0 || s->silent_ms < 0 ? "a time is negative"
                                              : validate_headers(s->headers, s->header_count);
}

/* Shorter ones would not be masked; line breaks would end a header. */
const char *validate_secret(const char *name, const char *value)
{
    if (!name || !*name || strlen(name) > SECRET_NAME_MAX || name[strspn(name, SECRET_NAME)])
        return "the name must consist of at most 64 letters, digits, and _ . : -";
    if (!value)
        return NULL;
    if (strlen(value) < SECRET_MIN || !validate_is_text(value, SECRET_MAX))
        return "the value must be UTF-8 of 8 bytes to 8 KiB";
    for (const char *at = value; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            return "the value has a control character";
    return NULL;
}

const char *validate_stored(const char *key, const char *text)
{
    if (!key || !*key || !validate_is_text(key, STORED_KEY_MAX))
        return "the key must be UTF-8 of 1 to 128 bytes";
    for (const char *at = key; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            return "the key has a control character";
    return validate_is_text(text, STORED_TEXT_MAX) ? NULL
                                                   : "the text must be UTF-8 of at most 64 KiB";
}

const char *validate_answer(const struct tc_answer *a)
{
    if (a->status < 200 || a->status > 599)
        return "an invalid status";
    if (a->content_type && strpbrk(a->content_type, "\r\n"))
        return "a content type with several lines";
    if (a->body_len > VALIDATE_ANSWER_MAX)
        return "a body that is too large";
    return NULL;
}

/* ---- messages of people ---- */

static bool validate_is_json(const char *text)
{
    return json_reader_is_valid((struct str){text, strlen(text)});
}

static const char *check_files(const struct tc_inbound *in)
{
    if (in->file_count > FILES_MAX)
        return "too many files";
    if (in->file_count && !in->files)
        return "the list of files is NULL";
    for (size_t i = 0; i < in->file_count; i++) {
        if (!in->files[i] || !validate_is_text(in->files[i], PATH_MAX_LEN))
            return "a file has no path, or one that is too long or not UTF-8";
        if (in->file_names && !validate_is_text(in->file_names[i], PATH_MAX_LEN))
            return "the name of a file is too long or not UTF-8";
    }
    return NULL;
}

static const char *validate_instances(const struct tc_inbound *in)
{
    if (in->instance_count > VALIDATE_INSTANCES_MAX)
        return "too many instances (limit: 100)";
    if (in->instance_count && !in->instances)
        return "the list of instances is NULL";
    for (size_t i = 0; i < in->instance_count; i++)
        if (!in->instances[i] || !*in->instances[i] ||
            !validate_is_text(in->instances[i], INSTANCE_MAX))
            return "the name of an instance is missing, too long or not UTF-8";
    return NULL;
}

struct validate_rule {
    const char *text;
    size_t max;
    bool needed;
    const char *wrong;
};

static const char *validate_check_texts(const struct validate_rule *texts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (texts[i].needed && (!texts[i].text || !*texts[i].text))
            return texts[i].wrong;
        if (!validate_is_text(texts[i].text, texts[i].max))
            return texts[i].wrong;
    }
    return NULL;
}

const char *validate_decision(const struct tc_decision *d)
{
    const struct validate_rule texts[] = {
        {d->ticket, ID_MAX, true, "the ticket is missing, too long or not UTF-8"},
        {d->choice, ID_MAX, true, "the choice is missing, too long or not UTF-8"},
        {d->text, QUOTE_MAX, false, "the text is too long or not UTF-8"},
        {d->answers, QUOTE_MAX, false, "the answers are too long or not UTF-8"},
        {d->user, ID_MAX, true, "the user is missing, too long or not UTF-8"},
        {d->name, ID_MAX, false, "the name is too long or not UTF-8"},
        {d->chat, ID_MAX, true, "the chat is missing, too long or not UTF-8"},
        {d->thread, ID_MAX, false, "the thread is too long or not UTF-8"},
    };
    const char *const wrong = validate_check_texts(texts, sizeof texts / sizeof *texts);
    if (wrong)
        return wrong;
    return d->answers && !validate_is_json(d->answers) ? "the answers are not JSON" : NULL;
}

const char *validate_inbound(const struct tc_inbound *in)
{
    const struct validate_rule texts[] = {
        {in->id, ID_MAX, true, "the id is missing, too long or not UTF-8"},
        {in->also, ID_MAX, false, "the other id is too long or not UTF-8"},
        {in->chat, ID_MAX, true, "the chat is missing, too long or not UTF-8"},
        {in->thread, ID_MAX, false, "the thread is too long or not UTF-8"},
        {in->user, ID_MAX, true, "the user is missing, too long or not UTF-8"},
        {in->name, ID_MAX, false, "the name is too long or not UTF-8"},
        {in->text, TEXT_MAX, in->file_count == 0 && !in->kind,
         "the text is missing, too long or not UTF-8"},
        {in->quote, QUOTE_MAX, false, "the quote is too long or not UTF-8"},
        {in->route, ROUTE_MAX, false, "the route is too long or not UTF-8"},
        {in->kind, INSTANCE_MAX, false, "the kind is too long or not UTF-8"},
    };
    const char *const wrong = validate_check_texts(texts, sizeof texts / sizeof *texts);
    if (wrong)
        return wrong;
    if (in->route && !validate_is_json(in->route))
        return "the route is not JSON";
    const char *const files = check_files(in);
    return files ? files : validate_instances(in);
}
