/* SPDX-License-Identifier: MIT
 * Checks the guarantees of text_check.h with random and hostile sources: budgets, nesting, no lost
 * text. */
#include <stdlib.h>

#include "tap/tap.h"
#include "text/text_check.h"

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Markdown constructs, complete and broken, and characters of every length. */
static const char *const pieces[] = {
    "word ",
    "a",
    " ",
    "\n",
    "\n\n",
    "  \n",
    "**",
    "*",
    "_",
    "__",
    "~~",
    "`",
    "``",
    "```\n",
    "```py\n",
    "~~~\n",
    "# ",
    "## ",
    "- ",
    "  - ",
    "1. ",
    "10) ",
    "- [x] ",
    "> ",
    ">> ",
    "    ",
    "\t",
    "---\n",
    "===\n",
    "|",
    "|a|b|\n|---|:-:|\n|c|d|\n",
    "|---|---|\n",
    "[",
    "](",
    ")",
    "![",
    "[l](https://a.b/c?d=e&f)",
    "[l](http://localhost)",
    "<https://a.b>",
    "https://a.b/c_d_e",
    "[r]: https://a.b\n",
    "[r]",
    "&amp;",
    "&#x1F600;",
    "&nope;",
    "<",
    ">",
    "&",
    "\\",
    "<!here>",
    "@channel",
    "<@1>",
    "@everyone",
    "@room",
    "é",
    "日本",
    "。",
    "😀",
    "👨‍👩‍👧",
    "🇩🇪",
    "e\xcc\x81",
    "\xcc\x81",
    "\xff",
    "\x1b[1m",
    "\r\n",
    "\xe2\x80\xae",
    "A sentence. And another! ",
    "https://a.b/*x*y",
    "snake_case_name",
    "x = \"```\"",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
};

static void make_random(struct buf *out, unsigned seed)
{
    unsigned state = seed * 2654435761u;
    const size_t count = 5 + next_random(&state) % 120;
    for (size_t i = 0; i < count; i++)
        buf_add_str(out, pieces[next_random(&state) % (sizeof pieces / sizeof pieces[0])]);
}

static void test_random(void)
{
    const char *why = NULL;
    unsigned seed = 1;
    for (; seed <= 250 && !why; seed++) {
        CLEANUP_BUF struct buf source = {0};
        make_random(&source, seed);
        why = text_check_source((struct str){source.p, source.len});
    }
    ok(!why, "250 random texts (the last was %u): %s", seed - 1, why ? why : "all guarantees hold");
}

/* Checks every prefix of a text, as it is streamed. */
static void test_prefixes(void)
{
    CLEANUP_BUF struct buf source = {0};
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++)
        buf_add_str(&source, pieces[i]);
    const char *why = NULL;
    size_t n = 0;
    for (; n <= source.len && !why; n += 3)
        why = text_check_source((struct str){source.p, n});
    ok(!why, "prefixes (the last of %zu bytes): %s", n - 3, why ? why : "all guarantees hold");
}

static void check_repeated(const char *head, const char *piece, size_t n)
{
    CLEANUP_BUF struct buf source = {0};
    buf_add_str(&source, head);
    for (; n > 0; n--)
        buf_add_str(&source, piece);
    const char *why = text_check_source((struct str){source.p, source.len});
    ok(!why, "\"%.8s\" repeated: %s", piece, why ? why : "all guarantees hold");
}

static void test_hostile(void)
{
    check_repeated("", "![[]()", 2000);
    check_repeated("", "[", 3000);
    check_repeated("", "*a_", 2000);
    check_repeated("", "** a", 2000);
    check_repeated("", ">", 2000);
    check_repeated("", "- ", 2000);
    check_repeated("", "[a](https://a.b)", 1000);
    check_repeated("", "[a](x)", 2000);
    check_repeated("", "`", 3001);
    check_repeated("```\n", "`", 3000);
    check_repeated("```\n", "```\n", 1001);
    check_repeated("~~~averyveryverylonglanguageofnoone\n", "``` ~", 1000);
    check_repeated("", "&", 3000);
    check_repeated("", "**b**", 1000);
    check_repeated("", "**b** `c` ", 500);
    check_repeated("> > > > > > > > > - 1. ", "x\n> > > - ", 300);
    check_repeated("|a|b|\n|---|---|\n", "|c|\n", 300);
    check_repeated("|a|b|\n|---|---|\n", "|**c**|\\||\n", 300);
    check_repeated("", "\xcc\x81", 3000);
    check_repeated("", "🇩🇪", 500);
    check_repeated("", "👨‍", 1000);
    check_repeated("", "\n", 3000);
    check_repeated("```\n", " \n", 3000);
    check_repeated("", "\xff", 3000);
    check_repeated("999999999. a\n", "   - b\n     > c\n", 100);
}

int main(void)
{
    plan_lazy();
    test_random();
    test_prefixes();
    test_hostile();
    return 0;
}
