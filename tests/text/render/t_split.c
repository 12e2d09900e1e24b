/* SPDX-License-Identifier: MIT
 * Tests of text/render/split.h: the places where texts are cut (R11). */
#include "text/render/split.h"

#include "tap/tap.h"
#include "text/markdown/markdown.h"
#include "text/text_check.h"

#define UNITS 128 /* budget in these tests */

/* Renders all pieces, with "¦" between them. */
static void join_pieces(struct buf *out, const struct doc *d, const struct render_target *target)
{
    struct arena a = {0};
    struct render_output r = {0};
    const struct split s = split_doc(&a, d, target);
    for (size_t i = 0; i < s.count; i++) {
        render_doc(&r, d, s.pieces[i], target);
        buf_add_str(out, i ? "¦" : "");
        buf_add(out, r.text.p, r.text.len);
    }
    rendered_fini(&r);
    arena_fini(&a);
}

static void check(const char *what, const struct buf *source, const struct buf *wanted,
                  enum render_form form)
{
    const struct render_target target = {.form = form,
                                         .budget = {.units = UNITS, .bytes = 512, .entities = 20}};
    struct arena a = {0};
    CLEANUP_BUF struct buf got = {0};
    const struct doc d = markdown_parse(&a, (struct str){source->p, source->len});
    join_pieces(&got, &d, &target);
    is_str(got.p ? got.p : "", wanted->p, "%s", what);
    const char *why = text_check_split(&d, &target);
    ok(!why, "%s: %s", what, why ? why : "all guarantees hold");
    arena_fini(&a);
}

/* "%90a" in a template means 90 times "a". */
static void expand(struct buf *out, const char *template)
{
    for (const char *p = template; *p; p++) {
        size_t n = 0;
        if (*p != '%') {
            buf_add_char(out, *p);
            continue;
        }
        for (p++; *p >= '0' && *p <= '9'; p++)
            n = 10 * n + (size_t)(*p - '0');
        for (; n > 0; n--)
            buf_add_char(out, *p);
    }
}

static const struct {
    const char *what;
    enum render_form form;
    const char *source, *wanted;
} cases[] = {
    {"a text that fits is not split", RENDER_TELEGRAM, "%60a\n\n%60b", "%60a\n\n%60b"},
    {"exactly the budget", RENDER_TELEGRAM, "%128a", "%128a"},
    {"a block before a line", RENDER_TELEGRAM, "%50a\n\n%50b\n%50c", "%50a¦%50b\n%50c"},
    {"a line before a sentence", RENDER_TELEGRAM, "%50a. b\n%50c. d %50e", "%50a. b¦%50c. d %50e"},
    {"a line late in the message", RENDER_TELEGRAM, "%60a\n%40b. c %50d", "%60a¦%40b. c %50d"},
    {"a sentence before a blank", RENDER_TELEGRAM, "%60a. b c %80d", "%60a.¦b c %80d"},
    {"a sentence that ends in a quote", RENDER_TELEGRAM, "%60a.\" b c %80d", "%60a.\"¦b c %80d"},
    {"a blank", RENDER_TELEGRAM, "%60a %60b %60c", "%60a %60b¦%60c"},
    {"an early blank before a cut in a word", RENDER_TELEGRAM, "a %200b", "a¦%128b¦%72b"},
    {"a text without blanks is cut anywhere", RENDER_TELEGRAM, "%300a", "%128a¦%128a¦%44a"},
    {"an early block leaves no message nearly empty", RENDER_TELEGRAM, "Hi.\n\n%60a\n%60b\n%60c",
     "Hi.\n\n%60a\n%60b¦%60c"},
    {"a mark stays with its sentence", RENDER_TELEGRAM, "%100a。\xcc\x81%100b",
     "%100a。\xcc\x81%26b¦%74b"},
    {"a link that begins with a mark", RENDER_TELEGRAM, "%100a[\xcc\x81%60b](https://a.b)",
     "%100a\xcc\x81%27b¦%33b"},
    {"a sentence without blanks", RENDER_TELEGRAM, "%100a。%100b", "%100a。¦%100b"},
    {"an address is not cut", RENDER_TELEGRAM, "%80a https://a.b/%80c d",
     "%80a¦https://a.b/%80c d"},
    {"an address without a blank before it is not cut", RENDER_TELEGRAM, "%80a(https://a.b/%80c)",
     "%80a(¦https://a.b/%80c)"},
    {"a label is not cut", RENDER_TELEGRAM, "%100a [one two %20c three](https://a.b)",
     "%100a¦one two %20c three"},
    {"inline code is not cut", RENDER_TELEGRAM, "%100a `one two %20c three`",
     "%100a¦one two %20c three"},
    {"a marker stays with its item", RENDER_TELEGRAM, "- %100a\n- %100b", "• %100a¦• %100b"},
    {"a marker before a long word", RENDER_TELEGRAM, "- %200a", "• %126a¦%74a"},
    {"a heading is in the piece of its text", RENDER_TELEGRAM, "%60a\n\n# %20h\n\n%60b",
     "%60a¦%20h\n\n%60b"},
    {"code is cut at lines", RENDER_TELEGRAM, "```c\n%60a b\n  %50c d\n    %50e f\n```",
     "%60a b\n  %50c d¦    %50e f"},
    {"blank lines in code", RENDER_TELEGRAM, "```\n%90a\n\n\n%90b\n```", "%90a¦\n\n%90b"},
    {"R11: a line of code that is longer than a message is split", RENDER_TELEGRAM,
     "```\nx %200a\n```", "x %126a¦%74a"},
    {"R11: a code fence is closed and opened again, with its language", RENDER_MARKDOWN,
     "```py\n%60a\n%40b\n%60c\n```", "```py\n%60a\n%40b\n```¦```py\n%60c\n```"},
    {"fences around backticks", RENDER_MARKDOWN, "````\n%60a\n```\n%60b\n````",
     "````\n%60a\n```\n````¦```\n%60b\n```"},
    {"fences in mrkdwn", RENDER_MRKDWN, "```py\n%60a\n%60b\n```", "```\n%60a\n```¦```\n%60b\n```"},
    {"a quote continues in the next piece", RENDER_MRKDWN, "> %100a\n> %100b", "> %100a¦> %100b"},
    {"bold continues in the next piece", RENDER_MRKDWN, "**%100a %100b**", "*%100a*¦*%100b*"},
    {"an escaped character is not cut", RENDER_MRKDWN, "%126a&&%10b", "%126a¦&amp;&amp;%10b"},
    {"a table that fits", RENDER_MARKDOWN, "%90a\n\n|a|b|\n|---|---|\n|1|%30b|",
     "%90a¦| a | b |\n| --- | --- |\n| 1 | %30b |"},
    {"a table is cut at rows", RENDER_TELEGRAM,
     "|a|b|\n|---|---|\n|1|%30b|\n|2|%30c|\n|3|%30d|\n|4|%30e|",
     "a | b\n--+-%30-\n1 | %30b\n2 | %30c¦3 | %30d\n4 | %30e"},
};

static void test_places(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEANUP_BUF struct buf source = {0}, wanted = {0};
        expand(&source, cases[i].source);
        expand(&wanted, cases[i].wanted);
        check(cases[i].what, &source, &wanted, cases[i].form);
    }
}

static size_t count_pieces(const char *unit, size_t n, const struct render_target *target)
{
    struct arena a = {0};
    CLEANUP_BUF struct buf source = {0};
    for (size_t i = 0; i < n; i++)
        buf_add_str(&source, unit);
    const struct doc d = markdown_parse(&a, (struct str){source.p, source.len});
    const char *why = text_check_split(&d, target);
    ok(!why, "%zu of \"%s\": %s", n, unit, why ? why : "all guarantees hold");
    const size_t count = split_doc(&a, &d, target).count;
    arena_fini(&a);
    return count;
}

static void test_graphemes(void)
{
    static const struct render_target units = {.form = RENDER_TELEGRAM, .budget = {.units = 130}};
    static const struct render_target bytes = {.form = RENDER_PLAIN, .budget = {.bytes = 130}};
    /* A family of three: 8 units, 18 bytes. */
    is_int((long long)count_pieces("👨‍👩‍👧", 20, &units), 2,
           "16 families fit 130 units");
    is_int((long long)count_pieces("👨‍👩‍👧", 20, &bytes), 3,
           "7 families fit 130 bytes");
    is_int((long long)count_pieces("🇩🇪", 40, &units), 2, "32 flags fit 130 units");
    is_int((long long)count_pieces("e\xcc\x81", 80, &bytes), 2,
           "43 letters with accents fit 130 bytes");
    is_int((long long)count_pieces("\xcc\x81", 200, &bytes), 4,
           "a long run of combining marks is cut between marks");
}

static void test_entities(void)
{
    static const struct render_target few = {.form = RENDER_TELEGRAM,
                                             .budget = {.units = 4000, .entities = 10}};
    is_int((long long)count_pieces("**b** ", 35, &few), 4, "each piece has at most ten entities");
}

static void test_small_budgets(void)
{
    static const struct render_target none = {.form = RENDER_TELEGRAM,
                                              .budget = {.units = 1, .bytes = 1, .entities = 1}};
    struct arena a = {0};
    const struct doc d = markdown_parse(&a, STR("some **text**"));
    is_int((long long)split_doc(&a, &d, &none).count, 1, "an unusably small budget is raised");
    const struct doc empty = markdown_parse(&a, STR(""));
    is_int((long long)split_doc(&a, &empty, &none).count, 0, "an empty text has no pieces");
    const struct doc blank = markdown_parse(&a, STR("```\n \n```"));
    is_int((long long)split_doc(&a, &blank, &none).count, 0, "a blank text has no pieces");
    static const struct render_target unlimited = {.form = RENDER_MARKDOWN};
    is_int((long long)count_pieces("word\n\n", 5000, &unlimited), 1,
           "a budget without limits gives one piece");
    arena_fini(&a);
}

int main(void)
{
    plan_lazy();
    test_places();
    test_graphemes();
    test_entities();
    test_small_budgets();
    return 0;
}
