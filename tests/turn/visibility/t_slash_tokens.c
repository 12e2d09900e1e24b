/* SPDX-License-Identifier: MIT
 * Tokens of a message: a table of cases, and random messages against a literal reading of the
 * pattern (?<!\S)([/!][a-z][a-z-]*)(?!\S) over characters. */
#include "turn/visibility/slash_tokens.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/bytes/utf8.h"
#include "tap/tap.h"

#define NBSP "\xc2\xa0"
#define IDEO "\xe3\x80\x80"
#define LSEP "\xe2\x80\xa8"
#define NEL "\xc2\x85"

/* `show` is the state behind the message, from all unset: thinking, tools, text, narration,
 * final as 1, 0 or -. `flags`: f found, t toggled, s status, e empty. */
static const struct {
    const char *message, *text, *flags, *show;
} cases[] = {
    {"", "", "", "-----"},
    {"hello", "hello", "", "-----"},
    {"  hello\t\tworld  ", "  hello\t\tworld  ", "", "-----"},
    {"if x:\n    y = 1\n\treturn\n", "if x:\n    y = 1\n\treturn\n", "", "-----"},
    {"/show-tools", "", "fte", "-1---"},
    {"/hide-tools", "", "fte", "-0---"},
    {"/show-thinking", "", "fte", "1----"},
    {"/hide-thinking", "", "fte", "0----"},
    {"/show-narration", "", "fte", "---1-"},
    {"/hide-narration", "", "fte", "---0-"},
    {"/show-final", "", "fte", "----1"},
    {"/hide-final", "", "fte", "----0"},
    {"/show-all", "", "fte", "11111"},
    {"/hide-all", "", "fte", "00101"},
    {"/stream-status", "", "fse", "-----"},
    {"/stream-status now", "now", "fs", "-----"},
    {"/stream-status /show-tools", "", "ftse", "-1---"},
    {"!show-tools", "", "fte", "-1---"},
    {"!hide-thinking", "", "fte", "0----"},
    {"!hide-all go !show-tools", "go", "ft", "01101"},
    {"!stream-status", "", "fse", "-----"},
    {"!!show-tools", "!!show-tools", "", "-----"},
    {"!/show-tools", "!/show-tools", "", "-----"},
    {"show-tools", "show-tools", "", "-----"},
    {"!", "!", "", "-----"},
    {"/show-text", "/show-text", "", "-----"},
    {"/hide-text", "/hide-text", "", "-----"},
    {"/show-tools,", "/show-tools,", "", "-----"},
    {"/SHOW-ALL", "/SHOW-ALL", "", "-----"},
    {"/Show-all", "/Show-all", "", "-----"},
    {"x/show-all", "x/show-all", "", "-----"},
    {"//show-all", "//show-all", "", "-----"},
    {"/show-all/", "/show-all/", "", "-----"},
    {"/show-all.", "/show-all.", "", "-----"},
    {"/show-all1", "/show-all1", "", "-----"},
    {"/show-all-", "/show-all-", "", "-----"},
    {"/show_all", "/show_all", "", "-----"},
    {"(/show-all)", "(/show-all)", "", "-----"},
    {"/show", "/show", "", "-----"},
    {"/", "/", "", "-----"},
    {"/-show", "/-show", "", "-----"},
    {"/help /show-tools", "/help", "ft", "-1---"},
    {"/help me", "/help me", "", "-----"},
    {"/unknown  /other", "/unknown  /other", "", "-----"},
    {"go /show-tools now", "go now", "ft", "-1---"},
    {"go  /show-tools  now", "go now", "ft", "-1---"},
    {"go\t/show-tools\tnow", "go now", "ft", "-1---"},
    {"/show-tools go", "go", "ft", "-1---"},
    {"go /show-tools", "go", "ft", "-1---"},
    {"  /show-tools  ", "", "fte", "-1---"},
    {"a   b /show-tools", "a b", "ft", "-1---"},
    {"a \t b\n\n  c /show-tools", "a b\n\n c", "ft", "-1---"},
    {"a\n/show-tools\nb", "a\n\nb", "ft", "-1---"},
    {"/show-tools\n", "", "fte", "-1---"},
    {"\n/show-tools\nb", "b", "ft", "-1---"},
    {"a\r\n/show-tools\r\nb", "a\r\n\r\nb", "ft", "-1---"},
    {"/show-tools /hide-tools", "", "fte", "-0---"},
    {"/hide-tools /show-tools", "", "fte", "-1---"},
    {"/show-tools x /show-thinking", "x", "ft", "11---"},
    {"/show-all /hide-thinking", "", "fte", "01111"},
    {"/hide-thinking /show-all", "", "fte", "11111"},
    {"/hide-final /hide-all", "", "fte", "00101"},
    {"/hide-all /hide-final", "", "fte", "00100"},
    {"/show-tools/hide-tools", "/show-tools/hide-tools", "", "-----"},
    {"a" NBSP "/show-tools" NBSP "b", "a" NBSP NBSP "b", "ft", "-1---"},
    {NBSP "/show-tools" IDEO, "", "fte", "-1---"},
    {IDEO "/show-tools" IDEO "b" NBSP, "b", "ft", "-1---"},
    {"a" LSEP "/show-tools", "a", "ft", "-1---"},
    {NEL "/show-tools" NEL "a", "a", "ft", "-1---"},
    {"\x1c/show-tools\x1f", "", "fte", "-1---"},
    {"\x1b/show-tools", "\x1b/show-tools", "", "-----"},
    {"\xe2\x80\x8b/show-tools", "\xe2\x80\x8b/show-tools", "", "-----"}, /* zero width: no space */
    {"\xef\xbb\xbf/show-tools", "\xef\xbb\xbf/show-tools", "", "-----"},
    {"\xff/show-tools", "\xff/show-tools", "", "-----"},
    {"\xff /show-tools \xc2", "\xff \xc2", "ft", "-1---"},
    {"\x85/show-tools", "\x85/show-tools", "", "-----"}, /* a stray byte is no NEL */
    {"/show-tools caf\xc3\xa9", "caf\xc3\xa9", "ft", "-1---"},
    {"caf\xc3\xa9/show-tools", "caf\xc3\xa9/show-tools", "", "-----"},
};

static struct visibility unset(void)
{
    return (struct visibility){SHOW_UNSET, SHOW_UNSET, SHOW_UNSET, SHOW_UNSET, SHOW_UNSET};
}

static const char *flags_of(struct slash_tokens_result r)
{
    static char out[5];
    snprintf(out, sizeof out, "%s%s%s%s", r.found ? "f" : "", r.toggled ? "t" : "",
             r.status ? "s" : "", r.empty ? "e" : "");
    return out;
}

static const char *show_of(struct visibility v)
{
    static char out[VISIBILITY_KEYS + 1];
    for (size_t i = 0; i < VISIBILITY_KEYS; i++)
        out[i] = "-01"[*visibility_switch_at(&v, i) + 1];
    return out;
}

static void test_cases(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct visibility v = unset();
        CLEANUP_BUF struct buf text = {0};
        const struct slash_tokens_result r =
            slash_tokens_parse(cases[i].message, strlen(cases[i].message), &v, &text);
        is_mem(text.p ? text.p : "", text.len, cases[i].text, strlen(cases[i].text),
               "case %zu: text", i);
        is_str(flags_of(r), cases[i].flags, "case %zu: flags", i);
        is_str(show_of(v), cases[i].show, "case %zu: switches", i);
    }
}

static void test_details(void)
{
    struct visibility v = visibility_default();
    CLEANUP_BUF struct buf text = {0};
    buf_add_str(&text, "before:");
    struct slash_tokens_result r = slash_tokens_parse("/show-tools\0x", 13, &v, &text);
    is_mem(text.p, text.len, "before:/show-tools\0x", 20, "a NUL is text; text is appended");
    ok(!r.found, "and so the token does not stand alone");
    r = slash_tokens_parse("a /show-thinking", 16, &v, &text);
    is_mem(text.p + 20, text.len - 20, "a", 1, "appended behind what was there");
    ok(r.found && !r.empty && v.thinking == SHOW_ON && v.tools == SHOW_OFF,
       "switches not named stay");
    buf_reset(&text);
    buf_add_str(&text, "x");
    r = slash_tokens_parse(" /show-all ", 11, &v, &text);
    ok(r.empty && text.len == 1, "empty is about what this message left");
}

/* The reference: the pattern as written, tried at every character. */

struct chars {
    unsigned cp[256];
    size_t n;
};

static bool ref_space(unsigned c)
{
    return (c >= 9 && c <= 13) || (c >= 28 && c <= 32) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
           c == 0x205f || c == 0x3000;
}

/* End of a match that begins at i, or 0. The pattern is greedy and may give letters back, but
 * then (?!\S) fails: a letter or - follows. */
static size_t ref_match(const struct chars *m, size_t i)
{
    if (i > 0 && !ref_space(m->cp[i - 1]))
        return 0;
    if ((m->cp[i] != '/' && m->cp[i] != '!') || i + 1 >= m->n || m->cp[i + 1] < 'a' ||
        m->cp[i + 1] > 'z')
        return 0;
    size_t e = i + 2;
    while (e < m->n && ((m->cp[e] >= 'a' && m->cp[e] <= 'z') || m->cp[e] == '-'))
        e++;
    return e == m->n || ref_space(m->cp[e]) ? e : 0;
}

static bool ref_apply(const char *word, struct visibility *v, bool *status)
{
    const bool on = strncmp(word + 1, "show-", 5) == 0;
    const char *what = word + 6;
    enum visibility_switch *slot = NULL;
    if (strcmp(word + 1, "stream-status") == 0)
        return *status = true;
    if (!on && strncmp(word + 1, "hide-", 5) != 0)
        return false;
    if (strcmp(what, "all") == 0) {
        *v = on ? (struct visibility){1, 1, 1, 1, 1} : (struct visibility){0, 0, 1, 0, 1};
        return true;
    }
    if (strcmp(what, "thinking") == 0)
        slot = &v->thinking;
    else if (strcmp(what, "tools") == 0)
        slot = &v->tools;
    else if (strcmp(what, "narration") == 0)
        slot = &v->narration;
    else if (strcmp(what, "final") == 0)
        slot = &v->final;
    if (!slot)
        return false;
    *slot = on ? SHOW_ON : SHOW_OFF;
    return true;
}

static bool ref_take(const struct chars *m, struct chars *rest, struct visibility *v)
{
    bool found = false, status = false;
    for (size_t i = 0; i < m->n;) {
        const size_t e = ref_match(m, i);
        char word[257];
        for (size_t k = i; k < e; k++)
            word[k - i] = (char)m->cp[k];
        word[e > i ? e - i : 0] = 0;
        if (e && ref_apply(word, v, &status)) {
            found = true;
            i = e;
        } else {
            rest->cp[rest->n++] = m->cp[i++];
        }
    }
    return found;
}

static void ref_clean(const struct chars *m, struct chars *out)
{
    struct chars squeezed = {.n = 0};
    for (size_t i = 0; i < m->n; i++) {
        const bool blank = m->cp[i] == ' ' || m->cp[i] == '\t';
        if (!blank)
            squeezed.cp[squeezed.n++] = m->cp[i];
        else if (squeezed.n == 0 || i == 0 || (m->cp[i - 1] != ' ' && m->cp[i - 1] != '\t'))
            squeezed.cp[squeezed.n++] = ' ';
    }
    size_t first = 0, end = squeezed.n;
    while (first < end && ref_space(squeezed.cp[first]))
        first++;
    while (end > first && ref_space(squeezed.cp[end - 1]))
        end--;
    for (size_t i = first; i < end; i++)
        out->cp[out->n++] = squeezed.cp[i];
}

static void encode(const struct chars *m, struct buf *out)
{
    for (size_t i = 0; i < m->n; i++) {
        char c[4];
        buf_add(out, c, utf8_encode(c, m->cp[i]));
    }
}

static void add_piece(struct chars *m)
{
    static const char *const words[] = {"/show-tools",
                                        "!hide-tools",
                                        "/hide-tools",
                                        "/show-all",
                                        "/hide-all",
                                        "/show-final",
                                        "/hide-narration",
                                        "/show-thinking",
                                        "/stream-status",
                                        "/show-text",
                                        "/x",
                                        "a",
                                        "-",
                                        "/"};
    static const unsigned odd[] = {' ', ' ', ' ', '\t', '\n', 0xa0,   0x3000,  0x2028, ',',
                                   'z', '-', '/', 'A',  0xe9, 0x200b, 0x1f600, 0x85,   0x1d};
    if (rand() % 2) {
        m->cp[m->n++] = odd[(size_t)rand() % (sizeof odd / sizeof *odd)];
        return;
    }
    for (const char *w = words[(size_t)rand() % (sizeof words / sizeof *words)]; *w; w++)
        m->cp[m->n++] = (unsigned char)*w;
}

static bool same_as_reference(const struct chars *m)
{
    struct visibility want = unset(), got = unset();
    struct chars rest = {.n = 0}, clean = {.n = 0};
    CLEANUP_BUF struct buf message = {0}, text = {0}, expected = {0};
    encode(m, &message);
    const bool found = ref_take(m, &rest, &want);
    if (found)
        ref_clean(&rest, &clean);
    encode(found ? &clean : m, &expected);
    const struct slash_tokens_result r = slash_tokens_parse(message.p, message.len, &got, &text);
    if (r.found == found && memcmp(&want, &got, sizeof want) == 0 && text.len == expected.len &&
        (text.len == 0 || memcmp(text.p, expected.p, text.len) == 0))
        return true;
    diag("message: %s", message.p);
    return false;
}

static void test_random(void)
{
    srand(20261);
    unsigned bad = 0, with_tokens = 0;
    for (unsigned i = 0; i < 200000 && bad < 5; i++) {
        struct chars m = {.n = 0};
        for (int pieces = 1 + rand() % 8; pieces > 0; pieces--)
            add_piece(&m);
        struct visibility v = unset();
        struct chars rest = {.n = 0};
        with_tokens += ref_take(&m, &rest, &v);
        bad += !same_as_reference(&m);
    }
    is_int(bad, 0, "200000 random messages as the reference has them");
    ok(with_tokens > 40000 && with_tokens < 180000, "both kinds of message came (%u with tokens)",
       with_tokens);
}

int main(void)
{
    plan_lazy();
    test_cases();
    test_details();
    test_random();
    return 0;
}
