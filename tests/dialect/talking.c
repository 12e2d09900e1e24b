/* SPDX-License-Identifier: MIT
 * Replaces quotes, and damages lines at random. */
#include "dialect/talking.h"

#include <stdlib.h>

#include "event/json/json_reader.h"
#include "tap/tap.h"

static void exchange(char *p, char from, char to)
{
    for (; p && *p; p++)
        if (*p == from)
            *p = to;
}

static const char *show(struct talking *t)
{
    if (!t->said.len)
        return "";
    exchange(t->said.p, '"', '\'');
    if (t->said.p[t->said.len - 1] == '\n')
        t->said.p[--t->said.len] = '\0';
    return t->said.p;
}

const char *talking_begin(struct talking *t, const char *dialect,
                          const struct dialect_prompt *prompt)
{
    buf_reset(&t->said);
    agent_input_begin(&t->dialog, dialect_find(dialect), prompt, &t->said);
    return show(t);
}

const char *talking_hear(struct talking *t, const char *line)
{
    CLEANUP_BUF struct buf text = {0};
    buf_add_str(&text, line);
    exchange(text.p, '\'', '"');
    buf_reset(&t->said);
    agent_input_handle_line(&t->dialog, &t->said, text.p, text.len);
    return show(t);
}

const char *talking_interrupt(struct talking *t)
{
    buf_reset(&t->said);
    agent_input_interrupt(&t->dialog, &t->said);
    return show(t);
}

const char *talking_answer(struct talking *t, const struct dialect_answer *answer)
{
    buf_reset(&t->said);
    if (agent_input_answer(&t->dialog, &t->said, answer) < 0)
        return t->said.len ? "refused, but with output" : "refused";
    return show(t);
}

void talking_fini(struct talking *t)
{
    agent_input_end(&t->dialog);
    buf_fini(&t->said);
}

bool talking_is_json(const struct talking *t)
{
    for (size_t at = 0; at < t->said.len;) {
        const char *const line = t->said.p + at;
        const char *const end = memchr(line, '\n', t->said.len - at);
        struct json j;
        if (!end)
            return false;
        json_init(&j, line, (size_t)(end - line));
        if (json_reader_peek(&j) != JSON_AT_OBJECT)
            return false;
        json_reader_skip(&j, NULL);
        if (json_reader_finish(&j) < 0)
            return false;
        at += (size_t)(end - line) + 1;
    }
    return true;
}

/* ---- spoiling ---- */

static unsigned seed = 1;

static unsigned draw(unsigned below)
{
    seed = seed * 1103515245U + 12345U;
    return (seed >> 16) % below;
}

/* Changes a byte, removes a piece, or inserts a piece of another line. */
static void spoil(struct buf *line, const char *other)
{
    static const char bytes[] = "\"{}[],:\\0a\x80\xff\x01 ";
    const size_t at = line->len ? draw((unsigned)line->len) : 0;
    const size_t left = line->len - at;
    switch (line->len ? draw(4) : 3) {
    case 0:
        line->p[at] = bytes[draw(sizeof(bytes) - 1)];
        break;
    case 1:
        memmove(line->p + at, line->p + at + left / 3, left - left / 3);
        line->len -= left / 3;
        break;
    case 2:
        line->len = at;
        break;
    default:
        buf_add_str(line, other + draw((unsigned)strlen(other) + 1));
    }
}

static void decide(struct talking *t)
{
    static const char *const ids[] = {"0", "1", "uuid", ""};
    const struct dialect_answer answer = {.request_id = ids[draw(4)],
                                          .decision = draw(3),
                                          .answers = draw(2) ? "{\"q\":[\"a\"]}" : NULL,
                                          .remember = draw(2),
                                          .interrupt = draw(4) == 0};
    if (agent_input_answer(&t->dialog, &t->said, &answer) < 0)
        return;
}

unsigned talking_spoil(const char *dialect, const char *const *lines, unsigned rounds)
{
    const struct dialect_prompt prompt = {
        .text = "a\xff\"b", .len = 4, .session_id = "old", .cwd = "/", .mode = "m"};
    struct talking t = {0};
    unsigned n = 0, broken = 0;
    while (lines[n])
        n++;
    talking_begin(&t, dialect, &prompt);
    for (unsigned i = 0; i < rounds; i++) {
        CLEANUP_BUF struct buf line = {0};
        buf_add_str(&line, lines[draw(3) ? i % n : draw(n)]);
        exchange(line.p, '\'', '"');
        for (unsigned k = draw(3); k; k--)
            spoil(&line, lines[draw(n)]);
        buf_reset(&t.said);
        agent_input_handle_line(&t.dialog, &t.said, line.p ? line.p : "", line.len);
        if (draw(3) == 0)
            decide(&t);
        if (draw(50) == 0)
            agent_input_interrupt(&t.dialog, &t.said);
        broken += !talking_is_json(&t);
        if (i % n == n - 1 && draw(2))
            talking_begin(&t, dialect, &prompt);
    }
    talking_fini(&t);
    return broken;
}
