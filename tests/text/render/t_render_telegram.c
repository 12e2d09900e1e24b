/* SPDX-License-Identifier: MIT
 * Tests of text and entities for Telegram, and of plain text. */
#include "tap/tap.h"
#include "text/markdown/markdown.h"
#include "text/text_show.h"

/* The wanted texts are in the notation of text_show_rendered. */
static const struct {
    const char *what, *source, *wanted;
} cases[] = {
    {"plain text", "Hello", "Hello"},
    {"styles", "**b** *i* ~~s~~ `c`", "b i s c bold@0+1 italic@2+1 strikethrough@4+1 code@6+1"},
    {"units are UTF-16", "😀 **é😀**", "😀 é😀 bold@3+3"},
    {"a heading is bold", "# T *i*", "T i bold@0+3 italic@2+1"},
    {"no style contains code", "**a `b` c**", "a b c bold@0+2 code@2+1 bold@3+2"},
    {"code in a heading", "# a `b`", "a b bold@0+2 code@2+1"},
    {"code alone in bold", "**`x`**", "x code@0+1"},
    {"code in a link is only a link", "[`f()`](https://a.b)", "f() text_link@0+3=https://a.b"},
    {"bold in a link", "[**x** y](https://a.b)", "x y text_link@0+3=https://a.b bold@0+1"},
    {"a link in bold", "**x [y](https://a.b)**", "x y bold@0+3 text_link@2+1=https://a.b"},
    {"an address that the server refuses", "[x](http://localhost:3000)",
     "x (http://localhost:3000)"},
    {"a relative address", "[x](doc/a.md)", "x (doc/a.md)"},
    {"mailto is refused", "[x](mailto:a@b.c)", "x (mailto:a@b.c)"},
    {"a mail address is text", "<a@b.c>", "a@b.c"},
    {"a user is not mentioned", "[x](tg://user?id=1)", "x (tg://user?id=1)"},
    {"tg", "[x](tg://resolve?domain=y)", "x text_link@0+1=tg://resolve?domain=y"},
    {"an image", "![alt](https://a.b/i.png)", "alt text_link@0+3=https://a.b/i.png"},
    {"a fence", "```py\nx = 1\n```", "x = 1 pre@0+5=py"},
    {"a fence without language", "```\nx\n```", "x pre@0+1"},
    {"a list", "- a\n- **b**", "• a⏎• b bold@6+1"},
    {"a table", "|a|b|\n|---|---|\n|1|2|", "a | b⏎--+--⏎1 | 2 pre@0+17"},
    {"a quote", "> a **b**", "a b blockquote@0+3 bold@2+1"},
    {"quotes do not nest", "> a\n> > b", "a⏎⏎b blockquote@0+4"},
    {"code in a quote", "> `x`\n>\n> ```\n> y\n> ```", "x⏎⏎y blockquote@0+4 code@0+1 pre@3+1"},
    {"a rule", "a\n\n---\n\nb", "a⏎⏎———⏎⏎b"},
    {"commands and markup of parse modes", "/start _*~`>#+-=|{}.! <b>&amp;</b>",
     "/start _*~`>#+-=|{}.! <b>&</b>"},
};

static void check(const char *what, const struct doc *d, struct doc_range r,
                  const struct render_target *target, const char *wanted)
{
    struct render_output out = {0};
    CLEANUP_BUF struct buf shown = {0};
    render_doc(&out, d, r, target);
    text_show_rendered(&shown, &out);
    is_str(shown.p, wanted, "%s", what);
    rendered_fini(&out);
}

static void test_constructs(void)
{
    static const struct render_target telegram = {.form = RENDER_TELEGRAM};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct arena a = {0};
        const struct doc d =
            markdown_parse(&a, (struct str){cases[i].source, strlen(cases[i].source)});
        check(cases[i].what, &d, (struct doc_range){0, d.text.len}, &telegram, cases[i].wanted);
        arena_fini(&a);
    }
}

/* Spans that extend beyond a piece end at its end. */
static void test_ranges(void)
{
    static const struct render_target telegram = {.form = RENDER_TELEGRAM};
    struct arena a = {0};
    const struct doc d = markdown_parse(&a, STR("**one [two](https://a.b) three**"));
    check("the first half", &d, (struct doc_range){0, 6}, &telegram,
          "one tw bold@0+6 text_link@4+2=https://a.b");
    check("the second half", &d, (struct doc_range){6, 13}, &telegram,
          "o three bold@0+7 text_link@0+1=https://a.b");
    check("between", &d, (struct doc_range){5, 6}, &telegram,
          "w text_link@0+1=https://a.b bold@0+1");
    const struct doc code = markdown_parse(&a, STR("```c\nab\ncd\n```"));
    check("a continued fence has its language", &code, (struct doc_range){3, 5}, &telegram,
          "cd pre@0+2=c");
    const struct doc refused = markdown_parse(&a, STR("[label](http://h)"));
    check("a refused address is not in the first part", &refused, (struct doc_range){0, 3},
          &telegram, "lab");
    check("a refused address is at the end of the label", &refused, (struct doc_range){3, 5},
          &telegram, "el (http://h)");
    arena_fini(&a);
}

static void test_folded(void)
{
    static const struct render_target telegram = {.form = RENDER_TELEGRAM};
    struct arena a = {0};
    const struct doc d = markdown_parse_folded(&a, STR("a **b**\n\n> c"));
    check("folded text contains no nested quote", &d, (struct doc_range){0, d.text.len}, &telegram,
          "a b⏎⏎c expandable_blockquote@0+6 bold@2+1");
    const struct render_target quotes = {.form = RENDER_TELEGRAM, .fold_quotes = true};
    const struct doc beside = markdown_parse(&a, STR("a\n\n> **c**"));
    check("only quotes are folded", &beside, (struct doc_range){0, beside.text.len}, &quotes,
          "a⏎⏎c expandable_blockquote@3+1 bold@3+1");
    arena_fini(&a);
}

static void test_plain(void)
{
    static const struct render_target plain = {.form = RENDER_PLAIN};
    struct arena a = {0};
    const struct doc d = markdown_parse(
        &a, STR("# T\n**b** `c` [l](https://a.b) https://c.d [e.f](http://e.f)\n- x"));
    check("plain", &d, (struct doc_range){0, d.text.len}, &plain,
          "T⏎⏎b c l (https://a.b) https://c.d e.f⏎⏎• x");
    arena_fini(&a);
}

static void test_long_address(void)
{
    static const struct render_target small = {.form = RENDER_TELEGRAM, .budget = {.units = 64}};
    struct arena a = {0};
    const struct doc d = markdown_parse(&a, STR("[x](https://a.b/cccccccccccccccc)"));
    check("an address longer than a quarter of the message is left out", &d,
          (struct doc_range){0, 1}, &small, "x");
    arena_fini(&a);
}

static void test_budget(void)
{
    char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80";
    static const long long lengths[] = {
        [RENDER_UTF16] = 5, [RENDER_CODEPOINTS] = 4, [RENDER_BYTES] = 10};
    for (enum render_unit unit = RENDER_UTF16; unit <= RENDER_BYTES; unit++) {
        const size_t length = (size_t)lengths[unit];
        is_int((long long)render_count_units(text, strlen(text), unit), lengths[unit], "unit %d",
               (int)unit);
        const struct render_output r = {.text = {text, strlen(text), 0}};
        ok(render_fits_budget(&r, &(struct render_budget){.units = length, .unit = unit}),
           "a text at the limit fits");
        ok(!render_fits_budget(&r, &(struct render_budget){.units = length - 1, .unit = unit}),
           "a text above the limit does not fit");
    }
    struct render_output r = {.text = {text, strlen(text), 0}, .count = 3};
    ok(render_fits_budget(&r, &(struct render_budget){.units = 5, .bytes = 10, .entities = 3}),
       "a text at all limits fits");
    ok(!render_fits_budget(&r, &(struct render_budget){.units = 4, .bytes = 10, .entities = 3}),
       "one unit above the limit");
    ok(!render_fits_budget(&r, &(struct render_budget){.units = 5, .bytes = 9, .entities = 3}),
       "one byte above the limit");
    ok(!render_fits_budget(&r, &(struct render_budget){.units = 5, .bytes = 10, .entities = 2}),
       "one entity above the limit");
    ok(render_fits_budget(&r, &(struct render_budget){0}), "a budget without limits");
}

int main(void)
{
    plan_lazy();
    test_constructs();
    test_ranges();
    test_folded();
    test_plain();
    test_long_address();
    test_budget();
    return 0;
}
