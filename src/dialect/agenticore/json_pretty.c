/* SPDX-License-Identifier: MIT
 * Layout: one member per line, two blanks per level, empty containers on one line. */
#include "dialect/agenticore/json_pretty.h"

#include "dialect/writer/json_style.h"
#include "event/json/json_reader.h"

struct pretty {
    struct buf *out;
    struct arena text;
    unsigned level;
    bool flat; /* everything on one line */
};

static void write_value(struct pretty *p, struct json *j);

static void new_line(struct pretty *p)
{
    buf_add_char(p->out, '\n');
    for (unsigned i = 0; i < p->level; i++)
        buf_add_str(p->out, "  ");
}

/* As in Python, only characters that JSON forbids are escaped. */
static void write_string(struct pretty *p, struct str raw)
{
    size_t len;
    const char *const text = json_reader_unescape(&p->text, raw, &len);
    json_style_append_string(p->out, STYLE_JS, text, len);
}

static void open_item(struct pretty *p, bool *first)
{
    if (!*first)
        buf_add_str(p->out, p->flat ? ", " : ",");
    *first = false;
    if (!p->flat)
        new_line(p);
}

static void close_items(struct pretty *p, bool empty, char bracket)
{
    p->level--;
    if (!empty && !p->flat)
        new_line(p);
    buf_add_char(p->out, bracket);
}

static void write_object(struct pretty *p, struct json *j)
{
    struct str key;
    bool first = true;
    json_reader_enter_object(j);
    buf_add_char(p->out, '{');
    p->level++;
    while (json_reader_next_key(j, &key)) {
        open_item(p, &first);
        write_string(p, key);
        buf_add_str(p->out, ": ");
        write_value(p, j);
    }
    close_items(p, first, '}');
}

static void write_array(struct pretty *p, struct json *j)
{
    bool first = true;
    json_reader_enter_array(j);
    buf_add_char(p->out, '[');
    p->level++;
    while (json_reader_next_element(j)) {
        open_item(p, &first);
        write_value(p, j);
    }
    close_items(p, first, ']');
}

/* Recursion is bounded by the cursor's depth. */
static void write_value(struct pretty *p, struct json *j)
{
    struct str raw = {0};
    const enum json_type type = json_reader_peek(j);
    if (type == JSON_AT_OBJECT) {
        write_object(p, j);
    } else if (type == JSON_AT_ARRAY) {
        write_array(p, j);
    } else if (type == JSON_AT_STRING) {
        json_reader_read_string(j, &raw);
        write_string(p, raw);
    } else {
        json_reader_skip(j, &raw);
        json_style_append_value(p->out, STYLE_PYTHON, raw.p, raw.len);
    }
}

static void json_pretty_write_json(struct buf *b, const char *json, size_t len, bool flat)
{
    struct pretty p = {.out = b, .flat = flat};
    struct json j;
    json_init(&j, json, len);
    write_value(&p, &j);
    arena_fini(&p.text);
}

void json_pretty_append(struct buf *b, const char *json, size_t len)
{
    json_pretty_write_json(b, json, len, false);
}

void json_pretty_append_line(struct buf *b, const char *json, size_t len)
{
    json_pretty_write_json(b, json, len, true);
}
