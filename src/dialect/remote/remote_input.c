/* SPDX-License-Identifier: MIT
 * Input side: the lines that turncast-remote reads from its standard input.
 *
 *   {"type":"prompt","text":T,"session":ID?}
 *   {"type":"answer","id":ID,"question":B,"decision":"allow"|"deny"|"answered","reason":T?,
 *    "args":{}?,"answers":{}?,"remember":true?,"interrupt":true?}
 *   {"type":"cancel"}
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/bytes/utf8.h"
#include "dialect/dialect.h"
#include "dialect/reader/value.h"
#include "dialect/remote/remote_line.h"
#include "event/json/json_writer.h"

#define REQUESTS_MAX 64 /* limit of open requests; later ones cannot be answered */

struct remote_request {
    char *id;
    bool question, edits;
};

struct remote_requests {
    struct remote_request all[REQUESTS_MAX];
    size_t n;
};

static struct remote_request *remote_input_find(struct remote_requests *r, const char *id)
{
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->all[i].id, id) == 0)
            return &r->all[i];
    return NULL;
}

static void remote_input_remove(struct remote_requests *r, const char *id)
{
    struct remote_request *const q = remote_input_find(r, id);
    if (!q)
        return;
    free(q->id);
    *q = r->all[--r->n];
}

static void remote_input_add_member(struct buf *out, const char *key, const char *text)
{
    CLEANUP_BUF struct buf valid = {0};
    if (!text)
        return;
    utf8_repair(&valid, text, strlen(text));
    jsonw_member_str(out, key, valid.p ? valid.p : "");
}

static void remote_input_begin(void *state, struct buf *out, const struct dialect_prompt *prompt)
{
    (void)state;
    CLEANUP_BUF struct buf text = {0};
    utf8_repair(&text, prompt->text, prompt->len);
    buf_add_str(out, "{\"type\":\"prompt\",\"text\":");
    jsonw_string(out, text.p ? text.p : "", text.len);
    remote_input_add_member(out, "session", prompt->session_id);
    buf_add_str(out, "}\n");
}

static void remote_input_open_request(struct remote_requests *r, const char *id,
                                      const struct remote_line *l)
{
    remote_input_remove(r, id);
    if (r->n == REQUESTS_MAX)
        return;
    r->all[r->n++] = (struct remote_request){xstrdup(id), l->question, l->edits};
}

static void remote_input_read_line(void *state, struct buf *out, const char *line, size_t len)
{
    (void)out;
    struct remote_line l;
    if (!remote_line_parse(&l, line, len) || !l.id.p)
        return;
    struct arena scratch = {0};
    const char *const id = value_text(&scratch, l.id, NULL);
    if (id && value_equals(l.kind, "request"))
        remote_input_open_request(state, id, &l);
    else if (id && value_equals(l.kind, "settled"))
        remote_input_remove(state, id);
    arena_fini(&scratch);
}

/* Whether a request can be decided like that. */
static bool remote_input_fits(const struct remote_request *q, const struct dialect_answer *answer)
{
    if (answer->decision == DIALECT_DENY)
        return true;
    return (answer->decision == DIALECT_ANSWERED) == q->question && (!answer->args || q->edits);
}

/* Removes line breaks, which JSON from people may have between its values. */
static void remote_input_add_json(struct buf *out, const char *key, const char *json)
{
    const size_t begin = out->len;
    jsonw_member_json(out, key, json);
    for (size_t i = begin; i < out->len; i++)
        if (out->p[i] == '\n' || out->p[i] == '\r')
            out->p[i] = ' ';
}

static int remote_input_answer(void *state, struct buf *out, const struct dialect_answer *answer)
{
    static const char *const words[] = {
        [DIALECT_ALLOW] = "allow", [DIALECT_DENY] = "deny", [DIALECT_ANSWERED] = "answered"};
    const struct remote_request *const q = remote_input_find(state, answer->request_id);
    if (!q || !remote_input_fits(q, answer))
        return -1;
    buf_add_str(out, "{\"type\":\"answer\"");
    remote_input_add_member(out, "id", answer->request_id);
    jsonw_member_bool(out, "question", q->question);
    jsonw_member_str(out, "decision", words[answer->decision]);
    remote_input_add_member(out, "reason", answer->reason);
    remote_input_add_json(out, "args", answer->args);
    remote_input_add_json(out, "answers", answer->answers);
    if (answer->remember)
        jsonw_member_bool(out, "remember", true);
    if (answer->interrupt)
        jsonw_member_bool(out, "interrupt", true);
    buf_add_str(out, "}\n");
    remote_input_remove(state, answer->request_id);
    return 0;
}

static bool remote_input_waits(void *state, const char *request_id)
{
    return remote_input_find(state, request_id);
}

static bool remote_input_takes_args(void *state, const char *request_id)
{
    const struct remote_request *const q = remote_input_find(state, request_id);
    return q && q->edits;
}

static void remote_input_interrupt(void *state, struct buf *out)
{
    (void)state;
    buf_add_str(out, "{\"type\":\"cancel\"}\n");
}

static void remote_input_close(void *state)
{
    struct remote_requests *const r = state;
    while (r->n)
        free(r->all[--r->n].id);
}

const struct dialect_input remote_input = {
    .state_size = sizeof(struct remote_requests),
    .begin = remote_input_begin,
    .line = remote_input_read_line,
    .answer = remote_input_answer,
    .waits = remote_input_waits,
    .takes_args = remote_input_takes_args,
    .interrupt = remote_input_interrupt,
    .close = remote_input_close,
    .keep_open = true,
    .loads_session = true,
};
