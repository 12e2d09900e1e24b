/* SPDX-License-Identifier: MIT
 * Tests of text/markdown/markdown.h: how each construct is parsed, hostile sources, incomplete
 * texts. */
#include "text/markdown/markdown.h"

#include "tap/tap.h"
#include "text/text_show.h"

/* The wanted texts are in the notation of text_show_doc. */
static const struct {
    const char *what, *source, *wanted;
} cases[] = {
    {"a paragraph", "Hello, world.", "Hello, world."},
    {"two paragraphs", "one\n\ntwo", "one⏎⏎two"},
    {"a soft break stays a line", "one\ntwo", "one⏎two"},
    {"a hard break", "one  \ntwo", "one⏎two"},
    {"bold and italic", "**b** *i* __b__ _i_", "{b:b} {i:i} {b:b} {i:i}"},
    {"nested", "**b *bi* b**", "{b:b {i:bi} b}"},
    {"bold italic", "***x***", "{i:{b:x}}"},
    {"strike", "~~gone~~", "{s:gone}"},
    {"snake_case is text", "a snake_case_name and $400-600K", "a snake_case_name and $400-600K"},
    {"an unclosed bold is text", "half **open", "half **open"},
    {"an unclosed backtick is text", "half `open", "half `open"},
    {"a half link is text", "see [label](http://a.b", "see [label]({a=http://a.b:http://a.b}"},
    {"a half link label is text", "see [lab", "see [lab"},
    {"code", "use `x = 1` now", "use {code:x = 1} now"},
    {"code with a backtick", "``a`b``", "{code:a`b}"},
    {"code is verbatim", "`**x** &amp; <b>`", "{code:**x** &amp; <b>}"},
    {"a link", "[label](https://a.b/c)", "{a=https://a.b/c:label}"},
    {"a link with parentheses", "[w](https://en.wikipedia.org/wiki/C_(language))",
     "{a=https://en.wikipedia.org/wiki/C_(language):w}"},
    {"a link with a blank", "[w](<https://a.b/c d>)", "{a=https://a.b/c%20d:w}"},
    {"a link with entities", "[w](https://a.b/?x=1&amp;y=2)", "{a=https://a.b/?x=1&y=2:w}"},
    {"a link with a title", "[w](https://a.b \"title\")", "{a=https://a.b:w}"},
    {"a link without label", "[](https://a.b)", "{a=https://a.b:https://a.b}"},
    {"a link without address", "[label]()", "label"},
    {"a link in bold", "**[x](https://a.b)**", "{b:{a=https://a.b:x}}"},
    {"bold in a link", "[**x** y](https://a.b)", "{a=https://a.b:{b:x} y}"},
    {"a reference", "[x][1]\n\n[1]: https://a.b", "{a=https://a.b:x}"},
    {"an autolink", "<https://a.b/c>", "{a=https://a.b/c:https://a.b/c}"},
    {"a bare address", "see https://a.b/x__y__z.",
     "see {a=https://a.b/x__y__z:https://a.b/x__y__z}."},
    {"a bare address in parentheses", "(https://a.b/c)", "({a=https://a.b/c:https://a.b/c})"},
    {"a mail address", "<me@a.b>", "{a=mailto:me@a.b:me@a.b}"},
    {"an image", "![alt](https://a.b/i.png)", "{a=https://a.b/i.png:alt}"},
    {"an image without text", "![](https://a.b/i.png)", "{a=https://a.b/i.png:https://a.b/i.png}"},
    {"an image in a link", "[![alt](https://a.b/i.png)](https://c.d)", "{a=https://c.d:alt}"},
    {"a heading", "# Top\ntext", "{h1:Top}⏎⏎text"},
    {"a deep heading", "###### Six *i*", "{h6:Six {i:i}}"},
    {"an underlined heading", "Top\n===\ntext", "{h1:Top}⏎⏎text"},
    {"no heading without a blank", "#tag", "#tag"},
    {"a list", "- a\n- b", "{item:{m1=- :• }a}⏎{item:{m1=- :• }b}"},
    {"a loose list", "- a\n\n- b", "{item:{m1=- :• }a}⏎⏎{item:{m1=- :• }b}"},
    {"an ordered list", "3. a\n4. b", "{item:{m1=3. :3. }a}⏎{item:{m1=4. :4. }b}"},
    {"an ordered list with parentheses", "1) a\n2) b", "{item:{m1=1) :1) }a}⏎{item:{m1=2) :2) }b}"},
    {"a nested list", "- a\n  - b\n    - c\n- d",
     "{item:{m1=- :• }a⏎{item:{m2=- :  • }b⏎{item:{m3=- :    • }c}}}⏎{item:{m1=- :• }d}"},
    {"a list in an ordered one", "1. a\n   - b\n2. c",
     "{item:{m1=1. :1. }a⏎{item:{m2=- :  • }b}}⏎{item:{m1=2. :2. }c}"},
    {"a task list", "- [ ] open\n- [x] done",
     "{item:{m1=- [ ] :☐ }open}⏎{item:{m1=- [x] :☑ }done}"},
    {"an empty item", "- a\n-\n- c", "{item:{m1=- :• }a}⏎{item:{m1=- :• }}⏎{item:{m1=- :• }c}"},
    {"a list after text", "text\n- a", "text⏎⏎{item:{m1=- :• }a}"},
    {"two paragraphs in an item", "- a\n\n  b\n- c", "{item:{m1=- :• }a⏎⏎b}⏎⏎{item:{m1=- :• }c}"},
    {"code in an item", "- a\n  ```\n  x\n  ```\n- b",
     "{item:{m1=- :• }a⏎{pre:x}}⏎{item:{m1=- :• }b}"},
    {"an item that is code", "- ```\n  x\n  ```", "{item:{m1=- :• }⏎{pre:x}}"},
    {"a list in an item alone", "- - a", "{item:{m1=- :• }{item:{m2=- :• }a}}"},
    {"a heading in an item", "- # h", "{item:{m1=- :• }{h1:h}}"},
    {"a quote", "> q", "{q:q}"},
    {"a quote of two paragraphs", "> a\n>\n> b", "{q:a⏎⏎b}"},
    {"a quote in a quote", "> a\n> > b", "{q:a⏎⏎{q:b}}"},
    {"a list in a quote", "> - a\n> - b", "{q:{item:{m1=- :• }a}⏎{item:{m1=- :• }b}}"},
    {"a quote in a list", "- a\n  > b", "{item:{m1=- :• }a⏎{q:b}}"},
    {"emphasis left open by an item ends before the quote of the item", "1. *http://a.b*c\n   > d",
     "{item:{m1=1. :1. }{i:{a=http://a.b*c:http://a.b*c}}⏎{q:d}}"},
    {"a fence", "```\nx\n```", "{pre:x}"},
    {"a fence with a language", "```python\nx\n\ny\n```", "{pre=python:x⏎⏎y}"},
    {"a fence with more words", "```c title=\"x\"\nx\n```", "{pre=c:x}"},
    {"a fence with a strange language", "```<b>\nx\n```", "{pre:x}"},
    {"a fence of tildes", "~~~sh\n```\n~~~", "{pre=sh:```}"},
    {"an unclosed fence extends to the end", "```js\nlet x;\n", "{pre=js:let x;}"},
    {"an empty fence", "a\n\n```\n```\n\nb", "a⏎⏎b"},
    {"a fence keeps indentation", "```\n  a\n\tb\n```", "{pre:  a⏎    b}"},
    {"a fence with leading lines", "```\n\n\nx\n```", "{pre:⏎⏎x}"},
    {"indented code", "    code\n\ntext", "{pre:code}⏎⏎text"},
    {"a rule", "a\n\n---\n\nb", "a⏎⏎{hr:———}⏎⏎b"},
    {"a table", "| a | b |\n|---|---|\n| 1 | 2 |",
     "{table:{row1:{cell:a} | {cell:b}}⏎--+--⏎{row:{cell:1} | {cell:2}}}"},
    {"a table with alignment", "|a|b|c|\n|:--|:-:|--:|\n|xxxx|yyyy|zzzz|\n|1|2|3|",
     "{table:{row1:{cell:a}    |  {cell:b}   |    {cell:c}}⏎-----+------+-----⏎{row:{cell:xxxx} | "
     "{cell:yyyy} | {cell:zzzz}}⏎{row:{cell:1}    |  {cell:2}   |    {cell:3}}}"},
    {"a table with a short row", "|a|b|\n|---|---|\n|1|",
     "{table:{row1:{cell:a} | {cell:b}}⏎--+--⏎{row:{cell:1} | {cell: }}}"},
    {"a table with styles and links",
     "|a|b|\n|---|---|\n|**x**|[l](https://a.b)|\n|`c`|<https://a.b>|",
     "{table:{row1:{cell:a} | {cell:b}}⏎--+----------------⏎{row:{cell:x} | {cell:l "
     "(https://a.b)}}⏎{row:{cell:c} | {cell:https://a.b}}}"},
    {"a table with wide characters", "|a|b|\n|---|---|\n|日本|x|\n|y|é|",
     "{table:{row1:{cell:a}    | {cell:b}}⏎-----+--⏎{row:{cell:日本} | {cell:x}}⏎{row:{cell:y}    "
     "| {cell:é}}}"},
    {"two dashes are no table", "|a|b|\n|-|-|\n|1|2|", "|a|b|⏎|-|-|⏎|1|2|"},
    {"a table without its delimiter is text", "|a|b|", "|a|b|"},
    {"a pipe in a cell", "|a|\n|---|\n|x \\| y|",
     "{table:{row1:{cell:a}}⏎-----⏎{row:{cell:x | y}}}"},
    {"HTML is text", "<b>x</b> <!-- c --> <br>", "<b>x</b> <!-- c --> <br>"},
    {"an HTML block is text", "<div>\nx\n</div>", "<div>⏎x⏎</div>"},
    {"character references", "&lt;b&gt; &copy; &#8364; &nope;", "<b> © € &nope;"},
    {"escapes", "\\*x\\* \\# \\[a\\]", "*x* # [a]"},
    {"emphasis over half an address is ended", "*see http://a.b/c*d e",
     "{i:see {a=http://a.b/c*d:http://a.b/c*d} e}"},
    {"control characters", "a\x1b[31mb\a\r\nc", "ab⏎c"},
};

static void test_constructs(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arena a = {0};
        CLEANUP_BUF struct buf shown = {0};
        const struct doc d =
            markdown_parse(&a, (struct str){cases[i].source, strlen(cases[i].source)});
        text_show_doc(&shown, &d);
        is_str(shown.p ? shown.p : "", cases[i].wanted, "%s", cases[i].what);
        arena_fini(&a);
    }
}

static void repeat(struct buf *b, const char *s, size_t n)
{
    for (; n > 0; n--)
        buf_add_str(b, s);
}

/* A header and rows of short cells; `full` rows have all of them. */
static void make_table(struct buf *b, size_t columns, size_t rows, bool full)
{
    repeat(b, "|a", columns);
    buf_add_str(b, "|\n");
    repeat(b, "|---", columns);
    buf_add_str(b, "|\n");
    for (; rows > 0; rows--) {
        repeat(b, "|x", full ? columns : 1);
        buf_add_str(b, "|\n");
    }
}

/* The document of a hostile source is bounded; `unformatted` says that the parser was stopped. */
static void check_hostile(const char *what, const struct buf *source, bool unformatted)
{
    struct arena a = {0};
    const struct doc d = markdown_parse(&a, (struct str){source->p, source->len});
    is_int(d.unformatted, unformatted, "%s: %s", what, unformatted ? "stopped" : "read");
    ok(d.text.len <= (1u << 20) + MARKDOWN_BYTES_MAX, "%s: bounded text", what);
    ok(d.count <= MARKDOWN_EVENTS_MAX, "%s: bounded spans", what);
    arena_fini(&a);
}

static void check_repeated(const char *piece, size_t n, bool unformatted)
{
    CLEANUP_BUF struct buf source = {0};
    repeat(&source, piece, n);
    check_hostile(piece, &source, unformatted);
}

static void test_hostile(void)
{
    CLEANUP_BUF struct buf wide = {0}, large = {0}, quotes = {0}, references = {0};
    make_table(&wide, 10000, 10000, false);
    check_hostile("a table of 10,000 columns and short rows", &wide, true);
    make_table(&large, 500, 100, true);
    check_hostile("a table of 500 columns and 100 rows", &large, false);
    repeat(&quotes, ">", 5000);
    buf_add_str(&quotes, " deep\n");
    check_hostile("5,000 quotes", &quotes, false);
    buf_add_str(&references, "[a]: http://x/");
    repeat(&references, "y", 1500);
    buf_add_str(&references, "\n\n");
    repeat(&references, "[a] ", 20000);
    check_hostile("an address of 1,500 bytes, 20,000 times", &references, true);
    check_repeated("![[]()", 30000, false);
    check_repeated("[", 50000, false);
    check_repeated("*a_", 50000, false);
    check_repeated("** a", 87500, false);
    check_repeated("- ", 5000, false);
    check_repeated("`a``", 50000, false);
    check_repeated("<a@b.c>", 70000, true);
    check_repeated("a\n\n", 100000, true);
    check_repeated("x", MARKDOWN_BYTES_MAX, false);
    check_repeated("x", MARKDOWN_BYTES_MAX + 1, true);
}

static void test_unformatted(void)
{
    CLEANUP_BUF struct buf source = {0};
    struct arena a = {0};
    buf_add_str(&source, "**b** \x1b[1m[l](http://a.b)\n\n");
    make_table(&source, 10000, 10000, false);
    const struct doc d = markdown_parse(&a, (struct str){source.p, source.len});
    static const char wanted[] = "**b** [l](http://a.b)\n\n|a|a";
    ok(d.count == 0 && memcmp(d.text.p, wanted, strlen(wanted)) == 0,
       "stopped: the text is the cleaned source");
    is_int((long long)d.text.len, (long long)source.len - 4, "stopped: the whole source is kept");

    const struct doc v = markdown_make_plain(&a, STR("**b**"));
    is_str(v.text.p, "**b**", "verbatim: no Markdown");
    CLEANUP_BUF struct buf shown = {0};
    const struct doc folded = markdown_parse_folded(&a, STR("a\n\n**b**"));
    text_show_doc(&shown, &folded);
    is_str(shown.p, "{fold:a⏎⏎{b:b}}", "folded: in one span");
    const struct doc empty = markdown_parse(&a, (struct str){NULL, 0});
    ok(empty.text.len == 0 && empty.count == 0 && empty.text.p, "an empty source is an empty text");
    arena_fini(&a);
}

static void check_settled(const char *source, size_t wanted)
{
    is_int((long long)markdown_stable_length((struct str){source, strlen(source)}),
           (long long)wanted, "settled: %zu bytes", wanted);
}

static void test_settled(void)
{
    check_settled("", 0);
    check_settled("half a line", 0);
    check_settled("a line\nand half", 0);
    check_settled("one\n\ntwo", 5);
    check_settled("one\n\n", 0);
    check_settled("one\n \t\ntwo\n\nth", 12);
    check_settled("one\n\n```\nx\n\ny\n", 5);
    check_settled("one\n\n```\nx\n\ny\n```\n\nz", 19);
    check_settled("~~~~\n~~~\n\nx\n~~~~\n\ny", 18);
    check_settled("``` a`b\n\nx", 9);
    check_settled("- a\n\n  b\n\nc", 10);
}

/* The settled beginning of a growing text does not change. */
static void test_growing(void)
{
    static const char text[] = "# T\n\nSome **bold\ntext** and `co` [l](http://a.b)\n\n"
                               "```c\nint x;\n\nint y;\n```\n\n|a|b|\n|---|---|\n|1|2|\n\nend";
    struct arena a = {0};
    const struct doc whole = markdown_parse(&a, STR(text));
    bool prefix = true, grows = true;
    size_t before = 0;
    for (size_t n = 0; n < sizeof text; n++) {
        const size_t settled = markdown_stable_length((struct str){text, n});
        const struct doc part = markdown_parse(&a, (struct str){text, settled});
        prefix = prefix && part.text.len <= whole.text.len &&
                 memcmp(part.text.p, whole.text.p, part.text.len) == 0;
        grows = grows && settled >= before && settled <= n;
        before = settled;
    }
    ok(prefix, "the settled beginning is parsed as in the whole text");
    ok(grows && before == sizeof text - 4, "the settled beginning grows to the last block");
    arena_fini(&a);
}

int main(void)
{
    plan_lazy();
    test_constructs();
    test_hostile();
    test_unformatted();
    test_settled();
    test_growing();
    return 0;
}
