/* SPDX-License-Identifier: MIT
 * Tests of text/render/render_html.c: permitted elements of Matrix, and complete pieces. */
#include "tap/tap.h"
#include "text/html_check.h"
#include "text/markdown/markdown.h"
#include "text/render/split.h"
#include "text/text_check.h"
#include "text/text_show.h"

#define J "\xe2\x80\x8b" /* the joint */

static const struct {
    const char *what, *source, *wanted;
    bool plain; /* without tables and headings */
} cases[] = {
    {"paragraphs and lines", "a\nb\n\nc", "<p>a<br/>b</p><p>c</p>", false},
    {"styles", "**b *bi* b** ~~s~~ `c`",
     "<p><strong>b <em>bi</em> b</strong> <del>s</del> <code>c</code></p>", false},
    {"bold over two lines", "a **b\nc** d", "<p>a <strong>b<br/>c</strong> d</p>", false},
    {"escapes", "a < b & c > d &amp;copy; \"q\"", "<p>a &lt; b &amp; c &gt; d &amp;copy; \"q\"</p>",
     false},
    {"HTML is text", "<b>b</b> <script>x</script> &lt;i&gt; <!-- c -->",
     "<p>&lt;b&gt;b&lt;/b&gt; &lt;script&gt;x&lt;/script&gt; &lt;i&gt; &lt;!-- c --&gt;</p>",
     false},
    {"R14: mentions of the room", "@room @[room](x)", "<p>@" J "room @" J "room (x)</p>", false},
    {"R14: an address that mentions", "[me](https://matrix.to/#/@a:b.c)",
     "<p>me (https://matrix.to/#/@a:b.c)</p>", false},
    {"a link", "[**x**](https://a.b/?p=1&q=2)",
     "<p><a href=\"https://a.b/?p=1&amp;q=2\"><strong>x</strong></a></p>", false},
    {"a quote in an address does not end the attribute", "[x](<https://a.b/\"onclick=y>)",
     "<p><a href=\"https://a.b/%22onclick=y\">x</a></p>", false},
    {"other schemes", "[x](javascript:alert(1)) [y](data:a) [z](mailto:a@b.c)",
     "<p>x (javascript:alert(1)) y (data:a) <a href=\"mailto:a@b.c\">z</a></p>", false},
    {"an image is a link", "![alt](https://a.b/i.png)",
     "<p><a href=\"https://a.b/i.png\">alt</a></p>", false},
    {"a heading", "# T *i*\n\n###### S\n\nt", "<h1>T <em>i</em></h1><h6>S</h6><p>t</p>", false},
    {"no headings", "# T **b** *i*\n\nt", "<p><strong>T b <em>i</em></strong></p><p>t</p>", true},
    {"a fence", "```py\nx = a < b\n\ny\n```",
     "<pre><code class=\"language-py\">x = a &lt; b⏎⏎y</code></pre>", false},
    {"a fence without a language", "```\nx\n```", "<pre><code>x</code></pre>", false},
    {"an invalid language is left out", "```a\"b<\nx\n```", "<pre><code>x</code></pre>", false},
    {"lists", "- a\n- b\n  1. c\n  2. d\n- e",
     "<ul><li>a</li><li>b<ol><li>c</li><li>d</li></ol></li><li>e</li></ul>", false},
    {"blocks in an item", "3. a\n\n   b\n\n   ```\n   c\n   ```\n4. d\n\n1) x",
     "<ol start=\"3\"><li>a<p>b</p><pre><code>c</code></pre></li><li>d</li></ol>"
     "<ol><li>x</li></ol>",
     false},
    {"tasks", "- [ ] a\n- [x] b", "<ul><li>☐ a</li><li>☑ b</li></ul>", false},
    {"quotes", "> a\n>\n> > b\n\nc",
     "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote><p>c</p>", false},
    {"a quote in a list", "- a\n  > b\n- > c",
     "<ul><li>a<blockquote><p>b</p></blockquote></li>"
     "<li><blockquote><p>c</p></blockquote></li></ul>",
     false},
    {"a table", "|a|b|\n|---|---|\n|1|**2** & 3|",
     "<table><thead><tr><th>a</th><th>b</th></tr></thead>"
     "<tbody><tr><td>1</td><td>2 &amp; 3</td></tr></tbody></table>",
     false},
    {"no tables", "|a|b|\n|---|---|\n|1|2|", "<pre><code>a | b⏎--+--⏎1 | 2</code></pre>", true},
    {"a rule", "a\n\n---\n\nb", "<p>a</p><hr/><p>b</p>", false},
};

static void check(const char *what, const struct doc *d, struct doc_range r, bool plain,
                  const char *wanted)
{
    const struct render_target target = {
        .form = RENDER_HTML, .no_tables = plain, .no_headings = plain};
    struct render_output out = {0};
    CLEANUP_BUF struct buf shown = {0};
    render_doc(&out, d, r, &target);
    text_show_rendered(&shown, &out);
    is_str(shown.p, wanted, "%s", what);
    const char *const wrong = html_check(out.text.p);
    ok(!wrong, "%s: %s", what, wrong ? wrong : "permitted");
    rendered_fini(&out);
}

static void test_constructs(void)
{
    struct arena a = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct doc d =
            markdown_parse(&a, (struct str){cases[i].source, strlen(cases[i].source)});
        check(cases[i].what, &d, (struct doc_range){0, d.text.len}, cases[i].plain,
              cases[i].wanted);
    }
    const struct doc folded = markdown_parse_folded(&a, STR("a\n\nb"));
    check("folded", &folded, (struct doc_range){0, folded.text.len}, false,
          "<blockquote><p>a</p><p>b</p></blockquote>");
    const struct doc plain = markdown_make_plain(&a, STR("  a  b\n\n1. <x>"));
    check("verbatim", &plain, (struct doc_range){0, plain.text.len}, false,
          "<p>\xc2\xa0\xc2\xa0"
          "a \xc2\xa0"
          "b</p><p>1. &lt;x&gt;</p>");
    arena_fini(&a);
}

/* Elements that extend beyond a piece end at its end, and begin again in the next piece. */
static void test_ranges(void)
{
    struct arena a = {0};
    const struct doc bold = markdown_parse(&a, STR("**one [two](https://a.b) three**"));
    check("the first half", &bold, (struct doc_range){0, 6}, false,
          "<p><strong>one <a href=\"https://a.b\">tw</a></strong></p>");
    check("the second half", &bold, (struct doc_range){6, 13}, false,
          "<p><strong><a href=\"https://a.b\">o</a> three</strong></p>");
    const struct doc code = markdown_parse(&a, STR("```c\nab\ncd\n```"));
    check("a continued fence has its language", &code, (struct doc_range){3, 5}, false,
          "<pre><code class=\"language-c\">cd</code></pre>");
    const struct doc table = markdown_parse(&a, STR("|a|b|\n|---|---|\n|1|2|\n|3|4|"));
    check("rows of a table", &table, (struct doc_range){18, table.text.len}, false,
          "<table><tbody><tr><td>3</td><td>4</td></tr></tbody></table>");
    const struct doc list = markdown_parse(&a, STR("1. one\n\n   two\n   - three\n2. four"));
    check("a continued item has no number", &list, (struct doc_range){8, list.text.len}, false,
          "<p>two</p><ul><li>three</li></ul><ol start=\"2\"><li>four</li></ol>");
    arena_fini(&a);
}

/* The rendered text of a settled beginning does not change, except the end tags of blocks that may
 * continue. */
static void test_settled(enum render_form form)
{
    static const char source[] = "# T\n\na **b**\nc\n\n- x\n- y\n\n  z\n\n```c\nd\n\ne\n```\n\n"
                                 "> q\n\n|a|b|\n|---|---|\n|1|2|\n\n1. n\n\n2. m\n\nend\n\n";
    const struct render_target target = {.form = form};
    struct arena a = {0};
    struct render_output whole = {0}, part = {0};
    bool same = true;
    const struct doc d = markdown_parse(&a, STR(source));
    render_doc(&whole, &d, (struct doc_range){0, d.text.len}, &target);
    for (size_t n = 0; n <= sizeof source - 1; n++) {
        const struct str settled = {source, markdown_stable_length((struct str){source, n})};
        const struct doc begun = markdown_parse(&a, settled);
        render_doc(&part, &begun, (struct doc_range){0, begun.text.len}, &target);
        size_t len = part.text.len;
        for (const char *end; form == RENDER_HTML && len > 0 && part.text.p[len - 1] == '>' &&
                              (end = memrchr(part.text.p, '<', len)) && end[1] == '/';)
            len = (size_t)(end - part.text.p);
        same = same && (len == 0 || memcmp(part.text.p, whole.text.p, len) == 0);
    }
    ok(same, "form %d: the settled beginning is unchanged", (int)form);
    rendered_fini(&whole);
    rendered_fini(&part);
    arena_fini(&a);
}

/* Deeply nested blocks leave room for text. */
static void test_deep(void)
{
    static const struct render_target small = {.form = RENDER_HTML, .budget = {.units = 128}};
    struct arena a = {0};
    CLEANUP_BUF struct buf source = {0};
    for (unsigned i = 0; i < 60; i++)
        buf_add_str(&source, i % 2 ? "> " : "1. ");
    buf_add_str(&source, "**deep ~~[text](https://a.b/cccccccccc)~~**");
    const struct doc d = markdown_parse(&a, (struct str){source.p, source.len});
    const char *const wrong = text_check_split(&d, &small);
    ok(!wrong, "60 nested blocks: %s", wrong ? wrong : "within the limit");
    ok(split_doc(&a, &d, &small).count < 12,
       "60 nested blocks are not split into single characters");
    arena_fini(&a);
}

static void test_checker(void)
{
    static const char *const wrong[] = {
        "<p>a",
        "a</p>",
        "<p><b>a</p></b>",
        "<script>x</script>",
        "<p onclick=\"x\">a</p>",
        "<a href=\"javascript:x\">a</a>",
        "<a href='https://a.b'>a</a>",
        "<p>a & b</p>",
        "<p>a > b</p>",
        "<p>&quot;</p>",
        "<li>a</li>",
        "<ul>a</ul>",
        "<p><p>a</p></p>",
        "<table><tr><td>a</td></tr></table>",
        "<ol start=\"1\" type=\"a\"><li>a</li></ol>",
        "<img src=\"https://a.b\"/>",
        "<details>a</details>",
        "<br>",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        ok(html_check(wrong[i]), "detected: %s", wrong[i]);
}

int main(void)
{
    plan_lazy();
    test_constructs();
    test_ranges();
    test_settled(RENDER_HTML);
    test_settled(RENDER_COMMONMARK);
    test_deep();
    test_checker();
    return 0;
}
