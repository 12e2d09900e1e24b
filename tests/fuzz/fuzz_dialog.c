/* SPDX-License-Identifier: MIT
 * Fuzzes input halves: lines of an agent, and what people decide. The first byte chooses the
 * dialect. A line that begins with ! is ours: !a ID leave, !r the same to be remembered, !c ID TEXT
 * leave for other arguments, !d and !s ID TEXT denial, the second one ends the turn, !q ID TEXT
 * answers, !i an interrupt, !l the end. What is written is lines of JSON, and an answer only to
 * what was asked, once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dialect/reader/value.h"
#include "event/json/json_reader.h"
#include "turn/agent_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ASKED_MAX 4096

struct run {
    struct agent_input dialog;
    struct arena arena;
    struct buf out;
    size_t checked;               /* bytes of out that were looked at */
    const char *asked[ASKED_MAX]; /* ids that wait; in the arena, NULL: answered */
    size_t n_asked;
};

static void demand(bool good, const char *what, const char *text)
{
    if (good)
        return;
    fprintf(stderr, "%s: %s\n", what, text);
    abort();
}

/* The members that matter of a line, of either protocol. */
struct message {
    struct str type, method, id, request_id, response;
};

static int read_message(struct message *m, const char *p, size_t n)
{
    *m = (struct message){0};
    const struct value_row wants[] = {{"type", &m->type},
                                      {"method", &m->method},
                                      {"id", &m->id},
                                      {"request_id", &m->request_id},
                                      {"response", &m->response}};
    return value_parse_line(p, n, VALUE_ROWS(wants));
}

/* ---- what the agent asks ---- */

static void note_id(struct run *r, struct str id)
{
    if (id.p && r->n_asked < ASKED_MAX)
        r->asked[r->n_asked++] = value_text_or_json(&r->arena, id, NULL);
}

static void note_asked(struct run *r, const char *p, size_t n)
{
    struct message m;
    CLEANUP_BUF struct buf mended = {0};
    if (read_message(&m, p, n) < 0) {
        if (!json_reader_repair(&mended, p, n) || read_message(&m, mended.p, mended.len) < 0)
            return;
    }
    if (value_equals(m.type, "control_request"))
        note_id(r, m.request_id);
    if (m.method.p) /* of the other protocol; a line may look like both */
        note_id(r, m.id);
}

/* ---- what is written ---- */

static void check_answer(struct run *r, const struct message *m, const char *line)
{
    struct str id = m->method.p ? (struct str){0} : m->id;
    if (value_equals(m->type, "control_response"))
        id = value_get_last(m->response, "request_id");
    if (!id.p)
        return;
    const char *const text = value_text_or_json(&r->arena, id, NULL);
    for (size_t i = 0; i < r->n_asked; i++)
        if (r->asked[i] && strcmp(r->asked[i], text) == 0) {
            r->asked[i] = NULL;
            return;
        }
    demand(r->n_asked == ASKED_MAX, "an answer to nothing", line);
}

static void check_out(struct run *r)
{
    while (r->checked < r->out.len) {
        const char *const p = r->out.p + r->checked;
        const char *const end = memchr(p, '\n', r->out.len - r->checked);
        struct message m;
        demand(end, "half a line", p);
        demand(read_message(&m, p, (size_t)(end - p)) == 0, "no JSON", p);
        check_answer(r, &m, p);
        r->checked += (size_t)(end - p) + 1;
    }
}

/* ---- what people decide ---- */

static void decide(struct run *r, char what, const char *id, const char *text)
{
    struct dialect_answer answer = {.request_id = id};
    answer.decision = what == 'q'                  ? DIALECT_ANSWERED
                      : what == 'd' || what == 's' ? DIALECT_DENY
                                                   : DIALECT_ALLOW;
    answer.remember = what == 'r';
    answer.interrupt = what == 's';
    answer.args = what == 'c' ? text : NULL;
    answer.reason = answer.decision == DIALECT_DENY ? text : NULL;
    answer.answers = what == 'q' ? text : NULL;
    const size_t before = r->out.len;
    const int done = agent_input_answer(&r->dialog, &r->out, &answer);
    demand((done == 0) == (r->out.len > before), "a decision is written, or refused", id);
}

static void act(struct run *r, const char *line, size_t len)
{
    const char what = len > 1 ? line[1] : 'l';
    if (what == 'i')
        agent_input_interrupt(&r->dialog, &r->out);
    if (what == 'l')
        agent_input_finish(&r->dialog, &r->out);
    if (len < 3 || !strchr("arcdsq", what))
        return;
    char *const id = arena_strndup(&r->arena, line + 3, len - 3);
    char *const blank = strchr(id, ' ');
    if (blank)
        *blank = '\0';
    decide(r, what, id, blank ? blank + 1 : NULL);
}

/* ---- a run ---- */

static const struct dialect *choose(uint8_t byte)
{
    const struct dialect *able[64], *d;
    size_t n = 0;
    for (size_t i = 0; (d = dialect_get(i)) && n < 64; i++)
        if (d->input)
            able[n++] = d;
    return able[byte % n];
}

static void take(struct run *r, const char *line, size_t len)
{
    if (len && *line == '!') {
        act(r, line, len);
    } else {
        note_asked(r, line, len);
        agent_input_handle_line(&r->dialog, &r->out, line, len);
    }
    check_out(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    struct run *const r = calloc(1, sizeof *r);
    const struct dialect_prompt prompt = {
        .text = "do \xff it", .len = 7, .cwd = "/srv", .mode = size % 2 ? "plan" : NULL};
    agent_input_begin(&r->dialog, choose(data[0]), &prompt, &r->out);
    check_out(r);
    for (const char *p = (const char *)data + 1, *const end = (const char *)data + size; p < end;) {
        const char *const newline = memchr(p, '\n', (size_t)(end - p));
        const size_t len = (size_t)((newline ? newline : end) - p);
        take(r, p, len);
        p += len + 1;
    }
    agent_input_end(&r->dialog);
    arena_fini(&r->arena);
    buf_fini(&r->out);
    free(r);
    return 0;
}
