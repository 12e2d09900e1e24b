/* SPDX-License-Identifier: MIT
 * Formats a preview: the subject, then each argument that the subject and the message do not
 * contain, as "key: value". */
#include "turn/request_preview.h"

#include <string.h>

#include "base/bytes/utf8.h"
#include "base/plural.h"
#include "dialect/reader/value.h"
#include "event/json/json_reader.h"
#include "event/json/json_writer.h"
#include "text/text_reveal.h"

static const char *reveal_with(struct arena *a, const char *text,
                               void (*reveal)(struct buf *, const char *, size_t))
{
    CLEANUP_BUF struct buf out = {0};
    if (!text)
        return NULL;
    reveal(&out, text, strlen(text));
    return arena_strndup(a, out.p ? out.p : "", out.len);
}

/* ---- the preview ---- */

static bool is_repeated(const struct tc_request *r, const char *value)
{
    return (r->subject && strcmp(value, r->subject) == 0) ||
           (r->message && strcmp(value, r->message) == 0);
}

static void add_argument(struct arena *a, struct buf *out, const struct tc_request *r,
                         struct str key, struct str value)
{
    const char *const name = json_reader_unescape(a, key, NULL);
    const char *const text = value_text(a, value, NULL);
    const char *const shown = text ? text : value_json(a, value, NULL);
    if (!name || !shown || (text && is_repeated(r, text)))
        return;
    if (out->len)
        buf_add_char(out, '\n');
    text_reveal_line(out, name, strlen(name));
    buf_add_str(out, ": ");
    text_reveal_with_line_count(out, shown, strlen(shown));
}

static void add_arguments(struct arena *a, struct buf *out, const struct tc_request *r)
{
    struct json j;
    struct str key;
    json_init(&j, r->args, strlen(r->args));
    if (json_reader_peek(&j) != JSON_AT_OBJECT) {
        buf_add_str(out, out->len ? "\n" : "");
        text_reveal_with_line_count(out, r->args, strlen(r->args));
        return;
    }
    for (bool object = json_reader_enter_object(&j); object && json_reader_next_key(&j, &key);) {
        struct str value = {0};
        json_reader_skip(&j, &value);
        add_argument(a, out, r, key, value);
    }
}

/* Shortens a text that nobody would read completely, and says so. */
static void limit(struct buf *out)
{
    if (out->len <= SHOW_BYTES)
        return;
    const size_t cut = utf8_truncated_len(out->p, out->len, SHOW_BYTES);
    const size_t left = utf8_count(out->p + cut, out->len - cut);
    out->len = cut;
    buf_printf(out, "\n[%zu more character%s not shown here; see the arguments]", left,
               PLURAL(left, " is", "s are"));
}

static const char *make_preview(struct arena *a, const struct tc_request *r)
{
    CLEANUP_BUF struct buf out = {0};
    if (r->subject)
        text_reveal_with_line_count(&out, r->subject, strlen(r->subject));
    if (r->args && !r->questions)
        add_arguments(a, &out, r);
    limit(&out);
    return out.len ? arena_strndup(a, out.p, out.len) : NULL;
}

/* ---- questions ---- */

/* Whether a string is a value and not an id. */
static void add_string(struct arena *a, struct buf *out, struct str raw)
{
    size_t len;
    const char *const text = json_reader_unescape(a, raw, &len);
    CLEANUP_BUF struct buf shown = {0};
    text_reveal_text(&shown, text, len);
    jsonw_string(out, shown.p ? shown.p : "", shown.len);
}

/* Copies JSON with its strings revealed. The JSON is compact and valid, because the host wrote
 * it. */
static void reveal_json(struct arena *a, struct buf *out, const char *p, const char *end)
{
    bool id = false;
    while (p < end) {
        const char *const close = *p == '"' ? json_reader_string_end(p + 1, end) : NULL;
        if (!close) {
            buf_add_char(out, *p++);
            continue;
        }
        const struct str raw = {p + 1, (size_t)(close - p - 1)};
        const bool key = close + 1 < end && close[1] == ':';
        if (key || id)
            buf_add(out, p, (size_t)(close + 1 - p));
        else
            add_string(a, out, raw);
        id = key && json_reader_string_is(raw, "id");
        p = close + 1;
    }
}

static const char *reveal_questions(struct arena *a, const char *questions)
{
    CLEANUP_BUF struct buf compact = {0}, out = {0};
    if (!questions)
        return NULL;
    json_reader_compact(&compact, (struct str){questions, strlen(questions)});
    reveal_json(a, &out, compact.p, compact.p + compact.len);
    return arena_strndup(a, out.p, out.len);
}

void request_preview_request(struct arena *a, struct tc_request *r)
{
    if (r->preview || strcmp(r->state, "open") != 0)
        return;
    r->preview = make_preview(a, r);
    r->tool = reveal_with(a, r->tool, text_reveal_line);
    r->subject = reveal_with(a, r->subject, text_reveal_with_line_count);
    r->message = reveal_with(a, r->message, text_reveal_text);
    r->reason = reveal_with(a, r->reason, text_reveal_text);
    r->questions = reveal_questions(a, r->questions);
}
