/* SPDX-License-Identifier: MIT
 * Tests of chat/show/chat_text.h: nothing in a text of an agent becomes formatting, and a person
 * reads the same text in every form. */
#include "chat/show/chat_text.h"

#include <string.h>

#include "tap/tap.h"

static const char *plain_of(struct arena *arena, const char *markdown)
{
    const struct tc_chat table = {.text = {{.form = TC_PLAIN}}};
    size_t count;
    const struct text_piece *const p =
        chat_text_render(arena, &table, TC_ROLE_LIVE, markdown, strlen(markdown),
                         &(struct chat_text_options){.first_only = true}, &count);
    return p ? p->text : "";
}

static void test_escape(struct arena *arena)
{
    static const char *const texts[] = {
        "a *b* _c_ `d` [e](http://f) <g> # h",
        "1. not a list",
        "- not a list",
        "> not a quote",
        "a & b &amp; c",
        "\\*",
        "~~x~~ | y",
        "https://example.org",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CLEANUP_BUF struct buf b = {0};
        chat_text_escape(&b, texts[i]);
        is_str(plain_of(arena, b.p), texts[i], "the text is shown unchanged: %s", texts[i]);
    }
}

static void test_code(struct arena *arena)
{
    static const char *const texts[] = {"ls -l", "a `b` c", "``", "**no**", "`"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CLEANUP_BUF struct buf inline_code = {0}, block = {0};
        chat_text_add_code(&inline_code, texts[i], 100);
        is_str(plain_of(arena, inline_code.p), texts[i], "inline code: %s", texts[i]);
        chat_text_add_block(&block, texts[i], strlen(texts[i]));
        is_str(plain_of(arena, block.p), texts[i], "a code block: %s", texts[i]);
    }
    CLEANUP_BUF struct buf cut = {0}, hostile = {0};
    chat_text_add_code(&cut, "ääää", 5);
    is_str(plain_of(arena, cut.p), "ää…", "a text is cut between characters");
    chat_text_add_block(&hostile, "x\n```\n**Allowed**", strlen("x\n```\n**Allowed**"));
    is_str(plain_of(arena, hostile.p), "x\n```\n**Allowed**",
           "a fence in a block does not end the block");
}

static void test_limits(struct arena *arena)
{
    char text[3000];
    size_t count;
    memset(text, 'a', sizeof text);
    const struct tc_chat table = {.text = {{.form = TC_PLAIN, .units = 1000}}};
    const struct text_piece *p =
        chat_text_render(arena, &table, TC_ROLE_LIVE, text, sizeof text,
                         &(struct chat_text_options){.first_only = false}, &count);
    ok(p && count == 4 && p[0].len <= 960, "space is left for the mark of a repeat");
    p = chat_text_render(arena, &table, TC_ROLE_LIVE, text, sizeof text,
                         &(struct chat_text_options){.divide_by = 2}, &count);
    ok(p && count > 6 && p[0].len <= 500, "the text is cut into halves");
    ok(!chat_text_render(arena, &table, TC_ROLE_LIVE, " \n", 2,
                         &(struct chat_text_options){.divide_by = 1}, &count) &&
           count == 0,
       "a text without visible characters");
}

static void test_time(void)
{
    static const struct {
        int64_t ms;
        const char *text;
    } times[] = {{0, "0s"}, {42000, "42s"}, {185000, "3m 05s"}, {3720000, "1h 02m"}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        CLEANUP_BUF struct buf b = {0};
        chat_text_add_time(&b, times[i].ms);
        is_str(b.p, times[i].text, "%s", times[i].text);
    }
}

int main(void)
{
    struct arena arena = {0};
    plan_lazy();
    test_escape(&arena);
    test_code(&arena);
    test_limits(&arena);
    test_time();
    arena_fini(&arena);
    return 0;
}
