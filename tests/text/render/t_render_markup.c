/* SPDX-License-Identifier: MIT
 * Tests of both markups for Slack, and of CommonMark; no text mentions anybody (R14). */
#include "tap/tap.h"
#include "text/markdown/markdown.h"
#include "text/text_show.h"

#define J "\xe2\x80\x8b" /* the joint */

static const struct {
    const char *what, *source, *mrkdwn, *markdown;
} cases[] = {
    {"plain text", "Hello", "Hello", "Hello"},
    {"styles", "**b** *i* ~~s~~ `c`", "*b* _i_ ~s~ `c`", "**b** *i* ~~s~~ `c`"},
    {"nested styles", "**b *bi* b**", "*b* *_bi_* *b*", "**b** ***bi*** **b**"},
    {"styles in a word", "un**believ**able", "un" J "*believ*" J "able", "un**believ**able"},
    {"adjacent styles", "**a***b*", "*a*" J "_b_", "**a**" J "*b*"},
    {"blanks stay outside styles", "**a ~~b ~~c**", "*a ~~b ~~c*", "**a \\~\\~b \\~\\~c**"},
    {"bold over two lines", "**a\nb**", "*a*⏎*b*", "**a**⏎**b**"},
    {"escapes", "a < b & c > d", "a &lt; b &amp; c &gt; d", "a &lt; b &amp; c &gt; d"},
    {"R14: mentions of everybody are disabled", "@here @Channel x@everyone <!here> <!channel>",
     "@" J "here @" J "Channel x@" J "everyone &lt;!here&gt; &lt;!channel&gt;",
     "@" J "here @" J "Channel x@" J "everyone &lt;!here&gt; &lt;!channel&gt;"},
    {"mentions", "<@U123> <#C1> <!subteam^S1> @you",
     "&lt;@U123&gt; &lt;#C1&gt; &lt;!subteam^S1&gt; @you",
     "&lt;@U123&gt; &lt;#C1&gt; &lt;!subteam^S1&gt; @you"},
    {"mentions in code", "`<!here>`\n\n```\n<@U1> & @here\n```",
     "`&lt;!here&gt;`⏎⏎```⏎&lt;@U1&gt; &amp; @here⏎```",
     "`&lt;!here&gt;`⏎⏎```⏎&lt;@U1&gt; &amp; @here⏎```"},
    {"mentions from references", "&lt;!here&gt; &#60;@U1&#62;", "&lt;!here&gt; &lt;@U1&gt;",
     "&lt;!here&gt; &lt;@U1&gt;"},
    {"a mention as address", "<https://a.b/<!here>> [x](<https://a.b/<!here>>)",
     "&lt;https://a.b/&lt;!here&gt;&gt; [x](&lt;https://a.b/&lt;!here&gt;&gt;)",
     "&lt;https://a.b/&lt;!here&gt;&gt; \\[x\\](&lt;https://a.b/&lt;!here&gt;&gt;)"},
    {"a link", "[x](https://a.b/?p=1&q=2)", "<https://a.b/?p=1&amp;q=2|x>",
     "[x](https://a.b/?p=1&amp;q=2)"},
    {"a link with parentheses", "[x](https://a.b/c_(d))", "<https://a.b/c_(d)|x>",
     "[x](https://a.b/c_%28d%29)"},
    {"a label with markup", "[**a** > | x](https://a.b)", "<https://a.b|a &gt; | x>",
     "[**a** &gt; \\| x](https://a.b)"},
    {"a link in bold", "**[x](https://a.b)**", "*<https://a.b|x>*", "[**x**](https://a.b)"},
    {"a link of code", "[`x`](https://a.b)", "<https://a.b|x>", "[`x`](https://a.b)"},
    {"a bare address", "https://a.b/x_y?a&b", "<https://a.b/x_y?a&amp;b>", "<https://a.b/x_y?a&b>"},
    {"R10: an address that contains marks of style", "https://a.b/__x__/c_d",
     "<https://a.b/__x__/c_d>", "<https://a.b/__x__/c_d>"},
    {"an address that Slack cannot link", "[x](tg://resolve?domain=y)", "x (tg://resolve?domain=y)",
     "x (tg://resolve?domain=y)"},
    {"a relative address", "[x](doc/a_b.md)", "x (doc/a_b.md)", "x (doc/a_b.md)"},
    {"a mail address", "<a@b.c>", "<mailto:a@b.c|a@b.c>", "[a@b.c](mailto:a@b.c)"},
    {"a heading", "## T *i* `c`", "*T* *_i_* *`c`*", "## T *i* `c`"},
    {"an underlined heading of two lines", "a\nb\n===", "*a*⏎*b*", "# a b"},
    {"code with a backtick", "`` a`b ``", "`aˋb`", "`` a`b ``"},
    {"adjacent inline code", "`a`**`b`**", "`a`" J "*`b`*", "`a`" J "**`b`**"},
    {"a fence", "```py\nx = a < b\n```", "```⏎x = a &lt; b⏎```", "```py⏎x = a &lt; b⏎```"},
    {"a fence around a fence", "````\n```\nx\n```\n````", "```⏎``" J "`⏎x⏎``" J "`⏎```",
     "````⏎```⏎x⏎```⏎````"},
    {"a list", "- a\n- b\n  1. c\n  2. d", "• a⏎• b⏎  1. c⏎  2. d", "- a⏎- b⏎  1. c⏎  2. d"},
    {"a task list", "- [ ] a\n- [x] b", "☐ a⏎☑ b", "- [ ] a⏎- [x] b"},
    {"two paragraphs in an item", "1. a\n\n   b\n\n   ```\n   c\n   ```", "1. a⏎⏎b⏎⏎```⏎c⏎```",
     "1. a⏎⏎   b⏎⏎   ```⏎   c⏎   ```"},
    {"a quote", "> a\n>\n> b", "> a⏎>⏎> b", "> a⏎>⏎> b"},
    {"a quote in a quote", "> a\n> > b", "> a⏎>⏎> b", "> a⏎>⏎> > b"},
    {"a quote in a list", "- a\n  > b\n- > c", "• a⏎> b⏎• > c", "- a⏎  > b⏎- > c"},
    {"R10: a table", "|a|b_|\n|---|---|\n|1|**2** & 3|\n||x \\| y|",
     "```⏎a     | b_⏎------+------⏎1     | 2 &amp; 3⏎x | y |  ⏎```",
     "| a | b\\_ |⏎| --- | --- |⏎| 1 | 2 &amp; 3 |⏎| x \\| y |   |"},
    {"a rule", "a\n\n---\n\nb", "a⏎⏎———⏎⏎b", "a⏎⏎***⏎⏎b"},
    {"escaped markup", "\\*a\\* \\_b\\_ \\`c\\` \\[d\\](e) \\~f\\~ 2 * 3 snake_case _x",
     "*a* _b_ `c` [d](e) ~f~ 2 * 3 snake_case _x",
     "\\*a\\* \\_b\\_ \\`c\\` \\[d\\](e) \\~f\\~ 2 \\* 3 snake_case \\_x"},
    {"escaped blocks", "\\# a\n\n1\\. b\n\n\\- c\n\n\\+ d\n\n12\\) e", "# a⏎⏎1. b⏎⏎- c⏎⏎+ d⏎⏎12) e",
     "\\# a⏎⏎1\\. b⏎⏎\\- c⏎⏎\\+ d⏎⏎12\\) e"},
    {"escaped blocks behind a marker", "- \\# a\n- 1\\. b", "• # a⏎• 1. b", "- \\# a⏎- 1\\. b"},
    {"underline of a heading as text", "a\n\\===\n\\---", "a⏎===⏎---", "a⏎\\===⏎\\---"},
};

static const struct {
    const char *what, *source, *wanted;
    bool plain; /* without tables and headings */
} commonmark[] = {
    {"plain text", "Hello\nyou", "Hello⏎you", false},
    {"styles", "**b *bi*** ~~s~~ `c`", "**b** ***bi*** ~~s~~ `c`", false},
    {"marks beside punctuation", "**call (`x`)** **a.** **\"b\"** *c*!",
     "**call** (`x`) **a.** **\"b\"** *c*!", false},
    {"punctuation alone", "**a *(* b**", "**a** ***(*** **b**", false},
    {"no references", "a < b & c > d &amp;copy; &copy \"q\"",
     "a \\< b & c > d \\&copy; \\&copy \"q\"", false},
    {"R14: mentions of everybody are disabled", "@here @Everyone x@here @you",
     "\\@" J "here \\@" J "Everyone x\\@" J "here @you", false},
    {"R14: mentions of one person or channel", "<@123> <@!5> <@&7> <#1> a@b.c",
     "\\<\\@" J "123> \\<\\@" J "!5> \\<\\@" J "\\&7> \\<#1> a@b.c", false},
    {"R14: a mention in two parts", "@[here](x.md) @he[re](y) @**everyone**",
     "\\@" J "here (x.md) \\@" J "here (y) \\@" J "**everyone**", false},
    {"code is not escaped", "`@here <@1>`\n\n```\n<@1> & @here\n```",
     "`@here <@1>`⏎⏎```⏎<@1> & @here⏎```", false},
    {"a fence around a fence", "````md\n```\nx\n```\n````", "```md⏎``" J "`⏎x⏎``" J "`⏎```", false},
    {"code with a backtick", "`` a`b ``", "`` a`b ``", false},
    {"a link", "[x](https://a.b/?p=1&q=2;r)", "[x](https://a.b/?p=1&q=2%3Br)", false},
    {"a link with parentheses", "[x](https://a.b/c_(d))", "[x](https://a.b/c_%28d%29)", false},
    {"a bare address", "https://a.b/x_y?a&b", "<https://a.b/x_y?a&b>", false},
    {"R14: a mention in an address", "https://a.b/@everyone [x](https://a.b/@you/@1)",
     "<https://a.b/%40everyone> [x](https://a.b/@you/%401)", false},
    {"other schemes", "[x](javascript:f) [y](mailto:a@b.c)", "x (javascript:f) y (mailto:a@b.c)",
     false},
    {"a heading", "# T *i*\n\n#### Deep", "# T *i*⏎⏎### Deep", false},
    {"no headings", "# T *i*\n\n#### Deep", "**T** ***i***⏎⏎**Deep**", true},
    {"a table", "|a|b_|\n|---|---|\n|1|2 \\| 3|", "| a | b\\_ |⏎| --- | --- |⏎| 1 | 2 \\| 3 |",
     false},
    {"no tables", "|a|b_|\n|---|---|\n|1|2|", "```⏎a | b_⏎--+---⏎1 | 2⏎```", true},
    {"a list", "- a\n- b\n  1. c\n- [x] d", "- a⏎- b⏎  1. c⏎- [x] d", false},
    {"a quote", "> a\n>\n> > b", "> a⏎> ⏎> > b", false},
    {"escaped markup", "\\*a\\* 2 * 3 snake_case a__b__c _x é_b_é \\||s\\||",
     "\\*a\\* 2 \\* 3 snake_case a\\_\\_b\\_\\_c \\_x é\\_b\\_é \\|\\|s\\|\\|", false},
    {"escaped blocks", "\\# a\n\n1\\. b\n\n\\- c\n\n\\> d\n\n\\-# e",
     "\\# a⏎⏎1\\. b⏎⏎\\- c⏎⏎\\> d⏎⏎\\-# e", false},
    {"HTML", "<b>b</b> <!-- c -->", "\\<b>b\\</b> \\<!-- c -->", false},
};

static void check(const char *what, const struct doc *d, struct doc_range r, enum render_form form,
                  const char *wanted)
{
    const struct render_target target = {.form = form};
    struct render_output out = {0};
    CLEANUP_BUF struct buf shown = {0};
    render_doc(&out, d, r, &target);
    text_show_rendered(&shown, &out);
    is_str(shown.p, wanted, "%s: %s", form == RENDER_MRKDWN ? "mrkdwn" : "markdown", what);
    rendered_fini(&out);
}

static void check_commonmark(const char *what, const struct doc *d, bool plain, const char *wanted)
{
    const struct render_target target = {
        .form = RENDER_COMMONMARK, .no_tables = plain, .no_headings = plain};
    struct render_output out = {0};
    CLEANUP_BUF struct buf shown = {0};
    render_doc(&out, d, (struct doc_range){0, d->text.len}, &target);
    text_show_rendered(&shown, &out);
    is_str(shown.p, wanted, "CommonMark: %s", what);
    rendered_fini(&out);
}

static void test_commonmark(void)
{
    struct arena a = {0};
    for (size_t i = 0; i < sizeof commonmark / sizeof commonmark[0]; i++) {
        const struct str source = {commonmark[i].source, strlen(commonmark[i].source)};
        const struct doc d = markdown_parse(&a, source);
        check_commonmark(commonmark[i].what, &d, commonmark[i].plain, commonmark[i].wanted);
    }
    const struct doc plain = markdown_make_plain(&a, STR("  1. x\n    - y\n\tz"));
    check_commonmark("verbatim blanks are not code", &plain, false,
                     "\xc2\xa0\xc2\xa0"
                     "1\\. x⏎\xc2\xa0\xc2\xa0\xc2\xa0\xc2\xa0\\- y⏎\xc2\xa0z");
    arena_fini(&a);
}

static void test_constructs(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arena a = {0};
        const struct doc d =
            markdown_parse(&a, (struct str){cases[i].source, strlen(cases[i].source)});
        const struct doc_range all = {0, d.text.len};
        check(cases[i].what, &d, all, RENDER_MRKDWN, cases[i].mrkdwn);
        check(cases[i].what, &d, all, RENDER_MARKDOWN, cases[i].markdown);
        arena_fini(&a);
    }
}

static void test_ranges(void)
{
    struct arena a = {0};
    const struct doc code = markdown_parse(&a, STR("```c\nab\ncd\n```"));
    check("the first part of a fence", &code, (struct doc_range){0, 2}, RENDER_MARKDOWN,
          "```c⏎ab⏎```");
    check("the second part of a fence", &code, (struct doc_range){3, 5}, RENDER_MARKDOWN,
          "```c⏎cd⏎```");
    check("the second part of a fence", &code, (struct doc_range){3, 5}, RENDER_MRKDWN,
          "```⏎cd⏎```");
    const struct doc table = markdown_parse(&a, STR("|a|b|\n|---|---|\n|1|2|\n|3|4|"));
    check("a part of a table is lines", &table, (struct doc_range){0, 17}, RENDER_MARKDOWN,
          "```⏎a | b⏎--+--⏎1 | 2⏎```");
    const struct doc item = markdown_parse(&a, STR("- one\n\n  two\n  - three"));
    check("a continued item is not indented", &item, (struct doc_range){9, item.text.len},
          RENDER_MARKDOWN, "two⏎- three");
    const struct doc link = markdown_parse(&a, STR("[one two](https://a.b)"));
    check("the first half of a label", &link, (struct doc_range){0, 3}, RENDER_MRKDWN,
          "<https://a.b|one>");
    check("the second half of a label", &link, (struct doc_range){4, 7}, RENDER_MARKDOWN,
          "[two](https://a.b)");
    arena_fini(&a);
}

static void test_folded(void)
{
    struct arena a = {0};
    const struct doc d = markdown_parse_folded(&a, STR("a\n\nb"));
    check("folded", &d, (struct doc_range){0, d.text.len}, RENDER_MRKDWN, "> a⏎>⏎> b");
    check("folded", &d, (struct doc_range){0, d.text.len}, RENDER_MARKDOWN, "> a⏎>⏎> b");
    arena_fini(&a);
}

/* The text of a markdown block is parsed again as the original text. */
static void test_round_trip(void)
{
    static const char source[] =
        "# T *i*\n\nSome **bold** _it_ ~~s~~ `a``b` [l](https://a.b/c_(d)) https://e.f/g_h\n"
        "snake_case \\*x\\* \\# 1 \\[y\\] a|b\n\n1. one\n   - two\n     ```c\n     ```` x\n     "
        "```\n"
        "2. three\n\n> q\n>\n> > r\n\n| a | b |\n|---|---|\n| 1 | x \\| y |\n\n***\n\n1986\\. end";
    static const struct render_target markdown = {.form = RENDER_MARKDOWN};
    struct arena a = {0};
    struct render_output once = {0}, twice = {0};
    const struct doc d = markdown_parse(&a, STR(source));
    render_doc(&once, &d, (struct doc_range){0, d.text.len}, &markdown);
    const struct doc again = markdown_parse(&a, (struct str){once.text.p, once.text.len});
    is_str(again.text.p, d.text.p, "the text is the same after a round trip");
    render_doc(&twice, &again, (struct doc_range){0, again.text.len}, &markdown);
    is_str(twice.text.p, once.text.p, "the Markdown is the same after a round trip");
    rendered_fini(&once);
    rendered_fini(&twice);
    arena_fini(&a);
}

int main(void)
{
    plan_lazy();
    test_constructs();
    test_commonmark();
    test_ranges();
    test_folded();
    test_round_trip();
    return 0;
}
