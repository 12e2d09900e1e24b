/* SPDX-License-Identifier: MIT
 * Reads and writes control lines. */
#include "dialect/remote/remote_line.h"

#include "base/bytes/utf8.h"
#include "dialect/reader/value.h"
#include "event/json/json_writer.h"

bool remote_line_parse(struct remote_line *l, const char *line, size_t len)
{
    struct str question = {0}, edits = {0};
    *l = (struct remote_line){0};
    const struct value_row rows[] = {
        {"remote", &l->kind}, {"dialect", &l->dialect}, {"session", &l->session},
        {"id", &l->id},       {"level", &l->level},     {"code", &l->code},
        {"text", &l->text},   {"message", &l->message}, {"question", &question},
        {"edits", &edits},
    };
    if (!str_has_prefix((struct str){line, len}, STR(REMOTE_LINE_PREFIX)) ||
        value_parse_line(line, len, VALUE_ROWS(rows)) < 0)
        return false;
    l->question = value_is_true(question);
    l->edits = value_is_true(edits);
    return true;
}

static void remote_line_begin(struct buf *out, const char *kind)
{
    buf_printf(out, REMOTE_LINE_PREFIX "\"%s\"", kind);
}

static void remote_line_end(struct buf *out)
{
    buf_add_str(out, "}\n");
}

static void remote_line_add_text(struct buf *out, const char *key, const char *text)
{
    CLEANUP_BUF struct buf valid = {0};
    if (!text)
        return;
    utf8_repair(&valid, text, strlen(text));
    jsonw_member_str(out, key, valid.p ? valid.p : "");
}

void remote_line_add_open(struct buf *out, const char *dialect, const char *session)
{
    remote_line_begin(out, "open");
    remote_line_add_text(out, "dialect", dialect);
    remote_line_add_text(out, "session", session);
    remote_line_end(out);
}

void remote_line_add_request(struct buf *out, const char *id, bool question, bool edits)
{
    remote_line_begin(out, "request");
    remote_line_add_text(out, "id", id);
    jsonw_member_bool(out, "question", question);
    jsonw_member_bool(out, "edits", edits);
    remote_line_end(out);
}

void remote_line_add_settled(struct buf *out, const char *id)
{
    remote_line_begin(out, "settled");
    remote_line_add_text(out, "id", id);
    remote_line_end(out);
}

void remote_line_add_suspended(struct buf *out)
{
    remote_line_begin(out, "suspended");
    remote_line_end(out);
}

void remote_line_add_notice(struct buf *out, const char *level, const char *code, const char *text)
{
    remote_line_begin(out, "notice");
    remote_line_add_text(out, "level", level);
    remote_line_add_text(out, "code", code);
    remote_line_add_text(out, "text", text);
    remote_line_end(out);
}

void remote_line_add_error(struct buf *out, const char *code, const char *message)
{
    remote_line_begin(out, "error");
    remote_line_add_text(out, "code", code);
    remote_line_add_text(out, "message", message);
    remote_line_end(out);
}

void remote_line_add_data(struct buf *out, const char *data, size_t len)
{
    if (str_has_prefix((struct str){data, len}, STR(REMOTE_LINE_PREFIX)))
        buf_add_char(out, ' ');
    const size_t begin = out->len;
    buf_add(out, data, len);
    for (size_t i = begin; i < out->len; i++)
        if (out->p[i] == '\n' || out->p[i] == '\r')
            out->p[i] = ' ';
    buf_add_char(out, '\n');
}
