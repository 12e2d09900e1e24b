/* SPDX-License-Identifier: MIT
 * Finds the tokens: words of the message that are "/" or "!" followed by a name of the table. White
 * space is what Python's \s matches, because the tokens were first defined there. */
#include "turn/visibility/slash_tokens.h"

#include "base/bytes/utf8.h"

enum { NARRATION = 1, FINAL = 2, TOOLS = 4, THINKING = 8, TEXT = 16, STATUS = 32 };

static const struct token {
    struct str word;
    unsigned on, off; /* settings it changes; STATUS asks for the settings */
} tokens[] = {
    {STR("show-thinking"), THINKING, 0},
    {STR("hide-thinking"), 0, THINKING},
    {STR("show-tools"), TOOLS, 0},
    {STR("hide-tools"), 0, TOOLS},
    {STR("show-narration"), NARRATION, 0},
    {STR("hide-narration"), 0, NARRATION},
    {STR("show-final"), FINAL, 0},
    {STR("hide-final"), 0, FINAL},
    {STR("show-all"), THINKING | TOOLS | TEXT | NARRATION | FINAL, 0},
    {STR("hide-all"), TEXT | FINAL, THINKING | TOOLS | NARRATION},
    {STR("stream-status"), STATUS, 0},
};

static const struct {
    uint32_t first, last;
} spaces[] = {
    {0x09, 0x0d},     {0x1c, 0x20},     {0x85, 0x85},     {0xa0, 0xa0},     {0x1680, 0x1680},
    {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000},
};

const char *slash_tokens_name(size_t i)
{
    return i < sizeof tokens / sizeof *tokens ? tokens[i].word.p : NULL;
}

/* Length of the white space character at p, or 0. Ill-formed bytes count as text. */
static size_t space_len(const char *p, size_t n)
{
    if (n == 0 || (*p > ' ' && *p < 0x7f) || utf8_valid_prefix(p, n < 4 ? n : 4) == 0)
        return 0;
    size_t len;
    const uint32_t cp = utf8_decode(p, n, &len);
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (cp >= spaces[i].first && cp <= spaces[i].last)
            return len;
    return 0;
}

static size_t word_len(const char *p, size_t n)
{
    size_t len = 0;
    while (len < n && !space_len(p + len, n - len))
        len++;
    return len;
}

static const struct token *token_find(const char *p, size_t n)
{
    if (n == 0 || (*p != '/' && *p != '!'))
        return NULL;
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++)
        if (str_equal(tokens[i].word, (struct str){p + 1, n - 1}))
            return &tokens[i];
    return NULL;
}

static void token_apply(const struct token *t, struct visibility *v)
{
    const struct {
        unsigned bit;
        enum visibility_switch *slot;
    } slots[] = {{NARRATION, &v->narration},
                 {FINAL, &v->final},
                 {TOOLS, &v->tools},
                 {THINKING, &v->thinking},
                 {TEXT, &v->text}};
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        if ((t->on | t->off) & slots[i].bit)
            *slots[i].slot = t->on & slots[i].bit ? SHOW_ON : SHOW_OFF;
}

/* Copies the message without its tokens; false if it has none. */
static bool slash_tokens_remove(const char *p, size_t n, struct visibility *v,
                                struct slash_tokens_result *res, struct buf *rest)
{
    for (size_t i = 0; i < n;) {
        const size_t space = space_len(p + i, n - i);
        const size_t len = space ? space : word_len(p + i, n - i);
        const struct token *t = space ? NULL : token_find(p + i, len);
        if (t) {
            token_apply(t, v);
            *(t->on & STATUS ? &res->status : &res->toggled) = true;
        } else {
            buf_add(rest, p + i, len);
        }
        i += len;
    }
    return res->status || res->toggled;
}

/* Strips white space at both ends, like Python's strip. */
static struct str stripped(const char *p, size_t n)
{
    for (size_t len; (len = space_len(p, n)) > 0;) {
        p += len;
        n -= len;
    }
    size_t end = 0;
    for (size_t i = 0; i < n;) {
        const size_t space = space_len(p + i, n - i);
        i += space ? space : word_len(p + i, n - i);
        if (!space)
            end = i;
    }
    return (struct str){p, end};
}

static bool slash_tokens_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static void add_squeezed(struct buf *out, struct str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!slash_tokens_is_blank(s.p[i]))
            buf_add_char(out, s.p[i]);
        else if (i == 0 || !slash_tokens_is_blank(s.p[i - 1]))
            buf_add_char(out, ' ');
}

struct slash_tokens_result slash_tokens_parse(const char *message, size_t len, struct visibility *v,
                                              struct buf *text)
{
    struct slash_tokens_result res = {0};
    CLEANUP_BUF struct buf rest = {0};
    if (!slash_tokens_remove(message, len, v, &res, &rest)) {
        buf_add(text, message, len);
        return res;
    }
    const size_t before = text->len;
    if (rest.len)
        add_squeezed(text, stripped(rest.p, rest.len));
    res.found = true;
    res.empty = text->len == before;
    return res;
}
