/* SPDX-License-Identifier: MIT
 * Tests of text for terminals: wrapping, styles, links, code, tables; at 20 to 300 columns. */
#include <stdio.h>
#include <string.h>

#include "tap/tap.h"
#include "text/display_width.h"
#include "text/markdown/markdown.h"
#include "text/render/code_color.h"
#include "text/render/render.h"
#include "text/terminal_check.h"

/* The rendered text (static), with "E" for ESC and "/" for the end of a link. */
static const char *shown(const char *source, size_t columns, bool styled, bool links)
{
    static char text[1 << 14];
    const struct render_target target = {
        .form = RENDER_TERMINAL, .columns = columns, .styled = styled, .links = links};
    struct arena a = {0};
    struct render_output out = {0};
    const struct doc d = markdown_parse(&a, (struct str){source, strlen(source)});
    render_doc(&out, &d, (struct doc_range){0, d.text.len}, &target);
    const char *const wrong =
        terminal_check((struct str){out.text.p, out.text.len}, columns, styled, links);
    if (wrong)
        diag("%s: %s", source, wrong);
    snprintf(text, sizeof text, "%s%.*s", wrong ? wrong : "", (int)out.text.len, out.text.p);
    for (char *at = text; *at; at++)
        *at = *at == '\033' ? 'E' : *at;
    rendered_fini(&out);
    arena_fini(&a);
    return text;
}

static const struct {
    const char *what, *source;
    size_t columns;
    const char *wanted;
} plain[] = {
    {"a paragraph", "one two three four five", 12, "one two\nthree four\nfive"},
    {"a word as wide as the line", "a 0123456789 b", 10, "a\n0123456789\nb"},
    {"a word that is wider", "a 0123456789ab b", 10, "a\n0123456789\nab b"},
    {"no width", "one two three", 0, "one two three"},
    {"a line break of the source", "one\ntwo", 20, "one\ntwo"},
    {"headings", "# A\n\n### B c", 20, "# A\n\n### B c"},
    {"a list", "- one two three\n- b\n  1. four five six", 12,
     "• one two\n  three\n• b\n  1. four\n     five\n     six"},
    {"a task list", "- [ ] a\n- [x] b", 12, "☐ a\n☑ b"},
    {"a quote", "> one two three\n>\n> four", 10, "│ one two\n│ three\n│\n│ four"},
    {"a list in a quote", "> - one two three", 10, "│ • one\n│   two\n│   three"},
    {"a quote in a list", "- a\n\n  > b c", 20, "• a\n\n  │ b c"},
    {"code in a line", "use `a b` now", 20, "use `a b` now"},
    {"a fence", "```c\nif (x)\n\ty  = 1;\n```", 20, "  if (x)\n      y  = 1;"},
    {"a fence that is wider", "```\n0123456789\n```", 8, "  012345\n  6789"},
    {"a link", "see [x](https://a.b/c) now", 40, "see x (https://a.b/c) now"},
    {"a bare link", "see https://a.b/c now", 40, "see https://a.b/c now"},
    {"wide characters", "日本語テキスト", 7, "日本語\nテキス\nト"},
    {"wide characters among others", "ab日本 cd", 5, "ab日\n本 cd"},
    {"a combining accent",
     "e\xcc\x81"
     "e\xcc\x81 xx",
     4,
     "e\xcc\x81"
     "e\xcc\x81\nxx"},
    {"emoji that are joined", "👨‍👩‍👧 x", 20, "👨‍👩‍👧 x"},
    {"a table", "|a|bb|\n|---|--:|\n|ccc|d|", 20, "a   │ bb\n────┼───\nccc │  d"},
    {"a table with wide characters", "|a|b|\n|---|---|\n|日本|x|\n|é|y|", 20,
     "a    │ b\n─────┼──\n日本 │ x\né    │ y"},
    {"a table with a column in the middle", "|aaaa|b|\n|:-:|---|\n|x|y|\n|xx|y|", 20,
     "aaaa │ b\n─────┼──\n x   │ y\n xx  │ y"},
    {"a table that is too wide", "|name|what it does|\n|---|---|\n|ls|lists files of a folder|", 20,
     "name │ what it does\n─────┼──────────────\nls   │ lists files\n     │ of a folder"},
    {"a table without room", "|a|b|c|d|\n|---|---|---|---|\n|one|two|three|four|\n|1|2|3|4|", 16,
     "a: one\nb: two\nc: three\nd: four\n\na: 1\nb: 2\nc: 3\nd: 4"},
    {"a rule", "a\n\n***\n\nb", 10, "a\n\n──────────\n\nb"},
    {"HTML", "a <b>c</b>", 20, "a <b>c</b>"},
};

static const struct {
    const char *what, *source, *wanted;
} styled[] = {
    {"bold and italic", "a **b c** *d*", "a E[0;1mb cE[0m E[0;3mdE[0m"},
    {"a style over a line break", "**four seven**", "E[0;1mfourE[0m\nE[0;1msevenE[0m"},
    {"a style in a word", "un**be**d", "unE[0;1mbeE[0md"},
    {"strikethrough", "~~a~~", "E[0;9maE[0m"},
    {"a heading", "# A", "E[0;1;35mAE[0m"},
    {"code", "`a`", "E[0;36maE[0m"},
    {"a link", "[x](https://a.b/)", "E]8;;https://a.b/E\\E[0;4mxE]8;;E\\E[0m"},
    {"a link over two lines", "[xxxxx yyyy](https://a.b/)",
     "E]8;;https://a.b/E\\E[0;4mxxxxxE]8;;E\\E[0m\nE]8;;https://a.b/E\\E[0;4myyyyE]8;;E\\E[0m"},
    {"an address that cannot be a link", "[x](javascript:1)", "x\n(javascri\npt:1)"},
    {"a file", "[x](a.md)", "x (a.md)"},
    {"keywords, strings, numbers and comments", "```c\nif \"a\" 1\n//x\n```",
     "  E[0;35mifE[0m E[0;32m\"a\"E[0m \n  E[0;36m1E[0m\n  E[0;2m//xE[0m"},
    {"a diff", "```diff\n@@\n-a\n+b\n```", "  E[0;36m@@E[0m\n  E[0;31m-aE[0m\n  E[0;32m+bE[0m"},
};

static void test_plain(void)
{
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        is_str(shown(plain[i].source, plain[i].columns, false, false), plain[i].wanted, "%s",
               plain[i].what);
}

static void test_styled(void)
{
    for (size_t i = 0; i < sizeof styled / sizeof styled[0]; i++)
        is_str(shown(styled[i].source, 9, true, true), styled[i].wanted, "styled: %s",
               styled[i].what);
}

/* A label must not hide the address of its link. */
static void test_misleading(void)
{
    has_str(shown("[https://good.org/x](https://evil.org/)", 80, true, true), "(https://evil.org/)",
            "a label that is another address is followed by the address");
    has_str(shown("[good.org/x](https://evil.org/)", 80, true, true), "(https://evil.org/)",
            "a label that looks like an address is followed by the address");
    ok(!strstr(shown("[evil.org/x](https://evil.org/x)", 80, true, true), "("),
       "a label that is the address is not followed by it");
}

/* No terminal sequence of the source is rendered: in text, code, cells, labels, languages,
 * addresses. */
static void test_sequences(void)
{
    static const char *const sequences[] = {"\033[31m",
                                            "\033]0;t\007",
                                            "\033]52;c;eA==\033\\",
                                            "\xc2\x9b"
                                            "31m",
                                            "\xe2\x80\xae",
                                            "\xe2\x80\x8b",
                                            "\r",
                                            "\b",
                                            "\007",
                                            "\033P$q\033\\",
                                            "\xc2\x85",
                                            "\xf3\xa0\x81\x81"};
    static const char *const shapes[] = {
        "a %s b",         "`%s`",
        "```%s\n%s\n```", "|%s|%s|\n|---|---|\n|%s|%s|",
        "# %s",           "[%s](https://a.b/%s)",
        "> - %s",         "<https://a.b/%s>",
        "**%s**",
    };
    char source[512];
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (size_t k = 0; k < sizeof sequences / sizeof sequences[0]; k++) {
            const char *const s = sequences[k];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(source, sizeof source, shapes[i], s, s, s, s);
#pragma GCC diagnostic pop
            const char *const text = shown(source, 30, true, true);
            ok(strncmp(text, "a control", 9) != 0, "shape %zu, sequence %zu", i, k);
        }
}

static void test_widths(void)
{
    static const char source[] =
        "# A heading of some length that is wrapped\n\nText with **bold words** and `code` and "
        "[a link](https://a.b/c/d/e/f) 日本語のテキスト.\n\n- item one two three\n  - inner item "
        "four\n"
        "    - innermost\n\n> a quote with some words\n\n```py\ndef f(x): return \"a long line of "
        "code\"  # comment\n```\n\n|a|b|c|\n|---|---|---|\n|one two three|four five|六七八|\n";
    static const size_t widths[] = {4, 8, 20, 30, 80, 200, 300};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        ok(strncmp(shown(source, widths[i], true, true), "E[0;1;35mA", 10) == 0,
           "styled text of %zu columns is correct", widths[i]);
        ok(strncmp(shown(source, widths[i], false, false), "# A", 3) == 0,
           "plain text of the same columns is correct");
    }
}

static void test_display_width(void)
{
    is_int((long long)display_width_text(STR("a日é")), 4, "widths of characters");
    is_int(display_width_char(0x301), 0, "an accent");
    is_int(display_width_char(0x1f600), 2, "an emoji");
    is_int(display_width_char(0x200d), 0, "a joiner");
}

static void test_code_color(void)
{
    static const struct {
        const char *lang, *code;
        size_t len;
        enum code_token token;
    } cases[] = {
        {"py", "\"\"\"a\nb\"\"\"c", 9, CODE_STRING},
        {"py", "'a\nb", 2, CODE_STRING},
        {"c", "/* a\n */b", 8, CODE_COMMENT},
        {"c", "/* a", 4, CODE_COMMENT},
        {"c", "\"a\\\"b\"c", 6, CODE_STRING},
        {"sh", "# a\nb", 3, CODE_COMMENT},
        {"js", "`a\nb`c", 5, CODE_STRING},
        {"sql", "SELECT x", 6, CODE_KEYWORD},
        {"c", "integer", 7, CODE_PLAIN},
        {"rust", "'a", 1, CODE_PLAIN},
        {"diff", "+++ a\n", 6, CODE_HUNK},
        {"C++", "int", 3, CODE_KEYWORD},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum code_token token;
        const struct str code = {cases[i].code, strlen(cases[i].code)};
        const size_t len =
            code_color_next(code_color_find_language(cases[i].lang), code, code, &token);
        is_int((long long)len, (long long)cases[i].len, "%s: %s: the length of the token",
               cases[i].lang, cases[i].code);
        is_int(token, cases[i].token, "the kind of the token");
    }
    ok(!code_color_find_language("brainfuck"), "an unknown language");
    ok(!code_color_find_language(""), "no language");
}

int main(void)
{
    plan_lazy();
    test_plain();
    test_styled();
    test_misleading();
    test_sequences();
    test_widths();
    test_display_width();
    test_code_color();
    return 0;
}
